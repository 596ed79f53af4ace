package derive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/aws"
	"vigil/internal/posture/resource"
)

const (
	iamUser         posture.EntityType = "AWS.IAM.User"
	iamGroup        posture.EntityType = "AWS.IAM.Group"
	iamRole         posture.EntityType = "AWS.IAM.Role"
	iamPolicy       posture.EntityType = "AWS.IAM.Policy"
	iamPrincipal    posture.EntityType = "AWS.IAM.Principal"
	iamSamlProvider posture.EntityType = "AWS.IAM.SamlProvider"
	iamOidcProvider posture.EntityType = "AWS.IAM.OidcProvider"
)

// awsInlinePolicies adds whether the inline policies of an identity allow everything, or
// decryption with every key.
var awsInlinePolicies = resource.Function{
	Properties: []resource.Property{
		{Name: "inlineAllowsAdmin", Kind: resource.Flag, Powerful: true, Doc: "Its inline policies allow every action on every resource."},
		{Name: "inlineDecryptsAllKeys", Kind: resource.Flag, Doc: "Its inline policies allow decryption with every KMS key."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var identity aws.Identity
		for _, p := range in.Value.Array() {
			addPolicy(&identity, p.Get("PolicyDocument").String(), p.Get("PolicyName").String())
		}
		putAnswer(b, "inlineAllowsAdmin", identity.Admin())
		putAnswer(b, "inlineDecryptsAllKeys", identity.DecryptsAll())
		return nil
	},
	Absent: func(b *resource.Builder) {
		b.Flag("inlineAllowsAdmin", false).Flag("inlineDecryptsAllKeys", false)
	},
}

// addPolicy adds a policy to the permissions of an identity.
func addPolicy(to *aws.Identity, document, name string) {
	p, _, err := aws.Parse(document)
	if err != nil {
		to.Unread = fmt.Sprintf("policy %s: %v", name, err)
	}
	to.Policies = append(to.Policies, p)
}

// awsIdentity adds the combined permissions of a user, group or role: its inline and attached
// policies and those of its groups, limited by its permissions boundary.
var awsIdentity = resource.Function{
	Properties: []resource.Property{
		{Name: "isAdmin", Kind: resource.Flag, Powerful: true, Doc: "Its policies together, within its permissions boundary, allow every action on every resource."},
		{Name: "isPrivileged", Kind: resource.Flag, Doc: "It can do everything, or give itself the permission to."},
	},
	Reads: []posture.EntityType{iamPolicy, iamGroup},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		read, err := in.Caller.Once("policies of IAM", func() (any, error) { return readPolicies(in) })
		if err != nil {
			return err
		}
		identity := read.(*policies).identityOf(in.Item)
		putAnswer(b, "isAdmin", identity.Admin())
		putAnswer(b, "isPrivileged", identity.Privileged())
		return nil
	},
}

// policies are the managed policies and the groups of an account.
type policies struct {
	managed map[string]string // document of the default version by ARN
	groups  map[string]resource.Item
}

func readPolicies(in resource.FunctionInput) (*policies, error) {
	all := &policies{map[string]string{}, map[string]resource.Item{}}
	managed, err := in.Items(iamPolicy)
	if err != nil {
		return nil, err
	}
	for _, p := range managed {
		all.managed[p.Get("Arn").Str] = p.Get("PolicyVersionList.#(IsDefaultVersion==true).Document").String()
	}
	groups, err := in.Items(iamGroup)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		all.groups[g.Get("GroupName").Str] = g
	}
	return all, nil
}

// identityOf returns the permissions of an identity.
func (all *policies) identityOf(item *resource.Item) aws.Identity {
	identity := aws.Identity{ARN: item.Get("Arn").Str}
	all.add(&identity, item)
	for _, name := range item.Get("GroupList").Array() {
		group, ok := all.groups[name.Str]
		if !ok {
			identity.Unread = "the group " + name.Str + " could not be read"
			continue
		}
		all.add(&identity, &group)
	}
	if arn := item.Get("PermissionsBoundary.PermissionsBoundaryArn").Str; arn != "" {
		p, _, err := aws.Parse(all.managed[arn])
		if err != nil {
			identity.Unread = fmt.Sprintf("permissions boundary %s: %v", arn, err)
		}
		identity.Boundary = &p
	}
	return identity
}

