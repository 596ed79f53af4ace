package gcp

import (
	"context"
	"strings"

	"google.golang.org/api/compute/v1"
)

var forwardingRules = searched(with(computeType(forwardingRuleType, "forwardingRules", "Where a load balancer takes traffic in.", "globalForwardingRules"), properties{
	text("IPAddress", "The address."),
	text("IPProtocol", "TCP, UDP and others."),
	text("portRange", "The ports; all, or those listed, when absent."),
	texts("ports", "The ports, where they are listed."),
	text("loadBalancingScheme", "EXTERNAL, EXTERNAL_MANAGED, INTERNAL and others."),
	flag("external", "The internet reaches it."),
	text("networkTier", "PREMIUM or STANDARD."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("FORWARDS_TO", "Where traffic goes.", httpProxyType, httpsProxyType, sslProxyType, tcpProxyType, targetPoolType, backendServiceType, vpnGatewayType),
	edge("HAS_IP", "Its public address.", publicIPType),
	edge("IN", "Its network, when it is internal.", networkType),
	edge("IN_SUBNET", "Its subnetwork, when it is internal.", subnetworkType),
}, append(changes("forwardingRules", "insert", "delete", "patch", "setTarget", "setLabels"),
	changes("globalForwardingRules", "insert", "delete", "patch", "setTarget", "setLabels")...)),
	listForwardingRules, func(s *scope, v *compute.ForwardingRule) *resource {
		external := strings.HasPrefix(v.LoadBalancingScheme, "EXTERNAL")
		r := s.begin(forwardingRuleType, v.SelfLink)
		r.Text("IPAddress", v.IPAddress).Text("IPProtocol", v.IPProtocol).Text("portRange", v.PortRange).Text("loadBalancingScheme", v.LoadBalancingScheme).
			Flag("external", external).Text("networkTier", v.NetworkTier)
		when(r, "creationTimestamp", v.CreationTimestamp)
		set(r, "ports", v.Ports)
		if external && v.IPAddress != "" {
			r.Edge("HAS_IP", publicIPType.ID(s.account, "", v.IPAddress))
		}
		r.Edge("FORWARDS_TO", s.ref(v.Target, httpProxyType, httpsProxyType, sslProxyType, tcpProxyType, targetPoolType, vpnGatewayType)).
			Edge("FORWARDS_TO", s.ref(v.BackendService, backendServiceType)).
			Edge("IN", s.ref(v.Network, networkType)).Edge("IN_SUBNET", s.ref(v.Subnetwork, subnetworkType))
		return tag(r, v.Labels)
	})

func listForwardingRules(ctx context.Context, s *scope, filter string, page func([]*compute.ForwardingRule) error) error {
	return s.compute.ForwardingRules.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.ForwardingRuleAggregatedList) error {
		return everywhere(l.Items, l.Unreachables, func(v compute.ForwardingRulesScopedList) ([]*compute.ForwardingRule, bool) {
			return v.ForwardingRules, v.Warning != nil && v.Warning.Code == notReached
		}, page)
	})
}

var httpProxies = searched(with(computeType(httpProxyType, "targetHttpProxies", "Where a load balancer reads requests that are not encrypted.", "regionTargetHttpProxies"), properties{
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("FORWARDS_TO", "What chooses by address and path.", urlMapType),
}, changes("targetHttpProxies", "insert", "delete", "setUrlMap")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.TargetHttpProxy) error) error {
		return s.compute.TargetHttpProxies.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.TargetHttpProxyAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.TargetHttpProxiesScopedList) ([]*compute.TargetHttpProxy, bool) {
				return v.TargetHttpProxies, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.TargetHttpProxy) *resource {
		r := when(s.begin(httpProxyType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		return r.Edge("FORWARDS_TO", s.ref(v.UrlMap, urlMapType))
	})

var httpsProxies = searched(with(computeType(httpsProxyType, "targetHttpsProxies", "Where a load balancer reads encrypted requests.", "regionTargetHttpsProxies"), properties{
	flag("hasSslPolicy", "It has a policy on TLS versions and ciphers of its own."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("FORWARDS_TO", "What chooses by address and path.", urlMapType),
	edge("HAS_POLICY", "On TLS versions and ciphers.", sslPolicyType),
	edge("HAS_CERTIFICATE", "By which it is known.", sslCertificateType),
}, changes("targetHttpsProxies", "insert", "delete", "patch", "setUrlMap", "setSslCertificates", "setSslPolicy")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.TargetHttpsProxy) error) error {
		return s.compute.TargetHttpsProxies.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.TargetHttpsProxyAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.TargetHttpsProxiesScopedList) ([]*compute.TargetHttpsProxy, bool) {
				return v.TargetHttpsProxies, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.TargetHttpsProxy) *resource {
		r := when(s.begin(httpsProxyType, v.SelfLink), "creationTimestamp", v.CreationTimestamp).Flag("hasSslPolicy", v.SslPolicy != "")
		for _, c := range v.SslCertificates {
			r.Edge("HAS_CERTIFICATE", s.ref(c, sslCertificateType))
		}
		return r.Edge("FORWARDS_TO", s.ref(v.UrlMap, urlMapType)).Edge("HAS_POLICY", s.ref(v.SslPolicy, sslPolicyType))
	})

var sslProxies = searched(with(computeType(sslProxyType, "targetSslProxies", "Where a load balancer ends TLS connections."), properties{
	flag("hasSslPolicy", "It has a policy on TLS versions and ciphers of its own."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("FORWARDS_TO", "What gets the traffic.", backendServiceType),
	edge("HAS_POLICY", "On TLS versions and ciphers.", sslPolicyType),
	edge("HAS_CERTIFICATE", "By which it is known.", sslCertificateType),
}, changes("targetSslProxies", "insert", "delete", "setBackendService", "setSslCertificates", "setSslPolicy")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.TargetSslProxy) error) error {
		return s.compute.TargetSslProxies.List(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.TargetSslProxyList) error { return page(l.Items) })
	}, func(s *scope, v *compute.TargetSslProxy) *resource {
		r := when(s.begin(sslProxyType, v.SelfLink), "creationTimestamp", v.CreationTimestamp).Flag("hasSslPolicy", v.SslPolicy != "")
		for _, c := range v.SslCertificates {
			r.Edge("HAS_CERTIFICATE", s.ref(c, sslCertificateType))
		}
		return r.Edge("FORWARDS_TO", s.ref(v.Service, backendServiceType)).Edge("HAS_POLICY", s.ref(v.SslPolicy, sslPolicyType))
	})

