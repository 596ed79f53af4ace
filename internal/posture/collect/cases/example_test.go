package cases_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/resource"
)

const volumes = `
type: AWS.Test.Volume
doc: A volume.
scope: region
list: [{call: test.ListVolumes, items: Volumes}]
name: Id
properties:
  encrypted: {at: Encrypted, type: bool, absent: false, doc: It is encrypted.}
  zones: {at: "Zones.#.Name", type: strings, doc: Its zones.}
  copies: {at: "Copies.#(State==up)#|#", type: long, doc: How many copies are up.}
  open: {at: Access, is: public, absent: false, doc: Everybody can read it.}
  engine: {at: "Version|@split:.|0", doc: The major version.}
edges:
  OF: {to: AWS.Test.Volume, ref: Source, doc: What it was copied from.}
calls:
  - call: test.GetLock
    input: {Id: $name}
    at: Lock
    properties:
      days: {at: '#(Key=="days").Value', type: long, doc: For how long it is locked.}
---
cases:
  - name: everything set
    answers:
      test.ListVolumes: {Volumes: [{Id: v1, Encrypted: true, Zones: [{Name: a, Id: 1}], Copies: [{State: down}], Version: "5.1"}]}
      test.GetLock: {Lock: [{Key: days, Value: "30"}, {Key: mode, Value: strict}]}
    entities:
      - {id: eu-west-1 v1}
`

// TestAnswersAreDerived checks that entities that are read from derived answers have the
// values for which the answers were derived.
func TestAnswersAreDerived(t *testing.T) {
	t.Parallel()
	root := fstest.MapFS{"aws/test/volume.yaml": &fstest.MapFile{Data: []byte(volumes)}}
	catalog, err := resource.Load(resource.Functions{}, root)
	if err != nil {
		t.Fatal(err)
	}
	kind := posture.EntityType("AWS.Test.Volume")
	first, err := cases.First(root, catalog.Type(kind))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []map[string]any{
		{"encrypted": false, "days": 7},
		{"zones": []any{"b", "c"}, "copies": 2, "open": true},
		{"zones": "d", "open": false, "engine": "8"},
	} {
		answers, err := cases.Answers(catalog, catalog.Type(kind), first, want, map[string][]any{"OF": {"v0"}})
		if err != nil {
			t.Fatal(err)
		}
		reading, err := cases.ReadAll(t.Context(), catalog, []posture.EntityType{kind}, answers)
		if err != nil || len(reading.Entities) != 1 {
			t.Fatalf("%v: read %v, %v from %v", want, reading.Entities, err, answers)
		}
		got := cases.Describe(reading.Entities[0])
		for name, value := range want {
			if number, ok := value.(int); ok {
				value = int64(number)
			}
			if !equal(got.Properties[name], value) {
				t.Errorf("%s is %v, want %v, from %v", name, got.Properties[name], value, answers)
			}
		}
		if edges := got.Edges["OF"]; len(edges) != 1 || edges[0] != "AWS.Test.123456789012.eu-west-1.Volume.v0" {
			t.Errorf("edges are %v", edges)
		}
	}
	if _, err := cases.Answers(catalog, catalog.Type(kind), first, map[string]any{"other": 1}, nil); err == nil {
		t.Error("a property that is not declared was set")
	}
}

func equal(a, b any) bool {
	list, several := b.([]any)
	if !several {
		return a == b
	}
	other, _ := a.([]any)
	if len(other) != len(list) {
		return false
	}
	for i := range list {
		if list[i] != other[i] {
			return false
		}
	}
	return true
}

// TestListThatIsOffIsEmpty checks that a list whose service is not enabled or not offered is
// empty and complete, as in a collection, and that other refusals make it incomplete.
func TestListThatIsOffIsEmpty(t *testing.T) {
	t.Parallel()
	catalog := load(t, resource.Functions{}, volumes[:strings.Index(volumes, "---\n")])
	kind := posture.EntityType("AWS.Test.Volume")
	for response, failed := range map[string]bool{"notEnabled": false, "notOffered": false, "denied": true, "throttled": true} {
		reading, err := cases.ReadAll(t.Context(), catalog, []posture.EntityType{kind}, map[string]any{"test.ListVolumes": response})
		if err != nil || len(reading.Entities) != 0 || (reading.Failed[kind] != nil) != failed {
			t.Errorf("%s: read %v, failed %v, %v", response, reading.Entities, reading.Failed, err)
		}
	}
}

// TestAnswersInvertMaps checks that a value is inverted once, and always in the same way.
func TestAnswersInvertMaps(t *testing.T) {
	t.Parallel()
	const declaration = `
type: AWS.Test.Lock
doc: A lock.
scope: region
list: [{call: test.ListLocks, items: Locks}]
name: Id
properties:
  state: {at: State, map: {A: B, B: C, D: C}, doc: Its state.}
---
cases:
  - name: a state
    answers:
      test.ListLocks: {Locks: [{Id: l1, State: A}]}
    entities:
      - {id: eu-west-1 l1}
`
	root := fstest.MapFS{"aws/test/lock.yaml": &fstest.MapFile{Data: []byte(declaration)}}
	catalog, err := resource.Load(resource.Functions{}, root)
	if err != nil {
		t.Fatal(err)
	}
	kind := catalog.Type("AWS.Test.Lock")
	first, err := cases.First(root, kind)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		answers, err := cases.Answers(catalog, kind, first, map[string]any{"state": "C"}, nil)
		if text := fmt.Sprint(answers); err != nil || !strings.Contains(text, "State:B") {
			t.Fatalf("%s, %v; want State:B", text, err)
		}
	}
}

// TestCodesHaveTheirMeaning has a case of a resource that vanishes. The case must fail with a code
// that AWS does not use for a missing resource.
func TestCodesHaveTheirMeaning(t *testing.T) {
	t.Parallel()
	const declaration = `
type: AWS.Test.Lock
doc: A lock.
scope: region
list: [{call: test.ListLocks, items: Locks}]
name: Id
calls:
  - {call: test.GetLock, input: {Id: $name}, notFound: deleted, properties: {days: {at: Days, type: long, doc: For how long it is locked.}}}
---
cases:
  - name: removed while it is read
    answers:
      test.ListLocks: {Locks: [{Id: l1}]}
      test.GetLock: code CODE
    entities: []
`
	for code, passes := range map[string]bool{"NoSuchLock": true, "LockNotFoundException": true, "InternalFailure": false} {
		root := fstest.MapFS{"aws/test/lock.yaml": &fstest.MapFile{Data: []byte(strings.Replace(declaration, "CODE", code, 1))}}
		catalog, err := resource.Load(resource.Functions{}, root)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := cases.Check(t.Context(), root, catalog); (err == nil) != passes {
			t.Errorf("%s: Check = %v, want it to pass: %t", code, err, passes)
		}
	}
}
