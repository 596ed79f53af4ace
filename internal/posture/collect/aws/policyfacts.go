package aws

import "vigil/internal/posture/iampolicy"

// policyFacts adds a resource policy: its text, and what rules ask of it.
func policyFacts(r *resource, text string) iampolicy.Document {
	d, plain, ok := iampolicy.Parse(text)
	r.Text("policy", plain)
	if ok {
		r.Flag("policyIsPublic", d.Public())
		r.Texts("policyPrincipals", d.Principals()...)
	}
	return d
}

// policyProperties declares what policyFacts adds.
var policyProperties = properties{
	text("policy", "Its resource policy as JSON; absent when it has none."),
	flag("policyIsPublic", "The policy allows anybody something, without a condition that tells callers apart."),
	texts("policyPrincipals", "Whom the policy allows something."),
}

// policyNames are the names of those properties.
var policyNames = []string{"policy", "policyIsPublic", "policyPrincipals"}
