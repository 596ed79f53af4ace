package rulebook_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"vigil/gremlin/syntax"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/rulebook"
)

// A changingStore returns the next element of reads at each read of the rules, as if somebody
// else changed the rules in between.
type changingStore struct {
	rulebook.Store
	reads []map[posture.RuleID]posture.Rule
	saved []posture.Rule
}

func (s *changingStore) RuleGeneration(context.Context, posture.OrgID) (int64, error) { return 1, nil }

func (s *changingStore) Rules(context.Context, posture.OrgID) (map[posture.RuleID]posture.Rule, int64, error) {
	rules := s.reads[0]
	s.reads = s.reads[1:]
	return rules, 1, nil
}

func (s *changingStore) Frameworks(context.Context, posture.OrgID) ([]posture.Framework, error) {
	return nil, nil
}

func (s *changingStore) SaveRule(_ context.Context, _ posture.OrgID, r posture.Rule, _ string) error {
	s.saved = append(s.saved, r)
	return nil
}

// TestPatchChecksTheRuleThatItChanges changes or deletes a custom rule between the two reads
// of a patch. The ETag of the second read decides.
func TestPatchChecksTheRuleThatItChanges(t *testing.T) {
	t.Parallel()
	own := func(etag string) map[posture.RuleID]posture.Rule {
		return map[posture.RuleID]posture.Rule{"own": {ID: "own", Source: posture.Custom, Version: 1, ETag: etag}}
	}
	for name, c := range map[string]struct {
		second map[posture.RuleID]posture.Rule
		want   fault.Kind
	}{
		"changed": {own("two"), fault.Stale},
		"deleted": {nil, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &changingStore{reads: []map[posture.RuleID]posture.Rule{own("one"), c.second}}
			book := &rulebook.Book{Catalog: &catalog.Catalog{}, Store: s, Now: time.Now}
			_, err := book.Patch(t.Context(), "org", "own", posture.RulePatch{Category: posture.Give("Security")}, func(etag string) error {
				if etag != "one" {
					return fault.New(fault.Stale, "it is %s", etag)
				}
				return nil
			}, "ada")
			if !fault.Is(err, c.want) || len(s.saved) > 0 {
				t.Errorf("%v; saved %+v", err, s.saved)
			}
		})
	}
}

// TestErrorsAfterTheEntityHaveTheirColumns compiles a query with an error after the
// placeholder of the entity.
func TestErrorsAfterTheEntityHaveTheirColumns(t *testing.T) {
	t.Parallel()
	text := "g.V()." + posture.EntityClause + ".nonsense()"
	err := rulebook.CheckQuery(posture.RuleQuery{Language: posture.GraphQuery, Text: text})
	got, ok := errors.AsType[*syntax.Error](err)
	if want := strings.Index(text, "nonsense") + 1; !ok || int(got.Span.Pos.Column) != want {
		t.Errorf("%v, want column %d", err, want)
	}
}
