package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func aggregationsCountMatchingEntities(t *testing.T, f EntityFixture) {
	all := fill(t, f, org, 5, 100)
	r := rand.New(rand.NewPCG(3, 4))
	for range 120 {
		filter := randomFilter(r, all)
		if r.IntN(3) == 0 {
			filter = posture.EntityFilter{}
		}
		aggregations := map[string]posture.Aggregation{"a": randomAggregation(r, all, 1), "b": randomAggregation(r, all, 3)}
		total, got, err := f.Store.Aggregate(t.Context(), org, filter, aggregations)
		if err != nil {
			t.Fatal(err)
		}
		var matching []posture.Entity
		for _, e := range all {
			if filter.Matches(&e) {
				matching = append(matching, e)
			}
		}
		if total != len(matching) {
			t.Errorf("%+v: total %d, want %d", filter, total, len(matching))
		}
		// The cost is 0 if stored counts are enough; otherwise all matching entities are read.
		if cost, err := f.Store.AggregationCost(t.Context(), org, filter, aggregations); err != nil || cost != 0 && cost < total {
			t.Errorf("%+v of %+v: costs %d, %v; want 0 or at least the %d matching entities", aggregations, filter, cost, err, total)
		}
		wantSame(t, fmt.Sprintf("%+v of %+v", aggregations, filter), got, map[string]posture.Buckets{"a": countAll(matching, aggregations["a"]), "b": countAll(matching, aggregations["b"])})
	}
}

// aggregationsHaveACost checks that AggregationCost counts every entity of the accounts once
// for each aggregation that stored counts cannot answer: an aggregation by a tag, or any
// aggregation if the filter has a condition. Without aggregations, counting the total with a
// condition costs as much as one aggregation.
func aggregationsHaveACost(t *testing.T, f EntityFixture) {
	all := fill(t, f, org, 3, 50)
	tag := posture.Attribute{Kind: posture.TagAttribute, Name: "env"}
	stored := posture.Aggregation{Of: posture.Attribute{Name: posture.FieldType}}
	read := posture.Aggregation{Of: posture.Attribute{Name: posture.FieldRegion}, Sub: map[string]posture.Aggregation{"s": {Of: tag}}}
	ofAccount := 0
	for _, e := range all {
		if e.Account == all[0].Account {
			ofAccount++
		}
	}
	where := posture.Equal{Attribute: tag, Value: "prod"}
	for name, tt := range map[string]struct {
		filter       posture.EntityFilter
		aggregations map[string]posture.Aggregation
		want         int
	}{
		"stored counts":           {aggregations: map[string]posture.Aggregation{"a": stored}},
		"a tag":                   {aggregations: map[string]posture.Aggregation{"a": stored, "b": read}, want: len(all)},
		"two passes":              {aggregations: map[string]posture.Aggregation{"a": read, "b": read}, want: 2 * len(all)},
		"of one account":          {filter: posture.EntityFilter{Accounts: []string{string(all[0].Account)}}, aggregations: map[string]posture.Aggregation{"b": read}, want: ofAccount},
		"total with a condition":  {filter: posture.EntityFilter{Where: where}, want: len(all)},
		"counts with a condition": {filter: posture.EntityFilter{Where: where}, aggregations: map[string]posture.Aggregation{"a": stored, "b": read}, want: 2 * len(all)},
		"of an unknown account":   {filter: posture.EntityFilter{Accounts: []string{"no such account"}}, aggregations: map[string]posture.Aggregation{"b": read}},
	} {
		if got, err := f.Store.AggregationCost(t.Context(), org, tt.filter, tt.aggregations); err != nil || got != tt.want {
			t.Errorf("%s: costs %d, %v; want %d", name, got, err, tt.want)
		}
	}
}

// aggregationsNestFiveDeep nests all kinds of aggregations to the maximum depth, with filters
// of every kind.
func aggregationsNestFiveDeep(t *testing.T, f EntityFixture) {
	all := fill(t, f, org, 5, 100)
	levels := []posture.Attribute{
		{Name: posture.FieldProvider}, {Kind: posture.TagAttribute, Name: "ENV"}, {Name: posture.FieldType},
		{Kind: posture.PropertyAttribute, Name: "encrypted"}, {Name: posture.FieldRegion},
	}
	prod := posture.Equal{Attribute: levels[1], Value: "Prod"}
	for name, filter := range map[string]posture.EntityFilter{
		"all":                 {},
		"one account":         {Accounts: []string{string(all[0].Account)}},
		"a tag":               {Where: prod},
		"not a tag":           {Where: posture.Not{Part: prod}},
		"a type and a tag":    {Types: []string{string(all[0].Type)}, Where: prod},
		"region and provider": {Regions: []string{all[0].Region}, Providers: []string{string(all[0].Provider)}},
		"nothing":             {Names: []string{"there is no such name"}},
	} {
		for first := range levels {
			// From the innermost aggregation to the outermost, which is by levels[first].
			var a posture.Aggregation
			var inner map[string]posture.Aggregation
			for depth := posture.MaxAggregationDepth - 1; depth >= 0; depth-- {
				a = posture.Aggregation{Of: levels[(first+depth)%len(levels)], Sub: inner}
				inner = map[string]posture.Aggregation{"sub": a}
			}
			_, got, err := f.Store.Aggregate(t.Context(), org, filter, map[string]posture.Aggregation{"a": a})
			if err != nil {
				t.Fatal(err)
			}
			var selected []posture.Entity
			for _, e := range all {
				if filter.Matches(&e) {
					selected = append(selected, e)
				}
			}
			wantSame(t, fmt.Sprintf("%s, %v first", name, levels[first]), got, map[string]posture.Buckets{"a": countAll(selected, a)})
		}
	}
}

