package syntax

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape decodes the inside of a quoted string. On failure offset is that of the
// invalid escape in s.
func unescape(s string) (text string, offset int, message string) {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		n := strings.IndexByte(s[i:], '\\')
		if n < 0 {
			b.WriteString(s[i:])
			break
		}
		b.WriteString(s[i : i+n])
		i += n
		used, ok := escape(&b, s[i:])
		if !ok {
			return "", i, `an invalid escape sequence; valid ones are \b \t \n \f \r \" \' \\ \101 \u0041`
		}
		i += used
	}
	return b.String(), 0, ""
}

// escape decodes the escape at the start of s and returns its length.
func escape(b *strings.Builder, s string) (used int, ok bool) {
	if len(s) < 2 {
		return 0, false
	}
	switch c := s[1]; c {
	case 'b':
		b.WriteByte('\b')
	case 't':
		b.WriteByte('\t')
	case 'n':
		b.WriteByte('\n')
	case 'f':
		b.WriteByte('\f')
	case 'r':
		b.WriteByte('\r')
	case '"', '\'', '\\':
		b.WriteByte(c)
	case '\n': // joins two lines
	case '\r':
		if !strings.HasPrefix(s[2:], "\n") {
			return 0, false
		}
		return 3, true
	case 'u':
		return unicodeEscape(b, s)
	default:
		return octalEscape(b, s)
	}
	return 2, true
}

// octalEscape decodes \0 to \377.
func octalEscape(b *strings.Builder, s string) (used int, ok bool) {
	n, i := 0, 1
	for ; i < len(s) && i < 4 && '0' <= s[i] && s[i] <= '7'; i++ {
		if n*8+int(s[i]-'0') > 0o377 {
			break
		}
		n = n*8 + int(s[i]-'0')
	}
	b.WriteRune(rune(n))
	return i, i > 1
}

// unicodeEscape decodes \u0041, with any number of u, and surrogate pairs. A
// single surrogate becomes U+FFFD.
func unicodeEscape(b *strings.Builder, s string) (used int, ok bool) {
	r, used, ok := codeUnit(s)
	if !ok {
		return 0, false
	}
	if utf16.IsSurrogate(r) {
		low, n, ok := codeUnit(s[used:])
		if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
			b.WriteRune(pair)
			return used + n, true
		}
		r = utf8.RuneError
	}
	b.WriteRune(r)
	return used, true
}

func codeUnit(s string) (r rune, used int, ok bool) {
	if len(s) < 2 || s[0] != '\\' || s[1] != 'u' {
		return 0, 0, false
	}
	i := 1
	for i < len(s) && s[i] == 'u' {
		i++
	}
	if len(s) < i+4 {
		return 0, 0, false
	}
	n, err := strconv.ParseUint(s[i:i+4], 16, 16)
	return rune(n), i + 4, err == nil
}

// quote formats s as a string literal that unescape can decode.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029':
			b.WriteString(`\u` + hex4(r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func hex4(r rune) string {
	h := strconv.FormatInt(int64(r), 16)
	return "0000"[:4-len(h)] + h
}

// quoteRune formats a character for an error message.
func quoteRune(r rune) string { return strconv.QuoteRune(r) }
