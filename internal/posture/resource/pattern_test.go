package resource

import "testing"

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ form, arn, name string }{
		{"arn:aws:kms:{region}:{account}:key/{name}", "arn:aws:kms:us-east-1:123456789012:key/abc", "abc"},
		{"arn:aws:kms:{region}:{account}:key/{name}", "arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/abc", "abc"},
		{"arn:aws:kms:{region}:{account}:key/{name}", "arn:aws:kms:us-east-1:123456789012:alias/abc", ""},
		{"arn:aws:iam::{account}:role/{*/}{name}", "arn:aws:iam::123456789012:role/some/path/web", "web"},
		{"arn:aws:iam::{account}:role/{*/}{name}", "arn:aws:iam::123456789012:role/web", "web"},
		{"arn:aws:iam::aws:policy/{*/}{name} => aws/{name}", "arn:aws:iam::aws:policy/job-function/ViewOnlyAccess", "aws/ViewOnlyAccess"},
		{"arn:aws:iam::aws:policy/{*/}{name} => aws/{name}", "arn:aws:iam::123456789012:policy/own", ""},
		{"arn:aws:s3:::{name}{/*}", "arn:aws:s3:::a.bucket/with/object", "a.bucket"},
		{"arn:aws:lambda:{region}:{account}:function:{name}{:*}", "arn:aws:lambda:us-east-1:123456789012:function:f:7", "f"},
		{"arn:aws:logs:{region}:{account}:log-group:{name}{:*}", "arn:aws:logs:us-east-1:123456789012:log-group:/a/b:*", "/a/b"},
		{"arn:aws:elasticloadbalancing:{region}:{account}:listener/{name}/{*}", "arn:aws:elasticloadbalancing:us-east-1:1:listener/app/web/50/f2", "app/web/50"},
		{"arn:aws:apigateway:{region}::/restapis/{name}/stages/{name}", "arn:aws:apigateway:us-east-1::/restapis/a1/stages/prod", "a1/prod"},
		{"arn:aws:apigateway:{region}::/restapis/{name}/stages/{name}", "arn:aws:apigateway:us-east-1::/restapis/a1", ""},
		{"arn:aws:sns:{region}:{account}:{name}", "not an ARN", ""},
		{"arn:aws:sns:{region}:{account}:{name}", "arn:aws:sns:us-east-1:123456789012:topic", "topic"},
	} {
		p, err := newPattern(test.form)
		if err != nil {
			t.Errorf("%s: %v", test.form, err)
			continue
		}
		got := ""
		if a, ok := ParseARN(test.arn); ok {
			got, _ = Patterns{p}.Match(a)
		}
		if got != test.name {
			t.Errorf("%s of %s is %q, want %q", test.arn, test.form, got, test.name)
		}
	}
}

func TestFormatPattern(t *testing.T) {
	t.Parallel()
	vars := Vars{Account: "123456789012", Region: "eu-west-1", Partition: "aws-cn"}
	for _, test := range []struct{ form, name, want string }{
		{"arn:aws:lambda:{region}:{account}:function:{name}{:*}", "web", "arn:aws-cn:lambda:eu-west-1:123456789012:function:web"},
		{"arn:aws:iam::{account}:role/{*/}{name}", "web", "arn:aws-cn:iam::123456789012:role/web"},
		{"arn:aws:s3:::{name}{/*}", "web", "arn:aws-cn:s3:::web"},
		{"arn:aws:apigateway:{region}::/restapis/{name}/stages/{name}", "a1/prod", "arn:aws-cn:apigateway:eu-west-1::/restapis/a1/stages/prod"},
	} {
		p, err := newPattern(test.form)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Format(vars, test.name); got != test.want {
			t.Errorf("%s makes %s, want %s", test.form, got, test.want)
		}
	}
}

func TestInvalidPatterns(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"", "arn:aws:s3:::bucket", "s3:{name}", "arn:aws:s3:::{name}{name}"} {
		if _, err := newPattern(form); err == nil {
			t.Errorf("%q is accepted", form)
		}
	}
}
