package server

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vigil/internal/posture/collect/awsapi/model"
)

// A Router finds the operations of requests.
type Router struct {
	targets map[string]*model.Operation      // JSON protocol, by X-Amz-Target
	actions map[[3]string][]*model.Operation // query protocols, by action, version and signing name
	paths   []*model.Operation               // REST protocols
}

// NewRouter returns a router of the given operations.
func NewRouter(operations []*model.Operation) *Router {
	r := &Router{targets: map[string]*model.Operation{}, actions: map[[3]string][]*model.Operation{}}
	for _, op := range operations {
		switch op.Service.Protocol {
		case model.JSON:
			r.targets[op.Service.Target+"."+op.Name] = op
		case model.Query, model.EC2:
			key := [3]string{op.Name, op.Service.Version, op.Service.SigningName}
			if op.Service.Name == op.Service.SigningName { // such as rds, before neptune and docdb, which use its interface
				r.actions[key] = append([]*model.Operation{op}, r.actions[key]...)
			} else {
				r.actions[key] = append(r.actions[key], op)
			}
		default:
			r.paths = append(r.paths, op)
		}
	}
	return r
}

// A Call is an operation with its input.
type Call struct {
	Operation *model.Operation
	Input     map[string]any
}

// Find returns the operations that a request may mean: services that share an interface,
// such as RDS, Neptune and DocumentDB, cannot be told apart. Inputs in JSON protocols are
// complete. Inputs in query protocols lack nested structures, and those in rest-xml the body.
func (r *Router) Find(req *http.Request, body []byte) (calls []Call) {
	if target := req.Header.Get("X-Amz-Target"); target != "" {
		if op := r.targets[target]; op != nil {
			calls = append(calls, Call{op, members(body)})
		}
		return calls
	}
	if strings.HasPrefix(req.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil
		}
		for _, op := range r.actions[[3]string{form.Get("Action"), form.Get("Version"), signingName(req)}] {
			calls = append(calls, Call{op, formInput(op, form)})
		}
		return calls
	}
	return r.findPath(req, body)
}

// signingName returns the name of the service in the signature of a request.
func signingName(req *http.Request) string {
	_, scope, _ := strings.Cut(req.Header.Get("Authorization"), "Credential=")
	scope, _, _ = strings.Cut(scope, ",")
	if parts := strings.Split(scope, "/"); len(parts) == 5 {
		return parts[3]
	}
	return ""
}

func members(body []byte) map[string]any {
	values := map[string]any{}
	_ = json.Unmarshal(body, &values) // a request without a body has no input
	return values
}

// formInput returns the scalars and lists of scalars of a form. A scalar has the key Name. The
// first item of a list has the key Name.1, Name.member.1, Name.Item.1 or Item.1, where Item is the
// name of the items in the model.
func formInput(op *model.Operation, form url.Values) map[string]any {
	input := map[string]any{}
	if op.Input == nil {
		return input
	}
	for i := range op.Input.Members {
		m := &op.Input.Members[i]
		name := m.WireName()
		if op.Service.Protocol == model.EC2 {
			name = strings.ToUpper(name[:1]) + name[1:]
			if m.QueryName != "" {
				name = m.QueryName
			}
		}
		if form.Has(name) {
			input[m.Name] = scalar(m.Shape, form.Get(name))
			continue
		}
		if m.Shape.Type != model.List {
			continue
		}
		prefixes := []string{name + ".", name + ".member."}
		if item := m.Shape.Item; item.LocationName != "" {
			prefixes = append(prefixes, name+"."+item.LocationName+".", item.LocationName+".")
		}
		for _, prefix := range prefixes {
			var list []any
			for n := 1; form.Has(prefix + strconv.Itoa(n)); n++ {
				list = append(list, scalar(m.Shape.Item.Shape, form.Get(prefix+strconv.Itoa(n))))
			}
			if list != nil {
				input[m.Name] = list
			}
		}
	}
	return input
}

// scalar converts a text of a form or an address.
func scalar(s *model.Shape, text string) any {
	switch s.Type {
	case model.Boolean:
		return text == "true"
	case model.Integer, model.Long:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	return text
}

// findPath finds the operation of a REST request. Of the operations of the service in the
// signature whose address matches, it takes the one with the most literal parts.
func (r *Router) findPath(req *http.Request, body []byte) []Call {
	name := signingName(req)
	path := req.URL.EscapedPath()
	if bucket, _, ok := strings.Cut(req.Host, ".s3."); ok { // the bucket is in the host name
		path = "/" + bucket + path
	}
	var best *model.Operation
	var variables map[string]any // of the path
	most := -1
	for _, op := range r.paths {
		if op.Service.SigningName != name || op.Method != req.Method {
			continue
		}
		if vars, literals, ok := match(op.URI, path, req.URL.Query()); ok && literals > most {
			best, variables, most = op, vars, literals
		}
	}
	if best == nil {
		return nil
	}
	values := map[string]any{}
	if best.Input == nil {
		return []Call{{best, values}}
	}
	if len(body) > 0 {
		values = members(body)
	}
	query := req.URL.Query()
	for i := range best.Input.Members {
		m := &best.Input.Members[i]
		switch m.Location {
		case "uri":
			if text, ok := variables[m.WireName()].(string); ok {
				values[m.Name] = scalar(m.Shape, text)
			}
		case "querystring":
			if query.Has(m.WireName()) {
				values[m.Name] = scalar(m.Shape, query.Get(m.WireName()))
			}
		case "header":
			if text := req.Header.Get(m.WireName()); text != "" {
				values[m.Name] = scalar(m.Shape, text)
			}
		}
	}
	return []Call{{best, values}}
}

// match matches an address with a URI template such as "/{Bucket}/{Key+}?acl". It returns
// the variables and the number of literal parts.
func match(uri, path string, query url.Values) (vars map[string]any, literals int, ok bool) {
	uri, wanted, _ := strings.Cut(uri, "?")
	pattern, segments := strings.Split(strings.Trim(uri, "/"), "/"), strings.Split(strings.Trim(path, "/"), "/")
	vars = map[string]any{}
	for i, p := range pattern {
		name, isVariable := strings.CutPrefix(p, "{")
		name = strings.TrimSuffix(name, "}")
		if greedyName, isGreedy := strings.CutSuffix(name, "+"); isGreedy && isVariable && i < len(segments) {
			vars[greedyName] = unescape(strings.Join(segments[i:], "/"))
			segments = segments[:i+1]
			break
		}
		switch {
		case i >= len(segments):
			return nil, 0, false
		case isVariable && segments[i] != "":
			vars[name] = unescape(segments[i])
		case p == segments[i]:
			literals++
		default:
			return nil, 0, false
		}
	}
	if len(pattern) != len(segments) {
		return nil, 0, false
	}
	for pair := range strings.SplitSeq(wanted, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		if !query.Has(name) || value != query.Get(name) {
			return nil, 0, false
		}
		literals++
	}
	return vars, literals, true
}

func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}
