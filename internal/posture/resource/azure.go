package resource

import (
	"errors"
	"fmt"
	"strings"

	"vigil/internal/posture"
)

// An AzureResource is what is special of types that Azure Resource Manager lists.
// Load turns it into stages, calls, edges and events.
type AzureResource struct {
	// ARM is the resource type and the version of its API:
	// Microsoft.Storage/storageAccounts@2023-05-01. Spelled is how answers spell
	// it, where that is different.
	ARM     string `yaml:"arm"`
	Spelled string `yaml:"spelled"`
	// ListPath leads from the subscription, or from what the resources are part of,
	// to the list, where that does not follow from the type.
	ListPath string `yaml:"path"`
	// Query is asked for with the list and with one resource.
	Query Input `yaml:"query"`
	// Permissions are what that takes besides reading the resource.
	Permissions Strings `yaml:"permissions"`

	// In is the type of what the resources are part of. Of says which of those can
	// have any, and Inside where their description has them: then there is no call.
	In     posture.EntityType `yaml:"in"`
	Of     Conditions         `yaml:"of"`
	Inside Exprs              `yaml:"inside"`
	// Has are the types of its own parts, which become edges.
	Has []posture.EntityType `yaml:"has"`
	// Identity says that the resources act under managed identities.
	Identity bool `yaml:"identity"`
}

// Names of types that every Azure resource refers to.
const (
	azureTenant        posture.EntityType = "Azure.Entra.Tenant"
	azureSubscription  posture.EntityType = "Azure.Subscription.Subscription"
	azureResourceGroup posture.EntityType = "Azure.Resources.ResourceGroup"
	azurePrincipal     posture.EntityType = "Azure.Authorization.Principal"
	azureIdentity      posture.EntityType = "Azure.ManagedIdentity.UserAssignedIdentity"
)

// subscriptionPath is how paths begin that are not relative to a resource.
const subscriptionPath = "/subscriptions/$subscription"

// graphCall is how calls of Microsoft Graph begin.
const graphCall = "graph:"

// arm returns the resource type without the version.
func (a *AzureResource) arm() string {
	kind, _, _ := strings.Cut(a.ARM, "@")
	return kind
}

// ResourceType returns the resource type of Azure Resource Manager, or "".
func (a *AzureResource) ResourceType() string { return a.arm() }

// expandAzure writes out what a declaration of an Azure type leaves to follow from
// the resource type.
func (c *Catalog) expandAzure(t *Type) error {
	if t.Type.Provider() != posture.Azure {
		return nil
	}
	_, version, versioned := strings.Cut(t.ARM, "@")
	if t.ARM != "" && !versioned {
		return errors.New("arm has a resource type and, after @, the version of its API")
	}
	for i := range t.Calls {
		if err := t.Calls[i].address(t, version); err != nil {
			return err
		}
	}
	for i := range t.List {
		if err := t.List[i].address(t, version); err != nil {
			return err
		}
	}
	if t.ARM == "" {
		t.getGraphObject()
		return nil
	}
	if err := c.listARM(t, version); err != nil {
		return err
	}
	t.Get = &Stage{Request: t.request("$name", version)}
	t.Tags = Exprs{mustPath("tags")}
	t.Events = append(Events{{Source: t.arm(), Names: []string{"write", "delete"}}}, t.Events...)
	if t.Identity {
		t.addIdentity()
	}
	return c.relateARM(t)
}

// listARM adds the stages that list a type. Stages of the declaration come after
// them.
func (c *Catalog) listARM(t *Type, version string) error {
	var stages []Stage
	last := Stage{Request: t.request("", version)}
	if t.In == "" {
		last.Path = subscriptionPath + t.ListPath
		if t.ListPath == "" && t.Type != azureSubscription {
			last.Path += "/providers/" + t.arm()
		}
	} else {
		path, err := c.partPath(t)
		if err != nil {
			return err
		}
		stages = append(stages, Stage{From: t.In})
		last.Path = "${id}" + path
		last.When = t.Of
	}
	switch {
	case len(t.Inside) > 0:
		last = Stage{Items: t.Inside}
	case t.leadsToOne():
		last.Where = append(last.Where, Condition{At: mustPath("id"), Values: []string{"*"}})
	default:
		last.Items = Exprs{mustPath("value")}
	}
	t.List = append(append(stages, last), t.List...)
	return nil
}

// leadsToOne reports whether a list path leads to one resource, not to a list.
func (t *Type) leadsToOne() bool {
	return t.Type == azureSubscription || t.In != "" && t.ListPath != "" && strings.Count(t.ListPath, "/")%2 == 0
}

// partPath returns the path from what resources are part of to their list.
func (c *Catalog) partPath(t *Type) (string, error) {
	whole := c.byType[t.In]
	if whole == nil || whole.ARM == "" {
		return "", fmt.Errorf("it is in %s, which is not declared or has no arm", t.In)
	}
	path, ok := strings.CutPrefix(t.arm(), whole.arm())
	if !ok {
		return "", fmt.Errorf("%s does not begin with %s, which it is in", t.arm(), whole.arm())
	}
	if t.ListPath != "" {
		path = t.ListPath
	}
	return path, nil
}

