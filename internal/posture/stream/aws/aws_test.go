package aws_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/stream/aws"
	"vigil/internal/posture/stream/change"
	"vigil/internal/posture/stream/refusal"
	"vigil/internal/posture/stream/streamtest"
	"vigil/internal/sim/events"
)

const (
	account = "123456789012"
	handle  = "abcdefabcdef"
	topic   = "arn:aws:sns:eu-west-1:123456789012:vigil-events-abcdefabcdef"
	secret  = posture.StreamSecret("the-secret-of-this-account")
	host    = "sns.eu-west-1.amazonaws.com"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

var declarations = withTypes([]collect.Declaration{
	{Type: "AWS.S3.Bucket", Scope: collect.PerRegion, Events: []collect.Event{{Source: "s3.amazonaws.com", Names: []string{"PutBucketPolicy", "DeleteBucket"}}}},
	{Type: "AWS.EC2.SecurityGroup", Scope: collect.PerRegion, Events: []collect.Event{{Source: "ec2.amazonaws.com", Names: []string{"AuthorizeSecurityGroupIngress"}}}},
	{Type: "AWS.Lambda.Function", Scope: collect.PerRegion, Events: []collect.Event{{Source: "lambda.amazonaws.com", Names: []string{"CreateFunction*"}}}},
	{Type: "AWS.IAM.User", Events: []collect.Event{{Source: "iam.amazonaws.com", Names: []string{"CreateAccessKey"}}}},
	{Type: "AWS.IAM.AccountSummary", Events: []collect.Event{{Source: "iam.amazonaws.com", Names: []string{"CreateAccessKey"}}, {Source: "signin.amazonaws.com", Names: []string{"ConsoleLogin"}}}},
})

// withTypes adds to each declaration its resource type, which a file in resources/ declares.
func withTypes(all []collect.Declaration) []collect.Declaration {
	for i := range all {
		all[i].Declared = declared.Catalog().Type(all[i].Type)
	}
	return all
}

// A fixture is a verifier with services that sign messages.
type fixture struct {
	verifier *aws.Verifier
	sns      *events.SNS // signs like Amazon
	other    *events.SNS // has a certificate that is not Amazon's
	internet *streamtest.Internet
}

// The signing services, which all fixtures share because generating keys takes long.
var (
	amazon   = sync.OnceValues(func() (*events.SNS, error) { return events.NewSNS(clock) })
	otherSNS = sync.OnceValues(func() (*events.SNS, error) { return events.NewSNS(clock, "sns.example.com") })
)

func newFixture(t *testing.T) *fixture {
	t.Helper()
	fx := new(fixture)
	var err error
	if fx.sns, err = amazon(); err != nil {
		t.Fatal(err)
	}
	if fx.other, err = otherSNS(); err != nil {
		t.Fatal(err)
	}
	certificate := fx.sns.Notify(topic, "").SigningCertURL
	genuine := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(fx.sns.Certificate()) })
	atHost := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/none.pem":
			http.NotFound(w, r)
		case "/redirect.pem":
			http.Redirect(w, r, certificate, http.StatusFound)
		case "/large.pem":
			_, _ = w.Write(append(fx.sns.Certificate(), make([]byte, 1<<20)...))
		case "/other.pem":
			_, _ = w.Write(fx.other.Certificate())
		default:
			genuine(w, r)
		}
	})
	fx.internet = &streamtest.Internet{
		Hosts: map[string]http.Handler{host: fx.sns.Handler(atHost)},
		// All other addresses serve Amazon's certificate too, so that only the check of the address can refuse them.
		Other: genuine,
	}
	streams := streamtest.Streams{
		secret:            {Org: "org", Account: account, Provider: posture.AWS, Handle: handle},
		"azure":           {Org: "org", Account: "00000000-0000-0000-0000-000000000001", Provider: posture.Azure, Handle: "azurehandle1"},
		"another-account": {Org: "org", Account: "999999999999", Provider: posture.AWS, Handle: "otherhandle1"},
	}
	fx.verifier = aws.NewVerifier(streams, change.NewIndex(declarations), fx.internet.Client(), clock)
	return fx
}

