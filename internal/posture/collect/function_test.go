package collect_test

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// functions are functions for declarations: one counts the buckets of an owner, one lists the
// owners, and one selects buckets and fails if it may not read one of them.
var functions = resource.Functions{
	Derive: map[string]resource.Function{"buckets": {
		Properties: []resource.Property{{Name: "buckets", Kind: resource.Long, Doc: "How many buckets it has."}},
		Reads:      []posture.EntityType{"AWS.Test.Bucket"},
		Apply: func(in resource.FunctionInput, b *resource.Builder) error {
			counts, err := in.Caller.Once("counts", func() (any, error) {
				counts := map[string]int64{}
				err := in.Caller.Each(in.Ctx, "AWS.Test.Bucket", func(item *resource.Item) error {
					counts[item.Get("owner").String()]++
					return nil
				})
				return counts, err
			})
			if err == nil {
				b.Number("buckets", counts.(map[string]int64)[in.Value.String()])
			}
			return err
		},
	}},
	List: map[string]resource.ListFunction{"owners": {Reads: []posture.EntityType{"AWS.Test.Bucket"}, Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) (all []resource.Item, err error) {
		seen := map[string]bool{}
		err = c.Each(ctx, "AWS.Test.Bucket", func(item *resource.Item) error {
			if owner := item.Get("owner"); !seen[owner.String()] {
				seen[owner.String()] = true
				all = append(all, resource.Item{Result: gjson.Parse(`{"name":` + owner.Raw + `}`)})
			}
			return nil
		})
		return all, err
	}}, "big": {Apply: func(_ context.Context, _ resource.Caller, items []resource.Item) (big []resource.Item, err error) {
		for _, item := range items {
			switch item.Get("kind").Str {
			case "big":
				big = append(big, item)
			case "locked":
				err = collect.ErrDenied
			}
		}
		return big, err
	}}},
}

const owned = `
type: AWS.Test.Bucket
doc: A bucket.
scope: region
list: [{call: test.ListBuckets, items: buckets}]
name: name
none: nothing
properties: {kind: {at: kind, absent: plain, doc: Its kind.}}
`

const bigBuckets = `
type: AWS.Test.BigBucket
doc: A bucket that a list function selects.
scope: region
list: [{call: test.ListBuckets, items: buckets}, {function: big}]
name: name
none: nothing
properties: {kind: {at: kind, absent: plain, doc: Its kind.}}
`

const owners = `
type: AWS.Test.Owner
doc: An owner of buckets.
scope: region
list: [{function: owners}]
name: name
gathered: true
derive: [buckets(name)]
`

const rules = `
type: AWS.Test.Rule
doc: A rule of a bucket.
scope: region
list: [{from: AWS.Test.Bucket}, {items: rules, when: {kind: ["!", plain]}}]
name: "${^name}/${id}"
`

// functionReader returns a reader of the types above that lists the given pages of buckets. It does
// not share responses between functions.
func functionReader(t *testing.T, pages ...string) (*collect.Reader, *recorder) {
	t.Helper()
	catalog, err := resource.Load(functions, fstest.MapFS{
		"a.yaml": &fstest.MapFile{Data: []byte(owned)}, "b.yaml": &fstest.MapFile{Data: []byte(owners)}, "c.yaml": &fstest.MapFile{Data: []byte(rules)},
		"d.yaml": &fstest.MapFile{Data: []byte(bigBuckets)},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{answers: map[string][]string{"test.ListBuckets {}": pages}}
	return &collect.Reader{Catalog: catalog, Transport: r, Context: resource.Context{
		Vars: resource.Vars{Account: "123456789012", Region: "eu-west-1", Partition: "aws"}, Cloud: naming.Of(posture.AWS, catalog),
	}}, r
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	r, calls := functionReader(t, `{"buckets":[{"name":"a","owner":"x"},{"name":"b","owner":"y"}]}`, `{"buckets":[{"name":"c","owner":"x"}]}`)
	got, err := list(t, r, "AWS.Test.Owner")
	if diff := cmp.Diff([]string{"x buckets=2", "y buckets=1"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if len(calls.calls) != 2 {
		t.Errorf("buckets were listed %d times, want once per function", len(calls.calls))
	}
	count := 0
	// An event names a bucket but not its owner, so all owners are read again.
	err = r.Get(t.Context(), r.Catalog.Type("AWS.Test.Owner"), "a", func(*collect.Resource) error { count++; return nil })
	if err != nil || count != 2 {
		t.Errorf("%d owners after an event, %v; want 2", count, err)
	}
}

// TestFailingFunctions checks that items that a list function returned before it failed are kept,
// that properties of a function that failed are unknown, and that the list then fails.
func TestFailingFunctions(t *testing.T) {
	t.Parallel()
	r, _ := functionReader(t, `{"buckets":[{"name":"a","owner":"x"}]}`, "!denied")
	got, err := list(t, r, "AWS.Test.Owner")
	if diff := cmp.Diff([]string{"x buckets=?"}, got); diff != "" || !errors.Is(err, collect.ErrDenied) {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	r, _ = functionReader(t, `{"buckets":[{"name":"a","kind":"big"},{"name":"b","kind":"locked"}]}`)
	got, err = list(t, r, "AWS.Test.BigBucket")
	if diff := cmp.Diff([]string{"a kind=big"}, got); diff != "" || !errors.Is(err, collect.ErrDenied) {
		t.Errorf("a list whose last stage is a function that fails: %v (-want +got)\n%s", err, diff)
	}
	r, _ = functionReader(t, `{"buckets":[{"name":"a","owner":"x"}]}`, "!identity")
	if got, err := list(t, r, "AWS.Test.Owner"); !errors.Is(err, collect.ErrIdentity) || len(got) > 0 {
		t.Errorf("%v, %v after the credential was refused", got, err)
	}
}

// TestNestedItems lists the rules that are inside the listed buckets, except those in plain buckets.
func TestNestedItems(t *testing.T) {
	t.Parallel()
	r, _ := functionReader(t, `{"buckets":[{"name":"a","kind":"Big","rules":[{"id":1},{"id":2}]},{"name":"b","kind":"Plain","rules":[{"id":3}]},{"name":"c","kind":"big"}]}`)
	got, err := list(t, r, "AWS.Test.Rule")
	if diff := cmp.Diff([]string{"a/1", "a/2"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestPlaceholderForNone(t *testing.T) {
	t.Parallel()
	for page, want := range map[string][]string{
		`{"buckets":[]}`: {"nothing kind=plain"},
		`!off`:           {"nothing kind=plain"},
		`!denied`:        nil, // the list fails
		`{"buckets":[{"name":"a","kind":"big"}]}`: {"a kind=big"},
	} {
		r, _ := functionReader(t, page)
		got, err := list(t, r, "AWS.Test.Bucket")
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want == nil) {
			t.Errorf("%s: %v (-want +got)\n%s", page, err, diff)
		}
	}
}

// TestPlaceholderAfterListFunction checks that the placeholder is also emitted when a list
// function returns none of the listed items.
func TestPlaceholderAfterListFunction(t *testing.T) {
	t.Parallel()
	for page, want := range map[string][]string{
		`{"buckets":[{"name":"a","kind":"small"}]}`: {"nothing kind=plain"}, `{"buckets":[{"name":"a","kind":"big"}]}`: {"a kind=big"},
	} {
		r, _ := functionReader(t, page)
		got, err := list(t, r, "AWS.Test.BigBucket")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", page, err, diff)
		}
	}
}
