package httpapi

import (
	"bytes"
	"encoding"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"vigil/internal/fault"
)

// Bind fills the struct *dst from a request and validates it.
//
// A field tagged path, query or header takes the parameter of that name. A
// field tagged form takes a field of a form body or, if missing, the query
// parameter. A field tagged json takes the body's member of that name. A field
// tagged body takes the whole body, undecoded if it is a []byte. A field
// without a tag is never filled. More tags: required:"true" refuses a request
// without the member; enum:"A,B" matches strings case-insensitively and stores
// the spelling of the tag; maxItems:"N" limits a list or map, by default to
// [DefaultItems].
//
// Null is refused unless the field is a pointer or an [Optional]; with the tag
// null:"absent", it counts as not sent. The body may be missing when no member
// is required. Errors about types, missing members and enums are reported
// together. If there are none, Bind calls the method Validate() error of dst,
// if it has one.
func Bind(r *http.Request, dst any) error {
	if err := bind(r, reflect.ValueOf(dst).Elem()); err != nil {
		return err
	}
	if checked, ok := dst.(interface{ Validate() error }); ok {
		return checked.Validate()
	}
	return nil
}

func bind(r *http.Request, v reflect.Value) error {
	p := planOf(v.Type())
	var details []fault.Detail
	var form parameters
	if p.form || p.body != nil || len(p.members) > 0 {
		body, err := readBody(r)
		if err != nil {
			return err
		}
		switch {
		case p.form:
			form = parseParameters(string(body))
		case p.body != nil:
			err = bindWhole(body, v.FieldByIndex(p.body))
		default:
			err = bindMembers(body, v, p)
		}
		if err != nil {
			details = fault.Details(err)
			if details == nil {
				return err
			}
		}
	}
	details = append(details, bindParams(r, v, p, form)...)
	if len(details) > 0 {
		return fault.Fields(details...)
	}
	return nil
}

// readBody returns the body, which Mux has read into memory.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the body could not be read")
	}
	return body, nil
}

func bindWhole(body []byte, f reflect.Value) error {
	if f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Uint8 && f.Type() != rawType {
		f.SetBytes(body)
		return nil
	}
	return decodeJSON(body, f.Addr().Interface())
}

// bindMembers decodes the body into the struct. An empty body counts as an
// empty object.
func bindMembers(body []byte, v reflect.Value, p *plan) error {
	if len(bytes.TrimSpace(body)) > 0 {
		return decodeJSON(body, v.Addr().Interface())
	}
	var d decoder
	p.reportMissing(make([]bool, len(p.members)), &d)
	return d.fault()
}

// parameters are those of a query or of a form body.
type parameters struct {
	values url.Values
	broken map[string]bool // parameters with a value that is not encoded correctly
}

// parseParameters parses the parameters one by one. [url.ParseQuery] leaves out those with a
// value that is not encoded correctly, and all if they are too many; a request that lacks a
// filter would select more than its caller meant.
func parseParameters(text string) parameters {
	p := parameters{values: make(url.Values), broken: make(map[string]bool)}
	for pair := range strings.SplitSeq(text, "&") {
		one, err := url.ParseQuery(pair)
		for name, values := range one {
			p.values[name] = append(p.values[name], values...)
		}
		if err != nil {
			// A semicolon is an error too. It may have been meant to separate parameters.
			for part := range strings.SplitSeq(pair, ";") {
				name, _, _ := strings.Cut(part, "=")
				if name, err = url.QueryUnescape(name); err == nil {
					p.broken[name] = true
				}
			}
		}
	}
	return p
}

func bindParams(r *http.Request, v reflect.Value, p *plan, form parameters) []fault.Detail {
	var details []fault.Detail
	var query parameters
	for _, pm := range p.params {
		encoded := pm.source == "query" || pm.source == "form"
		if encoded && query.values == nil {
			query = parseParameters(r.URL.RawQuery)
		}
		if encoded && query.broken[pm.name] || pm.source == "form" && form.broken[pm.name] {
			details = append(details, fault.Detail{Path: pm.name, Message: "is not encoded as a URL parameter"})
			continue
		}
		values := pm.values(r, query.values, form.values)
		if len(values) == 0 {
			if pm.required {
				details = append(details, fault.Detail{Path: pm.name, Message: "is missing"})
			}
			continue
		}
		if problem := setParam(v.FieldByIndex(pm.index), values, pm.enum); problem != "" {
			details = append(details, fault.Detail{Path: pm.name, Message: problem})
		}
	}
	return details
}

func (p param) values(r *http.Request, query, form url.Values) []string {
	switch p.source {
	case "path":
		return []string{r.PathValue(p.name)}
	case "query":
		return query[p.name]
	case "header":
		if all := strings.Join(r.Header.Values(p.name), ", "); all != "" {
			return []string{all}
		}
		return nil
	default:
		if form.Has(p.name) {
			return form[p.name]
		}
		return query[p.name]
	}
}

// setParam sets a field from a parameter. It returns an error message, or "".
func setParam(f reflect.Value, values []string, enum []string) string {
	for i, s := range values {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return "must be text without NUL characters"
		}
		if enum != nil {
			index := slices.IndexFunc(enum, func(e string) bool { return strings.EqualFold(e, s) })
			if index < 0 {
				return "must be one of " + strings.Join(enum, ", ")
			}
			values[i] = enum[index]
		}
	}
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		f = f.Elem()
	}
	switch u := f.Addr().Interface().(type) {
	case *[]string:
		*u = slices.Clone(values)
		return ""
	case encoding.TextUnmarshaler:
		err := u.UnmarshalText([]byte(values[0]))
		if e, ok := errors.AsType[*fault.Error](err); ok {
			return e.Message
		}
		if err != nil {
			return "is not valid"
		}
		return ""
	}
	return setScalar(f, values[0])
}

func setScalar(f reflect.Value, s string) string {
	switch f.Kind() {
	case reflect.String:
		f.SetString(s)
	case reflect.Bool:
		b, err := strconv.ParseBool(strings.ToLower(s))
		if err != nil {
			return "must be true or false"
		}
		f.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(s, 10, f.Type().Bits())
		if err != nil {
			return "must be an integer"
		}
		f.SetInt(n)
	default:
		panic("httpapi: cannot bind a parameter to " + f.Type().String())
	}
	return ""
}
