package events

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256" // for crypto.SHA256
	_ "crypto/sha512" // for crypto.SHA384 and crypto.SHA512
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"time"
)

// KeysHost is the host of Google's public keys.
const KeysHost = "www.googleapis.com"

// Google signs identity tokens like Google.
type Google struct {
	key *rsa.PrivateKey
	id  string
	now func() time.Time
}

// NewGoogle returns a signer with a new key.
func NewGoogle(now func() time.Time) (*Google, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	return &Google{key: key, id: rand.Text(), now: now}, err
}

// KeyID returns the id of the key.
func (g *Google) KeyID() string { return g.id }

// Claims returns the claims of a service account's identity token for an
// audience.
func (g *Google) Claims(email, audience string) map[string]any {
	now := g.now().Unix()
	return map[string]any{
		"iss": "https://accounts.google.com", "aud": audience, "email": email, "email_verified": true,
		"sub": "113774264463038321964", "azp": "113774264463038321964", "iat": now, "exp": now + 3600,
	}
}

// Token signs claims.
func (g *Google) Token(claims map[string]any) string {
	return g.Sign(map[string]any{"alg": "RS256", "kid": g.id, "typ": "JWT"}, claims)
}

// Sign signs claims under a header. The signature is valid if the header's algorithm is one with
// an RSA key: RS256, RS384, RS512, PS256, PS384 or PS512.
func (g *Google) Sign(header, claims map[string]any) string {
	text := segment(header) + "." + segment(claims)
	algorithm, _ := header["alg"].(string)
	hash := crypto.SHA256
	switch {
	case strings.HasSuffix(algorithm, "384"):
		hash = crypto.SHA384
	case strings.HasSuffix(algorithm, "512"):
		hash = crypto.SHA512
	}
	var options crypto.SignerOpts = hash
	if strings.HasPrefix(algorithm, "PS") {
		options = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: hash}
	}
	h := hash.New()
	h.Write([]byte(text))
	signature, err := g.key.Sign(rand.Reader, h.Sum(nil), options)
	if err != nil {
		panic(err) // cannot fail with a valid key
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func segment(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot fail: strings and numbers
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// Public returns the public key.
func (g *Google) Public() *rsa.PublicKey { return &g.key.PublicKey }

// Handler serves the public keys on their host and passes all other requests to
// next.
func (g *Google) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/oauth2/v3/certs" {
			if next == nil {
				http.NotFound(w, r)
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": g.id,
			"n": base64.RawURLEncoding.EncodeToString(g.key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(g.key.E)).Bytes()),
		}}})
	})
}

// A Push is a Pub/Sub push message.
type Push struct {
	Message struct {
		Data        []byte            `json:"data,omitempty"`
		Attributes  map[string]string `json:"attributes,omitempty"`
		MessageID   string            `json:"messageId"`
		PublishTime time.Time         `json:"publishTime"`
	} `json:"message"`
	Subscription string `json:"subscription"`
}

// Push returns a message of a subscription.
func (g *Google) Push(subscription string, data []byte, attributes map[string]string) Push {
	p := Push{Subscription: subscription}
	p.Message.Data, p.Message.Attributes = data, attributes
	p.Message.MessageID, p.Message.PublishTime = uuid(), g.now().UTC()
	return p
}

// Body returns the JSON of the message.
func (p Push) Body() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // cannot fail: strings, bytes and a time
	}
	return text
}

// Entry returns an entry of a project's audit log.
func Entry(project, service, method, resource string, at time.Time) map[string]any {
	return map[string]any{
		"insertId": uuid(), "logName": "projects/" + project + "/logs/cloudaudit.googleapis.com%2Factivity",
		"resource":  map[string]any{"type": "audited_resource", "labels": map[string]string{"project_id": project}},
		"timestamp": at.UTC(), "receiveTimestamp": at.UTC(), "severity": "NOTICE",
		"protoPayload": map[string]any{
			"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": service, "methodName": method, "resourceName": resource,
			"authenticationInfo": map[string]string{"principalEmail": "operator@example.com"}, "status": map[string]any{},
		},
	}
}
