package aws

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// identity contains the kinds of IAM.
type identity struct {
	users, groups, roles, policies, profiles, certificates, mfaDevices, samlProviders, oidcProviders *world.Kind
	summaries, passwordPolicies                                                                      *world.Kind
}

// The first roles and policies have fixed names.
var (
	firstRoles    = []string{ReaderRole, DeniedRole}
	firstPolicies = []string{"aws/SecurityAudit", "aws/ReadOnlyAccess"}
)

func (e *inventory) makeIdentity() {
	e.users = e.wordNamed("AWS.IAM.User", "user", e.share(20, 6), e.user)
	e.groups = e.wordNamed("AWS.IAM.Group", "group", e.share(3, 2), e.group)
	e.roles = e.namedFirst("AWS.IAM.Role", firstRoles, "role", e.share(30, 10), e.role)
	e.policies = e.namedFirst("AWS.IAM.Policy", firstPolicies, "policy", e.share(20, 8), e.policy)
	e.profiles = e.wordNamed("AWS.IAM.InstanceProfile", "profile", e.share(8, 4), func(p world.Place, i int, name string) world.Object {
		role := e.roles.Name(p, len(firstRoles)+i)
		return world.Obj("Path", "/", "InstanceProfileName", name, "InstanceProfileId", e.iamID(p, "AIPA", name), "Arn", arn("iam", p, "instance-profile/"+name),
			"CreateDate", e.ago(300), "Roles", world.Items(world.Obj("Path", "/", "RoleName", role, "RoleId", e.iamID(p, "AROA", role),
				"Arn", arn("iam", p, "role/"+role), "CreateDate", e.ago(300))))
	})
	e.certificates = e.wordNamed("AWS.IAM.ServerCertificate", "certificate", constantCount(2), func(p world.Place, i int, name string) world.Object {
		expires := e.ago(-200)
		if e.violates("aws-iam-server-certificate-expired", p, i) {
			expires = e.ago(10)
		}
		return world.Obj("Path", "/", "ServerCertificateName", name, "ServerCertificateId", e.iamID(p, "ASCA", name),
			"Arn", arn("iam", p, "server-certificate/"+name), "UploadDate", e.ago(300), "Expiration", expires)
	})
	e.mfaDevices = e.wordNamed("AWS.IAM.VirtualMfaDevice", "mfa", constantCount(2), func(p world.Place, i int, name string) world.Object {
		o := world.Obj("SerialNumber", arn("iam", p, "mfa/"+name))
		if i == 0 {
			user := e.users.Name(p, 0)
			o = append(o, world.Obj("EnableDate", e.ago(50), "User", world.Obj("Path", "/", "UserName", user, "UserId", e.iamID(p, "AIDA", user),
				"Arn", arn("iam", p, "user/"+user), "CreateDate", e.ago(400)))...)
		}
		return o
	})
	e.samlProviders = e.namedFirst("AWS.IAM.SamlProvider", []string{"corporate"}, "", constantCount(1), func(p world.Place, _ int, name string) world.Object {
		return world.Obj("Arn", arn("iam", p, "saml-provider/"+name), "CreateDate", e.ago(700), "ValidUntil", e.ago(-700))
	})
	e.oidcProviders = e.namedFirst("AWS.IAM.OidcProvider", []string{"token.actions.githubusercontent.com"}, "", constantCount(1), func(p world.Place, _ int, name string) world.Object {
		return world.Obj("Arn", arn("iam", p, "oidc-provider/"+name))
	})
	e.summaries = e.single("AWS.IAM.AccountSummary", e.summary)
	e.passwordPolicies = e.single("AWS.IAM.AccountPasswordPolicy", e.passwordPolicy)
}

// namedFirst returns a kind whose first resources have fixed names. The others are named as
// in wordNamed.
func (e *inventory) namedFirst(t posture.EntityType, first []string, word string, n counter, make maker) *world.Kind {
	k := e.wordNamed(t, word, n, nil)
	numbered := *k
	k.Name = func(p world.Place, i int) string {
		if i < len(first) {
			return first[i]
		}
		return numbered.Name(p, i)
	}
	k.Index = func(p world.Place, name string) (int, bool) {
		if i := slices.Index(first, name); i >= 0 {
			return i, true
		}
		return numbered.Index(p, name)
	}
	k.Make = func(p world.Place, i int) world.Object { return make(p, i, k.Name(p, i)) }
	return k
}

// single returns a kind with one resource per place, named like the account or
// the region.
func (e *inventory) single(t posture.EntityType, make func(p world.Place) world.Object) *world.Kind {
	name := func(p world.Place, _ int) string {
		if p.Region != "" {
			return p.Region
		}
		return p.Account
	}
	return e.add(&world.Kind{
		Type: t, Count: constantCount(1), Name: name,
		Index: func(p world.Place, requested string) (int, bool) { return 0, requested == name(p, 0) },
		Make:  func(p world.Place, _ int) world.Object { return make(p) },
	})
}

