package aws_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
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
	redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+host+r.URL.Path, http.StatusFound)
	})
	large := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
	mux := http.NewServeMux()
	mux.Handle("/redirect.pem", redirect)
	mux.Handle("/large.pem", large)
	mux.Handle("/other.pem", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Serve the certificate of the other service, whatever its path there is.
		r.URL.Path = strings.TrimPrefix(fx.other.Notify(topic, "").SigningCertURL, "https://"+host)
		fx.other.Handler(nil).ServeHTTP(w, r)
	}))
	fx.internet = &streamtest.Internet{Hosts: map[string]http.Handler{
		host: fx.sns.Handler(mux), "sns.us-east-1.amazonaws.com": fx.sns.Handler(nil), "evil.example": fx.other.Handler(nil),
	}}
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

// A forgery is a request that the verifier must refuse.
type forgery struct {
	name    string
	reason  refusal.Reason
	request func(fx *fixture) (http.Header, []byte)
}

// editedAfterSigning makes a genuine notification that is changed after it was signed.
func editedAfterSigning(edit func(n *events.Notification)) func(fx *fixture) (http.Header, []byte) {
	return func(fx *fixture) (http.Header, []byte) {
		n := fx.sns.Notify(topic, event())
		edit(&n)
		return n.Header(), n.Body()
	}
}

// editedBeforeSigning makes a changed notification that Amazon signs with its changes.
func editedBeforeSigning(edit func(n *events.Notification)) func(fx *fixture) (http.Header, []byte) {
	return func(fx *fixture) (http.Header, []byte) {
		n := fx.sns.Notify(topic, event())
		edit(&n)
		n = fx.sns.Sign(n)
		return n.Header(), n.Body()
	}
}

// withCertificateURL makes a genuine notification that names another URL of its certificate.
func withCertificateURL(address string) func(fx *fixture) (http.Header, []byte) {
	return editedAfterSigning(func(n *events.Notification) { n.SigningCertURL = address })
}

// apiCall makes a request of an API destination.
func apiCall(token string, body string) func(fx *fixture) (http.Header, []byte) {
	return func(*fixture) (http.Header, []byte) { return http.Header{aws.TokenHeader: {token}}, []byte(body) }
}

// digestOf returns the digest under which a server stores a secret.
func digestOf(s posture.StreamSecret) string {
	d := s.Digest()
	return string(d[:])
}

