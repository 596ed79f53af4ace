package gcp

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/api/iam/v1"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

var boundTo = edge("BOUND_TO", "The roles that the project's policy gives.", roleType)

var serviceAccounts = detailed(declaration{
	Type: serviceAccountType, Service: "iam.gcp", Doc: "An identity of programs.",
	Permissions: []string{"iam.serviceAccounts.list", "iam.serviceAccounts.get", "iam.serviceAccountKeys.list", "resourcemanager.projects.getIamPolicy"},
	Properties: properties{
		text("email", "Its address."),
		text("uniqueId", "Its number."),
		text("displayName", "As people call it."),
		text("description", "What its owner says it is for."),
		flag("disabled", "It cannot be used."),
		flag("userManaged", "Somebody of the project made it; otherwise it comes with a service."),
		texts("bindings", "The roles that the project's policy gives it."),
		flag("privileged", "One of its roles in the project is owner, editor or an administrator's."),
		long("userManagedKeys", "How many keys somebody made for it."),
	},
	Edges: edges{boundTo, edge("HAS", "Its keys.", serviceAccountKeyType)},
	Events: events{
		each("iam", "google.iam.admin.v1.", "CreateServiceAccount", "DeleteServiceAccount", "UndeleteServiceAccount", "UpdateServiceAccount",
			"PatchServiceAccount", "EnableServiceAccount", "DisableServiceAccount", "CreateServiceAccountKey", "DeleteServiceAccountKey", "UploadServiceAccountKey"),
		on("cloudresourcemanager", "SetIamPolicy"),
	},
}, listServiceAccounts, func(ctx context.Context, s *scope, at spot) (*iam.ServiceAccount, error) {
	return s.iam.Projects.ServiceAccounts.Get(at.path).Context(ctx).Do()
}, func(ctx context.Context, s *scope, v *iam.ServiceAccount) (*resource, error) {
	r := s.begin(serviceAccountType, "projects/"+s.project+"/serviceAccounts/"+v.Email)
	r.Text("email", v.Email).Text("uniqueId", v.UniqueId).Text("displayName", v.DisplayName).Text("description", v.Description).
		Flag("disabled", v.Disabled).Flag("userManaged", s.userManaged(v.Email))
	err := s.detail(r, "resourcemanager.projects.getIamPolicy", []string{"bindings", "privileged", boundTo.Label}, func() error {
		given, err := s.projectBindings(ctx)
		if err == nil {
			s.bind(r, given, "serviceAccount:"+v.Email)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, s.detail(r, "iam.serviceAccountKeys.list", []string{"userManagedKeys", "HAS"}, func() error {
		keys, err := s.keysOf(ctx, v.Email)
		if err != nil {
			return err
		}
		made := int64(0)
		for _, k := range keys {
			r.Edge("HAS", s.ref(k.Name, serviceAccountKeyType))
			if k.KeyType == "USER_MANAGED" {
				made++
			}
		}
		r.Number("userManagedKeys", made)
		return nil
	})
})

func listServiceAccounts(ctx context.Context, s *scope, page func([]*iam.ServiceAccount) error) error {
	return s.iam.Projects.ServiceAccounts.List("projects/"+s.project).PageSize(100).Pages(ctx, func(l *iam.ListServiceAccountsResponse) error { return page(l.Accounts) })
}

// bind adds the roles of a member of the project's policy.
func (s *scope) bind(r *resource, given []binding, member string) {
	var roles []string
	privileged := false
	for _, b := range given {
		if !slices.Contains(b.members, member) {
			continue
		}
		roles = append(roles, b.role)
		privileged = privileged || isPrivileged(b.role)
		r.Edge("BOUND_TO", s.role(b.role))
	}
	set(r, "bindings", roles)
	sortEdges(r)
	r.Flag("privileged", privileged)
}

// isPrivileged reports whether a role lets its bearer do what only few should.
func isPrivileged(role string) bool {
	return role == "roles/owner" || role == "roles/editor" || strings.Contains(strings.ToLower(role), "admin")
}

// keysOf returns the keys of a service account.
func (s *scope) keysOf(ctx context.Context, email string) ([]*iam.ServiceAccountKey, error) {
	return s.shared.keys.get(ctx, email, func() ([]*iam.ServiceAccountKey, error) {
		l, err := s.iam.Projects.ServiceAccounts.Keys.List("projects/" + s.project + "/serviceAccounts/" + email).Context(ctx).Do()
		if err != nil {
			return nil, err
		}
		return l.Keys, nil
	})
}

var serviceAccountKeys = listed(declaration{
	Type: serviceAccountKeyType, Service: "iam.gcp", Doc: "A key with which programs prove to be a service account.",
	Permissions: []string{"iam.serviceAccountKeys.list", "iam.serviceAccounts.list", "iam.serviceAccountKeys.get"},
	Properties: properties{
		text("keyType", "USER_MANAGED when somebody made it, SYSTEM_MANAGED when Google keeps it."),
		text("keyOrigin", "GOOGLE_PROVIDED or USER_PROVIDED."),
		text("keyAlgorithm", "Such as KEY_ALG_RSA_2048."),
		text("validAfterTime", "When it was made."),
		text("validBeforeTime", "When it ends."),
		flag("disabled", "It cannot be used."),
	},
	Edges:  edges{edge("OPENS", "The service account it is of.", serviceAccountType)},
	Events: events{each("iam", "google.iam.admin.v1.", "CreateServiceAccountKey", "DeleteServiceAccountKey", "UploadServiceAccountKey", "EnableServiceAccountKey", "DisableServiceAccountKey")},
}, func(ctx context.Context, s *scope, page func([]*iam.ServiceAccountKey) error) error {
	var f failures
	err := listServiceAccounts(ctx, s, func(accounts []*iam.ServiceAccount) error {
		return parallel(ctx, accounts, func(ctx context.Context, a *iam.ServiceAccount) error {
			keys, err := s.keysOf(ctx, a.Email)
			if err != nil {
				return f.Note(s.sorted(err, "iam.serviceAccountKeys.list"))
			}
			return page(keys)
		})
	})
	if err != nil {
		return s.sorted(err, "iam.serviceAccounts.list")
	}
	return f.Err()
}, func(ctx context.Context, s *scope, at spot) (*iam.ServiceAccountKey, error) {
	return s.iam.Projects.ServiceAccounts.Keys.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *iam.ServiceAccountKey) *resource {
	r := s.begin(serviceAccountKeyType, v.Name)
	r.Text("keyType", v.KeyType).Text("keyOrigin", v.KeyOrigin).Text("keyAlgorithm", v.KeyAlgorithm).Flag("disabled", v.Disabled)
	when(r, "validAfterTime", v.ValidAfterTime)
	when(r, "validBeforeTime", v.ValidBeforeTime)
	account, _, _ := strings.Cut(relative(v.Name), "/keys/")
	return r.Edge("OPENS", s.ref(account, serviceAccountType))
})

// principals are all who are given something by the project's policy, but for
// its own service accounts.
var principals = derived(declaration{
	Type: principalType, Service: "cloudresourcemanager", Doc: "Somebody whom the project's policy gives something: a user, a group, a domain, a service account of another project, or everybody.",
	Permissions: []string{"resourcemanager.projects.getIamPolicy"},
	Properties: properties{
		text("member", "As the policy has it, such as user:ada@example.com."),
		text("kind", "user, group, domain, serviceAccount and others."),
		text("email", "The address, where there is one."),
		flag("everybody", "It is allUsers or allAuthenticatedUsers."),
		texts("bindings", "The roles that the project's policy gives."),
		flag("privileged", "One of the roles is owner, editor or an administrator's."),
	},
	Edges:  edges{boundTo},
	Events: events{on("cloudresourcemanager", "SetIamPolicy")},
}, func(ctx context.Context, s *scope, emit collect.Emit) error {
	given, err := s.projectBindings(ctx)
	if err != nil {
		return err
	}
	var members []string
	for _, b := range given {
		members = append(members, b.members...)
	}
	slices.Sort(members)
	for _, member := range slices.Compact(members) {
		if s.member(member) != principalType.ID(s.account, "", member) {
			continue // a service account of the project
		}
		kind, address, _ := strings.Cut(member, ":")
		r := s.derive(principalType, member).Text("member", member).Text("kind", kind).Flag("everybody", kind == "allUsers" || kind == "allAuthenticatedUsers")
		if strings.Contains(address, "@") {
			r.Text("email", address)
		}
		s.bind(r, given, member)
		if err := emit(r); err != nil {
			return err
		}
	}
	return nil
})

// roles are the project's own, and those of Google that its policy gives to
// somebody.
var roles = derived(declaration{
	Type: roleType, Service: "iam.gcp", Doc: "What somebody may do: a role of the project, or one of Google's that is given to somebody.",
	Permissions: []string{"iam.roles.list", "resourcemanager.projects.getIamPolicy"},
	Properties: properties{
		text("roleName", "As policies have it, such as roles/viewer."),
		text("title", "As people call it."),
		text("stage", "GA, DISABLED and others."),
		flag("custom", "The project made it."),
		flag("privileged", "It is owner, editor or an administrator's."),
		texts("includedPermissions", "What a role of the project allows."),
	},
	Events: events{
		each("iam", "google.iam.admin.v1.", "CreateRole", "UpdateRole", "DeleteRole", "UndeleteRole"),
		on("cloudresourcemanager", "SetIamPolicy"),
	},
}, func(ctx context.Context, s *scope, emit collect.Emit) error {
	err := s.iam.Projects.Roles.List("projects/"+s.project).PageSize(300).View("FULL").Pages(ctx, func(l *iam.ListRolesResponse) error {
		for _, v := range l.Roles {
			r := s.begin(roleType, v.Name)
			r.Text("roleName", v.Name).Text("title", v.Title).Text("stage", v.Stage).Flag("custom", true).Flag("privileged", isPrivileged(v.Name))
			if err := emitOne(set(r, "includedPermissions", v.IncludedPermissions), emit); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return s.sorted(err, "iam.roles.list")
	}
	given, err := s.projectBindings(ctx)
	if err != nil {
		return s.sorted(err, "resourcemanager.projects.getIamPolicy")
	}
	seen := map[string]bool{}
	for _, b := range given {
		if seen[b.role] || s.role(b.role) != roleType.ID(s.account, posture.Global, b.role) {
			continue
		}
		seen[b.role] = true
		if err := emit(s.derive(roleType, b.role).Text("roleName", b.role).Flag("custom", false).Flag("privileged", isPrivileged(b.role))); err != nil {
			return err
		}
	}
	return nil
})

var identityPools = listed(declaration{
	Type: identityPoolType, Service: "iam.gcp", Doc: "Identities of another cloud or provider that may act here.",
	Permissions: []string{"iam.workloadIdentityPools.list", "iam.workloadIdentityPools.get"},
	Properties: properties{
		text("displayName", "As people call it."),
		text("state", "ACTIVE or DELETED."),
		flag("disabled", "It cannot be used."),
	},
	Events: events{each("iam", "google.iam.v1.WorkloadIdentityPools.", "CreateWorkloadIdentityPool", "UpdateWorkloadIdentityPool", "DeleteWorkloadIdentityPool")},
}, func(ctx context.Context, s *scope, page func([]*iam.WorkloadIdentityPool) error) error {
	return s.iam.Projects.Locations.WorkloadIdentityPools.List("projects/"+s.project+"/locations/global").PageSize(100).
		Pages(ctx, func(l *iam.ListWorkloadIdentityPoolsResponse) error { return page(l.WorkloadIdentityPools) })
}, func(ctx context.Context, s *scope, at spot) (*iam.WorkloadIdentityPool, error) {
	return s.iam.Projects.Locations.WorkloadIdentityPools.Get(at.path).Context(ctx).Do()
}, func(s *scope, v *iam.WorkloadIdentityPool) *resource {
	return s.begin(identityPoolType, v.Name).Text("displayName", v.DisplayName).Text("state", v.State).Flag("disabled", v.Disabled)
})
