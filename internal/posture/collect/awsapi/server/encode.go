// Package server encodes responses and decodes requests of AWS operations by their models,
// as the services do. Simulators and tests use it.
package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"vigil/internal/posture/collect/awsapi/model"
)

// An Encoder encodes outputs of operations.
type Encoder struct {
	// UnknownMembers adds to JSON objects a member that is not in the model. Clients must
	// ignore it.
	UnknownMembers bool
}

// Encode encodes an output as the service would: headers and body. The service must have
// an XML or JSON protocol. Values are map[string]any for structures and maps, []any,
// string, bool, int64, float64, [time.Time] and []byte; see [Output].
func (e Encoder) Encode(op *model.Operation, output map[string]any) (http.Header, []byte) {
	header := http.Header{}
	s := op.Output
	if s == nil {
		return header, nil
	}
	w := &writer{protocol: op.Service.Protocol, unknownMembers: e.UnknownMembers}
	body := map[string]any{}
	for i := range s.Members {
		m := &s.Members[i]
		v, ok := output[m.Name]
		if !ok {
			continue
		}
		if m.Location == "" {
			body[m.Name] = v
		} else {
			w.header(header, m, v)
		}
	}
	switch w.protocol {
	case model.EC2:
		w.open(op.Name+"Response", ` xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"`)
		w.element("requestId", "", "an-id")
		w.members(s, body)
		w.close(op.Name + "Response")
	case model.Query:
		w.open(op.Name+"Response", ` xmlns="`+op.Service.Namespace+`"`)
		w.open(op.Name+"Result", "")
		w.members(s, body)
		w.close(op.Name + "Result")
		w.open("ResponseMetadata", "")
		w.element("RequestId", "", "an-id")
		w.close("ResponseMetadata")
		w.close(op.Name + "Response")
	case model.JSON:
		w.json(s, body)
	case model.RestXML, model.RestJSON:
		w.payload(op, s, body)
	}
	return header, w.Bytes()
}

type writer struct {
	bytes.Buffer
	protocol       string
	unknownMembers bool
}

func (w *writer) payload(op *model.Operation, s *model.Shape, body map[string]any) {
	if s.Payload == "" {
		switch {
		case w.protocol == model.RestJSON:
			w.json(s, body)
		case op.Name == "GetBucketLocation": // the root element is the member itself
			if v, ok := body["LocationConstraint"]; ok {
				w.element("LocationConstraint", ` xmlns="http://s3.amazonaws.com/doc/2006-03-01/"`, v.(string))
			}
		default:
			w.open(s.Name, "")
			w.members(s, body)
			w.close(s.Name)
		}
		return
	}
	m := s.Member(s.Payload)
	v, ok := body[m.Name]
	if !ok {
		return
	}
	switch v := v.(type) {
	case []byte:
		w.Write(v)
	case string:
		w.WriteString(v)
	default:
		if w.protocol == model.RestJSON {
			w.jsonValue(m, v)
		} else {
			w.item(m.WireName(), m, v)
		}
	}
}

func (w *writer) header(header http.Header, m *model.Member, v any) {
	switch m.Location {
	case "header":
		if list, ok := v.([]any); ok {
			for _, e := range list {
				header.Add(m.LocationName, w.scalar(m.Shape.Item, e, "header"))
			}
			return
		}
		text := w.scalar(m, v, "header")
		if m.JSONValue {
			text = base64.StdEncoding.EncodeToString([]byte(text))
		}
		header.Set(m.LocationName, text)
	case "headers":
		for k, e := range v.(map[string]any) {
			header.Set(m.LocationName+k, fmt.Sprint(e))
		}
	}
}

func (w *writer) open(name, attributes string) { w.WriteString("<" + name + attributes + ">") }
func (w *writer) close(name string)            { w.WriteString("</" + name + ">") }

func (w *writer) element(name, attributes, text string) {
	w.open(name, attributes)
	w.escape(text)
	w.close(name)
}

func (w *writer) escape(text string) {
	_, _ = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", "\r", "&#xD;").WriteString(w, text)
}

func (w *writer) members(s *model.Shape, values map[string]any) {
	for i := range s.Members {
		m := &s.Members[i]
		v, ok := values[m.Name]
		if !ok || m.Attribute {
			continue
		}
		if m.Flattened || m.Shape.Flattened {
			switch v := v.(type) {
			case []any:
				for _, e := range v {
					w.item(m.WireName(), m.Shape.Item, e)
				}
			case map[string]any:
				for _, k := range sortedKeys(v) {
					w.entry(m.WireName(), m.Shape, k, v[k])
				}
			}
			continue
		}
		w.item(m.WireName(), m, v)
	}
}

