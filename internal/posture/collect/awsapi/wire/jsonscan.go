package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

var errJSON = errors.New("the response is not JSON")

// A jsonScanner tokenizes JSON. It is as strict as encoding/json.
type jsonScanner struct {
	b     []byte
	i     int
	depth int
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *jsonScanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// expect consumes the byte c.
func (s *jsonScanner) expect(c byte) error {
	if s.peek() != c {
		return errJSON
	}
	s.i++
	return nil
}

// enter consumes the start of an object or array and increments the depth.
func (s *jsonScanner) enter(c byte) error {
	if err := s.expect(c); err != nil {
		return err
	}
	s.depth++
	if s.depth > maxDepth {
		return ErrDepth
	}
	return nil
}

// more reports whether another item of the object or array follows. It consumes the comma before
// the item (the first item has none), or the byte c that ends the object or array.
func (s *jsonScanner) more(c byte, first bool) (bool, error) {
	switch s.peek() {
	case c:
		s.i++
		s.depth--
		return false, nil
	case ',':
		if first {
			return false, errJSON
		}
		s.i++
		return true, nil
	}
	if !first {
		return false, errJSON
	}
	return true, nil
}

// key consumes a member name and its colon, and returns the quoted name.
func (s *jsonScanner) key() ([]byte, error) {
	key, err := s.str()
	if err != nil {
		return nil, err
	}
	return key, s.expect(':')
}

// str consumes a string and returns it with its quotes.
func (s *jsonScanner) str() ([]byte, error) {
	if s.peek() != '"' {
		return nil, errJSON
	}
	from := s.i
	for s.i++; s.i < len(s.b); s.i++ {
		c := s.b[s.i]
		if plainJSON[c] || c >= utf8.RuneSelf {
			continue
		}
		switch c {
		case '"':
			s.i++
			return s.b[from:s.i], nil
		case '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		default:
			return nil, errJSON
		}
	}
	return nil, errJSON
}

// escape consumes an escape except for its last byte, which the loop of str consumes. The position
// is at the backslash.
func (s *jsonScanner) escape() error {
	s.i++
	if s.i >= len(s.b) {
		return errJSON
	}
	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		if s.i+4 >= len(s.b) {
			return errJSON
		}
		for _, c := range s.b[s.i+1 : s.i+5] {
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return errJSON
			}
		}
		s.i += 4
		return nil
	}
	return errJSON
}

// number consumes a number.
func (s *jsonScanner) number() ([]byte, error) {
	s.peek()
	from := s.i
	digits := func() bool {
		start := s.i
		for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
			s.i++
		}
		return s.i > start
	}
	if s.i < len(s.b) && s.b[s.i] == '-' {
		s.i++
	}
	first := s.i
	if !digits() || s.b[first] == '0' && s.i-first > 1 { // a leading zero
		return nil, errJSON
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if !digits() {
			return nil, errJSON
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if !digits() {
			return nil, errJSON
		}
	}
	return s.b[from:s.i], nil
}

var (
	literalTrue  = []byte("true")
	literalFalse = []byte("false")
	literalNull  = []byte("null")
)

func (s *jsonScanner) literal(text []byte) error {
	if !bytes.HasPrefix(s.b[s.i:], text) {
		return errJSON
	}
	s.i += len(text)
	return nil
}

// null consumes the next value if it is null, and reports whether it was.
func (s *jsonScanner) null() (bool, error) {
	if s.peek() != 'n' {
		return false, nil
	}
	return true, s.literal(literalNull)
}

// skip consumes a value.
func (s *jsonScanner) skip() error {
	switch s.peek() {
	case '"':
		_, err := s.str()
		return err
	case 't':
		return s.literal(literalTrue)
	case 'f':
		return s.literal(literalFalse)
	case 'n':
		return s.literal(literalNull)
	case '{':
		if err := s.enter('{'); err != nil {
			return err
		}
		for first := true; ; first = false {
			if more, err := s.more('}', first); err != nil || !more {
				return err
			}
			if _, err := s.key(); err != nil {
				return err
			}
			if err := s.skip(); err != nil {
				return err
			}
		}
	case '[':
		if err := s.enter('['); err != nil {
			return err
		}
		for first := true; ; first = false {
			if more, err := s.more(']', first); err != nil || !more {
				return err
			}
			if err := s.skip(); err != nil {
				return err
			}
		}
	}
	_, err := s.number()
	return err
}

// unquote returns the value of a quoted JSON string. Invalid UTF-8 is replaced by U+FFFD.
func unquote(quoted []byte) (string, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(validUTF8(quoted[1 : len(quoted)-1])), nil
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return "", errJSON
	}
	return text, nil
}
