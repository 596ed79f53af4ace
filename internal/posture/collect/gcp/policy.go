package gcp

import (
	"context"
	"strings"

	"google.golang.org/api/cloudresourcemanager/v1"

	"vigil/internal/posture"
)

// A binding gives a role to members.
type binding struct {
	role        string
	members     []string
	conditional bool
}

// bindings takes the bindings of a policy from the types of its service.
func bindings[B any](from []B, take func(B) binding) []binding {
	all := make([]binding, len(from))
	for i, b := range from {
		all[i] = take(b)
	}
	return all
}

// What a policy tells of the resource it is on.
var policyProperties = properties{
	texts("bindings", "Who is given what by its own policy: a role and a member each, such as roles/viewer user:ada@example.com."),
	flag("allUsers", "Its policy gives something to everybody."),
	flag("allAuthenticatedUsers", "Its policy gives something to everybody who has an account with Google."),
}

var policyEdge = edge("GRANTS", "Whom its policy gives something, with the role.", principalType, serviceAccountType)

// policyNames are the properties and edges that a policy tells.
var policyNames = append(names(policyProperties), policyEdge.Label)

// grant adds what a policy tells to the resource it is on.
func (s *scope) grant(r *resource, policy []binding) {
	var all []string
	public := map[string]bool{}
	for _, b := range policy {
		for _, member := range b.members {
			all = append(all, b.text(member))
			public[member] = true
			r.Edge("GRANTS", s.member(member), posture.Text("role", b.role))
		}
	}
	set(r, "bindings", all)
	sortEdges(r)
	r.Flag("allUsers", public["allUsers"]).Flag("allAuthenticatedUsers", public["allAuthenticatedUsers"])
}

// text describes what a member is given.
func (b binding) text(member string) string {
	if b.conditional {
		return b.role + " " + member + " (conditional)"
	}
	return b.role + " " + member
}

// member returns the id of who a policy names: a service account of the project,
// or somebody else.
func (s *session) member(name string) posture.EntityID {
	if email, ok := strings.CutPrefix(name, "serviceAccount:"); ok && s.owns(email) {
		return s.serviceAccount(email)
	}
	return principalType.ID(s.account, posture.Global, name)
}

// owns reports whether a service account is one of the project. Those that Google
// uses on a project's behalf are not.
func (s *session) owns(email string) bool {
	return s.userManaged(email) || email == s.defaultAccount() || email == s.project+"@appspot.gserviceaccount.com"
}

// userManaged reports whether somebody made a service account of the project.
func (s *session) userManaged(email string) bool {
	return strings.HasSuffix(email, "@"+domainOf(s.project)+".iam.gserviceaccount.com")
}

// domainOf returns the part of service accounts' addresses that names a project.
// The project example.com:p has those of p.example.com.
func domainOf(project string) string {
	if domain, name, ok := strings.Cut(project, ":"); ok {
		return name + "." + domain
	}
	return project
}

// defaultAccount is the service account that instances run as unless told
// otherwise.
func (s *session) defaultAccount() string { return s.number + "-compute@developer.gserviceaccount.com" }

// serviceAccount returns the id of a service account. One that is not the
// project's is somebody else.
func (s *session) serviceAccount(email string) posture.EntityID {
	switch {
	case email == "":
		return ""
	case email == "default":
		email = s.defaultAccount()
	case !s.owns(email):
		return principalType.ID(s.account, posture.Global, "serviceAccount:"+email)
	}
	return serviceAccountType.ID(s.account, posture.Global, email)
}

// role returns the id of a role: of the project, or of Google.
func (s *session) role(name string) posture.EntityID {
	return roleType.ID(s.account, posture.Global, roleName(name))
}

// roleName returns the name of a role: roles/viewer, or what follows the project
// for its own.
func roleName(name string) string {
	if _, own, ok := strings.Cut(name, "/roles/"); ok && strings.HasPrefix(name, "projects/") {
		return own
	}
	return name
}

// projectPolicy returns the policy of the project, which several collectors need.
func (s *scope) projectPolicy(ctx context.Context) (*cloudresourcemanager.Policy, error) {
	return s.shared.policy.get(ctx, func() (*cloudresourcemanager.Policy, error) {
		return s.resources.Projects.GetIamPolicy(s.project, &cloudresourcemanager.GetIamPolicyRequest{
			Options: &cloudresourcemanager.GetPolicyOptions{RequestedPolicyVersion: 3}, // 1 leaves conditions out
		}).Context(ctx).Do()
	})
}

// projectBindings returns the bindings of the project's policy.
func (s *scope) projectBindings(ctx context.Context) ([]binding, error) {
	policy, err := s.projectPolicy(ctx)
	if err != nil {
		return nil, err
	}
	return bindings(policy.Bindings, func(b *cloudresourcemanager.Binding) binding {
		return binding{b.Role, b.Members, b.Condition != nil}
	}), nil
}
