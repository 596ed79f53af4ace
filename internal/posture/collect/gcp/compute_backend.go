package gcp

import (
	"context"

	"google.golang.org/api/compute/v1"
)

var sslPolicies = searched(with(computeType(sslPolicyType, "sslPolicies", "Which TLS versions and ciphers a load balancer takes.", "regionSslPolicies"), properties{
	text("minTlsVersion", "TLS_1_0, TLS_1_1, TLS_1_2 or TLS_1_3."),
	text("profile", "COMPATIBLE, MODERN, RESTRICTED, FIPS_202205 or CUSTOM."),
	texts("enabledFeatures", "The ciphers."),
	text("creationTimestamp", "When it was made."),
}, nil, changes("sslPolicies", "insert", "patch", "delete")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.SslPolicy) error) error {
		return s.compute.SslPolicies.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.SslPoliciesAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.SslPoliciesScopedList) ([]*compute.SslPolicy, bool) {
				return v.SslPolicies, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.SslPolicy) *resource {
		r := when(s.begin(sslPolicyType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		return set(r.Text("minTlsVersion", v.MinTlsVersion).Text("profile", v.Profile), "enabledFeatures", v.EnabledFeatures)
	})

var sslCertificates = searched(with(computeType(sslCertificateType, "sslCertificates", "A certificate of a load balancer.", "regionSslCertificates"), properties{
	text("type", "MANAGED when Google renews it, else SELF_MANAGED."),
	text("expireTime", "When it ends."),
	texts("subjectAlternativeNames", "The host names it is for."),
	text("status", "Of a managed one: ACTIVE, PROVISIONING and others."),
	text("creationTimestamp", "When it was made."),
}, nil, changes("sslCertificates", "insert", "delete")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.SslCertificate) error) error {
		return s.compute.SslCertificates.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.SslCertificateAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.SslCertificatesScopedList) ([]*compute.SslCertificate, bool) {
				return v.SslCertificates, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.SslCertificate) *resource {
		r := when(s.begin(sslCertificateType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		when(r.Text("type", v.Type), "expireTime", v.ExpireTime)
		if v.Managed != nil {
			r.Text("status", v.Managed.Status)
		}
		return set(r, "subjectAlternativeNames", v.SubjectAlternativeNames)
	})

var backendServices = searched(with(computeType(backendServiceType, "backendServices", "What a load balancer sends traffic to.", "regionBackendServices"), properties{
	text("protocol", "HTTP, HTTPS, TCP and others."),
	text("loadBalancingScheme", "EXTERNAL, EXTERNAL_MANAGED, INTERNAL and others."),
	flag("logging", "Requests are logged."),
	flag("enableCDN", "Answers are kept in Google's edge."),
	flag("iapEnabled", "Identity-Aware Proxy asks who it is."),
	flag("hasSecurityPolicy", "Cloud Armor looks at requests first."),
	long("timeoutSec", "How long an answer may take."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("FORWARDS_TO", "The instances that answer.", instanceGroupType),
	edge("CHECKED_BY", "What tells whether they are well.", healthCheckType),
	edge("HAS_POLICY", "What Cloud Armor does.", securityPolicyType),
	edge("IN", "Its network, when it is internal.", networkType),
}, append(changes("backendServices", "insert", "delete", "patch", "update", "setSecurityPolicy"),
	changes("regionBackendServices", "insert", "delete", "patch", "update", "setSecurityPolicy")...)),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.BackendService) error) error {
		return s.compute.BackendServices.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.BackendServiceAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.BackendServicesScopedList) ([]*compute.BackendService, bool) {
				return v.BackendServices, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.BackendService) *resource {
		r := when(s.begin(backendServiceType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		r.Text("protocol", v.Protocol).Text("loadBalancingScheme", v.LoadBalancingScheme).Flag("logging", v.LogConfig != nil && v.LogConfig.Enable).
			Flag("enableCDN", v.EnableCDN).Flag("iapEnabled", v.Iap != nil && v.Iap.Enabled).Flag("hasSecurityPolicy", v.SecurityPolicy != "").
			Number("timeoutSec", v.TimeoutSec)
		for _, b := range v.Backends {
			r.Edge("FORWARDS_TO", s.ref(b.Group, instanceGroupType))
		}
		for _, h := range v.HealthChecks {
			r.Edge("CHECKED_BY", s.ref(h, healthCheckType))
		}
		sortEdges(r)
		return r.Edge("HAS_POLICY", s.ref(v.SecurityPolicy, securityPolicyType)).Edge("IN", s.ref(v.Network, networkType))
	})

var backendBuckets = searched(with(computeType(backendBucketType, "backendBuckets", "A bucket behind a load balancer."), properties{
	text("bucketName", "The bucket."),
	flag("enableCdn", "Its objects are kept in Google's edge."),
	text("creationTimestamp", "When it was made."),
}, edges{
	edge("FORWARDS_TO", "The bucket.", bucketType),
	edge("HAS_POLICY", "What Cloud Armor does.", securityPolicyType),
}, changes("backendBuckets", "insert", "delete", "patch", "update")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.BackendBucket) error) error {
		return s.compute.BackendBuckets.List(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.BackendBucketList) error { return page(l.Items) })
	}, func(s *scope, v *compute.BackendBucket) *resource {
		r := when(s.begin(backendBucketType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		r.Text("bucketName", v.BucketName).Flag("enableCdn", v.EnableCdn)
		return r.Edge("FORWARDS_TO", s.bucket(v.BucketName)).Edge("HAS_POLICY", s.ref(v.EdgeSecurityPolicy, securityPolicyType))
	})

var healthChecks = searched(with(computeType(healthCheckType, "healthChecks", "What tells whether instances are well.", "regionHealthChecks"), properties{
	text("type", "HTTP, HTTPS, TCP and others."),
	long("checkIntervalSec", "How often it asks."),
	flag("logging", "Changes are logged."),
	text("creationTimestamp", "When it was made."),
}, nil, append(changes("healthChecks", "insert", "delete", "patch", "update"), changes("regionHealthChecks", "insert", "delete", "patch", "update")...)),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.HealthCheck) error) error {
		return s.compute.HealthChecks.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.HealthChecksAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.HealthChecksScopedList) ([]*compute.HealthCheck, bool) {
				return v.HealthChecks, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.HealthCheck) *resource {
		r := when(s.begin(healthCheckType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		return r.Text("type", v.Type).Number("checkIntervalSec", v.CheckIntervalSec).Flag("logging", v.LogConfig != nil && v.LogConfig.Enable)
	})

var securityPolicies = searched(with(computeType(securityPolicyType, "securityPolicies", "What Cloud Armor lets through.", "regionSecurityPolicies"), properties{
	text("type", "CLOUD_ARMOR, CLOUD_ARMOR_EDGE or CLOUD_ARMOR_NETWORK."),
	long("rules", "How many rules it has."),
	text("defaultAction", "What becomes of requests that no rule fits."),
	flag("adaptiveProtection", "Google looks for attacks by itself."),
	text("creationTimestamp", "When it was made."),
}, nil, append(changes("securityPolicies", "insert", "delete", "patch", "addRule", "patchRule", "removeRule"),
	changes("regionSecurityPolicies", "insert", "delete", "patch")...)),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.SecurityPolicy) error) error {
		return s.compute.SecurityPolicies.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.SecurityPoliciesAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.SecurityPoliciesScopedList) ([]*compute.SecurityPolicy, bool) {
				return v.SecurityPolicies, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.SecurityPolicy) *resource {
		r := when(s.begin(securityPolicyType, v.SelfLink), "creationTimestamp", v.CreationTimestamp)
		r.Text("type", v.Type).Number("rules", int64(len(v.Rules)))
		for _, rule := range v.Rules {
			if rule.Priority == 2147483647 {
				r.Text("defaultAction", rule.Action)
			}
		}
		adaptive := v.AdaptiveProtectionConfig
		r.Flag("adaptiveProtection", adaptive != nil && adaptive.Layer7DdosDefenseConfig != nil && adaptive.Layer7DdosDefenseConfig.Enable)
		return tag(r, v.Labels)
	})