// iamID returns an id in IAM's form.
func (e *inventory) iamID(p world.Place, prefix, name string) string {
	return prefix + strings.ToUpper(e.seed(p).With(prefix).With(name).Hex(17))
}

func (e *inventory) user(p world.Place, i int, name string) world.Object {
	var inline, attached []any
	if e.violates("aws-iam-user-direct-policy", p, i) {
		if i%2 == 0 {
			inline = append(inline, inlinePolicy("own", allow("", "s3:Get*", "*")))
		} else {
			attached = append(attached, e.attachedPolicy(p, e.attachable(p, i)))
		}
	}
	var boundary any
	if i%5 == 4 {
		boundary = e.boundary(p)
	}
	return world.Obj("Path", "/", "UserName", name, "UserId", e.iamID(p, "AIDA", name), "Arn", arn("iam", p, "user/"+name), "CreateDate", e.ago(400),
		"PermissionsBoundary", boundary, "UserPolicyList", inline, "GroupList", world.Items(nth(e.groups, p, i)), "AttachedManagedPolicies", attached,
		"Tags", e.tagList(p, "user", i, "Key", "Value"), "_report", e.reportOf(p, i))
}

// reportOf returns a user's row of the credential report.
func (e *inventory) reportOf(p world.Place, i int) world.Object {
	s := e.seed(p).With("report").Nth(i)
	old, idle, noMFA := e.violates("aws-iam-access-key-age-90", p, i), e.violates("aws-iam-credential-unused-45", p, i), e.violates("aws-iam-user-console-mfa", p, i)
	hasPassword := noMFA || s.With("password").Share(0.6)
	hasKey := old || idle || s.With("key").Share(0.5)
	used, rotated := 3, 30 // days ago
	if idle {
		used = 60
	}
	if old {
		rotated = 200
	}
	o := world.Obj("password_enabled", hasPassword, "password_last_used", "N/A", "password_last_changed", "N/A", "mfa_active", hasPassword && !noMFA)
	if hasPassword {
		o = o.With("password_last_used", scalar(e.ago(used))).With("password_last_changed", scalar(e.ago(80)))
	}
	rotated = max(rotated, used) // a key cannot be used before it is created
	o = append(o, keyColumns(1, hasKey, scalar(e.ago(rotated)), scalar(e.ago(used)))...)
	return append(o, keyColumns(2, hasKey && i%4 == 3, scalar(e.ago(10)), scalar(e.ago(1)))...)
}

func (e *inventory) boundary(p world.Place) world.Object {
	return world.Obj("PermissionsBoundaryType", "Policy", "PermissionsBoundaryArn", e.policyARN(p, 1))
}

func keyColumns(n int, active bool, rotated, used string) world.Object {
	if !active {
		rotated, used = "N/A", "N/A"
	}
	column := fmt.Sprintf("access_key_%d_", n)
	o := world.Obj(column+"active", active, column+"last_rotated", rotated, column+"last_used_date", used)
	if active {
		return append(o, world.Obj(column+"last_used_region", "us-east-1", column+"last_used_service", "s3")...)
	}
	return append(o, world.Obj(column+"last_used_region", "N/A", column+"last_used_service", "N/A")...)
}

func (e *inventory) group(p world.Place, i int, name string) world.Object {
	return world.Obj("Path", "/", "GroupName", name, "GroupId", e.iamID(p, "AGPA", name), "Arn", arn("iam", p, "group/"+name), "CreateDate", e.ago(500),
		"GroupPolicyList", world.Items(inlinePolicy("own", allow("", "ec2:Describe*", "*"))),
		"AttachedManagedPolicies", world.Items(e.attachedPolicy(p, e.attachable(p, i))))
}

func inlinePolicy(name string, statements ...world.Object) world.Object {
	return world.Obj("PolicyName", name, "PolicyDocument", url.PathEscape(policy(statements...)))
}

// attachable returns the number of the policy attached to the i-th identity.
// The last policy is not attached.
func (e *inventory) attachable(p world.Place, i int) int { return i % (e.policies.Count(p) - 1) }

func (e *inventory) attachedPolicy(p world.Place, i int) world.Object {
	return world.Obj("PolicyName", strings.TrimPrefix(e.policies.Name(p, i), "aws/"), "PolicyArn", e.policyARN(p, i))
}

func (e *inventory) policyARN(p world.Place, i int) string {
	if name, ok := strings.CutPrefix(e.policies.Name(p, i), "aws/"); ok {
		return "arn:aws:iam::aws:policy/" + name
	}
	return arn("iam", p, "policy/"+e.policies.Name(p, i))
}

func (e *inventory) policy(p world.Place, i int, name string) world.Object {
	document := policy(allow("", "s3:*", "arn:aws:s3:::"+name+"/*"))
	if i < len(firstPolicies) {
		document = policy(allow("", "ec2:Describe*", "*"))
	} else if e.violates("aws-iam-policy-admin-star", p, i) {
		document = policy(allow("", "*", "*"))
	}
	return world.Obj("PolicyName", strings.TrimPrefix(name, "aws/"), "PolicyId", e.iamID(p, "ANPA", name), "Arn", e.policyARN(p, i), "Path", "/",
		"DefaultVersionId", "v1", "AttachmentCount", e.attachmentCount(p, i), "PermissionsBoundaryUsageCount", 0, "IsAttachable", true,
		"CreateDate", e.ago(350), "UpdateDate", e.ago(100), "PolicyVersionList", world.Items(world.Obj("Document", url.PathEscape(document),
			"VersionId", "v1", "IsDefaultVersion", true, "CreateDate", e.ago(100))))
}

