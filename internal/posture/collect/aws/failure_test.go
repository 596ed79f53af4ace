package aws

import (
	"errors"
	"testing"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/awsapi"
)

func TestClassifyErrors(t *testing.T) {
	for name, test := range map[string]struct {
		err  *awsapi.Error
		want error
	}{
		"a missing permission": {&awsapi.Error{Service: "macie2", Code: "AccessDeniedException",
			Message: "User: arn:aws:sts::123456789012:assumed-role/vigil/a is not authorized to perform: macie2:GetMacieSession"}, collect.ErrDenied},
		"a user pool without threat protection": {&awsapi.Error{Service: "cognito-idp", Code: "UserPoolAddOnNotEnabledException"}, collect.ErrOff},
		"an account without Security Hub":       {&awsapi.Error{Service: "securityhub", Code: "InvalidAccessException"}, collect.ErrOff},
		"a bucket without a lifecycle":          {&awsapi.Error{Service: "s3", Code: "NoSuchLifecycleConfiguration"}, collect.ErrGone},
		"a deleted placement group":             {&awsapi.Error{Service: "ec2", Code: "InvalidPlacementGroup.Unknown"}, collect.ErrGone},
		"a deregistered image":                  {&awsapi.Error{Service: "ec2", Code: "InvalidAMIID.Unavailable"}, collect.ErrGone},
		"a deleted stack":                       {&awsapi.Error{Service: "cloudformation", Code: "ValidationError", Message: "Stack with id web does not exist"}, collect.ErrGone},
	} {
		if got := classify(test.err, "service:Action"); !errors.Is(got, test.want) {
			t.Errorf("%s: classified as %v, want %v", name, got, test.want)
		}
	}
}

func TestInvalidRequestDoesNotMeanThatTheStackIsDeleted(t *testing.T) {
	err := classify(&awsapi.Error{Service: "cloudformation", Code: "ValidationError", Message: "1 validation error detected"}, "cloudformation:DescribeStacks")
	if errors.Is(err, collect.ErrGone) {
		t.Errorf("classified as %v", err)
	}
}
