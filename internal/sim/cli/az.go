package cli

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/azure"
	"vigil/internal/sim/events"
)

var azProgram = program{
	"account show": {"", (*Server).azAccount},
	"cloud show":   {"", func(*Server, context.Context, Call) (string, error) { return "AzureCloud", nil }},
	"rest":         {"method url", (*Server).azRest},

	"ad app list":                     {"display-name", (*Server).listApps},
	"ad app create":                   {"display-name sign-in-audience", (*Server).createApp},
	"ad app delete":                   {"id", (*Server).deleteApp},
	"ad app permission list":          {"id", func(d *Server, _ context.Context, c Call) (string, error) { return d.requestedPermissions(c), nil }},
	"ad app permission add":           {"id api api-permissions", (*Server).askGraph},
	"ad app permission admin-consent": {"id", (*Server).consent},
	"ad app credential reset":         {"id append display-name years", (*Server).resetApp},
	"ad sp show":                      {"id", (*Server).showPrincipal},
	"ad sp create":                    {"id", (*Server).createPrincipal},

	"role definition list":   {"name scope", (*Server).listDefinitions},
	"role definition create": {"role-definition", (*Server).putDefinition},
	"role definition update": {"role-definition", (*Server).putDefinition},
	"role definition delete": {"name scope", (*Server).deleteDefinition},
	"role assignment create": {"assignee-object-id assignee-principal-type role scope", (*Server).assign},
	"role assignment delete": {"assignee scope", (*Server).unassign},

	"group create":            {"subscription name location tags", (*Server).createGroup},
	"group delete":            {"subscription name yes no-wait", (*Server).deleteGroup},
	"deployment group create": {"subscription resource-group name mode template-file parameters", (*Server).deployGroup},
	"resource show":           {"ids", (*Server).showResource},
	"resource delete":         {"ids", (*Server).deleteResource},
	"resource list":           {"subscription resource-group", (*Server).listResources},
}

// shownCloud is the cloud AzureCloud, which az cloud show returns.
const shownCloud = azure.PublicCloud

func (s *Server) azAccount(_ context.Context, c Call) (string, error) {
	return c.answer(map[string]string{"tenantId": s.o.Azure.Reader(shownCloud).Tenant})
}

func (s *Server) azRest(_ context.Context, c Call) (string, error) {
	var ids []string
	for _, subscription := range s.o.Azure.Subscriptions() {
		ids = append(ids, subscription.ID)
	}
	return c.answer(map[string]string{"value[?ends_with(type, '/subscriptions')].name": strings.Join(ids, "\n")})
}

func (s *Server) listApps(_ context.Context, c Call) (string, error) {
	id, _ := s.get("azure/app/"+c.one("display-name"), "id")
	return c.answer(map[string]string{"[0].appId": id})
}

func (s *Server) createApp(_ context.Context, c Call) (string, error) {
	s.put("azure/app/"+c.one("display-name"), "id", s.o.Azure.Register(shownCloud).Application)
	return "", nil
}

// app returns the path of the application with an id.
func (s *Server) app(id string) string {
	for _, path := range s.withPrefix("azure/app/") {
		if existing, _ := s.get(path, "id"); existing == id {
			return path
		}
	}
	return ""
}

func (s *Server) deleteApp(_ context.Context, c Call) (string, error) {
	if !s.drop(s.app(c.one("id"))) {
		return "", refuse("Resource '%s' does not exist or one of its queried reference-property objects are not present.", c.one("id"))
	}
	s.o.Azure.Unregister(c.one("id"))
	return "", nil
}

// graphRoles maps the names of Graph's permissions to their ids.
var graphRoles = map[string]string{
	"AuditLog.Read.All":                      "b0afded3-3588-46d8-8b3d-9842eff778da",
	"Directory.Read.All":                     "7ab1d382-f21e-4acd-a863-ba3e13f7da61",
	"Policy.Read.All":                        "246dd0d5-5bd0-4def-940b-0421030a5b68",
	"RoleEligibilitySchedule.Read.Directory": "ff278e11-4a33-4d0c-83d2-d01dc58929a5",
}

