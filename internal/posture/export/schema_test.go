package export_test

import (
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compile compiles a schema in testdata. README.md there names their sources.
func compile(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
