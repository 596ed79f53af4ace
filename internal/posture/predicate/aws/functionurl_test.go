package aws

import (
	"testing"

	"vigil/internal/posture/predicate"
)

// TestPublicURL checks which resource policies let everybody call a Lambda function by a URL
// without authentication.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	const (
		url       = `{"Effect": "Allow", "Principal": "*", "Action": "lambda:InvokeFunctionUrl", "Resource": "*", "Condition": {"StringEquals": {"lambda:FunctionUrlAuthType": "NONE"}}}`
		invoke    = `{"Effect": "Allow", "Principal": "*", "Action": "lambda:InvokeFunction", "Resource": "*", "Condition": {"Bool": {"lambda:InvokedViaFunctionUrl": "true"}}}`
		invokeAny = `{"Effect": "Allow", "Principal": "*", "Action": "lambda:InvokeFunction", "Resource": "*"}`
	)
	for _, tt := range []struct {
		name, statements string
		want             predicate.Truth
	}{
		{"as the console makes it: both actions are allowed to everybody", url + `, ` + invoke, predicate.Yes},
		{"only InvokeFunctionUrl: a call needs lambda:InvokeFunction too", url, predicate.No},
		{"only InvokeFunction: a call needs lambda:InvokeFunctionUrl too", invoke, predicate.No},
		{"InvokeFunction for every kind of call: calls by a URL are among them", url + `, ` + invokeAny, predicate.Yes},
		{"InvokeFunction except by URLs: calls by a URL are excluded", url + `, {"Effect": "Allow", "Principal": "*", "Action": "lambda:InvokeFunction", "Resource": "*", "Condition": {"Bool": {"lambda:InvokedViaFunctionUrl": "false"}}}`, predicate.No},
		{"InvokeFunctionUrl for URLs with IAM: the URL has no authentication", `{"Effect": "Allow", "Principal": "*", "Action": "lambda:InvokeFunctionUrl", "Resource": "*", "Condition": {"StringEquals": {"lambda:FunctionUrlAuthType": "AWS_IAM"}}}, ` + invoke, predicate.No},
		{"InvokeFunctionUrl except for URLs with IAM: the URL has no authentication", `{"Effect": "Allow", "Principal": "*", "Action": "lambda:InvokeFunctionUrl", "Resource": "*", "Condition": {"StringNotEquals": {"lambda:FunctionUrlAuthType": "AWS_IAM"}}}, ` + invoke, predicate.Yes},
		{"InvokeFunction for one account: strangers lack lambda:InvokeFunction", url + `, {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::210987654321:root"}, "Action": "lambda:InvokeFunction", "Resource": "*", "Condition": {"Bool": {"lambda:InvokedViaFunctionUrl": "true"}}}`, predicate.No},
		{"InvokeFunction for S3: a call by the URL is not one of S3", url + `, {"Effect": "Allow", "Principal": {"Service": "s3.amazonaws.com"}, "Action": "lambda:InvokeFunction", "Resource": "*"}`, predicate.No},
		{"InvokeFunction within an organisation: strangers are outside", url + `, {"Effect": "Allow", "Principal": "*", "Action": "lambda:InvokeFunction", "Resource": "*", "Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-abc1234567"}, "Bool": {"lambda:InvokedViaFunctionUrl": "true"}}}`, predicate.No},
		{"both in one statement by a wildcard: lambda:Invoke* covers both actions", `{"Effect": "Allow", "Principal": "*", "Action": "lambda:Invoke*", "Resource": "*", "Condition": {"StringEquals": {"lambda:FunctionUrlAuthType": "NONE"}}}`, predicate.Yes},
		{"everything but administration: NotAction leaves both actions allowed", `{"Effect": "Allow", "Principal": "*", "NotAction": ["lambda:Update*", "lambda:Delete*"], "Resource": "*"}`, predicate.Yes},
		{"InvokeFunction is denied to everybody: a Deny overrides an Allow", url + `, ` + invoke + `, {"Effect": "Deny", "Principal": "*", "Action": "lambda:InvokeFunction", "Resource": "*"}`, predicate.No},
		{"InvokeAsync is denied to everybody: the URL does not use it", url + `, ` + invoke + `, {"Effect": "Deny", "Principal": "*", "Action": "lambda:InvokeAsync", "Resource": "*"}`, predicate.Yes},
		{"an unknown operator: its meaning is unknown", url + `, {"Effect": "Allow", "Principal": "*", "Action": "lambda:InvokeFunction", "Resource": "*", "Condition": {"StringResembles": {"lambda:InvokedViaFunctionUrl": "true"}}}`, predicate.Unknown},
		{"no statements: nothing is allowed", ``, predicate.No},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ask(`{"Statement": [`+tt.statements+`]}`, Policy.PublicURL)
			if got.Truth != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
