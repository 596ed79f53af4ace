package gcp

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vigil/internal/sim/gateway"
)

// An account is a service account that may sign in.
type account struct {
	email       string
	keys        []accountKey // the valid ones, oldest first; none if the account was deleted
	issued      int          // number of keys so far, including those of deleted accounts of this name
	project     Project      // home project
	all         bool         // has all permissions
	permissions []string     // its permissions, unless all is set
}

type accountKey struct {
	id      string
	private *rsa.PrivateKey
}

// A Credential is a service account and its newest key.
type Credential struct {
	Email string
	Key   string // the key file in base64
}

// Reader returns a service account of the first project that may read
// everything in all projects.
func (c *Cloud) Reader() Credential { return c.permit("vigil-reader", true, nil) }

// Denied returns a service account that may sign in and nothing else.
func (c *Cloud) Denied() Credential { return c.permit("vigil-denied", false, nil) }

// Limited returns a service account with these permissions in all projects.
func (c *Cloud) Limited(name string, permissions ...string) Credential {
	return c.permit(name, false, permissions)
}

func (c *Cloud) permit(name string, all bool, permissions []string) Credential {
	return c.withAccount(name, func(a *account) { a.all, a.permissions = all, permissions })
}

// NewKey adds a key to a service account. The earlier keys stay valid. An account that does not
// exist is created, without permissions.
func (c *Cloud) NewKey(name string) Credential { return c.withAccount(name, c.addKey) }

// DeleteAccount deletes a service account: its keys and tokens are no longer valid. If an account of
// this name is created again, it has other keys.
func (c *Cloud) DeleteAccount(email string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.accounts[email]; old != nil {
		c.accounts[email] = &account{email: email, project: old.project, issued: old.issued}
	}
}

// withAccount changes a service account, which is created if it does not exist.
func (c *Cloud) withAccount(name string, do func(*account)) Credential {
	home := c.order[0]
	email := name + "@" + home.ID + ".iam.gserviceaccount.com"
	c.mu.Lock()
	defer c.mu.Unlock()
	a := account{email: email, project: home}
	if old := c.accounts[email]; old != nil {
		a = *old // a copy: running calls keep the old account
	}
	do(&a)
	if len(a.keys) == 0 {
		c.addKey(&a)
	}
	c.accounts[email] = &a
	return Credential{Email: email, Key: base64.StdEncoding.EncodeToString(a.file())}
}

func (c *Cloud) addKey(a *account) {
	name, _, _ := strings.Cut(a.email, "@")
	added := accountKey{c.options.Seed.With(a.email).Nth(a.issued).Hex(40), privateKey(fmt.Sprint(name, "/", a.issued))}
	a.keys = append(slices.Clone(a.keys), added)
	a.issued++
}

// privateKeys are the private keys by service account and number: vigil-reader/0. They are slow
// to generate, and all clouds of a process can share them.
var (
	keyMutex    sync.Mutex
	privateKeys = map[string]*rsa.PrivateKey{}
)

func privateKey(name string) *rsa.PrivateKey {
	keyMutex.Lock()
	defer keyMutex.Unlock()
	key, ok := privateKeys[name]
	if !ok {
		generated, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err) // cannot fail with a working random source
		}
		key = generated
		privateKeys[name] = key
	}
	return key
}

// file returns Google's key file of the newest key.
func (a *account) file() []byte {
	key := a.keys[len(a.keys)-1]
	der, err := x509.MarshalPKCS8PrivateKey(key.private)
	if err != nil {
		panic(err) // cannot fail for an RSA key
	}
	text, err := json.MarshalIndent(map[string]string{
		"type": "service_account", "project_id": a.project.ID, "private_key_id": key.id,
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"client_email": a.email, "client_id": "1" + a.keys[0].id[:8],
		"auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": tokenURI,
		"auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs", "universe_domain": "googleapis.com",
	}, "", "  ")
	if err != nil {
		panic(err) // cannot fail: strings only
	}
	return text
}

// has reports whether the account has a permission.
func (a *account) has(permission string) bool {
	return a.all || permission == "" || slices.Contains(a.permissions, permission)
}

const (
	tokenURI    = "https://oauth2.googleapis.com/token"
	tokenLife   = time.Hour
	tokenPrefix = "ya29."
)

