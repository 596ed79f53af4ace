package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/gremlin"
	"vigil/internal/posture"
	"vigil/internal/posture/evaluate"
)

const openGroup = `g.V().hasLabel('AWS.EC2.SecurityGroup').where(out('ALLOWS_INGRESS').has('isInternet', true))`

// TestUnreadRegionsMakeAccountWideVerdictsUnknown limits the collection to some regions. The
// verdict of a rule about resources without a region is then unknown if the rule also reads
// types that are read region by region.
func TestUnreadRegionsMakeAccountWideVerdictsUnknown(t *testing.T) {
	t.Parallel()
	bucket := entity(bucketType, region, "b", posture.Flag("public", true))
	w := newWorld(entity(roleType, posture.Global, "r", posture.Flag("inlineAllowsAdmin", true), to("READS", bucket)), bucket)
	rules := []posture.Rule{
		rule("reads", `g.V().hasLabel('AWS.IAM.Role').where(out('READS'))`),
		rule("admin", `g.V().hasLabel('AWS.IAM.Role').has('inlineAllowsAdmin', true)`),
		rule("public", `g.V().hasLabel('AWS.S3.Bucket').has('public', true)`),
	}
	for _, tt := range []struct {
		regions   []string
		violating []int // by rule
	}{
		{nil, []int{1, 1, 1}},
		{[]string{region, otherRegion}, []int{0, 1, 1}},
	} {
		a := w.account(t)
		a.Regions = tt.regions
		j, _, err := evaluator(w).Judge(t.Context(), a, rules)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range tt.violating {
			if got := j.Rules[i]; len(got.Violating) != want || len(got.Unknown) != 1-want {
				t.Errorf("regions %v, rule %s: %d violating, %d unknown", tt.regions, got.Rule, len(got.Violating), len(got.Unknown))
			}
		}
	}
}

// TestTypesOfOtherCloudsNeedNotBeRead checks that queries that name no type have certain
// verdicts, although a collection does not read the types of other clouds.
func TestTypesOfOtherCloudsNeedNotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(entity(bucketType, region, "a", posture.Flag("public", true)), entity(bucketType, region, "b", posture.Flag("public", false)))
	search := rule("search", `property.public = true`)
	search.Query.Language = posture.SearchQuery
	rules := []posture.Rule{search, rule("graph", `g.V().not(has('public', false))`)}
	e := evaluate.New(evaluate.NewSchema([]evaluate.Kind{{Type: bucketType}, {Type: "GCP.Storage.Bucket"}}), w, func() time.Time { return now })
	j, _, err := e.Judge(t.Context(), w.account(t), rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range j.Rules {
		if got := names(violatingIDs(r), w); !slices.Equal(got, []string{"a"}) || len(r.Unknown) > 0 || r.Passing != 1 {
			t.Errorf("rule %s: %v violate, %v are unknown, %d pass", r.Rule, got, r.Unknown, r.Passing)
		}
	}
}

