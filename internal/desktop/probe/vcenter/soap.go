package vcenter

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxResponse limits the size of a response. A virtual machine takes about 300
// bytes.
const maxResponse = 64 << 20

// apiVersion is the API version in the header of each request. Servers of other
// versions answer with the properties that they have.
const apiVersion = "urn:vim25/9.1.0.0"

// xsi is the namespace of the attribute that names the type of an element.
const xsi = "http://www.w3.org/2001/XMLSchema-instance"

// soapClient calls the vSphere Web Services API with SOAP. It has the few
// methods that a probe needs: the generated types of the whole API are larger
// than the rest of the program.
type soapClient struct {
	address string
	http    *http.Client
	cookies map[string]string // a login sets the session's cookie
}

// soapFault is a fault that the server returned.
type soapFault struct {
	Type    string // the vSphere type: "InvalidLogin"
	Message string
}

func (f *soapFault) Error() string { return f.Type + ": " + f.Message }

// ref is a reference to a managed object.
type ref struct {
	Type  string `xml:"type,attr"`
	Value string `xml:",chardata"`
}

func (r ref) String() string { return r.Type + ":" + r.Value }

// UnmarshalXML decodes a reference. Struct tags cannot tell its attribute "type"
// from xsi:type, which has the same local name.
func (r *ref) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	r.Type = typeAttribute(start.Attr, "")
	return d.DecodeElement(&r.Value, &start)
}

// typeAttribute returns the value of the attribute "type" in the given namespace.
func typeAttribute(attributes []xml.Attr, space string) string {
	for _, a := range attributes {
		if a.Name.Local == "type" && a.Name.Space == space {
			return a.Value
		}
	}
	return ""
}

type requestEnvelope struct {
	XMLName xml.Name `xml:"http://schemas.xmlsoap.org/soap/envelope/ Envelope"`
	XSI     string   `xml:"xmlns:xsi,attr"`
	Body    struct{ Request any }
}

type responseEnvelope[T any] struct {
	XMLName xml.Name `xml:"http://schemas.xmlsoap.org/soap/envelope/ Envelope"`
	Body    struct {
		Fault *struct {
			String string `xml:"faultstring"`
			Detail struct {
				Fault struct {
					XMLName xml.Name
					Attr    []xml.Attr `xml:",any,attr"`
				} `xml:",any"`
			} `xml:"detail"`
		} `xml:"http://schemas.xmlsoap.org/soap/envelope/ Fault"`
		Response *struct {
			Value *T `xml:"returnval"`
		} `xml:",any"`
	}
}

// call calls a method. The result is nil if the server returned no value.
func call[T any](ctx context.Context, c *soapClient, request any) (*T, error) {
	envelope := requestEnvelope{XSI: xsi}
	envelope.Body.Request = request
	body, err := xml.Marshal(envelope)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, io.MultiReader(strings.NewReader(xml.Header), bytes.NewReader(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", `text/xml; charset="utf-8"`)
	req.Header.Set("SOAPAction", apiVersion)
	for name, value := range c.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	// A fault has the status 500.
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusInternalServerError {
		return nil, errors.New(resp.Status)
	}
	for _, cookie := range resp.Cookies() {
		c.cookies[cookie.Name] = cookie.Value
	}
	limited := &io.LimitedReader{R: resp.Body, N: maxResponse}
	var answer responseEnvelope[T]
	if err := xml.NewDecoder(limited).Decode(&answer); err != nil {
		if limited.N <= 0 {
			return nil, fmt.Errorf("the response has more than %d bytes", maxResponse)
		}
		return nil, err
	}
	_, _ = io.Copy(io.Discard, limited) // the connection is reused only after the end of the body
	if f := answer.Body.Fault; f != nil {
		kind := typeAttribute(f.Detail.Fault.Attr, xsi)
		if kind == "" {
			kind = strings.TrimSuffix(f.Detail.Fault.XMLName.Local, "Fault")
		}
		return nil, &soapFault{Type: unprefixed(kind), Message: f.String}
	}
	if answer.Body.Response == nil {
		return nil, errors.New("the response has no result")
	}
	return answer.Body.Response.Value, nil
}

// unprefixed returns the local part of a qualified name: "NoPermission" of
// "vim25:NoPermission".
func unprefixed(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// need is like call for a method that always returns a value.
func need[T any](ctx context.Context, c *soapClient, request any) (T, error) {
	value, err := call[T](ctx, c, request)
	if err == nil && value == nil {
		err = errors.New("the response has no value")
	}
	if err != nil {
		return *new(T), err
	}
	return *value, nil
}

// close closes idle connections.
func (c *soapClient) close() { c.http.CloseIdleConnections() }
