package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"vigil/internal/posture/collect/awsapi/model"
)

// Decode converts a response to JSON: an object with the members of the output. The result
// does not refer to the body.
func (d *Decoder) Decode(status int, header http.Header, body []byte) ([]byte, error) {
	return d.DecodeInto(make([]byte, 0, len(body)+64), status, header, body)
}

// DecodeInto is Decode into an empty buffer, which it grows if needed.
func (d *Decoder) DecodeInto(buffer []byte, status int, header http.Header, body []byte) ([]byte, error) {
	out, err := d.decode(buffer, status, header, body)
	if err != nil {
		return nil, fmt.Errorf("decode the response of %s %s: %w", d.op.Service.Name, d.op.Name, err)
	}
	return out, nil
}

func (d *Decoder) decode(out []byte, status int, header http.Header, body []byte) ([]byte, error) {
	if len(body) > MaxSize {
		return nil, ErrSize
	}
	if d.output == nil {
		return append(out, "{}"...), nil
	}
	switch d.op.Service.Protocol {
	case model.JSON:
		if len(body) == 0 {
			return append(out, "{}"...), nil
		}
		return decodeJSON(out, body, d.output)
	case model.CBOR:
		return d.decodeCBOR(status, header, body)
	case model.EC2:
		return d.decodeResult(out, body, "Response")
	case model.Query:
		return d.decodeResult(out, body, "Result")
	}
	return d.decodeREST(out, status, header, body)
}

func (d *Decoder) decodeResult(out, body []byte, suffix string) ([]byte, error) {
	if len(body) == 0 {
		return append(out, "{}"...), nil
	}
	decoded, err := decodeXML(out, body, d.op.Name+suffix, d.output)
	if errors.Is(err, errNoRoot) && len(d.output.fields) == 0 {
		return append(out, "{}"...), nil
	}
	return decoded, err
}

// decodeREST combines the members of the headers and of the body.
func (d *Decoder) decodeREST(out []byte, status int, header http.Header, body []byte) ([]byte, error) {
	if !d.bound && d.payload == nil {
		return d.decodeBody(out, body, d.output)
	}
	out = append(out, '{')
	start := len(out)
	comma := func() {
		if len(out) > start {
			out = append(out, ',')
		}
	}
	for _, f := range d.output.fields {
		text, ok := headerValue(f, status, header)
		if !ok {
			continue
		}
		comma()
		out = append(out, f.key...)
		var err error
		if out, err = appendHeader(out, f, text, header); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if d.payload != nil {
		if len(body) == 0 {
			return append(out, '}'), nil
		}
		comma()
		out = append(out, d.payload.key...)
		out, err := d.decodePayload(out, body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.payload.name, err)
		}
		return append(out, '}'), nil
	}
	if slices.ContainsFunc(d.output.fields, func(f *field) bool { return f.member.Location == "" }) {
		rest, err := d.decodeBody(nil, body, d.output)
		if err != nil {
			return nil, err
		}
		if len(rest) > 2 { // it is not just {}
			comma()
			out = append(out, rest[1:len(rest)-1]...)
		}
	}
	return append(out, '}'), nil
}

func (d *Decoder) decodePayload(out, body []byte) ([]byte, error) {
	switch d.payload.kind {
	case kindBlob:
		return appendBlob(out, body), nil
	case kindString:
		return appendString(out, body), nil
	}
	return d.decodeBody(out, body, d.payload.node)
}

func (d *Decoder) decodeBody(out, body []byte, n *node) ([]byte, error) {
	if len(body) == 0 {
		return append(out, "{}"...), nil
	}
	if d.op.Service.Protocol == model.RestJSON {
		return decodeJSON(out, body, n)
	}
	if d.op.Service.Name == "s3" && d.op.Name == "GetBucketLocation" {
		return decodeLocation(out, body, n)
	}
	return decodeXML(out, body, "", n)
}

// decodeLocation decodes the only response of S3 whose root element is the member itself.
func decodeLocation(out, body []byte, n *node) ([]byte, error) {
	f := n.byName["LocationConstraint"]
	if f == nil {
		return nil, errNoRoot
	}
	value, err := decodeXML(nil, body, "LocationConstraint", f.node)
	if err != nil {
		return nil, err
	}
	if string(value) == `""` { // S3 returns no name for us-east-1
		return append(out, "{}"...), nil
	}
	out = append(append(append(out, '{'), f.key...), value...)
	return append(out, '}'), nil
}

// headerValue returns the text of a field that is bound to a header or to the status code. It
// returns false when the field is bound to neither or the header is missing.
func headerValue(f *field, status int, header http.Header) (string, bool) {
	m := f.member
	switch m.Location {
	case "statusCode":
		return strconv.Itoa(status), true
	case "header":
		values := header.Values(m.LocationName)
		if len(values) == 0 {
			return "", false
		}
		return values[0], true
	case "headers":
		for name := range header {
			if hasPrefixFold(name, m.LocationName) {
				return "", true // appendHeaderMap reads these headers
			}
		}
	}
	return "", false
}

func hasPrefixFold(name, prefix string) bool {
	return len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}

func appendHeader(out []byte, f *field, text string, header http.Header) ([]byte, error) {
	m := f.member
	switch {
	case m.Location == "headers":
		return appendHeaderMap(out, m.LocationName, header), nil
	case f.kind == kindList:
		return appendHeaderList(out, f, header.Values(m.LocationName))
	case m.JSONValue:
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return out, errors.New("not base64")
		}
		return appendString(out, raw), nil
	}
	d := &xmlDecoder{out: out} // values in headers have the same syntax as in XML
	err := d.scalar(f.node, []byte(text))
	return d.out, err
}

func appendHeaderMap(out []byte, prefix string, header http.Header) []byte {
	names := make([]string, 0, len(header))
	for name := range header {
		if hasPrefixFold(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out = append(out, '{')
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, strings.ToLower(name[len(prefix):])), ':')
		out = appendString(out, header.Get(name))
	}
	return append(out, '}')
}

func appendHeaderList(out []byte, f *field, values []string) ([]byte, error) {
	split := smithyhttp.SplitHeaderListValues
	if f.value.kind == kindTime && f.value.format == httpDate {
		split = smithyhttp.SplitHTTPDateTimestampHeaderListValues
	}
	items, err := split(values)
	if err != nil {
		return out, err
	}
	d := &xmlDecoder{out: append(out, '[')}
	for i, item := range items {
		if i > 0 {
			d.out = append(d.out, ',')
		}
		if err := d.scalar(f.value, []byte(item)); err != nil {
			return d.out, err
		}
	}
	return append(d.out, ']'), nil
}

// decodeCBOR decodes with smithy-go: only a few services use CBOR exclusively.
func (d *Decoder) decodeCBOR(status int, header http.Header, body []byte) ([]byte, error) {
	s, err := schemaOf(d.op)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return []byte("{}"), nil
	}
	out := &document{schema: s.operation.Output}
	answer := &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}}
	if err := s.protocol.DeserializeResponse(context.Background(), s.operation, noErrors, answer, out); err != nil {
		return nil, err
	}
	return out.json, nil
}
