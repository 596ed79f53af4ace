package collect_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

const schedules = `
type: AWS.Test.Schedule
doc: A schedule.
scope: region
list: [{call: test.ListSchedules, items: schedules}]
name: name
calls:
  - {call: test.GetSchedule, input: {name: $name}, unchanged: {changed: detail.changed}, at: detail, notFound: deleted, properties: {target: {at: target, doc: Its target.}}}
  - {call: test.GetPolicy, input: {name: $name}, notFound: absent, properties: {policy: {at: policy, doc: Its policy.}}}
`

// run lists the schedules as a run does and returns them with the number of calls of
// GetSchedule and GetPolicy.
func (s *scheduleCloud) run(t *testing.T, org posture.OrgID) (got []string, details, policies int) {
	t.Helper()
	r, calls := newReader(t, map[string][]string{
		"test.ListSchedules {}":         {`{"schedules":[{"name":"a","changed":"` + s.listed + `"},{"name":"b"}]}`},
		`test.GetSchedule {"name":"a"}`: {s.detail},
		`test.GetSchedule {"name":"b"}`: {`{"detail":{"target":"b"}}`},
		`test.GetPolicy {"name":"a"}`:   {`{"policy":"p"}`},
		`test.GetPolicy {"name":"b"}`:   {`!gone`},
	}, schedules)
	r.Earlier = s.store.Of(org, "123456789012")
	got, err := list(t, r, "AWS.Test.Schedule")
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range calls.calls {
		switch {
		case strings.HasPrefix(call, "test.GetSchedule"):
			details++
		case strings.HasPrefix(call, "test.GetPolicy"):
			policies++
		}
	}
	return got, details, policies
}

// scheduleCloud is a cloud with the schedules a and b, of which only a has a version.
type scheduleCloud struct {
	store  *collect.EarlierStore
	listed string // version of schedule a in the list
	detail string // response with its details, which include their version
}

func TestUnchangedDetailsAreNotReadAgain(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	c := &scheduleCloud{store: collect.NewEarlierStore(1<<20, func() time.Time { return now }), listed: "1", detail: `{"detail":{"changed":"1","target":"old"}}`}
	for _, step := range []struct {
		what    string
		change  func()
		org     posture.OrgID
		target  string
		details int // calls of GetSchedule: always one for b, and one for a if it is read again
	}{
		{"the first run", func() {}, "org", "old", 2},
		{"nothing changed, and another read of a would fail", func() { c.detail = `!denied` }, "org", "old", 1},
		{"another organisation shares nothing", func() { c.detail = `{"detail":{"changed":"1","target":"old"}}` }, "other", "old", 2},
		{"a changed", func() { c.listed, c.detail = "2", `{"detail":{"changed":"2","target":"new"}}` }, "org", "new", 2},
		{"nothing changed again", func() {}, "org", "new", 1},
		{"the detail of a is older than the list", func() { c.listed = "3" }, "org", "new", 2},
		{"therefore a is read again", func() { c.detail = `{"detail":{"changed":"3","target":"newest"}}` }, "org", "newest", 2},
		{"nothing changed since", func() {}, "org", "newest", 1},
		{"after a week all is read again", func() { now = now.Add(8 * 24 * time.Hour) }, "org", "newest", 2},
	} {
		step.change()
		got, details, policies := c.run(t, step.org)
		if want := []string{"a target=" + step.target + " policy=p", "b target=b"}; !slices.Equal(got, want) {
			t.Errorf("%s: read %q, want %q", step.what, got, want)
		}
		if details != step.details || policies != 2 {
			t.Errorf("%s: %d calls of GetSchedule and %d of GetPolicy, want %d and 2", step.what, details, policies, step.details)
		}
	}
}

func TestEarlierAnswersAreLimited(t *testing.T) {
	t.Parallel()
	c := &scheduleCloud{store: collect.NewEarlierStore(10, time.Now), listed: "1", detail: `{"detail":{"changed":"1","target":"old"}}`}
	for range 2 {
		if _, details, _ := c.run(t, "org"); details != 2 {
			t.Errorf("%d calls of GetSchedule, want 2: the store has no room for a response", details)
		}
	}
}
