package auditapi

import (
	"fmt"
	"testing"
	"time"

	"vigil/internal/audit"
)

func TestRefusedRequestsAreSampled(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	s := newSampler(func() time.Time { return now })
	written := 0
	for range 100_000 {
		if write, ended := s.take(audit.Record{Operation: "createThing", Status: 401, Outcome: audit.Denied, Source: "192.0.2.1"}); write {
			written++
		} else if ended != nil {
			t.Fatal("the window is not over")
		}
	}
	if written != maxPerKind {
		t.Errorf("%d of 100000 refusals were written, want %d", written, maxPerKind)
	}
	for i := range 2 * maxPerOrg {
		if write, _ := s.take(audit.Record{Operation: fmt.Sprint("op", i), Status: 401}); write {
			written++
		}
	}
	if written != maxPerOrg {
		t.Errorf("%d refusals of unauthenticated callers were written, want %d", written, maxPerOrg)
	}
	if write, _ := s.take(audit.Record{Org: "acme", Operation: "createThing", Status: 403}); !write {
		t.Error("unauthenticated callers displaced the record of an organisation")
	}
	now = now.Add(sampleWindow)
	write, ended := s.take(audit.Record{Operation: "createThing", Status: 401})
	if !write {
		t.Error("the next window has no room")
	}
	total := int64(0)
	for _, r := range ended {
		total += r.Count
		if r.Operation == "createThing" && (r.Count != 100_000-maxPerKind || r.Outcome != audit.Denied || r.Source != "192.0.2.1") {
			t.Errorf("summary %+v, want all refusals that were not written", r)
		}
	}
	const sent = 100_000 + 2*maxPerOrg // by unauthenticated callers
	if want := int64(sent - maxPerOrg); total != want {
		t.Errorf("%d refusals were counted, want the %d that were not written", total, want)
	}
}
