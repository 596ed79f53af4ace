package azure

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// A target is the object of a call to Resource Manager.
type target struct {
	sub    Subscription
	in     address      // the listed kind and place, or those of the resource
	name   string       // of the resource; "" for the list
	object world.Object // the resource
	rest   string       // sub-resource that is requested, or what is below a resource that does not exist
	action string       // "storageAccounts/blobServices/containers/read"
	space  string       // "Microsoft.Storage"
}

// A refusal is an error response.
type refusal struct {
	status        int
	code, message string
}

var versions = regexp.MustCompile(`^20[0-9]{2}-[0-9]{2}-[0-9]{2}(-preview)?$`)

// manager serves Resource Manager.
func (c *Cloud) manager(w http.ResponseWriter, r *http.Request, government bool) {
	claims, refused := c.caller(r, government)
	if refused != nil {
		refused.write(w)
		return
	}
	t, refused := c.find(r.URL.Path, government)
	if t.action == "" && refused != nil { // not a path of Resource Manager
		refused.write(w)
		return
	}
	c.faults.Serve(w, r, gateway.Exchange{
		Call:   gateway.Call{Cloud: "azure", Account: t.sub.ID, Service: t.space, Action: t.action},
		Refuse: func(w http.ResponseWriter, f gateway.Fault) { t.refuse(w, f, claims) },
		Answer: func(w http.ResponseWriter) {
			role, _, _ := c.roleOf(claims.Application, government)
			switch {
			case r.Method != http.MethodGet:
				refusal{http.StatusMethodNotAllowed, "HttpMethodNotAllowed", "The simulation is read only."}.write(w)
			case !versions.MatchString(r.URL.Query().Get("api-version")):
				refusal{http.StatusBadRequest, "MissingApiVersionParameter", "The api-version query parameter (?api-version=) is required for all requests."}.write(w)
			case role == "denied" && t.sub.ID != "", role == registeredRole && !c.isAllowed(claims.Application, t):
				t.refuse(w, gateway.Fault{Kind: gateway.Deny}, claims)
			case refused != nil:
				if t.sub.ID == "" || !c.answerUnsimulated(w, r, t.sub.ID) {
					refused.write(w)
				}
			default:
				c.answer(w, r, t, func(s Subscription) bool {
					return s.Government == government && role != "denied" && (role != registeredRole || c.hasRole(claims.Application, s.ID))
				})
			}
		},
	})
}

// caller returns the sender of a call.
func (c *Cloud) caller(r *http.Request, government bool) (claims, *refusal) {
	claims, ok := c.bearer(r)
	switch {
	case !ok:
		return claims, &refusal{http.StatusUnauthorized, "InvalidAuthenticationToken", "The access token is missing or invalid."}
	case c.options.Now().Unix() >= claims.Expires:
		return claims, &refusal{http.StatusUnauthorized, "ExpiredAuthenticationToken", "The access token expiry UTC time is earlier than current UTC time."}
	case claims.Tenant != c.tenant(government) || !strings.HasPrefix(claims.Audience, "https://management.core."):
		return claims, &refusal{http.StatusUnauthorized, "InvalidAuthenticationTokenAudience", "The access token has been obtained for wrong audience or resource."}
	}
	return claims, nil
}