// randomAggregation returns a random aggregation of existing attributes. depth is its own depth
// in the tree of aggregations, from 1, which limits the depth of its subaggregations.
func randomAggregation(r *rand.Rand, all []posture.Entity, depth int) posture.Aggregation {
	attribute, _ := randomAttribute(r, all[r.IntN(len(all))])
	if r.IntN(2) == 0 {
		attribute = posture.Attribute{Name: posture.EntityFields[r.IntN(len(posture.EntityFields))]}
	}
	a := posture.Aggregation{Of: attribute}
	if r.IntN(4) == 0 {
		a.Limit = 1 + r.IntN(3)
	}
	for i := range r.IntN(3) {
		if depth >= posture.MaxAggregationDepth {
			break
		}
		if a.Sub == nil {
			a.Sub = map[string]posture.Aggregation{}
		}
		a.Sub[fmt.Sprint("sub ", i)] = randomAggregation(r, all, depth+1)
	}
	return a
}

// countAll computes an aggregation by scanning all entities.
func countAll(all []posture.Entity, a posture.Aggregation) posture.Buckets {
	groups := map[string][]posture.Entity{}
	for _, e := range all {
		values := a.Of.Values(&e)
		slices.Sort(values)
		for _, v := range slices.Compact(values) {
			groups[v] = append(groups[v], e)
		}
	}
	keys := slices.Sorted(maps.Keys(groups))
	slices.SortStableFunc(keys, func(x, y string) int { return len(groups[y]) - len(groups[x]) })
	if a.Limit > 0 && len(keys) > a.Limit {
		keys = keys[:a.Limit]
	}
	out := posture.Buckets{}
	for _, k := range keys {
		b := posture.Bucket{Count: len(groups[k])}
		for name, sub := range a.Sub {
			if b.Sub == nil {
				b.Sub = map[string]posture.Buckets{}
			}
			b.Sub[name] = countAll(groups[k], sub)
		}
		out[k] = b
	}
	return out
}

func tooManyBucketsAreRefused(t *testing.T, f EntityFixture) {
	var es []posture.Entity
	for i := range 4 {
		es = append(es, newEntity(east, fmt.Sprintf("i-%d", i), func(e *posture.Entity) {
			e.Properties = nil
			for n := range 300 {
				e.Properties = append(e.Properties, posture.Number("port", int64(i*1000+n)))
			}
		}))
	}
	record(t, f.Store, newScope(instance, east), es...)
	// Every entity has 300 ports of its own: 1,200 buckets with 300 each.
	port := posture.Attribute{Kind: posture.PropertyAttribute, Name: "port"}
	_, _, err := f.Store.Aggregate(t.Context(), org, posture.EntityFilter{}, map[string]posture.Aggregation{
		"a": {Of: port, Sub: map[string]posture.Aggregation{"b": {Of: port}}},
	})
	wantKind(t, "361,200 buckets", err, fault.Invalid)
}

// aggregationsKeepCase checks that values that differ in case are found together and
// counted separately.
func aggregationsKeepCase(t *testing.T, f EntityFixture) {
	var es []posture.Entity
	for i, v := range []string{"Prod", "prod", "PROD", "prod", "straße", "STRASSE", "Straße", ""} {
		es = append(es, newEntity(east, fmt.Sprintf("I-%d", i/2), func(e *posture.Entity) {
			e.ID += posture.EntityID(fmt.Sprint("-", i)) // two entities have the same name
			e.Tags = map[string]string{"Env": v, "env": "prod"}
			e.Properties = []posture.Property{posture.Text("Size", v), posture.Text("size", "prod"), posture.Text("size", "Prod")}
			if i == 3 {
				e.Properties = []posture.Property{posture.Unknown("size", "denied")}
			}
		}))
	}
	record(t, f.Store, newScope(instance, east), es...)
	size := posture.Attribute{Kind: posture.PropertyAttribute, Name: "SIZE"}
	env := posture.Attribute{Kind: posture.TagAttribute, Name: "env"}
	for name, a := range map[string]posture.Aggregation{
		"tag":           {Of: env},
		"property":      {Of: size},
		"name":          {Of: posture.Attribute{Name: posture.FieldName}},
		"tag, property": {Of: env, Sub: map[string]posture.Aggregation{"p": {Of: size}}},
	} {
		for where, c := range map[string]posture.Condition{"everywhere": nil, "where it is prod": posture.Equal{Attribute: size, Value: "pROD"}} {
			filter := posture.EntityFilter{Where: c}
			var selected []posture.Entity
			for _, e := range es {
				if filter.Matches(&e) {
					selected = append(selected, e)
				}
			}
			total, got, err := f.Store.Aggregate(t.Context(), org, filter, map[string]posture.Aggregation{"a": a})
			if err != nil || total != len(selected) {
				t.Fatalf("%s, %s: %d entities, want %d: %v", name, where, total, len(selected), err)
			}
			wantSame(t, name+", "+where, got, map[string]posture.Buckets{"a": countAll(selected, a)})
		}
	}
}
