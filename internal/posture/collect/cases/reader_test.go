package cases_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// load returns a catalog of declarations that are separated by lines of three equals signs.
func load(t *testing.T, functions resource.Functions, declarations string) *resource.Catalog {
	t.Helper()
	files := fstest.MapFS{}
	for i, text := range strings.Split(declarations, "===\n") {
		files["aws/test/"+string(rune('a'+i))+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	catalog, err := resource.Load(functions, files)
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// fakeTransport is a transport with fixed responses that counts its calls.
type fakeTransport struct {
	answers map[string]string // by call, or by call and input: pages, one per line, or "denied" or "notFound"
	calls   map[string]int
}

func (a *fakeTransport) Pages(_ context.Context, q *resource.Request, _ string, input []byte, page func(gjson.Result) error) error {
	key := q.Call
	if _, ok := a.answers[key+" "+string(input)]; ok {
		key += " " + string(input)
	}
	a.calls[key]++
	switch answer := a.answers[key]; answer {
	case "denied":
		return collect.ErrDenied
	case "notFound", "":
		return collect.ErrGone
	default:
		for _, text := range strings.Split(answer, "\n") {
			if err := page(gjson.Parse(text)); err != nil {
				return err
			}
		}
		return nil
	}
}

// read lists a type, or reads the resource of a name if one is given.
func read(t *testing.T, catalog *resource.Catalog, a *fakeTransport, kind posture.EntityType, name string) ([]posture.Entity, error) {
	t.Helper()
	a.calls = map[string]int{}
	r := &collect.Reader{
		Catalog: catalog, Transport: a, Answers: collect.NewAnswers(),
		Context: resource.Context{Vars: resource.Vars{Account: "1", Region: "eu-west-1", Partition: "aws"}, Cloud: naming.Of(posture.AWS, catalog)},
	}
	var all []posture.Entity
	emit := collect.Emit(func(r *collect.Resource) error {
		r.Normalize()
		all = append(all, r.Entity)
		return nil
	}).Serial()
	var err error
	if name != "" {
		err = r.Get(t.Context(), catalog.Type(kind), name, emit)
	} else {
		err = r.List(t.Context(), catalog.Type(kind), emit)
	}
	slices.SortFunc(all, func(a, b posture.Entity) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all, err
}

func value(e posture.Entity, name string) (all []string) {
	for _, p := range e.Properties {
		if p.Name == name {
			all = append(all, p.Plain())
		}
	}
	return all
}

// disks declares disks and boxes.
const disks = `
type: AWS.Test.Disk
doc: A disk.
scope: region
list: [{call: test.ListDisks, items: Disks}]
name: Id
namedInEvents: disk-*
properties:
  zones: {at: [Zone, Zones], type: strings, doc: Its zones.}
  shared: {at: Users, is: all, absent: false, doc: It is shared.}
  day: {at: Made, type: date, doc: The day it was made.}
edges:
  IN: {to: [AWS.Test.Disk, AWS.Test.Box], ref: "Places|@split:,", doc: Where it is.}
  SENDS_TO: {to: AWS.Test.Disk, ref: Endpoint, arn: true, doc: Where it sends.}
calls:
  - call: test.ListLocks
    at: Locks
    find: {Disk: $name}
    notFound: absent
    properties: {locked: {at: On, type: bool, absent: false, doc: It is locked.}}
  - call: test.ListLogs
    at: Logs
    where: {Disk: $name}
    properties: {logs: {at: "#.Name", type: strings, doc: Its logs.}}
===
type: AWS.Test.Box
doc: A box.
scope: region
list: [{call: test.ListBoxes, items: Boxes}]
get: {nameOnly: true}
name: [name, "@this|@last:/"]
namedInEvents: box-*
display: about>Title
xid: [about>Arn, "arn:aws:test:::$name"]
calls:
  - call: test.DescribeBox
    as: about
    input: {Name: $name}
    notFound: deleted
    properties: {size: {at: Size, type: long, doc: Its size.}}
  - call: test.DescribeLid
    input: {Lid: "${about>Lid}"}
    properties: {lid: {at: Kind, doc: Its lid.}}
`

// TestJoinedCalls checks that a call whose input is the same for all items is made once, and
// that each item gets its own part of the response.
func TestJoinedCalls(t *testing.T) {
	t.Parallel()
	catalog := load(t, resource.Functions{}, disks)
	a := &fakeTransport{answers: map[string]string{
		"test.ListDisks": `{"Disks":[{"Id":"disk-1","Zone":"b","Zones":["a"],"Users":["x","all"],"Made":"2024-05-01T23:30:00-01:00","Places":"disk-9, box-8, other","Endpoint":"ann@example.com"},{"Id":"disk-2"}]}`,
		"test.ListLocks": `{"Locks":[{"Disk":"disk-7"}]}` + "\n" + `{"Locks":[{"Disk":"disk-1","On":true}]}`,
		"test.ListLogs":  `{"Logs":[{"Disk":"disk-1","Name":"l1"},{"Disk":"disk-2","Name":"l2"},{"Disk":"disk-1","Name":"l3"}]}`,
	}}
	got, err := read(t, catalog, a, "AWS.Test.Disk", "")
	if err != nil || len(got) != 2 {
		t.Fatalf("read %v, %v; want two disks", got, err)
	}
	// disk-1 was made on 2 May in UTC.
	for _, tt := range []struct {
		disk int
		name string
		want string
	}{
		{0, "zones", "a b"}, {0, "shared", "true"}, {0, "day", "2024-05-02"}, {0, "locked", "true"}, {0, "logs", "l1 l3"},
		{1, "zones", ""}, {1, "shared", "false"}, {1, "day", ""}, {1, "locked", "false"}, {1, "logs", "l2"},
	} {
		if text := strings.Join(value(got[tt.disk], tt.name), " "); text != tt.want {
			t.Errorf("%s of %s is %q, want %q", tt.name, got[tt.disk].Name, text, tt.want)
		}
	}
	var edges []string
	for _, e := range got[0].Edges {
		edges = append(edges, e.Label+" "+string(e.To))
	}
	if want := []string{"IN AWS.Test.1.eu-west-1.Box.box-8", "IN AWS.Test.1.eu-west-1.Disk.disk-9"}; !slices.Equal(edges, want) {
		t.Errorf("edges are %q, want %q: the prefix of an id determines its type, and a reference with arn: true must be an ARN", edges, want)
	}
	if a.calls["test.ListLocks"] != 1 || a.calls["test.ListLogs"] != 1 {
		t.Errorf("calls with the same input for all items were made %v times", a.calls)
	}
	a.answers["test.ListLocks"] = "denied"
	got, err = read(t, catalog, a, "AWS.Test.Disk", "")
	// The second property in alphabetical order is "locked".
	if err != nil || len(got) != 2 || got[0].Properties[1].Type != posture.UnknownProperty || a.calls["test.ListLocks"] != 1 {
		t.Errorf("a refusal for all items: %v, %v, made %v", got, err, a.calls)
	}
}

// TestIdentityFromAnswers checks that names and external ids may come from the response of a
// call, and what is unknown when the call is refused.
func TestIdentityFromAnswers(t *testing.T) {
	t.Parallel()
	catalog := load(t, resource.Functions{}, disks)
	a := &fakeTransport{answers: map[string]string{
		"test.ListBoxes":                `{"Boxes":["b/box-1"]}`,
		"test.DescribeBox":              `{"Title":"Red","Arn":"arn:aws:test:::red","Size":3,"Lid":"l9"}`,
		`test.DescribeLid {"Lid":"l9"}`: `{"Kind":"flat"}`,
	}}
	got, err := read(t, catalog, a, "AWS.Test.Box", "")
	if err != nil || len(got) != 1 || got[0].Name != "Red" || got[0].XID != "arn:aws:test:::red" || got[0].ID != "AWS.Test.1.eu-west-1.Box.box-1" {
		t.Fatalf("read %+v, %v; want the box Red", got, err)
	}
	if lid := value(got[0], "lid"); !slices.Equal(lid, []string{"flat"}) {
		t.Errorf("the lid is %q", lid)
	}
	got, err = read(t, catalog, a, "AWS.Test.Box", "box-2")
	if err != nil || len(got) != 1 || got[0].ID != "AWS.Test.1.eu-west-1.Box.box-2" || a.calls["test.ListBoxes"] != 0 {
		t.Errorf("by name: %+v, %v", got, err)
	}
	// Size and lid are then unknown. DescribeLid needs the response of DescribeBox, so it is not called.
	a.answers["test.DescribeBox"] = "denied"
	got, err = read(t, catalog, a, "AWS.Test.Box", "")
	if err != nil || len(got) != 1 || len(got[0].Properties) != 2 || got[0].XID != "arn:aws:test:::box-1" || len(a.calls) != 2 {
		t.Errorf("a call that depends on a refused one: %+v, %v, made %v", got, err, a.calls)
	}
	a.answers["test.DescribeBox"] = "notFound"
	got, err = read(t, catalog, a, "AWS.Test.Box", "box-2")
	if !errors.Is(err, collect.ErrGone) || len(got) != 0 {
		t.Errorf("a deleted resource: %+v, %v", got, err)
	}
}

// TestFunctions checks that declared functions are applied, that an answer function runs once
// for all items, and that the response of a list that a function also reads is shared.
func TestFunctions(t *testing.T) {
	t.Parallel()
	reports := 0
	functions := resource.Functions{
		List: map[string]resource.ListFunction{"test.colours": {
			Reads: []posture.EntityType{"AWS.Test.Car"},
			Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
				cars, err := c.Items(ctx, "AWS.Test.Car")
				report, _ := c.Answer(ctx, "test.report")
				return append(cars, resource.Item{Result: report}), err
			},
		}},
		Answer: map[string]resource.AnswerFunction{"test.report": {
			Apply: func(ctx context.Context, c resource.Caller) (gjson.Result, error) {
				reports++
				answers, err := c.Call(ctx, resource.NewRequest("test.Report", `{Of: "$account"}`), nil)
				if err != nil {
					return gjson.Result{}, err
				}
				return answers[0].Get("Text|@fromstr"), nil
			},
		}},
	}
	catalog := load(t, functions, `
type: AWS.Test.Car
doc: A car.
scope: region
list: [{call: test.ListCars, items: Cars}]
name: Id
calls:
  - function: test.report
    properties: {colour: {at: Colour, doc: Its colour.}}
===
type: AWS.Test.Colour
doc: A colour.
scope: region
list: [{function: test.colours}]
name: [Colour, Id]
`)
	a := &fakeTransport{answers: map[string]string{
		"test.ListCars": `{"Cars":[{"Id":"c1"},{"Id":"c2"}]}`, `test.Report {"Of":"1"}`: `{"Text":"{\"Colour\":\"red\"}"}`,
	}}
	got, err := read(t, catalog, a, "AWS.Test.Car", "")
	if err != nil || len(got) != 2 || !slices.Equal(value(got[1], "colour"), []string{"red"}) || reports != 1 {
		t.Errorf("%+v, %v, %d reports", got, err, reports)
	}
	// test.colours returns the two cars, whose names are their ids, and the report, whose name is its colour.
	got, err = read(t, catalog, a, "AWS.Test.Colour", "")
	if err != nil || len(got) != 3 || got[2].Name != "red" {
		t.Errorf("read %+v, %v; want three colours, the last one red", got, err)
	}
	if !catalog.Shared("test.ListCars") || catalog.Shared("test.Report") {
		t.Error("Shared: want true for a list that a function also reads, false for a call of one function")
	}
}

// TestDeclarationMistakes checks that invalid declarations are rejected.
func TestDeclarationMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"calls: [{properties: {}}]":                    "must have either a call or a function",
		"calls: [{call: a.B, function: x.y}]":          "must have either a call or a function",
		"calls: [{function: x.y}]":                     "there is no answer function x.y",
		"properties: {p: {at: P, type: day, doc: P.}}": `unknown type "day"`,
		"properties: {p: {at: P, doc: P.}}\ncalls: [{call: a.B, properties: {p: {at: P, doc: P.}}}]": "p is declared twice: in the list and in a.B",
	} {
		file := "type: AWS.Test.A\ndoc: A.\nscope: region\nlist: [{single: true}]\nname: $region\n" + text
		_, err := resource.Load(resource.Functions{}, fstest.MapFS{"aws/test/a.yaml": &fstest.MapFile{Data: []byte(file)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
