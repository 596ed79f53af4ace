package awsapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/awsapi/wire"
)

// serve returns a client that sends its calls to a handler, whatever their host. If o.HTTP is
// set, the client uses that instead.
func serve(t *testing.T, o awsapi.Options, handler http.HandlerFunc) *awsapi.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	if o.HTTP == nil {
		o.HTTP = &http.Client{
			Transport:     peer(server.Listener.Addr().String()),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if o.Credentials == nil {
		o.Credentials = credentials.NewStaticCredentialsProvider("AKIATEST", "x", "token")
	}
	if o.Backoff == 0 {
		o.Backoff = time.Nanosecond
	}
	c, err := awsapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type in = map[string]any

func TestRequestEncoding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		service, operation string
		input              any
		want               string // method, host, path and query, Content-Type, body; the last two are empty without a body
		scope              string // region and service of the signature
	}{
		{"ec2", "DescribeInstances", in{"InstanceIds": []any{"i-1", "i-2"}, "MaxResults": 5},
			"POST ec2.eu-west-1.amazonaws.com / application/x-www-form-urlencoded Action=DescribeInstances&InstanceId.1=i-1&InstanceId.2=i-2&MaxResults=5&Version=2016-11-15", "eu-west-1/ec2"},
		{"iam", "ListEntitiesForPolicy", json.RawMessage(`{"PolicyArn":"arn:aws:iam::1:policy/p","MaxItems":10}`),
			"POST iam.amazonaws.com / application/x-www-form-urlencoded Action=ListEntitiesForPolicy&MaxItems=10&PolicyArn=arn%3Aaws%3Aiam%3A%3A1%3Apolicy%2Fp&Version=2010-05-08", "us-east-1/iam"},
		{"sqs", "GetQueueAttributes", in{"QueueUrl": "u", "AttributeNames": []any{"All"}},
			`POST sqs.eu-west-1.amazonaws.com / application/x-amz-json-1.0 {"QueueUrl":"u","AttributeNames":["All"]}`, "eu-west-1/sqs"},
		{"lambda", "GetFunction", in{"FunctionName": "a/b", "Qualifier": "$LATEST"},
			"GET lambda.eu-west-1.amazonaws.com /2015-03-31/functions/a%2Fb?Qualifier=%24LATEST  ", "eu-west-1/lambda"},
		{"apigateway", "GetStages", in{"restApiId": "r"},
			"GET apigateway.eu-west-1.amazonaws.com /restapis/r/stages  ", "eu-west-1/apigateway"},
		{"route53", "ListResourceRecordSets", in{"HostedZoneId": "/hostedzone/Z1", "MaxItems": "2"},
			"GET route53.amazonaws.com /2013-04-01/hostedzone/Z1/rrset?maxitems=2  ", "us-east-1/route53"},
		{"s3", "GetBucketPolicy", in{"Bucket": "some-bucket"}, "GET some-bucket.s3.eu-west-1.amazonaws.com /?policy=  ", "eu-west-1/s3"},
		{"s3", "GetBucketPolicy", in{"Bucket": "some.bucket"}, "GET s3.eu-west-1.amazonaws.com /some.bucket?policy=  ", "eu-west-1/s3"},
		{"s3", "HeadObject", in{"Bucket": "some-bucket", "Key": "a b/c"}, "HEAD some-bucket.s3.eu-west-1.amazonaws.com /a%20b/c  ", "eu-west-1/s3"},
		{"s3control", "GetPublicAccessBlock", in{"AccountId": "123456789012"},
			"GET 123456789012.s3-control.eu-west-1.amazonaws.com /v20180820/configuration/publicAccessBlock  ", "eu-west-1/s3"},
		{"route53", "ListTagsForResources", in{"ResourceType": "hostedzone", "ResourceIds": []any{"Z1"}},
			`POST route53.amazonaws.com /2013-04-01/tags/hostedzone application/xml <ListTagsForResourcesRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><ResourceIds><ResourceId>Z1</ResourceId></ResourceIds></ListTagsForResourcesRequest>`, "us-east-1/route53"},
	} {
		var got, scope string
		c := serve(t, awsapi.Options{Attempts: 1}, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = fmt.Sprintf("%s %s %s %s %s", r.Method, r.Host, r.URL.RequestURI(), r.Header.Get("Content-Type"), body)
			_, scope, _ = strings.Cut(r.Header.Get("Authorization"), "Credential=")
			w.WriteHeader(http.StatusTeapot)
		})
		_, err := c.Call(t.Context(), tt.service, tt.operation, "eu-west-1", tt.input)
		if awsapi.CodeOf(err) != "Imateapot" { // the status text without spaces and apostrophe
			t.Errorf("%s %s: %v, want the error of status 418", tt.service, tt.operation, err)
		}
		if got != tt.want {
			t.Errorf("%s %s sends\n%s, want\n%s", tt.service, tt.operation, got, tt.want)
		}
		if !strings.Contains(scope, "/"+tt.scope+"/aws4_request") {
			t.Errorf("%s %s is signed for %s, want %s", tt.service, tt.operation, scope, tt.scope)
		}
	}
}

