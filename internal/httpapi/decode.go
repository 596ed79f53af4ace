package httpapi

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"vigil/internal/fault"
)

// maxDetails limits the errors reported in one response.
const maxDetails = 100

// decodeJSON fills *dst from one JSON value. It continues after an error, so
// that the fault it returns lists all of them.
func decodeJSON(data []byte, dst any) error {
	c, err := newCursor(data)
	if err != nil {
		return err
	}
	d := decoder{cursor: c}
	v := reflect.ValueOf(dst).Elem()
	d.value(v)
	d.setWarnings(v)
	return d.fault()
}

// A decoder walks a JSON value and a Go value side by side.
type decoder struct {
	cursor
	path    []step
	details []fault.Detail
	limit   int // of the next list or map; 0 for the default
	items   int // elements of all lists and maps so far

	warnings Warnings
}

// step is a member's name, or an element's index where the name is empty.
type step struct {
	name  string
	index int
}

func (d *decoder) fault() error {
	if len(d.details) == 0 {
		return nil
	}
	return fault.Fields(d.details...)
}

// addError reports an error at the current path.
func (d *decoder) addError(format string, args ...any) {
	d.addErrorAt("", fmt.Sprintf(format, args...))
}

func (d *decoder) addErrorAt(subpath, message string) {
	if len(d.details) >= maxDetails {
		return
	}
	path := d.where()
	switch {
	case path == "":
		path = subpath
	case subpath != "" && subpath[0] != '[':
		path += "." + subpath
	default:
		path += subpath
	}
	if path == "" {
		path = "body"
	}
	d.details = append(d.details, fault.Detail{Path: path, Message: message})
}

// where returns the current path as text.
func (d *decoder) where() string { return textOf(d.path) }

// textOf returns a path as text: properties[0].stringV.
func textOf(path []step) string {
	var b strings.Builder
	for _, s := range path {
		switch {
		case s.name == "":
			fmt.Fprintf(&b, "[%d]", s.index)
		case b.Len() > 0:
			b.WriteString("." + short(s.name))
		default:
			b.WriteString(short(s.name))
		}
	}
	return b.String()
}

// short truncates a name chosen by the caller, to keep error responses short.
func short(name string) string {
	if len(name) <= 100 {
		return name
	}
	return strings.ToValidUTF8(name[:100], "") + "..."
}

func (d *decoder) push(name string, index int) { d.path = append(d.path, step{name, index}) }
func (d *decoder) pop()                        { d.path = d.path[:len(d.path)-1] }

var (
	rawType     = reflect.TypeFor[json.RawMessage]()
	timeType    = reflect.TypeFor[time.Time]()
	apiTimeType = reflect.TypeFor[Time]()
)

// value decodes the value under the cursor into v.
func (d *decoder) value(v reflect.Value) {
	if special, ok := v.Addr().Interface().(selfDecoder); ok {
		special.decode(d)
		return
	}
	if v.Kind() == reflect.Pointer {
		if d.kind() == 'n' {
			d.scalar()
			v.SetZero()
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.value(v.Elem())
		return
	}
	switch v.Type() {
	case rawType:
		v.SetBytes(d.raw())
		return
	case timeType, apiTimeType:
		d.time(v)
		return
	}
	switch u := v.Addr().Interface().(type) {
	case json.Unmarshaler:
		if raw := d.raw(); raw != nil {
			d.reportError(u.UnmarshalJSON(raw))
		}
		return
	case encoding.TextUnmarshaler:
		if s, ok := d.string(); ok {
			d.reportError(u.UnmarshalText([]byte(s)))
		}
		return
	}
	d.basicKind(v)
}

// basicKind decodes into a value of a basic kind: struct, map, list, string, number
// or boolean.
func (d *decoder) basicKind(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s, ok := d.string(); ok {
			v.SetString(s)
		}
	case reflect.Bool:
		if k := d.kind(); k == 't' || k == 'f' {
			v.SetBool(d.scalar() == "true")
		} else {
			d.wrong("a boolean")
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.integer(v)
	case reflect.Float64, reflect.Float32:
		d.float(v)
	case reflect.Slice:
		d.slice(v)
	case reflect.Map:
		d.object(v)
	case reflect.Struct:
		d.members(v)
	case reflect.Interface:
		d.any(v)
	default:
		panic("httpapi: cannot decode JSON into " + v.Type().String())
	}
}

// wrong reports a value of the wrong type and skips it.
func (d *decoder) wrong(want string) {
	if d.kind() == 'n' {
		d.addError("must be %s, not null", want)
	} else {
		d.addError("must be %s", want)
	}
	d.skip()
}

// reportError reports the error of a type's own decoder.
func (d *decoder) reportError(err error) {
	if err == nil {
		return
	}
	e, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok:
		d.addError("is not valid")
	case len(e.Details) == 0:
		d.addError("%s", e.Message)
	default:
		for _, detail := range e.Details {
			d.addErrorAt(detail.Path, detail.Message)
		}
	}
}

func (d *decoder) string() (string, bool) {
	if d.kind() != '"' {
		d.wrong("a string")
		return "", false
	}
	s := d.text()
	if strings.IndexByte(s, 0) >= 0 {
		d.addError("must not hold a NUL character")
		return "", false
	}
	return s, true
}

func (d *decoder) time(v reflect.Value) {
	s, ok := d.string()
	if !ok {
		return
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		d.addError("must be an RFC 3339 time such as 2026-01-31T12:00:00.000Z")
		return
	}
	if v.Type() == apiTimeType {
		v.Set(reflect.ValueOf(Time{t}))
	} else {
		v.Set(reflect.ValueOf(t))
	}
}

func (d *decoder) integer(v reflect.Value) {
	if d.kind() != '0' {
		d.wrong("an integer")
		return
	}
	text := d.scalar()
	n, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrSyntax) { // 10.0 and 1e1 are integers as well
		f, _ := strconv.ParseFloat(text, 64)
		if f != math.Trunc(f) {
			d.addError("must be an integer")
			return
		}
		n = int64(f)
		if math.Abs(f) < 1<<53 { // larger floats do not represent every integer: they are out of range
			err = nil
		}
	}
	if err != nil || v.OverflowInt(n) {
		d.addError("is out of range")
		return
	}
	v.SetInt(n)
}

func (d *decoder) float(v reflect.Value) {
	if d.kind() != '0' {
		d.wrong("a number")
		return
	}
	f, err := strconv.ParseFloat(d.scalar(), 64)
	if err != nil || v.OverflowFloat(f) {
		d.addError("is out of range")
		return
	}
	v.SetFloat(f)
}
