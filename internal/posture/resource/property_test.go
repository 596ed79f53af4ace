package resource

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// values describes the properties of a builder.
func values(b *Builder) string {
	var all []string
	for _, p := range b.Properties {
		all = append(all, fmt.Sprintf("%s=%s", p.Type, p.Plain()))
	}
	return strings.Join(all, " ")
}

func TestProperties(t *testing.T) {
	t.Parallel()
	item := &Item{Result: gjson.Parse(`{
		"text":"web","empty":"","number":7,"digits":"42","suffixed":"12abc","fraction":7.9,"whole":8.0,"large":9007199254740993,"toolarge":1e30,"fractiontext":"7.9","yes":true,"spelt":"TRUE","when":"2024-05-01T10:00:00.123+02:00",
		"list":["b","a","b"],"nested":[["x"],["y"]],"object":{"k":1},"objects":[{"a":1,"b":"x"},{"a":2,"b":"y"}],"none":null,"nothing":[],"unset":"MODE_UNSPECIFIED"}`)}
	for yamlText, want := range map[string]string{
		`{at: text, doc: d}`:                                            "string=web",
		`{at: empty, doc: d}`:                                           "",
		`{at: empty, absent: none, doc: d}`:                             "string=none",
		`{at: missing, absent: none, doc: d}`:                           "string=none",
		`{at: none, doc: d}`:                                            "",
		`{at: [missing, text], doc: d}`:                                 "string=web",
		`{at: number, type: long, doc: d}`:                              "long=7",
		`{at: digits, type: long, doc: d}`:                              "long=42",
		`{at: text, type: long, absent: 0, doc: d}`:                     "long=0",
		`{at: suffixed, type: long, doc: d}`:                            "",
		`{at: fraction, type: long, doc: d}`:                            "",
		`{at: fractiontext, type: long, doc: d}`:                        "",
		`{at: toolarge, type: long, doc: d}`:                            "",
		`{at: whole, type: long, doc: d}`:                               "long=8",
		`{at: large, type: long, doc: d}`:                               "long=9007199254740993",
		`{at: yes, type: bool, doc: d}`:                                 "bool=true",
		`{at: spelt, type: bool, doc: d}`:                               "bool=true",
		`{at: missing, type: bool, doc: d}`:                             "",
		`{at: missing, type: bool, absent: false, doc: d}`:              "bool=false",
		`{at: text, is: WEB, doc: d}`:                                   "bool=true",
		`{at: text, is: [a, b], doc: d}`:                                "bool=false",
		`{at: missing, is: web, doc: d}`:                                "",
		`{at: list, notEmpty: true, doc: d}`:                            "bool=true",
		`{at: nothing, notEmpty: true, doc: d}`:                         "bool=false",
		`{at: missing, notEmpty: true, doc: d}`:                         "bool=false",
		`{at: when, type: time, doc: d}`:                                "string=2024-05-01T08:00:00Z",
		`{at: list, type: strings, doc: d}`:                             "string=a string=b",
		`{at: nested, type: strings, doc: d}`:                           "string=x string=y",
		`{at: object, type: strings, doc: d}`:                           "string=k",
		`{at: objects, type: strings, each: "${b}${a}", doc: d}`:        "string=x1 string=y2",
		`{at: text, map: {web: site}, doc: d}`:                          "string=site",
		`{at: text, values: [Web, Site], doc: d}`:                       "string=Web",
		`{at: text, values: [WEB, web], doc: d}`:                        "string=web",
		`{at: text, values: [Site], doc: d}`:                            "string=web",
		`{at: list, type: strings, values: [A, b], doc: d}`:             "string=A string=b",
		`{at: unset, values: [ON, OFF], absent: OFF, doc: d}`:           "string=OFF",
		`{at: unset, values: [ON, MODE_UNSPECIFIED], doc: d}`:           "string=MODE_UNSPECIFIED",
		`{at: text, type: strings, doc: d}`:                             "string=web",
		`{at: "text|@split:,", type: strings, doc: d}`:                  "string=web",
		`{at: "missing|@split:,", type: strings, absent: none, doc: d}`: "string=none",
	} {
		var ps Properties
		if err := yaml.Unmarshal([]byte("p: "+yamlText), &ps); err != nil {
			t.Errorf("%s: %v", yamlText, err)
			continue
		}
		b := NewBuilder("AWS.S3.Bucket", "1", posture.Global, "x")
		ps[0].put(b, item, Vars{})
		if got := values(b); got != want {
			t.Errorf("%s is %q, want %q", yamlText, got, want)
		}
	}
}

func TestInvalidProperties(t *testing.T) {
	t.Parallel()
	for yamlText, want := range map[string]string{
		`{at: x}`:                                  "doc is required",
		`{doc: d}`:                                 "at is required",
		`{at: x, doc: d, type: float}`:             "unknown type",
		`{at: x, doc: d, path: y}`:                 `unknown member "path"`,
		`{at: x, doc: d, absent: 1}`:               "not of type string",
		`{at: x, doc: d, values: [a], absent: b}`:  "not one of values",
		`{at: x, doc: d, type: bool, values: [a]}`: "values require type string",
		`{at: x, doc: d, type: long, is: a}`:       "is and notEmpty require type bool",
	} {
		var ps Properties
		err := yaml.Unmarshal([]byte("p: "+yamlText), &ps)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", yamlText, err, want)
		}
	}
}
