package wire

import (
	"bytes"
	"encoding/binary"
	"testing"

	"vigil/internal/posture/collect/awsapi/awsapitest"
	"vigil/internal/posture/collect/awsapi/model"
)

// allShapes is an operation whose output has members of every type in every form.
func allShapes(protocol string) *model.Operation {
	scalar := func(t model.Type) *model.Shape { return &model.Shape{Name: string(t), Type: t} }
	text, flag, integer, long := scalar(model.String), scalar(model.Boolean), scalar(model.Integer), scalar(model.Long)
	single, double, blob, when := scalar(model.Float), scalar(model.Double), scalar(model.Blob), scalar(model.Timestamp)
	list := func(name string, elem *model.Shape) *model.Shape {
		return &model.Shape{Name: name, Type: model.List, Item: &model.Member{Shape: elem}}
	}
	dict := func(name string, elem *model.Shape) *model.Shape {
		return &model.Shape{Name: name, Type: model.Map, Key: &model.Member{Shape: text}, Value: &model.Member{Shape: elem}}
	}
	union := &model.Shape{Name: "Choice", Type: model.Structure, Union: true}
	inner := &model.Shape{Name: "Inner", Type: model.Structure}
	texts, inners, dates := list("Texts", text), list("Inners", inner), list("Dates", when)
	flat := list("FlatTexts", text)
	flat.Flattened = true
	namedMap := dict("Named", inner)
	namedMap.Key.LocationName, namedMap.Value.LocationName = "Name", "Item"
	union.Members = []model.Member{{Name: "text", Shape: text}, {Name: "inner", Shape: inner}, {Name: "texts", Shape: texts}}
	inner.Members = []model.Member{
		{Name: "id", Shape: text}, {Name: "flag", Shape: flag}, {Name: "self", Shape: inner}, {Name: "texts", Shape: texts}, {Name: "count", Shape: integer},
		{Name: "map", Shape: dict("Whole", integer)}, {Name: "choice", Shape: union, LocationName: "Choose"},
	}
	if protocol == model.RestXML {
		inner.Members = append(inner.Members, model.Member{Name: "kind", Shape: text, LocationName: "xsi:type", Attribute: true})
	}
	out := &model.Shape{Name: "EverythingOutput", Type: model.Structure, Members: []model.Member{
		{Name: "Text", Shape: text}, {Name: "Flag", Shape: flag}, {Name: "Whole", Shape: integer}, {Name: "Long", Shape: long}, {Name: "Single", Shape: single},
		{Name: "Double", Shape: double}, {Name: "Blob", Shape: blob}, {Name: "When", Shape: when}, {Name: "Epoch", Shape: when, TimestampFormat: "unixTimestamp"},
		{Name: "Iso", Shape: when, TimestampFormat: "iso8601"}, {Name: "Http", Shape: when, TimestampFormat: "rfc822"}, {Name: "Inner", Shape: inner, LocationName: "In"},
		{Name: "Texts", Shape: texts}, {Name: "Inners", Shape: inners}, {Name: "Dates", Shape: dates}, {Name: "Lists", Shape: list("Lists", texts)}, {Name: "Map", Shape: dict("Map", text)},
		{Name: "Named", Shape: namedMap}, {Name: "Maps", Shape: dict("Maps", dict("Inmost", long))}, {Name: "Choice", Shape: union}, {Name: "FlatTexts", Shape: flat, LocationName: "Flat"},
		{Name: "FlatInners", Shape: inners, Flattened: true}, {Name: "FlatMap", Shape: dict("FlatMap", text), Flattened: true},
	}}
	if protocol == model.RestJSON || protocol == model.JSON {
		out.Members = append(out.Members, model.Member{Name: "Doc", Shape: &model.Shape{Name: "Doc", Type: model.Structure, Document: true}})
	}
	s := &model.Service{Name: "everything", ID: "Everything", Version: "1", Protocol: protocol, JSONVersion: "1.1", Target: "Everything"}
	return &model.Operation{Name: "Everything", Service: s, Method: "POST", URI: "/", Output: out}
}

// A pair is our decoder and the reference decoder of the operation of allShapes.
type pair struct {
	decoder   *Decoder
	reference *reference
}

