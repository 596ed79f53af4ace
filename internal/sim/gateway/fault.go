package gateway

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A Call identifies a call to a simulated cloud.
type Call struct {
	Cloud   string `json:"cloud,omitempty"`   // aws, azure or gcp
	Account string `json:"account,omitempty"` // the cloud's id of the account
	Region  string `json:"region,omitempty"`
	Service string `json:"service,omitempty"` // ec2, Microsoft.Storage, compute
	Action  string `json:"action,omitempty"`  // DescribeInstances, storageAccounts/read, instances.list
}

// matches reports whether every member matches its pattern by path.Match; an
// empty pattern matches.
func (pattern Call) matches(c Call) bool {
	for _, pair := range [][2]string{
		{pattern.Cloud, c.Cloud}, {pattern.Account, c.Account}, {pattern.Region, c.Region},
		{pattern.Service, c.Service}, {pattern.Action, c.Action},
	} {
		if ok, err := path.Match(pair[0], pair[1]); pair[0] != "" && (err != nil || !ok) {
			return false
		}
	}
	return true
}

// Kind is a kind of fault.
type Kind string

// The kinds of fault.
const (
	Throttle Kind = "throttle" // error response: too many calls
	Deny     Kind = "deny"     // error response: not authorised
	Expire   Kind = "expire"   // error response: the session has expired
	Off      Kind = "off"      // error response: service or region not enabled
	Fail     Kind = "fail"     // error response: internal error
	Hang     Kind = "hang"     // no response
	Reset    Kind = "reset"    // the connection is reset
	Garbage  Kind = "garbage"  // status 200 with an invalid body
	Half     Kind = "half"     // the response is truncated
	Stall    Kind = "stall"    // the response stops in the middle, and the connection stays open
	Latency  Kind = "latency"  // response after Delay
)

// Kinds lists the kinds.
var Kinds = []Kind{Throttle, Deny, Expire, Off, Fail, Hang, Reset, Garbage, Half, Stall, Latency}

// A Fault makes calls fail.
type Fault struct {
	ID    string  `json:"id,omitempty"`
	Match Call    `json:"match"`           // patterns of the calls
	Kind  Kind    `json:"kind"`            // one of Kinds
	Rate  float64 `json:"rate,omitempty"`  // fraction of affected calls; all when 0
	Times int     `json:"times,omitempty"` // maximum number of affected calls; unlimited when 0
	Skip  int     `json:"skip,omitempty"`  // number of calls that succeed first

	RetryAfter Duration `json:"retryAfter,omitempty"` // of throttling responses
	Delay      Duration `json:"delay,omitempty"`      // before the response, with Latency
}

// Duration is a time.Duration that JSON writes as "1.5s".
type Duration time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// Faults injects faults. It also counts the calls, for tests. It is safe for
// concurrent use.
type Faults struct {
	mu     sync.Mutex
	next   int
	faults []*armed
	counts map[Call]int
}

// armed is a fault with the numbers of calls that matched it and that it affected.
type armed struct {
	Fault
	matched, affected int
}

// NewFaults returns an injector without faults.
func NewFaults() *Faults { return &Faults{counts: map[Call]int{}} }

// Add adds a fault and returns its id. A call gets the first fault that matches
// and applies, after the delays of the Latency faults that were added before that fault.
func (f *Faults) Add(fault Fault) (string, error) {
	if !slices.Contains(Kinds, fault.Kind) {
		return "", fmt.Errorf("unknown kind of fault %q", fault.Kind)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	fault.ID = strconv.Itoa(f.next)
	f.faults = append(f.faults, &armed{Fault: fault})
	return fault.ID, nil
}

// Remove removes a fault, or all when id is empty.
func (f *Faults) Remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = slices.DeleteFunc(f.faults, func(a *armed) bool { return id == "" || a.ID == id })
}

// List returns the active faults.
func (f *Faults) List() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Fault, 0, len(f.faults))
	for _, a := range f.faults {
		list = append(list, a.Fault)
	}
	return list
}

// decide counts a call and returns its delay and its fault, if any.
func (f *Faults) decide(c Call) (delay time.Duration, injected *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[c]++
	for _, a := range f.faults {
		if !a.Match.matches(c) || !a.appliesNow() {
			continue
		}
		if a.Kind != Latency {
			fault := a.Fault
			return delay, &fault
		}
		delay += time.Duration(a.Delay)
	}
	return delay, nil
}

// appliesNow reports whether the fault applies to the next call. This depends only on
// the call's number, so that runs are repeatable.
func (a *armed) appliesNow() bool {
	n := a.matched - a.Skip
	a.matched++
	if n < 0 || a.Times > 0 && a.affected >= a.Times {
		return false
	}
	// With a rate of 0.25, the product below reaches the next integer at every fourth call.
	if a.Rate > 0 && a.Rate < 1 && int(float64(n+1)*a.Rate) == int(float64(n)*a.Rate) {
		return false
	}
	a.affected++
	return true
}

// Calls returns how often each call was made.
func (f *Faults) Calls() map[Call]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := make(map[Call]int, len(f.counts))
	for c, n := range f.counts {
		counts[c] = n
	}
	return counts
}

// ResetCounts resets the counts.
func (f *Faults) ResetCounts() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.counts)
}
