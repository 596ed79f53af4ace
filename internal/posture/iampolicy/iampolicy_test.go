package iampolicy

import (
	"net/url"
	"slices"
	"testing"
)

func TestPoliciesAreUnderstood(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text                   string
		public, admin, tlsOnly bool
		principals             []string
	}{
		"anybody":             {text: `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:Get*","Resource":"*"}]}`, public: true, principals: []string{"*"}},
		"anybody of AWS":      {text: `{"Statement":{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"*"}}`, public: true, principals: []string{"*"}},
		"anybody among some":  {text: `{"Statement":{"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::1:root","*"]},"Action":"x:y"}}`, public: true, principals: []string{"*", "AWS:arn:aws:iam::1:root"}},
		"an account, short":   {text: `{"Statement":{"Effect":"Allow","Principal":{"AWS":"123456789012"},"Action":"x:y"}}`, principals: []string{"AWS:arn:aws:iam::123456789012:root"}},
		"a service":           {text: `{"Statement":{"Effect":"Allow","Principal":{"Service":["a.amazonaws.com"]},"Action":"x:y"}}`, principals: []string{"Service:a.amazonaws.com"}},
		"anybody refused":     {text: `{"Statement":{"Effect":"Deny","Principal":"*","Action":"*","Resource":"*"}}`},
		"of one organisation": {text: `{"Statement":{"Effect":"Allow","Principal":"*","Action":"x:y","Condition":{"StringEquals":{"aws:PrincipalOrgID":"o-1"}}}}`, principals: []string{"*"}},
		"in other letters":    {text: `{"Statement":{"Effect":"Allow","Principal":"*","Action":"x:y","Condition":{"ArnLike":{"AWS:SourceArn":["arn:aws:s3:::b"]}}}}`, principals: []string{"*"}},
		"a condition for all": {text: `{"Statement":{"Effect":"Allow","Principal":"*","Action":"x:y","Condition":{"StringLike":{"aws:SourceArn":"*"}}}}`, public: true, principals: []string{"*"}},
		"any address":         {text: `{"Statement":{"Effect":"Allow","Principal":"*","Action":"x:y","Condition":{"IpAddress":{"aws:SourceIp":["10.0.0.0/8","0.0.0.0/0"]}}}}`, public: true, principals: []string{"*"}},
		"some addresses":      {text: `{"Statement":{"Effect":"Allow","Principal":"*","Action":"x:y","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}}`, principals: []string{"*"}},
		"all but one":         {text: `{"Statement":{"Effect":"Allow","Principal":"*","Action":"x:y","Condition":{"StringNotEquals":{"aws:SourceAccount":"1"}}}}`, public: true, principals: []string{"*"}},
		"if it is there":      {text: `{"Statement":{"Effect":"Allow","Principal":"*","Action":"x:y","Condition":{"StringEqualsIfExists":{"aws:SourceAccount":"1"}}}}`, public: true, principals: []string{"*"}},
		"an idle condition":   {text: `{"Statement":{"Effect":"Allow","Principal":"*","Action":"x:y","Condition":{"StringEquals":{"s3:prefix":"public"}}}}`, public: true, principals: []string{"*"}},
		"function address":    {text: `{"Statement":{"Effect":"Allow","Principal":"*","Action":"lambda:InvokeFunctionUrl","Condition":{"StringEquals":{"lambda:FunctionUrlAuthType":"NONE"}}}}`, public: true, principals: []string{"*"}},
		"everything":          {text: `{"Statement":[{"Effect":"Allow","Action":["s3:*","*"],"Resource":["*"]}]}`, admin: true},
		"everything, spelt":   {text: `{"Statement":[{"Effect":"Allow","Action":"*:*","Resource":"*"}]}`, admin: true},
		"everything on one":   {text: `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"arn:aws:s3:::b"}]}`},
		"all but something":   {text: `{"Statement":[{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}]}`},
		"encrypted calls":     {text: `{"Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`, tlsOnly: true},
		"encrypted, as bool":  {text: `{"Statement":[{"Effect":"Deny","Principal":{"AWS":"*"},"Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":false}}}]}`, tlsOnly: true},
		"the wrong way round": {text: `{"Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"true"}}}]}`},
		"no statement":        {text: `{}`},
	} {
		for _, text := range []string{test.text, url.PathEscape(test.text)} {
			d, plain, ok := Parse(text)
			if !ok || plain != test.text {
				t.Errorf("%s was not read: %q", name, plain)
			}
			if d.Public() != test.public || d.Admin() != test.admin || d.TLSOnly() != test.tlsOnly || !slices.Equal(d.Principals(), test.principals) {
				t.Errorf("%s: public %v, admin %v, TLS only %v, principals %q", name, d.Public(), d.Admin(), d.TLSOnly(), d.Principals())
			}
		}
	}
	if _, plain, ok := Parse("nonsense"); ok || plain != "nonsense" {
		t.Error("nonsense was read as a policy")
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add(`{"Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":"*","Resource":"*","Condition":{"Bool":{"a":["b",1,true,null]}}}]}`)
	f.Add(`%7B%22Statement%22%3A%7B%7D%7D`)
	f.Fuzz(func(_ *testing.T, text string) {
		d, _, _ := Parse(text)
		d.Public()
		d.Admin()
		d.TLSOnly()
		d.Principals()
	})
}