var forgeries = []forgery{
	{"message changed", refusal.Signature, editedAfterSigning(func(n *events.Notification) { n.Message = event(detail(map[string]any{"eventName": "DeleteBucket"})) })},
	{"id changed", refusal.Signature, editedAfterSigning(func(n *events.Notification) { n.MessageID = "another" })},
	{"time changed", refusal.Signature, editedAfterSigning(func(n *events.Notification) { n.Timestamp = now.Add(time.Second).Format(time.RFC3339) })},
	{"subject added", refusal.Signature, editedAfterSigning(func(n *events.Notification) { s := "x"; n.Subject = &s })},
	{"type changed to confirm", refusal.Signature, editedAfterSigning(func(n *events.Notification) { n.Type = "SubscriptionConfirmation" })},
	{"type changed to end", refusal.Signature, editedAfterSigning(func(n *events.Notification) { n.Type = "UnsubscribeConfirmation" })},
	{"unknown type", refusal.Malformed, editedBeforeSigning(func(n *events.Notification) { n.Type = "Other" })},
	{"no signature", refusal.Unsigned, editedAfterSigning(func(n *events.Notification) { n.Signature = "" })},
	{"signature that is not base64", refusal.Unsigned, editedAfterSigning(func(n *events.Notification) { n.Signature = "!!!" })},
	{"signature of zeroes", refusal.Signature, editedAfterSigning(func(n *events.Notification) { n.Signature = base64.StdEncoding.EncodeToString(make([]byte, 256)) })},
	{"signature of another message", refusal.Signature, func(fx *fixture) (http.Header, []byte) {
		a, b := fx.sns.Notify(topic, event()), fx.sns.Notify(topic, "other")
		a.Signature = b.Signature
		return a.Header(), a.Body()
	}},
	{"signature of version 2 labelled version 1", refusal.Signature, editedAfterSigning(func(n *events.Notification) { n.SignatureVersion = "1" })},
	{"signature version 3", refusal.Signature, editedAfterSigning(func(n *events.Notification) { n.SignatureVersion = "3" })},
	{"no signature version", refusal.Signature, editedAfterSigning(func(n *events.Notification) { n.SignatureVersion = "" })},
	{"signed by another key", refusal.Signature, func(fx *fixture) (http.Header, []byte) {
		n := fx.sns.Notify(topic, event())
		n.Signature = fx.other.Sign(n).Signature
		return n.Header(), n.Body()
	}},
	{"certificate for another name at Amazon's host", refusal.Certificate, func(fx *fixture) (http.Header, []byte) {
		n := fx.other.Notify(topic, event())
		n.SigningCertURL = "https://" + host + "/other.pem"
		return n.Header(), n.Body()
	}},
	{"certificate at another host", refusal.Certificate, func(fx *fixture) (http.Header, []byte) {
		n := fx.other.Notify(topic, event())
		n.SigningCertURL = strings.Replace(n.SigningCertURL, host, "evil.example", 1)
		return n.Header(), n.Body()
	}},
	{"certificate of another region", refusal.Certificate, withCertificateURL("https://sns.us-east-1.amazonaws.com/x.pem")},
	{"certificate at a host that begins with the name of Amazon's", refusal.Certificate, withCertificateURL("https://" + host + ".evil.example/x.pem")},
	{"certificate at another host, with the name of Amazon's in the path", refusal.Certificate, withCertificateURL("https://evil.example/" + host + "/x.pem")},
	{"certificate at a bucket", refusal.Certificate, withCertificateURL("https://sns.s3.amazonaws.com/x.pem")},
	{"certificate without TLS", refusal.Certificate, withCertificateURL("http://" + host + "/x.pem")},
	{"certificate on another port", refusal.Certificate, withCertificateURL("https://" + host + ":8443/x.pem")},
	{"certificate with a user", refusal.Certificate, withCertificateURL("https://" + host + "@evil.example/x.pem")},
	{"certificate behind a backslash", refusal.Certificate, withCertificateURL(`https://evil.example\@` + host + "/x.pem")},
	{"certificate with a query", refusal.Certificate, withCertificateURL("https://" + host + "/x.pem?a=b")},
	{"certificate with a fragment", refusal.Certificate, withCertificateURL("https://" + host + "/x.pem#y")},
	{"certificate in a folder", refusal.Certificate, withCertificateURL("https://" + host + "/a/../x.pem")},
	{"certificate that does not exist", refusal.Certificate, withCertificateURL("https://" + host + "/none.pem")},
	{"certificate that redirects", refusal.Certificate, withCertificateURL("https://" + host + "/redirect.pem")},
	{"certificate that is too large", refusal.Certificate, withCertificateURL("https://" + host + "/large.pem")},
	{"certificate on this machine", refusal.Certificate, withCertificateURL("https://127.0.0.1/x.pem")},
	{"certificate at the metadata service", refusal.Certificate, withCertificateURL("http://169.254.169.254/x.pem")},
	{"no certificate", refusal.Certificate, withCertificateURL("")},
	{"topic of another account", refusal.Foreign, editedBeforeSigning(func(n *events.Notification) { n.TopicArn = strings.Replace(topic, account, "999999999999", 1) })},
	{"topic of an unknown stream", refusal.Unknown, editedBeforeSigning(func(n *events.Notification) { n.TopicArn = topic + "x" })},
	{"topic with another prefix", refusal.Unknown, editedBeforeSigning(func(n *events.Notification) { n.TopicArn = strings.Replace(topic, "vigil-events-", "other-", 1) })},
	{"topic of an Azure stream", refusal.Unknown, editedBeforeSigning(func(n *events.Notification) { n.TopicArn = strings.Replace(topic, handle, "azurehandle1", 1) })},
	{"topic that is no topic", refusal.Unknown, editedBeforeSigning(func(n *events.Notification) {
		n.TopicArn = "arn:aws:sqs:eu-west-1:" + account + ":vigil-events-" + handle
	})},
	{"topic of a made-up partition", refusal.Unknown, editedBeforeSigning(func(n *events.Notification) { n.TopicArn = strings.Replace(topic, "arn:aws:", "arn:aws-evil:", 1) })},
	{"an hour and a second old", refusal.Stale, editedBeforeSigning(func(n *events.Notification) { n.Timestamp = now.Add(-time.Hour - time.Second).Format(time.RFC3339) })},
	{"six minutes in the future", refusal.Stale, editedBeforeSigning(func(n *events.Notification) { n.Timestamp = now.Add(6 * time.Minute).Format(time.RFC3339) })},
	{"no valid time", refusal.Stale, editedBeforeSigning(func(n *events.Notification) { n.Timestamp = "yesterday" })},
	{"event of another account in a genuine message", refusal.Foreign, editedBeforeSigning(func(n *events.Notification) {
		n.Message = event(func(e map[string]any) { e["account"] = "999999999999" })
	})},
	{"detail of another account in a genuine message", refusal.Foreign, editedBeforeSigning(func(n *events.Notification) {
		n.Message = event(detail(map[string]any{"recipientAccountId": "999999999999"}))
	})},
	{"no id", refusal.Malformed, editedBeforeSigning(func(n *events.Notification) { n.MessageID = "" })},
	{"confirmation of another topic", refusal.Signature, func(fx *fixture) (http.Header, []byte) {
		n := fx.sns.Confirm(topic)
		n.SubscribeURL = strings.Replace(n.SubscribeURL, account, "999999999999", 1)
		n = fx.sns.Sign(n)
		return n.Header(), n.Body()
	}},
	{"confirmation at another host", refusal.Signature, func(fx *fixture) (http.Header, []byte) {
		n := fx.sns.Confirm(topic)
		n.SubscribeURL = strings.Replace(n.SubscribeURL, host, "evil.example", 1)
		n = fx.sns.Sign(n)
		return n.Header(), n.Body()
	}},
	{"confirmation that does something else", refusal.Signature, func(fx *fixture) (http.Header, []byte) {
		n := fx.sns.Confirm(topic)
		n.SubscribeURL = strings.Replace(n.SubscribeURL, "ConfirmSubscription", "DeleteTopic", 1)
		n = fx.sns.Sign(n)
		return n.Header(), n.Body()
	}},
	{"header of another topic", refusal.Signature, func(fx *fixture) (http.Header, []byte) {
		n := fx.sns.Notify(topic, event())
		h := n.Header()
		h.Set("X-Amz-Sns-Topic-Arn", topic+"x")
		return h, n.Body()
	}},
	{"raw delivery", refusal.Unsigned, func(*fixture) (http.Header, []byte) {
		return http.Header{"X-Amz-Sns-Rawdelivery": {"true"}, "X-Amz-Sns-Topic-Arn": {topic}}, []byte(event())
	}},
	{"event without a token", refusal.Unsigned, func(*fixture) (http.Header, []byte) { return nil, []byte(event()) }},
	{"event with a made-up token", refusal.Unknown, apiCall("made-up", event())},
	{"event with the token of another account", refusal.Foreign, apiCall("another-account", event())},
	{"event with the token of an Azure stream", refusal.Unknown, apiCall("azure", event())},
	{"event with the digest of the token", refusal.Unknown, apiCall(digestOf(secret), event())},
	{"old event with the token", refusal.Stale, apiCall(secret.Reveal(), event(func(e map[string]any) { e["time"] = now.Add(-2 * time.Hour) }))},
	{"event of the future with the token", refusal.Stale, apiCall(secret.Reveal(), event(func(e map[string]any) { e["time"] = now.Add(time.Hour) }))},
	{"token and no event", refusal.Malformed, apiCall(secret.Reveal(), "{}")},
	{"token and garbage", refusal.Malformed, apiCall(secret.Reveal(), "garbage")},
	{"token and a list of events", refusal.Malformed, apiCall(secret.Reveal(), "["+event()+"]")},
	{"garbage", refusal.Malformed, func(*fixture) (http.Header, []byte) { return nil, []byte("garbage") }},
	{"nothing", refusal.Malformed, func(*fixture) (http.Header, []byte) { return nil, nil }},
	{"a bearer token of our own service", refusal.Unsigned, func(*fixture) (http.Header, []byte) {
		return http.Header{"Authorization": {"Bearer eyJhbGciOiJSUzI1NiJ9.e30.AAAA"}}, []byte(event())
	}},
}

