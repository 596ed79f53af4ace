package apitest

import (
	"math/rand/v2"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestGenerationLeavesTheSchemaAsItIs generates a value for a schema whose list has room for
// another element: requests are generated from the same schemas concurrently.
func TestGenerationLeavesTheSchemaAsItIs(t *testing.T) {
	t.Parallel()
	allOf := append(make(openapi3.SchemaRefs, 0, 2), &openapi3.SchemaRef{Value: openapi3.NewObjectSchema()})
	g := generator{rand.New(rand.NewPCG(1, 2))}
	g.value(&openapi3.SchemaRef{Value: &openapi3.Schema{AllOf: allOf}}, 0)
	if extra := allOf[:2][1]; extra != nil {
		t.Errorf("the generator wrote %+v behind the schema's list", extra)
	}
}
