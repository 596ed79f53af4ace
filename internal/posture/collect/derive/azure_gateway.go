package derive

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// azureGatewayTLS adds whether a listener of an application gateway accepts TLS before 1.2. The
// SSL profile of a listener replaces the SSL policy of the gateway. A gateway without a listener
// for HTTPS or TLS has no such property.
var azureGatewayTLS = resource.Function{
	Properties: []resource.Property{{
		Name: "acceptsOldTls", Kind: resource.Flag,
		Doc: "One of its listeners accepts TLS 1.0 or 1.1, by the SSL policy of its SSL profile or of the gateway; absent without a listener for HTTPS or TLS.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		encrypted, old := false, false
		for _, path := range []string{"httpListeners.#.properties", "listeners.#.properties"} {
			for _, listener := range in.Value.Get(path).Array() {
				if protocol := listener.Get("protocol").String(); !strings.EqualFold(protocol, "Https") && !strings.EqualFold(protocol, "Tls") {
					continue
				}
				encrypted = true
				old = old || azureAcceptsOldTLS(azureListenerPolicy(in.Value, listener), in.Value.Get("defaultPredefinedSslPolicy").String())
			}
		}
		if encrypted {
			b.Flag("acceptsOldTls", old)
		}
		return nil
	},
}

// azureListenerPolicy returns the SSL policy of a listener.
func azureListenerPolicy(gateway, listener gjson.Result) gjson.Result {
	if id := listener.Get("sslProfile.id").String(); id != "" {
		for _, profile := range gateway.Get("sslProfiles").Array() {
			if policy := profile.Get("properties.sslPolicy"); policy.IsObject() && strings.EqualFold(profile.Get("id").String(), id) {
				return policy
			}
		}
	}
	return gateway.Get("sslPolicy")
}

// azureOldPolicies are the predefined SSL policies with TLS 1.0 or 1.1.
var azureOldPolicies = []string{"appgwsslpolicy20150501", "appgwsslpolicy20170401"}

// azureAcceptsOldTLS reports whether an SSL policy accepts TLS before 1.2. A custom policy names
// the lowest version, or in its oldest form the disabled ones. A predefined policy implies it.
func azureAcceptsOldTLS(policy gjson.Result, defaultPolicy string) bool {
	if lowest := policy.Get("minProtocolVersion").String(); lowest != "" {
		return strings.EqualFold(lowest, "TLSv1_0") || strings.EqualFold(lowest, "TLSv1_1")
	}
	name := policy.Get("policyName").String()
	if disabled := texts(policy.Get("disabledSslProtocols")); name == "" && len(disabled) > 0 {
		return !slices.Contains(disabled, "TLSv1_0") || !slices.Contains(disabled, "TLSv1_1")
	}
	if name == "" {
		name = defaultPolicy
	}
	return slices.Contains(azureOldPolicies, strings.ToLower(name))
}
