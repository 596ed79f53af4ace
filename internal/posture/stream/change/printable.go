package change

import (
	"encoding/json"
	"strings"
	"unicode"
)

// A Name is a member of an event that names the caller. Anything but a text is ignored:
// a message is not refused because of it.
type Name string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Name) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*n = Name(s)
	}
	return nil
}

// maxPrintable is the length that names are cut to.
const maxPrintable = 300

// Printable returns the first name that is not empty, for people to read.
func Printable(names ...Name) string {
	for _, n := range names {
		s := strings.Map(func(r rune) rune {
			if !unicode.IsGraphic(r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(string(n), ""))
		if r := []rune(s); len(r) > maxPrintable {
			s = string(r[:maxPrintable])
		}
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}
