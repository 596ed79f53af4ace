package gcp

import (
	"context"

	"google.golang.org/api/dns/v1"
)

// dnsPolicies returns the project's DNS policies; there are a hundred at most.
func (s *scope) dnsPolicies(ctx context.Context) ([]*dns.Policy, error) {
	return s.shared.dns.get(ctx, func() (all []*dns.Policy, err error) {
		err = s.dns.Policies.List(s.project).MaxResults(100).Pages(ctx, func(l *dns.PoliciesListResponse) error {
			all = append(all, l.Policies...)
			return nil
		})
		return all, err
	})
}

var dnsPolicies = listed(declaration{
	Type: dnsPolicyType, Service: "dns", Doc: "How names are looked up in networks.",
	Permissions: []string{"dns.policies.list", "dns.policies.get"},
	Properties: properties{
		flag("enableLogging", "Queries are logged."),
		flag("enableInboundForwarding", "Others may ask the networks' servers."),
		text("description", "What its owner says it is for."),
	},
	Edges:  edges{edge("APPLIES_TO", "The networks.", networkType)},
	Events: events{each("dns", "dns.policies.", "create", "patch", "update", "delete")},
}, func(ctx context.Context, s *scope, page func([]*dns.Policy) error) error {
	all, err := s.dnsPolicies(ctx)
	if err != nil {
		return err
	}
	return page(all)
}, func(ctx context.Context, s *scope, at spot) (*dns.Policy, error) {
	return s.dns.Policies.Get(s.project, at.name).Context(ctx).Do()
}, func(s *scope, v *dns.Policy) *resource {
	r := s.begin(dnsPolicyType, "projects/"+s.project+"/policies/"+v.Name)
	r.Flag("enableLogging", v.EnableLogging).Flag("enableInboundForwarding", v.EnableInboundForwarding).Text("description", v.Description)
	for _, n := range v.Networks {
		r.Edge("APPLIES_TO", s.ref(n.NetworkUrl, networkType))
	}
	return r
})

var zones = listed(declaration{
	Type: zoneType, Service: "dns", Doc: "Names of a domain.",
	Permissions: []string{"dns.managedZones.list", "dns.managedZones.get"},
	Properties: properties{
		text("dnsName", "The domain."),
		text("visibility", "public or private."),
		text("dnssecState", "on, off or transfer; off when it was never set."),
		texts("dnssecAlgorithms", "By which its names are signed."),
		flag("queryLogging", "Queries are logged."),
		text("creationTime", "When it was made."),
	},
	Edges:  edges{edge("APPLIES_TO", "The networks that see it, when it is private.", networkType)},
	Events: events{each("dns", "dns.managedZones.", "create", "patch", "update", "delete")},
}, func(ctx context.Context, s *scope, page func([]*dns.ManagedZone) error) error {
	return s.dns.ManagedZones.List(s.project).MaxResults(100).Pages(ctx, func(l *dns.ManagedZonesListResponse) error { return page(l.ManagedZones) })
}, func(ctx context.Context, s *scope, at spot) (*dns.ManagedZone, error) {
	return s.dns.ManagedZones.Get(s.project, at.name).Context(ctx).Do()
}, func(s *scope, v *dns.ManagedZone) *resource {
	r := s.begin(zoneType, "projects/"+s.project+"/managedZones/"+v.Name)
	r.Text("dnsName", v.DnsName).Text("visibility", v.Visibility).Flag("queryLogging", v.CloudLoggingConfig != nil && v.CloudLoggingConfig.EnableLogging)
	when(r, "creationTime", v.CreationTime)
	state := "off"
	if c := v.DnssecConfig; c != nil {
		if c.State != "" {
			state = c.State
		}
		var algorithms []string
		for _, k := range c.DefaultKeySpecs {
			algorithms = append(algorithms, k.Algorithm)
		}
		set(r, "dnssecAlgorithms", algorithms)
	}
	if v.PrivateVisibilityConfig != nil {
		for _, n := range v.PrivateVisibilityConfig.Networks {
			r.Edge("APPLIES_TO", s.ref(n.NetworkUrl, networkType))
		}
	}
	return tag(r.Text("dnssecState", state), v.Labels)
})
