package derive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/gcp"
	"vigil/internal/posture/resource"
)

// The calls that read what a project inherits. Access to the project suffices to read its
// ancestors; reading their policies, deny policies and sinks needs grants on the folders and
// the organisation.
var (
	gcpAncestry     = gcpRequest("POST cloudresourcemanager/v1/projects/$project:getAncestry", "{}", "resourcemanager.projects.get")
	gcpOrgPolicy    = gcpRequest("POST cloudresourcemanager/v1/projects/$project:getEffectiveOrgPolicy", "constraint: constraints/storage.publicAccessPrevention", "orgpolicy.policy.get")
	gcpFolderPolicy = gcpRequest("POST cloudresourcemanager/v3/folders/${id}:getIamPolicy", "options: {requestedPolicyVersion: 3}", "resourcemanager.folders.getIamPolicy")
	gcpOrganization = gcpRequest("POST cloudresourcemanager/v3/organizations/${id}:getIamPolicy", "options: {requestedPolicyVersion: 3}", "resourcemanager.organizations.getIamPolicy")
	gcpFolderSinks  = gcpRequest("logging/v2/folders/${id}/sinks", "pageSize: 1000", "logging.sinks.list")
	gcpOrgSinks     = gcpRequest("logging/v2/organizations/${id}/sinks", "pageSize: 1000", "logging.sinks.list")
	gcpDenyPolicies = gcpRequest("iam/v2/policies/${attachmentPoint}/denypolicies", "pageSize: 1000", "iam.denypolicies.list")
	gcpDenyPolicy   = gcpRequest("iam/v2/${name}", "{}", "iam.denypolicies.get")
	gcpRoleGet      = gcpRequest("iam/v1/${name}", "{}", "iam.roles.get")
)

func gcpRequest(call, input, permission string) resource.Request {
	r := resource.NewRequest(call, input)
	r.Permission = permission
	return r
}

// gcpChainPermissions are the permissions for reading a gcpChain.
var gcpChainPermissions = []string{
	gcpAncestry.Permission, gcpFolderPolicy.Permission, gcpOrganization.Permission, gcpDenyPolicies.Permission, gcpDenyPolicy.Permission,
}

// A gcpParent is a folder or an organisation that contains the project.
type gcpParent struct{ kind, id string }

func (p gcpParent) String() string { return p.kind + "s/" + p.id }

// A gcpChain holds the policies that a project inherits from its folders and organisation.
type gcpChain struct {
	policies []gjson.Result // IAM policies, nearest parent first
	parents  []gcpParent
	refused  error // error of a policy that could not be read, with the missing permission
}

// gcpParents returns the folders and the organisation of the project, nearest first.
func gcpParents(in resource.FunctionInput) ([]gcpParent, error) {
	answers, err := in.Caller.Call(in.Ctx, gcpAncestry, nil)
	if err != nil {
		return nil, err
	}
	var all []gcpParent
	for _, answer := range answers {
		for _, a := range answer.Get("ancestor").Array() {
			switch kind := a.Get("resourceId.type").String(); kind {
			case "folder", "organization":
				all = append(all, gcpParent{kind, a.Get("resourceId.id").String()})
			case "project":
			default:
				return nil, fmt.Errorf("the project has a parent of unknown kind %q", kind)
			}
		}
	}
	return all, nil
}

// gcpUnread returns an error that says what could not be read and wraps the cause, which names
// the missing permission.
func gcpUnread(what string, err error) error {
	return fmt.Errorf("%s could not be read: %w", what, err)
}

// unread returns the reason why a policy could not be read, or "" if all were read.
func (c *gcpChain) unread() string {
	if c.refused == nil {
		return ""
	}
	return c.refused.Error()
}

// gcpInherited returns what the project inherits. It is read once for all items of a list. It
// fails only with errors for which [collect.IsFatal] is true; others are stored in the chain.
func gcpInherited(in resource.FunctionInput) (gcpChain, error) {
	chain, err := in.Caller.Once("IAM policies of folders and organisation", func() (any, error) {
		var c gcpChain
		parents, err := gcpParents(in)
		if err != nil {
			if collect.IsFatal(err) {
				return c, err
			}
			c.refused = gcpUnread("the folders and organisation of the project", err)
		}
		for _, p := range parents {
			q := gcpFolderPolicy
			if p.kind == "organization" {
				q = gcpOrganization
			}
			answers, err := in.Caller.Call(in.Ctx, q, new(gcpItem(map[string]any{"id": p.id})))
			switch {
			case err != nil && collect.IsFatal(err):
				return c, err
			case err != nil && c.refused == nil:
				c.refused = gcpUnread("the IAM policy of "+p.String(), err)
			}
			c.policies = append(c.policies, answers...)
		}
		c.parents = parents
		return c, nil
	})
	if err != nil {
		return gcpChain{}, err
	}
	return chain.(gcpChain), nil
}

