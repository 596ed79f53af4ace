package search_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/search"
)

func property(name string) posture.Attribute {
	return posture.Attribute{Kind: posture.PropertyAttribute, Name: name}
}
func tag(name string) posture.Attribute {
	return posture.Attribute{Kind: posture.TagAttribute, Name: name}
}
func field(name string) posture.Attribute { return posture.Attribute{Name: name} }
func is(a posture.Attribute, v string) posture.Condition {
	return posture.Equal{Attribute: a, Value: v}
}
func not(c posture.Condition) posture.Condition { return posture.Not{Part: c} }

func TestParse(t *testing.T) {
	t.Parallel()
	a, b, c := is(property("a"), "1"), is(property("b"), "2"), is(tag("c"), "3")
	for text, want := range map[string]posture.Condition{
		`property.encrypted = false`:                         is(property("encrypted"), "false"),
		`property.cidr=0.0.0.0/0`:                            is(property("cidr"), "0.0.0.0/0"),
		`property.arn = arn:aws:iam::1:role/x`:               is(property("arn"), "arn:aws:iam::1:role/x"),
		`tag.Name != web`:                                    not(is(tag("Name"), "web")),
		`tag.Name!=web`:                                      not(is(tag("Name"), "web")),
		`PROPERTY.x = y`:                                     is(property("x"), "y"),
		`entitytype = AWS.S3.Bucket`:                         is(field("entityType"), "AWS.S3.Bucket"),
		`region = 'eu west'`:                                 is(field("region"), "eu west"),
		`tag."cost center" = "a \"b\" \\ c"`:                 is(tag("cost center"), `a "b" \ c`),
		`tag.kubernetes.io/name = x`:                         is(tag("kubernetes.io/name"), "x"),
		`tag.x = ""`:                                         is(tag("x"), ""),
		`exists(property.a)`:                                 posture.Exists{Attribute: property("a")},
		`EXISTS ( tag.'a b' )`:                               posture.Exists{Attribute: tag("a b")},
		`property.exists = and`:                              is(property("exists"), "and"),
		`property.a = 1 AND property.b = 2 or tag.c = 3`:     posture.AnyOf{posture.AllOf{a, b}, c},
		`property.a = 1 AND (property.b = 2 or tag.c = 3)`:   posture.AllOf{a, posture.AnyOf{b, c}},
		`NOT property.a = 1 and tag.c = 3`:                   posture.AllOf{not(a), c},
		`not (property.a = 1 and not property.b != 2)`:       not(posture.AllOf{a, not(not(b))}),
		`property.a = 1 AND property.b = 2 AND tag.c = 3`:    posture.AllOf{a, b, c},
		"\tproperty.a\n=\n1 ":                                a,
		`property.größe = ÄÖ`:                                is(property("größe"), "ÄÖ"),
		`((((property.a = 1))))`:                             a,
		`property.a = "x"AND tag.c = 3`:                      posture.AllOf{is(property("a"), "x"), c},
		`property.not = not`:                                 is(property("not"), "not"),
		`provider = aws AND service = S3 AND entityName = b`: posture.AllOf{is(field("provider"), "aws"), is(field("service"), "S3"), is(field("entityName"), "b")},
	} {
		got, err := search.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestErrorsSayWhatAndWhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]search.Error{
		``:                                      {1, "expected a condition"},
		`noSuchField = 1`:                       {1, `there is no field "noSuchField"`},
		`property.a = 1 AND size = 2`:           {20, `there is no field "size"`},
		`property. = 1`:                         {1, "names no property"},
		`property.a`:                            {11, "expected = or !="},
		`property.a = `:                         {14, "expected a value, found the end"},
		`property.a = 1 property.b = 2`:         {16, "expected AND, OR or the end"},
		`tag.größe = "ä" x`:                     {17, "expected AND, OR or the end"},
		`property.a = (1)`:                      {14, "expected a value"},
		`(property.a = 1`:                       {16, "expected )"},
		`property.a = 1)`:                       {15, "expected AND, OR or the end"},
		`property.a = "x`:                       {14, "the quote is not closed"},
		`! property.a = 1`:                      {1, "write != or NOT"},
		`property.a ! = 1`:                      {12, "write != or NOT"},
		`property.a = 1 AND`:                    {19, "expected a condition"},
		`exists(property.a`:                     {18, "expected )"},
		`exists(a)`:                             {8, `there is no field "a"`},
		`exists = 1`:                            {1, `there is no field "exists"`},
		`= 1`:                                   {1, "expected a condition"},
		`"property.a" = 1`:                      {1, "expected a condition"},
		`weird."x" = 1`:                         {1, "names no property or tag"},
		strings.Repeat("(", 40):                 {33, "nested deeper"},
		strings.Repeat("not ", 40):              {129, "nested deeper"},
		strings.Repeat("x", search.MaxLength):   {1, "there is no field"},
		strings.Repeat("x", search.MaxLength+1): {1, "longer than"},
		strings.Repeat("tag.a = 1 or ", search.MaxConditions) + "x=1": {search.MaxConditions*len("tag.a = 1 or ") + 1, "more than"},
	} {
		_, err := search.Parse(text)
		var e *search.Error
		if !errors.As(err, &e) || e.Column != want.Column || !strings.Contains(e.Message, want.Message) {
			t.Errorf("%.60s: got %v, want column %d: %s", text, err, want.Column, want.Message)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`property.a = 1 AND (tag."b c" != 'x' OR NOT exists(property.d))`, `region=eu`, `(`, `"`, `property.\xff = 1`, `tag.x = "\\`, `!=`,
	} {
		f.Add(seed)
	}
	e := &posture.Entity{Properties: []posture.Property{posture.Text("a", "1"), posture.Unknown("d", "denied")}, Tags: map[string]string{"b c": "x"}}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := search.Parse(text)
		if err != nil {
			var e *search.Error
			if !errors.As(err, &e) || e.Column < 1 || e.Column > len([]rune(text))+1 || e.Message == "" {
				t.Fatalf("%q: %#v, want an error with a column of the text and a message", text, err)
			}
			return
		}
		// Not swaps No (0) and Yes (2) and leaves Maybe (1), so that the two values add up to 2.
		if got, opposite := c.Of(e), (posture.Not{Part: c}).Of(e); got+opposite != posture.Yes {
			t.Fatalf("%q: %v and %v", text, got, opposite)
		}
	})
}
