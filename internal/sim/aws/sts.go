package aws

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"vigil/internal/sim/world"
)

// A session is the content of a session token. Tokens are signed, so that the
// simulated cloud can verify them without storing them.
type session struct {
	Account string    `json:"account"`
	Role    string    `json:"role"`
	Key     string    `json:"key"`
	Ends    time.Time `json:"ends"`
}

// encodeToken returns the signed token of a session.
func (c *Cloud) encodeToken(s session) string {
	text, _ := json.Marshal(s)
	return base64.StdEncoding.EncodeToString(text) + "." + c.sign(text)
}

func (c *Cloud) sign(text []byte) string {
	m := hmac.New(sha256.New, c.key)
	m.Write(text)
	return hex.EncodeToString(m.Sum(nil))
}

// decodeToken returns the session of a token, or false if the signature is wrong.
func (c *Cloud) decodeToken(token string) (s session, ok bool) {
	body, mac, _ := strings.Cut(token, ".")
	text, err := base64.StdEncoding.DecodeString(body)
	if err != nil || !equal(mac, c.sign(text)) || json.Unmarshal(text, &s) != nil {
		return session{}, false
	}
	return s, true
}

// authenticate checks the credentials of a call: the configured access key, which may
// call only STS, or the token of a session, whose account and role it records in the
// call.
func (c *Cloud) authenticate(x *call) error {
	if x.token == "" {
		if x.key != c.options.AccessKeyID || x.service != "sts" {
			return x.invalidCredentials("The security token included in the request is invalid.")
		}
		return nil
	}
	s, ok := c.decodeToken(x.token)
	if !ok || s.Key != x.key {
		return x.invalidCredentials("The security token included in the request is invalid")
	}
	if c.options.Now().After(s.Ends) {
		if x.protocol == queryXML || x.protocol == restXML {
			return &failure{http.StatusForbidden, "ExpiredToken", "The security token included in the request is expired"}
		}
		if x.protocol == ec2XML {
			return &failure{http.StatusBadRequest, "RequestExpired", "Request has expired."}
		}
		return &failure{http.StatusBadRequest, "ExpiredTokenException", "The security token included in the request is expired"}
	}
	x.account, x.role = s.Account, s.Role
	return nil
}

// invalidCredentials returns the service's error for invalid credentials.
func (c *call) invalidCredentials(message string) *failure {
	switch c.protocol {
	case ec2XML:
		return &failure{http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials"}
	case queryXML:
		return &failure{http.StatusForbidden, "InvalidClientTokenId", message}
	case restXML:
		return &failure{http.StatusForbidden, "InvalidAccessKeyId", message}
	}
	return &failure{http.StatusBadRequest, "UnrecognizedClientException", message}
}

func stsService(c *Cloud) {
	c.register("sts", "AssumeRole", c.assumeRole)
	c.register("sts", "GetCallerIdentity", func(x *call) (answer, error) {
		if x.role == "" {
			return answer{Object: world.Obj("Arn", Collector, "UserId", "AIDACOLLECTOR", "Account", "111111111111")}, nil
		}
		return answer{Object: world.Obj("Arn", "arn:aws:sts::"+x.account+":assumed-role/"+x.role+"/session", "UserId", "AROASIM:session", "Account", x.account)}, nil
	})
}

// accepts reports whether a trust policy that requires an external id accepts the given
// one. An empty required id accepts any, and one that ends in * matches by prefix, like
// the operator StringLike.
func accepts(required, given string) bool {
	prefix, isPrefix := strings.CutSuffix(required, "*")
	return required == "" || equal(given, required) || isPrefix && strings.HasPrefix(given, prefix)
}

// assumeRole opens a session. As in AWS, an unknown role and a wrong external
// id give the same error.
func (c *Cloud) assumeRole(x *call) (answer, error) {
	arn := x.text("RoleArn")
	refused := &failure{http.StatusForbidden, "AccessDenied", "User: " + Collector + " is not authorized to perform: sts:AssumeRole on resource: " + arn}
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[2] != "iam" || !strings.HasPrefix(parts[5], "role/") {
		return answer{}, &failure{http.StatusBadRequest, "ValidationError", arn + " is invalid"}
	}
	i, ok := c.accountIndex(parts[4])
	if !ok {
		return answer{}, refused
	}
	account := c.Account(i)
	role := strings.TrimPrefix(parts[5], "role/")
	known := arn == account.RoleArn || arn == account.DeniedRoleArn
	external := account.ExternalID
	if r, ok := c.Role(account.ID, role); ok {
		known, external = r.Trusts == Collector, r.ExternalID
	}
	if !known || !accepts(external, x.text("ExternalId")) {
		return answer{}, refused
	}
	expires := c.options.Now().Add(time.Duration(x.number("DurationSeconds", 3600)) * time.Second).UTC().Truncate(time.Second)
	key := "ASIA" + strings.ToUpper(c.options.Seed.With(arn).With(expires.String()).Hex(16))
	token := c.encodeToken(session{account.ID, role, key, expires})
	return answer{Object: world.Obj(
		"Credentials", world.Obj("AccessKeyId", key, "SecretAccessKey", c.sign([]byte(key)), "SessionToken", token, "Expiration", expires),
		"AssumedRoleUser", world.Obj("AssumedRoleId", "AROASIM:"+x.text("RoleSessionName"),
			"Arn", "arn:aws:sts::"+account.ID+":assumed-role/"+role+"/"+x.text("RoleSessionName")),
	)}, nil
}
