package entitydb

import (
	"fmt"
	"strings"
	"testing"

	"vigil/internal/posture"
)

// TestPlansStaySmall plans conditions with redundant parts for an organisation with 100
// services of AWS and 100 of the same names of Google, each with one type. Each token of a
// plan costs reading one posting list. A plan without a positive token also needs the
// token that every entity has.
func TestPlansStaySmall(t *testing.T) {
	t.Parallel()
	p := planner{org: "org"}
	for i := range 100 {
		p.types = append(p.types, posture.EntityType(fmt.Sprintf("AWS.S%d.Thing", i)), posture.EntityType(fmt.Sprintf("GCP.S%d.Thing", i)))
	}
	field := func(name, value string) posture.Condition {
		return posture.Equal{Attribute: posture.Attribute{Name: name}, Value: value}
	}
	not := func(c posture.Condition) posture.Condition { return posture.Not{Part: c} }
	var (
		notAbsent posture.AllOf // for each of 100 services without types: not this service
		notAny    posture.AllOf // for each of the services with types: not this service
		notAWS    posture.AllOf // 100 times: not AWS
	)
	for i := range 100 {
		notAbsent = append(notAbsent, not(field(posture.FieldService, fmt.Sprint("x", i))))
		notAny = append(notAny, not(field(posture.FieldService, fmt.Sprint("S", i))))
		notAWS = append(notAWS, not(field(posture.FieldProvider, "aws")))
	}
	for what, c := range map[string]struct {
		condition posture.Condition
		tokens    int
	}{
		"a service":                    {field(posture.FieldService, "s1"), 2},
		"all but a service":            {not(field(posture.FieldService, "s1")), 3},
		"a provider":                   {field(posture.FieldProvider, "aws"), 100},
		"all but a provider, repeated": {notAWS, 100},
		"all but a provider, repeated in a disjunction": {posture.AnyOf(notAWS), 100},
		"none of several services without types":        {notAbsent, 1},
		"not all of several services without types":     {posture.AnyOf(notAbsent), 1},
		"none of all services, which matches nothing":   {notAny, 201},
		"a region, twice":                      {posture.AnyOf{field(posture.FieldRegion, "eu"), field(posture.FieldRegion, "EU")}, 1},
		"a service, and not one without types": {posture.AllOf{field(posture.FieldService, "S1"), notAbsent[0]}, 2},
	} {
		text := p.condition(c.condition, true).matchQuery(newToken(p.org, everyToken, "", ""))
		tokens := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("() ", r) })
		n := 0
		for _, each := range tokens {
			if each != "AND" && each != "OR" && each != "NOT" {
				n++
			}
		}
		if n != c.tokens {
			t.Errorf("%s: %d tokens, want %d", what, n, c.tokens)
		}
	}
}
