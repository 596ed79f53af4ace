package resource

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidwall/gjson"
)

// TestMemberIndexAgreesWithGJSON compares the values of an indexed item with those of one that is not indexed.
func TestMemberIndexAgreesWithGJSON(t *testing.T) {
	t.Parallel()
	paths := []string{
		"a", "a.b", "a.b.c", "a.0", "a.1.b", "a.#", "a.#.b", "a.#.b|0", "a.#(b==1)", "a.#(b==1)#.c", "a.@this", "a.@keys", "a.@values.0", "a.@flatten",
		"a.b.@split:/", "a|@split:/", "a.@split:/", "a.@last:/", "a.@tostr", "a.@fromstr", "a.@fromstr.b", "a|b", "a|@fromstr|b", `a\.b`, "a*", "?", "*.b", "@this", "@this.a",
		"@keys", "#", "#.a", "a.", "a..b", "é", "a-b", "a_b", "0", "a.!1", `!"x"`, `a.b\.c`, "[a,b]", "{a,b}", "a.[b,c]", "A", "dup", "dup.x", "missing", "missing.b", "missing.@keys",
		"missing.#", "missing.@tostr", "n", "n.a", "n.@tostr",
	}
	texts := []string{
		`{}`, `{"a":1}`, `{"a":null,"n":null}`, `{"a":true,"b":false}`, `{"a":"x/y"}`, `{"a":"{\"b\":[1,2]}"}`, `{"a":"[{\"b\":1}]"}`, `{"a":{"b":"x/y","c":2}}`, `{"a":{"b":{"c":[1]}}}`,
		`{"a":[{"b":1,"c":"x"},{"b":2},3]}`, `{"a":[[1],[2,[3]]]}`, `{"a.b":1,"a-b":2,"a_b":3,"é":4,"0":5,"A":6}`, `{"\u0061":"escaped name"}`, `{"dup":{"x":1},"dup":{"x":2}}`,
		`{"a":"\u00e9\n","b":-1.5e3}`, ` { "a" : [ 1 , 2 ] } `, `[]`, `[{"a":1},{"a":2}]`, `"a"`, `1`, `null`, ``,
	}
	for _, text := range texts {
		plain := &Item{Result: gjson.Parse(text)}
		indexed := plain.indexed()
		for _, path := range paths {
			e := Expr{source: path, parts: []part{{path: newPath(path)}}}
			diff := cmp.Diff(e.Eval(plain, Vars{}), e.Eval(indexed, Vars{}), cmpopts.IgnoreFields(gjson.Result{}, "Index", "Indexes"))
			if diff != "" {
				t.Errorf("%s in %s (-not indexed +indexed)\n%s", path, text, diff)
			}
		}
	}
}

// TestVisitAgreesWithEval checks that Visit passes the elements of the list that Eval returns.
func TestVisitAgreesWithEval(t *testing.T) {
	t.Parallel()
	elements := func(value gjson.Result) (all []string) {
		for _, element := range value.Array() {
			all = append(all, element.Raw)
		}
		return all
	}
	for _, path := range []string{"a", "a.b", "a.#.b", "a.#", "a.#.", ".#.b", "a.#.b.#.c", "a.#.b|0", "#.b", "missing.#.b"} {
		for _, text := range []string{
			`{}`, `{"a":[]}`, `{"a":[{"b":1},{"c":2},{"b":null},3,{"b":[4,5]}]}`, `{"a":{"b":1}}`, `{"a":"x"}`, `{"a":null}`, `{"a":[{"b":[{"c":1}]}]}`, `[{"a":1,"b":2}]`, ``,
		} {
			item := &Item{Result: gjson.Parse(text)}
			e := Expr{source: path, parts: []part{{path: newPath(path)}}}
			var got []string
			e.Visit(item, Vars{}, func(value gjson.Result) {
				if e.parts[0].path.list != "" { // then Visit passes each element, otherwise the whole list
					got = append(got, value.Raw)
				} else {
					got = elements(value)
				}
			})
			if diff := cmp.Diff(elements(e.Eval(item, Vars{})), got); diff != "" {
				t.Errorf("%s in %s (-Eval +Visit)\n%s", path, text, diff)
			}
		}
	}
}
