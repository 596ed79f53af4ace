package canned

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"vigil/internal/posture"
)

// rest finds the calls of Azure and Google Cloud, whose names are templates of addresses.
type rest struct {
	provider posture.Provider
	routes   []route
	seen     map[[2]string]bool
}

// A route is the template of the addresses of a call.
type route struct {
	call     string
	pattern  *regexp.Regexp
	literals int // number of characters that are not part of a variable
}

func newREST(p posture.Provider) *rest { return &rest{provider: p, seen: map[[2]string]bool{}} }

// add adds a call. Its addresses have the form of the template.
func (c *rest) add(call, template string) {
	key := [2]string{call, template}
	if template == "" || template == "$name" || c.seen[key] { // $name is a whole address: it would match all
		return
	}
	c.seen[key] = true
	if template == "${id}" { // a resource itself, whose call is named TYPE/.
		template = singleResource(strings.TrimSuffix(call, "/."))
	}
	pattern, literals := patternOf(template)
	c.routes = append(c.routes, route{call, pattern, literals})
}

// singleResource returns the template of the addresses of single resources of a type.
func singleResource(kind string) string {
	namespace, types, _ := strings.Cut(kind, "/")
	template := "${scope}/providers/" + namespace
	for name := range strings.SplitSeq(types, "/") {
		template += "/" + name + "/$name"
	}
	return template
}

// variables matches the parts of a template that are filled in.
var variables = regexp.MustCompile(`\$\{[^}]*\}|\$[a-z0-9]+`)

// patternOf returns the pattern of the addresses of a template.
func patternOf(template string) (*regexp.Regexp, int) {
	pattern, literals, end := "(?i)^", 0, 0
	for _, at := range variables.FindAllStringIndex(template, -1) {
		pattern += regexp.QuoteMeta(template[end:at[0]])
		literals += at[0] - end
		switch template[at[0]:at[1]] {
		case "$subscription", "$project", "$account", "$tenant":
			pattern += "[^/]+"
		default:
			pattern += ".+"
		}
		end = at[1]
	}
	return regexp.MustCompile(pattern + regexp.QuoteMeta(template[end:]) + "$"), literals + len(template) - end
}

// find returns the calls whose templates match a request.
func (c *rest) find(r *http.Request, body []byte) []request {
	address, kind := c.address(r), ""
	if c.provider == posture.Azure {
		kind = resourceType(address)
	}
	var found []route
	for _, candidate := range c.routes {
		if !candidate.pattern.MatchString(address) {
			continue
		}
		if kind != "" && strings.EqualFold(candidate.call, kind) {
			candidate.literals += len(address) // so that this call comes first: types with different parents may have the same template
		}
		found = append(found, candidate)
	}
	input := body
	if r.Method == http.MethodGet {
		values := map[string]string{}
		for name := range r.URL.Query() {
			values[name] = r.URL.Query().Get(name)
		}
		input, _ = json.Marshal(values) // strings always marshal
	}
	if len(found) == 0 && !isSignIn(r) {
		found = append(found, route{}) // a call without a name: Unanswered decides
	}
	var all []request
	for _, f := range found {
		all = append(all, request{
			call: f.call, literals: f.literals, address: address, input: input, refuse: c.refuse,
			write: func(w http.ResponseWriter, answer json.RawMessage) { writeJSON(w, http.StatusOK, answer) },
		})
	}
	return all
}

// isSignIn reports whether a request gets a token.
func isSignIn(r *http.Request) bool {
	host, _, _ := strings.Cut(r.Host, ".")
	return host == "login" || host == "oauth2"
}

// address returns the address of a request as declarations write it.
func (c *rest) address(r *http.Request) string {
	host, _, _ := strings.Cut(strings.ToLower(r.Host), ".")
	switch {
	case c.provider == posture.GCP:
		// The collector escapes only these characters in what declarations write.
		address := strings.NewReplacer("%3F", "?", "%23", "#", "%20", " ").Replace(r.URL.EscapedPath())
		if !strings.HasPrefix(address, "/"+host+"/") { // the paths of some services begin with the service anyway: /compute/v1/
			address = "/" + host + address
		}
		if r.Method == http.MethodPost {
			return "POST " + address[1:]
		}
		return address[1:]
	case host == "graph":
		return "graph:" + r.URL.Path
	}
	return r.URL.Path
}

// resourceType returns the type of the resources at a path of Resource Manager:
// Microsoft.Sql/servers/firewallRules.
func resourceType(path string) string {
	i := strings.LastIndex(strings.ToLower(path), "/providers/")
	if i < 0 {
		return ""
	}
	parts := strings.Split(path[i+len("/providers/"):], "/")
	kind := parts[0]
	for n := 1; n < len(parts); n += 2 { // types and names alternate
		kind += "/" + parts[n]
	}
	return kind
}

// refuse sends an error response.
func (c *rest) refuse(w http.ResponseWriter, f failure) {
	if c.provider == posture.Azure {
		if f.code == notEnabled {
			f.status, f.code = http.StatusConflict, "MissingSubscriptionRegistration"
		}
		writeJSON(w, f.status, map[string]any{"error": map[string]any{"code": f.code, "message": f.message}})
		return
	}
	details := []any{}
	if f.code == notEnabled {
		details = append(details, map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "SERVICE_DISABLED"})
	}
	writeJSON(w, f.status, map[string]any{"error": map[string]any{
		"code": f.status, "message": f.message, "errors": []any{map[string]any{"reason": f.code}}, "details": details,
	}})
}