// event is an event of EventBridge.
func event(edit ...func(map[string]any)) string {
	e := map[string]any{
		"version": "0", "id": "0d079340-135a-c8c6-95c2-41fb8f496c53", "detail-type": "AWS API Call via CloudTrail", "source": "aws.s3",
		"account": account, "time": now, "region": "eu-west-1", "resources": []any{},
		"detail": map[string]any{
			"eventSource": "s3.amazonaws.com", "eventName": "PutBucketPolicy", "awsRegion": "eu-west-1", "readOnly": false,
			"userIdentity":       map[string]any{"type": "IAMUser", "arn": "arn:aws:iam::123456789012:user/alice", "userName": "alice"},
			"recipientAccountId": account, "requestParameters": map[string]any{"bucketName": "logs"},
		},
	}
	for _, f := range edit {
		f(e)
	}
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// detail changes members of the event's detail.
func detail(members map[string]any) func(map[string]any) {
	return func(e map[string]any) {
		for name, v := range members {
			e["detail"].(map[string]any)[name] = v
		}
	}
}

func TestNotificationsOfBothSignatureVersionsAreAccepted(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	for _, version := range []string{"1", "2"} {
		noSubject, emptySubject := (*string)(nil), new(string)
		for _, subject := range []*string{noSubject, emptySubject} {
			n := fx.sns.Notify(topic, event())
			n.SignatureVersion, n.Subject = version, subject
			n = fx.sns.Sign(n)
			o, err := fx.verifier.Verify(t.Context(), n.Header(), n.Body())
			if err != nil {
				t.Fatalf("version %s: %v", version, err)
			}
			want := []posture.StreamMessage{{ID: "sns " + n.MessageID, Time: now,
				ChangeOrigin: posture.ChangeOrigin{Actor: "arn:aws:iam::123456789012:user/alice", Operation: "PutBucketPolicy"},
				Target:       []posture.Target{{Type: "AWS.S3.Bucket", Region: "eu-west-1", Name: "logs"}}}}
			if diff := cmp.Diff(want, o.Messages); diff != "" || o.Stream.Account != account {
				t.Errorf("version %s (-want +got):\n%s", version, diff)
			}
		}
	}
	if got := fx.internet.Calls.Load(); got != 1 {
		t.Errorf("the certificate was fetched %d times, want once", got)
	}
}

func TestSubscriptionIsConfirmedAndEnds(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	n := fx.sns.Confirm(topic)
	o, err := fx.verifier.Verify(t.Context(), n.Header(), n.Body())
	if err != nil || len(o.Messages) != 1 || o.Messages[0].Signal != posture.SignalConnected {
		t.Fatalf("Verify = %v, %v", o, err)
	}
	if fx.sns.Confirmed(n.Token) != "" {
		t.Error("Verify confirmed the subscription; only Confirm may")
	}
	if err := fx.verifier.Confirm(t.Context(), o); err != nil || fx.sns.Confirmed(n.Token) != topic {
		t.Errorf("Confirm: %v, %q", err, fx.sns.Confirmed(n.Token))
	}
	n = fx.sns.Unsubscribed(topic)
	o, err = fx.verifier.Verify(t.Context(), n.Header(), n.Body())
	if err != nil || o.Messages[0].Signal != posture.SignalDisconnected {
		t.Fatalf("Verify = %v, %v", o, err)
	}
	if err := fx.verifier.Confirm(t.Context(), o); err != nil || fx.sns.Confirmed(n.Token) != "" {
		t.Errorf("Confirm after the subscription has ended: %v, confirmed %q; want no call", err, fx.sns.Confirmed(n.Token))
	}
}

func TestTokenAuthenticatesAPIDestination(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	o, err := fx.verifier.Verify(t.Context(), http.Header{aws.TokenHeader: {secret.Reveal()}}, []byte(event()))
	if err != nil || len(o.Messages) != 1 || len(o.Messages[0].Target) != 1 {
		t.Fatalf("Verify = %v, %v", o, err)
	}
	beat := event(func(e map[string]any) {
		e["detail-type"], e["source"], e["detail"] = "Scheduled Event", "aws.events", map[string]any{}
	})
	o, err = fx.verifier.Verify(t.Context(), http.Header{aws.TokenHeader: {secret.Reveal()}}, []byte(beat))
	if err != nil || o.Messages[0].Signal != posture.SignalHeartbeat {
		t.Errorf("a heartbeat: %v, %v", o, err)
	}
}

// SNS repeats a message after a 5xx response, but not after a refusal.
func TestMessagesAreNotRefusedWhileTheCertificateCannotBeFetched(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		fx := newFixture(t)
		fx.internet.Hosts = map[string]http.Handler{host: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })}
		n := fx.sns.Notify(topic, event())
		for range 2 { // the second message arrives before the next fetch
			_, err := fx.verifier.Verify(t.Context(), n.Header(), n.Body())
			if !fault.Is(err, fault.Unavailable) || refusal.ReasonOf(err) != "" {
				t.Errorf("status %d: %v, want that the certificate is unavailable", status, err)
			}
		}
		if got := fx.internet.Calls.Load(); got != 1 {
			t.Errorf("status %d: %d fetches, want one", status, got)
		}
	}
}

