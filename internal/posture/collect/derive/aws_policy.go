package derive

import (
	"vigil/internal/posture/iampolicy"
	"vigil/internal/posture/resource"
)

// awsResourcePolicy adds a resource policy: its text, and what rules ask of it.
var awsResourcePolicy = resource.Function{
	Properties: []resource.Property{
		{Name: "policy", Kind: resource.Text, Doc: "Its resource policy as JSON; absent when it has none."},
		{Name: "policyIsPublic", Kind: resource.Flag, Doc: "The policy allows anybody something, without a condition that tells callers apart.", Exposed: "has a policy that lets anybody in"},
		{Name: "policyPrincipals", Kind: resource.Texts, Doc: "The principals that the policy allows something."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		putPolicy(b, in.Value.String())
		return nil
	},
}

func putPolicy(b *resource.Builder, text string) (d iampolicy.Document) {
	if text == "" {
		return d
	}
	d, plain, ok := iampolicy.Parse(text)
	b.Text("policy", plain)
	if ok {
		b.Flag("policyIsPublic", d.Public())
		b.Texts("policyPrincipals", d.Principals()...)
	}
	return d
}

// awsBucketPolicy is awsResourcePolicy for S3 buckets, which may refuse requests
// that do not use TLS.
var awsBucketPolicy = resource.Function{
	Properties: append([]resource.Property{
		{Name: "policyTlsOnly", Kind: resource.Flag, Doc: "Its policy denies requests that do not use TLS."},
	}, awsResourcePolicy.Properties...),
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("policyTlsOnly", putPolicy(b, in.Value.String()).TLSOnly())
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("policyTlsOnly", false).Flag("policyIsPublic", false) },
}
