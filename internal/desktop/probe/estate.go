package probe

import (
	"context"
	"net/http"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/directory"
)

// Directory is what probes ask of the directories.
type Directory interface {
	Survey(ctx context.Context, id desktop.ID) (desktop.DomainReading, error)
	PublicKeyServices(ctx context.Context, id desktop.ID) (directory.PublicKeyServices, error)
	Silent(id desktop.ID) []string
}

// Secrets opens references to secrets.
type Secrets interface {
	Secret(ctx context.Context, ref desktop.SecretRef) (string, error)
}

// An Estate knows how to look at every kind of component. The looks that need
// large libraries are given to it, so that it does not depend on them; a kind
// whose maker is nil is not looked at.
type Estate struct {
	Directory Directory
	Secrets   Secrets
	Now       func() time.Time

	// Self tells of ourselves what our peers are told.
	Self func(ctx context.Context) (desktop.PeerHealth, error)

	// EventDatabase makes a look at the event database, and how to let go of it.
	EventDatabase func(desktop.EventDatabase) (Look, func())

	// VirtualCenter makes a look at a virtual center, and how to let go of it.
	VirtualCenter func(desktop.VirtualCenter) (Look, func())
}

// Targets returns what there is to look at in an inventory. Making them is
// cheap: nothing is connected to before the first look.
func (e Estate) Targets(inv desktop.Inventory) []Target {
	var out []Target
	for _, d := range inv.Domains {
		out = append(out, e.domain(d))
	}
	for _, cs := range inv.ConnectionServers {
		out = append(out, e.connectionServer(cs, inv.PeerToken))
	}
	if db := inv.EventDatabase; db != nil && e.EventDatabase != nil {
		look, stop := e.EventDatabase(*db)
		out = append(out, Target{Ref: desktop.Ref{Kind: desktop.KindEventDatabase, ID: db.ID, Name: db.Server}, Spec: *db, Look: look, Close: stop})
	}
	for _, r := range inv.RDSServers {
		if r.Address != "" {
			out = append(out, e.listener(r))
		}
	}
	for _, a := range inv.SAMLAuthenticators {
		out = append(out, e.saml(a))
	}
	for _, p := range inv.Pods {
		for _, endpoint := range p.Endpoints {
			if endpoint.Enabled {
				out = append(out, e.podEndpoint(endpoint))
			}
		}
	}
	for _, c := range inv.SSOConnectors {
		out = append(out, e.sso(c, inv))
	}
	for _, c := range inv.Composers {
		out = append(out, e.composer(c))
	}
	for _, vc := range inv.VirtualCenters {
		if vc.Enabled && e.VirtualCenter != nil {
			look, stop := e.VirtualCenter(vc)
			out = append(out, Target{Ref: desktop.Ref{Kind: desktop.KindVirtualCenter, ID: vc.ID, Name: vc.Name}, Spec: vc, Look: look, Close: stop})
		}
	}
	return out
}

// domain makes the target of a directory domain. The directory client itself
// never repeats a refused password.
func (e Estate) domain(d desktop.Domain) Target {
	return Target{
		Ref: desktop.Ref{Kind: desktop.KindDomain, ID: d.ID, Name: d.DNSName}, Spec: d, Careful: true,
		Timeout: 20 * time.Second, // there may be several controllers to try
		Look: func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			r, err := e.Directory.Survey(ctx, d.ID)
			return r, nil, err
		},
	}
}

// bearer returns the header that shows a token, or none without a reference.
func (e Estate) bearer(ctx context.Context, ref desktop.SecretRef) (http.Header, error) {
	h := http.Header{"Accept": {"application/json"}}
	if ref == "" {
		return h, nil
	}
	token, err := e.Secrets.Secret(ctx, ref)
	if err != nil {
		return nil, &desktop.Failure{Cause: desktop.Refused, Reason: "the peers' token cannot be had", Err: err}
	}
	h.Set("Authorization", "Bearer "+token)
	return h, nil
}