func TestInvalidInputsAreNotSent(t *testing.T) {
	t.Parallel()
	c := serve(t, awsapi.Options{}, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("called %s", r.URL) })
	for _, tt := range []struct {
		service, operation string
		input              any
		path               string // of the member that is wrong
	}{
		{"ec2", "DescribeInstances", in{"InstanceIDs": []any{"i"}}, "InstanceIDs"},
		{"ec2", "DescribeInstances", in{"Filters": []any{in{"Name": 5}}}, "Filters[0].Name"},
		{"ec2", "DescribeInstances", in{"MaxResults": 1.5}, "MaxResults"},
		{"ec2", "DescribeInstances", in{"MaxResults": json.Number("4294967296")}, "MaxResults"},
		{"ec2", "DescribeInstances", in{"InstanceIds": "i"}, "InstanceIds"},
		{"lambda", "GetFunction", nil, "FunctionName"},
		{"lambda", "GetFunction", in{"FunctionName": ""}, "FunctionName"},
		{"s3", "GetBucketAcl", in{"Bucket": "arn:aws:s3:::x"}, "Bucket"},
		{"s3", "GetBucketAcl", in{"Bucket": "x/../y"}, "Bucket"},
		{"s3control", "GetPublicAccessBlock", in{"AccountId": "evil.example/"}, "AccountId"},
		{"iam", "GetAccountSummary", in{"x": 1}, "x"},
	} {
		_, err := c.Call(t.Context(), tt.service, tt.operation, "us-east-1", tt.input)
		wrong, ok := errors.AsType[*wire.InputError](err)
		if !ok || wrong.Path != tt.path {
			t.Errorf("%s %s with %v: %v, want an InputError about %s", tt.service, tt.operation, tt.input, err, tt.path)
		}
	}
	if _, err := c.Call(t.Context(), "sqs", "SendMessage", "us-east-1", nil); !errors.Is(err, model.ErrUnknown) {
		t.Errorf("an operation that writes: %v", err)
	}
	if _, err := c.Call(t.Context(), "sqs", "ListQueues", "us-east-1", json.RawMessage(`[1]`)); err == nil {
		t.Error("an array is accepted as input")
	}
}