// TestVerdictsOfSingleRules judges accounts by one rule each: every entity violates it, passes
// or is unknown.
func TestVerdictsOfSingleRules(t *testing.T) {
	t.Parallel()
	public := rule("public", `g.V().hasLabel('AWS.S3.Bucket').has('public', true)`)
	internet := entity(rangeType, region, "any", posture.Flag("isInternet", true))
	for name, test := range map[string]struct {
		rule     posture.Rule
		entities []posture.Entity
		failed   [][2]string // type and region
		violates []string
		unknown  []string
		passing  int
	}{
		"known values decide": {
			rule: public,
			entities: []posture.Entity{
				entity(bucketType, region, "a", posture.Flag("public", true)),
				entity(bucketType, region, "b", posture.Flag("public", false)),
			},
			violates: []string{"a"}, passing: 1,
		},
		"an unknown value is neither": {
			rule: public,
			entities: []posture.Entity{
				entity(bucketType, region, "a", posture.Flag("public", true)),
				entity(bucketType, region, "b", posture.Unknown("public", "denied")),
				entity(bucketType, region, "c"),
			},
			violates: []string{"a"}, unknown: []string{"b"}, passing: 1,
		},
		"a scope that could not be read makes its region unknown": {
			rule: public,
			entities: []posture.Entity{
				entity(bucketType, region, "a", posture.Flag("public", true)),
				entity(bucketType, region, "b", posture.Flag("public", false)),
				entity(bucketType, otherRegion, "c", posture.Flag("public", true)),
			},
			failed:   [][2]string{{string(bucketType), region}},
			violates: []string{"c"}, unknown: []string{"a", "b"},
		},
		"what a rule reaches by edges must have been read, too": {
			rule:     rule("open", openGroup),
			entities: []posture.Entity{entity(groupType, region, "web", to("ALLOWS_INGRESS", internet)), internet},
			failed:   [][2]string{{string(rangeType), region}},
			unknown:  []string{"web"},
		},
		"what a rule does not look at need not have been read": {
			rule:     rule("open", openGroup),
			entities: []posture.Entity{entity(groupType, region, "web", to("ALLOWS_INGRESS", internet)), internet},
			failed:   [][2]string{{string(hostType), region}, {string(roleType), posture.Global}},
			violates: []string{"web"},
		},
		"no edge is assumed to be absent if the type that has it could not be read": {
			rule:     rule("lonely", `g.V().hasLabel('AWS.KMS.Key').not(__.in('ENCRYPTED_BY'))`),
			entities: []posture.Entity{entity(keyType, region, "k")},
			failed:   [][2]string{{string(bucketType), region}},
			unknown:  []string{"k"},
		},
		"a verdict about an entity without a region needs the types of all regions": {
			rule: rule("role", `g.V().hasLabel('AWS.IAM.Role').not(__.in('HAS_ROLE'))`),
			entities: []posture.Entity{
				entity(roleType, posture.Global, "r"),
			},
			failed:  [][2]string{{string(hostType), otherRegion}},
			unknown: []string{"r"},
		},
		"unread edges that may lead to the entities of a rule make the whole region unknown": {
			rule: rule("lonely", `g.V().hasLabel('AWS.KMS.Key').not(__.in('ENCRYPTED_BY'))`),
			entities: []posture.Entity{
				entity(keyType, region, "k"), entity(keyType, otherRegion, "far"),
				entity(bucketType, region, "b", posture.Unknown("ENCRYPTED_BY", "denied")),
			},
			violates: []string{"far"}, unknown: []string{"k"},
		},
		"unread edges make only their own entity unknown if a rule follows edges only outward": {
			rule: rule("open", `g.V().hasLabel('AWS.EC2.Instance').where(out('HAS_ROLE').has('inlineAllowsAdmin', true))`),
			entities: []posture.Entity{
				entity(roleType, posture.Global, "admin", posture.Flag("inlineAllowsAdmin", true)),
				entity(hostType, region, "a", to("HAS_ROLE", entity(roleType, posture.Global, "admin"))),
				entity(hostType, region, "b", posture.Unknown("HAS_ROLE", "denied")),
				entity(hostType, region, "c"),
			},
			violates: []string{"a"}, unknown: []string{"b"}, passing: 1,
		},
		"unread edges between entities of the type of a rule make the whole region unknown": {
			rule: rule("open", `g.V().hasLabel('AWS.EC2.SecurityGroup').where(out('ALLOWS_INGRESS').out('ALLOWS_INGRESS').has('isInternet', true))`),
			entities: []posture.Entity{
				internet, entity(groupType, region, "a"), entity(groupType, region, "b", posture.Unknown("ALLOWS_INGRESS", "denied")),
				entity(groupType, otherRegion, "c"),
			},
			unknown: []string{"a", "b"}, passing: 1,
		},
		"edges that a rule does not follow need not have been read": {
			rule:     public,
			entities: []posture.Entity{entity(bucketType, region, "a", posture.Flag("public", true), posture.Unknown("ENCRYPTED_BY", "denied"))},
			violates: []string{"a"},
		},
		"tags that could not be read may be any": {
			rule: rule("owner", `g.V().hasLabel('AWS.S3.Bucket').hasNot('tag.owner')`),
			entities: []posture.Entity{
				entity(bucketType, region, "a"), entity(bucketType, region, "b", posture.Unknown(posture.TagsUnread, "denied")),
				entity(bucketType, region, "c", map[string]string{"owner": "ada"}),
			},
			violates: []string{"a"}, unknown: []string{"b"}, passing: 1,
		},
		"a search for tags that could not be read": {
			rule: posture.Rule{ID: "s", Provider: posture.AWS, Level: posture.Low, Query: posture.RuleQuery{
				Language: posture.SearchQuery, Text: `entityType = AWS.S3.Bucket AND NOT exists(tag.owner)`,
			}},
			entities: []posture.Entity{entity(bucketType, region, "a"), entity(bucketType, region, "b", posture.Unknown(posture.TagsUnread, "denied"))},
			violates: []string{"a"}, unknown: []string{"b"},
		},
		"a date that could not be read is unknown for its entity alone": {
			rule: rule("old", `g.V().hasLabel('AWS.EC2.Instance').where(values('launchTime').asDate().dateAdd(DT.day, 30).is(lt(datetime())))`),
			entities: []posture.Entity{
				entity(hostType, region, "old", posture.Text("launchTime", "2026-01-01T00:00:00Z")),
				entity(hostType, region, "new", posture.Text("launchTime", "2026-05-30T00:00:00Z")),
				entity(hostType, region, "odd", posture.Unknown("launchTime", "denied")),
			},
			violates: []string{"old"}, unknown: []string{"odd"}, passing: 1,
		},
		"with a limit on an order, an unknown value makes all unknown": {
			rule: rule("newest", `g.V().hasLabel('AWS.S3.Bucket').order().by('versioning').limit(1)`),
			entities: []posture.Entity{
				entity(bucketType, region, "a", posture.Text("versioning", "a")),
				entity(bucketType, region, "b", posture.Text("versioning", "b")),
				entity(bucketType, region, "c", posture.Unknown("versioning", "denied")),
			},
			unknown: []string{"a", "b", "c"},
		},
		"a search that names a type twice": {
			rule: posture.Rule{ID: "s", Provider: posture.AWS, Level: posture.Low, Query: posture.RuleQuery{
				Language: posture.SearchQuery, Text: `(entityType = aws.s3.bucket OR entityType = AWS.S3.Bucket) AND property.public = true`,
			}},
			entities: []posture.Entity{
				entity(bucketType, region, "a", posture.Flag("public", true)),
				entity(bucketType, region, "b", posture.Flag("public", false)),
			},
			violates: []string{"a"}, passing: 1,
		},
		"a search in all types": {
			rule: posture.Rule{ID: "s", Provider: posture.AWS, Level: posture.Low, Query: posture.RuleQuery{
				Language: posture.SearchQuery, Text: `property.public = true`,
			}},
			entities: []posture.Entity{
				entity(bucketType, region, "a", posture.Flag("public", true)),
				entity(bucketType, region, "b", posture.Unknown("public", "denied")),
				entity(groupType, region, "c"),
			},
			violates: []string{"a"}, unknown: []string{"b"}, passing: 1,
		},
		"a search in all types, one of which could not be read": {
			rule: posture.Rule{ID: "s", Provider: posture.AWS, Level: posture.Low, Query: posture.RuleQuery{
				Language: posture.SearchQuery, Text: `property.public = true`,
			}},
			entities: []posture.Entity{
				entity(bucketType, region, "a", posture.Flag("public", true)),
				entity(bucketType, otherRegion, "b", posture.Flag("public", true)),
				entity(groupType, region, "c"),
			},
			failed:   [][2]string{{string(keyType), region}},
			violates: []string{"b"}, unknown: []string{"a", "c"},
		},
		"a search that spells a type and a property in another case": {
			rule: posture.Rule{ID: "s", Provider: posture.AWS, Level: posture.Low, Query: posture.RuleQuery{
				Language: posture.SearchQuery, Text: `entityType = aws.s3.bucket AND property.PUBLIC = true AND tag.env = prod`,
			}},
			entities: []posture.Entity{
				entity(bucketType, region, "a", posture.Flag("public", true), map[string]string{"env": "prod"}),
				entity(bucketType, region, "b", posture.Flag("public", true), map[string]string{"env": "test"}),
				entity(bucketType, region, "c", posture.Unknown("public", "denied"), map[string]string{"env": "prod"}),
				entity(groupType, region, "d", map[string]string{"env": "prod"}),
			},
			violates: []string{"a"}, unknown: []string{"c"}, passing: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(test.entities...)
			for _, f := range test.failed {
				w.fail(posture.EntityType(f[0]), f[1])
			}
			j, bad, err := evaluator(w).Judge(t.Context(), w.account(t), []posture.Rule{test.rule})
			if err != nil || len(bad) > 0 || len(j.Rules) != 1 {
				t.Fatalf("%d rules, errors %v, %v", len(j.Rules), bad, err)
			}
			r := j.Rules[0]
			if diff := cmp.Diff(append([]string{}, test.violates...), names(violatingIDs(r), w)); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append([]string{}, test.unknown...), names(r.Unknown, w)); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			if r.Passing != test.passing {
				t.Errorf("%d pass, want %d", r.Passing, test.passing)
			}
			for _, id := range r.Unknown {
				if len(test.failed) > 0 && r.Trusted(id) {
					t.Errorf("a pass of %s would resolve its finding although a scope was not read", id)
				}
			}
			if !r.Trusted("AWS.S3.123456789012.global.Bucket.gone") {
				t.Error("the finding of a deleted entity would not be resolved")
			}
		})
	}
}

