// Package notify holds the words of notifications: events, the rules that choose
// them, the channels they are sent to, and the messages that are sent.
//
// An event is written to the outbox in the transaction of the change that it tells
// of. A dispatcher groups the events of the outbox into messages, one for each rule,
// channel and MaxItems events, and removes them from it in the same transaction. A
// message is attempted until the receiver accepts it or a day has passed; it keeps
// its id in every attempt, so that receivers recognise a repetition.
package notify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// A Kind says what happened.
type Kind string

// The kinds of events.
const (
	FindingRaised    Kind = "FindingRaised"
	FindingResolved  Kind = "FindingResolved"
	SuppressionEnded Kind = "SuppressionEnded" // its time is over and the finding is still open
	CollectionFailed Kind = "CollectionFailed"
	StreamSilent     Kind = "StreamSilent"
)

// Kinds lists them.
var Kinds = []Kind{FindingRaised, FindingResolved, SuppressionEnded, CollectionFailed, StreamSilent}

// An Event is something that somebody may want to be told of.
type Event struct {
	ID      string
	Kind    Kind
	At      time.Time
	Account posture.AccountID
	Finding *posture.Finding `json:",omitempty"` // as it was then; nil unless the event is about one
	Detail  string           `json:",omitempty"` // why a collection failed
}

// Summary says in one line what happened.
func (e Event) Summary() string { return oneLine.Replace(e.text()) }

var oneLine = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ")

func (e Event) text() string {
	switch f := e.Finding; {
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

// A Filter chooses events. Members that are empty choose all; those about
// findings do not apply to other events.
type Filter struct {
	Kinds    []Kind
	Levels   []posture.FindingLevel
	MinRisk  int
	Rules    []posture.RuleID
	Accounts []posture.AccountID
	Tags     map[string][]string
}

// Matches reports whether an event is chosen.
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
	MaxRules    = 100 // of one organisation
	MaxChannels = 50
	MaxItems    = 200                 // events in one message
	GroupTime   = 5 * time.Second     // events that come within this time are one message
	GiveUpAfter = 24 * time.Hour      // then a message that is not delivered is a dead letter
	KeptFor     = 14 * 24 * time.Hour // how long deliveries are shown
)

// A Rule says which events go to which channels.
type Rule struct {
	ID       string
	Name     string
	Enabled  bool
	Filter   Filter
	Channels []string
	ETag     string
	Updated  time.Time
}

// A Message is what is sent to one channel.
type Message struct {
	ID       string // the same in every attempt
	RuleName string
	At       time.Time
	Link     string // address of the console; may be empty
	Test     bool   // somebody tries the channel
	Events   []Event
}

// Title sums the message up.
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
		kind      Kind
		one, many string
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
			parts = append(parts, "1 "+k.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, k.many))
		}
	}
	return "Vigil: " + strings.Join(parts, ", ")
}

// Lines are the summaries of the first events, and how many more there are.
func (m Message) Lines(most int) []string {
	if m.Test {
		return []string{"If you can read this, notifications arrive."}
	}
	var lines []string
	for _, e := range m.Events[:min(most, len(m.Events))] {
		lines = append(lines, e.Summary())
	}
	if more := len(m.Events) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// DeliveryState says what became of a message.
type DeliveryState string

// The states of deliveries.
const (
	Waiting   DeliveryState = "Waiting"
	Delivered DeliveryState = "Delivered"
	Dead      DeliveryState = "Dead" // given up; somebody may have it tried again
)

// DeliveryStates lists them.
var DeliveryStates = []DeliveryState{Waiting, Delivered, Dead}

// A Delivery is a message on its way to a channel.
type Delivery struct {
	ID       string
	Channel  string
	State    DeliveryState
	Attempts int
	Created  time.Time
	GiveUp   time.Time // it is a dead letter when it waits longer
	Ended    time.Time // delivered or given up
	Count    int       // events in it
	Title    string
	Error    string // of the last attempt
	Message  Message
}

// NotFound is the fault for something that is not there.
func NotFound(what, id string) error {
	return fault.New(fault.NotFound, "%s %q was not found", what, id)
}
