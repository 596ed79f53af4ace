package awsapi_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect/awsapi"
)

// A peer is the address of a server that gets the calls to all hosts: a moto server, which is an
// independent emulator of all AWS services, or the server of a test; see serve. moto identifies the
// service by the host name and by the scope of the signature.
type peer string

func (p peer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	r.URL.Scheme, r.URL.Host = "http", string(p)
	return http.DefaultTransport.RoundTrip(r)
}

// write creates a resource in moto with a request that does not use our own code.
func (p peer) write(t *testing.T, method, host, path, service, contentType, target, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+host+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/us-east-1/"+service+"/aws4_request, SignedHeaders=host, Signature=x")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if target != "" {
		r.Header.Set("X-Amz-Target", target)
	}
	answer, err := (&http.Client{Transport: p}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		t.Fatalf("%s %s%s: %d %s %v", method, host, path, answer.StatusCode, text, err)
	}
	return string(text)
}

const form = "application/x-www-form-urlencoded"

// make creates a few resources in services of every protocol.
func (p peer) make(t *testing.T) {
	t.Helper()
	p.write(t, "POST", "localhost", "/moto-api/reset", "moto", "", "", "")
	p.write(t, "POST", "iam.amazonaws.com", "/", "iam", form, "", "Action=CreateUser&Version=2010-05-08&UserName=ann&Path=/team/")
	p.write(t, "POST", "iam.amazonaws.com", "/", "iam", form, "", "Action=CreateUser&Version=2010-05-08&UserName=bob")
	p.write(t, "POST", "iam.amazonaws.com", "/", "iam", form, "", "Action=TagUser&Version=2010-05-08&UserName=ann&Tags.member.1.Key=a%26b&Tags.member.1.Value=%3C1%3E")
	p.write(t, "POST", "ec2.us-east-1.amazonaws.com", "/", "ec2", form, "", "Action=RunInstances&Version=2016-11-15&ImageId=ami-03cf127a&MinCount=3&MaxCount=3")
	p.write(t, "POST", "sqs.us-east-1.amazonaws.com", "/", "sqs", "application/x-amz-json-1.0", "AmazonSQS.CreateQueue", `{"QueueName":"orders"}`)
	p.write(t, "POST", "sns.us-east-1.amazonaws.com", "/", "sns", form, "", "Action=CreateTopic&Version=2010-03-31&Name=news")
	p.write(t, "POST", "dynamodb.us-east-1.amazonaws.com", "/", "dynamodb", "application/x-amz-json-1.0", "DynamoDB_20120810.CreateTable",
		`{"TableName":"t","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}`)
	p.write(t, "PUT", "files-one.s3.us-east-1.amazonaws.com", "/", "s3", "", "", "")
	p.write(t, "PUT", "files-one.s3.us-east-1.amazonaws.com", "/?tagging", "s3", "", "", `<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>`)
	p.write(t, "PUT", "s3.us-east-1.amazonaws.com", "/dotted.bucket", "s3", "", "", "")
	for _, key := range []string{"a", "b", "c"} {
		p.write(t, "PUT", "files-one.s3.us-east-1.amazonaws.com", "/"+key, "s3", "", "", "content of "+key)
	}
	p.write(t, "POST", "route53.amazonaws.com", "/2013-04-01/hostedzone", "route53", "", "",
		`<CreateHostedZoneRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Name>example.com</Name><CallerReference>1</CallerReference></CreateHostedZoneRequest>`)
	p.write(t, "POST", "apigateway.us-east-1.amazonaws.com", "/restapis", "apigateway", "application/json", "", `{"name":"api"}`)
	p.write(t, "POST", "logs.us-east-1.amazonaws.com", "/", "logs", "application/x-amz-json-1.1", "Logs_20140328.CreateLogGroup", `{"logGroupName":"g"}`)
	p.write(t, "POST", "logs.us-east-1.amazonaws.com", "/", "logs", "application/x-amz-json-1.1", "Logs_20140328.CreateLogGroup", `{"logGroupName":"h"}`)
	p.write(t, "POST", "kms.us-east-1.amazonaws.com", "/", "kms", "application/x-amz-json-1.1", "TrentService.CreateKey", `{}`)
	p.write(t, "POST", "eks.us-east-1.amazonaws.com", "/clusters", "eks", "application/json", "",
		`{"name":"c","roleArn":"arn:aws:iam::123456789012:role/eks","resourcesVpcConfig":{"subnetIds":[]}}`)
}