func TestErrorsOfEveryProtocol(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		service, operation string
		input              any
		status             int
		header             string
		body               string
		want               awsapi.Error
	}{
		{"ec2", "DescribeInstances", nil, 403, "",
			`<?xml version="1.0"?><Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You &amp; me</Message></Error></Errors><RequestID>r1</RequestID></Response>`,
			awsapi.Error{Code: "UnauthorizedOperation", Message: "You & me", RequestID: "r1"}},
		{"iam", "ListUsers", nil, 404, "",
			`<ErrorResponse xmlns="x"><Error><Type>Sender</Type><Code>NoSuchEntity</Code><Message>m</Message></Error><RequestId>r2</RequestId></ErrorResponse>`,
			awsapi.Error{Code: "NoSuchEntity", Message: "m", RequestID: "r2"}},
		{"s3", "GetBucketAcl", in{"Bucket": "bucket"}, 404, "X-Amz-Request-Id: r3", `<Error><Code>NoSuchBucket</Code><Message>m</Message><Resource>/b</Resource></Error>`,
			awsapi.Error{Code: "NoSuchBucket", Message: "m", RequestID: "r3"}},
		{"s3", "HeadBucket", in{"Bucket": "bucket"}, 403, "", "", awsapi.Error{Code: "Forbidden"}},
		{"sqs", "ListQueues", nil, 400, "X-Amzn-Query-Error: AWS.SimpleQueueService.NonExistentQueue;Sender", `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"m"}`,
			awsapi.Error{Code: "AWS.SimpleQueueService.NonExistentQueue", Message: "m"}},
		{"kms", "ListKeys", nil, 400, "X-Amzn-Requestid: r4", `{"__type":"AccessDeniedException","Message":"m"}`,
			awsapi.Error{Code: "AccessDeniedException", Message: "m", RequestID: "r4"}},
		{"lambda", "ListFunctions", nil, 404, "X-Amzn-Errortype: ResourceNotFoundException:http://internal.amazon.com/", `{"Type":"User","Message":"m"}`,
			awsapi.Error{Code: "ResourceNotFoundException", Message: "m"}},
		{"lambda", "ListFunctions", nil, 400, "", `{"code":"BadThing","message":"m"}`, awsapi.Error{Code: "BadThing", Message: "m"}},
		{"lambda", "ListFunctions", nil, 404, "", `<html>nothing</html>`, awsapi.Error{Code: "NotFound"}},
		{"ec2", "DescribeInstances", nil, 404, "", `<html><p>nothing`, awsapi.Error{Code: "NotFound"}},
		{"kms", "ListKeys", nil, 400, "", `{"__type":"ValidationException","message":"x` + strings.Repeat("é", 1500) + `"}`, // cut to 2,000 bytes, but not within a character
			awsapi.Error{Code: "ValidationException", Message: "x" + strings.Repeat("é", 999)}},
		// CBOR of {"__type": "aws.x#ResourceNotFoundException", "message": "m"}.
		{"eventbridgev2", firstOf("eventbridgev2"), nil, 404, "", "\xa2\x66__type\x78\x1faws.x#ResourceNotFoundException\x67message\x61m",
			awsapi.Error{Code: "ResourceNotFoundException", Message: "m"}},
	} {
		c := serve(t, awsapi.Options{Attempts: 1}, func(w http.ResponseWriter, r *http.Request) {
			if name, value, ok := strings.Cut(tt.header, ": "); ok {
				w.Header().Set(name, value)
			}
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		})
		_, err := c.Call(t.Context(), tt.service, tt.operation, "us-east-1", tt.input)
		got, ok := errors.AsType[*awsapi.Error](err)
		if !ok {
			t.Errorf("%s: %v", tt.service, err)
			continue
		}
		if got.Code != tt.want.Code || got.Message != tt.want.Message || got.RequestID != tt.want.RequestID || got.HTTPStatus != tt.status || got.Service != tt.service {
			t.Errorf("%s: %+v, want %+v", tt.service, got, tt.want)
		}
	}
}

// firstOf returns the first of a service's operations that need no input.
func firstOf(service string) string {
	for _, name := range awsapi.Operations(service) {
		op, err := awsapi.Describe(service, name)
		if err == nil && wire.CheckInput(op, nil) == nil {
			return name
		}
	}
	return ""
}

