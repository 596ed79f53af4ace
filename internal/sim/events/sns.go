package events

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // signature version 1 is defined with it
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// SNS signs messages like Amazon SNS.
type SNS struct {
	key  *rsa.PrivateKey
	cert []byte // PEM
	path string // URL path of the certificate
	now  func() time.Time

	mu        sync.Mutex
	confirmed map[string]string // topics by the token that confirmed them
}

// NewSNS returns a service with a new key. The names are those of its
// certificate: sns.amazonaws.com by default.
func NewSNS(now func() time.Time, names ...string) (*SNS, error) {
	if len(names) == 0 {
		names = []string{"sns.amazonaws.com"}
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now().UnixNano()), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		NotBefore: now().Add(-24 * time.Hour), NotAfter: now().Add(365 * 24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(der)
	return &SNS{
		key: key, cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		path: "/SimpleNotificationService-" + hex.EncodeToString(sum[:16]) + ".pem", now: now, confirmed: map[string]string{},
	}, nil
}

// Certificate returns the certificate of the service's key as PEM.
func (s *SNS) Certificate() []byte { return slices.Clone(s.cert) }

// A Notification is an SNS message.
type Notification struct {
	Type             string  `json:"Type"`
	MessageID        string  `json:"MessageId"`
	Token            string  `json:"Token,omitempty"`
	TopicArn         string  `json:"TopicArn"`
	Subject          *string `json:"Subject,omitempty"`
	Message          string  `json:"Message"`
	SubscribeURL     string  `json:"SubscribeURL,omitempty"`
	Timestamp        string  `json:"Timestamp"`
	SignatureVersion string  `json:"SignatureVersion"`
	Signature        string  `json:"Signature"`
	SigningCertURL   string  `json:"SigningCertURL"`
	UnsubscribeURL   string  `json:"UnsubscribeURL,omitempty"`
}

// Notify returns a signed notification of a topic.
func (s *SNS) Notify(topic, message string) Notification { return s.notify(s.now(), topic, message) }

func (s *SNS) notify(at time.Time, topic, message string) Notification {
	n := s.message(at, "Notification", topic)
	n.Message = message
	n.UnsubscribeURL = "https://" + hostOf(topic) + "/?Action=Unsubscribe&SubscriptionArn=" + url.QueryEscape(topic+":"+n.MessageID)
	return s.Sign(n)
}

// Confirm returns a signed request to confirm a subscription.
func (s *SNS) Confirm(topic string) Notification {
	return s.confirmation("SubscriptionConfirmation", topic)
}

// Unsubscribed returns the signed message that a subscription has ended.
func (s *SNS) Unsubscribed(topic string) Notification {
	return s.confirmation("UnsubscribeConfirmation", topic)
}

func (s *SNS) confirmation(kind, topic string) Notification {
	n := s.message(s.now(), kind, topic)
	n.Message = "You have chosen to subscribe to the topic " + topic + "."
	n.Token = strings.ToLower(rand.Text() + rand.Text())
	n.SubscribeURL = "https://" + hostOf(topic) + "/?Action=ConfirmSubscription&TopicArn=" + topic + "&Token=" + n.Token
	return s.Sign(n)
}

func (s *SNS) message(at time.Time, kind, topic string) Notification {
	return Notification{
		Type: kind, MessageID: uuid(), TopicArn: topic, Timestamp: at.UTC().Format("2006-01-02T15:04:05.000Z"),
		SignatureVersion: "2", SigningCertURL: "https://" + hostOf(topic) + s.path,
	}
}

// Sign signs a message with its current content, in its signature version.
func (s *SNS) Sign(n Notification) Notification {
	text := []byte(n.text())
	var signature []byte
	var err error
	if n.SignatureVersion == "1" {
		sum := sha1.Sum(text) //nolint:gosec // signature version 1 is defined with it
		signature, err = rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA1, sum[:])
	} else {
		sum := sha256.Sum256(text)
		signature, err = rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	}
	if err != nil {
		panic(err) // cannot fail with a valid key
	}
	n.Signature = base64.StdEncoding.EncodeToString(signature)
	return n
}

// text returns the string to sign: names and values of the fields, in alphabetical order.
func (n Notification) text() string {
	fields := [][2]string{{"Message", n.Message}, {"MessageId", n.MessageID}}
	if n.Type == "Notification" {
		if n.Subject != nil {
			fields = append(fields, [2]string{"Subject", *n.Subject})
		}
		fields = append(fields, [2]string{"Timestamp", n.Timestamp})
	} else {
		fields = append(fields, [2]string{"SubscribeURL", n.SubscribeURL}, [2]string{"Timestamp", n.Timestamp}, [2]string{"Token", n.Token})
	}
	fields = append(fields, [2]string{"TopicArn", n.TopicArn}, [2]string{"Type", n.Type})
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(f[0] + "\n" + f[1] + "\n")
	}
	return b.String()
}

// Body returns the JSON of the message.
func (n Notification) Body() []byte {
	text, err := json.Marshal(n)
	if err != nil {
		panic(err) // cannot fail: strings only
	}
	return text
}

// Header returns the headers of the message.
func (n Notification) Header() http.Header {
	return http.Header{
		"Content-Type": {"text/plain; charset=UTF-8"}, "User-Agent": {"Amazon Simple Notification Service Agent"},
		"X-Amz-Sns-Message-Type": {n.Type}, "X-Amz-Sns-Message-Id": {n.MessageID}, "X-Amz-Sns-Topic-Arn": {n.TopicArn},
	}
}

// Handler serves the hosts of SNS: the certificate and confirmations. It passes
// all other requests to next.
func (s *SNS) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && r.URL.Path == s.path:
			w.Header().Set("Content-Type", "binary/octet-stream")
			_, _ = w.Write(s.cert)
		case r.Method == http.MethodGet && r.URL.Query().Get("Action") == "ConfirmSubscription":
			s.mu.Lock()
			s.confirmed[r.URL.Query().Get("Token")] = r.URL.Query().Get("TopicArn")
			s.mu.Unlock()
			fmt.Fprint(w, `<ConfirmSubscriptionResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><ConfirmSubscriptionResult/></ConfirmSubscriptionResponse>`)
		case next != nil:
			next.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}

// Confirmed returns the topic whose subscription was confirmed with a token.
func (s *SNS) Confirmed(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.confirmed[token]
}

// hostOf returns the SNS host of a topic.
func hostOf(topic string) string {
	part := strings.Split(topic, ":")
	if len(part) < 4 {
		return "sns.us-east-1.amazonaws.com"
	}
	host := "sns." + part[3] + ".amazonaws.com"
	if part[1] == "aws-cn" {
		host += ".cn"
	}
	return host
}

// uuid returns a random UUID.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