// token handles POST /token: it exchanges a signed assertion for an access
// token.
func (c *Cloud) token(w http.ResponseWriter, r *http.Request) {
	refuse := func(w http.ResponseWriter, status int, code, description string) {
		writeJSON(w, status, map[string]string{"error": code, "error_description": description})
	}
	if r.Method != http.MethodPost || r.URL.Path != "/token" || r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		refuse(w, http.StatusBadRequest, "unsupported_grant_type", "Invalid grant_type: "+r.FormValue("grant_type"))
		return
	}
	a, err := c.verify(r.FormValue("assertion"))
	call := gateway.Call{Cloud: "gcp", Service: "oauth2", Action: "token"}
	if a != nil {
		call.Account = a.project.ID
	}
	c.faults.Serve(w, r, gateway.Exchange{
		Call: call,
		Refuse: func(w http.ResponseWriter, f gateway.Fault) {
			switch f.Kind {
			case gateway.Throttle:
				retryAfter(w, f)
				refuse(w, http.StatusTooManyRequests, "rate_limit_exceeded", "Too many requests.")
			case gateway.Fail:
				refuse(w, http.StatusInternalServerError, "internal_failure", "Try again.")
			case gateway.Expire:
				refuse(w, http.StatusBadRequest, "invalid_grant", "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.")
			default:
				refuse(w, http.StatusBadRequest, "invalid_grant", "Invalid grant: account not found")
			}
		},
		Answer: func(w http.ResponseWriter) {
			if err != nil {
				refuse(w, http.StatusBadRequest, "invalid_grant", err.Error())
				return
			}
			writeJSON(w, http.StatusOK, map[string]any{
				"access_token": c.mint(a.email, c.options.Now().Add(tokenLife)), "expires_in": int(tokenLife.Seconds()), "token_type": "Bearer",
			})
		},
	})
}

// verify checks an assertion like Google and returns its account.
func (c *Cloud) verify(assertion string) (*account, error) {
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		return nil, errors.New("Invalid JWT: not three parts.") //nolint:staticcheck // Google's words
	}
	var header struct{ Alg, Kid string }
	var claims struct {
		Iss, Aud, Scope string
		Iat, Exp        int64
	}
	for i, v := range []any{&header, &claims} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil || json.Unmarshal(raw, v) != nil {
			return nil, errors.New("Invalid JWT: cannot be read.") //nolint:staticcheck // Google's words
		}
	}
	c.mu.Lock()
	a := c.accounts[claims.Iss]
	c.mu.Unlock()
	now := c.options.Now()
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	switch {
	case a == nil || len(a.keys) == 0:
		return nil, errors.New("Invalid grant: account not found") //nolint:staticcheck // Google's words
	case err != nil, header.Alg != "RS256":
		return a, errors.New("Invalid JWT Signature.") //nolint:staticcheck // Google's words
	}
	key := slices.IndexFunc(a.keys, func(k accountKey) bool { return k.id == header.Kid })
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	switch {
	case key < 0 || rsa.VerifyPKCS1v15(&a.keys[key].private.PublicKey, crypto.SHA256, digest[:], signature) != nil:
		return a, errors.New("Invalid JWT Signature.") //nolint:staticcheck // Google's words
	case claims.Aud != tokenURI:
		return a, fmt.Errorf("Invalid JWT: Failed audience check. The right audience is %s", tokenURI) //nolint:staticcheck // Google's words
	case claims.Exp-claims.Iat > 3600 || now.Unix() > claims.Exp || claims.Iat > now.Add(5*time.Minute).Unix():
		return a, errors.New("Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.") //nolint:staticcheck // Google's words
	case claims.Scope == "":
		return a, errors.New("Empty or missing scope not allowed.") //nolint:staticcheck // Google's words
	}
	return a, nil
}

// mint returns a token of an account. The token expires at end.
func (c *Cloud) mint(email string, end time.Time) string {
	body := email + "|" + strconv.FormatInt(end.Unix(), 10)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(body+"|"+c.sign(body)))
}

func (c *Cloud) sign(body string) string {
	mac := hmac.New(sha256.New, c.secret)
	mac.Write([]byte(body))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// bearer returns the account of a call's token, or nil.
func (c *Cloud) bearer(r *http.Request) *account {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "+tokenPrefix)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	parts := strings.Split(string(raw), "|")
	if !ok || err != nil || len(parts) != 3 {
		return nil
	}
	end, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || !hmac.Equal([]byte(parts[2]), []byte(c.sign(parts[0]+"|"+parts[1]))) || c.options.Now().Unix() > end {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.accounts[parts[0]]; a != nil && len(a.keys) > 0 {
		return a
	}
	return nil
}
