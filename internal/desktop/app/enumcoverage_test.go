package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"vigil/internal/desktop"
	"vigil/internal/desktop/api"
)

// coverage records the enumeration values that the tests of this package have
// seen.
var coverage = newEnumCoverage()

// recordSchemas names the schema of each kind of record in the API document.
var recordSchemas = map[desktop.Kind]string{
	desktop.KindDomain:            "ADDomainMonitorInfo",
	desktop.KindConnectionServer:  "ConnectionServerMonitorInfo",
	desktop.KindEventDatabase:     "EventDatabaseMonitorInfo",
	desktop.KindFarm:              "FarmMonitorInfo",
	desktop.KindGateway:           "GatewayMonitorInfo",
	desktop.KindRDSServer:         "RDSServerMonitorInfo",
	desktop.KindSAMLAuthenticator: "SAMLAuthenticatorMonitorInfo",
	desktop.KindPod:               "PodMonitorInfo",
	desktop.KindSSOConnector:      "TrueSSOMonitorInfo",
	desktop.KindComposer:          "ComposerMonitorInfo",
	desktop.KindVirtualCenter:     "VirtualCenterMonitorInfo",
}

// An enumCoverage records which values of the document's enumerations were seen in
// records, and by which tests. It is safe for concurrent use.
type enumCoverage struct {
	schemas map[string]object

	mu   sync.Mutex
	seen map[string][]string // value, as "Schema.property VALUE" -> names of tests
}

func newEnumCoverage() *enumCoverage {
	var document struct {
		Components struct {
			Schemas map[string]object `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(api.Document, &document); err != nil {
		panic(err)
	}
	return &enumCoverage{schemas: document.Components.Schemas, seen: map[string][]string{}}
}

// note records the values of a record that a test has seen.
func (c *enumCoverage) note(test string, r desktop.Record) {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		panic(err)
	}
	test, _, _ = strings.Cut(test, "/")
	c.mu.Lock()
	defer c.mu.Unlock()
	name := recordSchemas[r.Ref().Kind]
	c.walk(c.schemas[name], name, value, func(value string) {
		if !slices.Contains(c.seen[value], test) {
			c.seen[value] = append(c.seen[value], test)
		}
	})
}

// walk calls visit with each enumeration value of the schema that occurs in value, or
// with all of them when value is nil.
func (c *enumCoverage) walk(schema object, where string, value any, visit func(string)) {
	if ref, ok := schema["$ref"].(string); ok {
		where = ref[strings.LastIndex(ref, "/")+1:]
		schema = c.schemas[where]
	}
	if all, ok := schema["enum"].([]any); ok {
		for _, element := range all {
			if value == nil || value == element {
				visit(fmt.Sprintf("%s %v", where, element))
			}
		}
	}
	if items, ok := schema["items"].(object); ok {
		list, _ := value.([]any)
		if value == nil {
			c.walk(items, where, nil, visit)
		}
		for _, element := range list {
			c.walk(items, where, element, visit)
		}
	}
	properties, _ := schema["properties"].(object)
	for name, property := range properties {
		members, _ := value.(object)
		member := members[name] // nil if it is absent or null: then skipped, because walk would take nil for all of its values
		if value == nil || member != nil {
			c.walk(property.(object), where+"."+name, member, visit)
		}
	}
}

// all returns every enumeration value of a record in the document.
func (c *enumCoverage) all() []string {
	var out []string
	for _, name := range recordSchemas {
		c.walk(c.schemas[name], name, nil, func(value string) { out = append(out, value) })
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// missingValues returns the values that no test has seen. Without VIGIL_TEST_POSTGRES it leaves
// out those of the event database, whose test is skipped then.
func (c *enumCoverage) missingValues() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(c.all(), func(value string) bool {
		return len(c.seen[value]) > 0 ||
			os.Getenv("VIGIL_TEST_POSTGRES") == "" && strings.HasPrefix(value, recordSchemas[desktop.KindEventDatabase])
	})
}

// table returns which tests see which value.
func (c *enumCoverage) table() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out strings.Builder
	for _, value := range c.all() {
		slices.Sort(c.seen[value])
		fmt.Fprintf(&out, "%s: %s\n", value, strings.Join(c.seen[value], ", "))
	}
	return out.String()
}
