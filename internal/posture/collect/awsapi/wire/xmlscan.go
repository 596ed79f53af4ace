package wire

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"
)

// Errors of invalid XML. The scanner is stricter than the parsers of the SDK: AWS sends
// no document types and closes every element.
var (
	errSyntax    = errors.New("the response is not well-formed XML")
	errDirective = errors.New("the response declares a document type")
	errName      = errors.New("the response has element names that are not ASCII")
	errMarkup    = errors.New("the response has markup where the model has a plain value")
)

// A scanner tokenizes an XML document. It is as strict as encoding/xml and rejects document
// types.
type scanner struct {
	b      []byte
	i      int
	open   []span // names of the open elements
	name   []byte // local name of the last tag
	attrs  []attribute
	void   bool // the last tag is an empty-element tag
	unread bool // next returns the last tag again
	last   token
	text   []byte // buffer for element text that is not contiguous
}

type span struct{ from, to int }

type attribute struct{ name, value []byte }

type token uint8

const (
	tokenStart token = iota
	tokenEnd
	tokenEOF
)

// Classes of bytes in text.
const (
	textPlain   = iota
	textLess    // <
	textSpecial // needs a check: & ] \r, control characters, not ASCII
)

var textClass = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c == '<':
			t[c] = textLess
		case c == '&' || c == ']' || c == '\r' || c >= utf8.RuneSelf || c < 0x20 && c != '\t' && c != '\n':
			t[c] = textSpecial
		}
	}
	return t
}()

var nameByte = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == ':' || c == '.' || c == '-' || c >= utf8.RuneSelf
	}
	return t
}()

// next advances to the next tag. It skips text, comments and processing instructions.
func (s *scanner) next() (token, error) {
	if s.unread {
		s.unread = false
		return s.last, nil
	}
	t, err := s.tag()
	s.last = t
	return t, err
}

func (s *scanner) tag() (token, error) {
	if s.void {
		s.void = false
		s.open = s.open[:len(s.open)-1]
		return tokenEnd, nil
	}
	for {
		from := s.i
		special := false
		for s.i < len(s.b) && s.b[s.i] != '<' {
			special = special || textClass[s.b[s.i]] != textPlain
			s.i++
		}
		if special { // the text is skipped, but must be valid
			if _, err := unescapeText(nil, s.b[from:s.i]); err != nil {
				return 0, err
			}
		}
		if s.i >= len(s.b) {
			if len(s.open) > 0 {
				return 0, errSyntax
			}
			return tokenEOF, nil
		}
		s.i++
		if s.i >= len(s.b) {
			return 0, errSyntax
		}
		switch s.b[s.i] {
		case '/':
			return tokenEnd, s.endTag()
		case '?':
			if err := s.instruction(); err != nil {
				return 0, err
			}
		case '!':
			if _, _, err := s.declaration(); err != nil {
				return 0, err
			}
		default:
			return tokenStart, s.startTag()
		}
	}
}

// endTag reads the end tag of the innermost open element. The position is at the slash.
func (s *scanner) endTag() error {
	if len(s.open) == 0 {
		return errSyntax
	}
	opened := s.open[len(s.open)-1]
	name := s.b[opened.from:opened.to]
	s.i++
	if !bytes.HasPrefix(s.b[s.i:], name) {
		return errSyntax
	}
	s.i += len(name)
	if s.i < len(s.b) && nameByte[s.b[s.i]] {
		return errSyntax
	}
	s.space()
	if s.i >= len(s.b) || s.b[s.i] != '>' {
		return errSyntax
	}
	s.i++
	s.open = s.open[:len(s.open)-1]
	return nil
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\n', '\r', '\t':
			s.i++
		default:
			return
		}
	}
}

// readName reads a name and returns its span and the span of its local part.
func (s *scanner) readName() (qualified, local span, err error) {
	qualified.from = s.i
	ascii, colons, colon := true, 0, 0
	for s.i < len(s.b) && nameByte[s.b[s.i]] {
		c := s.b[s.i]
		if c == ':' {
			colons++
			colon = s.i
		}
		ascii = ascii && c < utf8.RuneSelf
		s.i++
	}
	qualified.to = s.i
	name := s.b[qualified.from:qualified.to]
	if len(name) == 0 || colons > 1 {
		return qualified, qualified, errSyntax
	}
	if c := name[0]; c >= '0' && c <= '9' || c == '.' || c == '-' {
		return qualified, qualified, errSyntax
	}
	if !ascii {
		return qualified, qualified, errName
	}
	if colons == 1 && colon > qualified.from && colon < qualified.to-1 {
		return qualified, span{colon + 1, qualified.to}, nil
	}
	return qualified, qualified, nil
}

// startTag reads a start tag. The position is at its name.
func (s *scanner) startTag() error {
	qualified, local, err := s.readName()
	if err != nil {
		return err
	}
	s.name = s.b[local.from:local.to]
	s.attrs = s.attrs[:0]
	if len(s.open) >= maxDepth {
		return ErrDepth
	}
	s.open = append(s.open, qualified)
	for {
		s.space()
		if s.i >= len(s.b) {
			return errSyntax
		}
		switch s.b[s.i] {
		case '>':
			s.i++
			return nil
		case '/':
			s.i++
			if s.i >= len(s.b) || s.b[s.i] != '>' {
				return errSyntax
			}
			s.i++
			s.void = true
			return nil
		}
		if err := s.attribute(); err != nil {
			return err
		}
	}
}

