package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A jsonDecoder converts a JSON document to one with the names and types of the model.
type jsonDecoder struct {
	jsonScanner
	out []byte
}

// decodeJSON appends the value of a JSON document.
func decodeJSON(out, body []byte, n *node) ([]byte, error) {
	d := &jsonDecoder{jsonScanner: jsonScanner{b: body}, out: out}
	if err := d.value(n); err != nil {
		return nil, err
	}
	d.peek()
	if d.i < len(d.b) {
		return nil, ErrTrailing
	}
	return d.out, nil
}

func (d *jsonDecoder) value(n *node) error {
	switch n.kind {
	case kindStructure:
		return d.structure(n)
	case kindList:
		return d.list(n)
	case kindMap:
		return d.entries(n)
	case kindDocument:
		return d.document()
	case kindString:
		text, err := d.str()
		if err != nil {
			return err
		}
		d.out = appendQuoted(d.out, text)
		return nil
	case kindBool:
		return d.boolean()
	case kindInt32, kindInt64:
		return d.integer(bitsOf(n.kind))
	case kindFloat32, kindFloat64:
		f, err := d.float()
		if err != nil {
			return err
		}
		d.out = formatFloat(d.out, f, bitsOf(n.kind))
		return nil
	case kindTime:
		return d.time(n.format)
	}
	text, err := d.text()
	if err != nil {
		return err
	}
	d.out, err = appendBase64(d.out, []byte(text))
	return err
}

func (d *jsonDecoder) structure(n *node) error {
	if err := d.enter('{'); err != nil {
		return err
	}
	o := openObject(&d.out)
	for first := true; ; first = false {
		more, err := d.more('}', first)
		if err != nil {
			return err
		}
		if !more {
			o.close(&d.out)
			return nil
		}
		key, err := d.key()
		if err != nil {
			return err
		}
		f, err := n.fieldByKey(key)
		if err != nil {
			return err
		}
		if f == nil {
			if err := d.skip(); err != nil {
				return err
			}
			continue
		}
		if null, err := d.null(); err != nil {
			return err
		} else if null {
			continue
		}
		if n.union && o.entries > 0 {
			return errUnion
		}
		repeated := o.beginMember(&d.out, f)
		if err := d.value(f.node); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if repeated {
			o.merge(&d.out, f)
		}
	}
}

// fieldByKey returns the field of a quoted name, or nil.
func (n *node) fieldByKey(key []byte) (*field, error) {
	if f, ok := n.byName[string(key[1:len(key)-1])]; ok {
		return f, nil
	}
	if bytes.IndexByte(key, '\\') < 0 {
		return nil, nil
	}
	name, err := unquote(key)
	return n.byName[name], err
}

func (d *jsonDecoder) list(n *node) error {
	if err := d.enter('['); err != nil {
		return err
	}
	d.out = append(d.out, '[')
	for first := true; ; first = false {
		more, err := d.more(']', first)
		if err != nil {
			return err
		}
		if !more {
			d.out = append(d.out, ']')
			return nil
		}
		if !first {
			d.out = append(d.out, ',')
		}
		if err := d.nullable(n.value); err != nil {
			return err
		}
	}
}

func (d *jsonDecoder) nullable(n *node) error {
	null, err := d.null()
	if err != nil {
		return err
	}
	if null {
		d.out = append(d.out, literalNull...)
		return nil
	}
	return d.value(n)
}

func (d *jsonDecoder) entries(n *node) error {
	if err := d.enter('{'); err != nil {
		return err
	}
	keys := openKeys(&d.out)
	for first := true; ; first = false {
		more, err := d.more('}', first)
		if err != nil {
			return err
		}
		if !more {
			keys.close(&d.out)
			return nil
		}
		key, err := d.key()
		if err != nil {
			return err
		}
		keys.beginJSON(&d.out, key)
		if err := d.nullable(n.value); err != nil {
			return err
		}
		keys.dedupe(&d.out)
	}
}

func (d *jsonDecoder) document() error {
	from := d.i
	if err := d.skip(); err != nil {
		return err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, d.b[from:d.i]); err != nil {
		return errJSON
	}
	d.out = append(d.out, validUTF8(compact.Bytes())...)
	return nil
}

func (d *jsonDecoder) boolean() error {
	switch d.peek() {
	case 't':
		d.out = append(d.out, literalTrue...)
		return d.literal(literalTrue)
	case 'f':
		d.out = append(d.out, literalFalse...)
		return d.literal(literalFalse)
	}
	return errors.New("not a boolean")
}

func (d *jsonDecoder) integer(bits int) (err error) {
	text, err := d.number()
	if err != nil {
		return err
	}
	d.out, err = appendInt(d.out, text, bits)
	return err
}

// float parses a number, or one of the strings "NaN", "Infinity" and "-Infinity".
func (d *jsonDecoder) float() (float64, error) {
	if d.peek() == '"' {
		text, err := d.text()
		if err != nil {
			return 0, err
		}
		for _, name := range []string{"NaN", "Infinity", "-Infinity"} {
			if strings.EqualFold(text, name) {
				return strconv.ParseFloat(name, 64)
			}
		}
		return 0, errors.New("not a number")
	}
	text, err := d.number()
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, errors.New("not a number of 64 bits")
	}
	return f, nil
}

func (d *jsonDecoder) time(format timeFormat) error {
	if format == epochSeconds {
		f, err := d.float()
		if err != nil {
			return err
		}
		d.out, err = appendEpoch(d.out, f)
		return err
	}
	text, err := d.text()
	if err != nil {
		return err
	}
	d.out, err = appendTimeText(d.out, []byte(text), format)
	return err
}

// text reads a string and returns its unquoted value.
func (d *jsonDecoder) text() (string, error) {
	quoted, err := d.str()
	if err != nil {
		return "", err
	}
	return unquote(quoted)
}

// appendQuoted appends a JSON string unchanged, except that invalid UTF-8 is replaced by
// U+FFFD.
func appendQuoted(b, quoted []byte) []byte {
	for i, c := range quoted {
		if c >= utf8.RuneSelf {
			if utf8.Valid(quoted[i:]) {
				break
			}
			return append(b, validUTF8(quoted)...)
		}
	}
	return append(b, quoted...)
}

// validUTF8 replaces each byte of invalid UTF-8 by U+FFFD.
func validUTF8(text []byte) []byte {
	var b []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			b = append(b, "\ufffd"...)
		} else {
			b = append(b, text[:size]...)
		}
		text = text[size:]
	}
	return b
}
