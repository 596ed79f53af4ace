package directory

import (
	"errors"
	"fmt"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"
)

const startTLS = "1.3.6.1.4.1.1466.20037"

var errMalformed = errors.New("malformed LDAP message")

// message is one parsed request.
type message struct {
	id int64
	op *ber.Packet
}

type bindRequest struct {
	name, password string
	simple         bool
}

type searchRequest struct {
	base       string
	scope      int64
	size       int64
	filter     *ber.Packet
	attributes []string
}

func parseMessage(p *ber.Packet) (message, error) {
	if p == nil || len(p.Children) < 2 {
		return message{}, errMalformed
	}
	id, ok := p.Children[0].Value.(int64)
	if !ok {
		return message{}, fmt.Errorf("%w: no message id", errMalformed)
	}
	return message{id: id, op: p.Children[1]}, nil
}

func parseBind(op *ber.Packet) (bindRequest, error) {
	if len(op.Children) < 3 {
		return bindRequest{}, fmt.Errorf("%w: short bind", errMalformed)
	}
	auth := op.Children[2]
	return bindRequest{
		name:     octets(op.Children[1]),
		password: octets(auth),
		simple:   auth.ClassType == ber.ClassContext && auth.Tag == 0,
	}, nil
}

func parseSearch(op *ber.Packet) (searchRequest, error) {
	if len(op.Children) < 8 {
		return searchRequest{}, fmt.Errorf("%w: short search", errMalformed)
	}
	c := op.Children // base, scope, aliases, size limit, time limit, types only, filter, attributes
	scope, okScope := c[1].Value.(int64)
	size, okSize := c[3].Value.(int64)
	if !okScope || !okSize {
		return searchRequest{}, fmt.Errorf("%w: scope or size is not a number", errMalformed)
	}
	r := searchRequest{base: octets(c[0]), scope: scope, size: size, filter: c[6]}
	for _, a := range c[7].Children {
		r.attributes = append(r.attributes, octets(a))
	}
	return r, nil
}

// result is the result of an operation, as LDAP defines it. The simulation leaves
// the matched name empty.
type result struct {
	code       int64
	matched    string
	diagnostic string
}

func envelope(id int64, op *ber.Packet) *ber.Packet {
	p := ber.NewSequence("LDAP message")
	p.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger, id, "message id"))
	p.AppendChild(op)
	return p
}

func (r result) packet(id int64, tag ber.Tag) *ber.Packet {
	op := ber.Encode(ber.ClassApplication, ber.TypeConstructed, tag, nil, "result")
	op.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagEnumerated, r.code, "code"))
	op.AppendChild(text(r.matched))
	op.AppendChild(text(r.diagnostic))
	return envelope(id, op)
}

// packet encodes an entry with the requested attributes.
func (e *entry) packet(id int64, attributes []string) *ber.Packet {
	op := ber.Encode(ber.ClassApplication, ber.TypeConstructed, ldap.ApplicationSearchResultEntry, nil, "entry")
	op.AppendChild(text(e.dn))
	list := ber.NewSequence("attributes")
	for _, a := range e.selectAttributes(attributes) {
		values := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSet, nil, "values")
		for _, v := range a.values {
			values.AppendChild(text(v))
		}
		attribute := ber.NewSequence("attribute")
		attribute.AppendChild(text(a.name))
		attribute.AppendChild(values)
		list.AppendChild(attribute)
	}
	op.AppendChild(list)
	return envelope(id, op)
}

func referral(id int64, url string) *ber.Packet {
	op := ber.Encode(ber.ClassApplication, ber.TypeConstructed, ldap.ApplicationSearchResultReference, nil, "referral")
	op.AppendChild(text(url))
	return envelope(id, op)
}

func text(s string) *ber.Packet {
	return ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, s, "")
}

// octets returns the content of a primitive value with any tag.
func octets(p *ber.Packet) string {
	if p.Data == nil {
		return ""
	}
	return p.Data.String()
}
