package azure

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/ipset"
)

// publicNetwork decides whether the public endpoint of a resource is enabled, which is the default.
func publicNetwork(properties gjson.Result) predicate.Answer {
	switch setting := properties.Get("publicNetworkAccess").String(); strings.ToLower(setting) {
	case "", "enabled":
		return predicate.Of(true, "")
	case "disabled":
		return predicate.Of(false, "")
	case "securedbyperimeter":
		return predicate.NotKnown("access is controlled by a network security perimeter, which is not read")
	default:
		return predicate.NotKnown(fmt.Sprintf("publicNetworkAccess is %q", setting))
	}
}

// OpenToNetworks decides whether a resource with network rules (storage
// accounts, key vaults, registries, Batch accounts and cognitive services) is reachable
// from the whole internet: its public endpoint is enabled, and its rules either
// allow by default or allow ranges that are the internet. It does not consider
// authentication. properties are those of the resource.
func OpenToNetworks(properties gjson.Result) predicate.Answer {
	rules := properties.Get("networkAcls")
	for _, name := range []string{"networkRuleSet", "networkProfile.accountAccess"} {
		if !rules.Exists() {
			rules = properties.Get(name)
		}
	}
	return predicate.And(publicNetwork(properties), admitsInternet(rules))
}

// admitsInternet decides whether network rules allow by default or allow ranges that are the
// internet.
func admitsInternet(rules gjson.Result) predicate.Answer {
	switch action := rules.Get("defaultAction").String(); strings.ToLower(action) {
	case "", "allow":
		return predicate.Of(true, "networks are allowed by default")
	case "deny":
	default:
		return predicate.NotKnown(fmt.Sprintf("the default action is %q", action))
	}
	var open ipset.Set
	unclear := ""
	for _, rule := range rules.Get("ipRules").Array() {
		if action := rule.Get("action").String(); action != "" && !strings.EqualFold(action, "Allow") {
			continue
		}
		text := rule.Get("value").String()
		for _, name := range []string{"ipAddressOrRange", "ipAddress"} {
			if text == "" {
				text = rule.Get(name).String()
			}
		}
		set, err := ipset.Parse(text)
		if err != nil {
			unclear = err.Error()
		}
		open = open.Union(set)
	}
	return internet(open, unclear)
}

// internet decides whether a set is the internet when a part of it may be unknown.
func internet(open ipset.Set, unclear string) predicate.Answer {
	switch {
	case open.IsInternet():
		return predicate.Of(true, "its rules let in the internet")
	case unclear != "":
		return predicate.NotKnown(unclear)
	}
	return predicate.Of(false, "")
}

// OpenRules decides whether the union of the firewall rules of a database server is the
// internet. rules is the list of firewallRules or ipv6FirewallRules; it does not exist when it
// could not be read. The rule from 0.0.0.0 to 0.0.0.0 allows services in Azure, not the internet.
func OpenRules(rules gjson.Result) predicate.Answer {
	if !rules.IsArray() {
		return predicate.NotKnown("the firewall rules could not be read")
	}
	var open ipset.Set
	unclear := ""
	for _, r := range rules.Array() {
		// A rule has either the IPv4 or the IPv6 members. Range rejects the invalid addresses of a failed ParseAddr.
		from, _ := netip.ParseAddr(r.Get("properties.startIpAddress").String() + r.Get("properties.startIPv6Address").String())
		to, _ := netip.ParseAddr(r.Get("properties.endIpAddress").String() + r.Get("properties.endIPv6Address").String())
		set, err := ipset.Range(from, to)
		if err != nil {
			unclear = fmt.Sprintf("firewall rule %s: %s", r.Get("name"), err)
		}
		open = open.Union(set)
	}
	return internet(open, unclear)
}

// OpenCosmos decides whether a Cosmos DB account is reachable from the whole
// internet: without ranges and virtual networks, everybody is allowed.
func OpenCosmos(properties gjson.Result) predicate.Answer {
	var open ipset.Set
	unclear := ""
	ranges := properties.Get("ipRules").Array()
	for _, r := range ranges {
		set, err := ipset.Parse(r.Get("ipAddressOrRange").String())
		if err != nil {
			unclear = err.Error()
		}
		open = open.Union(set)
	}
	admits := internet(open, unclear)
	if len(ranges) == 0 {
		admits = predicate.Of(!properties.Get("isVirtualNetworkFilterEnabled").Bool(), "no network is named, so all are let in")
	}
	return predicate.And(publicNetwork(properties), admits)
}

// OpenUnlessLimited decides whether a resource that admits everybody as long as it lists no
// ranges (Event Grid, Data Explorer) is reachable from the whole internet.
func OpenUnlessLimited(properties gjson.Result) predicate.Answer {
	ranges := append(texts(properties.Get("allowedIpRangeList")), texts(properties.Get("inboundIpRules.#.ipMask"))...)
	admits := predicate.Of(true, "no range is listed, so all are let in")
	if len(ranges) > 0 {
		admits = ipset.Admits(ranges)
	}
	return predicate.And(publicNetwork(properties), admits)
}
