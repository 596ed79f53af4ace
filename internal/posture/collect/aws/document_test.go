package aws

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
			d, plain, ok := parseDocument(text)
			if !ok || plain != test.text {
				t.Errorf("%s was not read: %q", name, plain)
			}
			if d.public() != test.public || d.admin() != test.admin || d.tlsOnly() != test.tlsOnly || !slices.Equal(d.principals(), test.principals) {
				t.Errorf("%s: public %v, admin %v, TLS only %v, principals %q", name, d.public(), d.admin(), d.tlsOnly(), d.principals())
			}
		}
	}
	if _, plain, ok := parseDocument("nonsense"); ok || plain != "nonsense" {
		t.Error("nonsense was read as a policy")
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add(`{"Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":"*","Resource":"*","Condition":{"Bool":{"a":["b",1,true,null]}}}]}`)
	f.Add(`%7B%22Statement%22%3A%7B%7D%7D`)
	f.Fuzz(func(_ *testing.T, text string) {
		d, _, _ := parseDocument(text)
		d.public()
		d.admin()
		d.tlsOnly()
		d.principals()
	})
}

func FuzzCredentialReport(f *testing.F) {
	f.Add([]byte("user,arn,password_enabled,access_key_1_active\n<root_account>,x,true,true\n"))
	f.Fuzz(func(_ *testing.T, content []byte) {
		lines, err := parseReport(content)
		if err != nil {
			return
		}
		for _, line := range lines {
			for range line.keys() {
			}
		}
	})
}

func TestReferencesAreUnderstood(t *testing.T) {
	t.Parallel()
	s := (&session{account: "123456789012", partition: partitions["aws"]}).scope("eu-west-1")
	for arn, want := range map[string]string{
		"arn:aws:kms:us-east-1:123456789012:key/abc":                          "AWS.KMS.123456789012.us-east-1.Key.abc",
		"arn:aws:kms:us-east-1:999999999999:key/abc":                          "AWS.KMS.999999999999.us-east-1.Key.abc",
		"arn:aws:iam::123456789012:role/some/path/name":                       "AWS.IAM.123456789012.global.Role.name",
		"arn:aws:iam::aws:policy/job-function/ViewOnlyAccess":                 "AWS.IAM.123456789012.global.Policy.aws/ViewOnlyAccess",
		"arn:aws:iam::123456789012:policy/x/own":                              "AWS.IAM.123456789012.global.Policy.own",
		"arn:aws:s3:::a.bucket/with/object":                                   "AWS.S3.123456789012.global.Bucket.a.bucket",
		"arn:aws:lambda:us-east-1:123456789012:function:f:7":                  "AWS.Lambda.123456789012.us-east-1.Function.f",
		"arn:aws:logs:us-east-1:123456789012:log-group:/a/b:*":                "AWS.Logs.123456789012.us-east-1.LogGroup./a/b",
		"arn:aws:ecs:us-east-1:123456789012:task-definition/t:12":             "AWS.ECS.123456789012.us-east-1.TaskDefinition.t",
		"arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/a/b": "AWS.ELB.123456789012.us-east-1.TargetGroup.a/b",
		"arn:aws:wafv2:us-east-1:123456789012:global/webacl/n/i":              "AWS.WAF.123456789012.us-east-1.WebACL.global/n/i",
		"arn:aws:sns:us-east-1:123456789012:topic":                            "AWS.SNS.123456789012.us-east-1.Topic.topic",
		"arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/abc":               "AWS.KMS.123456789012.us-gov-west-1.Key.abc",
		"arn:aws:states:us-east-1:123456789012:stateMachine:x":                "",
		"not a name": "",
		"":           "",
		"arn:aws:events:us-east-1:123456789012:event-bus/default":                 "AWS.Events.123456789012.us-east-1.EventBus.default",
		"arn:aws:iam::123456789012:oidc-provider/token.actions.example.com/extra": "AWS.IAM.123456789012.global.OidcProvider.token.actions.example.com/extra",
	} {
		if got := s.ref(arn); string(got) != want {
			t.Errorf("%q is %q, want %q", arn, got, want)
		}
	}
	for name, want := range map[string]string{
		"":           "",
		"alias/mine": "AWS.KMS.123456789012.eu-west-1.Alias.mine",
		"abc":        "AWS.KMS.123456789012.eu-west-1.Key.abc",
	} {
		if got := s.key(&name); string(got) != want {
			t.Errorf("the key %q is %q, want %q", name, got, want)
		}
	}
}
