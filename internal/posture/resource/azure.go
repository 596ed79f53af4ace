package resource

import (
	"errors"
	"fmt"
	"strings"

	"vigil/internal/posture"
)

// AzureResource holds the members that only declarations of Azure Resource
// Manager types have, and Query and Permissions, which Google Cloud types also have.
// Load expands them into stages, calls, edges and events.
type AzureResource struct {
	// ARM is the resource type and the version of its API:
	// Microsoft.Storage/storageAccounts@2023-05-01. Spelled is the resource type
	// as responses spell it, when that differs.
	ARM     string `yaml:"arm"`
	Spelled string `yaml:"spelled"`
	// ListPath is the path of the list, relative to the subscription or to the
	// parent resource. When it is empty, the path follows from the resource type.
	ListPath string `yaml:"path"`
	// Query is the query of the requests that list resources or read one.
	Query Input `yaml:"query"`
	// Permissions are the permissions that the query needs besides reading the
	// resource.
	Permissions Strings `yaml:"permissions"`

	// In is the type of the parent resource. Of restricts which parents can have
	// such resources. Inside locates them in the description of the parent; no
	// call is made then.
	In     posture.EntityType `yaml:"in"`
	Of     Conditions         `yaml:"of"`
	Inside Exprs              `yaml:"inside"`
	// Has are the types of the child resources. Each becomes a call and a HAS edge.
	Has []posture.EntityType `yaml:"has"`
	// Identity says that the resources can have managed identities.
	Identity bool `yaml:"identity"`
}

// Types that edges of every Azure resource lead to.
const (
	azureTenant        posture.EntityType = "Azure.Entra.Tenant"
	azureSubscription  posture.EntityType = "Azure.Subscription.Subscription"
	azureResourceGroup posture.EntityType = "Azure.Resources.ResourceGroup"
	azurePrincipal     posture.EntityType = "Azure.Authorization.Principal"
	azureIdentity      posture.EntityType = "Azure.ManagedIdentity.UserAssignedIdentity"
)

// subscriptionPath is the prefix of paths that are not relative to a resource.
const subscriptionPath = "/subscriptions/$subscription"

// graphCall is the prefix of calls of Microsoft Graph.
const graphCall = "graph:"

// arm returns the resource type without the version.
func (a *AzureResource) arm() string {
	kind, _, _ := strings.Cut(a.ARM, "@")
	return kind
}

// ResourceType returns the resource type of Azure Resource Manager, or "".
func (a *AzureResource) ResourceType() string { return a.arm() }

// expandAzure adds the parts of an Azure declaration that follow from the
// resource type: its list, its get call, its events and its edges.
func (c *Catalog) expandAzure(t *Type) error {
	if t.Type.Provider() != posture.Azure {
		return nil
	}
	_, version, versioned := strings.Cut(t.ARM, "@")
	if t.ARM != "" && !versioned {
		return errors.New("arm must be a resource type, @ and the version of its API")
	}
	for i := range t.Calls {
		call := &t.Calls[i]
		if part := c.byType[posture.EntityType(call.Call)]; part != nil { // the call is the name of a child type
			if err := c.callChildren(t, part, call); err != nil {
				return err
			}
			continue
		}
		if err := call.address(t, version); err != nil {
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
	events := Events{{Source: t.arm(), Names: []string{"write", "delete"}}}
	if len(t.Inside) > 0 { // a write of the parent can change them all
		events = append(events, Event{Source: c.byType[t.In].arm(), Names: []string{"write"}})
	}
	t.Events = append(events, t.Events...)
	if t.Identity {
		t.addIdentity()
	}
	return c.relateARM(t)
}

// listARM puts the stages that list a type in front of the stages of its
// declaration.
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
		last = Stage{When: t.Of, Items: t.Inside}
	case t.isSingleResource(): // the answer itself is the item
		last.Where = append(last.Where, Condition{At: mustPath("id"), Values: []string{"*"}})
	default:
		last.Items = Exprs{mustPath("value")}
	}
	t.List = append(append(stages, last), t.List...)
	return nil
}

// isSingleResource reports whether ListPath is the path of one resource, not of a list: types
// and names alternate in a path, and this one ends with a name.
func (t *Type) isSingleResource() bool {
	return t.Type == azureSubscription || t.In != "" && t.ListPath != "" && strings.Count(t.ListPath, "/")%2 == 0
}

// partPath returns the path from a parent resource to the list of its children.
func (c *Catalog) partPath(t *Type) (string, error) {
	parent := c.byType[t.In]
	if parent == nil || parent.ARM == "" {
		return "", fmt.Errorf("its parent type (in) %s is not declared or has no arm", t.In)
	}
	path, ok := strings.CutPrefix(t.arm(), parent.arm())
	if !ok {
		return "", fmt.Errorf("resource type %s does not begin with %s, the resource type of its parent", t.arm(), parent.arm())
	}
	if t.ListPath != "" {
		path = t.ListPath
	}
	return path, nil
}

