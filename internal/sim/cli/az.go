package cli

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/events"
)

var azProgram = program{
	"account show": {"", (*Server).azAccount},
	"cloud show":   {"", func(*Server, context.Context, Call) (string, error) { return "AzureCloud", nil }},
	"rest":         {"method url", (*Server).azRest},

	"ad app list":                     {"display-name", (*Server).listApps},
	"ad app create":                   {"display-name sign-in-audience", (*Server).createApp},
	"ad app delete":                   {"id", (*Server).deleteApp},
	"ad app permission list":          {"id", func(d *Server, _ context.Context, c Call) (string, error) { return d.asked(c), nil }},
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

func (d *Server) azAccount(_ context.Context, c Call) (string, error) {
	return c.answer(map[string]string{"tenantId": d.o.Azure.Reader(false).Tenant})
}

func (d *Server) azRest(_ context.Context, c Call) (string, error) {
	var ids []string
	for _, s := range d.o.Azure.Subscriptions() {
		ids = append(ids, s.ID)
	}
	return c.answer(map[string]string{"value[?ends_with(type, '/subscriptions')].name": strings.Join(ids, "\n")})
}

func (d *Server) listApps(_ context.Context, c Call) (string, error) {
	id, _ := d.get("azure/app/"+c.one("display-name"), "id")
	return c.answer(map[string]string{"[0].appId": id})
}

func (d *Server) createApp(_ context.Context, c Call) (string, error) {
	d.put("azure/app/"+c.one("display-name"), "id", d.o.Azure.Register(false).Application)
	return "", nil
}

// app returns the path of the application with an id.
func (d *Server) app(id string) string {
	for _, path := range d.withPrefix("azure/app/") {
		if is, _ := d.get(path, "id"); is == id {
			return path
		}
	}
	return ""
}

func (d *Server) deleteApp(_ context.Context, c Call) (string, error) {
	if !d.drop(d.app(c.one("id"))) {
		return "", refuse("Resource '%s' does not exist or one of its queried reference-property objects are not present.", c.one("id"))
	}
	d.o.Azure.Unregister(c.one("id"))
	return "", nil
}

// graphRoles maps the ids of Graph's permissions to their names.
var graphRoles = map[string]string{
	"AuditLog.Read.All":                      "b0afded3-3588-46d8-8b3d-9842eff778da",
	"Directory.Read.All":                     "7ab1d382-f21e-4acd-a863-ba3e13f7da61",
	"Policy.Read.All":                        "246dd0d5-5bd0-4def-940b-0421030a5b68",
	"RoleEligibilitySchedule.Read.Directory": "ff278e11-4a33-4d0c-83d2-d01dc58929a5",
}

const graphID = "00000003-0000-0000-c000-000000000000"

func (d *Server) showPrincipal(_ context.Context, c Call) (string, error) {
	known := map[string]string{}
	if c.one("id") == graphID {
		for name, id := range graphRoles {
			known["appRoles[?value=='"+name+"'].id"] = id
		}
		return c.answer(known)
	}
	if is, _ := d.get(d.app(c.one("id")), "principal"); is == "" {
		return "", refuse("Service principal with id '%s' doesn't exist", c.one("id"))
	}
	return c.answer(map[string]string{"id": "principal-" + c.one("id")})
}

func (d *Server) createPrincipal(_ context.Context, c Call) (string, error) {
	path := d.app(c.one("id"))
	if path == "" {
		return "", refuse("Resource '%s' does not exist", c.one("id"))
	}
	d.put(path, "principal", "yes")
	return "", nil
}

// asked returns the Graph permissions that an application requests.
func (d *Server) asked(c Call) string {
	asked, _ := d.get(d.app(c.one("id")), "asks")
	return strings.TrimSpace(strings.ReplaceAll(asked, " ", "\n"))
}

func (d *Server) askGraph(_ context.Context, c Call) (string, error) {
	id, kind, _ := strings.Cut(c.one("api-permissions"), "=")
	if c.one("api") != graphID || kind != "Role" {
		return "", refuse("no such permission")
	}
	d.put(d.app(c.one("id")), "asks", strings.ReplaceAll(d.asked(c), "\n", " ")+" "+id)
	return "", nil
}

func (d *Server) consent(_ context.Context, c Call) (string, error) {
	var names []string
	for name, id := range graphRoles {
		if slices.Contains(strings.Fields(d.asked(c)), id) {
			names = append(names, name)
		}
	}
	d.o.Azure.Consent(c.one("id"), names...)
	return "", nil
}

func (d *Server) resetApp(_ context.Context, c Call) (string, error) {
	if d.app(c.one("id")) == "" {
		return "", refuse("Resource '%s' does not exist", c.one("id"))
	}
	return c.answer(map[string]string{"password": d.o.Azure.NewKey(c.one("id"))})
}

func (d *Server) listDefinitions(_ context.Context, c Call) (string, error) {
	if _, ok := d.get("azure/role/"+c.one("name"), ""); ok {
		return c.answer(map[string]string{"[].name": "0000"})
	}
	return "", nil
}

func (d *Server) putDefinition(_ context.Context, c Call) (string, error) {
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
	d.put("azure/role/"+role.Name, "actions", strings.Join(role.Actions, " "), "scope", role.AssignableScopes[0])
	return "", nil
}

func (d *Server) deleteDefinition(_ context.Context, c Call) (string, error) {
	if assigned := d.withPrefix("azure/assignment/"); slices.ContainsFunc(assigned, func(path string) bool {
		role, _ := d.get(path, "role")
		return role == c.one("name")
	}) {
		return "", refuse("(RoleDefinitionHasAssignments) There are existing role assignments referencing role.")
	}
	d.drop("azure/role/" + c.one("name"))
	return "", nil
}

func (d *Server) assign(_ context.Context, c Call) (string, error) {
	app, ok := strings.CutPrefix(c.one("assignee-object-id"), "principal-")
	actions, known := d.get("azure/role/"+c.one("role"), "actions")
	scope, _ := d.get("azure/role/"+c.one("role"), "scope")
	if c.one("role") == "Reader" {
		actions, scope, known = "*/read", c.one("scope"), true
	}
	if !ok || !known || scope != c.one("scope") || c.one("assignee-principal-type") != "ServicePrincipal" {
		return "", refuse("Role '%s' doesn't exist.", c.one("role"))
	}
	d.put("azure/assignment/"+app+c.one("scope"), "role", c.one("role"))
	d.eachSubscription(c.one("scope"), func(id string) { d.o.Azure.Assign(app, id, strings.Fields(actions)) })
	return "", nil
}

// eachSubscription calls do for the subscriptions of a scope: every management
// group contains all.
func (d *Server) eachSubscription(scope string, do func(id string)) {
	for _, s := range d.o.Azure.Subscriptions() {
		if scope == "/subscriptions/"+s.ID || strings.Contains(scope, "/managementGroups/") {
			do(s.ID)
		}
	}
}

func (d *Server) unassign(_ context.Context, c Call) (string, error) {
	d.drop("azure/assignment/" + c.one("assignee") + c.one("scope"))
	d.eachSubscription(c.one("scope"), func(id string) { d.o.Azure.Assign(c.one("assignee"), id, nil) })
	return "", nil
}

func (d *Server) createGroup(_ context.Context, c Call) (string, error) {
	d.put("azure/" + c.one("subscription") + "/group/" + c.one("name"))
	return "", nil
}

func (d *Server) deleteGroup(_ context.Context, c Call) (string, error) {
	d.drop("azure/" + c.one("subscription") + "/group/" + c.one("name"))
	return "", nil
}

// deployGroup applies the effects of the product's template.
func (d *Server) deployGroup(ctx context.Context, c Call) (string, error) {
	var given map[string]struct{ Value string }
	var template struct {
		Resources []struct{ Condition, Type string }
	}
	for name, into := range map[string]any{strings.TrimPrefix(c.one("parameters"), "@"): &given, c.one("template-file"): &template} {
		text, err := os.ReadFile(name) // #nosec G304 -- the script wrote it
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(text, into); err != nil {
			return "", err
		}
	}
	if _, ok := d.get("azure/"+c.one("subscription")+"/group/"+c.one("resource-group"), ""); !ok {
		return "", refuse("(ResourceGroupNotFound)")
	}
	for _, r := range template.Resources {
		if strings.Contains(r.Condition, "'"+given["manner"].Value+"'") && strings.Count(r.Type, "/") == 1 {
			d.put("azure/subscriptions/"+c.one("subscription")+"/resourceGroups/"+c.one("resource-group")+"/providers/"+r.Type+"/"+given["name"].Value, "deployment", c.one("name"))
		}
	}
	if given["manner"].Value != "grid" {
		return "", nil
	}
	return "", d.o.Publisher.Subscribe(ctx, events.Stream{Provider: posture.Azure, Account: c.one("subscription"), Endpoint: given["endpoint"].Value})
}

func (d *Server) showResource(_ context.Context, c Call) (string, error) {
	if _, ok := d.get("azure"+c.one("ids"), ""); !ok {
		return "", refuse("(ResourceNotFound)")
	}
	return "", nil
}

func (d *Server) deleteResource(_ context.Context, c Call) (string, error) {
	d.drop("azure" + c.one("ids"))
	return "", nil
}

func (d *Server) listResources(_ context.Context, c Call) (string, error) {
	if _, ok := d.get("azure/"+c.one("subscription")+"/group/"+c.one("resource-group"), ""); !ok {
		return "", refuse("(ResourceGroupNotFound)")
	}
	count := "0"
	if len(d.withPrefix("azure/subscriptions/"+c.one("subscription")+"/resourceGroups/"+c.one("resource-group")+"/")) > 0 {
		count = "1"
	}
	return c.answer(map[string]string{"length(@)": count})
}
