package gateway

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A Call is what a client asks of a simulated cloud.
type Call struct {
	Cloud   string `json:"cloud,omitempty"`   // aws, azure or gcp
	Account string `json:"account,omitempty"` // as the cloud names it
	Region  string `json:"region,omitempty"`
	Service string `json:"service,omitempty"` // ec2, Microsoft.Storage, compute
	Action  string `json:"action,omitempty"`  // DescribeInstances, storageAccounts/read, instances.list
}

// matches reports whether every member of a pattern, as path.Match reads it,
// matches; an empty one does.
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

// Kind is what goes wrong with a call.
type Kind string

// The kinds of fault.
const (
	Throttle Kind = "throttle" // refused in the cloud's way: too many calls
	Deny     Kind = "deny"     // refused in the cloud's way: not allowed
	Expire   Kind = "expire"   // refused in the cloud's way: the session has ended
	Off      Kind = "off"      // refused in the cloud's way: service or region not enabled
	Fail     Kind = "fail"     // refused in the cloud's way: an internal error
	Hang     Kind = "hang"     // never answered
	Reset    Kind = "reset"    // the connection is cut
	Garbage  Kind = "garbage"  // answered with 200 and something else
	Half     Kind = "half"     // the answer ends in the middle
	Stall    Kind = "stall"    // the answer stops in the middle and never ends
	Latency  Kind = "latency"  // answered after Delay
)

// Kinds lists the kinds.
var Kinds = []Kind{Throttle, Deny, Expire, Off, Fail, Hang, Reset, Garbage, Half, Stall, Latency}

// A Fault makes calls go wrong.
type Fault struct {
	ID    string  `json:"id,omitempty"`
	Match Call    `json:"match"`           // which calls, by pattern
	Kind  Kind    `json:"kind"`            //
	Rate  float64 `json:"rate,omitempty"`  // the share of calls it hits; all when 0
	Times int     `json:"times,omitempty"` // how many calls it hits at most; no end when 0
	Skip  int     `json:"skip,omitempty"`  // how many calls go through first

	RetryAfter Duration `json:"retryAfter,omitempty"` // said when throttling
	Delay      Duration `json:"delay,omitempty"`      // before the answer, with Latency
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

// Faults decides what goes wrong. It also counts the calls, so that tests can
// say how many there were. It is safe for concurrent use.
type Faults struct {
	mu     sync.Mutex
	next   int
	faults []*armed
	counts map[Call]int
}

type armed struct {
	Fault
	seen, hit int
}

// NewFaults returns an engine with no faults.
func NewFaults() *Faults { return &Faults{counts: map[Call]int{}} }

// Add puts a fault on and returns its id. Of several that match a call the first
// that hits counts, but latency adds to whatever follows.
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

// Remove takes a fault off, or all when id is empty.
func (f *Faults) Remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = slices.DeleteFunc(f.faults, func(a *armed) bool { return id == "" || a.ID == id })
}

// List returns the faults that are on.
func (f *Faults) List() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Fault, 0, len(f.faults))
	for _, a := range f.faults {
		list = append(list, a.Fault)
	}
	return list
}

// decide counts a call and returns how long to wait and what goes wrong then.
func (f *Faults) decide(c Call) (delay time.Duration, wrong *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[c]++
	for _, a := range f.faults {
		if !a.Match.matches(c) || !a.hits() {
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

// hits reports whether the next call is hit. Which ones are follows from their
// number alone, so that runs repeat.
func (a *armed) hits() bool {
	n := a.seen - a.Skip
	a.seen++
	if n < 0 || a.Times > 0 && a.hit >= a.Times {
		return false
	}
	if a.Rate > 0 && a.Rate < 1 && int(float64(n+1)*a.Rate) == int(float64(n)*a.Rate) {
		return false
	}
	a.hit++
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

// Forget sets the counts to zero.
func (f *Faults) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.counts)
}