// request returns a request for resources of the type.
func (t *Type) request(path, version string) Request {
	r := Request{Call: t.arm(), Path: path, Permission: strings.Join(append([]string{t.arm() + "/read"}, t.Permissions...), " ")}
	r.Input.add("api-version", version)
	r.Input.members = append(r.Input.members, t.Query.members...)
	return r
}

// relateARM adds the edges to what a resource is in, and to its parts.
func (c *Catalog) relateARM(t *Type) error {
	in := Edge{Label: "IN", To: EntityTypes{azureResourceGroup, azureSubscription}, Doc: "What it is part of.", Ref: Exprs{mustPath("id")}}
	switch {
	case t.Type == azureSubscription:
		in.To, in.Ref = EntityTypes{azureTenant}, Exprs{mustPath("$tenant")}
	case t.Type == azureResourceGroup:
		in.To = EntityTypes{azureSubscription}
	case t.In != "":
		in.To = EntityTypes{t.In}
	}
	t.Edges = append(Edges{in}, t.Edges...)
	for _, name := range t.Has {
		part := c.byType[name]
		if part == nil || part.In != t.Type {
			return fmt.Errorf("it has %s, which is not declared to be in it", name)
		}
		path, err := c.partPath(part)
		if err != nil {
			return err
		}
		_, version, _ := strings.Cut(part.ARM, "@")
		call := Call{Request: part.request("${id}"+path, version), When: part.Of, Gone: MeansAbsent, NotEnabled: MeansAbsent}
		call.Shared = true
		ref := "value.#.id"
		if part.leadsToOne() {
			ref = "id"
		}
		call.Edges = Edges{{Label: "HAS", To: EntityTypes{name}, Doc: "What it consists of.", Ref: Exprs{mustPath(ref)}}}
		t.Calls = append(t.Calls, call)
	}
	return nil
}

// addIdentity adds what Azure tells of managed identities in the same way for all
// resources.
func (t *Type) addIdentity() {
	t.Properties = append(t.Properties,
		Property{Name: "identityType", Kind: Text, At: Exprs{mustPath("identity.type")}, Absent: "None", Doc: "The type of managed identity: None, SystemAssigned, UserAssigned, or both of them."},
		Property{Name: "identityPrincipalId", Kind: Text, At: Exprs{mustPath("identity.principalId")}, Doc: "The principal id of its system-assigned identity."},
	)
	own := Exprs{
		mustPath("identity.principalId"), mustPath("identity.userAssignedIdentities.@values.#.principalId"), mustPath("identity.userAssignedIdentities.@keys"),
	}
	for i, e := range t.Edges {
		if e.Label == "HAS_IDENTITY" { // the type has more of them
			t.Edges[i].Ref = append(own, e.Ref...)
			return
		}
	}
	t.Edges = append(t.Edges, Edge{
		Label: "HAS_IDENTITY", To: EntityTypes{azurePrincipal, azureIdentity}, Ref: own,
		Doc: "The user-assigned identities that it has, and the principals of all its identities.",
	})
}

// address completes a call that is written as a path and a version. A path is
// relative to the resource, unless it begins with the subscription or is one of
// Microsoft Graph.
func (r *Request) address(t *Type, version string) error {
	if r.Call == "" {
		return nil
	}
	path, own, ok := strings.Cut(r.Call, "@")
	if ok {
		version = own
	}
	r.Call, r.Path = path, path
	if strings.HasPrefix(path, graphCall) {
		return nil
	}
	if version == "" {
		return fmt.Errorf("%s does not say which version of the API it calls (@...)", r.Call)
	}
	kind := ""
	if rest, ok := strings.CutPrefix(path, subscriptionPath); ok {
		path = rest
	} else {
		r.Path = "${id}" + path
		kind = t.arm()
	}
	r.Input.add("api-version", version)
	if r.Permission == "" {
		r.Permission = readPermission(kind, path)
	}
	return nil
}

// readPermission returns what reading at a path below a resource type takes.
func readPermission(kind, path string) string {
	if i := strings.LastIndex(path, "/providers/"); i >= 0 {
		namespace, rest, _ := strings.Cut(path[i+len("/providers/"):], "/")
		kind, path = namespace, "/"+rest
	}
	for i, part := range strings.Split(path, "/")[1:] {
		if i%2 == 0 { // types and names alternate
			kind += "/" + part
		}
	}
	return kind + "/read"
}

// getGraphObject adds the call that reads one object that Microsoft Graph lists.
func (t *Type) getGraphObject() {
	if t.Get != nil || len(t.List) == 0 || !strings.HasPrefix(t.List[0].Call, graphCall) {
		return
	}
	get := Stage{Request: t.List[0].Request}
	get.Path += "/$name"
	get.Input = Input{}
	for _, m := range t.List[0].Input.members {
		if m.name != "$top" {
			get.Input.members = append(get.Input.members, m)
		}
	}
	t.Get = &get
}

// mustPath parses a path that is written here.
func mustPath(text string) Expr {
	e, err := PathExpr(text)
	if err != nil {
		panic(err)
	}
	return e
}
