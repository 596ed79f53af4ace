package config

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

// SSO contains the settings of single sign-on by OpenID Connect. It is off
// without an issuer.
type SSO struct {
	Issuer       string `yaml:"issuer" help:"Address of the OpenID Connect identity provider for single sign-on, exactly as it names itself. Without it there is no single sign-on. See docs/single-sign-on.md."`
	ClientID     string `yaml:"client_id" name:"client-id" help:"Id of this server's client at the identity provider."`
	ClientSecret string `yaml:"client_secret" secret:"reference" help:"Reference to the client's secret (file:PATH or env:NAME). Without it the client is public."`
	Scopes       string `yaml:"scopes" default:"openid profile email" help:"Scopes to request, separated by spaces."`
	GroupsClaim  string `yaml:"groups_claim" default:"groups" help:"Claim with the groups of the user; a dot leads into nested claims."`
	GroupsFile   string `yaml:"groups_file" help:"File (YAML) that maps groups to organisations and roles."`
	RedirectBase string `yaml:"redirect_base" help:"Address of this server that the identity provider sends browsers back to, followed by /console/sso/callback. Default: public_url."`
	CAFile       string `yaml:"ca_file" name:"ca-file" help:"Certificate authorities (PEM) of the identity provider, besides the system's."`
	Proxy        string `yaml:"proxy" secret:"url" help:"URL of the HTTP proxy for calls to the identity provider. The environment is ignored."`
}

func (s *SSO) complete(publicURL string) {
	if s.RedirectBase == "" {
		s.RedirectBase = publicURL
	}
	s.RedirectBase = strings.TrimRight(s.RedirectBase, "/")
}

// Enabled reports whether single sign-on is configured.
func (s SSO) Enabled() bool { return s.Issuer != "" }

// RedirectURL returns the address of the callback.
func (s SSO) RedirectURL() string { return s.RedirectBase + "/console/sso/callback" }

// ScopeList returns the scopes to request.
func (s SSO) ScopeList() []string {
	return strings.FieldsFunc(s.Scopes, func(c rune) bool { return c == ' ' || c == ',' })
}

// problems returns the errors of the settings, as pairs of setting and message.
func (s SSO) problems() [][2]string {
	var bad [][2]string
	wrong := func(name, complaint string) { bad = append(bad, [2]string{name, complaint}) }
	if s.ClientSecret != "" && !isReference(s.ClientSecret) {
		wrong("client_secret", notReference("secret"))
	}
	if s.Proxy != "" && !isHTTPURL(s.Proxy) {
		// The URL may contain a password, so it is not repeated.
		wrong("proxy", "must be a URL such as http://proxy.example.com:3128")
	}
	if !s.Enabled() {
		if s.ClientID != "" || s.GroupsFile != "" {
			wrong("issuer", "is required for single sign-on")
		}
		return bad
	}
	if !isSecureURL(s.Issuer) {
		wrong("issuer", "must be an https address (http only on loopback)")
	}
	if !isSecureURL(s.RedirectBase) {
		wrong("redirect_base", "must be an https address (http only on loopback); it is public_url unless set")
	}
	if s.ClientID == "" {
		wrong("client_id", "is required when posture.sso.issuer is set")
	}
	if !filepath.IsAbs(s.GroupsFile) {
		wrong("groups_file", "must be the absolute path of the file that maps groups to roles")
	}
	return bad
}

// isSecureURL reports whether an address uses https, or http on this machine,
// and has no user, query or fragment.
func isSecureURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}