// find parses the path of a call.
func (c *Cloud) find(at string, government bool) (target, *refusal) {
	parts := strings.Split(strings.Trim(at, "/"), "/")
	if strings.EqualFold(parts[0], "providers") {
		return target{space: "Microsoft.Management", action: "managementGroups/descendants/read", rest: strings.Join(parts, "/")}, nil
	}
	if !strings.EqualFold(parts[0], "subscriptions") {
		return target{}, &refusal{http.StatusNotFound, "InvalidResourceType", "The resource type could not be found."}
	}
	t := target{space: "Microsoft.Resources", action: "subscriptions/read"}
	if len(parts) == 1 {
		return t, nil
	}
	sub, ok := c.subs[strings.ToLower(parts[1])]
	if !ok || sub.Government != government {
		return t, &refusal{http.StatusNotFound, "SubscriptionNotFound", "The subscription '" + parts[1] + "' could not be found."}
	}
	t.sub = sub
	group, rest := "", parts[2:]
	if len(rest) > 2 && strings.EqualFold(rest[0], "resourceGroups") {
		group, rest = rest[1], rest[2:]
	}
	// The deployments of a group are a detail of the group, not a kind of their own.
	if group != "" && len(rest) == 3 && strings.EqualFold(strings.Join(rest, "/"), deployments) {
		return t.walk(c, "", subscriptions, append([]string{"resourceGroups", group}, rest...))
	}
	if len(rest) > 2 && strings.EqualFold(rest[0], "providers") {
		t.space = rest[1]
		return t.walk(c, group, rest[1], rest[2:])
	}
	if len(rest) > 0 && !strings.EqualFold(rest[0], "providers") { // lists of the subscription itself
		return t.walk(c, "", subscriptions, rest)
	}
	return t.walk(c, "", "Microsoft.Resources", []string{"subscriptions", sub.ID})
}

// walk follows a path of alternating types and names, the outermost first.
func (t target) walk(c *Cloud, group, space string, rest []string) (target, *refusal) {
	arm := space
	place := world.Place{Account: t.sub.ID}
	t.action = actionOf(arm + "/" + rest[0])
	missing := &refusal{http.StatusNotFound, "ResourceNotFound", "The Resource was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"}
	for depth := 0; len(rest) > 0; depth++ {
		k, known := kinds[strings.ToLower(arm+"/"+rest[0])]
		if !known && t.object != nil { // a detail of the resource found last
			t.rest = strings.Join(rest, "/")
			t.action = actionOf(arm + "/" + rest[0])
			if i := slices.Index(rest, "providers"); i >= 0 && len(rest) > i+2 { // a type of another namespace
				t.space, t.action = rest[i+1], rest[i+2]+"/read"
			}
			return t, nil
		}
		if !known {
			return t, &refusal{http.StatusNotFound, "InvalidResourceType", "The resource type '" + rest[0] + "' could not be found in the namespace '" + space + "'."}
		}
		t.action = actionOf(k.arm)
		t.in, t.name = address{Cloud: c, k: k, sub: t.sub, place: place, parent: t.in.parent}, ""
		if len(rest) == 1 {
			t.object = nil
			return t, nil
		}
		found, object, ok := t.in.get(rest[1])
		if !ok || depth == 0 && !found.isIn(group, object) {
			t.object, t.rest = nil, strings.Join(rest[2:], "/")
			return t, missing
		}
		t.in.member, t.name, t.object = found.member, rest[1], object
		t.in.parent = append(slices.Clone(t.in.parent), found.member)
		place.Region = strings.TrimPrefix(place.Region+"/"+strings.ToLower(rest[1]), "/")
		arm, rest = k.arm, rest[2:]
	}
	return t, nil
}

// actionOf returns the read action of a type, without the namespace.
func actionOf(arm string) string {
	_, types, _ := strings.Cut(arm, "/")
	return types + "/read"
}

// isIn reports whether a resource is in a resource group, or in none if group is "". The id contains
// the group, also that of a created resource.
func (a address) isIn(group string, o world.Object) bool {
	switch a.k.where {
	case inSubscription:
		return group == ""
	case inWatcherGroup:
		return strings.EqualFold(group, "NetworkWatcherRG")
	}
	id := strings.Split(o.Text("id"), "/") // "", subscriptions, …, resourceGroups, …
	return len(id) > 4 && strings.EqualFold(id[4], group)
}

// answer sends the response.
func (c *Cloud) answer(w http.ResponseWriter, r *http.Request, t target, isVisible func(Subscription) bool) {
	switch {
	case t.sub.ID == "":
		c.answerSubscriptions(w, t, isVisible)
	case t.rest != "":
		found, ok := detail(t.object, t.rest)
		if !ok && c.answerUnsimulated(w, r, t.sub.ID) {
			return
		}
		if !ok {
			refusal{http.StatusNotFound, "ResourceNotFound", "The Resource '" + t.rest + "' was not found."}.write(w)
			return
		}
		writeJSON(w, http.StatusOK, found)
	case t.object != nil:
		writeJSON(w, http.StatusOK, t.object.Visible())
	default:
		c.answerList(w, r, t)
	}
}

