package aws

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture/predicate"
)

func TestDecryptsAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy string
		want   predicate.Truth
	}{
		{`{"Statement":{"Effect":"Allow","Action":"kms:Decrypt","Resource":"*"}}`, predicate.Yes},
		{`{"Statement":{"Effect":"Allow","Action":"kms:ReEncrypt*","Resource":"arn:aws:kms:*:*:key/*"}}`, predicate.Yes},
		{`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`, predicate.Yes},
		{`{"Statement":{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}}`, predicate.Yes},
		{`{"Statement":{"Effect":"Allow","Action":"kms:*","Resource":"*","Condition":{"Bool":{"aws:MultiFactorAuthPresent":"true"}}}}`, predicate.Yes},
		{`{"Statement":{"Effect":"Allow","Action":"kms:Decrypt","Resource":"arn:aws:kms:eu-west-1:123456789012:key/*"}}`, predicate.No},
		{`{"Statement":{"Effect":"Allow","Action":"kms:Decrypt","Resource":"arn:aws:kms:*:*:alias/*"}}`, predicate.No},
		{`{"Statement":{"Effect":"Allow","Action":["kms:Encrypt","kms:Describe*"],"Resource":"*"}}`, predicate.No},
		{`{"Statement":{"Effect":"Allow","Action":"kms:Decrypt","Resource":"*","Condition":{"StringEquals":{"kms:ViaService":"s3.eu-west-1.amazonaws.com"}}}}`, predicate.No},
		{`{"Statement":[{"Effect":"Allow","Action":"kms:Decrypt","Resource":"*"},{"Effect":"Deny","Action":"kms:*","Resource":"*"}]}`, predicate.No},
		{`{"Statement":[]}`, predicate.No},
		{`{`, predicate.Unknown},
	} {
		if got := (identityEntry{Policies: []string{c.policy}}).identity().DecryptsAll(); got.Truth != c.want {
			t.Errorf("%s: %v, not %v", c.policy, got.Truth, c.want)
		}
	}
}

func TestWholeServices(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"Statement":{"Effect":"Allow","Action":["S3:*","sqs:*","s3:Get*"],"Resource":"arn:aws:s3:::logs"}}`: {"s3", "sqs"},
		`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`:                                        {"*"},
		`{"Statement":{"Effect":"Allow","Action":"*:*","Resource":"*"}}`:                                      {"*"},
		`{"Statement":{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"}}`:                            nil,
		`{"Statement":{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}}`:                                 nil,
		`{"Statement":{"Effect":"Deny","Action":"iam:*","Resource":"*"}}`:                                     nil,
	} {
		p, _, err := Parse(text)
		if diff := cmp.Diff(want, p.WholeServices()); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
}
