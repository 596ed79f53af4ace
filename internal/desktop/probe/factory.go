package probe

import (
	"context"
	"net/http"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/directory"
)

// Directory contains the methods of the directory client that probes use.
type Directory interface {
	Survey(ctx context.Context, id desktop.ID) (desktop.DomainReading, error)
	PublicKeyServices(ctx context.Context, id desktop.ID) (directory.PublicKeyServices, error)
	Silent(id desktop.ID) []string
}

// Secrets resolves references to secrets.
type Secrets interface {
	Secret(ctx context.Context, ref desktop.SecretRef) (string, error)
}

// A TargetFactory creates the targets of all kinds of components. Probes that need
// large libraries are passed in as functions, so that this package does not
// depend on them; a kind whose function is nil is not probed.
type TargetFactory struct {
	Directory Directory
	Secrets   Secrets
	Now       func() time.Time

	// Self returns this server's health for its peers.
	Self func(ctx context.Context) (desktop.PeerHealth, error)

	// EventDatabase returns the probe of the event database and a function that
	// closes it.
	EventDatabase func(desktop.EventDatabase) (Probe, func())

	// VirtualCenter returns the probe of a virtual center and a function that
	// closes it.
	VirtualCenter func(desktop.VirtualCenter) (Probe, func())
}

// Targets returns the targets of an inventory. It does not connect to them.
func (f TargetFactory) Targets(inv desktop.Inventory) []Target {
	var out []Target
	for _, d := range inv.Domains {
		out = append(out, f.domain(d))
	}
	for _, cs := range inv.ConnectionServers {
		out = append(out, f.connectionServer(cs, inv.PeerToken))
	}
	if db := inv.EventDatabase; db != nil && f.EventDatabase != nil {
		probe, stop := f.EventDatabase(*db)
		out = append(out, Target{Ref: desktop.Ref{Kind: desktop.KindEventDatabase, ID: db.ID, Name: db.Server}, Spec: *db, Probe: probe, Close: stop})
	}
	for _, r := range inv.RDSServers {
		if r.Address != "" {
			out = append(out, f.listener(r))
		}
	}
	for _, a := range inv.SAMLAuthenticators {
		out = append(out, f.saml(a))
	}
	for _, p := range inv.Pods {
		for _, endpoint := range p.Endpoints {
			if endpoint.Enabled {
				out = append(out, f.podEndpoint(endpoint))
			}
		}
	}
	for _, c := range inv.SSOConnectors {
		out = append(out, f.sso(c, inv))
	}
	for _, c := range inv.Composers {
		out = append(out, f.composer(c))
	}
	for _, vc := range inv.VirtualCenters {
		if vc.Enabled && f.VirtualCenter != nil {
			probe, stop := f.VirtualCenter(vc)
			out = append(out, Target{Ref: desktop.Ref{Kind: desktop.KindVirtualCenter, ID: vc.ID, Name: vc.Name}, Spec: vc, Probe: probe, Close: stop})
		}
	}
	return out
}

// domain returns the target of a directory domain. It is marked Careful,
// because the directory client never retries a refused password.
func (f TargetFactory) domain(d desktop.Domain) Target {
	return Target{
		Ref: desktop.Ref{Kind: desktop.KindDomain, ID: d.ID, Name: d.DNSName}, Spec: d, Careful: true,
		Timeout: 20 * time.Second, // there may be several controllers to try
		Probe: func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			r, err := f.Directory.Survey(ctx, d.ID)
			return r, nil, err
		},
	}
}

// bearer returns the headers of a request for JSON: with the token that ref refers
// to, or without Authorization if ref is empty.
func (f TargetFactory) bearer(ctx context.Context, ref desktop.SecretRef) (http.Header, error) {
	h := http.Header{"Accept": {"application/json"}}
	if ref == "" {
		return h, nil
	}
	token, err := f.Secrets.Secret(ctx, ref)
	if err != nil {
		return nil, &desktop.Failure{Cause: desktop.Refused, Reason: "the peer token cannot be read", Err: err}
	}
	h.Set("Authorization", "Bearer "+token)
	return h, nil
}
