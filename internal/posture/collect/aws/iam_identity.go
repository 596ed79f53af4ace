package aws

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/iampolicy"
)

// authorization passes on what GetAccountAuthorizationDetails tells: identities
// and policies with all their attachments, a thousand to a call, where the
// single calls would be several for each.
func authorization(ctx context.Context, s *scope, page func(*iam.GetAccountAuthorizationDetailsOutput) error, kinds ...types.EntityType) error {
	in := &iam.GetAccountAuthorizationDetailsInput{Filter: kinds, MaxItems: aws.Int32(1000)}
	return each(ctx, iam.NewGetAccountAuthorizationDetailsPaginator(iam.NewFromConfig(s.config), in), page)
}

// A reportedUser is a user with its line of the credential report.
type reportedUser struct {
	types.UserDetail
	line    reportLine
	lineErr error
}

var users = listed(declaration{
	Type: userType, Scope: collect.PerAccount, Service: "iam", Doc: "A person or program with a name of its own.",
	Permissions: []string{"iam:GetAccountAuthorizationDetails", "iam:GenerateCredentialReport", "iam:GetCredentialReport"},
	Properties: append(properties{
		text("userId", "Its id, which no other user ever had."),
		text("path", "Where it is in the account's order."),
		text("createDate", "When it was made."),
		texts("groups", "The groups it is in."),
		texts("inlinePolicies", "The names of its own policies."),
		texts("attachedPolicies", "The managed policies attached to it."),
		flag("inlineAllowsAdmin", "A policy of its own allows everything on everything."),
		text("permissionsBoundary", "The policy that bounds what it may do."),
	}, reportProperties...),
	Edges: edges{
		edge("MEMBER_OF", "The groups it is in.", groupType),
		edge("HAS_POLICY", "The managed policies attached to it.", policyType),
		edge("BOUNDED_BY", "The policy that bounds what it may do.", policyType),
		edge("HAS_KEY", "Its access keys.", accessKeyType),
	},
	Events: events{on("iam", "CreateUser", "DeleteUser", "UpdateUser", "CreateLoginProfile", "UpdateLoginProfile", "DeleteLoginProfile",
		"EnableMFADevice", "DeactivateMFADevice", "CreateAccessKey", "UpdateAccessKey", "DeleteAccessKey", "AttachUserPolicy", "DetachUserPolicy",
		"PutUserPolicy", "DeleteUserPolicy", "AddUserToGroup", "RemoveUserFromGroup", "PutUserPermissionsBoundary",
		"DeleteUserPermissionsBoundary", "TagUser", "UntagUser")},
}, func(ctx context.Context, s *scope, _ []string, page func([]reportedUser) error) error {
	lines, reportErr := s.report.read(ctx, s)
	if collect.Over(reportErr) {
		return reportErr
	}
	return authorization(ctx, s, func(out *iam.GetAccountAuthorizationDetailsOutput) error {
		all := make([]reportedUser, len(out.UserDetailList))
		for i, u := range out.UserDetailList {
			all[i] = reportedUser{u, lines[aws.ToString(u.UserName)], reportErr}
		}
		return page(all)
	}, types.EntityTypeUser)
}, func(s *scope, v *reportedUser) *resource {
	r := s.iam(userType, v.UserName, v.Arn, v.Tags)
	r.Text("userId", aws.ToString(v.UserId)).Text("path", aws.ToString(v.Path))
	when(r, "createDate", v.CreateDate)
	set(r, "groups", v.GroupList)
	for _, g := range v.GroupList {
		r.Edge("MEMBER_OF", s.global(groupType, g))
	}
	s.policies(r, v.UserPolicyList, v.AttachedManagedPolicies, v.PermissionsBoundary)
	if v.lineErr != nil {
		return r.Unread(v.lineErr, reportNames...)
	}
	v.line.facts(r)
	for n := range v.line.keys() {
		r.Edge("HAS_KEY", s.global(accessKeyType, keyName(r.Name, n)))
	}
	return r
})