// answerList sends one page of a list.
func (c *Cloud) answerList(w http.ResponseWriter, r *http.Request, t target) {
	from, _ := strconv.Atoi(r.URL.Query().Get("$skiptoken"))
	if r.URL.Query().Has("$skiptoken") && from <= 0 {
		refusal{http.StatusBadRequest, "InvalidSkipToken", "The skip token is not valid."}.write(w)
		return
	}
	page := c.options.Page
	if top, err := strconv.Atoi(r.URL.Query().Get("$top")); err == nil && top > 0 {
		page = min(page, top)
	}
	values := []any{}
	next := t.in.list(from, page, func(_ string, o world.Object) bool {
		values = append(values, o.Visible())
		return true
	})
	answer := world.Obj("value", values)
	if next >= 0 {
		query := r.URL.Query()
		query.Set("$skiptoken", strconv.Itoa(next))
		answer = answer.With("nextLink", (&url.URL{Scheme: "https", Host: r.Host, Path: r.URL.Path, RawQuery: query.Encode()}).String())
	}
	writeJSON(w, http.StatusOK, answer)
}

// answerSubscriptions lists the subscriptions that a caller sees: all, or the
// descendants of a management group.
func (c *Cloud) answerSubscriptions(w http.ResponseWriter, t target, isVisible func(Subscription) bool) {
	values := []any{}
	ofGroup := t.rest != ""
	if ofGroup { // intermediate groups are descendants, too
		values = append(values, world.Obj("id", "/providers/Microsoft.Management/managementGroups/inner", "type", "Microsoft.Management/managementGroups", "name", "inner",
			"properties", world.Obj("displayName", "Inner")))
	}
	for _, s := range c.order {
		if !isVisible(s) {
			continue
		}
		if ofGroup {
			values = append(values, world.Obj("id", "/subscriptions/"+s.ID, "type", "/subscriptions", "name", s.ID,
				"properties", world.Obj("displayName", s.Name, "parent", world.Obj("id", strings.TrimSuffix("/"+t.rest, "/descendants")))))
			continue
		}
		values = append(values, s.description())
	}
	writeJSON(w, http.StatusOK, world.Obj("value", values))
}

// refuse sends Resource Manager's error for a fault.
func (t target) refuse(w http.ResponseWriter, f gateway.Fault, caller claims) {
	permission := t.space + "/" + t.action
	refused := map[gateway.Kind]refusal{
		gateway.Throttle: {http.StatusTooManyRequests, "SubscriptionRequestsThrottled", "Number of read requests for subscription exceeded the limit. Please try again after some time."},
		gateway.Deny: {http.StatusForbidden, "AuthorizationFailed", "The client '" + caller.Application + "' with object id '" + caller.Application +
			"' does not have authorization to perform action '" + permission + "' over scope '/subscriptions/" + t.sub.ID + "' or the scope is invalid."},
		gateway.Expire: {http.StatusUnauthorized, "ExpiredAuthenticationToken", "The access token expiry UTC time is earlier than current UTC time."},
		gateway.Off:    {http.StatusConflict, "MissingSubscriptionRegistration", "The subscription is not registered to use namespace '" + t.space + "'."},
		gateway.Fail:   {http.StatusInternalServerError, "InternalServerError", "Encountered internal server error."},
	}[f.Kind]
	retryAfter(w, f)
	refused.write(w)
}

func (r refusal) write(w http.ResponseWriter) {
	if r.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer authorization_uri="https://login.microsoftonline.com/common", error="invalid_token"`)
	}
	writeJSON(w, r.status, world.Obj("error", world.Obj("code", r.code, "message", r.message)))
}