const graphID = "00000003-0000-0000-c000-000000000000"

func (s *Server) showPrincipal(_ context.Context, c Call) (string, error) {
	known := map[string]string{}
	if c.one("id") == graphID {
		for name, id := range graphRoles {
			known["appRoles[?value=='"+name+"'].id"] = id
		}
		return c.answer(known)
	}
	if principal, _ := s.get(s.app(c.one("id")), "principal"); principal == "" {
		return "", refuse("Service principal with id '%s' doesn't exist", c.one("id"))
	}
	return c.answer(map[string]string{"id": "principal-" + c.one("id")})
}

func (s *Server) createPrincipal(_ context.Context, c Call) (string, error) {
	path := s.app(c.one("id"))
	if path == "" {
		return "", refuse("Resource '%s' does not exist", c.one("id"))
	}
	s.put(path, "principal", "yes")
	return c.answer(map[string]string{"id": "principal-" + c.one("id")})
}

// requestedPermissions returns the Graph permissions that an application requests.
func (s *Server) requestedPermissions(c Call) string {
	requested, _ := s.get(s.app(c.one("id")), "asks")
	return strings.TrimSpace(strings.ReplaceAll(requested, " ", "\n"))
}

func (s *Server) askGraph(_ context.Context, c Call) (string, error) {
	id, kind, _ := strings.Cut(c.one("api-permissions"), "=")
	if c.one("api") != graphID || kind != "Role" {
		return "", refuse("no such permission")
	}
	s.put(s.app(c.one("id")), "asks", strings.ReplaceAll(s.requestedPermissions(c), "\n", " ")+" "+id)
	return "", nil
}

func (s *Server) consent(_ context.Context, c Call) (string, error) {
	var names []string
	for name, id := range graphRoles {
		if slices.Contains(strings.Fields(s.requestedPermissions(c)), id) {
			names = append(names, name)
		}
	}
	s.o.Azure.Consent(c.one("id"), names...)
	return "", nil
}

func (s *Server) resetApp(_ context.Context, c Call) (string, error) {
	if s.app(c.one("id")) == "" {
		return "", refuse("Resource '%s' does not exist", c.one("id"))
	}
	return c.answer(map[string]string{"password": s.o.Azure.NewKey(c.one("id"))})
}

func (s *Server) listDefinitions(_ context.Context, c Call) (string, error) {
	if _, ok := s.get("azure/role/"+c.one("name"), ""); ok {
		return c.answer(map[string]string{"[].name": "0000"}) // the scripts only check whether there is a name
	}
	return "", nil
}

func (s *Server) putDefinition(_ context.Context, c Call) (string, error) {
	text, err := os.ReadFile(strings.TrimPrefix(c.one("role-definition"), "@")) // #nosec G304 -- the script wrote it
	if err != nil {
		return "", err
	}
	var role struct {
		Name                                   string
		Actions, DataActions, AssignableScopes []string
	}
	if err := json.Unmarshal(text, &role); err != nil || len(role.AssignableScopes) != 1 || len(role.DataActions) > 0 {
		return "", refuse("the role is %s: %v", text, err)
	}
	s.put("azure/role/"+role.Name, "actions", strings.Join(role.Actions, " "), "scope", role.AssignableScopes[0])
	return "", nil
}

func (s *Server) deleteDefinition(_ context.Context, c Call) (string, error) {
	for _, path := range s.withPrefix("azure/assignment/") {
		if role, _ := s.get(path, "role"); role == c.one("name") {
			return "", refuse("(RoleDefinitionHasAssignments) There are existing role assignments referencing role.")
		}
	}
	s.drop("azure/role/" + c.one("name"))
	return "", nil
}

