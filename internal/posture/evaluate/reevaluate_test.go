package evaluate_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vigil/graph"
	"vigil/internal/posture"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/graphcache"
)

// lawRules are the rules of the tests that compare incremental with complete judgements.
// They cover what a verdict can depend on: properties, edges, absence, counts, the time,
// regions, tags and unreadable values, with and without as('about') and as('perhaps').
var lawRules = []posture.Rule{
	rule("public", `g.V().hasLabel('AWS.S3.Bucket').has('public', true)`),
	rule("not-public", `g.V().hasLabel('AWS.S3.Bucket').not(has('public', false))`),
	rule("open", openGroup),
	rule("exposed-admin", `g.V().hasLabel('AWS.EC2.Instance').has('publicIpAddress')
		.where(out('MEMBER_OF').out('ALLOWS_INGRESS').has('isInternet', true)).where(out('HAS_ROLE').has('inlineAllowsAdmin', true))`),
	rule("lonely-key", `g.V().hasLabel('AWS.KMS.Key').not(__.in('ENCRYPTED_BY'))`),
	rule("chain", `g.V().hasLabel('AWS.EC2.SecurityGroup').where(repeat(out('ALLOWS_INGRESS')).emit().times(3).has('isInternet', true))`),
	rule("old", `g.V().hasLabel('AWS.EC2.Instance').where(values('launchTime').asDate().dateAdd(DT.day, 30).is(lt(datetime())))`),
	rule("elsewhere", `g.V().hasLabel('AWS.S3.Bucket', 'AWS.KMS.Key').has('region', 'us-east-1')`),
	rule("named", `g.V().has('entityName', 'b0')`),
	rule("shared-key", `g.V().hasLabel('AWS.KMS.Key').where(__.in('ENCRYPTED_BY').count().is(gt(1)))`),
	rule("in-use", `g.V().hasLabel('AWS.EC2.SecurityGroup').where(__.in('MEMBER_OF')).as('about').has('entityName', 'g1')`),
	rule("perhaps-old", `g.V().hasLabel('AWS.EC2.Instance').has('state').as('perhaps').where(out('HAS_ROLE').has('inlineAllowsAdmin', true))`),
	rule("same-region", `g.V().hasLabel('AWS.EC2.Instance').as('i').where(out('HAS_ROLE').out('READS').where(eq('i')).by('region'))`),
	rule("reachable", `g.V().hasLabel('AWS.S3.Bucket').where(repeat(__.in()).until(hasLabel('AWS.EC2.Instance').has('publicIpAddress')))`),
	rule("elsewhere-read", `g.V().hasLabel('AWS.EC2.Instance').where(__.V().hasLabel('AWS.KMS.Key').has('rotationEnabled', false))`),
	rule("compared-count", `g.V().hasLabel('AWS.EC2.SecurityGroup').where(out('ALLOWS_INGRESS').values('isInternet').dedup().count().is(2))`),
	rule("found", `g.V().hasLabel('AWS.IAM.Role').out('READS')`),
	{ID: "search", Provider: posture.AWS, Level: posture.Low, Query: posture.RuleQuery{
		Language: posture.SearchQuery, Text: `entityType = AWS.EC2.Instance AND NOT exists(tag.env) AND property.state != stopped`}},
}

// A model is a minimal finding store: it specifies what store.Observe does to findings and counts.
type model struct {
	Findings map[posture.FindingID]posture.Finding
	Counts   map[posture.RuleID][3]int // entities that pass, are unknown and that the rule is not applicable to
}

func newModel() *model {
	return &model{map[posture.FindingID]posture.Finding{}, map[posture.RuleID][3]int{}}
}

func (s *model) observe(j posture.Judgement) {
	m := s.Findings
	for _, r := range j.Rules {
		s.Counts[r.Rule] = [3]int{r.Passing, len(r.Unknown), r.NotApplicable}
		seen := map[posture.EntityID]bool{}
		for _, v := range r.Violating {
			seen[v.Finding.Object] = true
			m[v.Finding.ID] = v.Finding
		}
		for _, id := range r.Unknown {
			seen[id] = true
		}
		for id, f := range m {
			if f.Rule != r.Rule || f.Status != posture.FindingOpen {
				continue
			}
			judged := r.Only == nil || slices.Contains(r.Only, f.Object)
			if r.Gone || judged && !seen[f.Object] && r.Trusted(f.Object) {
				f.Status = posture.FindingResolved
				m[id] = f
			}
		}
	}
}

