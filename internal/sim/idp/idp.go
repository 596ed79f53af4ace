// Package idp simulates an OpenID Connect identity provider: discovery, a login
// page, the authorization code flow with PKCE, ID tokens, user information and
// keys. Its login page lists the users; there are no passwords.
//
// It is as strict as real providers: a code is valid once, for one client, one
// redirect address and the PKCE verifier of its challenge. Tests make it hostile
// with Tamper and Sign of [Options]. The module oracle/dex tests against a real
// provider.
package idp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// A User can log in.
type User struct {
	Subject string
	Name    string
	Email   string
	Groups  []string
}

// Options configure a provider.
type Options struct {
	Issuer       string // its address; may be set until the first request
	ClientID     string
	ClientSecret string
	RedirectURL  func() string // the only redirect address that it accepts
	Users        []User

	// Tamper changes the claims of ID tokens before they are signed; may be nil.
	Tamper func(claims map[string]any)
	// Sign replaces the signature of ID tokens; may be nil.
	Sign func(payload []byte) string
	// UserInfoOnly leaves groups out of ID tokens, so that clients must ask for them.
	UserInfoOnly bool
}

// Provider is a simulated identity provider. It is an HTTP handler.
type Provider struct {
	Options

	mux *http.ServeMux
	key *ecdsa.PrivateKey

	mu     sync.Mutex
	codes  map[string]grant // by code
	access map[string]User  // by access token
}

// A grant is what a code stands for.
type grant struct {
	user      User
	nonce     string
	challenge string
	redirect  string
	client    string
}

// New returns a provider.
func New(o Options) (*Provider, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	out := &Provider{Options: o}
	out.key, out.codes, out.access, out.mux = key, map[string]grant{}, map[string]User{}, http.NewServeMux()
	out.mux.HandleFunc("GET /.well-known/openid-configuration", out.metadata)
	out.mux.HandleFunc("GET /keys", out.keys)
	out.mux.HandleFunc("GET /authorize", out.authorize)
	out.mux.HandleFunc("POST /token", out.token)
	out.mux.HandleFunc("GET /userinfo", out.userInfo)
	return out, nil
}

// ServeHTTP implements [http.Handler].
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client went away
}

func refuse(w http.ResponseWriter, status int, code string) {
	reply(w, status, map[string]string{"error": code})
}

func (p *Provider) metadata(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{
		"issuer": p.Issuer, "authorization_endpoint": p.Issuer + "/authorize", "token_endpoint": p.Issuer + "/token",
		"jwks_uri": p.Issuer + "/keys", "userinfo_endpoint": p.Issuer + "/userinfo", "response_types_supported": []string{"code"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"ES256"},
		"code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true,
	})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "1", Algorithm: "ES256", Use: "sig"}}})
}

// page is the login page: a link per user.
var page = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Simulated identity provider</title></head>
<body><main><h1>Simulated identity provider</h1><p>Log in as:</p><ul>
{{range .}}<li><a href="{{.Link}}">{{.User.Name}}</a> {{range .User.Groups}}<code>{{.}}</code> {{else}}no groups{{end}}</li>
{{end}}</ul></main></body></html>
`))

// authorize shows the login page, and issues a code when a user was chosen.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != p.ClientID || q.Get("redirect_uri") != p.RedirectURL() {
		http.Error(w, "unknown client or redirect address", http.StatusBadRequest) // never redirect there
		return
	}
	answer := url.Values{"state": {q.Get("state")}, "iss": {p.Issuer}}
	switch {
	case q.Get("response_type") != "code":
		answer.Set("error", "unsupported_response_type")
	case q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "":
		answer.Set("error", "invalid_request")
	case q.Get("user") == "":
		p.choose(w, q)
		return
	default:
		user, ok := p.user(q.Get("user"))
		if !ok {
			answer.Set("error", "access_denied")
			break
		}
		code := rand.Text()
		p.mu.Lock()
		p.codes[code] = grant{user, q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("client_id")}
		p.mu.Unlock()
		answer.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

// choose shows the users.
func (p *Provider) choose(w http.ResponseWriter, q url.Values) {
	type choice struct {
		User User
		Link string
	}
	var choices []choice
	for _, u := range p.Users {
		next := maps.Clone(q)
		next.Set("user", u.Subject)
		choices = append(choices, choice{u, "/authorize?" + next.Encode()})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.Execute(w, choices) // fails only if the client went away
}

func (p *Provider) user(subject string) (User, bool) {
	for _, u := range p.Users {
		if u.Subject == subject {
			return u, true
		}
	}
	return User{}, false
}

// token exchanges a code.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if subtle.ConstantTimeCompare([]byte(id+" "+secret), []byte(p.ClientID+" "+p.ClientSecret)) != 1 {
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	p.mu.Lock()
	g, ok := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code")) // a code is valid once
	p.mu.Unlock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !ok || r.FormValue("grant_type") != "authorization_code" || g.redirect != r.FormValue("redirect_uri") || g.client != id ||
		g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		refuse(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	signed, err := p.idToken(g)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "server_error")
		return
	}
	access := rand.Text()
	p.mu.Lock()
	p.access[access] = g.user
	p.mu.Unlock()
	reply(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": signed})
}

// claims are what the provider says about a user.
func (u User) claims() map[string]any {
	return map[string]any{"sub": u.Subject, "preferred_username": u.Name, "email": u.Email, "email_verified": true, "groups": u.Groups}
}

func (p *Provider) idToken(g grant) (string, error) {
	claims := g.user.claims()
	if p.UserInfoOnly {
		delete(claims, "groups")
	}
	now := time.Now()
	claims["iss"], claims["aud"], claims["nonce"] = p.Issuer, p.ClientID, g.nonce
	claims["iat"], claims["exp"] = now.Unix(), now.Add(5*time.Minute).Unix()
	if p.Tamper != nil {
		p.Tamper(claims)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	if p.Sign != nil {
		return p.Sign(payload), nil
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}}, nil)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	user, ok := p.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	p.mu.Unlock()
	if !ok {
		refuse(w, http.StatusUnauthorized, "invalid_token")
		return
	}
	reply(w, http.StatusOK, user.claims())
}
