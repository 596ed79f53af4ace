package resource

import (
	"testing"

	"github.com/tidwall/gjson"
)

func TestExpressions(t *testing.T) {
	t.Parallel()
	parent := &Item{Result: gjson.Parse(`{"Name":"cluster"}`)}
	item := &Item{
		Result: gjson.Parse(`{"Name":"web","Port":443,"Tags":[{"Key":"a"},{"Key":"b"}],"Empty":""}`), Parent: parent,
		Answers: map[string]gjson.Result{"key": gjson.Parse(`{"State":"Enabled"}`)},
	}
	vars := Vars{Account: "123", Region: "eu-west-1", Partition: "aws", Name: "cluster/web", Batch: `["x","y"]`}
	for text, want := range map[string]string{
		"Name":                  `"web"`,
		"Port":                  `443`,
		"Missing":               ``,
		"Tags.#.Key":            `["a","b"]`,
		"^Name":                 `"cluster"`,
		"^^Name":                ``,
		"key>State":             `"Enabled"`,
		"key>Missing":           ``,
		"other>State":           ``,
		"Tags.#(Key>\"a\").Key": `"b"`, // here > compares; it does not end the name of a call
		"$account":              `"123"`,
		"$batch":                `["x","y"]`,
		"$1":                    `"cluster"`,
		"$2":                    `"web"`,
		"$3":                    ``,
		"${^Name}/${Name}":      `"cluster/web"`,
		"${Missing}/${Name}":    ``,
		"arn:$partition:x:$region:$account:${Name}": `"arn:aws:x:eu-west-1:123:web"`,
		"${Port}": `443`,
	} {
		e, err := PathExpr(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := e.Eval(item, vars).Raw; got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestInvalidExpressions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "$unknown", "${", "${}", "a${b"} {
		if _, err := PathExpr(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"Name", "${^a}/$1", "key>a.b", "$region", "#(a>1)#.b"} {
		f.Add(seed, `{"a":[1,{"b":2}]}`)
	}
	f.Fuzz(func(_ *testing.T, text, json string) {
		e, err := PathExpr(text)
		if err != nil || !gjson.Valid(json) {
			return
		}
		e.Eval(&Item{Result: gjson.Parse(json)}, Vars{})
	})
}
