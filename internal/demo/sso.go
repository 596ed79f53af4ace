package demo

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/sim/idp"
)

// An identityProvider is the simulated identity provider of the demo.
type identityProvider struct {
	server   *http.Server
	groups   string                 // file with the mapping of groups
	redirect atomic.Pointer[string] // set when the posture server listens
	settings config.SSO
}

// newIdentityProvider starts an identity provider with three users: an
// administrator, a viewer of the AWS accounts, and one without access.
func newIdentityProvider(ctx context.Context, dir string) (*identityProvider, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &identityProvider{groups: filepath.Join(dir, "groups.yaml")}
	url, secretFile := "http://"+listener.Addr().String(), filepath.Join(dir, "sso.secret")
	provider, err := idp.New(idp.Options{
		Issuer: url, ClientID: "vigil", ClientSecret: "demo",
		RedirectURL: func() string {
			if at := p.redirect.Load(); at != nil {
				return *at + "/console/sso/callback"
			}
			return ""
		},
		Users: []idp.User{
			{Subject: "ada", Name: "Ada Admin", Email: "ada@example.com", Groups: []string{"staff", "cloud-security"}},
			{Subject: "vic", Name: "Vic Viewer", Email: "vic@example.com", Groups: []string{"staff", "team-web"}},
			{Subject: "ned", Name: "Ned Nobody", Email: "ned@example.com", Groups: []string{"staff"}},
		},
	})
	if err != nil {
		return nil, err
	}
	p.server = &http.Server{Handler: provider, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(listener) }() // ends with stop
	p.settings = config.SSO{
		Issuer: url, ClientID: "vigil", ClientSecret: "file:" + secretFile, Scopes: "openid profile email", GroupsClaim: "groups", GroupsFile: p.groups,
	}
	if err := os.WriteFile(secretFile, []byte("demo"), 0o600); err != nil {
		return nil, err
	}
	// The posture server needs a mapping at its start; run replaces this one.
	return p, p.mapTo("demo", "000000000000")
}

// mapTo writes the mapping of groups to an organisation; viewers are limited to
// one account.
func (p *identityProvider) mapTo(org auth.OrgID, account string) error {
	text := fmt.Sprintf(`- {group: cloud-security, organization: %q, role: admin}
- {group: team-web, organization: %q, role: viewer, accounts: [%q]}
`, org, org, account)
	return os.WriteFile(p.groups, []byte(text), 0o600)
}

func (p *identityProvider) stop() error { return p.server.Close() }
