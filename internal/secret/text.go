package secret

import (
	"crypto/subtle"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
)

// redacted is printed instead of the value of a Text.
const redacted = "[redacted]"

// Text is a string that is not revealed by accident: when printed, logged,
// marshalled or passed to a database it does not show its value. Only
// [Text.Reveal] does.
//
// The value is behind a pointer because fmt does not call the methods of a Text
// in an unexported field: it then prints the pointer instead of the secret.
// Compare with [Text.Equal], not with ==. The zero Text is empty.
type Text struct{ value *string }

// NewText returns a Text with the value s.
func NewText(s string) Text { return Text{&s} }

// Reveal returns the value.
func (t Text) Reveal() string {
	if t.value == nil {
		return ""
	}
	return *t.value
}

// IsZero reports whether the value is empty.
func (t Text) IsZero() bool { return t.Reveal() == "" }

// Equal compares in constant time for values of equal length.
func (t Text) Equal(u Text) bool {
	return subtle.ConstantTimeCompare([]byte(t.Reveal()), []byte(u.Reveal())) == 1
}

// String returns a placeholder.
func (Text) String() string { return redacted }

// GoString returns a placeholder.
func (Text) GoString() string { return redacted }

// Format writes a placeholder for any verb.
func (Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue returns a placeholder.
func (Text) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON writes a placeholder.
func (Text) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText writes a placeholder; XML and YAML use it.
func (Text) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Value fails: secrets must be sealed before they are stored.
func (Text) Value() (driver.Value, error) {
	return nil, errors.New("a secret text cannot be stored unsealed")
}

// UnmarshalJSON accepts a JSON string, or null as an empty text.
func (t *Text) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		// The original error may quote the input.
		return errors.New("must be a string")
	}
	*t = NewText(s)
	return nil
}

// UnmarshalText accepts any text.
func (t *Text) UnmarshalText(data []byte) error {
	*t = NewText(string(data))
	return nil
}