// item writes one value as an element.
func (w *writer) item(name string, m *model.Member, v any) {
	s := m.Shape
	attributes := ""
	for i := range s.Members {
		if a := &s.Members[i]; a.Attribute {
			if text, ok := v.(map[string]any)[a.Name].(string); ok {
				var b writer
				b.escape(text)
				attributes += ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ` + a.WireName() + `="` + b.String() + `"`
			}
		}
	}
	w.open(name, attributes)
	switch s.Type {
	case model.Structure:
		w.members(s, v.(map[string]any))
	case model.List:
		itemName := s.Item.LocationName
		if itemName == "" {
			itemName = "member"
			if w.protocol == model.EC2 {
				itemName = "item"
			}
		}
		for _, e := range v.([]any) {
			w.item(itemName, s.Item, e)
		}
	case model.Map:
		values := v.(map[string]any)
		for _, k := range sortedKeys(values) {
			w.entry("entry", s, k, values[k])
		}
	default:
		w.escape(w.scalar(m, v, ""))
	}
	w.close(name)
}

func (w *writer) entry(name string, s *model.Shape, key string, v any) {
	keyName, valueName := "key", "value"
	if s.Key.LocationName != "" {
		keyName = s.Key.LocationName
	}
	if s.Value.LocationName != "" {
		valueName = s.Value.LocationName
	}
	w.open(name, "")
	w.element(keyName, "", key)
	w.item(valueName, s.Value, v)
	w.close(name)
}

// scalar returns a value as text.
func (w *writer) scalar(m *model.Member, v any, location string) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case time.Time:
		format := "iso8601"
		if location == "header" {
			format = "rfc822"
		}
		return formatTime(m, v, format)
	}
	return v.(string)
}

func formatTime(m *model.Member, t time.Time, format string) string {
	if f := m.Shape.TimestampFormat; f != "" {
		format = f
	}
	if f := m.TimestampFormat; f != "" {
		format = f
	}
	switch format {
	case "rfc822":
		return t.Format(http.TimeFormat)
	case "unixTimestamp":
		return strconv.FormatFloat(float64(t.UnixMilli())/1e3, 'f', -1, 64)
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

func (w *writer) json(s *model.Shape, values map[string]any) {
	w.WriteByte('{')
	comma := ""
	if w.unknownMembers && len(values) != 1 { // a single value may be a union, which has no unknown members
		w.WriteString(`"__unknown":{"a":[1,{"b":null}]}`)
		comma = ","
	}
	for i := range s.Members {
		m := &s.Members[i]
		v, ok := values[m.Name]
		if !ok {
			continue
		}
		name := m.Name
		if w.protocol == model.RestJSON {
			name = m.WireName()
		}
		w.WriteString(comma)
		comma = ","
		w.marshal(name)
		w.WriteString(": ")
		w.jsonValue(m, v)
	}
	w.WriteByte('}')
}

func (w *writer) jsonValue(m *model.Member, v any) {
	s := m.Shape
	switch s.Type {
	case model.Structure:
		if s.Document {
			w.marshal(v)
			return
		}
		w.json(s, v.(map[string]any))
	case model.List:
		w.WriteString("[ ")
		for i, e := range v.([]any) {
			if i > 0 {
				w.WriteString(" ,\n")
			}
			w.jsonValue(s.Item, e)
		}
		w.WriteByte(']')
	case model.Map:
		values := v.(map[string]any)
		w.WriteByte('{')
		for i, k := range sortedKeys(values) {
			if i > 0 {
				w.WriteByte(',')
			}
			w.marshal(k)
			w.WriteByte(':')
			w.jsonValue(s.Value, values[k])
		}
		w.WriteByte('}')
	case model.Timestamp:
		text := formatTime(m, v.(time.Time), "unixTimestamp")
		if strings.Contains(text, ":") { // a formatted time, not a number
			w.marshal(text)
		} else {
			w.WriteString(text)
		}
	default:
		w.marshal(v)
	}
}

func (w *writer) marshal(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // all generated values can be marshalled
	}
	w.Write(text)
}

func sortedKeys(values map[string]any) []string {
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