func TestRuleThatCannotBeRunIsUnknownForEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(entity(bucketType, region, "a"), entity(bucketType, region, "b"))
	rules := []posture.Rule{
		rule("deep", `g.V().hasLabel('AWS.S3.Bucket').repeat(identity()).times(1000)`),
		rule("broken", `g.V().hasLabel('AWS.S3.Bucket'`),
		rule("values", `g.V().hasLabel('AWS.S3.Bucket').values('entityName')`),
		rule("fine", `g.V().hasLabel('AWS.S3.Bucket')`),
	}
	j, bad, err := evaluator(w).Judge(t.Context(), w.account(t), rules)
	if err != nil || len(bad) != 3 || len(j.Rules) != 4 {
		t.Fatalf("%d rules, errors %v, %v", len(j.Rules), bad, err)
	}
	var budget *gremlin.BudgetError
	if bad[0].Rule != "deep" || !errors.As(bad[0], &budget) {
		t.Errorf("the first error is %v, want that the rule deep exceeds its budget", bad[0])
	}
	for i, r := range j.Rules[:3] {
		if len(r.Violating) > 0 || r.Passing > 0 || r.Trusted(entity(bucketType, region, "a").ID) || !r.Trusted("gone") {
			t.Errorf("rule %d cannot be run, but is judged: %+v", i, r)
		}
	}
	if got := names(j.Rules[0].Unknown, w); len(got) != 2 {
		t.Errorf("%v are unknown, want both buckets", got)
	}
	if len(j.Rules[3].Violating) != 2 {
		t.Errorf("the rule that can be run has %d violations, want 2", len(j.Rules[3].Violating))
	}
}

