package collect_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// A recorder is a transport with fixed responses that records its calls.
type recorder struct {
	mu      sync.Mutex
	calls   []string
	answers map[string][]string // pages by call and input; a page "!x" is a failure
}

func (r *recorder) Pages(_ context.Context, q *resource.Request, _ string, input []byte, page func(gjson.Result) error) error {
	key := q.Call + " " + string(input)
	r.mu.Lock()
	r.calls = append(r.calls, key)
	pages, ok := r.answers[key]
	r.mu.Unlock()
	if !ok {
		return fmt.Errorf("unexpected call %s", key)
	}
	for _, text := range pages {
		if failure, failed := strings.CutPrefix(text, "!"); failed {
			return map[string]error{"denied": collect.ErrDenied, "gone": collect.ErrGone, "off": collect.ErrOff, "identity": collect.ErrIdentity}[failure]
		}
		if err := page(gjson.Parse(text)); err != nil {
			return err
		}
	}
	return nil
}

// newReader returns a reader of the given declarations.
func newReader(t *testing.T, answers map[string][]string, declarations ...string) (*collect.Reader, *recorder) {
	t.Helper()
	files := fstest.MapFS{}
	for i, text := range declarations {
		files[fmt.Sprintf("aws/test/%d.yaml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	catalog, err := resource.Load(resource.Functions{}, files)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{answers: answers}
	return &collect.Reader{
		Catalog: catalog, Transport: r, Answers: collect.NewAnswers(),
		Context: resource.Context{
			Vars: resource.Vars{Account: "123456789012", Region: "eu-west-1", Partition: "aws"}, Cloud: naming.Of(posture.AWS, catalog),
		},
	}, r
}

// list returns the names of the resources that a reader lists, with their properties. An unknown
// value is written as "?".
func list(t *testing.T, r *collect.Reader, name posture.EntityType) ([]string, error) {
	t.Helper()
	var got []string
	err := r.List(t.Context(), r.Catalog.Type(name), collect.Emit(func(res *collect.Resource) error {
		text := res.Name
		for _, p := range res.Properties {
			text += " " + p.Name + "=" + p.Plain()
			if p.Type == posture.UnknownProperty {
				text += "?"
			}
		}
		got = append(got, text)
		return nil
	}).Serial())
	slices.Sort(got)
	return got, err
}

const clusters = `
type: AWS.Test.Cluster
doc: A cluster.
scope: region
list:
  - {call: test.ListClusters, items: names}
  - {call: test.DescribeClusters, batch: {of: "@this", size: 2}, input: {names: $batch}, items: clusters}
name: name
properties:
  state: {at: state, doc: Its state.}
`

const nodes = `
type: AWS.Test.Node
doc: A node.
scope: region
list:
  - {from: AWS.Test.Cluster}
  - {call: test.ListNodes, input: {cluster: "${name}"}, items: nodes}
name: "${^name}/${id}"
calls:
  - {call: test.GetNode, input: {cluster: $1, id: $2}, notFound: deleted, properties: {size: {at: size, type: long, doc: Its size.}}}
`

func clusterAnswers() map[string][]string {
	return map[string][]string{
		"test.ListClusters {}":                      {`{"names":["a","b"]}`, `{"names":["c"]}`},
		`test.DescribeClusters {"names":["a","b"]}`: {`{"clusters":[{"name":"a","state":"up"},{"name":"b"}]}`},
		`test.DescribeClusters {"names":["c"]}`:     {`{"clusters":[{"name":"c","state":"down"}]}`},
		`test.ListNodes {"cluster":"a"}`:            {`{"nodes":[{"id":"1"}]}`, `{"nodes":[{"id":"2"}]}`},
		`test.ListNodes {"cluster":"b"}`:            {`!denied`},
		`test.ListNodes {"cluster":"c"}`:            {`!gone`},
		`test.GetNode {"cluster":"a","id":"1"}`:     {`{"size":3}`},
		`test.GetNode {"cluster":"a","id":"2"}`:     {`!gone`},
	}
}

func TestReaderBatchesAndPages(t *testing.T) {
	t.Parallel()
	r, _ := newReader(t, clusterAnswers(), clusters)
	got, err := list(t, r, "AWS.Test.Cluster")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a state=up", "b", "c state=down"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestReaderContinuesAfterRefusedPart checks that a refused part of a list does not prevent the rest
// from being read, but makes the list incomplete. Items that were deleted in the meantime are not a failure.
func TestReaderContinuesAfterRefusedPart(t *testing.T) {
	t.Parallel()
	r, calls := newReader(t, clusterAnswers(), clusters, nodes)
	got, err := list(t, r, "AWS.Test.Node")
	if !errors.Is(err, collect.ErrDenied) {
		t.Errorf("the list ends with %v, want ErrDenied", err)
	}
	if diff := cmp.Diff([]string{"a/1 size=3"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	before := len(calls.calls)
	if _, err := list(t, r, "AWS.Test.Cluster"); err != nil {
		t.Fatal(err)
	}
	if len(calls.calls) != before {
		t.Errorf("calls that two types share were made twice: %v", calls.calls[before:])
	}
}

const buckets = `
type: AWS.Test.Bucket
doc: A bucket.
scope: region
list: [{call: test.ListBuckets, items: buckets, where: {region: [$region, ""]}}]
get: {input: {prefix: $name}}
name: name
deleted: [NoSuchBucket]
calls:
  - {call: test.GetPolicy, input: {bucket: $name}, notFound: absent, properties: {public: {at: public, type: bool, absent: false, doc: It is public.}}}
  - {call: test.GetStatus, input: {bucket: $name}, needs: test.GetPolicy, properties: {status: {at: status, absent: none, doc: Its status.}}}
`

func TestReaderErrorMeanings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy, status string
		want           []string
		fails          error
	}{
		"answered":                  {`{"public":true}`, `{"status":"on"}`, []string{"web public=true status=on"}, nil},
		"nothing configured":        {`!gone`, `!identity`, []string{"web public=false status=none"}, nil}, // GetStatus needs a policy: it is not called
		"refused":                   {`!denied`, `{"status":"on"}`, []string{"web public=? status=on"}, nil},
		"gone without a meaning":    {`{}`, `!gone`, []string{"web public=false status=?"}, nil},
		"the credential is refused": {`{}`, `!identity`, nil, collect.ErrIdentity},
		"not enabled, no meaning":   {`!off`, `{}`, []string{"web public=? status=none"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newReader(t, map[string][]string{
				"test.ListBuckets {}":             {`{"buckets":[{"name":"web"},{"name":"far","region":"us-east-1"}]}`},
				`test.GetPolicy {"bucket":"web"}`: {test.policy},
				`test.GetStatus {"bucket":"web"}`: {test.status},
			}, buckets)
			got, err := list(t, r, "AWS.Test.Bucket")
			if !errors.Is(err, test.fails) {
				t.Errorf("the list ends with %v, want %v", err, test.fails)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestReaderGet(t *testing.T) {
	t.Parallel()
	r, _ := newReader(t, map[string][]string{
		`test.ListBuckets {"prefix":"web"}`:  {`{"buckets":[{"name":"web-old"},{"name":"web"}]}`},
		`test.ListBuckets {"prefix":"gone"}`: {`{"buckets":[]}`},
		`test.GetPolicy {"bucket":"web"}`:    {`!gone`},
	}, buckets)
	var got []string
	emit := func(res *collect.Resource) error { got = append(got, res.Name); return nil }
	if err := r.Get(t.Context(), r.Catalog.Type("AWS.Test.Bucket"), "web", emit); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"web"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := r.Get(t.Context(), r.Catalog.Type("AWS.Test.Bucket"), "gone", emit); !errors.Is(err, collect.ErrGone) {
		t.Errorf("a missing bucket: %v", err)
	}
}

// busRules declares a type without get: a single resource is searched in the list, whose parts are read concurrently.
const busRules = `
type: AWS.Test.Rule
doc: A rule.
scope: region
list:
  - {call: test.ListBuses, items: buses}
  - {call: test.ListRules, input: {bus: "${name}"}, items: rules}
name: name
`

// TestReaderGetFindsConcurrently has the same resource in all parts of a list.
func TestReaderGetFindsConcurrently(t *testing.T) {
	t.Parallel()
	answers := map[string][]string{"test.ListBuses {}": {`{"buses":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]}`}}
	for _, bus := range []string{"a", "b", "c", "d"} {
		answers[`test.ListRules {"bus":"`+bus+`"}`] = []string{`{"rules":[{"name":"one"},{"name":"two"}]}`}
	}
	for _, name := range []string{"two", "three"} {
		r, _ := newReader(t, answers, busRules)
		var got []string
		emit := collect.Emit(func(res *collect.Resource) error { got = append(got, res.Name); return nil })
		err := r.Get(t.Context(), r.Catalog.Type("AWS.Test.Rule"), name, emit.Serial())
		switch name {
		case "two":
			if err != nil || !slices.Equal(got, []string{name}) {
				t.Errorf("rule %s: read %q, %v; want it to be read once", name, got, err)
			}
		case "three":
			if !errors.Is(err, collect.ErrGone) || got != nil {
				t.Errorf("rule %s: read %q, %v; want it to be gone", name, got, err)
			}
		}
	}
}

// TestReaderStopsAtErrorOfNestedPart fails to emit the first item of concurrent parts.
func TestReaderStopsAtErrorOfNestedPart(t *testing.T) {
	t.Parallel()
	answers := map[string][]string{"test.ListBuses {}": {`{"buses":[{"name":"a"},{"name":"b"}]}`}}
	for _, bus := range []string{"a", "b"} {
		answers[`test.ListGroups {"bus":"`+bus+`"}`] = []string{`{"groups":[{"name":"x"},{"name":"y"},{"name":"z"}]}`}
	}
	for _, group := range []string{"x", "y", "z"} {
		answers[`test.ListRules {"group":"`+group+`"}`] = []string{`{"rules":[{"name":"one"},{"name":"two"}]}`}
	}
	nested := strings.Replace(busRules, `  - {call: test.ListRules, input: {bus: "${name}"}, items: rules}`,
		`  - {call: test.ListGroups, input: {bus: "${name}"}, items: groups}
  - {call: test.ListRules, input: {group: "${name}"}, items: rules}`, 1)
	r, _ := newReader(t, answers, nested)
	full, emitted := errors.New("full"), false
	err := r.List(t.Context(), r.Catalog.Type("AWS.Test.Rule"), collect.Emit(func(*collect.Resource) error {
		if emitted {
			return nil
		}
		emitted = true
		return full
	}).Serial())
	// If collect.Failures counted the error as one of a call, it would add "(and N more)".
	if !errors.Is(err, full) || strings.Contains(err.Error(), "more") {
		t.Errorf("the list ends with %v, want only the error of emit", err)
	}
}
