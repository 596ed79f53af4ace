package derive

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/iampolicy"
	"vigil/internal/posture/resource"
)

const (
	iamUser         posture.EntityType = "AWS.IAM.User"
	iamGroup        posture.EntityType = "AWS.IAM.Group"
	iamRole         posture.EntityType = "AWS.IAM.Role"
	iamPrincipal    posture.EntityType = "AWS.IAM.Principal"
	iamSamlProvider posture.EntityType = "AWS.IAM.SamlProvider"
	iamOidcProvider posture.EntityType = "AWS.IAM.OidcProvider"
)

// awsInlinePolicies adds whether a policy that is embedded in an identity allows
// everything.
var awsInlinePolicies = resource.Function{
	Properties: []resource.Property{
		{Name: "inlineAllowsAdmin", Kind: resource.Flag, Powerful: true, Doc: "An inline policy allows every action on every resource."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		admin := slices.ContainsFunc(in.Value.Array(), func(p gjson.Result) bool {
			d, _, ok := iampolicy.Parse(p.Get("PolicyDocument").String())
			return ok && d.Admin()
		})
		b.Flag("inlineAllowsAdmin", admin)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("inlineAllowsAdmin", false) },
}

// awsTrustPolicy adds the trust policy of a role, and whom it trusts.
var awsTrustPolicy = resource.Function{
	Properties: []resource.Property{
		{Name: "assumeRolePolicyDocument", Kind: resource.Text, Doc: "Its trust policy as JSON."},
		{Name: "trustIsPublic", Kind: resource.Flag, Exposed: "trusts anybody", Doc: "Anybody may assume it: no condition of the trust policy tells callers apart."},
	},
	Edges: []resource.Edge{{
		Label: "TRUSTS", To: resource.EntityTypes{iamPrincipal}, Doc: "The principals that may assume it, with whether a condition restricts that.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		trust, plain, ok := iampolicy.Parse(in.Value.String())
		b.Text("assumeRolePolicyDocument", plain)
		if !ok {
			return nil
		}
		b.Flag("trustIsPublic", trust.Public())
		for who, restricted := range trust.Trusted() {
			b.Edge("TRUSTS", iamPrincipal.ID(in.Account, posture.Global, who), posture.Flag("restricted", restricted))
		}
		return nil
	},
}

// awsPolicyDocument adds the version of a managed policy that is in force.
var awsPolicyDocument = resource.Function{
	Properties: []resource.Property{
		{Name: "document", Kind: resource.Text, Doc: "The default version of the policy as JSON."},
		{Name: "allowsAdmin", Kind: resource.Flag, Powerful: true, Doc: "It allows every action on every resource."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		for _, version := range in.Value.Array() {
			if !version.Get("IsDefaultVersion").Bool() {
				continue
			}
			d, plain, ok := iampolicy.Parse(version.Get("Document").String())
			b.Text("document", plain).Flag("allowsAdmin", ok && d.Admin())
		}
		return nil
	},
}

// awsPolicyAttachments adds to managed policies the ARNs of the identities that
// they are attached to: the identities tell, the policies do not.
var awsPolicyAttachments = resource.ListFunction{
	Reads: []posture.EntityType{iamUser, iamGroup, iamRole},
	Apply: func(ctx context.Context, c resource.Caller, policies []resource.Item) ([]resource.Item, error) {
		to := map[string][]string{}
		for _, t := range []posture.EntityType{iamUser, iamGroup, iamRole} {
			identities, err := c.Items(ctx, t)
			if err != nil {
				return nil, err
			}
			for _, who := range identities {
				for _, policy := range who.Get("AttachedManagedPolicies.#.PolicyArn").Array() {
					to[policy.Str] = append(to[policy.Str], who.Get("Arn").Str)
				}
			}
		}
		made := make([]resource.Item, len(policies))
		for i, policy := range policies {
			list := []byte(`,"AttachedTo":[`)
			for j, arn := range to[policy.Get("Arn").Str] {
				if j > 0 {
					list = append(list, ',')
				}
				list = gjson.AppendJSONString(list, arn)
			}
			made[i] = resource.Item{Result: withMembers(policy.Result, append(list, ']')), Parent: policy.Parent}
		}
		return made, nil
	},
}

// withMembers adds members, each after a comma, to an object that has some.
func withMembers(object gjson.Result, members []byte) gjson.Result {
	raw := strings.TrimSuffix(strings.TrimSpace(object.Raw), "}")
	return gjson.Parse(raw + string(members) + "}")
}

// awsTrustedPrincipals lists the principals that roles of the account trust, each
// once.
var awsTrustedPrincipals = resource.ListFunction{
	Reads: []posture.EntityType{iamRole},
	Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
		roles, err := c.Items(ctx, iamRole)
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		for _, role := range roles {
			trust, _, _ := iampolicy.Parse(role.Get("AssumeRolePolicyDocument").String())
			for _, who := range trust.Principals() {
				seen[who] = true
			}
		}
		return namedItems(slices.Sorted(maps.Keys(seen))), nil
	},
}

// namedItems returns items that have a name alone.
func namedItems(names []string) []resource.Item {
	items := make([]resource.Item, len(names))
	for i, name := range names {
		items[i].Result = gjson.ParseBytes(append(gjson.AppendJSONString([]byte(`{"name":`), name), '}'))
	}
	return items
}

// awsPrincipal adds what the name of a principal tells: AWS:arn:aws:iam::1:root.
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
		who := in.Value.String()
		kind, value, ok := strings.Cut(who, ":")
		if !ok {
			kind, value = who, who
		}
		b.XID = value
		b.Text("kind", kind).Text("value", value).Flag("isPublic", who == "*")
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
