package aws

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// A protocol is one of the wire protocols of AWS.
type protocol int

const (
	queryXML protocol = iota // form in, XML out
	ec2XML                   // like queryXML, in EC2's variant
	restXML                  // paths in, XML out
	restJSON                 // paths in, JSON out
	json10                   // JSON both ways
	json11
	cbor // CBOR both ways
)

// A call is one parsed request.
type call struct {
	protocol protocol
	service  string // as in signatures, but with s3-control separate
	action   string
	region   string
	account  string
	role     string
	key      string // the access key it is signed with
	token    string // of the session
	form     url.Values
	body     world.Object
	vars     map[string]string // from the path
	request  *http.Request

	unsimulated bool // a call to a service that is not simulated, but has the signing name of a simulated one
}

// operation executes a call.
type operation func(x *call) (answer, error)

// An answer is the result of a call.
type answer struct {
	world.Object
	root string // the outermost element, for restXML
	raw  string // sent instead of the object, if not empty
}

// A failure is an error response of the cloud.
type failure struct {
	status  int
	code    string
	message string
}

func (f *failure) Error() string { return f.code + ": " + f.message }

// parse finds the service, action and parameters of a request. It does not check the
// credentials.
func (c *Cloud) parse(r *http.Request) (*call, error) {
	x := &call{request: r, vars: map[string]string{}, form: r.URL.Query(), token: r.Header.Get("X-Amz-Security-Token")}
	x.key, x.region, x.service = signature(r.Header.Get("Authorization"))
	host, _, _ := strings.Cut(r.Host, ":")
	if strings.Contains(host, ".s3-control.") {
		x.service = "s3-control"
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return x, &failure{http.StatusBadRequest, "RequestTimeout", err.Error()}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch target := r.Header.Get("X-Amz-Target"); {
	case x.key == "":
		return x, &failure{http.StatusForbidden, "MissingAuthenticationToken", "Request is missing Authentication Token"}
	case target != "":
		x.protocol = json11
		if strings.HasSuffix(r.Header.Get("Content-Type"), "1.0") {
			x.protocol = json10
		}
		x.action = target[strings.LastIndex(target, ".")+1:]
		if err := json.Unmarshal(body, &x.body); err != nil && len(body) > 0 {
			return x, &failure{http.StatusBadRequest, "SerializationException", err.Error()}
		}
	case r.Header.Get("Smithy-Protocol") == "rpc-v2-cbor":
		x.protocol = cbor
		x.action = r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		x.body = readCBOR(body)
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		x.protocol = queryXML
		if x.service == "ec2" {
			x.protocol = ec2XML
		}
		if x.form, err = url.ParseQuery(string(body)); err != nil {
			return x, &failure{http.StatusBadRequest, "MalformedQueryString", err.Error()}
		}
		x.action = x.form.Get("Action")
		isClassicBalancer := x.service == "elasticloadbalancing" && x.form.Get("Version") == "2012-06-01"
		engine := x.form.Get("Filters.Filter.1.Values.Value.1")
		isNeptuneOrDocDB := x.service == "rds" && (engine == "neptune" || engine == "docdb")
		x.unsimulated = isClassicBalancer || isNeptuneOrDocDB
	default:
		x.protocol = restJSON
		if restServices[x.service] {
			x.protocol = restXML
		}
		_ = json.Unmarshal(body, &x.body) // most requests have no body
		if !x.route(r, host) {
			if name, ok := unsimulatedOperation(x.service, r); ok && x.service != "s3" {
				x.action = name
				return x, nil
			}
			if c.options.Unsimulated != nil && r.Method == http.MethodGet && x.service != "s3" {
				x.action = "Get" + r.URL.Path // so that isRead reports true
				return x, nil
			}
			return x, &failure{http.StatusNotFound, "UnknownOperationException", r.Method + " " + r.URL.Path}
		}
	}
	return x, nil
}

// signature returns key, region and service from a signature's scope.
func signature(header string) (key, region, service string) {
	_, scope, ok := strings.Cut(header, "Credential=")
	scope, _, _ = strings.Cut(scope, ",")
	parts := strings.Split(scope, "/")
	if !ok || len(parts) != 5 {
		return "", "", ""
	}
	return parts[0], parts[2], parts[3]
}

// text returns a parameter, or "".
func (c *call) text(name string) string {
	if v, ok := c.vars[name]; ok {
		return v
	}
	if v := c.body.Get(name); v != nil {
		return scalar(v)
	}
	return c.form.Get(name)
}

// number returns a numeric parameter, or fallback if it is absent or not a number.
func (c *call) number(name string, fallback int) int {
	n, err := strconv.Atoi(c.text(name))
	if err != nil {
		return fallback
	}
	return n
}

// texts returns a list parameter: Name.1 or Name.member.1 in forms.
func (c *call) texts(name string) []string {
	var all []string
	for _, v := range c.body.List(name) {
		all = append(all, scalar(v))
	}
	for _, prefix := range []string{name + ".", name + ".member."} {
		for i := 1; c.form.Has(prefix + strconv.Itoa(i)); i++ {
			all = append(all, c.form.Get(prefix+strconv.Itoa(i)))
		}
	}
	return all
}

func (c *call) place() world.Place { return world.Place{Account: c.account, Region: c.region} }

// global returns the place of global resources, which have no region.
func (c *call) global() world.Place { return world.Place{Account: c.account} }

// write sends the response.
func (c *call) write(w http.ResponseWriter, a answer) {
	var b bytes.Buffer
	w.Header().Set("X-Amzn-Requestid", requestID)
	switch c.protocol {
	case ec2XML:
		w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
		b.WriteString("<" + c.action + `Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>` + requestID + "</requestId>")
		writeXML(&b, a.Object, "item")
		b.WriteString("</" + c.action + "Response>")
	case queryXML:
		w.Header().Set("Content-Type", "text/xml")
		b.WriteString("<" + c.action + "Response><" + c.action + "Result>")
		writeXML(&b, a.Object, "member")
		b.WriteString("</" + c.action + "Result><ResponseMetadata><RequestId>" + requestID + "</RequestId></ResponseMetadata></" + c.action + "Response>")
	case restXML:
		w.Header().Set("Content-Type", "application/xml")
		if a.root != "" {
			writeElement(&b, a.root, a.Object, "member")
		}
	case cbor:
		w.Header().Set("Content-Type", "application/cbor")
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		writeCBOR(&b, a.Object)
	default:
		contentTypes := map[protocol]string{restJSON: "application/json", json10: "application/x-amz-json-1.0", json11: "application/x-amz-json-1.1"}
		w.Header().Set("Content-Type", contentTypes[c.protocol])
		if a.Object == nil {
			a.Object = world.Object{}
		}
		writeJSON(&b, a.Object)
	}
	if a.raw != "" {
		b.Reset()
		b.WriteString(a.raw)
	}
	_, _ = w.Write(b.Bytes())
}

const requestID = "00000000-0000-4000-8000-000000000000"

// refuse sends an error response.
func (c *call) refuse(w http.ResponseWriter, err error) {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{http.StatusInternalServerError, "InternalFailure", err.Error()}
	}
	details := world.Obj("Code", f.code, "Message", f.message)
	var b bytes.Buffer
	switch c.protocol {
	case ec2XML:
		writeElement(&b, "Response", world.Obj("Errors", world.Obj("Error", details), "RequestID", requestID), "item")
	case queryXML:
		writeElement(&b, "ErrorResponse", world.Obj("Error", append(world.Obj("Type", "Sender"), details...), "RequestId", requestID), "member")
	case restXML:
		if c.service == "s3" {
			writeElement(&b, "Error", append(details, world.Obj("RequestId", requestID)...), "member")
		} else {
			writeElement(&b, "ErrorResponse", world.Obj("Error", append(world.Obj("Type", "Sender"), details...), "RequestId", requestID), "member")
		}
	case cbor:
		w.Header().Set("Content-Type", "application/cbor")
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		writeCBOR(&b, world.Obj("__type", "com.amazonaws#"+f.code, "message", f.message))
	default:
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.Header().Set("X-Amzn-Errortype", f.code)
		writeJSON(&b, world.Obj("__type", f.code, "message", f.message, "Message", f.message))
	}
	w.WriteHeader(f.status)
	_, _ = w.Write(b.Bytes())
}

