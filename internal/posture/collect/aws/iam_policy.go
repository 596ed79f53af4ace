package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/iampolicy"
)

// An attachedPolicy is a policy and what it is attached to.
type attachedPolicy struct {
	types.ManagedPolicyDetail
	to []posture.EntityID
}

var policies = listed(declaration{
	Type: policyType, Scope: collect.PerAccount, Service: "iam", Doc: "What identities may do. Those of AWS are here when they are attached to something.",
	Permissions: []string{"iam:GetAccountAuthorizationDetails"},
	Properties: properties{
		text("policyId", "Its id."),
		text("path", "Where it is in the account's order."),
		text("document", "The version in force, as JSON."),
		flag("allowsAdmin", "It allows everything on everything."),
		long("attachmentCount", "How many identities it is attached to."),
		long("boundaryCount", "How many identities it bounds."),
		flag("isAwsManaged", "It is one of AWS."),
		text("defaultVersionId", "The version in force."),
		text("createDate", "When it was made."),
		text("updateDate", "When it got a new version in force."),
	},
	Edges: edges{edge("ATTACHED_TO", "The identities it is attached to.", userType, groupType, roleType)},
	Events: events{on("iam", "CreatePolicy", "DeletePolicy", "CreatePolicyVersion", "DeletePolicyVersion", "SetDefaultPolicyVersion",
		"AttachUserPolicy", "DetachUserPolicy", "AttachGroupPolicy", "DetachGroupPolicy", "AttachRolePolicy", "DetachRolePolicy")},
}, func(ctx context.Context, s *scope, _ []string, page func([]attachedPolicy) error) error {
	to, err := attachments(ctx, s)
	if err != nil {
		return err
	}
	return authorization(ctx, s, func(out *iam.GetAccountAuthorizationDetailsOutput) error {
		all := make([]attachedPolicy, len(out.Policies))
		for i, p := range out.Policies {
			all[i] = attachedPolicy{p, to[aws.ToString(p.Arn)]}
		}
		return page(all)
	}, types.EntityTypeLocalManagedPolicy, types.EntityTypeAWSManagedPolicy)
}, func(s *scope, v *attachedPolicy) *resource {
	arn := aws.ToString(v.Arn)
	r := s.resource(policyType, policyName(arn))
	r.Name, r.XID = aws.ToString(v.PolicyName), arn
	r.Text("policyId", aws.ToString(v.PolicyId)).Text("path", aws.ToString(v.Path)).Flag("isAwsManaged", strings.Contains(arn, ":iam::aws:")).
		Text("defaultVersionId", aws.ToString(v.DefaultVersionId))
	number(r, "attachmentCount", v.AttachmentCount)
	number(r, "boundaryCount", v.PermissionsBoundaryUsageCount)
	when(r, "createDate", v.CreateDate)
	when(r, "updateDate", v.UpdateDate)
	for _, version := range v.PolicyVersionList {
		if version.IsDefaultVersion {
			d, plainText, ok := iampolicy.Parse(aws.ToString(version.Document))
			r.Text("document", plainText)
			r.Flag("allowsAdmin", ok && d.Admin())
		}
	}
	for _, id := range v.to {
		r.Edge("ATTACHED_TO", id)
	}
	return r
})

// attachments returns what each managed policy is attached to: the identities
// tell, the policies do not.
func attachments(ctx context.Context, s *scope) (map[string][]posture.EntityID, error) {
	to := map[string][]posture.EntityID{}
	add := func(t posture.EntityType, name *string, attached []types.AttachedPolicy) {
		for _, p := range attached {
			arn := aws.ToString(p.PolicyArn)
			to[arn] = append(to[arn], s.id(t, name))
		}
	}
	err := authorization(ctx, s, func(out *iam.GetAccountAuthorizationDetailsOutput) error {
		for _, u := range out.UserDetailList {
			add(userType, u.UserName, u.AttachedManagedPolicies)
		}
		for _, g := range out.GroupDetailList {
			add(groupType, g.GroupName, g.AttachedManagedPolicies)
		}
		for _, role := range out.RoleDetailList {
			add(roleType, role.RoleName, role.AttachedManagedPolicies)
		}
		return nil
	}, types.EntityTypeUser, types.EntityTypeGroup, types.EntityTypeRole)
	return to, err
}

var instanceProfiles = listed(declaration{
	Type: instanceProfileType, Scope: collect.PerAccount, Service: "iam", Doc: "How a role is given to instances.",
	Permissions: []string{"iam:ListInstanceProfiles"},
	Properties: properties{
		text("instanceProfileId", "Its id."),
		text("path", "Where it is in the account's order."),
		text("createDate", "When it was made."),
	},
	Edges:  edges{edge("HAS_ROLE", "The role that instances with it act as.", roleType)},
	Events: events{on("iam", "CreateInstanceProfile", "DeleteInstanceProfile", "AddRoleToInstanceProfile", "RemoveRoleFromInstanceProfile")},
}, func(ctx context.Context, s *scope, _ []string, page func([]types.InstanceProfile) error) error {
	in := &iam.ListInstanceProfilesInput{MaxItems: aws.Int32(1000)}
	return each(ctx, iam.NewListInstanceProfilesPaginator(iam.NewFromConfig(s.config), in), func(out *iam.ListInstanceProfilesOutput) error {
		return page(out.InstanceProfiles)
	})
}, func(s *scope, v *types.InstanceProfile) *resource {
	r := s.iam(instanceProfileType, v.InstanceProfileName, v.Arn, v.Tags)
	r.Text("instanceProfileId", aws.ToString(v.InstanceProfileId)).Text("path", aws.ToString(v.Path))
	for _, role := range v.Roles {
		r.Edge("HAS_ROLE", s.id(roleType, role.RoleName))
	}
	return when(r, "createDate", v.CreateDate)
})

