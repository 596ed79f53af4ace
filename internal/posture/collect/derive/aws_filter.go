package derive

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/aws"
	"vigil/internal/posture/resource"
)

const (
	logsMetricFilter posture.EntityType = "AWS.Logs.MetricFilter"
	cloudWatchAlarm  posture.EntityType = "AWS.CloudWatch.Alarm"
)

// awsActivity is an activity in CloudTrail that should raise an alarm. A filter
// pattern that matches every one of the events detects the activity.
type awsActivity struct {
	name   string
	events []gjson.Result
}

// awsActivities are the activities of the CIS benchmark, section "Monitoring".
var awsActivities = []awsActivity{
	{"unauthorizedApiCalls", slices.Concat(
		awsEvents("ec2.amazonaws.com", map[string]any{"errorCode": "Client.UnauthorizedOperation"}, "RunInstances"),
		awsEvents("s3.amazonaws.com", map[string]any{"errorCode": "AccessDenied"}, "ListBuckets"),
		awsEvents("dynamodb.amazonaws.com", map[string]any{"errorCode": "AccessDeniedException"}, "ListTables"))},
	{"consoleSignInWithoutMfa", []gjson.Result{awsEvent("IAMUser", "signin.amazonaws.com", "ConsoleLogin", map[string]any{
		"eventType": "AwsConsoleSignIn", "additionalEventData": map[string]any{"MFAUsed": "No"}, "responseElements": map[string]any{"ConsoleLogin": "Success"},
	})}},
	{"rootUsage", []gjson.Result{
		awsEvent("Root", "signin.amazonaws.com", "ConsoleLogin", map[string]any{
			"eventType": "AwsConsoleSignIn", "additionalEventData": map[string]any{"MFAUsed": "Yes"}, "responseElements": map[string]any{"ConsoleLogin": "Success"},
		}),
		awsEvent("Root", "iam.amazonaws.com", "CreateAccessKey", nil),
	}},
	{"iamPolicyChanges", awsEvents("iam.amazonaws.com", nil, "DeleteGroupPolicy", "DeleteRolePolicy", "DeleteUserPolicy", "PutGroupPolicy", "PutRolePolicy",
		"PutUserPolicy", "CreatePolicy", "DeletePolicy", "CreatePolicyVersion", "DeletePolicyVersion", "AttachRolePolicy", "DetachRolePolicy", "AttachUserPolicy",
		"DetachUserPolicy", "AttachGroupPolicy", "DetachGroupPolicy")},
	{"cloudTrailChanges", awsEvents("cloudtrail.amazonaws.com", nil, "CreateTrail", "UpdateTrail", "DeleteTrail", "StartLogging", "StopLogging")},
	{"consoleSignInFailures", []gjson.Result{awsEvent("IAMUser", "signin.amazonaws.com", "ConsoleLogin", map[string]any{
		"eventType": "AwsConsoleSignIn", "errorMessage": "Failed authentication", "additionalEventData": map[string]any{"MFAUsed": "No"},
		"responseElements": map[string]any{"ConsoleLogin": "Failure"},
	})}},
	{"kmsKeyDisabling", awsEvents("kms.amazonaws.com", nil, "DisableKey", "ScheduleKeyDeletion")},
	{"s3PolicyChanges", awsEvents("s3.amazonaws.com", nil, "PutBucketAcl", "PutBucketPolicy", "PutBucketCors", "PutBucketLifecycle", "PutBucketReplication",
		"DeleteBucketPolicy", "DeleteBucketCors", "DeleteBucketLifecycle", "DeleteBucketReplication")},
	{"configChanges", awsEvents("config.amazonaws.com", nil, "StopConfigurationRecorder", "DeleteDeliveryChannel", "PutDeliveryChannel", "PutConfigurationRecorder")},
	{"securityGroupChanges", awsEvents("ec2.amazonaws.com", nil, "AuthorizeSecurityGroupIngress", "AuthorizeSecurityGroupEgress", "RevokeSecurityGroupIngress",
		"RevokeSecurityGroupEgress", "CreateSecurityGroup", "DeleteSecurityGroup")},
	{"networkAclChanges", awsEvents("ec2.amazonaws.com", nil, "CreateNetworkAcl", "CreateNetworkAclEntry", "DeleteNetworkAcl", "DeleteNetworkAclEntry",
		"ReplaceNetworkAclEntry", "ReplaceNetworkAclAssociation")},
	{"gatewayChanges", awsEvents("ec2.amazonaws.com", nil, "CreateCustomerGateway", "DeleteCustomerGateway", "AttachInternetGateway", "CreateInternetGateway",
		"DeleteInternetGateway", "DetachInternetGateway")},
	{"routeTableChanges", awsEvents("ec2.amazonaws.com", nil, "CreateRoute", "CreateRouteTable", "ReplaceRoute", "ReplaceRouteTableAssociation", "DeleteRouteTable",
		"DeleteRoute", "DisassociateRouteTable")},
	{"vpcChanges", awsEvents("ec2.amazonaws.com", nil, "CreateVpc", "DeleteVpc", "ModifyVpcAttribute", "AcceptVpcPeeringConnection", "CreateVpcPeeringConnection",
		"DeleteVpcPeeringConnection", "RejectVpcPeeringConnection")},
	{"organizationsChanges", awsEvents("organizations.amazonaws.com", nil, "AcceptHandshake", "AttachPolicy", "CreateAccount", "CreateOrganizationalUnit",
		"CreatePolicy", "DeclineHandshake", "DeleteOrganization", "DeleteOrganizationalUnit", "DeletePolicy", "DetachPolicy", "DisablePolicyType",
		"EnablePolicyType", "InviteAccountToOrganization", "LeaveOrganization", "MoveAccount", "RemoveAccountFromOrganization", "UpdateOrganizationalUnit",
		"UpdatePolicy")},
}

