package aws

import (
	"encoding/json"
	"slices"
	"strings"

	"vigil/internal/posture/resource"
)

// prefixes maps services of declarations to their names in permissions and signatures,
// where these differ.
var prefixes = map[string]string{
	"accessanalyzer": "access-analyzer", "amp": "aps", "apigatewayv2": "apigateway", "bedrock-agent": "bedrock", "cloudhsmv2": "cloudhsm",
	"docdb": "rds", "dynamodbstreams": "dynamodb", "efs": "elasticfilesystem", "elb": "elasticloadbalancing", "elbv2": "elasticloadbalancing",
	"emr": "elasticmapreduce", "greengrassv2": "greengrass", "keyspaces": "cassandra", "kinesisanalyticsv2": "kinesisanalytics",
	"lexv2-models": "lex", "mwaa": "airflow", "neptune": "rds", "opensearch": "es", "opensearchserverless": "aoss", "pinpoint": "mobiletargeting",
	"resourcegroupstaggingapi": "tag", "s3control": "s3", "service-quotas": "servicequotas", "sesv2": "ses", "sso-admin": "sso",
	"stepfunctions": "states", "timestream-query": "timestream", "timestream-write": "timestream",
}

// permissionPrefix returns the name of a service in permissions and limits.
func permissionPrefix(service string) string {
	if p, ok := prefixes[service]; ok {
		return p
	}
	return service
}

// Grammar implements [collect.Grammar].
type Grammar struct{}

// Permission implements [collect.Grammar].
func (Grammar) Permission(r *resource.Request) string {
	if r.Permission != "" {
		return r.Permission
	}
	service, operation, _ := strings.Cut(r.Call, ".")
	prefix := permissionPrefix(service)
	if prefix == "apigateway" { // its permissions are HTTP methods
		operation = "GET"
	}
	return prefix + ":" + operation
}

// Service implements [collect.Grammar].
func (Grammar) Service(r *resource.Request) string {
	service, _, _ := strings.Cut(r.Call, ".")
	return permissionPrefix(service)
}

// EventSource implements [collect.Grammar].
func (Grammar) EventSource(short string) string { return short + ".amazonaws.com" }

// Policy returns the minimal IAM policy with which a role can read every declared
// type. The last statement denies reading data. The first statement does not allow it
// either, but another attached policy might.
func Policy(c *resource.Catalog) []byte {
	allowed := []string{"organizations:ListAccounts", "ec2:DescribeRegions"} // needed for discovery and for sessions
	for _, d := range Declarations(c) {
		allowed = append(allowed, d.Permissions...)
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
		panic(err) // strings always marshal
	}
	return append(text, '\n')
}

// dataPermissions allow reading the data that customers store, not its configuration.
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
