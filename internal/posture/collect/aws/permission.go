package aws

import (
	"encoding/json"
	"slices"
	"strings"
)

// prefixes are the names that services have in permissions and limits, where
// they differ from the SDK's in more than case.
var prefixes = map[string]string{
	"Elastic Load Balancing v2": "elasticloadbalancing",
	"EFS":                       "elasticfilesystem",
	"CloudWatch Logs":           "logs",
	"EventBridge":               "events",
	"Config Service":            "config",
	"OpenSearch":                "es",
	"Auto Scaling":              "autoscaling",
	"Secrets Manager":           "secretsmanager",
	"Route 53":                  "route53",
	"API Gateway":               "apigateway",
	"ApiGatewayV2":              "apigateway",
	"AccessAnalyzer":            "access-analyzer",
	"S3 Control":                "s3",
}

// prefix returns the name of a service in permissions and limits.
func prefix(serviceID string) string {
	if p, ok := prefixes[serviceID]; ok {
		return p
	}
	return strings.ToLower(serviceID)
}

// permissions are those whose names are not the service and the call.
var permissions = map[string]string{
	"S3.ListBuckets":                     "s3:ListAllMyBuckets",
	"S3.GetBucketEncryption":             "s3:GetEncryptionConfiguration",
	"S3.GetPublicAccessBlock":            "s3:GetBucketPublicAccessBlock",
	"S3.GetBucketLifecycleConfiguration": "s3:GetLifecycleConfiguration",
	"S3 Control.GetPublicAccessBlock":    "s3:GetAccountPublicAccessBlock",
}

// permission returns what a credential must grant for a call.
func permission(serviceID, operation string) string {
	if p, ok := permissions[serviceID+"."+operation]; ok {
		return p
	}
	if prefix(serviceID) == "apigateway" {
		return "apigateway:GET"
	}
	return prefix(serviceID) + ":" + operation
}

// Policy returns the least that a role must be allowed for everything to be
// read, as an IAM policy. The role is never allowed to read data: what the last
// statement denies is not granted by the first either, but a policy that is
// attached beside this one might.
func Policy() []byte {
	allowed := []string{"organizations:ListAccounts"} // of discovery
	for _, c := range collectors {
		allowed = append(allowed, c.Permissions...)
	}
	slices.Sort(allowed)
	type statement struct {
		Sid      string
		Effect   string
		Action   []string
		Resource string
	}
	text, err := json.MarshalIndent(struct {
		Version   string
		Statement []statement
	}{"2012-10-17", []statement{
		{"ReadConfiguration", "Allow", slices.Compact(allowed), "*"},
		{"NeverReadData", "Deny", dataPermissions, "*"},
	}}, "", "  ")
	if err != nil {
		panic(err) // strings alone cannot fail
	}
	return append(text, '\n')
}

// dataPermissions reach what customers store, not how it is kept.
var dataPermissions = []string{
	"dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan",
	"ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer",
	"kms:Decrypt",
	"lambda:GetFunction",
	"logs:FilterLogEvents", "logs:GetLogEvents",
	"s3:GetObject", "s3:GetObjectVersion",
	"secretsmanager:GetSecretValue",
	"sqs:ReceiveMessage",
	"ssm:GetParameter", "ssm:GetParameterHistory", "ssm:GetParameters", "ssm:GetParametersByPath",
}