// gcpDenies returns the deny policies of the project and its ancestors. It is called only for
// access that would otherwise be allowed. Unreadable deny policies are reported and ignored:
// since they can only remove access, the result errs on the side of reporting too much access.
func gcpDenies(in resource.FunctionInput, b *resource.Builder, parents []gcpParent) ([]gjson.Result, error) {
	type outcome struct {
		all     []gjson.Result
		refused error
	}
	read, err := in.Caller.Once("deny policies", func() (any, error) {
		all, err := gcpReadDenies(in, parents)
		if err != nil && collect.IsFatal(err) {
			return nil, err
		}
		return outcome{all, err}, nil
	})
	if err != nil {
		return nil, err
	}
	o := read.(outcome)
	if o.refused != nil {
		b.Unread(o.refused)
	}
	return o.all, nil
}

// gcpReadDenies returns the deny policies of a project and its parents. The API names a policy
// by its attachment point: the project, folder or organisation that it is attached to.
func gcpReadDenies(in resource.FunctionInput, parents []gcpParent) (all []gjson.Result, refused error) {
	points := []string{"projects/" + string(in.Account)}
	for _, p := range parents {
		points = append(points, p.String())
	}
	for _, point := range points {
		escaped := strings.ReplaceAll("cloudresourcemanager.googleapis.com/"+point, "/", "%2F")
		lists, err := in.Caller.Call(in.Ctx, gcpDenyPolicies, new(gcpItem(map[string]any{"attachmentPoint": escaped})))
		if err != nil {
			if collect.IsFatal(err) {
				return nil, err
			}
			refused = cmp.Or(refused, gcpUnread("the deny policies of "+point, err))
		}
		for _, list := range lists {
			for _, name := range texts(list.Get("policies.#.name")) {
				answers, err := in.Caller.Call(in.Ctx, gcpDenyPolicy, new(gcpItem(map[string]any{"name": name})))
				if err != nil {
					if collect.IsFatal(err) {
						return nil, err
					}
					refused = cmp.Or(refused, gcpUnread(name, err))
				}
				all = append(all, answers...)
			}
		}
	}
	return all, refused
}

// gcpPermissionsOf returns a function that reads the permissions of roles, each once. It stores
// the error of an unreadable role in refused.
func gcpPermissionsOf(in resource.FunctionInput, refused *error) gcp.Role {
	return func(name string) ([]string, bool) {
		read, err := in.Caller.Once("role "+name, func() (any, error) {
			answers, err := in.Caller.Call(in.Ctx, gcpRoleGet, new(gcpItem(map[string]any{"name": name})))
			switch {
			case errors.Is(err, collect.ErrGone):
				return []string(nil), nil // a deleted role grants nothing
			case err != nil || len(answers) == 0:
				return nil, cmp.Or(err, errNoRole)
			}
			return gcpRolePermissions(answers[0]), nil
		})
		if err != nil {
			*refused = cmp.Or(*refused, gcpUnread("the permissions of "+name, err))
			return nil, false
		}
		return read.([]string), true
	}
}

var errNoRole = errors.New("the role could not be read")

// gcpRolePermissions returns the permissions of a role, nil when it is deleted or disabled.
func gcpRolePermissions(role gjson.Result) []string {
	if role.Get("deleted").Bool() || role.Get("stage").String() == "DISABLED" {
		return nil
	}
	return texts(role.Get("includedPermissions"))
}