// peerServer returns the moto server, or skips the test when there is none.
func peerServer(t *testing.T) peer {
	t.Helper()
	address := os.Getenv("VIGIL_TEST_MOTO")
	if address == "" {
		t.Skip("set VIGIL_TEST_MOTO to the address of a moto server to run this test")
	}
	p := peer(address)
	p.make(t)
	return p
}

// TestPeerAnswers calls operations of every protocol.
func TestPeerAnswers(t *testing.T) {
	p := peerServer(t)
	client := func(o awsapi.Options) *awsapi.Client {
		o.Credentials, o.Attempts = credentials.NewStaticCredentialsProvider("AKIATEST", "x", ""), 1
		c, err := awsapi.New(o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	byHost := client(awsapi.Options{HTTP: &http.Client{Transport: p}})
	byEndpoint := client(awsapi.Options{HTTP: http.DefaultClient, Endpoint: "http://" + string(p)})
	zone := gjson.Get(call(t, byHost, "route53", "ListHostedZones", nil), "HostedZones.0.Id").String()
	key := gjson.Get(call(t, byHost, "kms", "ListKeys", nil), "Keys.0.KeyId").String()
	queue := gjson.Get(call(t, byHost, "sqs", "ListQueues", nil), "QueueUrls.0").String()
	api := gjson.Get(call(t, byHost, "apigateway", "GetRestApis", nil), "items.0.id").String()
	call(t, byHost, "iam", "GenerateCredentialReport", nil) // the first call starts the generation
	topic := gjson.Get(call(t, byHost, "sns", "ListTopics", nil), "Topics.0.TopicArn").String()
	for _, tt := range []struct {
		service, operation string
		input              in
		path, want         string // a path in the response and its value; without a path, the error code
	}{
		{"sts", "GetCallerIdentity", nil, "Account", "123456789012"},
		{"iam", "ListUsers", nil, "Users.#.UserName", `["ann","bob"]`},
		{"iam", "ListUsers", in{"PathPrefix": "/team/"}, "Users.#.UserName", `["ann"]`},
		{"iam", "ListUserTags", in{"UserName": "ann"}, "Tags", `[{"Key":"a&b","Value":"<1>"}]`},
		{"iam", "GenerateCredentialReport", nil, "State", "COMPLETE"},
		{"ec2", "DescribeInstances", nil, "Reservations.0.Instances.#", "3"},
		{"ec2", "DescribeInstances", in{"Filters": []any{in{"Name": "instance-state-name", "Values": []any{"stopped"}}}}, "Reservations.#", "0"},
		{"ec2", "DescribeRegions", in{"AllRegions": true, "RegionNames": []any{"eu-west-1"}}, "Regions.0.RegionName", "eu-west-1"},
		{"ec2", "DescribeVpcs", nil, "Vpcs.0.IsDefault", "true"},
		{"sqs", "GetQueueAttributes", in{"QueueUrl": queue, "AttributeNames": []any{"All"}}, "Attributes.QueueArn", "arn:aws:sqs:us-east-1:123456789012:orders"},
		{"sns", "GetTopicAttributes", in{"TopicArn": topic}, "Attributes.TopicArn", topic},
		{"dynamodb", "DescribeTable", in{"TableName": "t"}, "Table.TableStatus", "ACTIVE"},
		{"s3", "ListBuckets", nil, "Buckets.#.Name", `["files-one","dotted.bucket"]`},
		{"s3", "GetBucketTagging", in{"Bucket": "files-one"}, "TagSet", `[{"Key":"k","Value":"v"}]`},
		{"s3", "GetBucketLocation", in{"Bucket": "files-one"}, "@this", "{}"}, // S3 returns no name for us-east-1
		{"s3", "GetBucketAcl", in{"Bucket": "dotted.bucket"}, "Grants.0.Grantee.Type", "CanonicalUser"},
		{"s3", "ListObjectsV2", in{"Bucket": "files-one", "MaxKeys": 2}, "Contents.#.Key", `["a","b"]`},
		{"s3", "HeadObject", in{"Bucket": "files-one", "Key": "a"}, "ContentLength", "12"},
		{"s3", "GetObject", in{"Bucket": "files-one", "Key": "a"}, "Body", "Y29udGVudCBvZiBh"}, // "content of a" in base64
		{"route53", "GetHostedZone", in{"Id": zone}, "HostedZone.Name", "example.com."},
		{"route53", "ListResourceRecordSets", in{"HostedZoneId": zone}, "ResourceRecordSets.0.Type", "NS"},
		{"apigateway", "GetRestApi", in{"restApiId": api}, "name", "api"},
		{"logs", "DescribeLogGroups", nil, "logGroups.0.logGroupName", "g"},
		{"kms", "DescribeKey", in{"KeyId": key}, "KeyMetadata.KeyId", key},
		{"eks", "DescribeCluster", in{"name": "c"}, "cluster.name", "c"},
		{"lambda", "ListFunctions", nil, "Functions", "[]"},
		{"cloudwatch", "DescribeAlarms", nil, "MetricAlarms", "[]"},
		{"elbv2", "DescribeLoadBalancers", nil, "LoadBalancers", "[]"},
		{"rds", "DescribeDBInstances", nil, "DBInstances", "[]"},
		{"cloudfront", "ListDistributions", nil, "DistributionList.Quantity", "0"},
		{"organizations", "ListRoots", nil, "", "AWSOrganizationsNotInUseException"},
		{"iam", "GetUser", in{"UserName": "nobody"}, "", "NoSuchEntity"},
		{"s3", "GetBucketPolicy", in{"Bucket": "files-one"}, "", "NoSuchBucketPolicy"},
		{"s3", "HeadBucket", in{"Bucket": "no-such-bucket-here"}, "", "NotFound"},
		{"ec2", "DescribeInstances", in{"InstanceIds": []any{"i-0"}}, "", "InvalidInstanceID.NotFound"},
		{"sqs", "GetQueueAttributes", in{"QueueUrl": queue + "x", "AttributeNames": []any{"All"}}, "", "AWS.SimpleQueueService.NonExistentQueue"},
		{"eks", "DescribeCluster", in{"name": "none"}, "", "ResourceNotFoundException"},
		{"kms", "DescribeKey", in{"KeyId": "11111111-1111-1111-1111-111111111111"}, "", "NotFoundException"},
	} {
		for addressing, c := range map[string]*awsapi.Client{"by host": byHost, "one endpoint": byEndpoint} {
			answer, err := c.Call(t.Context(), tt.service, tt.operation, "us-east-1", tt.input)
			if tt.path == "" {
				if got := awsapi.CodeOf(err); got != tt.want {
					t.Errorf("%s: %s %s ends with %v, want %s", addressing, tt.service, tt.operation, err, tt.want)
				}
				continue
			}
			if got := gjson.Get(answer, tt.path); err != nil || !gjson.Valid(answer) || got.String() != tt.want {
				t.Errorf("%s: %s %s: %s is %s, want %s; %v; %.600s", addressing, tt.service, tt.operation, tt.path, got, tt.want, err, answer)
			}
		}
	}
}

func call(t *testing.T, c *awsapi.Client, service, operation string, input map[string]any) string {
	t.Helper()
	answer, err := c.Call(t.Context(), service, operation, "us-east-1", input)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestPeerPages reads page by page and assumes a role.
func TestPeerPages(t *testing.T) {
	p := peerServer(t)
	ownClient, err := awsapi.New(awsapi.Options{HTTP: &http.Client{Transport: p}, Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "x", ""), Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	role := ownClient.AssumeRole(awsapi.Role{ARN: "arn:aws:iam::123456789012:role/vigil", ExternalID: "external", SessionName: "vigil", Region: "us-east-1"})
	c, err := awsapi.New(awsapi.Options{HTTP: &http.Client{Transport: p}, Credentials: aws.NewCredentialsCache(role), Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for answer, err := range c.Pages(t.Context(), "s3", "ListObjectsV2", "us-east-1", map[string]any{"Bucket": "files-one", "MaxKeys": 2}) {
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, gjson.Get(answer, "Contents.#.Key").Raw)
	}
	if got := fmt.Sprint(pages); got != `[["a","b"] ["c"]]` {
		t.Errorf("pages of objects are %s", got)
	}
	pages = nil
	for answer, err := range c.Pages(t.Context(), "logs", "DescribeLogGroups", "us-east-1", map[string]any{"limit": 1}) {
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, gjson.Get(answer, "logGroups.#.logGroupName").Raw)
	}
	if got := fmt.Sprint(pages); got != `[["g"] ["h"]]` {
		t.Errorf("pages of log groups are %s", got)
	}
}
