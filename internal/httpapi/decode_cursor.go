package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"vigil/internal/fault"
)

// maxDepth limits the nesting of arrays and objects.
const maxDepth = 64

// A cursor iterates over JSON that has been validated, so that its steps need
// no checks.
type cursor struct {
	data   []byte
	offset int
}

// newCursor checks the syntax of data and returns a cursor at its one value.
func newCursor(data []byte) (cursor, error) {
	c := cursor{data: data}
	if !utf8.Valid(data) {
		return c, fault.New(fault.Invalid, "the body is not valid UTF-8")
	}
	if !json.Valid(data) {
		return c, syntaxFault(data)
	}
	if isTooDeep(data) {
		return c, fault.New(fault.Invalid, "the body nests deeper than %d levels", maxDepth)
	}
	c.space()
	return c, nil
}

// syntaxFault returns a fault with the position of the syntax error.
func syntaxFault(data []byte) error {
	var value json.RawMessage
	bad, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(data, &value))
	if !ok {
		return fault.New(fault.Invalid, "the body is not valid JSON")
	}
	before := data[:min(max(int(bad.Offset)-1, 0), len(data))] // Offset counts the bad byte, which may be a line break
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fault.New(fault.Invalid, "the body is not valid JSON: %s (line %d, column %d)", bad.Error(), line, column)
}

// isTooDeep reports whether valid JSON nests deeper than maxDepth.
func isTooDeep(data []byte) bool {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			if depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// space skips white space.
func (c *cursor) space() {
	for c.offset < len(c.data) {
		switch c.data[c.offset] {
		case ' ', '\t', '\r', '\n':
			c.offset++
		default:
			return
		}
	}
}

// kind returns the type of the value at the cursor by its first byte: one of {
// [ " t f n, and 0 for a number.
func (c *cursor) kind() byte {
	switch b := c.data[c.offset]; b {
	case '{', '[', '"', 't', 'f', 'n':
		return b
	}
	return '0'
}

// enter steps into an object or array and reports whether it has elements.
func (c *cursor) enter() bool {
	c.offset++
	c.space()
	if b := c.data[c.offset]; b == '}' || b == ']' {
		c.offset++
		return false
	}
	return true
}

// next skips the separator after a value in an object or array and reports
// whether another value follows.
func (c *cursor) next() bool {
	c.space()
	more := c.data[c.offset] == ','
	c.offset++
	c.space()
	return more
}

// name reads a member's name and moves to its value.
func (c *cursor) name() string {
	s := c.text()
	c.space()
	c.offset++ // the colon
	c.space()
	return s
}

// text reads a string.
func (c *cursor) text() string {
	start := c.offset
	escaped := false
	for c.offset++; c.data[c.offset] != '"'; c.offset++ {
		if c.data[c.offset] == '\\' {
			escaped = true
			c.offset++
		}
	}
	c.offset++
	if !escaped {
		return string(c.data[start+1 : c.offset-1])
	}
	var s string
	if json.Unmarshal(c.data[start:c.offset], &s) != nil {
		panic("httpapi: valid JSON holds an invalid string")
	}
	return s
}

// scalar returns the text of a number, true, false or null.
func (c *cursor) scalar() string {
	start := c.offset
	for c.offset < len(c.data) {
		switch c.data[c.offset] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return string(c.data[start:c.offset])
		}
		c.offset++
	}
	return string(c.data[start:])
}
