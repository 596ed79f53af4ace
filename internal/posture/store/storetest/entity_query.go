package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/entitygen"
	"vigil/internal/posture/search"
)

// queryTests run queries on generated entities and compare the results with a scan of
// all entities.
var queryTests = map[string]func(*testing.T, EntityFixture){
	"FiltersFindMatchingEntities":       filtersFindMatchingEntities,
	"NamesAreFoundByTheirWords":         namesAreFoundByTheirWords,
	"SortsOrderAllEntities":             sortsOrderAllEntities,
	"PagesCoverAllEntitiesOnce":         pagesCoverAllEntitiesOnce,
	"PagesAreStableUnderChange":         pagesAreStableUnderChange,
	"AggregationsCountMatchingEntities": aggregationsCountMatchingEntities,
	"AggregationsNestFiveDeep":          aggregationsNestFiveDeep,
	"AggregationsHaveACost":             aggregationsHaveACost,
	"AggregationsKeepCase":              aggregationsKeepCase,
	"OrganisationsDoNotMix":             organisationsDoNotMix,
	"OddTextsAreFound":                  oddTextsAreFound,
	"UnreadTagsNeitherMatchNorDiffer":   unreadTagsNeitherMatchNorDiffer,
	"TooManyBucketsAreRefused":          tooManyBucketsAreRefused,
}

