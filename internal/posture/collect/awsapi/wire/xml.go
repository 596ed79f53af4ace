package wire

import (
	"bytes"
	"errors"
	"fmt"
)

// Errors of malformed XML responses.
var (
	errEntry  = errors.New("an entry of a map is not a key followed by a value")
	errUnion  = errors.New("more than one member of a union")
	errNoRoot = errors.New("the response lacks the result element")
)

// An xmlDecoder converts one XML document to JSON.
type xmlDecoder struct {
	scanner
	out []byte
}

// decodeXML appends the first element of the given name, or the first of any name when
// the name is empty, and reads the document to its end.
func decodeXML(out, body []byte, name string, n *node) ([]byte, error) {
	d := &xmlDecoder{scanner: scanner{b: body, open: make([]span, 0, 32)}, out: out}
	for {
		t, err := d.next()
		if err != nil {
			return nil, err
		}
		if t == tokenEOF {
			return nil, errNoRoot
		}
		if t == tokenStart && (name == "" || bytes.EqualFold(d.name, []byte(name))) {
			break
		}
	}
	if err := d.element(n); err != nil {
		return nil, err
	}
	for {
		t, err := d.next()
		if err != nil {
			return nil, err
		}
		if t == tokenEOF {
			return d.out, nil
		}
		if t == tokenStart && len(d.open) == 1 { // a second root element
			return nil, ErrTrailing
		}
	}
}

// element appends the element whose start tag was read last.
func (d *xmlDecoder) element(n *node) error {
	switch n.kind {
	case kindStructure:
		return d.structure(n)
	case kindList:
		return d.list(n)
	case kindMap:
		return d.entries(n)
	case kindDocument:
		return errors.New("document types are not supported in XML")
	}
	text, err := d.value()
	if err != nil {
		return err
	}
	return d.scalar(n, text)
}

func (d *xmlDecoder) scalar(n *node, text []byte) (err error) {
	switch n.kind {
	case kindString:
		d.out = appendString(d.out, text)
	case kindBool:
		d.out, err = appendBool(d.out, text)
	case kindInt32, kindInt64:
		d.out, err = appendInt(d.out, text, bitsOf(n.kind))
	case kindFloat32, kindFloat64:
		d.out, err = appendFloat(d.out, text, bitsOf(n.kind))
	case kindTime:
		d.out, err = appendTimeText(d.out, text, n.format)
	case kindBlob:
		d.out, err = appendBase64(d.out, text)
	}
	return err
}

func (d *xmlDecoder) structure(n *node) error {
	o := openObject(&d.out)
	if len(n.attrs) > 0 {
		if err := d.attributes(n, &o); err != nil {
			return err
		}
	}
	for {
		t, err := d.next()
		if err != nil {
			return err
		}
		if t == tokenEnd {
			o.close(&d.out)
			return nil
		}
		f := n.find(d.name)
		if f == nil {
			if err := d.skip(); err != nil {
				return err
			}
			continue
		}
		if n.union && o.entries > 0 {
			return errUnion
		}
		repeated := o.beginMember(&d.out, f)
		if err := d.field(f); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if repeated { // for example a flattened list whose items are not consecutive
			o.merge(&d.out, f)
		}
	}
}

func (d *xmlDecoder) field(f *field) error {
	switch {
	case f.flattened && f.kind == kindList:
		return d.flatList(f)
	case f.flattened:
		return d.flatMap(f)
	}
	return d.element(f.node)
}

func (d *xmlDecoder) attributes(n *node, o *object) error {
	for _, a := range d.attrs {
		for _, f := range n.attrs {
			name := []byte(f.wireName)
			if colon := bytes.IndexByte(name, ':'); colon >= 0 {
				name = name[colon+1:]
			}
			if !bytes.EqualFold(name, a.name) {
				continue
			}
			repeated := o.beginMember(&d.out, f)
			if err := d.scalar(f.node, a.value); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			if repeated {
				o.merge(&d.out, f)
			}
			break
		}
	}
	return nil
}

func (d *xmlDecoder) list(n *node) error {
	d.out = append(d.out, '[')
	for first := true; ; first = false {
		t, err := d.next()
		if err != nil {
			return err
		}
		if t == tokenEnd {
			d.out = append(d.out, ']')
			return nil
		}
		if !first {
			d.out = append(d.out, ',')
		}
		if err := d.element(n.value); err != nil {
			return err
		}
	}
}

// flatList appends the consecutive items of a list that has no enclosing element.
func (d *xmlDecoder) flatList(f *field) error {
	d.out = append(d.out, '[')
	for {
		if err := d.element(f.value); err != nil {
			return err
		}
		more, err := d.sameFieldFollows(f)
		if err != nil {
			return err
		}
		if !more {
			d.out = append(d.out, ']')
			return nil
		}
		d.out = append(d.out, ',')
	}
}

// sameFieldFollows reports whether the next tag starts the same field again. If not, it pushes the tag
// back: the next call of next returns it.
func (d *xmlDecoder) sameFieldFollows(f *field) (bool, error) {
	t, err := d.next()
	if err != nil {
		return false, err
	}
	if t == tokenStart && bytes.EqualFold([]byte(f.wireName), d.name) {
		return true, nil
	}
	d.unread = true
	return false, nil
}

func (d *xmlDecoder) entries(n *node) error {
	keys := openKeys(&d.out)
	for {
		t, err := d.next()
		if err != nil {
			return err
		}
		if t == tokenEnd {
			keys.close(&d.out)
			return nil
		}
		if !bytes.EqualFold(d.name, []byte("entry")) {
			if err := d.skip(); err != nil {
				return err
			}
			continue
		}
		if err := d.entry(n, &keys); err != nil {
			return err
		}
	}
}

func (d *xmlDecoder) flatMap(f *field) error {
	keys := openKeys(&d.out)
	for {
		if err := d.entry(f.node, &keys); err != nil {
			return err
		}
		more, err := d.sameFieldFollows(f)
		if err != nil {
			return err
		}
		if !more {
			keys.close(&d.out)
			return nil
		}
	}
}

// entry appends one entry of a map: an element that holds a key, then a value.
func (d *xmlDecoder) entry(n *node, keys *keyed) error {
	hasKey := false
	for {
		t, err := d.next()
		if err != nil {
			return err
		}
		if t == tokenEnd {
			return errEntry
		}
		switch {
		case bytes.EqualFold(d.name, []byte(n.keyName)):
			if hasKey {
				return errEntry
			}
			key, err := d.value()
			if err != nil {
				return err
			}
			hasKey = true
			keys.begin(&d.out, key)
		case bytes.EqualFold(d.name, []byte(n.valueName)):
			if !hasKey {
				return errEntry
			}
			if err := d.element(n.value); err != nil {
				return err
			}
			keys.dedupe(&d.out)
			t, err := d.next()
			if err == nil && t != tokenEnd {
				err = errEntry
			}
			return err
		default:
			if err := d.skip(); err != nil {
				return err
			}
		}
	}
}
