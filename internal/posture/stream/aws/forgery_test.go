package aws_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/stream/aws"
	"vigil/internal/posture/stream/refusal"
	"vigil/internal/posture/stream/streamtest"
	"vigil/internal/sim/events"
)

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
	{"certificate at another host", refusal.Certificate, withCertificateURL("https://evil.example/x.pem")},
	{"certificate of another region", refusal.Certificate, withCertificateURL("https://sns.us-east-1.amazonaws.com/x.pem")},
	{"certificate at a host that begins with the name of Amazon's", refusal.Certificate, withCertificateURL("https://" + host + ".evil.example/x.pem")},
	{"certificate at another host, with the name of Amazon's in the path", refusal.Certificate, withCertificateURL("https://evil.example/" + host + "/x.pem")},
	{"certificate at a bucket", refusal.Certificate, withCertificateURL("https://sns.s3.amazonaws.com/x.pem")},
	{"certificate without TLS", refusal.Certificate, withCertificateURL("http://" + host + "/x.pem")},
	{"certificate on another port", refusal.Certificate, withCertificateURL("https://" + host + ":8443/x.pem")},
	{"certificate with a user", refusal.Certificate, withCertificateURL("https://user@" + host + "/x.pem")},
	{"certificate with the name of Amazon's host as user", refusal.Certificate, withCertificateURL("https://" + host + "@evil.example/x.pem")},
	{"certificate behind a backslash", refusal.Certificate, withCertificateURL(`https://evil.example\@` + host + "/x.pem")},
	{"certificate with a query", refusal.Certificate, withCertificateURL("https://" + host + "/x.pem?a=b")},
	{"certificate with an empty query", refusal.Certificate, withCertificateURL("https://" + host + "/x.pem?")},
	{"certificate with a fragment", refusal.Certificate, withCertificateURL("https://" + host + "/x.pem#y")},
	{"certificate with an empty fragment", refusal.Certificate, withCertificateURL("https://" + host + "/x.pem#")},
	{"certificate at an escaped path", refusal.Certificate, withCertificateURL("https://" + host + "/%78.pem")},
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
	{"queue instead of a topic", refusal.Unknown, editedBeforeSigning(func(n *events.Notification) {
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
		streamtest.CheckRefusal(t, f.name, err, f.reason)
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
