package secret

import (
	"crypto/subtle"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
)

// redacted is all that a Text ever shows of itself.
const redacted = "[redacted]"

// Text is a string that nobody meets by accident: printed, logged, marshalled
// or handed to a database it does not show its value. Only [Text.Reveal] does.
//
// The value sits behind a pointer because fmt does not call the methods of
// unexported fields: there it prints an address instead of the secret. Compare
// with [Text.Equal], not with ==. The zero Text is empty.
type Text struct{ value *string }

// NewText hides s.
func NewText(s string) Text { return Text{&s} }

// Reveal returns the hidden string.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// IsZero reports whether there is nothing to hide.
func (t Text) IsZero() bool { return t.Reveal() == "" }

// Equal compares in constant time for texts of one length.
func (t Text) Equal(u Text) bool {
	return subtle.ConstantTimeCompare([]byte(t.Reveal()), []byte(u.Reveal())) == 1
}

// String returns a placeholder.
func (Text) String() string { return redacted }

// GoString returns a placeholder.
func (Text) GoString() string { return redacted }

// Format writes a placeholder, whatever the verb.
func (Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue returns a placeholder.
func (Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON writes a placeholder.
func (Text) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText writes a placeholder; XML and YAML use it.
func (Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Value refuses: what goes into a database is sealed first.
func (Text) Value() (driver.Value, error) {
	return nil, errors.New("a secret text cannot be stored unsealed")
}

// UnmarshalJSON takes a JSON string; null leaves the text empty.
func (t *Text) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		// The original error may quote the input.
		return errors.New("must be a string")
	}
	*t = NewText(s)
	return nil
}

// UnmarshalText takes any text.
func (t *Text) UnmarshalText(data []byte) error {
	*t = NewText(string(data))
	return nil
}