// gcpMemberPower adds what a member may do by the policies of the project and its ancestors.
func gcpMemberPower(in resource.FunctionInput, b *resource.Builder, member string, policy gjson.Result) error {
	chain, err := gcpInherited(in)
	if err != nil {
		return err
	}
	var inherited []string
	for _, parent := range chain.policies {
		for _, role := range gcpRolesOf(parent.Get("bindings"))[member] {
			if !slices.Contains(inherited, role) {
				inherited = append(inherited, role)
			}
		}
	}
	if chain.refused != nil {
		b.Unread(chain.refused, "inheritedBindings")
	} else {
		b.Set("inheritedBindings", inherited)
	}
	policies := append([]gjson.Result{policy}, chain.policies...)
	refused := chain.refused
	roles := gcpPermissionsOf(in, &refused)
	answer := gcp.Privileged(member, policies, nil, roles, chain.unread())
	if answer.Truth == predicate.Yes {
		denies, err := gcpDenies(in, b, chain.parents)
		if err != nil {
			return err
		}
		answer = gcp.Privileged(member, policies, denies, roles, chain.unread())
		refused = nil // if the answer is unknown now, the reason is a deny policy, not the refused call
	}
	putAnswerOrRefusal(b, "privileged", answer, refused)
	return nil
}

// gcpMemberProperties are the properties that gcpMemberPower adds.
var gcpMemberProperties = []resource.Property{
	{Name: "inheritedBindings", Kind: resource.Texts, Doc: "The roles that the IAM policies of its folders and organisation grant it."},
	{Name: "privileged", Kind: resource.Flag, Doc: "It controls the project: by a role on the project, a folder or the organisation it may change policies or roles, act for service accounts, or change everything."},
}

// gcpMemberPermissions are the permissions that gcpMemberPower needs.
var gcpMemberPermissions = append(slices.Clone(gcpChainPermissions), gcpRoleGet.Permission)

// gcpPrivilegedMember adds what a member of the project's policy may do.
var gcpPrivilegedMember = resource.Function{
	Properties:  gcpMemberProperties,
	Permissions: gcpMemberPermissions,
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		return gcpMemberPower(in, b, in.Item.Get("member").String(), in.Value)
	},
}

// gcpPrivilegedRole adds whether a role controls a project.
var gcpPrivilegedRole = resource.Function{
	Properties:  []resource.Property{{Name: "privileged", Kind: resource.Flag, Doc: "Who has it on a project controls the project: it may change policies or roles, act for service accounts, or change everything."}},
	Permissions: []string{gcpRoleGet.Permission},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var refused error
		read := gcpPermissionsOf(in, &refused)
		if in.Value.Get("custom").Bool() {
			read = func(string) ([]string, bool) { return gcpRolePermissions(in.Value), true }
		}
		putAnswerOrRefusal(b, "privileged", gcp.Controls(in.Value.Get("name").String(), read), refused)
		return nil
	},
}

// gcpExportsAllLogs adds whether a log sink of the project, or one of a folder or the
// organisation that includes its children, exports all log entries.
var gcpExportsAllLogs = resource.Function{
	Properties:  []resource.Property{{Name: "exportsAllLogs", Kind: resource.Flag, Doc: "A log sink without a filter exports every log entry: one of the project, or of a folder or the organisation with includeChildren."}},
	Permissions: []string{gcpAncestry.Permission, gcpFolderSinks.Permission},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		exportsAll := func(sink gjson.Result) bool {
			return strings.TrimSpace(sink.Get("filter").String()) == "" && !sink.Get("disabled").Bool() && len(sink.Get("exclusions").Array()) == 0
		}
		if slices.ContainsFunc(in.Value.Get("sinks").Array(), exportsAll) {
			b.Flag("exportsAllLogs", true)
			return nil
		}
		answer := predicate.Of(false, "")
		parents, err := gcpParents(in)
		if err != nil {
			if collect.IsFatal(err) {
				return err
			}
			b.Unread(gcpUnread("the folders and organisation of the project", err), "exportsAllLogs")
			return nil
		}
		var refused error
		for _, p := range parents {
			q := gcpFolderSinks
			if p.kind == "organization" {
				q = gcpOrgSinks
			}
			pages, err := in.Caller.Call(in.Ctx, q, new(gcpItem(map[string]any{"id": p.id})))
			if err != nil && collect.IsFatal(err) {
				return err
			}
			if err != nil {
				refused = cmp.Or(refused, gcpUnread("the log sinks of "+p.String(), err))
				answer = predicate.Or(answer, predicate.NotKnown(refused.Error()))
			}
			for _, page := range pages {
				found := slices.ContainsFunc(page.Get("sinks").Array(), func(sink gjson.Result) bool { return sink.Get("includeChildren").Bool() && exportsAll(sink) })
				answer = predicate.Or(answer, predicate.Of(found, "a log sink of "+p.String()))
			}
		}
		putAnswerOrRefusal(b, "exportsAllLogs", answer, refused)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("exportsAllLogs", false) },
}
