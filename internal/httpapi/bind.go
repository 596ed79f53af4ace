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

// Bind fills the struct *dst from a request and checks it.
//
// Fields tagged path, query or header take the parameter of that name; fields
// tagged form take a field of a form body or, failing that, the query parameter;
// fields tagged json take the body's member of that name; a field tagged body
// takes the whole body, undecoded where it is a []byte. A field without a tag is
// never filled. More tags: required:"true" refuses a request without the
// member, enum:"A,B" compares strings without case and keeps the spelling given,
// maxItems:"N" bounds a list or map; without it the bound is [DefaultItems].
//
// Null is refused unless the field is a pointer or an [Optional]. The body may
// be missing when no member is required. All that is wrong with types, missing
// members and enums is reported together; then a method Validate() error, if
// there is one, has its say.
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
	var form url.Values
	if p.form || p.body != nil || len(p.members) > 0 {
		body, err := readBody(r)
		if err != nil {
			return err
		}
		switch {
		case p.form:
			form, _ = url.ParseQuery(string(body))
		case p.body != nil:
			err = bindWhole(body, v.FieldByIndex(p.body))
		default:
			err = bindMembers(body, v, p)
		}
		if err != nil {
			if details = fault.Details(err); details == nil {
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

// bindMembers takes a missing body for an empty object.
func bindMembers(body []byte, v reflect.Value, p *plan) error {
	if len(bytes.TrimSpace(body)) > 0 {
		return decodeJSON(body, v.Addr().Interface())
	}
	var d decoder
	p.missing(make([]bool, len(p.members)), &d)
	return d.fault()
}

func bindParams(r *http.Request, v reflect.Value, p *plan, form url.Values) []fault.Detail {
	var details []fault.Detail
	var query url.Values
	for _, pm := range p.params {
		if query == nil && (pm.source == "query" || pm.source == "form") {
			query = r.URL.Query()
		}
		values := pm.values(r, query, form)
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

// setParam sets a field from text and says what is wrong, if anything is.
func setParam(f reflect.Value, values []string, enum []string) string {
	for i, s := range values {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return "must be text without NUL characters"
		}
		if enum != nil {
			at := slices.IndexFunc(enum, func(e string) bool { return strings.EqualFold(e, s) })
			if at < 0 {
				return "must be one of " + strings.Join(enum, ", ")
			}
			values[i] = enum[at]
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