// awsEvents returns two events for each name: one by a user and one by a role.
func awsEvents(source string, more map[string]any, names ...string) (all []gjson.Result) {
	for _, name := range names {
		all = append(all, awsEvent("IAMUser", source, name, more), awsEvent("AssumedRole", source, name, more))
	}
	return all
}

// awsEvent returns an event in the form of CloudTrail.
func awsEvent(identity, source, name string, more map[string]any) gjson.Result {
	event := map[string]any{
		"eventVersion": "1.11", "eventType": "AwsApiCall", "eventCategory": "Management", "managementEvent": true, "readOnly": false, "awsRegion": "us-east-1",
		"eventSource": source, "eventName": name, "sourceIPAddress": "203.0.113.10", "userAgent": "aws-cli/2.0", "recipientAccountId": "111122223333",
		"userIdentity": map[string]any{"type": identity, "principalId": "AIDAEXAMPLE", "accountId": "111122223333", "arn": "arn:aws:iam::111122223333:" + identity},
	}
	maps.Copy(event, more)
	text, err := json.Marshal(event)
	if err != nil {
		panic(err) // strings and booleans always marshal
	}
	return gjson.ParseBytes(text)
}

// awsFilterPattern adds the CloudTrail activities that a filter pattern detects.
var awsFilterPattern = resource.Function{
	Properties: []resource.Property{{
		Name: "detects", Kind: resource.Texts,
		Doc: "The activities of which its pattern matches every CloudTrail event: unauthorizedApiCalls, consoleSignInWithoutMfa, rootUsage, iamPolicyChanges, cloudTrailChanges, consoleSignInFailures, kmsKeyDisabling, s3PolicyChanges, configChanges, securityGroupChanges, networkAclChanges, gatewayChanges, routeTableChanges, vpcChanges, organizationsChanges.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		pattern, err := aws.ParseFilterPattern(in.Value.String())
		if err != nil {
			b.Unread(err, "detects")
			return nil
		}
		putNames(b, "detects", awsActivities, func(a awsActivity) (string, predicate.Answer) {
			return a.name, predicate.And(answersFor(a.events, pattern.Matches)...)
		})
		return nil
	},
}

// awsMetrics lists the distinct metrics that metric filters of the region publish
// or alarms watch.
var awsMetrics = resource.ListFunction{
	Reads: []posture.EntityType{logsMetricFilter, cloudWatchAlarm},
	Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) ([]resource.Item, error) {
		filters, err := c.Items(ctx, logsMetricFilter)
		if err != nil {
			return nil, err
		}
		alarms, err := c.Items(ctx, cloudWatchAlarm)
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		add := func(m gjson.Result, namespace, name string) {
			if m.Get(name).Exists() {
				seen[m.Get(namespace).String()+"/"+m.Get(name).String()] = true
			}
		}
		for _, f := range filters {
			for _, m := range f.Get("metricTransformations").Array() {
				add(m, "metricNamespace", "metricName")
			}
		}
		for _, a := range alarms {
			add(a.Result, "Namespace", "MetricName")
			for _, m := range a.Get("Metrics.#.MetricStat.Metric").Array() {
				add(m, "Namespace", "MetricName")
			}
		}
		return namedItems(slices.Sorted(maps.Keys(seen))), nil
	},
}

// awsAlarmState matches a term in the rule of a composite alarm, with the name or
// ARN of an alarm: ALARM(name), ALARM("a name").
var awsAlarmState = regexp.MustCompile(`\b(?:ALARM|OK|INSUFFICIENT_DATA)\s*\(\s*(?:"([^"]+)"|([^")\s]+))\s*\)`)

// awsAlarmRule adds the alarms that the rule of a composite alarm names.
var awsAlarmRule = resource.Function{
	Edges: []resource.Edge{{Label: "COMBINES", To: resource.EntityTypes{cloudWatchAlarm}, Doc: "The alarms that the rule of a composite alarm names."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		seen := map[posture.EntityID]bool{}
		for _, match := range awsAlarmState.FindAllStringSubmatch(in.Value.String(), -1) {
			alarm := match[1] + match[2] // one of them is empty: the name is quoted or not
			id := in.Cloud.Ref(in.Vars, []posture.EntityType{cloudWatchAlarm}, alarm)
			if id != "" && !seen[id] {
				seen[id] = true
				b.Edge("COMBINES", id)
			}
		}
		return nil
	},
}