func TestRulesThatAreOffOrOfOtherClouds(t *testing.T) {
	t.Parallel()
	w := newWorld(entity(bucketType, region, "a"))
	off, foreign := rule("off", `g.V()`), rule("foreign", `g.V()`)
	off.Status, foreign.Provider = posture.RuleDisabled, posture.GCP
	j, _, err := evaluator(w).Judge(t.Context(), w.account(t), []posture.Rule{off, foreign})
	if err != nil || len(j.Rules) != 1 || !j.Rules[0].Gone {
		t.Errorf("judged %+v, %v; want only that the disabled rule is gone", j.Rules, err)
	}
}

func TestJudgeStopsWithItsContext(t *testing.T) {
	t.Parallel()
	w := newWorld(entity(bucketType, region, "a"))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := evaluator(w).Judge(ctx, w.account(t), []posture.Rule{rule("r", `g.V()`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestFindingTellsEntityRuleRiskAndNeighbours(t *testing.T) {
	t.Parallel()
	internet := entity(rangeType, region, "any", posture.Flag("isInternet", true))
	group := entity(groupType, region, "open", to("ALLOWS_INGRESS", internet))
	key := entity(keyType, region, "key")
	bucket := entity(bucketType, region, "files", to("ENCRYPTED_BY", key))
	role := entity(roleType, posture.Global, "admin", posture.Flag("inlineAllowsAdmin", true), to("READS", bucket))
	host := entity(hostType, region, "web", to("MEMBER_OF", group), to("HAS_ROLE", role), posture.Text("state", "running"), map[string]string{"env": "prod"})
	w := newWorld(internet, group, key, bucket, role, host)
	j, _, err := evaluator(w).Judge(t.Context(), w.account(t), []posture.Rule{rule("r", `g.V().hasLabel('AWS.EC2.Instance')`)})
	if err != nil || len(j.Rules[0].Violating) != 1 {
		t.Fatal(j.Rules, err)
	}
	got := j.Rules[0].Violating[0]
	want := posture.Finding{
		ID: posture.NewFindingID("o", "r", host.ID), Rule: "r", Account: account, Provider: posture.AWS, Object: host.ID, Type: host.Type, XID: "arn:web", Name: "web",
		Service: "EC2", Region: region, Level: posture.LevelHigh, Status: posture.FindingOpen, Tags: map[string]string{"env": "prod"},
		Risk: posture.Risk{Score: 82, Parts: []posture.RiskPart{
			{Name: "level", Points: 55, Why: "the rule is of level High"},
			{Name: "exposure", Points: 15, Why: "AWS.EC2.123456789012.eu-west-1.CidrRange.any is the whole internet"},
			{Name: "reach", Points: 12, Why: "leads to AWS.IAM.123456789012.global.Role.admin, AWS.KMS.123456789012.eu-west-1.Key.key, AWS.S3.123456789012.eu-west-1.Bucket.files"},
		}},
	}
	if diff := cmp.Diff(want, got.Finding); diff != "" {
		t.Errorf("finding (-want +got):\n%s", diff)
	}
	var blob map[string]any // any JSON object
	if err := json.Unmarshal([]byte(got.Blob()), &blob); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{string(want.ID), `"objectXid":"arn:web"`, `"riskScore":82`, `"MEMBER_OF"`, string(group.ID), `"stringV":"running"`, `"env":"prod"`, `hasLabel(`} {
		if !strings.Contains(got.Blob(), part) {
			t.Errorf("blob lacks %s", part)
		}
	}
}

func TestTrySaysWhatARuleWouldDo(t *testing.T) {
	t.Parallel()
	w := newWorld(
		entity(bucketType, region, "a", posture.Flag("public", true)),
		entity(bucketType, region, "b", posture.Flag("public", false)),
		entity(bucketType, region, "c", posture.Unknown("public", "denied")),
	)
	off := rule("r", `g.V().hasLabel('AWS.S3.Bucket').has('public', true)`)
	off.Status = posture.RuleDisabled
	got, err := evaluator(w).Try(t.Context(), w.account(t), off)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || len(got[0].Violating) != 1 || len(got[0].Unknown) != 1 || got[0].Passing != 1 || got[0].Work == 0 {
		t.Errorf("answer %+v", got)
	}
	if _, err := evaluator(w).Try(t.Context(), w.account(t), rule("r", `g.V(`)); err == nil {
		t.Error("a broken rule has an answer")
	}
}

// TestReadSetOfUnrestrictedQueries checks that a query without names of edges or properties
// reads all of them.
func TestReadSetOfUnrestrictedQueries(t *testing.T) {
	t.Parallel()
	e := evaluator(newWorld())
	for text, want := range map[string]evaluate.ReadSet{
		`g.V().hasLabel('AWS.EC2.Instance').out()`:                             {AllEdges: true},
		`g.V().hasLabel('AWS.EC2.Instance').out('MEMBER_OF')`:                  {},
		`g.V().hasLabel('AWS.S3.Bucket').where(__.values().is('x'))`:           {AllProperties: true, Tags: true},
		`g.V().hasLabel('AWS.S3.Bucket').has('public', true)`:                  {},
		`g.V().hasLabel('AWS.S3.Bucket').has('tag.env', 'prod').not(__.out())`: {AllEdges: true, Tags: true},
	} {
		got, err := e.ReadSet(rule("r", text).Query)
		if err != nil {
			t.Fatal(err)
		}
		if got.AllEdges != want.AllEdges || got.AllProperties != want.AllProperties || got.Tags != want.Tags {
			t.Errorf("%s reads %+v, want %+v", text, got, want)
		}
	}
}

// TestEveryEntityMayViolate checks that the limit on the results of a query does not limit
// the number of violations.
func TestEveryEntityMayViolate(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for i := range int(gremlin.RuleBudget.Results) + 1 {
		w.put(entity(bucketType, region, strconv.Itoa(i), posture.Flag("public", true)))
	}
	got, err := evaluator(w).Try(t.Context(), w.account(t), rule("r", `g.V().hasLabel('AWS.S3.Bucket').has('public', true)`))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got[0].Violating); n != len(w.entities) {
		t.Errorf("%d of %d entities violate the rule, want all", n, len(w.entities))
	}
}