var tcpProxies = searched(with(computeType(tcpProxyType, "targetTcpProxies", "Where a load balancer ends TCP connections.", "regionTargetTcpProxies"), properties{
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("FORWARDS_TO", "What gets the traffic.", backendServiceType),
}, changes("targetTcpProxies", "insert", "delete", "setBackendService")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.TargetTcpProxy) error) error {
		return s.compute.TargetTcpProxies.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.TargetTcpProxyAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.TargetTcpProxiesScopedList) ([]*compute.TargetTcpProxy, bool) {
				return v.TargetTcpProxies, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.TargetTcpProxy) *resource {
		r := when(s.begin(tcpProxyType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		return r.Edge("FORWARDS_TO", s.ref(v.Service, backendServiceType))
	})

var targetPools = searched(with(computeType(targetPoolType, "targetPools", "Instances among which a load balancer chooses."), properties{
	text("sessionAffinity", "What keeps a client with an instance."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("HAS", "Its instances.", instanceType),
}, changes("targetPools", "insert", "delete", "addInstance", "removeInstance")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.TargetPool) error) error {
		return s.compute.TargetPools.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.TargetPoolAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.TargetPoolsScopedList) ([]*compute.TargetPool, bool) {
				return v.TargetPools, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.TargetPool) *resource {
		r := when(s.begin(targetPoolType, v.SelfLink), "creationTimestamp", v.CreationTimestamp).Text("sessionAffinity", v.SessionAffinity)
		for _, i := range v.Instances {
			r.Edge("HAS", s.ref(i, instanceType))
		}
		return r
	})

var urlMaps = searched(with(computeType(urlMapType, "urlMaps", "Where a load balancer sends requests, by address and path.", "regionUrlMaps"), properties{
	flag("redirectsToHttps", "Requests that fit nothing are sent on to HTTPS."),
	texts("hosts", "The host names that it tells apart."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("FORWARDS_TO", "What gets the requests.", backendServiceType, backendBucketType),
}, changes("urlMaps", "insert", "delete", "patch", "update")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.UrlMap) error) error {
		return s.compute.UrlMaps.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.UrlMapsAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.UrlMapsScopedList) ([]*compute.UrlMap, bool) {
				return v.UrlMaps, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.UrlMap) *resource {
		r := when(s.begin(urlMapType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		r.Flag("redirectsToHttps", v.DefaultUrlRedirect != nil && v.DefaultUrlRedirect.HttpsRedirect)
		var hosts []string
		for _, rule := range v.HostRules {
			hosts = append(hosts, rule.Hosts...)
		}
		set(r, "hosts", hosts)
		r.Edge("FORWARDS_TO", s.ref(v.DefaultService, backendServiceType, backendBucketType))
		for _, m := range v.PathMatchers {
			r.Edge("FORWARDS_TO", s.ref(m.DefaultService, backendServiceType, backendBucketType))
			for _, rule := range m.PathRules {
				r.Edge("FORWARDS_TO", s.ref(rule.Service, backendServiceType, backendBucketType))
			}
		}
		sortEdges(r)
		return r
	})