func (s *scanner) attribute() error {
	_, local, err := s.readName()
	if err != nil {
		return err
	}
	s.space()
	if s.i >= len(s.b) || s.b[s.i] != '=' {
		return errSyntax
	}
	s.i++
	s.space()
	if s.i >= len(s.b) || s.b[s.i] != '"' && s.b[s.i] != '\'' {
		return errSyntax
	}
	quote := s.b[s.i]
	s.i++
	n := bytes.IndexByte(s.b[s.i:], quote)
	if n < 0 {
		return errSyntax
	}
	raw := s.b[s.i : s.i+n]
	s.i += n + 1
	if bytes.IndexByte(raw, '<') >= 0 {
		return errSyntax
	}
	value, err := unescape(nil, raw)
	if err != nil {
		return err
	}
	s.attrs = append(s.attrs, attribute{s.b[local.from:local.to], value})
	return nil
}

// instruction reads a processing instruction. The position is at its question mark.
func (s *scanner) instruction() error {
	s.i++
	qualified, _, err := s.readName()
	if err != nil {
		return err
	}
	n := bytes.Index(s.b[s.i:], []byte("?>"))
	if n < 0 {
		return errSyntax
	}
	content := s.b[s.i : s.i+n]
	s.i += n + 2
	if string(s.b[qualified.from:qualified.to]) != "xml" {
		return nil
	}
	// Like encoding/xml, search for the two pseudo-attributes in the text instead of parsing it.
	if v := instructionValue("version", string(content)); v != "" && v != "1.0" {
		return errSyntax
	}
	if v := instructionValue("encoding", string(content)); v != "" && !strings.EqualFold(v, "utf-8") {
		return errSyntax
	}
	return nil
}

func instructionValue(name, content string) string {
	name += "="
	from := 0
	var at int
	for {
		n := strings.Index(content[from:], name)
		if n < 0 {
			return ""
		}
		at = from + n + len(name)
		if at >= len(content) {
			return ""
		}
		if content[at] == '\'' || content[at] == '"' {
			break
		}
		from = at + 1
	}
	value, _, closed := strings.Cut(content[at+1:], content[at:at+1])
	if !closed {
		return ""
	}
	return value
}

// declaration reads a comment or a CDATA section. For a CDATA section it returns the content and
// true. The position is at the exclamation mark.
func (s *scanner) declaration() (data []byte, isData bool, err error) {
	rest := s.b[s.i:]
	switch {
	case bytes.HasPrefix(rest, []byte("!--")):
		n := bytes.Index(rest[3:], []byte("--"))
		if n < 0 || 3+n+2 >= len(rest) || rest[3+n+2] != '>' { // a comment must not contain --
			return nil, false, errSyntax
		}
		s.i += 3 + n + 3
		return nil, false, nil
	case bytes.HasPrefix(rest, []byte("![CDATA[")):
		n := bytes.Index(rest[8:], []byte("]]>"))
		if n < 0 {
			return nil, false, errSyntax
		}
		s.i += 8 + n + 3
		data, err := cleanText(nil, rest[8:8+n])
		return data, true, err
	case bytes.HasPrefix(rest, []byte("!-")), bytes.HasPrefix(rest, []byte("![")):
		return nil, false, errSyntax
	}
	return nil, false, errDirective
}

// value returns the text of the element whose start tag was read last, and consumes its end
// tag. Text without markup and entities is returned without copying.
func (s *scanner) value() ([]byte, error) {
	if s.void {
		s.void = false
		s.open = s.open[:len(s.open)-1]
		return nil, nil
	}
	from := s.i
	for s.i < len(s.b) && textClass[s.b[s.i]] == textPlain {
		s.i++
	}
	if s.i+1 < len(s.b) && s.b[s.i] == '<' && s.b[s.i+1] == '/' {
		text := s.b[from:s.i]
		s.i++
		return text, s.endTag()
	}
	s.i = from
	s.text = s.text[:0]
	for {
		from := s.i
		for s.i < len(s.b) && s.b[s.i] != '<' {
			s.i++
		}
		var err error
		if s.text, err = unescapeText(s.text, s.b[from:s.i]); err != nil {
			return nil, err
		}
		if s.i+1 >= len(s.b) {
			return nil, errSyntax
		}
		s.i++
		switch s.b[s.i] {
		case '/':
			return s.text, s.endTag()
		case '!':
			data, isData, err := s.declaration()
			if err != nil {
				return nil, err
			}
			if !isData {
				return nil, errMarkup
			}
			s.text = append(s.text, data...)
		default:
			return nil, errMarkup
		}
	}
}

// skip consumes the element whose start tag was read last.
func (s *scanner) skip() error {
	for depth := 1; depth > 0; {
		t, err := s.next()
		if err != nil {
			return err
		}
		switch t {
		case tokenStart:
			depth++
		case tokenEnd:
			depth--
		}
	}
	return nil
}
