package aws

import (
	"testing"

	"vigil/internal/posture/predicate"
)

func TestOthers(t *testing.T) {
	t.Parallel()
	const other, own = `{"AWS":"arn:aws:iam::210987654321:root"}`, `{"AWS":"arn:aws:iam::123456789012:role/app"}`
	for _, c := range []struct {
		policy string
		want   predicate.Truth
	}{
		{`{"Statement":{"Effect":"Allow","Principal":` + other + `,"Action":"s3:PutBucketPolicy","Resource":"arn:aws:s3:::logs"}}`, predicate.Yes},
		{`{"Statement":{"Effect":"Allow","Principal":` + other + `,"Action":"s3:Put*","Resource":"arn:aws:s3:::logs"}}`, predicate.Yes},
		{`{"Statement":{"Effect":"Allow","Principal":{"AWS":"210987654321"},"Action":"*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"true"}}}}`, predicate.Yes},
		{`{"Statement":{"Effect":"Allow","Principal":"*","Action":"s3:PutBucketPolicy","Resource":"*"}}`, predicate.Yes},
		{`{"Statement":{"Effect":"Allow","NotPrincipal":` + own + `,"Action":"s3:PutBucketPolicy","Resource":"*"}}`, predicate.Yes},
		{`{"Statement":{"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":"*","Condition":{"StringEquals":{"aws:PrincipalAccount":"123456789012"}}}}`, predicate.Unknown},
		{`{"Statement":{"Effect":"Allow","Principal":{"CanonicalUser":"79a5"},"Action":"s3:*","Resource":"*"}}`, predicate.Unknown},
		{`{"Statement":{"Effect":"Allow","Principal":` + own + `,"Action":"s3:*","Resource":"*"}}`, predicate.No},
		{`{"Statement":{"Effect":"Allow","Principal":{"AWS":"AIDAJQABLZS4A3QDU576Q"},"Action":"s3:*","Resource":"*"}}`, predicate.No},
		{`{"Statement":{"Effect":"Allow","Principal":{"Service":"delivery.logs.amazonaws.com"},"Action":"s3:*","Resource":"*"}}`, predicate.No},
		{`{"Statement":{"Effect":"Allow","Principal":` + other + `,"Action":["s3:GetObject","s3:PutObject"],"Resource":"*"}}`, predicate.No},
		{`{"Statement":{"Effect":"Deny","Principal":` + other + `,"Action":"s3:*","Resource":"*"}}`, predicate.No},
		{`{"Statement":[{"Effect":"Allow","Principal":` + other + `,"Action":"s3:*","Resource":"*"},{"Effect":"Deny","Principal":"*","Action":"s3:PutBucketPolicy","Resource":"*"}]}`, predicate.No},
		{`{"Statement":[{"Effect":"Allow","Principal":` + other + `,"Action":"s3:*","Resource":"*"},{"Effect":"Deny","Principal":"*","Action":"s3:PutBucketPolicy","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`, predicate.Yes},
	} {
		got := ask(c.policy, func(p Policy) predicate.Answer { return p.Others("123456789012", []string{"s3:putbucketpolicy"}) })
		if got.Truth != c.want {
			t.Errorf("%s: %v, not %v", c.policy, got.Truth, c.want)
		}
	}
}