var serverCertificates = listed(declaration{
	Type: serverCertificateType, Scope: collect.PerAccount, Service: "iam", Doc: "A certificate kept in IAM.",
	Permissions: []string{"iam:ListServerCertificates"},
	Properties: properties{
		text("serverCertificateId", "Its id."),
		text("path", "Where it is in the account's order."),
		text("expiration", "When it ends."),
		text("uploadDate", "When it was put there."),
	},
	Events: events{on("iam", "UploadServerCertificate", "DeleteServerCertificate", "UpdateServerCertificate")},
}, func(ctx context.Context, s *scope, _ []string, page func([]types.ServerCertificateMetadata) error) error {
	in := &iam.ListServerCertificatesInput{MaxItems: aws.Int32(1000)}
	return each(ctx, iam.NewListServerCertificatesPaginator(iam.NewFromConfig(s.config), in), func(out *iam.ListServerCertificatesOutput) error {
		return page(out.ServerCertificateMetadataList)
	})
}, func(s *scope, v *types.ServerCertificateMetadata) *resource {
	r := s.iam(serverCertificateType, v.ServerCertificateName, v.Arn, nil)
	r.Text("serverCertificateId", aws.ToString(v.ServerCertificateId)).Text("path", aws.ToString(v.Path))
	when(r, "uploadDate", v.UploadDate)
	return when(r, "expiration", v.Expiration)
})

var mfaDevices = listed(declaration{
	Type: mfaDeviceType, Scope: collect.PerAccount, Service: "iam", Doc: "A program that is somebody's second factor.",
	Permissions: []string{"iam:ListVirtualMFADevices"},
	Properties: properties{
		text("enableDate", "Since when it is somebody's; absent while it is nobody's."),
		flag("assigned", "It is somebody's."),
	},
	Edges:  edges{edge("SECURES", "Whose second factor it is.", userType)},
	Events: events{on("iam", "CreateVirtualMFADevice", "DeleteVirtualMFADevice", "EnableMFADevice", "DeactivateMFADevice")},
}, func(ctx context.Context, s *scope, _ []string, page func([]types.VirtualMFADevice) error) error {
	in := &iam.ListVirtualMFADevicesInput{AssignmentStatus: types.AssignmentStatusTypeAny, MaxItems: aws.Int32(1000)}
	return each(ctx, iam.NewListVirtualMFADevicesPaginator(iam.NewFromConfig(s.config), in), func(out *iam.ListVirtualMFADevicesOutput) error {
		return page(out.VirtualMFADevices)
	})
}, func(s *scope, v *types.VirtualMFADevice) *resource {
	serial := aws.ToString(v.SerialNumber)
	r := s.iam(mfaDeviceType, aws.String(serial[strings.LastIndex(serial, "/")+1:]), v.SerialNumber, v.Tags)
	if v.User != nil && v.User.UserName != nil {
		r.Edge("SECURES", s.id(userType, v.User.UserName))
	}
	r.Flag("assigned", v.EnableDate != nil)
	return when(r, "enableDate", v.EnableDate)
})

var samlProviders = listed(declaration{
	Type: samlProviderType, Scope: collect.PerAccount, Service: "iam", Doc: "Somebody who vouches for people in SAML.",
	Permissions: []string{"iam:ListSAMLProviders"},
	Properties: properties{
		text("createDate", "When it was made."),
		text("validUntil", "When its metadata ends."),
	},
	Events: events{on("iam", "CreateSAMLProvider", "UpdateSAMLProvider", "DeleteSAMLProvider")},
}, func(ctx context.Context, s *scope, _ []string, page func([]types.SAMLProviderListEntry) error) error {
	out, err := iam.NewFromConfig(s.config).ListSAMLProviders(ctx, &iam.ListSAMLProvidersInput{})
	if err != nil {
		return err
	}
	return page(out.SAMLProviderList)
}, func(s *scope, v *types.SAMLProviderListEntry) *resource {
	r := s.iam(samlProviderType, afterSlash(v.Arn), v.Arn, nil)
	when(r, "createDate", v.CreateDate)
	return when(r, "validUntil", v.ValidUntil)
})

var oidcProviders = listed(declaration{
	Type: oidcProviderType, Scope: collect.PerAccount, Service: "iam", Doc: "Somebody who vouches for people or programs in OpenID Connect.",
	Permissions: []string{"iam:ListOpenIDConnectProviders"},
	Properties:  properties{text("url", "Where it is asked, without https.")},
	Events:      events{on("iam", "CreateOpenIDConnectProvider", "DeleteOpenIDConnectProvider")},
}, func(ctx context.Context, s *scope, _ []string, page func([]types.OpenIDConnectProviderListEntry) error) error {
	out, err := iam.NewFromConfig(s.config).ListOpenIDConnectProviders(ctx, &iam.ListOpenIDConnectProvidersInput{})
	if err != nil {
		return err
	}
	return page(out.OpenIDConnectProviderList)
}, func(s *scope, v *types.OpenIDConnectProviderListEntry) *resource {
	name := afterSlash(v.Arn)
	return s.iam(oidcProviderType, name, v.Arn, nil).Text("url", aws.ToString(name))
})

// afterSlash returns what follows the first slash of a resource name.
func afterSlash(arn *string) *string {
	_, rest, _ := strings.Cut(aws.ToString(arn), "/")
	return &rest
}
