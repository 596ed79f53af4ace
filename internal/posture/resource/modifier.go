package resource

import (
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// init registers the modifiers that paths have in addition to those of gjson. They
// handle strings that hold several values: "VPCZoneIdentifier|@split:,".
func init() {
	gjson.AddModifier("split", func(json, separator string) string {
		text := gjson.Parse(json).String()
		if text == "" {
			return "" // so that the value counts as absent
		}
		list := []byte{'['}
		for part := range strings.SplitSeq(text, separator) {
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = gjson.AppendJSONString(list, strings.TrimSpace(part))
		}
		return string(append(list, ']'))
	})
	onText("last", func(text, separator string) string {
		if i := strings.LastIndex(text, separator); i >= 0 {
			return text[i+len(separator):]
		}
		return text
	})
	onText("before", func(text, separator string) string { // logs.example.com.s3.amazonaws.com with .s3 -> logs.example.com
		if i := strings.LastIndex(text, separator); i >= 0 {
			return text[:i]
		}
		return text
	})
	onText("trim", strings.Trim)
	onText("withoutUserinfo", func(text, _ string) string { // https://user:password@host/path -> https://host/path
		scheme, rest, ok := strings.Cut(text, "://")
		if !ok {
			return text
		}
		authority, path, slash := strings.Cut(rest, "/")
		authority = authority[strings.LastIndex(authority, "@")+1:]
		if slash {
			return scheme + "://" + authority + "/" + path
		}
		return scheme + "://" + authority
	})
	onText("lower", func(text, _ string) string { return strings.ToLower(text) })
	onText("minor", func(text, _ string) string { // 1.33.5-gke.100 -> 1.33
		major, rest, ok := strings.Cut(text, ".")
		minor, _, _ := strings.Cut(rest, ".")
		if !ok {
			return text
		}
		return major + "." + minor
	})
	onText("unixms", func(text, _ string) string {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil || ms <= 0 {
			return ""
		}
		return time.UnixMilli(ms).UTC().Format(time.RFC3339)
	})
}

// onText registers a modifier that maps a string to a string.
func onText(name string, f func(text, argument string) string) {
	gjson.AddModifier(name, func(json, argument string) string {
		value := gjson.Parse(json)
		if value.Type != gjson.String {
			return json
		}
		return string(gjson.AppendJSONString(nil, f(value.Str, argument)))
	})
}
