package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

// Password is a password in a request: an array of strings, which are joined,
// or one string.
type Password struct{ secret.Text }

// UnmarshalJSON decodes either form.
//
// The elements are joined before they are unescaped: clients that send one
// character per element send a character outside the basic multilingual plane
// as two surrogates, and a single surrogate cannot be decoded.
func (p *Password) UnmarshalJSON(data []byte) error {
	inner, err := passwordText(data)
	if err != nil {
		return err
	}
	var text string
	if err := json.Unmarshal([]byte(`"`+inner+`"`), &text); err != nil {
		return fault.New(fault.Invalid, "is not valid text")
	}
	// A single surrogate decodes to the replacement character, which users may also type.
	typed := strings.ContainsRune(inner, utf8.RuneError) || strings.Contains(strings.ToLower(inner), `\ufffd`)
	if strings.ContainsRune(text, utf8.RuneError) && !typed {
		return fault.New(fault.Invalid, "contains half of a surrogate pair")
	}
	p.Text = secret.NewText(text)
	return nil
}

// passwordText returns the escaped text of the string, or of all elements of
// the array joined.
func passwordText(data []byte) (string, error) {
	if isString(data) {
		return string(data[1 : len(data)-1]), nil
	}
	var parts []json.RawMessage
	if len(data) == 0 || data[0] != '[' || json.Unmarshal(data, &parts) != nil {
		return "", fault.New(fault.Invalid, "must be an array of strings, or a string")
	}
	if len(parts) > httpapi.DefaultItems {
		return "", fault.New(fault.Invalid, "must have at most %d elements", httpapi.DefaultItems)
	}
	var inner strings.Builder
	for i, part := range parts {
		if !isString(part) {
			return "", fault.Field(fmt.Sprintf("[%d]", i), "must be a string")
		}
		inner.Write(part[1 : len(part)-1])
	}
	return inner.String(), nil
}

func isString(data []byte) bool { return len(data) >= 2 && data[0] == '"' }