// TestIncrementalJudgementsLeadToTheSameFindings changes an account at random,
// judges it after every change completely and incrementally, and compares the findings.
func TestIncrementalJudgementsLeadToTheSameFindings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		clock := now
		e := evaluate.New(schema, w, func() time.Time { return clock })
		for range rapid.IntRange(3, 12).Draw(t, "entities") {
			w.put(drawEntity(t))
		}
		complete, incremental := newModel(), newModel()
		a := lawAccount(t, w, nil, nil)
		j, _, err := e.Judge(t.Context(), a, lawRules)
		if err != nil {
			t.Fatal(err)
		}
		complete.observe(j)
		incremental.observe(j)
		for step := range rapid.IntRange(1, 8).Draw(t, "steps") {
			before := evaluate.Before{Graph: a.Graph, Coverage: a.Coverage, Verdicts: a.Verdicts, At: clock}
			clock = clock.AddDate(0, 0, rapid.SampledFrom([]int{0, 0, 0, 1, 20}).Draw(t, "days"))
			changed := change(t, w)
			a = lawAccount(t, w, a.Graph, changed)
			uncached := a
			uncached.Verdicts = nil
			fromAll, _, err := e.Judge(t.Context(), uncached, lawRules)
			if err != nil {
				t.Fatal(err)
			}
			fromChanges, _, err := e.Reevaluate(t.Context(), a, before, changed, lawRules)
			if err != nil {
				t.Fatal(err)
			}
			complete.observe(fromAll)
			incremental.observe(fromChanges)
			if diff := cmp.Diff(complete, incremental); diff != "" {
				t.Fatalf("after step %d, which changed %v (-complete +incremental):\n%s", step, changed, diff)
			}
			for _, r := range lawRules { // the verdicts that the next step starts from
				if diff := cmp.Diff(tryRule(t, e, uncached, r), tryRule(t, e, a, r)); diff != "" {
					t.Fatalf("verdict of %s after step %d, which changed %v (-complete +cached):\n%s", r.ID, step, changed, diff)
				}
			}
		}
	})
}

// tryRule returns the verdict of a rule without its cost, which depends on what is cached,
// and without a function, which cannot be compared.
func tryRule(t *rapid.T, e *evaluate.Evaluator, a evaluate.Account, r posture.Rule) evaluate.Answer {
	answers, err := e.Try(t.Context(), a, r)
	if err != nil {
		t.Fatal(err)
	}
	answers[0].Work, answers[0].Outside = 0, nil
	return answers[0]
}

// lawAccount returns the account of a world. At random, it builds a new graph or patches
// the graph before, if there is one.
func lawAccount(t *rapid.T, w *world, before *graph.Graph, changed []posture.EntityID) evaluate.Account {
	a := evaluate.Account{Org: "o", ID: account, Provider: posture.AWS, Coverage: w.coverageList(), Verdicts: new(evaluate.VerdictCache)}
	if before == nil || rapid.Bool().Draw(t, "build a new graph") {
		b := graph.NewBuilder(graph.Limits{})
		for _, id := range slices.Sorted(maps.Keys(w.entities)) {
			e := w.entities[id]
			if err := b.Add(graphcache.Record(&e)); err != nil {
				t.Fatal(err)
			}
		}
		built, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		a.Graph = built
		return a
	}
	var changes []graph.Change
	for _, id := range changed {
		e, ok := w.entities[id]
		if !ok {
			changes = append(changes, graph.Change{Record: graph.Record{ID: graph.String(string(id))}, Remove: true})
			continue
		}
		changes = append(changes, graph.Change{Record: graphcache.Record(&e)})
	}
	patched, err := before.Patch(changes)
	if err != nil {
		t.Fatal(err)
	}
	a.Graph = patched
	return a
}

// change changes, adds and removes entities and changes which scopes are read. It returns
// the entities that may have changed.
func change(t *rapid.T, w *world) []posture.EntityID {
	var changed []posture.EntityID
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		if len(w.entities) > 0 && rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
			id := rapid.SampledFrom(slices.Sorted(maps.Keys(w.entities))).Draw(t, "gone")
			delete(w.entities, id)
			changed = append(changed, id)
			continue
		}
		e := drawEntity(t)
		w.put(e)
		changed = append(changed, e.ID)
	}
	for range rapid.IntRange(0, 2).Draw(t, "scopes") {
		kind, location := rapid.SampledFrom(regional).Draw(t, "type"), rapid.SampledFrom([]string{region, otherRegion}).Draw(t, "region")
		if rapid.Bool().Draw(t, "failed") {
			w.fail(kind, location)
		} else {
			w.read(kind, location)
		}
	}
	return changed
}