func (s *Server) assign(_ context.Context, c Call) (string, error) {
	app, ok := strings.CutPrefix(c.one("assignee-object-id"), "principal-")
	actions, known := s.get("azure/role/"+c.one("role"), "actions")
	scope, _ := s.get("azure/role/"+c.one("role"), "scope")
	if c.one("role") == "Reader" {
		actions, scope, known = "*/read", c.one("scope"), true
	}
	if !ok || !known || scope != c.one("scope") || c.one("assignee-principal-type") != "ServicePrincipal" {
		return "", refuse("Role '%s' doesn't exist.", c.one("role"))
	}
	s.put("azure/assignment/"+app+c.one("scope"), "role", c.one("role"))
	s.eachSubscription(c.one("scope"), func(id string) { s.o.Azure.Assign(app, id, strings.Fields(actions)) })
	return "", nil
}

// eachSubscription calls fn for each subscription in a scope. Every management group contains
// all subscriptions.
func (s *Server) eachSubscription(scope string, fn func(id string)) {
	for _, subscription := range s.o.Azure.Subscriptions() {
		if scope == "/subscriptions/"+subscription.ID || strings.Contains(scope, "/managementGroups/") {
			fn(subscription.ID)
		}
	}
}

func (s *Server) unassign(_ context.Context, c Call) (string, error) {
	s.drop("azure/assignment/" + c.one("assignee") + c.one("scope"))
	s.eachSubscription(c.one("scope"), func(id string) { s.o.Azure.Assign(c.one("assignee"), id, nil) })
	return "", nil
}

func (s *Server) createGroup(_ context.Context, c Call) (string, error) {
	s.put("azure/" + c.one("subscription") + "/group/" + c.one("name"))
	return "", nil
}

func (s *Server) deleteGroup(_ context.Context, c Call) (string, error) {
	s.drop("azure/" + c.one("subscription") + "/group/" + c.one("name"))
	return "", nil
}

// deployGroup applies the effects of the product's template.
func (s *Server) deployGroup(ctx context.Context, c Call) (string, error) {
	var parameters map[string]struct{ Value string }
	var template struct {
		Resources []struct{ Condition, Type string }
	}
	if err := readJSON(strings.TrimPrefix(c.one("parameters"), "@"), &parameters); err != nil {
		return "", err
	}
	if err := readJSON(c.one("template-file"), &template); err != nil {
		return "", err
	}
	if _, ok := s.get("azure/"+c.one("subscription")+"/group/"+c.one("resource-group"), ""); !ok {
		return "", refuse("(ResourceGroupNotFound)")
	}
	manner := parameters["manner"].Value // grid or alert
	for _, r := range template.Resources {
		isDeployed := r.Condition == "[equals(parameters('manner'), '"+manner+"')]"
		isTopLevel := strings.Count(r.Type, "/") == 1 // unlike Microsoft.EventGrid/systemTopics/eventSubscriptions
		if isDeployed && isTopLevel {
			s.put("azure/subscriptions/"+c.one("subscription")+"/resourceGroups/"+c.one("resource-group")+"/providers/"+r.Type+"/"+parameters["name"].Value, "deployment", c.one("name"))
		}
	}
	if manner == "alert" {
		return "", nil // the script sends the first message itself
	}
	return "", s.o.Publisher.Subscribe(ctx, events.Stream{Provider: posture.Azure, Account: c.one("subscription"), Endpoint: parameters["endpoint"].Value})
}

func (s *Server) showResource(_ context.Context, c Call) (string, error) {
	if _, ok := s.get("azure"+c.one("ids"), ""); !ok {
		return "", refuse("(ResourceNotFound)")
	}
	return "", nil
}

func (s *Server) deleteResource(_ context.Context, c Call) (string, error) {
	s.drop("azure" + c.one("ids"))
	return "", nil
}

func (s *Server) listResources(_ context.Context, c Call) (string, error) {
	if _, ok := s.get("azure/"+c.one("subscription")+"/group/"+c.one("resource-group"), ""); !ok {
		return "", refuse("(ResourceGroupNotFound)")
	}
	count := "0"
	if len(s.withPrefix("azure/subscriptions/"+c.one("subscription")+"/resourceGroups/"+c.one("resource-group")+"/")) > 0 {
		count = "1"
	}
	return c.answer(map[string]string{"length(@)": count})
}
