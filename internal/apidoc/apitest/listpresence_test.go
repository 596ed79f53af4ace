package apitest_test

import (
	"strings"
	"testing"

	"vigil/internal/apidoc/apitest"
)

func TestListsThatMayBeNullOrAbsentAreReported(t *testing.T) {
	t.Parallel()
	const before = `openapi: 3.1.0
info: {title: Lists, version: "1"}
paths:
  /things:
    get:
      operationId: listThings
      security: []
      responses:
        '200':
          description: all
          content: {application/json: {schema: {$ref: '#/components/schemas/All'}}}
components:
  schemas:
    Error: {type: object}
    Names: {type: array, items: {type: string}}
    All:
      type: object
      required: [names]
      properties:
        names: `
	for schema, nullable := range map[string]bool{
		"{type: array, items: {type: string}}":                              false,
		"{$ref: '#/components/schemas/Names'}":                              false,
		"{type: [array, 'null'], items: {type: string}}":                    true,
		"{oneOf: [{$ref: '#/components/schemas/Names'}, {type: 'null'}]}":   true,
		"{anyOf: [{type: 'null'}, {type: array, items: {type: string}}]}":   true,
		"{allOf: [{$ref: '#/components/schemas/Names'}, {maxItems: 1000}]}": false,
	} {
		c := &errorCollector{TB: t}
		apitest.Load(t, []byte(before+schema+"\n")).CheckListsAreRequired(c)
		if nullable {
			c.requireError(t, "All.names may be absent or null")
		} else if len(c.reported) > 0 {
			t.Errorf("%s: %q", schema, c.reported)
		}
	}
	optional := strings.Replace(before, "required: [names]", "required: []", 1) + "{$ref: '#/components/schemas/Names'}\n"
	c := &errorCollector{TB: t}
	apitest.Load(t, []byte(optional)).CheckListsAreRequired(c)
	c.requireError(t, "All.names may be absent or null")
}