func TestRetries(t *testing.T) {
	t.Parallel()
	const ok = `{"QueueUrls":["q"]}`
	throttled := func(w http.ResponseWriter) {
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"__type":"ThrottlingException"}`)
	}
	for _, tt := range []struct {
		name  string
		first func(w http.ResponseWriter)
		calls int32
		code  string
	}{
		{"throttled", throttled, 2, ""},
		{"unavailable", func(w http.ResponseWriter) { w.WriteHeader(503) }, 2, ""},
		{"cut off", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, ok)
		}, 2, ""},
		{"hung up", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 2, ""},
		{"refused", func(w http.ResponseWriter) { w.WriteHeader(403) }, 1, "Forbidden"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var calls, before, after atomic.Int32
			c := serve(t, awsapi.Options{
				Before: func(_ context.Context, a awsapi.Attempt) error { before.Store(int32(a.Number)); return nil },
				After:  func(awsapi.Attempt, error) { after.Add(1) },
			}, func(w http.ResponseWriter, r *http.Request) {
				if calls.Add(1) == 1 {
					tt.first(w)
					return
				}
				_, _ = io.WriteString(w, ok)
			})
			answer, err := c.Call(t.Context(), "sqs", "ListQueues", "us-east-1", nil)
			if awsapi.CodeOf(err) != tt.code || tt.code == "" && answer != ok {
				t.Errorf("got %s, %v", answer, err)
			}
			if calls.Load() != tt.calls || before.Load() != tt.calls || after.Load() != tt.calls {
				t.Errorf("%d calls, %d before, %d after; want %d", calls.Load(), before.Load(), after.Load(), tt.calls)
			}
		})
	}
}

func TestAttemptLimit(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	c := serve(t, awsapi.Options{Attempts: 3}, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(429)
	})
	_, err := c.Call(t.Context(), "kms", "ListKeys", "us-east-1", nil)
	refused, ok := errors.AsType[*awsapi.Error](err)
	if !ok || !refused.Throttled() || calls.Load() != 3 {
		t.Errorf("after %d calls: %v", calls.Load(), err)
	}
	limit := errors.New("no more")
	c = serve(t, awsapi.Options{Before: func(context.Context, awsapi.Attempt) error { return limit }}, func(http.ResponseWriter, *http.Request) { t.Error("called") })
	if _, err := c.Call(t.Context(), "kms", "ListKeys", "us-east-1", nil); !errors.Is(err, limit) {
		t.Errorf("a call that Before refuses: %v, want %v", err, limit)
	}
}

func TestBucketRegionRedirect(t *testing.T) {
	t.Parallel()
	var hosts []string
	c := serve(t, awsapi.Options{Attempts: 1}, func(w http.ResponseWriter, r *http.Request) {
		hosts = append(hosts, r.Host)
		switch {
		case strings.HasPrefix(r.Host, "evil-bucket."):
			w.Header().Set("X-Amz-Bucket-Region", "evil.example/")
			w.WriteHeader(301)
		case !strings.Contains(r.Host, "eu-central-1") || !strings.Contains(r.Header.Get("Authorization"), "/eu-central-1/s3/"):
			w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
			w.WriteHeader(301)
			_, _ = io.WriteString(w, `<Error><Code>PermanentRedirect</Code></Error>`)
		default:
			_, _ = io.WriteString(w, `<Tagging><TagSet/></Tagging>`)
		}
	})
	for range 2 {
		answer, err := c.Call(t.Context(), "s3", "GetBucketTagging", "us-east-1", in{"Bucket": "far-bucket"})
		if err != nil || answer != `{"TagSet":[]}` {
			t.Errorf("the tags of the bucket are %s, %v; want none", answer, err)
		}
	}
	want := "[far-bucket.s3.us-east-1.amazonaws.com far-bucket.s3.eu-central-1.amazonaws.com far-bucket.s3.eu-central-1.amazonaws.com]"
	if fmt.Sprint(hosts) != want {
		t.Errorf("asked %v, want %s", hosts, want)
	}
	hosts = nil
	if _, err := c.Call(t.Context(), "s3", "GetBucketTagging", "us-east-1", in{"Bucket": "evil-bucket"}); err == nil || len(hosts) != 1 {
		t.Errorf("a redirect to no region: %v after %v", err, hosts)
	}
}

// TestConcurrentCallsFollowTheRedirectOfOneBucket holds the responses to the first attempts of two
// calls until both attempts were sent. One call is then redirected although the other call has
// already stored the region of the bucket.
func TestConcurrentCallsFollowTheRedirectOfOneBucket(t *testing.T) {
	t.Parallel()
	const calls = 2
	var first sync.WaitGroup
	first.Add(calls)
	c := serve(t, awsapi.Options{Attempts: 1}, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Host, "eu-central-1") {
			_, _ = io.WriteString(w, `<Tagging><TagSet/></Tagging>`)
			return
		}
		first.Done()
		first.Wait()
		w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
		w.WriteHeader(301)
		_, _ = io.WriteString(w, `<Error><Code>PermanentRedirect</Code></Error>`)
	})
	var group sync.WaitGroup
	for range calls {
		group.Go(func() {
			answer, err := c.Call(t.Context(), "s3", "GetBucketTagging", "us-east-1", in{"Bucket": "far-bucket"})
			if err != nil || answer != `{"TagSet":[]}` {
				t.Errorf("the tags of the bucket are %s, %v; want none", answer, err)
			}
		})
	}
	group.Wait()
}

func TestPages(t *testing.T) {
	t.Parallel()
	c := serve(t, awsapi.Options{Attempts: 1}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "Action=DescribeVolumes"):
			next := ""
			if !strings.Contains(string(body), "NextToken=t2") {
				next = "<nextToken>t2</nextToken>"
			}
			_, _ = io.WriteString(w, "<DescribeVolumesResponse><volumeSet><item><volumeId>v</volumeId></item></volumeSet>"+next+"</DescribeVolumesResponse>")
		case r.URL.Path == "/2013-04-01/hostedzone/Z/rrset" && r.URL.Query().Get("name") == "":
			_, _ = io.WriteString(w, "<L><ResourceRecordSets/><IsTruncated>true</IsTruncated><NextRecordName>n</NextRecordName><NextRecordType>A</NextRecordType><MaxItems>1</MaxItems></L>")
		case r.URL.Path == "/2013-04-01/hostedzone/Z/rrset":
			if r.URL.Query().Get("type") != "A" {
				t.Errorf("asked for %s", r.URL)
			}
			_, _ = io.WriteString(w, "<L><ResourceRecordSets/><IsTruncated>false</IsTruncated><NextRecordName>x</NextRecordName><MaxItems>1</MaxItems></L>")
		case strings.Contains(r.Header.Get("X-Amz-Target"), "ListWebACLs"): // AWS does not publish its pagination; package model infers it
			page := `{}`
			if !strings.Contains(string(body), "NextMarker") {
				page = `{"NextMarker":"m"}`
			}
			_, _ = io.WriteString(w, page)
		case strings.Contains(r.Header.Get("X-Amz-Target"), "ListKeys"):
			_, _ = io.WriteString(w, `{"Truncated":true,"NextMarker":"same"}`)
		case strings.Contains(r.Header.Get("X-Amz-Target"), "ListAliases"): // the tokens are a, b, c, b, c, ...
			next := "b"
			if strings.Contains(string(body), `"b"`) {
				next = "c"
			} else if !strings.Contains(string(body), "Marker") {
				next = "a"
			}
			_, _ = io.WriteString(w, `{"Truncated":true,"NextMarker":"`+next+`"}`)
		case strings.Contains(string(body), "Action=GetCallerIdentity"): // it has no pagination
			_, _ = io.WriteString(w, "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>1</Account></GetCallerIdentityResult></GetCallerIdentityResponse>")
		default:
			w.WriteHeader(404)
		}
	})
	for _, tt := range []struct {
		service, operation string
		input              in
		pages              int
		err                error
	}{
		{"ec2", "DescribeVolumes", nil, 2, nil},
		{"route53", "ListResourceRecordSets", in{"HostedZoneId": "Z"}, 2, nil},
		{"wafv2", "ListWebACLs", in{"Scope": "REGIONAL"}, 2, nil},
		{"kms", "ListKeys", nil, 2, awsapi.ErrEndless},
		{"kms", "ListAliases", nil, 4, awsapi.ErrEndless},
		{"sts", "GetCallerIdentity", nil, 1, nil},
	} {
		pages := 0
		var err error
		for _, e := range c.Pages(t.Context(), tt.service, tt.operation, "us-east-1", tt.input) {
			if err = e; e == nil {
				pages++
			}
			if pages > tt.pages {
				break
			}
		}
		if pages != tt.pages || !errors.Is(err, tt.err) {
			t.Errorf("%s %s: %d pages, %v; want %d, %v", tt.service, tt.operation, pages, err, tt.pages, tt.err)
		}
	}
}

func TestRolesAreAssumedWithTheExternalID(t *testing.T) {
	t.Parallel()
	var form string
	c := serve(t, awsapi.Options{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form = r.Host + " " + string(body)
		_, _ = io.WriteString(w, `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2030-01-02T03:04:05Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`)
	})
	got, err := c.AssumeRole(awsapi.Role{ARN: "arn:aws-us-gov:iam::1:role/r", ExternalID: "ext", SessionName: "vigil", SessionLength: time.Hour, Region: "us-gov-west-1"}).Retrieve(t.Context())
	if err != nil || got.AccessKeyID != "ASIA" || got.SecretAccessKey != "s" || got.SessionToken != "t" || !got.Expires.Equal(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("credentials %+v, %v; want those of the response", got, err)
	}
	want := "sts.us-gov-west-1.amazonaws.com Action=AssumeRole&DurationSeconds=3600&ExternalId=ext&RoleArn=arn%3Aaws-us-gov%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=vigil&Version=2011-06-15"
	if form != want {
		t.Errorf("sent %s, want %s", form, want)
	}
}