var groups = listed(declaration{
	Type: groupType, Scope: collect.PerAccount, Service: "iam", Doc: "A set of users with the same policies.",
	Permissions: []string{"iam:GetAccountAuthorizationDetails"},
	Properties: properties{
		text("groupId", "Its id."),
		text("path", "Where it is in the account's order."),
		text("createDate", "When it was made."),
		texts("inlinePolicies", "The names of its own policies."),
		texts("attachedPolicies", "The managed policies attached to it."),
		flag("inlineAllowsAdmin", "A policy of its own allows everything on everything."),
	},
	Edges: edges{edge("HAS_POLICY", "The managed policies attached to it.", policyType)},
	Events: events{on("iam", "CreateGroup", "DeleteGroup", "UpdateGroup", "AttachGroupPolicy", "DetachGroupPolicy", "PutGroupPolicy",
		"DeleteGroupPolicy")},
}, func(ctx context.Context, s *scope, _ []string, page func([]types.GroupDetail) error) error {
	return authorization(ctx, s, func(out *iam.GetAccountAuthorizationDetailsOutput) error { return page(out.GroupDetailList) }, types.EntityTypeGroup)
}, func(s *scope, v *types.GroupDetail) *resource {
	r := s.iam(groupType, v.GroupName, v.Arn, nil)
	r.Text("groupId", aws.ToString(v.GroupId)).Text("path", aws.ToString(v.Path))
	s.policies(r, v.GroupPolicyList, v.AttachedManagedPolicies, nil)
	return when(r, "createDate", v.CreateDate)
})

var roles = listed(declaration{
	Type: roleType, Scope: collect.PerAccount, Service: "iam", Doc: "What somebody else may act as.",
	Permissions: []string{"iam:GetAccountAuthorizationDetails"},
	Properties: properties{
		text("roleId", "Its id."),
		text("path", "Where it is in the account's order."),
		text("createDate", "When it was made."),
		text("lastUsedDate", "The day it was last used."),
		text("assumeRolePolicyDocument", "Its trust policy as JSON."),
		flag("trustIsPublic", "Anybody may act as it: there is no condition that tells callers apart."),
		texts("inlinePolicies", "The names of its own policies."),
		texts("attachedPolicies", "The managed policies attached to it."),
		flag("inlineAllowsAdmin", "A policy of its own allows everything on everything."),
		text("permissionsBoundary", "The policy that bounds what it may do."),
	},
	Edges: edges{
		edge("TRUSTS", "Who may act as it, with whether a condition restricts that.", principalType),
		edge("HAS_POLICY", "The managed policies attached to it.", policyType),
		edge("BOUNDED_BY", "The policy that bounds what it may do.", policyType),
	},
	Events: events{on("iam", "CreateRole", "DeleteRole", "UpdateRole", "UpdateAssumeRolePolicy", "AttachRolePolicy", "DetachRolePolicy",
		"PutRolePolicy", "DeleteRolePolicy", "PutRolePermissionsBoundary", "DeleteRolePermissionsBoundary", "TagRole", "UntagRole")},
}, listRoles, func(s *scope, v *types.RoleDetail) *resource {
	r := s.iam(roleType, v.RoleName, v.Arn, v.Tags)
	r.Text("roleId", aws.ToString(v.RoleId)).Text("path", aws.ToString(v.Path))
	when(r, "createDate", v.CreateDate)
	if used := v.RoleLastUsed; used != nil && used.LastUsedDate != nil {
		r.Text("lastUsedDate", used.LastUsedDate.UTC().Format(time.DateOnly))
	}
	trust, plainText, ok := iampolicy.Parse(aws.ToString(v.AssumeRolePolicyDocument))
	r.Text("assumeRolePolicyDocument", plainText)
	if ok {
		r.Flag("trustIsPublic", trust.Public())
		for who, restricted := range trust.Trusted() {
			r.Edge("TRUSTS", s.global(principalType, who), posture.Flag("restricted", restricted))
		}
	}
	s.policies(r, v.RolePolicyList, v.AttachedManagedPolicies, v.PermissionsBoundary)
	return r
})

