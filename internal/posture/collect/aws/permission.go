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

// conventions are those of AWS. They implement [collect.Conventions].
type conventions struct{}

// Permission implements [collect.Conventions].
func (conventions) Permission(r *resource.Request) string {
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

// Service implements [collect.Conventions].
func (conventions) Service(r *resource.Request) string {
	service, _, _ := strings.Cut(r.Call, ".")
	return permissionPrefix(service)
}

// EventSource implements [collect.Conventions].
func (conventions) EventSource(short string) string { return short + ".amazonaws.com" }

// maxPolicy is the number of characters, without white space, that IAM permits for a
// managed policy.
const maxPolicy = 6144

// A policyDocument is an IAM policy.
type policyDocument struct {
	Version   string
	Statement []statement
}

type statement struct {
	Sid      string
	Effect   string
	Action   []string
	Resource string
}

// Policies returns the managed policies with which a role can read every declared
// type. They have the least permissions. Each one fits into the limit of IAM and has
// all actions of its services. The first one also denies reading data: no policy here
// allows it, but another attached policy might.
func Policies(c *resource.Catalog) [][]byte {
	allowed := []string{"organizations:ListAccounts", "ec2:DescribeRegions"} // needed for discovery and for sessions
	for _, d := range Declarations(c) {
		allowed = append(allowed, d.Permissions...)
	}
	slices.Sort(allowed)
	allowed = slices.Compact(allowed)

	current := policyDocument{"2012-10-17", []statement{
		{"ReadConfiguration", "Allow", nil, "*"},
		{"NeverReadData", "Deny", dataPermissions, "*"},
	}}
	var policies [][]byte
	for start := 0; start < len(allowed); {
		// allowed is sorted: allowed[start:end] are all actions of one service.
		service, _, _ := strings.Cut(allowed[start], ":")
		end := start
		for end < len(allowed) && strings.HasPrefix(allowed[end], service+":") {
			end++
		}
		read := &current.Statement[0]
		if len(read.Action) > 0 && current.size(allowed[start:end]) > maxPolicy {
			policies = append(policies, current.text())
			current = policyDocument{"2012-10-17", []statement{{"ReadConfiguration", "Allow", nil, "*"}}}
			read = &current.Statement[0]
		}
		read.Action = append(read.Action, allowed[start:end]...)
		start = end
	}
	return append(policies, current.text())
}

// size returns the number of characters of the policy without white space, with more
// actions in its first statement.
func (p policyDocument) size(more []string) int {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings always marshal
	}
	size := len(text)
	for _, action := range more {
		size += len(action) + len(`"",`)
	}
	return size
}

// text returns the policy as indented JSON.
func (p policyDocument) text() []byte {
	text, err := json.MarshalIndent(p, "", "  ")
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
