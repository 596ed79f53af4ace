package apitest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// errorSchema is the schema of error bodies.
const errorSchema = "#/components/schemas/Error"

// Check returns how a response differs from the document. The response to a
// request that is not in the document must be an error with the schema Error.
func (d *Document) Check(r *http.Request, res *http.Response, body []byte) error {
	if res.Header.Get("X-Request-Id") == "" {
		return errors.New("the response has no X-Request-Id")
	}
	o, known := d.find(r)
	if _, hidden := d.hidden.Find(r.Method, r.URL.EscapedPath()); hidden && o == nil {
		return nil
	}
	if o == nil {
		return d.checkUnknown(r, res, body, known)
	}
	d.note(o, res.StatusCode)
	response, pointer := o.response(res.StatusCode)
	if response == nil {
		return fmt.Errorf("%s does not document status %d", o.OperationID, res.StatusCode)
	}
	if err := d.checkHeaders(response, pointer, res.Header); err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		return nil
	}
	return d.checkBody(response, pointer, res.Header, body)
}

// checkUnknown checks the response to a request whose path or method is not
// documented. known says that the path is documented with other methods.
func (d *Document) checkUnknown(r *http.Request, res *http.Response, body []byte, known bool) error {
	want := http.StatusNotFound
	if known {
		want = http.StatusMethodNotAllowed
		if res.Header.Get("Allow") == "" {
			return errors.New("the response has no Allow header")
		}
		if r.Method == http.MethodOptions {
			want = http.StatusNoContent
		}
	}
	if res.StatusCode != want {
		return fmt.Errorf("status %d, want %d: the request is not documented", res.StatusCode, want)
	}
	if r.Method == http.MethodHead || want == http.StatusNoContent {
		return nil
	}
	return d.checkJSON(errorSchema, body)
}

// response returns the documented response for a status, and its JSON pointer.
func (o *operation) response(status int) (*openapi3.Response, string) {
	for _, code := range []string{fmt.Sprint(status), fmt.Sprintf("%dXX", status/100), "default"} {
		if ref := o.Responses.Value(code); ref != nil {
			if ref.Ref != "" {
				return ref.Value, ref.Ref
			}
			return ref.Value, o.pointer + "/responses/" + code
		}
	}
	return nil, ""
}

func (d *Document) checkHeaders(response *openapi3.Response, pointer string, h http.Header) error {
	for name, ref := range response.Headers {
		value := h.Get(name)
		if value == "" {
			if ref.Value.Required {
				return fmt.Errorf("header %s is missing", name)
			}
			continue
		}
		if ref.Value.Schema == nil {
			continue
		}
		headerPointer := pointer + "/headers/" + escape(name)
		if ref.Ref != "" {
			headerPointer = ref.Ref
		}
		schema, err := d.schema(schemaAt(ref.Value.Schema, headerPointer+"/schema"))
		if err != nil {
			return err
		}
		var instance any = value
		if t := ref.Value.Schema.Value.Type; t.Is("integer") || t.Is("number") || t.Is("boolean") {
			if instance, err = jsonschema.UnmarshalJSON(strings.NewReader(value)); err != nil {
				return fmt.Errorf("header %s: %q is not of type %v", name, value, t.Slice())
			}
		}
		if err := schema.Validate(instance); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	return nil
}

func (d *Document) checkBody(response *openapi3.Response, pointer string, h http.Header, body []byte) error {
	if len(response.Content) == 0 {
		if len(body) > 0 {
			return fmt.Errorf("a body where none is documented: %.80q", body)
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("Content-Type %q: %w", h.Get("Content-Type"), err)
	}
	media := response.Content[kind]
	if media == nil {
		return fmt.Errorf("Content-Type %s is not documented", kind)
	}
	if media.Schema == nil || !strings.HasSuffix(kind, "json") {
		return nil
	}
	return d.checkJSON(schemaAt(media.Schema, pointer+"/content/"+escape(kind)+"/schema"), body)
}

// schemaAt returns the JSON pointer of a schema: of its reference, or else its
// own.
func schemaAt(ref *openapi3.SchemaRef, pointer string) string {
	if ref.Ref != "" {
		return ref.Ref
	}
	return pointer
}

// A checkedBody identifies a body that was checked against a schema.
type checkedBody struct {
	pointer string // to the schema
	hash    [sha256.Size]byte
}

// checkJSON checks a body against a schema. It checks equal bodies once: tests that call
// every route get large lists, such as all rules, hundreds of times.
func (d *Document) checkJSON(pointer string, body []byte) error {
	key := checkedBody{pointer, sha256.Sum256(body)}
	d.mu.Lock()
	valid := d.valid[key]
	d.mu.Unlock()
	if valid {
		return nil
	}
	if err := d.validate(pointer, body); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.valid[key] = true
	return nil
}

func (d *Document) validate(pointer string, body []byte) error {
	schema, err := d.schema(pointer)
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	if err := schema.Validate(instance); err != nil {
		return fmt.Errorf("the body is not as documented: %w", err)
	}
	return nil
}

// schema compiles the schema at a JSON pointer and caches it.
func (d *Document) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[pointer]; s != nil {
		return s, nil
	}
	fragment := (&url.URL{Fragment: strings.TrimPrefix(pointer, "#")}).String()
	s, err := d.compiler.Compile(location + fragment)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	d.schemas[pointer] = s
	return s, nil
}

// note counts a response, for [Document.Unseen].
func (d *Document) note(o *operation, status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen[o.OperationID] == nil {
		d.seen[o.OperationID] = make(map[int]int)
	}
	d.seen[o.OperationID][status]++
}
