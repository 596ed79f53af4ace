package gcp

import (
	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

const (
	forwardingType     posture.EntityType = "GCP.Compute.ForwardingRule"
	httpProxyType      posture.EntityType = "GCP.Compute.TargetHttpProxy"
	httpsProxyType     posture.EntityType = "GCP.Compute.TargetHttpsProxy"
	sslProxyType       posture.EntityType = "GCP.Compute.TargetSslProxy"
	tcpProxyType       posture.EntityType = "GCP.Compute.TargetTcpProxy"
	targetPoolType     posture.EntityType = "GCP.Compute.TargetPool"
	urlMapType         posture.EntityType = "GCP.Compute.UrlMap"
	sslPolicyType      posture.EntityType = "GCP.Compute.SslPolicy"
	certificateType    posture.EntityType = "GCP.Compute.SslCertificate"
	backendType        posture.EntityType = "GCP.Compute.BackendService"
	backendBucketType  posture.EntityType = "GCP.Compute.BackendBucket"
	healthType         posture.EntityType = "GCP.Compute.HealthCheck"
	securityPolicyType posture.EntityType = "GCP.Compute.SecurityPolicy"
)

func one(address) int { return 1 }
func two(address) int { return 2 }

var balancerKinds = []*kind{
	{
		typ: forwardingType, service: "compute", collection: "forwardingRules", where: computeMixed, prefix: "front-", count: func(a address) int { return a.scaled(10, 6) }, // at least 6: every case below occurs
		body: func(a address) world.Object {
			o := world.Obj("IPProtocol", "TCP", "networkTier", "PREMIUM", "labels", a.labels())
			switch a.i % 6 {
			case 0:
				return append(o, world.Obj("IPAddress", publicIP(104, a.i), "portRange", "443-443", "loadBalancingScheme", "EXTERNAL_MANAGED", "target", a.ref(httpsProxyType, 0))...)
			case 3:
				return append(o, world.Obj("IPAddress", publicIP(104, a.i), "portRange", "80-80", "loadBalancingScheme", "EXTERNAL_MANAGED", "target", a.ref(httpProxyType, 0))...)
			case 1:
				return append(o, world.Obj("IPAddress", publicIP(112, a.i), "portRange", "110-110", "loadBalancingScheme", "EXTERNAL", "target", a.ref(targetPoolType, 0))...)
			}
			return append(o, world.Obj("IPAddress", "10.1.1.9", "ports", world.Items("8080"), "loadBalancingScheme", "INTERNAL", "backendService", a.ref(backendType, 1),
				"network", a.ref(networkType, 0), "subnetwork", a.ref(subnetType, a.subnetOf(0, a.i%len(regions))))...)
		},
	},
	{
		typ: httpProxyType, service: "compute", collection: "targetHttpProxies", where: computeGlobal, prefix: "http-", count: one,
		body: func(a address) world.Object { return world.Obj("urlMap", a.ref(urlMapType, 0)) },
	},
	{
		typ: httpsProxyType, service: "compute", collection: "targetHttpsProxies", where: computeGlobal, prefix: "https-", count: two,
		body: func(a address) world.Object {
			o := world.Obj("urlMap", a.ref(urlMapType, 0), "sslCertificates", world.Items(a.ref(certificateType, 0)))
			if a.i == 0 {
				o = append(o, world.Obj("sslPolicy", a.ref(sslPolicyType, 0))...)
			}
			return o
		},
	},
	{
		typ: sslProxyType, service: "compute", collection: "targetSslProxies", where: computeGlobal, prefix: "ssl-", count: one,
		body: func(a address) world.Object {
			return world.Obj("service", a.ref(backendType, 0), "sslCertificates", world.Items(a.ref(certificateType, 0)), "sslPolicy", a.ref(sslPolicyType, 0), "proxyHeader", "NONE")
		},
	},
	{
		typ: tcpProxyType, service: "compute", collection: "targetTcpProxies", where: computeGlobal, prefix: "tcp-", count: one,
		body: func(a address) world.Object {
			return world.Obj("service", a.ref(backendType, 0), "proxyHeader", "NONE")
		},
	},
	{
		typ: targetPoolType, service: "compute", collection: "targetPools", where: computeRegion, prefix: "pool-", count: one,
		body: func(a address) world.Object {
			return world.Obj("sessionAffinity", "NONE", "instances", world.Items(a.ref(instanceType, 0), a.ref(instanceType, 1)), "region", computeBase+"projects/"+a.project.ID+"/regions/"+a.location())
		},
	},
	{
		typ: urlMapType, service: "compute", collection: "urlMaps", where: computeGlobal, prefix: "map-", count: two,
		body: func(a address) world.Object {
			if a.i == 1 {
				return world.Obj("defaultUrlRedirect", world.Obj("httpsRedirect", true, "redirectResponseCode", "MOVED_PERMANENTLY_DEFAULT", "stripQuery", false))
			}
			return world.Obj("defaultService", a.ref(backendType, 0), "hostRules", world.Items(world.Obj("hosts", world.Items("static.example.com"), "pathMatcher", "static")),
				"pathMatchers", world.Items(world.Obj("name", "static", "defaultService", a.ref(backendBucketType, 0))))
		},
	},
	{
		typ: sslPolicyType, service: "compute", collection: "sslPolicies", where: computeGlobal, prefix: "tls-", count: two,
		body: func(a address) world.Object {
			return world.Obj("minTlsVersion", []string{"TLS_1_2", "TLS_1_0"}[a.i], "profile", []string{"MODERN", "COMPATIBLE"}[a.i], "enabledFeatures", world.Items("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"))
		},
	},
	{
		typ: certificateType, service: "compute", collection: "sslCertificates", where: computeGlobal, prefix: "cert-", count: two,
		body: func(a address) world.Object {
			expired := []int{-200, 100}[a.i] // days ago: the first certificate expires in 200 days
			o := world.Obj("type", "SELF_MANAGED", "expireTime", a.ago(expired), "subjectAlternativeNames", world.Items("www.example.com"))
			if a.i == 0 {
				return o.With("type", "MANAGED").With("managed", world.Obj("status", "ACTIVE", "domains", world.Items("www.example.com")))
			}
			return o
		},
	},
	{
		typ: backendType, service: "compute", collection: "backendServices", where: computeMixed, prefix: "backend-", count: two,
		body: func(a address) world.Object {
			o := world.Obj("protocol", "HTTPS", "timeoutSec", 30, "healthChecks", world.Items(a.ref(healthType, 0)), "backends", world.Items(world.Obj("group", a.ref(groupType, a.i))))
			if a.i == 1 {
				return append(o, world.Obj("loadBalancingScheme", "INTERNAL", "network", a.ref(networkType, 0))...)
			}
			return append(o, world.Obj("loadBalancingScheme", "EXTERNAL_MANAGED", "logConfig", world.Obj("enable", true, "sampleRate", 1.0), "iap", world.Obj("enabled", true), "securityPolicy", a.ref(securityPolicyType, 0))...)
		},
	},
	{
		typ: backendBucketType, service: "compute", collection: "backendBuckets", where: computeGlobal, prefix: "static-", count: one,
		body: func(a address) world.Object {
			return world.Obj("bucketName", a.peer(bucketType, 0).name(), "enableCdn", true, "edgeSecurityPolicy", a.ref(securityPolicyType, 0))
		},
	},
	{
		typ: healthType, service: "compute", collection: "healthChecks", where: computeGlobal, prefix: "health-", count: one,
		body: func(a address) world.Object {
			return world.Obj("type", "HTTPS", "checkIntervalSec", 10, "httpsHealthCheck", world.Obj("port", 443, "requestPath", "/"), "logConfig", world.Obj("enable", true))
		},
	},
	{
		typ: securityPolicyType, service: "compute", collection: "securityPolicies", where: computeGlobal, prefix: "armor-", count: one,
		body: func(a address) world.Object {
			return world.Obj("type", "CLOUD_ARMOR", "rules", world.Items(world.Obj("priority", 2147483647, "action", "allow", "match", world.Obj("versionedExpr", "SRC_IPS_V1", "config", world.Obj("srcIpRanges", world.Items("*"))))),
				"adaptiveProtectionConfig", world.Obj("layer7DdosDefenseConfig", world.Obj("enable", true)))
		},
	},
}