// denied returns the service's error for a missing permission.
func (c *call) denied() *failure {
	message := fmt.Sprintf("User: arn:aws:sts::%s:assumed-role/%s/session is not authorized to perform: %s:%s because no identity-based policy allows it",
		c.account, c.role, c.service, c.action)
	switch {
	case c.service == "ec2":
		return &failure{http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation. " + message}
	case c.service == "sns":
		return &failure{http.StatusForbidden, "AuthorizationError", message}
	case c.protocol == queryXML, c.protocol == restXML:
		return &failure{http.StatusForbidden, "AccessDenied", message}
	case c.protocol == restJSON:
		return &failure{http.StatusForbidden, "AccessDeniedException", message}
	}
	return &failure{http.StatusBadRequest, "AccessDeniedException", message}
}

// fault returns the service's error for an injected fault.
func (c *call) fault(w http.ResponseWriter, f gateway.Fault) *failure {
	switch f.Kind {
	case gateway.Deny:
		return c.denied()
	case gateway.Expire:
		if c.protocol == queryXML || c.protocol == restXML {
			return &failure{http.StatusForbidden, "ExpiredToken", "The security token included in the request is expired"}
		}
		if c.protocol == ec2XML {
			return &failure{http.StatusBadRequest, "RequestExpired", "Request has expired."}
		}
		return &failure{http.StatusBadRequest, "ExpiredTokenException", "The security token included in the request is expired"}
	case gateway.Off:
		return &failure{http.StatusForbidden, "OptInRequired", "You are not subscribed to this service. Please go to http://aws.amazon.com to subscribe."}
	case gateway.Throttle:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(time.Duration(f.RetryAfter).Seconds())))
		}
		return c.throttled()
	}
	return &failure{http.StatusInternalServerError, "InternalFailure", "An internal error has occurred"}
}

func (c *call) throttled() *failure {
	switch {
	case c.protocol == ec2XML:
		return &failure{http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded."}
	case c.service == "s3":
		return &failure{http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate."}
	case c.protocol == queryXML, c.protocol == restXML:
		return &failure{http.StatusBadRequest, "Throttling", "Rate exceeded"}
	case c.protocol == restJSON:
		return &failure{http.StatusTooManyRequests, "TooManyRequestsException", "Rate exceeded"}
	}
	return &failure{http.StatusBadRequest, "ThrottlingException", "Rate exceeded"}
}