// request returns the request that reads resources of the type at a path.
func (t *Type) request(path, version string) Request {
	r := Request{Call: t.arm(), Path: path, Permission: strings.Join(append([]string{t.arm() + "/read"}, t.Permissions...), " ")}
	r.Input.add("api-version", version)
	r.Input.members = append(r.Input.members, t.Query.members...)
	return r
}

// callChildren completes a call that lists the children of a resource. part is their type.
func (c *Catalog) callChildren(t, part *Type, call *Call) error {
	if part.In != t.Type {
		return fmt.Errorf("%s is called, but not declared with this type as its parent (in)", part.Type)
	}
	path, err := c.partPath(part)
	if err != nil {
		return err
	}
	_, version, _ := strings.Cut(part.ARM, "@")
	call.Request = part.request("${id}"+path, version)
	call.Shared = true
	call.When, call.NotFound, call.NotEnabled = part.Of, MeansAbsent, MeansAbsent
	return nil
}

// relateARM adds the edges from a resource to its parent and to its children.
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
			return fmt.Errorf("child type (has) %s is not declared with this type as its parent (in)", name)
		}
		var call Call
		if err := c.callChildren(t, part, &call); err != nil {
			return err
		}
		ref := "value.#.id"
		if part.isSingleResource() {
			ref = "id"
		}
		call.Edges = Edges{{Label: "HAS", To: EntityTypes{name}, Doc: "What it consists of.", Ref: Exprs{mustPath(ref)}}}
		t.Calls = append(t.Calls, call)
	}
	return nil
}

// addIdentity adds the properties and edges for managed identities, which Azure
// describes in the same way for all resources.
func (t *Type) addIdentity() {
	t.Properties = append(t.Properties,
		Property{Name: "identityType", Kind: Text, At: Exprs{mustPath("identity.type")}, Absent: "None", Doc: "The type of managed identity: None, SystemAssigned, UserAssigned, or both of them."},
		Property{Name: "identityPrincipalId", Kind: Text, At: Exprs{mustPath("identity.principalId")}, Doc: "The principal id of its system-assigned identity."},
	)
	paths := Exprs{
		mustPath("identity.principalId"), mustPath("identity.userAssignedIdentities.@values.#.principalId"), mustPath("identity.userAssignedIdentities.@keys"),
	}
	for i, e := range t.Edges {
		if e.Label == "HAS_IDENTITY" { // the declaration adds identities of its own
			t.Edges[i].Ref = append(paths, e.Ref...)
			return
		}
	}
	t.Edges = append(t.Edges, Edge{
		Label: "HAS_IDENTITY", To: EntityTypes{azurePrincipal, azureIdentity}, Ref: paths,
		Doc: "The user-assigned identities that it has, and the principals of all its identities.",
	})
}

// address completes a call that is declared as a path and a version. The path is
// relative to the resource, "." for the resource itself, unless it begins with the
// subscription or with the prefix of Microsoft Graph.
func (r *Request) address(t *Type, version string) error {
	if r.Call == "" {
		return nil
	}
	path, callVersion, ok := strings.Cut(r.Call, "@")
	if ok {
		version = callVersion
	}
	r.Call, r.Path = path, path
	if strings.HasPrefix(path, graphCall) {
		return nil
	}
	if version == "" || strings.Contains(version, "$") { // the version is parsed as a template, but must not have variables
		return fmt.Errorf("%s lacks the version of the API (@...)", r.Call)
	}
	kind := ""
	if rest, ok := strings.CutPrefix(path, subscriptionPath); ok {
		path = rest
	} else {
		if path == "." { // the cases of a declaration name the call TYPE/.
			r.Call, path = t.arm()+"/.", ""
		}
		r.Path = "${id}" + path
		kind = t.arm()
	}
	r.Input.add("api-version", version)
	if r.Permission == "" {
		r.Permission = readPermission(kind, path)
	}
	return nil
}

// readPermission returns the permission to read at a path below a resource type.
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

// getGraphObject adds the call that reads one object of Microsoft Graph. It derives
// the call from the one that lists the objects.
func (t *Type) getGraphObject() {
	if t.Get != nil || len(t.List) == 0 || !strings.HasPrefix(t.List[0].Call, graphCall) {
		return
	}
	get := Stage{Request: t.List[0].Request}
	get.Path += "/$name"
	get.Input = Input{}
	for _, m := range t.List[0].Input.members {
		if m.name != "$top" { // the page size of the list
			get.Input.members = append(get.Input.members, m)
		}
	}
	t.Get = &get
}

// mustPath parses a path that is a constant of this package.
func mustPath(text string) Expr {
	e, err := PathExpr(text)
	if err != nil {
		panic(err)
	}
	return e
}
