package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
)

// TLSOnly decides whether the policy of an S3 bucket denies every request
// without TLS: everybody is denied every S3 action on the bucket and on its
// objects when aws:SecureTransport is false, without further conditions.
func (p Policy) TLSOnly(bucket string) predicate.Answer {
	var all []predicate.Answer
	for _, resource := range []string{"arn:aws:s3:::" + bucket, "arn:aws:s3:::" + bucket + "/*"} {
		var denied []predicate.Answer
		for _, d := range p.Statements {
			if d.Allow || !d.Principals.everybody() || !d.Actions.has("s3:*") || !d.Resources.inAnyPartition(resource) {
				continue
			}
			denied = append(denied, d.withoutTLS())
		}
		all = append(all, predicate.Or(denied...))
	}
	return predicate.And(all...)
}

// partitions are the beginnings of the ARNs of the AWS partitions.
var partitions = []string{"arn:aws:", "arn:aws-us-gov:", "arn:aws-cn:"}

// inAnyPartition reports whether the set contains a resource in any AWS partition.
func (p Patterns) inAnyPartition(resource string) bool {
	return slices.ContainsFunc(partitions, func(partition string) bool {
		return p.has(partition + strings.TrimPrefix(resource, "arn:aws:"))
	})
}

// withoutTLS decides whether a Deny applies to every request without TLS.
func (s Statement) withoutTLS() predicate.Answer {
	for _, c := range s.Conditions {
		t := c.test()
		if t.kind == unknownTest {
			return predicate.NotKnown("the condition operator " + c.Operator + " is not supported")
		}
		comparesText := t.kind == boolTest || t.kind == exactTest
		hasFalse := slices.ContainsFunc(c.Values, func(v string) bool { return strings.EqualFold(v, "false") })
		if c.Key != "aws:securetransport" || !comparesText || t.negated || !hasFalse {
			return predicate.Of(false, "") // some requests without TLS do not meet this condition
		}
	}
	return predicate.Of(true, "requests without TLS are denied")
}
