package app

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/auth/authapi"
	"vigil/internal/auth/sso"
)

// newSSO returns the single sign-on of the server, or nil if it is not
// configured. It fails if the mapping of groups cannot be read; the identity
// provider is not contacted.
func (a *App) newSSO() (*authapi.SSO, error) {
	conf := a.o.Install.Config.Posture.SSO
	if !conf.Enabled() {
		return nil, nil
	}
	client, err := sso.NewClient(conf.CAFile, conf.Proxy)
	if err != nil {
		return nil, fmt.Errorf("prepare calls to the identity provider (posture.sso.ca_file, posture.sso.proxy): %w", err)
	}
	// The file is read again at each login, so that changes apply without a restart. Reading it
	// here as well reports mistakes early.
	mapping := func() (sso.Mapping, error) { return sso.ReadMapping(conf.GroupsFile) }
	if _, err := mapping(); err != nil {
		return nil, fmt.Errorf("read posture.sso.groups_file: %w", err)
	}
	logins := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vigil_posture_sso_logins_total", Help: "Logins by single sign-on, by outcome: success, or the reason of the failure.",
	}, []string{"outcome"})
	if err := a.o.Metrics.Register(logins); err != nil {
		return nil, err
	}
	return &authapi.SSO{
		Provider: sso.New(sso.Options{
			Issuer: conf.Issuer, ClientID: conf.ClientID, Secret: conf.ClientSecret, Scopes: conf.ScopeList(), GroupsClaim: conf.GroupsClaim,
			RedirectURL: a.ssoRedirect, HTTP: client, Sealer: a.o.Install.Box, Now: a.o.Now,
		}),
		Mapping: mapping, Count: func(outcome string) { logins.WithLabelValues(outcome).Inc() }, Log: a.o.Log,
	}, nil
}

// ssoRedirect returns the address that the identity provider sends browsers back
// to. It never depends on a request. If redirect_base ends with port 0, the URL of the
// opened port replaces all of it.
func (a *App) ssoRedirect() string {
	conf := a.o.Install.Config.Posture.SSO
	if opened := a.listening.Load(); opened != nil && strings.HasSuffix(conf.RedirectBase, ":0") {
		conf.RedirectBase = *opened
	}
	return conf.RedirectURL()
}
