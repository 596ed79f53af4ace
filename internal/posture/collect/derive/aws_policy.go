package derive

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"vigil/internal/posture/predicate/aws"
	"vigil/internal/posture/resource"
)

// awsResourcePolicy adds the text of a resource policy and the properties that rules use.
var awsResourcePolicy = resource.Function{
	Properties: []resource.Property{
		{Name: "policy", Kind: resource.Text, Doc: "Its resource policy as JSON; absent when it has none."},
		{Name: "policyIsPublic", Kind: resource.Flag, Doc: "The policy allows strangers something, and no Deny takes that away.", Exposed: "has a policy that lets anybody in"},
		{Name: "policyPrincipals", Kind: resource.Texts, Doc: "The principals that the policy allows something."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		putPolicy(b, in.Value.String())
		return nil
	},
}

// putPolicy adds the resource policy, or all resource policies, of a resource. It returns the
// statements of all of them as one policy, because a Deny in one applies to the others too. It
// fails when a policy cannot be parsed. An empty text is no policy.
func putPolicy(b *resource.Builder, texts ...string) (aws.Policy, error) {
	var all aws.Policy
	var documents []string
	var failed error
	for _, text := range texts {
		if text == "" {
			continue
		}
		p, decoded, err := aws.Parse(text)
		all.Statements = append(all.Statements, p.Statements...)
		documents = append(documents, decoded)
		failed = cmp.Or(failed, err)
	}
	switch len(documents) {
	case 0:
		return all, nil
	case 1:
		b.Text("policy", documents[0])
	default:
		b.Text("policy", "["+strings.Join(documents, ",")+"]")
	}
	if failed != nil {
		b.Unread(failed, "policyIsPublic", "policyPrincipals")
		return all, failed
	}
	putAnswer(b, "policyIsPublic", all.Public())
	b.Texts("policyPrincipals", all.Allowed()...)
	return all, nil
}

// awsResourcePolicies is awsResourcePolicy for resources that can have several policies. Its
// value is an object with the policies by name.
var awsResourcePolicies = resource.Function{
	Properties: append([]resource.Property{
		{Name: "policy", Kind: resource.Text, Doc: "Its resource policy as JSON; a list if it has several, absent when it has none."},
	}, awsResourcePolicy.Properties[1:]...),
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		byName := in.Value.Map()
		var texts []string
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			texts = append(texts, byName[name].String())
		}
		putPolicy(b, texts...)
		return nil
	},
}

// awsBucketPolicy is awsResourcePolicy for S3 buckets, whose policies may deny requests
// without TLS.
var awsBucketPolicy = resource.Function{
	Properties: append([]resource.Property{
		{Name: "policyTlsOnly", Kind: resource.Flag, Doc: "Its policy denies everybody every action, on the bucket and its objects, without TLS."},
		{Name: "othersManage", Kind: resource.Flag, Doc: "Its policy allows other accounts to change its policy, access control lists or encryption."},
	}, awsResourcePolicy.Properties...),
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		p, err := putPolicy(b, in.Value.String())
		if err != nil {
			b.Unread(err, "policyTlsOnly", "othersManage")
			return nil
		}
		putAnswer(b, "policyTlsOnly", p.TLSOnly(in.Name))
		putAnswer(b, "othersManage", p.Others(string(in.Account), in.Name, bucketManagement))
		return nil
	},
	Absent: func(b *resource.Builder) {
		b.Flag("policyTlsOnly", false).Flag("policyIsPublic", false).Flag("othersManage", false)
	},
}

// bucketManagement lists the S3 actions that change the permissions or the encryption of a bucket.
// They are in lower case, as [aws.Policy.Others] expects.
var bucketManagement = []string{"s3:deletebucketpolicy", "s3:putbucketacl", "s3:putbucketpolicy", "s3:putencryptionconfiguration", "s3:putobjectacl"}
