package resource

import (
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"
)

func TestModifiers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, modifier, want string }{
		{"a/b/c", "last:/", "c"}, {"abc", "last:/", "abc"}, {"a::b::c", "last:::", "c"}, {"a/b", "last:::", "a/b"}, {"a", "last:::", "a"}, {"", "last:::", ""},
		{"", "last:/", ""}, {"a/", "last:/", ""},
		{"logs.s3.amazonaws.com", "before:.s3", "logs"}, {"logs", "before:.s3", "logs"}, {"", "before:.s3", ""},
		{".a.", "trim:.", "a"}, {"", "trim:.", ""}, {"Ab", "lower", "ab"},
		{"https://user:secret@host/path", "withoutUserinfo", "https://host/path"}, {"https://", "withoutUserinfo", "https://"}, {"host", "withoutUserinfo", "host"},
		{"1.33.5-gke.100", "minor", "1.33"}, {"1", "minor", "1"}, {"1.", "minor", "1."}, {"", "minor", ""},
		{"1700000000000", "unixms", "2023-11-14T22:13:20Z"}, {"x", "unixms", ""}, {"", "unixms", ""},
	} {
		text, _ := json.Marshal(map[string]string{"a": test.text})
		if got := gjson.GetBytes(text, "a.@"+test.modifier).String(); got != test.want {
			t.Errorf("@%s of %q is %q, want %q", test.modifier, test.text, got, test.want)
		}
	}
}