// fill records generated accounts and returns their entities.
func fill(t *testing.T, f EntityFixture, org posture.OrgID, accounts, entities int) []posture.Entity {
	t.Helper()
	var all []posture.Entity
	for i := range accounts {
		a := entitygen.New(i, entities)
		err := f.Store.Onboard(t.Context(), org, func(tx posture.OnboardingTx) error {
			return tx.AddAccount(newAccount(a.ID, func(acc *posture.Account) { acc.Provider = a.Provider }))
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range a.Units() {
			es := slices.Collect(u.Each)
			record(t, f.Store, collect.Scoped{Org: org, Account: a.ID, Type: u.Type, Region: u.Region}, es...)
			all = append(all, es...)
		}
	}
	for i := range all {
		all[i].Created, all[i].Updated = f.Clock.T, f.Clock.T
	}
	return all
}

// matchingIDs returns the ids of the entities that a filter selects.
func matchingIDs(all []posture.Entity, f posture.EntityFilter) []posture.EntityID {
	ids := []posture.EntityID{}
	for i := range all {
		if f.Matches(&all[i]) {
			ids = append(ids, all[i].ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// pages reads all pages of a query.
func pages(t *testing.T, s EntityStore, org posture.OrgID, f posture.EntityFilter, size int) (found []posture.Entity, total int) {
	t.Helper()
	for p := (posture.Page{Size: size}); ; {
		page, err := s.Entities(t.Context(), org, f, p)
		if err != nil {
			t.Fatalf("%+v: %v", f, err)
		}
		found, total = append(found, page.Entities...), page.Total
		if page.Next == "" {
			return found, total
		}
		if len(page.Entities) != size {
			t.Fatalf("%+v: a page of %d before the last has %d entities", f, size, len(page.Entities))
		}
		p.After = page.Next
	}
}

func idsOf(es []posture.Entity) []posture.EntityID {
	ids := make([]posture.EntityID, len(es))
	for i, e := range es {
		ids[i] = e.ID
	}
	slices.Sort(ids)
	return ids
}

func filtersFindMatchingEntities(t *testing.T, f EntityFixture) {
	all := fill(t, f, org, 5, 100)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		filter := randomFilter(r, all)
		found, total := pages(t, f.Store, org, filter, 40+r.IntN(200))
		want := matchingIDs(all, filter)
		if ids := idsOf(found); !slices.Equal(ids, want) {
			t.Errorf("%+v: found %d entities that are not exactly the %d that match", filter, len(ids), len(want))
		}
		if total != len(want) {
			t.Errorf("%+v: the total is %d, want %d", filter, total, len(want))
		}
	}
}

// randomFilter returns a random filter of existing values.
func randomFilter(r *rand.Rand, all []posture.Entity) posture.EntityFilter {
	var f posture.EntityFilter
	randomEntity := func() posture.Entity { return all[r.IntN(len(all))] }
	list := func(p float64, value func(posture.Entity) string) (values []string) {
		for r.Float64() < p {
			values = append(values, value(randomEntity()))
		}
		return values
	}
	f.Accounts = list(0.3, func(e posture.Entity) string { return string(e.Account) })
	f.Types = list(0.3, func(e posture.Entity) string { return string(e.Type) })
	f.Regions = list(0.2, func(e posture.Entity) string { return e.Region })
	f.Services = list(0.15, func(e posture.Entity) string { return e.Service })
	f.Providers = list(0.15, func(e posture.Entity) string { return string(e.Provider) })
	f.Names = list(0.1, func(e posture.Entity) string { return e.Name })
	if r.Float64() < 0.15 {
		words := posture.SearchWords(randomEntity().Name)
		w := []rune(words[r.IntN(len(words))])
		length := 1 + r.IntN(min(len(w), 8))
		f.NameWords = []string{string(w[:length])}
	}
	if r.Float64() < 0.7 {
		f.Where = randomCondition(r, randomEntity, 0)
	}
	return f
}

func randomCondition(r *rand.Rand, randomEntity func() posture.Entity, depth int) posture.Condition {
	parts := func() (all []posture.Condition) {
		for range 1 + r.IntN(3) {
			all = append(all, randomCondition(r, randomEntity, depth+1))
		}
		return all
	}
	switch k := r.IntN(10); {
	case k == 0 && depth < 3:
		return posture.AllOf(parts())
	case k == 1 && depth < 3:
		return posture.AnyOf(parts())
	case k <= 3 && depth < 3: // 2 or 3
		return posture.Not{Part: randomCondition(r, randomEntity, depth+1)}
	}
	a, value := randomAttribute(r, randomEntity())
	if r.IntN(4) == 0 {
		return posture.Exists{Attribute: a}
	}
	return posture.Equal{Attribute: a, Value: value}
}

// randomAttribute returns an attribute of an entity and its value.
func randomAttribute(r *rand.Rand, e posture.Entity) (posture.Attribute, string) {
	switch {
	case r.IntN(5) == 0:
		a := posture.Attribute{Name: posture.EntityFields[r.IntN(len(posture.EntityFields))]}
		return a, a.Values(&e)[0]
	case len(e.Tags) > 0 && r.IntN(3) == 0:
		names := slices.Sorted(maps.Keys(e.Tags))
		name := names[r.IntN(len(names))]
		return posture.Attribute{Kind: posture.TagAttribute, Name: name}, e.Tags[name]
	}
	p := e.Properties[r.IntN(len(e.Properties))]
	return posture.Attribute{Kind: posture.PropertyAttribute, Name: p.Name}, p.Plain()
}

func pagesCoverAllEntitiesOnce(t *testing.T, f EntityFixture) {
	all := fill(t, f, org, 5, 60)
	for _, size := range []int{1, 7, 1000} {
		found, total := pages(t, f.Store, org, posture.EntityFilter{}, size)
		if total != len(all) || !slices.Equal(idsOf(found), idsOf(all)) {
			t.Errorf("pages of %d: %d entities of a total of %d, want %d", size, len(found), total, len(all))
		}
	}
	page, err := f.Store.Entities(t.Context(), org, posture.EntityFilter{Names: []string{all[0].Name}}, posture.Page{})
	if err != nil || len(page.Entities) != 1 {
		t.Fatalf("the only entity with its name: %+v, %v", page, err)
	}
	wantSame(t, "entity", page.Entities[0], all[0])
	_, err = f.Store.Entities(t.Context(), org, posture.EntityFilter{}, posture.Page{After: "not a cursor!"})
	wantKind(t, "bad cursor", err, fault.Invalid)
}

// pagesAreStableUnderChange changes entities between pages.
func pagesAreStableUnderChange(t *testing.T, f EntityFixture) {
	var es []posture.Entity
	for i := range 60 {
		es = append(es, newEntity(east, fmt.Sprintf("i-%02d", i)))
	}
	record(t, f.Store, newScope(instance, east), es...)
	for _, filter := range []posture.EntityFilter{{}, {Where: posture.Equal{Attribute: posture.Attribute{Kind: posture.TagAttribute, Name: "env"}, Value: "prod"}}} {
		seen := map[posture.EntityID]int{}
		round := 0
		for p := (posture.Page{Size: 10}); ; round++ {
			page, err := f.Store.Entities(t.Context(), org, filter, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Entities {
				seen[e.ID]++
			}
			if page.Next == "" {
				break
			}
			p.After = page.Next
			// In every round the last listed entity is removed, another changes and one
			// is added.
			last := page.Entities[len(page.Entities)-1]
			changed := newEntity(east, "i-59", set(posture.Number("round", int64(round))))
			if err := f.Store.Replace(t.Context(), posture.Scope(newScope(instance, east)), posture.ChangeOrigin{},
				[]posture.Entity{changed, newEntity(east, fmt.Sprintf("new-%d", round))}, []posture.EntityID{last.ID}); err != nil {
				t.Fatal(err)
			}
		}
		for id, n := range seen {
			if n != 1 {
				t.Errorf("%s is on %d pages", id, n)
			}
		}
		for _, e := range es {
			if seen[e.ID] != 1 {
				t.Errorf("%s is on %d pages, want 1", e.ID, seen[e.ID])
			}
		}
		record(t, f.Store, newScope(instance, east), es...)
	}
}

func organisationsDoNotMix(t *testing.T, f EntityFixture) {
	own := fill(t, f, org, 2, 100)
	foreign := fill(t, f, other, 3, 60)
	for _, c := range []struct {
		org  posture.OrgID
		want []posture.Entity
	}{{org, own}, {other, foreign}} {
		first, second := string(entitygen.New(0, 0).ID), string(entitygen.New(1, 0).ID) // accounts that both organisations have
		matchAll := posture.Not{Part: posture.Equal{Attribute: posture.Attribute{Kind: posture.TagAttribute, Name: "none"}, Value: "x"}}
		for _, filter := range []posture.EntityFilter{{}, {Where: matchAll}, {Providers: []string{"aws", "AZURE"}}, {Where: matchAll, Accounts: []string{first, second}}} {
			found, total := pages(t, f.Store, c.org, filter, 500)
			want := matchingIDs(c.want, filter)
			if !slices.Equal(idsOf(found), want) || total != len(want) {
				t.Errorf("%s, %+v: %d entities of %d, want %d", c.org, filter, len(found), total, len(want))
			}
		}
		total, _, err := f.Store.Aggregate(t.Context(), c.org, posture.EntityFilter{}, nil)
		if err != nil || total != len(c.want) {
			t.Errorf("%s: total %d, %v, want %d", c.org, total, err, len(c.want))
		}
	}
	remove(t, f.Store, entitygen.New(0, 0).ID)
	remaining := matchingIDs(own, posture.EntityFilter{Accounts: []string{string(entitygen.New(1, 0).ID)}})
	for _, filter := range []posture.EntityFilter{{}, {Where: posture.Exists{Attribute: posture.Attribute{Name: posture.FieldRegion}}}} {
		if found, total := pages(t, f.Store, org, filter, 500); !slices.Equal(idsOf(found), remaining) || total != len(remaining) {
			t.Errorf("after removal: %d entities of %d, want %d", len(found), total, len(remaining))
		}
	}
	if found, _ := pages(t, f.Store, other, posture.EntityFilter{}, 500); len(found) != len(foreign) {
		t.Errorf("the other organisation has %d entities, want %d", len(found), len(foreign))
	}
}

// unreadTagsNeitherMatchNorDiffer queries tags of an entity whose tags could not be read:
// whether it has a tag is unknown, so that neither = nor != selects it.
func unreadTagsNeitherMatchNorDiffer(t *testing.T, f EntityFixture) {
	edited := func(name string, edit func(*posture.Entity)) posture.Entity {
		return newEntity(east, name, func(e *posture.Entity) { e.Tags = nil; edit(e) })
	}
	es := []posture.Entity{
		edited("i-none", func(*posture.Entity) {}),
		edited("i-tagged", func(e *posture.Entity) { e.Tags = map[string]string{"env": "prod"} }),
		edited("i-unread", set(posture.Unknown(posture.TagsUnread, "denied"))),
	}
	record(t, f.Store, newScope(instance, east), es...)
	for text, want := range map[string][]posture.EntityID{
		"tag.env = prod":                         {es[1].ID},
		"tag.env != prod":                        {es[0].ID},
		"tag.env != test":                        {es[0].ID, es[1].ID},
		"exists(tag.env)":                        {es[1].ID},
		"NOT exists(tag.env)":                    {es[0].ID},
		"NOT (NOT tag.env = prod)":               {es[1].ID},
		"tag.env != prod OR region = us-east-1":  {es[0].ID, es[1].ID, es[2].ID},
		"tag.env = prod AND region != us-east-1": {},
	} {
		where, err := search.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		filter := posture.EntityFilter{Where: where}
		found, total := pages(t, f.Store, org, filter, 100)
		if !slices.Equal(idsOf(found), want) || total != len(want) || !slices.Equal(matchingIDs(es, filter), want) {
			t.Errorf("%s: found %v of %d, the condition holds for %v, want %v", text, idsOf(found), total, matchingIDs(es, filter), want)
		}
	}
}

func oddTextsAreFound(t *testing.T, f EntityFixture) {
	texts := []string{"", " ", `"quotes' AND (parentheses)`, "ΣΑΣ", "ﬀ ß ẞ İ", "\x00", "\xff\xfe", "a\nb", "NEAR", "*", "日本語", "a=b", "property.x = y"}
	var es []posture.Entity
	for i, text := range texts {
		es = append(es, newEntity(east, fmt.Sprintf("i-%d", i), func(e *posture.Entity) {
			e.Name = "name " + text
			e.Properties = []posture.Property{posture.Text("odd", text)}
			e.Tags = map[string]string{"odd " + text: text}
		}))
	}
	record(t, f.Store, newScope(instance, east), es...)
	for i, text := range texts {
		for what, filter := range map[string]posture.EntityFilter{
			"property": {Where: posture.Equal{Attribute: posture.Attribute{Kind: posture.PropertyAttribute, Name: "ODD"}, Value: text}},
			"tag":      {Where: posture.Equal{Attribute: posture.Attribute{Kind: posture.TagAttribute, Name: "Odd " + text}, Value: text}},
			// The other filters have the odd text as a second value, which must not break them.
			"name": {Names: []string{"NAME " + text}, Types: []string{"aws.ec2.instance", text}, Regions: []string{"US-EAST-1", text}, Accounts: []string{string(account), text}},
		} {
			found, total := pages(t, f.Store, org, filter, 100)
			if want := matchingIDs(es, filter); !slices.Equal(idsOf(found), want) || total != len(want) || !slices.Contains(want, es[i].ID) {
				t.Errorf("%s %q: found %v of %d, want %v", what, text, idsOf(found), total, want)
			}
		}
	}
	if _, err := f.Store.Entity(t.Context(), org, posture.EntityID("AWS.\x00.\xff."+account)); !fault.Is(err, fault.NotFound) {
		t.Errorf("an id with bytes that are no text: %v, want not found", err)
	}
}