func TestEventsTargetResources(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	for _, tt := range []struct {
		name  string
		event string
		want  []posture.Target
	}{
		{"a bucket", event(), []posture.Target{{Type: "AWS.S3.Bucket", Region: "eu-west-1", Name: "logs"}}},
		{"a read", event(detail(map[string]any{"readOnly": true})), nil},
		{"a failure", event(detail(map[string]any{"errorCode": "AccessDenied"})), nil},
		{"a service without declared types", event(detail(map[string]any{"eventSource": "polly.amazonaws.com"})), nil},
		{"a security group", event(detail(map[string]any{
			"eventSource": "ec2.amazonaws.com", "eventName": "AuthorizeSecurityGroupIngress",
			"requestParameters": map[string]any{"groupId": "sg-0123456789abcdef0", "ipPermissions": map[string]any{"items": []any{map[string]any{"fromPort": 22}}}},
		})), []posture.Target{{Type: "AWS.EC2.SecurityGroup", Region: "eu-west-1", Name: "sg-0123456789abcdef0"}}},
		{"a function with a version in the event's name", event(detail(map[string]any{
			"eventSource": "lambda.amazonaws.com", "eventName": "CreateFunction20150331", "requestParameters": map[string]any{"functionName": "f"},
		})), []posture.Target{{Type: "AWS.Lambda.Function", Region: "eu-west-1", Name: "f"}}},
		{"a function by its ARN", event(detail(map[string]any{
			"eventSource": "lambda.amazonaws.com", "eventName": "CreateFunction20150331",
			"requestParameters": map[string]any{"functionName": "arn:aws:lambda:eu-west-1:123456789012:function:f:3"},
		})), []posture.Target{{Type: "AWS.Lambda.Function", Region: "eu-west-1", Name: "f"}}},
		{"a user, and the account summary that the same event changes", event(detail(map[string]any{
			"eventSource": "iam.amazonaws.com", "eventName": "CreateAccessKey", "awsRegion": "us-east-1", "requestParameters": map[string]any{"userName": "ada"},
		})), []posture.Target{{Type: "AWS.IAM.User", Region: "global", Name: "ada"}, {Type: "AWS.IAM.AccountSummary", Region: "global"}}},
		{"a login of the root user", event(detail(map[string]any{
			"eventSource": "signin.amazonaws.com", "eventName": "ConsoleLogin", "userIdentity": map[string]any{"type": "Root"},
		})), []posture.Target{{Type: "AWS.IAM.AccountSummary", Region: "global"}}},
		{"a login of anybody else", event(detail(map[string]any{
			"eventSource": "signin.amazonaws.com", "eventName": "ConsoleLogin", "userIdentity": map[string]any{"type": "IAMUser"},
		})), nil},
		{"a bucket that is not named", event(detail(map[string]any{"requestParameters": nil})), []posture.Target{{Type: "AWS.S3.Bucket", Region: "eu-west-1"}}},
		{"a message that is not an event", `hello`, nil},
	} {
		n := fx.sns.Notify(topic, tt.event)
		o, err := fx.verifier.Verify(t.Context(), n.Header(), n.Body())
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, o.Messages[0].Target); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func FuzzVerify(f *testing.F) {
	sns, err := events.NewSNS(clock)
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range []events.Notification{sns.Notify(topic, event()), sns.Confirm(topic), sns.Unsubscribed(topic)} {
		f.Add("", n.Body())
	}
	f.Add(secret.Reveal(), []byte(event()))
	f.Add("made-up", []byte(`{"Type":"Notification","TopicArn":"x"}`))
	internet := &streamtest.Internet{}
	streams := streamtest.Streams{secret: {Org: "org", Account: account, Provider: posture.AWS, Handle: handle}}
	verifier := aws.NewVerifier(streams, change.NewIndex(declarations), internet.Client(), clock)
	f.Fuzz(func(t *testing.T, token string, body []byte) {
		h := http.Header{}
		if token != "" {
			h.Set(aws.TokenHeader, token)
		}
		o, err := verifier.Verify(t.Context(), h, body)
		if err == nil && token != secret.Reveal() {
			t.Fatalf("accepted without a token or a certificate: %+v", o)
		}
		if err == nil && (o.Stream.Account != account || len(o.Messages) != 1 || o.Messages[0].ID == "") {
			t.Fatalf("accepted for another account, or without one message with an id: %+v", o)
		}
	})
}
