package wire

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// unescapeText appends the text of an element like unescape. The text must not contain ]]>,
// the end of a CDATA section.
func unescapeText(b, raw []byte) ([]byte, error) {
	if bytes.Contains(raw, []byte("]]>")) {
		return b, errSyntax
	}
	return unescape(b, raw)
}

// unescape appends text with entities replaced and line ends normalised.
func unescape(b, raw []byte) ([]byte, error) {
	ampersand := bytes.IndexByte(raw, '&')
	if ampersand < 0 {
		return cleanText(b, raw)
	}
	var err error
	for ampersand >= 0 {
		if b, err = cleanText(b, raw[:ampersand]); err != nil {
			return b, err
		}
		raw = raw[ampersand+1:]
		end := bytes.IndexByte(raw, ';')
		if end < 0 {
			return b, errSyntax
		}
		r, ok := entity(raw[:end])
		if !ok {
			return b, errSyntax
		}
		b = utf8.AppendRune(b, r)
		raw = raw[end+1:]
		ampersand = bytes.IndexByte(raw, '&')
	}
	return cleanText(b, raw)
}

var entities = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "apos": '\'', "quot": '"'}

func entity(name []byte) (rune, bool) {
	if r, ok := entities[string(name)]; ok {
		return r, true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	number, radix := name[1:], 10
	if number[0] == 'x' {
		number, radix = number[1:], 16
	}
	n, err := strconv.ParseUint(string(number), radix, 64)
	if err != nil || n > unicode.MaxRune {
		return 0, false
	}
	r := rune(n)
	if r >= 0xd800 && r <= 0xdfff { // encoding/xml also replaces surrogates
		r = utf8.RuneError
	}
	return r, isXMLChar(r)
}

// cleanText appends text without entities. The text must be UTF-8 without control
// characters. Line ends become \n.
func cleanText(b, raw []byte) ([]byte, error) {
	for i := 0; i < len(raw); {
		c := raw[i]
		if c == '\r' {
			b = append(b, '\n')
			i++
			if i < len(raw) && raw[i] == '\n' {
				i++
			}
			continue
		}
		if c < utf8.RuneSelf {
			if !isXMLChar(rune(c)) {
				return b, errSyntax
			}
			b = append(b, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && size == 1 || !isXMLChar(r) {
			return b, errSyntax
		}
		b = append(b, raw[i:i+size]...)
		i += size
	}
	return b, nil
}

// isXMLChar reports whether XML allows a character.
func isXMLChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 && r <= unicode.MaxRune
}
