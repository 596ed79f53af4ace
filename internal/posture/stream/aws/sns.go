package aws

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // signature version 1 is defined with it
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"vigil/internal/posture/stream/refusal"
)

// The kinds of messages that SNS sends.
const (
	notification   = "Notification"
	confirmation   = "SubscriptionConfirmation"
	unsubscription = "UnsubscribeConfirmation"
)

// An envelope is the body of a request of SNS.
type envelope struct {
	Type             string
	MessageID        string `json:"MessageId"`
	TopicArn         string
	Subject          *string
	Message          string
	Timestamp        string
	Token            string
	SubscribeURL     string
	SignatureVersion string
	Signature        string
	SigningCertURL   string
}

// Messages may be this old, because SNS tries for an hour to deliver them, and
// this far ahead, because clocks differ.
const (
	maxAge   = time.Hour
	maxAhead = 5 * time.Minute
)

// topicPattern matches the ARN of a topic: partition, region, account, name.
var topicPattern = regexp.MustCompile(`^arn:(aws|aws-us-gov|aws-cn):sns:([a-z0-9-]{1,32}):([0-9]{12}):([A-Za-z0-9_-]{1,256})$`)

// TopicPrefix begins the names of the topics that set-up scripts make; the
// stream's handle follows.
const TopicPrefix = "vigil-events-"

// A topic holds the parts of a topic's ARN.
type topic struct {
	partition, region, account, handle string
}

func parseTopic(arn string) (topic, bool) {
	m := topicPattern.FindStringSubmatch(arn)
	if m == nil {
		return topic{}, false
	}
	handle, ok := strings.CutPrefix(m[4], TopicPrefix)
	return topic{m[1], m[2], m[3], handle}, ok && handle != ""
}

// host returns the host of SNS in the topic's region.
func (t topic) host() string {
	host := "sns." + t.region + ".amazonaws.com"
	if t.partition == "aws-cn" {
		host += ".cn"
	}
	return host
}

// parseEnvelope parses a request of SNS and compares it with the headers.
func parseEnvelope(h http.Header, body []byte) (envelope, error) {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		return e, refusal.New(refusal.Malformed, "read SNS message: %w", err)
	}
	switch e.Type {
	case notification, confirmation, unsubscription:
	default:
		return e, refusal.New(refusal.Malformed, "SNS message of type %.40q", e.Type)
	}
	for name, want := range map[string]string{
		"X-Amz-Sns-Message-Type": e.Type, "X-Amz-Sns-Topic-Arn": e.TopicArn, "X-Amz-Sns-Message-Id": e.MessageID,
	} {
		if got := h.Get(name); got != "" && got != want {
			return e, refusal.New(refusal.Signature, "header %s differs from the signed body", name)
		}
	}
	if e.MessageID == "" || len(e.MessageID) > 128 {
		return e, refusal.New(refusal.Malformed, "SNS message without a valid id")
	}
	return e, nil
}

// sentTime returns when the message was sent. It fails if that is not known or not recent.
func (e envelope) sentTime(now time.Time) (time.Time, error) {
	sent, err := time.Parse(time.RFC3339, e.Timestamp)
	if err != nil {
		return sent, refusal.New(refusal.Stale, "read time of SNS message: %w", err)
	}
	return sent, checkRecent("SNS message", sent, now)
}

// checkRecent refuses a message whose time is too long ago or too far ahead.
func checkRecent(what string, sent, now time.Time) error {
	if age := now.Sub(sent); age > maxAge || age < -maxAhead {
		return refusal.New(refusal.Stale, "the time of the %s, %s, is more than %s ago or %s ahead", what, sent.Format(time.RFC3339), maxAge, maxAhead)
	}
	return nil
}

// signedText returns the text that SNS signs: names and values in a fixed order.
func (e envelope) signedText() string {
	var b strings.Builder
	add := func(name, value string) { b.WriteString(name + "\n" + value + "\n") }
	add("Message", e.Message)
	add("MessageId", e.MessageID)
	if e.Type == notification {
		if e.Subject != nil {
			add("Subject", *e.Subject)
		}
	} else {
		add("SubscribeURL", e.SubscribeURL)
	}
	add("Timestamp", e.Timestamp)
	if e.Type != notification {
		add("Token", e.Token)
	}
	add("TopicArn", e.TopicArn)
	add("Type", e.Type)
	return b.String()
}

// verify checks the signature with the certificate of SNS in the topic's region.
func (e envelope) verify(ctx context.Context, t topic, keys *Certificates) error {
	signature, err := base64.StdEncoding.DecodeString(e.Signature)
	if err != nil || len(signature) == 0 {
		return refusal.New(refusal.Unsigned, "SNS message without a signature")
	}
	text := []byte(e.signedText())
	var hash crypto.Hash
	var sum []byte
	switch e.SignatureVersion {
	case "1":
		s := sha1.Sum(text) //nolint:gosec // see above
		hash, sum = crypto.SHA1, s[:]
	case "2":
		s := sha256.Sum256(text)
		hash, sum = crypto.SHA256, s[:]
	default:
		return refusal.New(refusal.Signature, "SNS signature version %.20q", e.SignatureVersion)
	}
	key, err := keys.Key(ctx, e.SigningCertURL, t.host())
	if err != nil {
		return err
	}
	if err := rsa.VerifyPKCS1v15(key, hash, sum, signature); err != nil {
		return refusal.New(refusal.Signature, "SNS signature: %w", err)
	}
	return nil
}

// confirmURL returns the URL that confirms the subscription. It builds the URL from
// the signed fields and compares it with the one that was sent, so that the server
// requests no URL but one of SNS.
func (e envelope) confirmURL(t topic) (string, error) {
	u, err := url.Parse(e.SubscribeURL)
	if err != nil || u.Scheme != "https" || u.Host != t.host() || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return "", refusal.New(refusal.Signature, "the address that confirms the subscription is not one of SNS")
	}
	q := u.Query()
	if q.Get("Action") != "ConfirmSubscription" || q.Get("TopicArn") != e.TopicArn || q.Get("Token") != e.Token || e.Token == "" {
		return "", refusal.New(refusal.Signature, "the address that confirms the subscription is for another subscription")
	}
	query := url.Values{"Action": {"ConfirmSubscription"}, "TopicArn": {e.TopicArn}, "Token": {e.Token}}
	return "https://" + t.host() + "/?" + query.Encode(), nil
}
