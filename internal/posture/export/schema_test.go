package export_test

import (
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compile reads a schema of testdata; README.md there says where they come from.
func compile(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
