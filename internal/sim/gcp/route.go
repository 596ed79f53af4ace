package gcp

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vigil/internal/sim/world"
)

// A route is one method of an API.
type route struct {
	id         string // in the discovery document: compute.instances.aggregatedList
	method     string
	path       string // with {names}; the last may be followed by a verb
	permission string // that it requires
	answer     func(x *call) (world.Object, *failure)
}

// A call is one parsed request.
type call struct {
	*Cloud
	service string // compute, sqladmin: the first label of the host
	route   *route
	args    map[string]string
	query   url.Values
	body    world.Object
	account *account
	project Project
}

// action returns the method's name without its service.
func (c *call) action() string { return strings.TrimPrefix(c.route.id, c.route.service()+".") }

func (r *route) service() string {
	name, _, _ := strings.Cut(r.id, ".")
	return name
}

// serviceOf returns the first label of the host: compute of compute.googleapis.com.
func serviceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	name, _, _ := strings.Cut(strings.ToLower(host), ".")
	return name
}

// parse parses a request: its method, sender and project.
func (c *Cloud) parse(r *http.Request) (*call, *failure) {
	x := &call{Cloud: c, service: serviceOf(r), query: r.URL.Query(), args: map[string]string{}}
	x.route = x.match(r.Method, r.URL.EscapedPath())
	x.account = c.bearer(r)
	if x.account == nil {
		return x, unauthenticated
	}
	if x.route == nil {
		x.route = unsimulated(x.service, r)
		x.project, _ = c.projectIn(r)
		return x, nil
	}
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&x.body); err != nil && err != io.EOF { // a body may be missing
			return x, &failure{status: http.StatusBadRequest, reason: "parseError", message: "Parse Error"}
		}
	}
	name := x.args["project"]
	switch {
	case x.service == "storage" && x.args["bucket"] != "":
		name = c.ownerOf(x.args["bucket"])
	case x.service == "storage":
		name = x.query.Get("project")
	}
	for _, p := range c.order {
		if p.ID == name || p.Number == name {
			x.project = p
			return x, nil
		}
	}
	if name == "" && x.service != "storage" && !strings.Contains(x.route.path, "{project}") {
		x.project = x.account.project
		return x, nil
	}
	if x.service == "storage" && x.args["bucket"] != "" {
		return x, &failure{status: http.StatusNotFound, reason: "notFound", message: "The specified bucket does not exist."}
	}
	return x, x.denied()
}

// unsimulated returns the route of a call that the cloud does not simulate. Its permission is
// unknown: only accounts with all permissions have it.
func unsimulated(service string, r *http.Request) *route {
	return &route{
		id: routesOf(service) + ".unsimulated", method: r.Method, path: r.URL.Path, permission: service + ".unsimulated",
		answer: func(*call) (world.Object, *failure) {
			return nil, &failure{status: http.StatusNotFound, reason: "notFound", state: "NOT_FOUND", message: "The simulated " + service + " has no " + r.Method + " " + r.URL.Path}
		},
	}
}

// match finds the route of a path and sets its parameters.
func (c *call) match(method, path string) *route {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i := range routes {
		if r := &routes[i]; r.method == method && r.service() == routesOf(c.service) && c.matches(strings.Split(strings.Trim(r.path, "/"), "/"), segments) {
			return r
		}
	}
	return nil
}

// routesOf returns the first part of the route ids of a service: sql for sqladmin.
func routesOf(service string) string {
	if service == "sqladmin" {
		return "sql"
	}
	return service
}

// matches reports whether the segments of a path match a pattern. If they do, it sets the
// parameters of the call.
func (c *call) matches(pattern, segments []string) bool {
	if len(pattern) != len(segments) {
		return false
	}
	args := map[string]string{}
	for i, p := range pattern {
		name, verb, _ := strings.Cut(p, "}")
		if !strings.HasPrefix(name, "{") {
			if p != segments[i] {
				return false
			}
			continue
		}
		value, ok := strings.CutSuffix(segments[i], verb)
		// A path that ends in a verb, such as :getIamPolicy, belongs to the route of that verb.
		if !ok || verb == "" && i == len(pattern)-1 && strings.Contains(value, ":get") {
			return false
		}
		value, err := url.PathUnescape(value)
		if err != nil {
			return false
		}
		args[name[1:]] = value
	}
	c.args = args
	return true
}

// answer executes a call.
func (c *call) answer(w http.ResponseWriter, r *http.Request) {
	if !c.account.has(c.route.permission) {
		c.refuse(w, c.denied())
		return
	}
	out, failed := c.route.answer(c)
	if failed != nil && failed.status == http.StatusNotFound && c.answerUnsimulated(w, r) {
		return
	}
	if failed != nil {
		c.refuse(w, failed)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

// size returns the maximum number of resources of the requested page.
func (c *call) size() int {
	n := 100
	for _, name := range []string{"maxResults", "pageSize"} {
		if v, err := strconv.Atoi(c.query.Get(name)); err == nil && v > 0 {
			n = min(v, 1000)
		}
	}
	if c.options.Page > 0 {
		n = min(n, c.options.Page)
	}
	return n
}

// from returns the start of the requested page.
func (c *call) from() (int, *failure) {
	token := c.query.Get("pageToken")
	if token == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	text, ok := strings.CutPrefix(string(raw), c.route.id+"@")
	n, numberErr := strconv.Atoi(text)
	if err != nil || !ok || numberErr != nil {
		return 0, &failure{status: http.StatusBadRequest, reason: "invalid", message: "Invalid value for field 'pageToken': '" + token + "'."}
	}
	return n, nil
}

// next returns the token of the page that starts at a number; nil after the
// last.
func (c *call) next(n int) any {
	if n < 0 {
		return nil
	}
	return base64.RawURLEncoding.EncodeToString([]byte(c.route.id + "@" + strconv.Itoa(n)))
}
