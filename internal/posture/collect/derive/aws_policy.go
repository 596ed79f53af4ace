package derive

import (
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

// putPolicy adds a resource policy and returns it. It fails when the policy cannot be parsed.
func putPolicy(b *resource.Builder, text string) (aws.Policy, error) {
	if text == "" {
		return aws.Policy{}, nil
	}
	p, decoded, err := aws.Parse(text)
	b.Text("policy", decoded)
	if err != nil {
		b.Unread(err, "policyIsPublic", "policyPrincipals")
		return p, err
	}
	putAnswer(b, "policyIsPublic", p.Public())
	b.Texts("policyPrincipals", p.Allowed()...)
	return p, nil
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

// bucketManagement are the actions that change who may use a bucket, and how it is encrypted.
var bucketManagement = []string{"s3:deletebucketpolicy", "s3:putbucketacl", "s3:putbucketpolicy", "s3:putencryptionconfiguration", "s3:putobjectacl"}
