package azure

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// claims are the content of a token.
type claims struct {
	Tenant      string `json:"tid"`
	Application string `json:"appid"`
	Audience    string `json:"aud"`
	Expires     int64  `json:"exp"`
}

// tokenLife is the lifetime of tokens.
const tokenLife = time.Hour

// login serves the directory's sign-in endpoints.
func (c *Cloud) login(w http.ResponseWriter, r *http.Request, government bool) {
	tenant, rest, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	action := rest[strings.LastIndex(rest, "/")+1:]
	c.faults.Serve(w, r, gateway.Exchange{
		Call: gateway.Call{Cloud: "azure", Account: tenant, Service: "login", Action: action},
		Refuse: func(w http.ResponseWriter, f gateway.Fault) {
			status, description := map[gateway.Kind]int{gateway.Throttle: 429, gateway.Fail: 500}[f.Kind], "AADSTS90033: A transient error has occurred. Please try again."
			if status == 0 { // any other fault
				status, description = http.StatusUnauthorized, "AADSTS7000222: The provided client secret keys for app are expired."
			}
			retryAfter(w, f)
			signInError(w, status, "invalid_client", description)
		},
		Answer: func(w http.ResponseWriter) {
			switch {
			case rest == "discovery/instance":
				writeJSON(w, http.StatusOK, instances(r))
			case tenant != c.tenant(government):
				signInError(w, http.StatusBadRequest, "invalid_request", "AADSTS90002: Tenant '"+tenant+"' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud.")
			case strings.HasSuffix(rest, ".well-known/openid-configuration"):
				base := "https://" + r.Host + "/" + tenant
				writeJSON(w, http.StatusOK, world.Obj(
					"token_endpoint", base+"/oauth2/v2.0/token", "authorization_endpoint", base+"/oauth2/v2.0/authorize",
					"issuer", base+"/v2.0", "jwks_uri", base+"/discovery/v2.0/keys",
				))
			case rest == "oauth2/v2.0/token" && r.Method == http.MethodPost:
				c.token(w, r, government)
			default:
				http.NotFound(w, r)
			}
		},
	})
}

// instances returns the host aliases of the directory.
func instances(r *http.Request) world.Object {
	endpoint := r.URL.Query().Get("authorization_endpoint")
	discovery := strings.Replace(endpoint, "/oauth2/v2.0/authorize", "/v2.0/.well-known/openid-configuration", 1)
	cloud := func(network string, aliases ...string) world.Object {
		return world.Obj("preferred_network", network, "preferred_cache", aliases[0], "aliases", world.Items(aliases...))
	}
	return world.Obj("tenant_discovery_endpoint", discovery, "api-version", "1.1", "metadata", world.Items(
		cloud("login.microsoftonline.com", "login.windows.net", "login.microsoftonline.com", "login.microsoft.com", "sts.windows.net"),
		cloud("login.microsoftonline.us", "login.microsoftonline.us", "login.usgovcloudapi.net"),
	))
}

// token issues a token for an application's secret.
func (c *Cloud) token(w http.ResponseWriter, r *http.Request, government bool) {
	if err := r.ParseForm(); err != nil || r.PostForm.Get("grant_type") != "client_credentials" {
		signInError(w, http.StatusBadRequest, "unsupported_grant_type", "AADSTS70003: The app requested an unsupported grant type.")
		return
	}
	application := r.PostForm.Get("client_id")
	_, keys, ok := c.roleOf(application, government)
	if !ok {
		signInError(w, http.StatusBadRequest, "unauthorized_client", "AADSTS700016: Application with identifier '"+application+"' was not found in the directory.")
		return
	}
	if !slices.Contains(keys, r.PostForm.Get("client_secret")) {
		signInError(w, http.StatusUnauthorized, "invalid_client", "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID.")
		return
	}
	audience, _, ok := strings.Cut(r.PostForm.Get("scope"), "/.default")
	if !ok {
		signInError(w, http.StatusBadRequest, "invalid_scope", "AADSTS1002012: The provided value for scope is not valid.")
		return
	}
	writeJSON(w, http.StatusOK, world.Obj("token_type", "Bearer", "expires_in", int(tokenLife.Seconds()), "ext_expires_in", int(tokenLife.Seconds()),
		"access_token", c.sign(claims{c.tenant(government), application, strings.TrimRight(audience, "/"), c.options.Now().Add(tokenLife).Unix()})))
}

// sign returns a signed token.
func (c *Cloud) sign(token claims) string {
	text, err := json.Marshal(token)
	if err != nil {
		panic(err) // cannot fail: strings and a number
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	return body + "." + base64.RawURLEncoding.EncodeToString(c.seal(body))
}

func (c *Cloud) seal(body string) []byte {
	mac := hmac.New(sha256.New, c.secret)
	mac.Write([]byte(body))
	return mac.Sum(nil)
}

// bearer returns the claims of a request's token. It returns false for an
// invalid token.
func (c *Cloud) bearer(r *http.Request) (claims, bool) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return claims{}, false
	}
	body, seal, _ := strings.Cut(token, ".")
	mac, err := base64.RawURLEncoding.DecodeString(seal)
	if err != nil || !hmac.Equal(mac, c.seal(body)) {
		return claims{}, false
	}
	text, err := base64.RawURLEncoding.DecodeString(body)
	var decoded claims
	if err != nil || json.Unmarshal(text, &decoded) != nil {
		return claims{}, false
	}
	return decoded, true
}

func signInError(w http.ResponseWriter, status int, code, description string) {
	writeJSON(w, status, world.Obj("error", code, "error_description", description, "correlation_id", "00000000-0000-0000-0000-000000000000"))
}