// drawEntity makes one of a few entities, with edges to some of the others.
func drawEntity(t *rapid.T) posture.Entity {
	kind := rapid.SampledFrom([]posture.EntityType{groupType, rangeType, hostType, roleType, bucketType, keyType}).Draw(t, "type")
	e := knownEntity(kind, rapid.IntRange(0, 2).Draw(t, "number"))
	if kind != roleType { // an entity may move to another region and keep its id
		e.Region = rapid.SampledFrom([]string{region, otherRegion}).Draw(t, "place")
	}
	flag := func(name string) { // sets, clears or omits the flag, or makes it unreadable
		switch rapid.IntRange(0, 3).Draw(t, name) {
		case 0:
			e.Properties = append(e.Properties, posture.Flag(name, true))
		case 1:
			e.Properties = append(e.Properties, posture.Flag(name, false))
		case 2:
			e.Properties = append(e.Properties, posture.Unknown(name, "denied"))
		}
	}
	link := func(label string, to posture.EntityType) {
		if rapid.IntRange(0, 4).Draw(t, "unread "+label) == 0 {
			e.Properties = append(e.Properties, posture.Unknown(label, "denied"))
		}
		for n := range 3 {
			if rapid.IntRange(0, 2).Draw(t, label) == 0 {
				e.Edges = append(e.Edges, posture.Edge{Label: label, To: knownEntity(to, n).ID})
			}
		}
	}
	switch kind {
	case groupType:
		link("ALLOWS_INGRESS", rangeType)
		link("ALLOWS_INGRESS", groupType)
	case rangeType:
		flag("isInternet")
	case hostType:
		if rapid.Bool().Draw(t, "address") {
			e.Properties = append(e.Properties, posture.Text("publicIpAddress", "198.51.100.7"))
		}
		e.Properties = append(e.Properties, rapid.SampledFrom([]posture.Property{
			posture.Text("launchTime", "2026-01-01T00:00:00Z"), posture.Text("launchTime", "2026-05-30T00:00:00Z"), posture.Unknown("launchTime", "denied"),
		}).Draw(t, "launched"))
		if rapid.Bool().Draw(t, "tagged") {
			e.Tags = map[string]string{"env": rapid.SampledFrom([]string{"prod", "test"}).Draw(t, "env")}
		}
		link("MEMBER_OF", groupType)
		link("HAS_ROLE", roleType)
	case roleType:
		flag("inlineAllowsAdmin")
		link("READS", bucketType)
	case bucketType:
		flag("public")
		link("ENCRYPTED_BY", keyType)
	case keyType:
		flag("rotationEnabled")
	}
	e.Normalize()
	return e
}

// knownEntity returns the n-th entity of a type, with an id that does not change.
func knownEntity(kind posture.EntityType, n int) posture.Entity {
	location := region
	if kind == roleType {
		location = posture.Global
	}
	letter := map[posture.EntityType]string{groupType: "g", rangeType: "c", hostType: "h", roleType: "r", bucketType: "b", keyType: "k"}[kind]
	return entity(kind, location, fmt.Sprint(letter, n))
}