func listRoles(ctx context.Context, s *scope, _ []string, page func([]types.RoleDetail) error) error {
	return authorization(ctx, s, func(out *iam.GetAccountAuthorizationDetailsOutput) error { return page(out.RoleDetailList) }, types.EntityTypeRole)
}

// iam begins an entity of IAM.
func (s *scope) iam(t posture.EntityType, name, arn *string, tags []types.Tag) *resource {
	r := s.resource(t, aws.ToString(name))
	r.XID = aws.ToString(arn)
	for _, tag := range tags {
		r.Tag(aws.ToString(tag.Key), aws.ToString(tag.Value))
	}
	return r
}

// policies adds what an identity may do.
func (s *scope) policies(r *resource, inline []types.PolicyDetail, attached []types.AttachedPolicy, boundary *types.AttachedPermissionsBoundary) {
	var own, managed []string
	admin := false
	for _, p := range inline {
		own = append(own, aws.ToString(p.PolicyName))
		d, _, ok := iampolicy.Parse(aws.ToString(p.PolicyDocument))
		admin = admin || ok && d.Admin()
	}
	for _, p := range attached {
		managed = append(managed, aws.ToString(p.PolicyArn))
		r.Edge("HAS_POLICY", s.refs(p.PolicyArn))
	}
	set(r, "inlinePolicies", own)
	set(r, "attachedPolicies", managed)
	r.Flag("inlineAllowsAdmin", admin)
	if boundary != nil {
		r.Text("permissionsBoundary", aws.ToString(boundary.PermissionsBoundaryArn))
		r.Edge("BOUNDED_BY", s.refs(boundary.PermissionsBoundaryArn))
	}
}

// principalsOf lists whom the roles of the account trust, so that they can be
// asked for in the graph.
var principalsOf = collector{
	Declaration: declaration{
		Type: principalType, Scope: collect.PerAccount, Service: "iam", Doc: "Whom a role of the account trusts.",
		Permissions: []string{"iam:GetAccountAuthorizationDetails"},
		Properties: properties{
			text("kind", "AWS, Service, Federated, CanonicalUser, or * for anybody."),
			text("value", "The account, identity, service or provider."),
			text("accountId", "The account it belongs to, where it says so."),
			flag("isPublic", "It is anybody."),
			flag("isForeign", "It belongs to another account."),
		},
		Edges:  edges{edge("IS", "The identity of this account that it is.", roleType, userType, samlProviderType, oidcProviderType)},
		Events: events{on("iam", "CreateRole", "DeleteRole", "UpdateAssumeRolePolicy")},
	},
	List: func(ctx context.Context, s *scope, emit collect.Emit) error {
		seen := map[string]bool{}
		return plain(listRoles(ctx, s, nil, func(page []types.RoleDetail) error {
			for _, role := range page {
				trust, _, _ := iampolicy.Parse(aws.ToString(role.AssumeRolePolicyDocument))
				for _, who := range trust.Principals() {
					if seen[who] {
						continue
					}
					seen[who] = true
					if err := emit(s.principal(who)); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	},
	Get: func(_ context.Context, s *scope, name string, emit collect.Emit) error {
		return emit(s.principal(name))
	},
}

func (s *scope) principal(who string) *resource {
	r := s.resource(principalType, who)
	kind, value, ok := strings.Cut(who, ":")
	if !ok {
		kind, value = who, who
	}
	r.XID = value
	r.Text("kind", kind).Text("value", value).Flag("isPublic", who == "*")
	parts := strings.SplitN(value, ":", 6)
	if len(parts) == 6 && parts[0] == "arn" && parts[4] != "" {
		r.Text("accountId", parts[4]).Flag("isForeign", parts[4] != string(s.account))
		if parts[4] == string(s.account) {
			r.Edge("IS", s.ref(value))
		}
	}
	return r
}
