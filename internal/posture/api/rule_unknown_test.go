package api

import (
	"slices"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/judge"
)

// TestReasonsNameWhatTheRuleReads checks that a property is named although a search
// spells it in another case, and that tags are named although the query names one tag.
func TestReasonsNameWhatTheRuleReads(t *testing.T) {
	t.Parallel()
	e := posture.Entity{Region: "eu", Properties: []posture.Property{
		posture.Unknown("encrypted", "denied"), posture.Unknown(posture.TagsUnread, "throttled"), posture.Unknown("other", "denied"), posture.Unknown("MEMBER_OF", "denied"),
	}}
	// The entity is in eu. That a type could not be listed in us is therefore no reason.
	unlisted := []unread{{EntityType: "AWS.EC2.Subnet", Region: "us", Why: "denied"}, {EntityType: "AWS.EC2.Vpc", Region: "eu", Why: "denied"}}
	for name, tt := range map[string]struct {
		reads   judge.ReadSet
		missing []unread
		want    []string
	}{
		"a property":      {judge.ReadSet{Properties: []string{"encrypted", "name"}}, nil, []string{"encrypted could not be read: denied"}},
		"in another case": {judge.ReadSet{Properties: []string{"Encrypted"}}, nil, []string{"encrypted could not be read: denied"}},
		"an edge":         {judge.ReadSet{Edges: []string{"other"}}, nil, []string{"other could not be read: denied"}},
		"a tag":           {judge.ReadSet{Tags: true}, nil, []string{"tags could not be read: throttled"}},
		"any edge":        {judge.ReadSet{AllEdges: true}, nil, []string{"MEMBER_OF could not be read: denied"}},
		"any property": {judge.ReadSet{AllProperties: true}, nil, []string{
			"encrypted could not be read: denied", "tags could not be read: throttled", "other could not be read: denied", "MEMBER_OF could not be read: denied",
		}},
		"an unlisted type":   {judge.ReadSet{}, unlisted, []string{"AWS.EC2.Vpc could not be listed in eu: denied"}},
		"a related resource": {judge.ReadSet{Properties: []string{"name"}}, nil, []string{"the resource, or one that it is related to, could not be read completely"}},
	} {
		// An entity of this type has edges MEMBER_OF and PART_OF.
		if got := reasonsOf(e, tt.reads, []string{"MEMBER_OF", "PART_OF"}, tt.missing); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