// attachmentCount returns the number of identities that the i-th policy is
// attached to.
func (e *inventory) attachmentCount(p world.Place, i int) int {
	n := 0
	attached := e.policies.Count(p) - 1 // the last policy is not attached
	if i >= attached {
		return 0
	}
	// attachable returns i for the identities i, i+attached, i+2*attached and so on.
	for _, k := range []*world.Kind{e.roles, e.groups} {
		for j := i; j < k.Count(p); j += attached {
			n++
		}
	}
	for u := i; u < e.users.Count(p); u += attached {
		if e.violates("aws-iam-user-direct-policy", p, u) && u%2 == 1 { // as in user
			n++
		}
	}
	return n
}

func (e *inventory) role(p world.Place, i int, name string) world.Object {
	trust := allow("Service:"+world.PickOne(e.seed(p).With("trust").Nth(i), "lambda.amazonaws.com", "ecs-tasks.amazonaws.com", "events.amazonaws.com"), "sts:AssumeRole", "")
	switch {
	case i < len(firstRoles):
		trust = withCondition(allow("AWS:arn:aws:iam::111111111111:root", "sts:AssumeRole", ""), "StringEquals", "sts:ExternalId", e.Account(e.number(p)).ExternalID)
	case e.violates("aws-iam-role-trust-wildcard", p, i):
		trust = allow("AWS:*", "sts:AssumeRole", "")
	case i < len(firstRoles)+e.profiles.Count(p): // the role of an instance profile
		trust = allow("Service:ec2.amazonaws.com", "sts:AssumeRole", "")
	case i%5 == 0:
		trust = allow("Federated:"+arn("iam", p, "saml-provider/"+e.samlProviders.Name(p, 0)), "sts:AssumeRoleWithSAML", "")
	case i%5 == 1:
		trust = allow("AWS:"+arn("iam", p, "role/"+e.roles.Name(p, len(firstRoles))), "sts:AssumeRole", "")
	}
	o := world.Obj("Path", "/", "RoleName", name, "RoleId", e.iamID(p, "AROA", name), "Arn", arn("iam", p, "role/"+name), "CreateDate", e.ago(300),
		"AssumeRolePolicyDocument", url.PathEscape(policy(trust)), "AttachedManagedPolicies", world.Items(e.attachedPolicy(p, e.attachable(p, i))),
		"RolePolicyList", world.Items(inlinePolicy("logs", allow("", "logs:PutLogEvents", "*"))), "InstanceProfileList", []any{},
		"RoleLastUsed", world.Obj("LastUsedDate", e.ago(5), "Region", "us-east-1"), "Tags", e.tagList(p, "role", i, "Key", "Value"))
	if i%4 == 3 {
		o = append(o, world.Obj("PermissionsBoundary", e.boundary(p))...)
	}
	return o
}

// number returns the index of a place's account.
func (e *inventory) number(p world.Place) int {
	i, _ := e.accountIndex(p.Account)
	return i
}

func (e *inventory) summary(p world.Place) world.Object {
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	used := "no_information"
	if e.violates("aws-iam-root-recent-use", p, 0) {
		used = scalar(e.ago(0))
	}
	key := e.violates("aws-iam-root-access-key", p, 0)
	return world.Obj("AccountMFAEnabled", flag(!e.violates("aws-iam-root-mfa", p, 0)), "AccountAccessKeysPresent", flag(key), "AccountPasswordPresent", 1,
		"Users", e.users.Count(p), "Groups", e.groups.Count(p), "Roles", e.roles.Count(p), "Policies", e.policies.Count(p)-len(firstPolicies),
		"_report", append(world.Obj("password_enabled", "not_supported", "password_last_used", used, "password_last_changed", "not_supported", "mfa_active", true),
			append(keyColumns(1, key, scalar(e.ago(600)), scalar(e.ago(100))), keyColumns(2, false, "", "")...)...))
}

func (e *inventory) passwordPolicy(p world.Place) world.Object {
	length, reuse := 14, any(24)
	if e.violates("aws-iam-password-min-length-14", p, 0) {
		length = 8
	}
	if e.violates("aws-iam-password-reuse-24", p, 0) {
		reuse = nil
	}
	return world.Obj("MinimumPasswordLength", length, "RequireSymbols", true, "RequireNumbers", true, "RequireUppercaseCharacters", true,
		"RequireLowercaseCharacters", true, "AllowUsersToChangePassword", true, "ExpirePasswords", true, "MaxPasswordAge", 90,
		"PasswordReusePrevention", reuse, "HardExpiry", false)
}
