package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/httpapi"
)

type searchIn struct {
	Filters struct {
		CloudAccountIDs []string `json:"cloudAccountIds"`
		Levels          []string `json:"levels"`
	} `json:"filters" null:"absent"`
	Sorts []struct {
		FieldName string `json:"fieldName"`
	} `json:"sorts"`
	Warnings httpapi.Warnings
}

func TestIgnoredMembersAreNamed(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]httpapi.Warnings{
		`{"filters":{"Levels":["High"]}}`: nil, // another case of the same name
		`{"other":1,"filters":null}`:      nil, // unknown, but at the top level
		`{"filters":{"level":1}}`:         {"filters.level is not known and was ignored; the nearest known member is filters.levels."},
		`{"filters":{"account":{"x":1}},"sorts":[{"fieldName":"a"},{"field":"b"}]}`: {
			"filters.account is not known and was ignored; the nearest known member is filters.cloudAccountIds.",
			"sorts[1].field is not known and was ignored; the nearest known member is sorts[1].fieldName.",
		},
	} {
		var in searchIn
		if err := httpapi.Bind(httptest.NewRequest("POST", "/", strings.NewReader(body)), &in); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if diff := cmp.Diff(want, in.Warnings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

func TestWarningsAreFewAndShort(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 200 {
		b.WriteString(`,"` + strings.Repeat("x", 300+i) + `":1`)
	}
	var in searchIn
	if err := httpapi.Bind(httptest.NewRequest("POST", "/", strings.NewReader(`{"filters":{"levels":[]`+b.String()+`}}`)), &in); err != nil {
		t.Fatal(err)
	}
	if len(in.Warnings) != 20 || len(in.Warnings[0]) > 300 {
		t.Errorf("%d warnings, the first of %d bytes; want 20 of at most 300", len(in.Warnings), len(in.Warnings[0]))
	}
}