func newPair(tb testing.TB, protocol string) pair {
	op := allShapes(protocol)
	d, err := newDecoder(op)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := newReference(op)
	if err != nil {
		tb.Fatal(err)
	}
	return pair{d, r}
}

// seeds are initial responses for fuzzing.
func seeds(op *model.Operation) [][]byte {
	all := [][]byte{nil, []byte("{}"), []byte("<a/>"), []byte(`{"Epoch":"NaN","Single":"-Infinity","Double":1e400,"Text":"\ud83d\ude00\u0000"}`)}
	for seed := range uint64(40) {
		maker := awsapitest.New(seed)
		maker.Full = seed%4 == 0
		_, body := awsapitest.Answer(op, maker.Output(op))
		all = append(all, body)
	}
	return append(all, []byte(`<?xml version="1.0" encoding="UTF-8"?><!-- c --><r xmlns:xsi="x"><Text>a<![CDATA[<b>]]>&#x41;</Text><In xsi:type="t"><id/></In><Flat>1</Flat><Text>b</Text><Flat>2</Flat><FlatMap><key>k</key><value>v</value></FlatMap></r>`),
		[]byte(`<!DOCTYPE x [<!ENTITY a "b">]><r><Text>&a;</Text></r>`))
}

func fuzzRaw(f *testing.F, protocol string) {
	p := newPair(f, protocol)
	for _, body := range seeds(p.decoder.op) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if difference := compare(p.decoder, p.reference, body); difference != "" {
			t.Errorf("%s\n%q", difference, body)
		}
	})
}

// FuzzXML passes arbitrary bytes to both decoders.
func FuzzXML(f *testing.F) { fuzzRaw(f, model.RestXML) }

// FuzzQuery is FuzzXML for the query protocol, which wraps the result.
func FuzzQuery(f *testing.F) { fuzzRaw(f, model.Query) }

// FuzzJSON is FuzzXML for REST-JSON, in which members can have other names in the body than in the
// model.
func FuzzJSON(f *testing.F) { fuzzRaw(f, model.RestJSON) }

// FuzzDamaged generates responses with a few wrong bytes, which reach deeper code than
// arbitrary bytes. It tries each input in every protocol.
func FuzzDamaged(f *testing.F) {
	var pairs []pair
	for _, protocol := range protocols {
		pairs = append(pairs, newPair(f, protocol))
	}
	for seed := range uint64(20) {
		f.Add(seed, []byte{})
		f.Add(seed, []byte{1, 2, byte(seed), 4, 5, 6, byte(7 * seed), 8})
	}
	f.Fuzz(func(t *testing.T, seed uint64, damage []byte) {
		for _, p := range pairs {
			_, body := awsapitest.Answer(p.decoder.op, awsapitest.New(seed).Output(p.decoder.op))
			body = applyDamage(body, damage)
			if difference := compare(p.decoder, p.reference, body); difference != "" {
				t.Errorf("%s: %s\n%q", p.decoder.op.Service.Protocol, difference, body)
			}
		}
	})
}

// damageSize is the number of bytes that describe one change of a body: two select the position, one
// the kind of change, and the last is the new byte or selects a second position.
const damageSize = 4

// applyDamage changes a body once per damageSize bytes of damage.
func applyDamage(body, damage []byte) []byte {
	for len(damage) >= damageSize && len(body) > 0 {
		offset := int(binary.BigEndian.Uint16(damage)) % len(body)
		what, c := damage[2], damage[3]
		damage = damage[damageSize:]
		other := int(c) % len(body)
		switch what % 6 {
		case 0:
			body[offset] = c
		case 1: // remove a byte
			body = append(body[:offset], body[offset+1:]...)
		case 2: // insert a byte
			body = append(body[:offset], append([]byte{c}, body[offset:]...)...)
		case 3: // duplicate a range
			from, to := min(offset, other), max(offset, other)
			body = append(body[:to], append(bytes.Clone(body[from:to]), body[to:]...)...)
		case 4: // truncate
			body = body[:offset]
		case 5: // swap two bytes
			body[offset], body[other] = body[other], body[offset]
		}
	}
	return body
}
