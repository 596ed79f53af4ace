package wire

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	smithytime "github.com/aws/smithy-go/time"
)

const hexDigits = "0123456789abcdef"

// plainJSON are the bytes that need no escape in a JSON string.
var plainJSON = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendString appends a JSON string. Invalid UTF-8 is replaced by U+FFFD.
func appendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainJSON[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			if c >= utf8.RuneSelf {
				b = append(b, "\ufffd"...)
			} else {
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
		}
		i++
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

// isShortNumber reports whether text is a JSON number that fits without a check: at most n digits,
// no sign, no leading zero.
func isShortNumber(text []byte, n int) bool {
	if len(text) == 0 || len(text) > n || text[0] == '0' && len(text) > 1 {
		return false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func bitsOf(k kind) int {
	if k == kindInt32 || k == kindFloat32 {
		return 32
	}
	return 64
}

// appendInt appends a whole number in JSON, from text that Go can parse.
func appendInt(b, text []byte, bits int) ([]byte, error) {
	if isShortNumber(text, 9) { // 9 digits fit in 32 bits
		return append(b, text...), nil
	}
	n, err := strconv.ParseInt(string(text), 10, bits)
	if err != nil {
		return b, fmt.Errorf("not a whole number of %d bits", bits)
	}
	return strconv.AppendInt(b, n, 10), nil
}

// appendFloat appends a JSON number, or a string for values that JSON lacks.
func appendFloat(b, text []byte, bits int) ([]byte, error) {
	if isShortNumber(text, 7) { // a 32-bit float represents 7 digits exactly
		return append(b, text...), nil
	}
	s := string(text)
	switch {
	case strings.EqualFold(s, "NaN"):
		return append(b, `"NaN"`...), nil
	case strings.EqualFold(s, "Infinity"):
		return append(b, `"Infinity"`...), nil
	case strings.EqualFold(s, "-Infinity"):
		return append(b, `"-Infinity"`...), nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return b, errors.New("not a number")
	}
	return formatFloat(b, f, bits), nil
}

func formatFloat(b []byte, f float64, bits int) []byte {
	if bits == 32 {
		f = float64(float32(f))
	}
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, bits)
}

// errYear is the error of a time that RFC 3339 cannot represent.
var errYear = errors.New("the time is outside the years 0 to 9999")

func appendTime(b []byte, t time.Time) ([]byte, error) {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return b, errYear
	}
	b = append(b, '"')
	b = t.AppendFormat(b, time.RFC3339Nano)
	return append(b, '"'), nil
}

// appendTimeText appends a time that was sent as text.
func appendTimeText(b, text []byte, format timeFormat) ([]byte, error) {
	switch format {
	case dateTime:
		if canonical, ok := canonicalTime(text); ok {
			b = append(b, '"')
			b = append(b, canonical...)
			return append(b, 'Z', '"'), nil
		}
		t, err := smithytime.ParseDateTime(string(text))
		if err != nil {
			return b, errors.New("not an RFC 3339 time")
		}
		return appendTime(b, t)
	case httpDate:
		t, err := smithytime.ParseHTTPDate(string(text))
		if err != nil {
			return b, errors.New("not an HTTP date")
		}
		return appendTime(b, t)
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return b, errors.New("not a number of seconds")
	}
	return appendEpoch(b, f)
}

// appendEpoch appends a time given in seconds. Like the SDK it truncates to milliseconds.
func appendEpoch(b []byte, seconds float64) ([]byte, error) {
	if math.IsNaN(seconds) || math.Abs(seconds) > 1<<40 {
		return b, errYear
	}
	return appendTime(b, time.UnixMilli(int64(seconds*1e3)))
}

// canonicalTime is a fast path for the most frequent form of a time, 2006-01-02T15:04:05Z,
// with or without a fraction. It returns the part before the Z in our output. It leaves days
// after the 28th, which some months do not have, to the parser.
func canonicalTime(text []byte) ([]byte, bool) {
	// In this form, 0 stands for any digit. A fraction adds up to 10 bytes, Z adds 1.
	const form = "0000-00-00T00:00:00"
	if len(text) < len(form)+1 || len(text) > len(form)+11 || text[len(text)-1] != 'Z' {
		return nil, false
	}
	for i := range len(form) {
		if c := text[i]; form[i] == '0' && (c < '0' || c > '9') || form[i] != '0' && c != form[i] {
			return nil, false
		}
	}
	two := func(i int) int { return int(text[i]-'0')*10 + int(text[i+1]-'0') }
	if month, day := two(5), two(8); month < 1 || month > 12 || day < 1 || day > 28 || two(11) > 23 || two(14) > 59 || two(17) > 59 {
		return nil, false
	}
	text = text[:len(text)-1]
	if len(text) == len(form) {
		return text, true
	}
	if text[len(form)] != '.' || len(text) == len(form)+1 {
		return nil, false
	}
	for _, c := range text[len(form)+1:] {
		if c < '0' || c > '9' {
			return nil, false
		}
	}
	return bytes.TrimSuffix(bytes.TrimRight(text, "0"), []byte(".")), true
}

// appendBase64 appends a blob that was sent in base64.
func appendBase64(b, text []byte) ([]byte, error) {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return b, errors.New("not base64")
	}
	return appendBlob(b, raw), nil
}

func appendBlob(b, raw []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, raw)
	return append(b, '"')
}
