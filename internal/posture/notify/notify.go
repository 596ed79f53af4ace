// Package notify holds the domain types of notifications: events, the rules that select
// them, the channels that receive them, and messages.
//
// An event is written to the outbox in the transaction of its cause. A dispatcher
// groups the events of the outbox into messages, one for each rule, channel and
// MaxItems events, and removes them from the outbox in the same transaction. Delivery
// of a message is attempted until the receiver accepts it or a day has passed. The
// message has the same id in every attempt, so that receivers can detect duplicates.
package notify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// A Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	FindingRaised    Kind = "FindingRaised"
	FindingResolved  Kind = "FindingResolved"
	SuppressionEnded Kind = "SuppressionEnded" // it has expired and the finding is still open
	CollectionFailed Kind = "CollectionFailed"
	StreamSilent     Kind = "StreamSilent"
)

// Kinds lists the kinds of events.
var Kinds = []Kind{FindingRaised, FindingResolved, SuppressionEnded, CollectionFailed, StreamSilent}

// An Event is an occurrence that rules may send to channels.
type Event struct {
	ID      string
	Kind    Kind
	At      time.Time
	Account posture.AccountID
	Finding *posture.Finding `json:",omitempty"` // at the time of the event; nil if it is not about a finding
	Detail  string           `json:",omitempty"` // why a collection failed, or why a finding was resolved although the violation may still exist
}

// Summary describes the event in one line.
func (e Event) Summary() string { return oneLine.Replace(e.text()) }

var oneLine = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ")

func (e Event) text() string {
	switch f := e.Finding; {
	case f != nil && e.Kind == FindingResolved && e.Detail != "":
		return fmt.Sprintf("resolved because %s: %s on %s (account %s)", e.Detail, f.Rule, name(*f), f.Account)
	case f != nil && e.Kind == FindingResolved:
		return fmt.Sprintf("resolved: %s on %s (account %s)", f.Rule, name(*f), f.Account)
	case f != nil && e.Kind == SuppressionEnded:
		return fmt.Sprintf("no longer suppressed: %s on %s (account %s)", f.Rule, name(*f), f.Account)
	case f != nil:
		return fmt.Sprintf("%s, risk %d: %s on %s (account %s)", f.Level, f.Risk.Score, f.Rule, name(*f), f.Account)
	case e.Kind == CollectionFailed:
		return fmt.Sprintf("the collection of account %s failed: %s", e.Account, e.Detail)
	}
	return fmt.Sprintf("the event stream of account %s is silent", e.Account)
}

func name(f posture.Finding) string {
	if f.Name != "" {
		return f.Name
	}
	return f.ObjectID()
}

// A Filter selects events. Empty members do not filter. Levels, MinRisk, Rules and Tags
// apply only to events about findings.
type Filter struct {
	Kinds    []Kind
	Levels   []posture.FindingLevel
	MinRisk  int
	Rules    []posture.RuleID
	Accounts []posture.AccountID
	Tags     map[string][]string
}

// Matches reports whether the filter selects an event.
func (f Filter) Matches(e Event) bool {
	if len(f.Kinds) > 0 && !slices.Contains(f.Kinds, e.Kind) || len(f.Accounts) > 0 && !slices.Contains(f.Accounts, e.Account) {
		return false
	}
	if e.Finding == nil {
		return true
	}
	if len(f.Levels) > 0 && !slices.Contains(f.Levels, e.Finding.Level) || e.Finding.Risk.Score < f.MinRisk {
		return false
	}
	return (posture.MuteScope{Rules: f.Rules, Tags: f.Tags}).Matches(*e.Finding)
}

// The limits of notifications.
const (
	MaxRules    = 100                 // per organisation
	MaxChannels = 50                  // per organisation
	MaxItems    = 200                 // events in one message
	GroupTime   = 5 * time.Second     // events within this time form one message
	GiveUpAfter = 24 * time.Hour      // undelivered messages then become dead letters
	KeptFor     = 14 * 24 * time.Hour // how long deliveries are listed
)

// A Rule selects events and sends them to channels.
type Rule struct {
	ID       string
	Name     string
	Enabled  bool
	Filter   Filter
	Channels []string
	ETag     string
	Updated  time.Time
}

// A Message is sent to one channel.
type Message struct {
	ID       string        // the same in all attempts
	Org      posture.OrgID `json:"-"`
	RuleName string
	At       time.Time
	Link     string // URL of the console; may be empty
	Test     bool   // a user tests the channel
	Events   []Event
}

// Title summarises the message.
func (m Message) Title() string {
	if m.Test {
		return "Vigil: test of this channel"
	}
	if len(m.Events) == 1 {
		return "Vigil: " + m.Events[0].Summary()
	}
	count := map[Kind]int{}
	for _, e := range m.Events {
		count[e.Kind]++
	}
	var parts []string
	for _, k := range []struct {
		kind             Kind
		singular, plural string
	}{
		{FindingRaised, "new finding", "new findings"},
		{FindingResolved, "resolved finding", "resolved findings"},
		{SuppressionEnded, "finding no longer suppressed", "findings no longer suppressed"},
		{CollectionFailed, "failed collection", "failed collections"},
		{StreamSilent, "silent event stream", "silent event streams"},
	} {
		switch n := count[k.kind]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+k.singular)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, k.plural))
		}
	}
	return "Vigil: " + strings.Join(parts, ", ")
}

// Lines returns the summaries of the first events, and the number of further ones.
func (m Message) Lines(limit int) []string {
	if m.Test {
		return []string{"This is a test. Notifications to this channel work."}
	}
	var lines []string
	for _, e := range m.Events[:min(limit, len(m.Events))] {
		lines = append(lines, e.Summary())
	}
	if more := len(m.Events) - limit; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of deliveries.
const (
	Waiting   DeliveryState = "Waiting"
	Delivered DeliveryState = "Delivered"
	Dead      DeliveryState = "Dead" // given up; can be retried
)

// DeliveryStates lists the states.
var DeliveryStates = []DeliveryState{Waiting, Delivered, Dead}

// A Delivery is the delivery of a message to a channel.
type Delivery struct {
	ID       string
	Channel  string
	State    DeliveryState
	Attempts int
	Created  time.Time
	GiveUp   time.Time // when it becomes a dead letter
	Ended    time.Time // when it was delivered or given up
	Count    int       // number of events
	Title    string
	Error    string // of the last attempt
	Message  Message
}

// NotFound returns the error for a record that does not exist.
func NotFound(what, id string) error {
	return fault.New(fault.NotFound, "%s %q was not found", what, id)
}
