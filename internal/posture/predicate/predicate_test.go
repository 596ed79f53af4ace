package predicate

import "testing"

func TestThreeValuedLogic(t *testing.T) {
	t.Parallel()
	yes, no, unknown := Answer{Yes, "y"}, Answer{No, "n"}, Answer{Unknown, "u"}
	for _, test := range []struct {
		name string
		got  Answer
		want Truth
	}{
		{"the zero value is unknown", Answer{}, Unknown},
		{"or of nothing", Or(), No}, {"or with yes", Or(no, unknown, yes), Yes}, {"or with unknown", Or(no, unknown), Unknown}, {"or of no", Or(no, no), No}, {"or with unknown first", Or(unknown, no), Unknown},
		{"and of nothing", And(), Yes}, {"and with no", And(yes, unknown, no), No}, {"and with unknown", And(yes, unknown), Unknown}, {"and of yes", And(yes, yes), Yes}, {"and with unknown first", And(unknown, yes), Unknown},
		{"not yes", Not(yes), No}, {"not no", Not(no), Yes}, {"not unknown", Not(unknown), Unknown},
		{"of true", Of(true, ""), Yes}, {"of false", Of(false, ""), No}, {"not known", NotKnown(""), Unknown},
	} {
		if test.got.Truth != test.want {
			t.Errorf("%s: %s, want %s", test.name, test.got.Truth, test.want)
		}
	}
	if names := yes.Truth.String() + no.Truth.String() + unknown.Truth.String(); names != "yesnounknown" {
		t.Errorf("the names are %q", names)
	}
	for _, test := range []struct {
		name, got, want string // want is the Why of the answer that decides
	}{
		{"and of two yes", And(yes, Answer{Yes, "z"}).Why, "y"},
		{"and with an unknown without a reason", And(Answer{Unknown, ""}, yes).Why, ""},
		{"or of two unknown", Or(unknown, Answer{Unknown, "v"}).Why, "u"},
		{"or with yes", Or(no, unknown, yes).Why, "y"},
		{"and with unknown", And(yes, unknown).Why, "u"},
	} {
		if test.got != test.want {
			t.Errorf("%s: the reason is %q, want %q", test.name, test.got, test.want)
		}
	}
}