// TestReevaluateOmitsUnaffectedRules changes one entity. Only rules whose verdict or findings
// the change can affect are judged. A change affects every finding of the entity, also if
// the rule does not read what changed, because findings describe their entity.
func TestReevaluateOmitsUnaffectedRules(t *testing.T) {
	t.Parallel()
	internet := entity(rangeType, region, "any", posture.Flag("isInternet", true))
	bucket := entity(bucketType, region, "files", posture.Flag("public", true), posture.Text("versioning", "on"))
	group := entity(groupType, region, "open", to("ALLOWS_INGRESS", internet))
	w := newWorld(internet, bucket, group)
	e := evaluator(w)
	rules := []posture.Rule{lawRules[0], lawRules[2], lawRules[4]} // public, open, lonely-key
	for name, test := range map[string]struct {
		changed posture.Entity
		want    map[posture.RuleID]int // number of entities that each rule is judged on; -1 for all
	}{
		"a property that no rule reads, of a violating entity": {
			entity(bucketType, region, "files", posture.Flag("public", true), posture.Text("versioning", "off")), map[posture.RuleID]int{"public": 1},
		},
		"a property that a rule reads": {entity(bucketType, region, "files", posture.Flag("public", false)), map[posture.RuleID]int{"public": 1}},
		"nothing":                      {bucket, map[posture.RuleID]int{}},
		"an edge that a rule follows":  {entity(groupType, region, "open"), map[posture.RuleID]int{"open": 1}},
		"an entity that was not there": {entity(keyType, region, "k"), map[posture.RuleID]int{"lonely-key": 1}},
		"a type that no rule reads":    {entity(roleType, posture.Global, "r"), map[posture.RuleID]int{}},
		"a tag of a violating entity":  {entity(groupType, region, "open", to("ALLOWS_INGRESS", internet), map[string]string{"a": "b"}), map[posture.RuleID]int{"open": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			// If several patches of one graph add vertices, only the first shares its handles
			// with the graph. Therefore, each case builds its own.
			a := w.account(t)
			a.Verdicts = new(evaluate.VerdictCache)
			if _, _, err := e.Judge(t.Context(), a, rules); err != nil {
				t.Fatal(err)
			}
			after := a
			after.Verdicts = new(evaluate.VerdictCache)
			var err error
			if after.Graph, err = a.Graph.Patch([]graph.Change{{Record: graphcache.Record(&test.changed)}}); err != nil {
				t.Fatal(err)
			}
			j, _, err := e.Reevaluate(t.Context(), after, evaluate.Before{Graph: a.Graph, Coverage: a.Coverage, Verdicts: a.Verdicts}, []posture.EntityID{test.changed.ID}, rules)
			if err != nil {
				t.Fatal(err)
			}
			got := map[posture.RuleID]int{}
			for _, r := range j.Rules {
				got[r.Rule] = len(r.Only)
				if r.Only == nil {
					got[r.Rule] = -1
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("judged (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnsureVerdictIsNotKept changes whether a property of one range can be read. While the
// property cannot be read, all verdicts of the rule are unknown, so the change also affects entities from
// which the range is not reachable.
func TestUnsureVerdictIsNotKept(t *testing.T) {
	t.Parallel()
	internet := entity(rangeType, region, "any", posture.Flag("isInternet", true))
	denied := entity(rangeType, region, "denied", posture.Unknown("isInternet", "denied"))
	w := newWorld(internet, denied, entity(groupType, region, "open", to("ALLOWS_INGRESS", internet)), entity(groupType, region, "closed", to("ALLOWS_INGRESS", denied)))
	e := evaluator(w)
	rules := []posture.Rule{rule("compared-count", `g.V().hasLabel('AWS.EC2.SecurityGroup').where(out('ALLOWS_INGRESS').values('isInternet').dedup().count().is(1))`)}
	a := w.account(t)
	a.Verdicts = new(evaluate.VerdictCache)
	for _, step := range []struct {
		isInternet         posture.Property // of the range that was denied at first
		violating, unknown []string
	}{
		{posture.Flag("isInternet", false), []string{"closed", "open"}, []string{}},
		{posture.Unknown("isInternet", "denied"), []string{}, []string{"closed", "open"}},
		{posture.Flag("isInternet", true), []string{"closed", "open"}, []string{}},
	} {
		if _, _, err := e.Judge(t.Context(), a, rules); err != nil {
			t.Fatal(err)
		}
		before := evaluate.Before{Graph: a.Graph, Coverage: a.Coverage, Verdicts: a.Verdicts, At: now}
		changed := entity(rangeType, region, "denied", step.isInternet)
		var err error
		if a.Graph, err = a.Graph.Patch([]graph.Change{{Record: graphcache.Record(&changed)}}); err != nil {
			t.Fatal(err)
		}
		a.Verdicts = new(evaluate.VerdictCache)
		if _, _, err := e.Reevaluate(t.Context(), a, before, []posture.EntityID{changed.ID}, rules); err != nil {
			t.Fatal(err)
		}
		answers, err := e.Try(t.Context(), a, rules...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.violating, names(answers[0].Violating, w)); diff != "" {
			t.Errorf("violating with %v (-want +got):\n%s", step.isInternet, diff)
		}
		if diff := cmp.Diff(step.unknown, names(answers[0].Unknown, w)); diff != "" {
			t.Errorf("unknown with %v (-want +got):\n%s", step.isInternet, diff)
		}
	}
}