// add adds the inline and attached policies of a user, group or role.
func (all *policies) add(to *aws.Identity, item *resource.Item) {
	for _, list := range []string{"UserPolicyList", "GroupPolicyList", "RolePolicyList"} {
		for _, p := range item.Get(list).Array() {
			addPolicy(to, p.Get("PolicyDocument").String(), p.Get("PolicyName").String())
		}
	}
	for _, arn := range item.Get("AttachedManagedPolicies.#.PolicyArn").Array() {
		addPolicy(to, all.managed[arn.Str], arn.Str)
	}
}

// awsTrustPolicy adds the trust policy of a role and the principals that it trusts.
var awsTrustPolicy = resource.Function{
	Properties: []resource.Property{
		{Name: "assumeRolePolicyDocument", Kind: resource.Text, Doc: "Its trust policy as JSON."},
		{Name: "trustIsPublic", Kind: resource.Flag, Exposed: "trusts anybody", Doc: "Strangers may assume it: no condition and no Deny of its trust policy keeps them out."},
		{Name: "wideFederations", Kind: resource.Texts, Values: resource.Strings{"github", "gitlab", "terraform", "kubernetes", "other"}, Doc: "The kinds of OIDC issuers whose tokens it accepts for more than a repository, project, workspace or namespace: github, gitlab, terraform, kubernetes or other."},
	},
	Edges: []resource.Edge{{
		Label: "TRUSTS", To: resource.EntityTypes{iamPrincipal}, Doc: "The principals that may assume it, with whether a condition asks more of them, such as an external id or a second factor.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		trust, decoded, err := aws.Parse(in.Value.String())
		b.Text("assumeRolePolicyDocument", decoded)
		if err != nil {
			b.Unread(err, "trustIsPublic", "wideFederations", "TRUSTS")
			return nil
		}
		putAnswer(b, "trustIsPublic", trust.Public())
		if kinds, known := trust.WideFederations(); known {
			b.Texts("wideFederations", kinds...)
		} else {
			b.Unread(errors.New("a condition on the claims of an OIDC issuer is not supported, or names a reusable workflow that others may be able to call"), "wideFederations")
		}
		for _, t := range trust.Trusts() {
			var restricted []posture.Property
			if t.Restricted != predicate.Unknown {
				restricted = append(restricted, posture.Flag("restricted", t.Restricted == predicate.Yes))
			}
			b.Edge("TRUSTS", iamPrincipal.ID(in.Account, posture.Global, t.Principal), restricted...)
			if t.Restricted == predicate.Unknown {
				b.Unread(errors.New("a condition on "+t.Principal+" is not supported"), "TRUSTS")
			}
		}
		return nil
	},
}

// awsPolicyDocument adds the default version of a managed policy.
var awsPolicyDocument = resource.Function{
	Properties: []resource.Property{
		{Name: "document", Kind: resource.Text, Doc: "The default version of the policy as JSON."},
		{Name: "allowsAdmin", Kind: resource.Flag, Powerful: true, Doc: "It allows every action on every resource."},
		{Name: "decryptsAllKeys", Kind: resource.Flag, Doc: "It allows decryption with every KMS key."},
		{Name: "wholeServices", Kind: resource.Texts, Doc: "The services of which it allows all actions, on some or all resources; * for all services."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		for _, version := range in.Value.Array() {
			if !version.Get("IsDefaultVersion").Bool() {
				continue
			}
			p, decoded, err := aws.Parse(version.Get("Document").String())
			b.Text("document", decoded)
			if err != nil {
				b.Unread(err, "allowsAdmin", "decryptsAllKeys", "wholeServices")
				continue
			}
			holder := aws.Identity{Policies: []aws.Policy{p}} // an identity with this policy only
			putAnswer(b, "allowsAdmin", holder.Admin())
			putAnswer(b, "decryptsAllKeys", holder.DecryptsAll())
			b.Set("wholeServices", p.WholeServices())
		}
		return nil
	},
}

// awsPolicyAttachments adds to managed policies the ARNs of the identities that they are
// attached to. Only the identities list their attachments.
var awsPolicyAttachments = resource.ListFunction{
	Reads: []posture.EntityType{iamUser, iamGroup, iamRole},
	Apply: func(ctx context.Context, c resource.Caller, policies []resource.Item) ([]resource.Item, error) {
		attachedTo := map[string][]string{} // ARNs of identities by that of the policy
		for _, t := range []posture.EntityType{iamUser, iamGroup, iamRole} {
			identities, err := c.Items(ctx, t)
			if err != nil {
				return nil, err
			}
			for _, identity := range identities {
				for _, policy := range identity.Get("AttachedManagedPolicies.#.PolicyArn").Array() {
					attachedTo[policy.Str] = append(attachedTo[policy.Str], identity.Get("Arn").Str)
				}
			}
		}
		items := make([]resource.Item, len(policies))
		for i, policy := range policies {
			list := []byte(`,"AttachedTo":[`)
			for j, arn := range attachedTo[policy.Get("Arn").Str] {
				if j > 0 {
					list = append(list, ',')
				}
				list = gjson.AppendJSONString(list, arn)
			}
			items[i] = resource.Item{Result: withMembers(policy.Result, append(list, ']')), Parent: policy.Parent}
		}
		return items, nil
	},
}

// withMembers appends members, each preceded by a comma, to an object that is not empty.
func withMembers(object gjson.Result, members []byte) gjson.Result {
	raw := strings.TrimSuffix(strings.TrimSpace(object.Raw), "}")
	return gjson.Parse(raw + string(members) + "}")
}

// awsTrustedPrincipals lists the distinct principals that roles of the account trust.
var awsTrustedPrincipals = resource.ListFunction{
	Reads: []posture.EntityType{iamRole},
	Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
		roles, err := c.Items(ctx, iamRole)
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		for _, role := range roles {
			trust, _, _ := aws.Parse(role.Get("AssumeRolePolicyDocument").String()) // the role itself reports an unreadable policy
			for _, t := range trust.Trusts() {
				seen[t.Principal] = true
			}
		}
		return namedItems(slices.Sorted(maps.Keys(seen))), nil
	},
}

// namedItems returns items that have only a name.
func namedItems(names []string) []resource.Item {
	items := make([]resource.Item, len(names))
	for i, name := range names {
		items[i].Result = gjson.ParseBytes(append(gjson.AppendJSONString([]byte(`{"name":`), name), '}'))
	}
	return items
}

// awsPrincipal adds the parts of a principal's name: AWS:arn:aws:iam::1:root.
var awsPrincipal = resource.Function{
	Properties: []resource.Property{
		{Name: "kind", Kind: resource.Text, Values: resource.Strings{"AWS", "Service", "Federated", "CanonicalUser", "*"}, Doc: "The kind of principal; * for everybody."},
		{Name: "value", Kind: resource.Text, Doc: "The account, identity, service or identity provider."},
		{Name: "accountId", Kind: resource.Text, Doc: "The account it belongs to; absent when it does not name one."},
		{Name: "isPublic", Kind: resource.Flag, Exposed: "is public", Doc: "It is everybody."},
		{Name: "isForeign", Kind: resource.Flag, Doc: "It belongs to another account."},
	},
	Edges: []resource.Edge{{
		Label: "IS", To: resource.EntityTypes{iamRole, iamUser, iamSamlProvider, iamOidcProvider}, Doc: "The identity of this account that it is.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		principal := in.Value.String()
		kind, value, ok := strings.Cut(principal, ":")
		if !ok {
			kind, value = principal, principal
		}
		b.XID = value
		b.Text("kind", kind).Text("value", value).Flag("isPublic", principal == "*")
		a, ok := resource.ParseARN(value)
		if !ok || a.Account == "" {
			return nil
		}
		b.Text("accountId", a.Account).Flag("isForeign", a.Account != string(in.Account))
		if a.Account == string(in.Account) {
			b.Edge("IS", in.Cloud.Ref(in.Vars, []posture.EntityType{iamRole, iamUser, iamSamlProvider, iamOidcProvider}, value))
		}
		return nil
	},
}
