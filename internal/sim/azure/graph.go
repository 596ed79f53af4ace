package azure

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// A collection is a list of directory objects.
type collection struct {
	single         bool // one object, not a list
	noQueryOptions bool // does not support query options
	count          func(c *Cloud) int
	make           func(c *Cloud, tenant string, i int) world.Object
}

// graph serves Microsoft Graph.
func (c *Cloud) graph(w http.ResponseWriter, r *http.Request, government bool) {
	tenant := c.tenant(government)
	path := strings.TrimPrefix(strings.Trim(r.URL.Path, "/"), "v1.0/")
	name := path
	if role, ok := strings.CutPrefix(path, "directoryRoles/"); ok && strings.HasSuffix(role, "/members") {
		name = "directoryRoles/members"
	}
	if group, ok := strings.CutPrefix(path, "groups/"); ok && strings.HasSuffix(group, "/transitiveMembers") {
		name = "groups/transitiveMembers"
	}
	if app, ok := strings.CutPrefix(path, "applications/"); ok && strings.HasSuffix(app, "/federatedIdentityCredentials") {
		name = "applications/federatedIdentityCredentials"
	}
	s, known := collections[name]
	id := ""
	if !known {
		if i := strings.LastIndex(path, "/"); i > 0 {
			name, id = path[:i], path[i+1:]
			s = collections[name]
			known = s.count != nil // members have no own addresses
		}
	}
	if !known {
		name = path
	}
	c.faults.Serve(w, r, gateway.Exchange{
		Call:   gateway.Call{Cloud: "azure", Account: tenant, Service: "Microsoft.Graph", Action: name + "/read"},
		Refuse: refuseGraph,
		Answer: func(w http.ResponseWriter) {
			claims, ok := c.bearer(r)
			role, _, _ := c.roleOf(claims.Application, government)
			switch {
			case !ok || claims.Tenant != tenant || !strings.HasPrefix(claims.Audience, "https://graph.") || c.options.Now().Unix() >= claims.Expires:
				writeJSON(w, http.StatusUnauthorized, graphError("InvalidAuthenticationToken", "Access token is empty, expired or for another service."))
			case role != "reader" && !c.hasConsent(claims.Application):
				refuseGraph(w, gateway.Fault{Kind: gateway.Deny})
			case !known:
				if !c.answerUnsimulated(w, r, "") {
					writeJSON(w, http.StatusNotFound, graphError("Request_ResourceNotFound", "Resource '"+path+"' does not exist."))
				}
			case s.noQueryOptions && (r.URL.Query().Has("$top") || r.URL.Query().Has("$select")):
				writeJSON(w, http.StatusBadRequest, graphError("BadRequest", "Query option is not allowed."))
			case s.single:
				writeJSON(w, http.StatusOK, c.directoryObject(name, s, tenant, 0).Visible())
			case id != "":
				c.answerObject(w, name, s, tenant, id)
			case name == "directoryRoles/members":
				c.answerMembers(w, tenant, strings.Split(path, "/")[1])
			case name == "groups/transitiveMembers":
				c.answerGroupMembers(w, tenant, strings.Split(path, "/")[1])
			default:
				c.answerCollection(w, r, name, s, tenant)
			}
		},
	})
}

// answerCollection sends one page of a list.
func (c *Cloud) answerCollection(w http.ResponseWriter, r *http.Request, name string, s collection, tenant string) {
	from, _ := strconv.Atoi(r.URL.Query().Get("$skiptoken"))
	count := s.count(c)
	values := []any{}
	i := max(0, from)
	for ; i < count && len(values) < c.options.Page; i++ {
		values = append(values, c.directoryObject(name, s, tenant, i).Visible())
	}
	answer := world.Obj("@odata.context", "https://"+r.Host+"/v1.0/$metadata#"+name, "value", values)
	if i < count {
		query := r.URL.Query()
		query.Set("$skiptoken", strconv.Itoa(i))
		answer = answer.With("@odata.nextLink", (&url.URL{Scheme: "https", Host: r.Host, Path: r.URL.Path, RawQuery: query.Encode()}).String())
	}
	writeJSON(w, http.StatusOK, answer)
}

func (c *Cloud) answerObject(w http.ResponseWriter, name string, s collection, tenant, id string) {
	for i := range s.count(c) {
		if o := c.directoryObject(name, s, tenant, i); strings.EqualFold(o.Text("id"), id) {
			writeJSON(w, http.StatusOK, o.Visible())
			return
		}
	}
	writeJSON(w, http.StatusNotFound, graphError("Request_ResourceNotFound", "Resource '"+id+"' does not exist or one of its queried reference-property objects are not present."))
}

// answerMembers lists the members of a directory role.
func (c *Cloud) answerMembers(w http.ResponseWriter, tenant, role string) {
	values := []any{}
	for i := range roles {
		if c.roleID(tenant, i) == role {
			for _, u := range c.members(i) {
				values = append(values, world.Obj("@odata.type", "#microsoft.graph.user", "id", c.userID(tenant, u)))
			}
			if i == groupRole {
				values = append(values, world.Obj("@odata.type", "#microsoft.graph.group", "id", c.groupID(tenant, roleGroup)))
			}
		}
	}
	writeJSON(w, http.StatusOK, world.Obj("value", values))
}

// answerGroupMembers lists the members of a group.
func (c *Cloud) answerGroupMembers(w http.ResponseWriter, tenant, group string) {
	values := []any{}
	if strings.EqualFold(group, c.groupID(tenant, roleGroup)) {
		for _, u := range c.groupMembers() {
			values = append(values, world.Obj("@odata.type", "#microsoft.graph.user", "id", c.userID(tenant, u)))
		}
	}
	writeJSON(w, http.StatusOK, world.Obj("value", values))
}

func graphError(code, message string) world.Object {
	return world.Obj("error", world.Obj("code", code, "message", message))
}

// refuseGraph sends Graph's error for a fault.
func refuseGraph(w http.ResponseWriter, f gateway.Fault) {
	retryAfter(w, f)
	switch f.Kind {
	case gateway.Throttle:
		writeJSON(w, http.StatusTooManyRequests, graphError("TooManyRequests", "Too many requests."))
	case gateway.Deny:
		writeJSON(w, http.StatusForbidden, graphError("Authorization_RequestDenied", "Insufficient privileges to complete the operation."))
	case gateway.Expire:
		writeJSON(w, http.StatusUnauthorized, graphError("InvalidAuthenticationToken", "Lifetime validation failed, the token is expired."))
	default:
		writeJSON(w, http.StatusServiceUnavailable, graphError("serviceNotAvailable", "The service is not available."))
	}
}