func TestForgeriesAreRefused(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	seen := map[string]bool{}
	for _, f := range forgeries {
		if seen[f.name] {
			t.Errorf("%s is in the list twice", f.name)
		}
		seen[f.name] = true
		h, body := f.request(fx)
		o, err := fx.verifier.Verify(t.Context(), h, body)
		if err == nil {
			t.Errorf("%s: accepted: %+v", f.name, o)
			continue
		}
		if got := refusal.ReasonOf(err); got != f.reason {
			t.Errorf("%s: refused as %q, want %q (%v)", f.name, got, f.reason, err)
		}
		kinds := []fault.Kind{fault.Forbidden, fault.Unauthenticated}
		if f.reason == refusal.Malformed {
			kinds = append(kinds, fault.Invalid)
		}
		if k := fault.KindOf(err); !slices.Contains(kinds, k) {
			t.Errorf("%s: kind %d, want one of %v", f.name, k, kinds)
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d forgeries", len(seen))
	}
}

// TestForgeriesCauseFewCalls checks that forgeries of an unknown topic cause no calls, and
// that those with the same bad certificate fetch it only once.
func TestForgeriesCauseFewCalls(t *testing.T) {
	t.Parallel()
	fx := newFixture(t)
	for range 50 {
		n := fx.other.Notify(topic+"x", event())
		if _, err := fx.verifier.Verify(t.Context(), n.Header(), n.Body()); err == nil {
			t.Fatal("a forgery was accepted")
		}
	}
	n := fx.sns.Notify(topic, event())
	n.SigningCertURL = "https://" + host + "/redirect.pem"
	for range 50 {
		if _, err := fx.verifier.Verify(t.Context(), n.Header(), n.Body()); err == nil {
			t.Fatal("a forgery was accepted")
		}
	}
	if got := fx.internet.Calls.Load(); got > 1 {
		t.Errorf("%d calls, want at most one", got)
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
