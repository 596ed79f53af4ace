package derive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/gcp"
	"vigil/internal/posture/resource"
)

// gcpEffectiveFirewalls is the call that returns the firewall rules of a network together with
// the firewall policies of the network, its folders and its organisation. It needs a permission
// on the network only.
var gcpEffectiveFirewalls = gcpRequest("compute/v1/${network}/getEffectiveFirewalls", "{}", "compute.networks.getEffectiveFirewalls")

// gcpRegionalFirewalls is the call that returns the same for a region of a network, with the
// firewall policies of the region.
var gcpRegionalFirewalls = gcpRequest("compute/v1/${project}/regions/${region}/firewallPolicies/getEffectiveFirewalls", "network: ${url}", "compute.networks.getRegionEffectiveFirewalls")

// gcpFirewallsOf returns the rules and policies that apply to traffic into a region of a network
// or, without a region, those that apply to all regions. It reads them once per network and
// region. When they cannot be read, refused is the error, and n.Unread its text, which makes
// undecided answers about the network unknown.
func gcpFirewallsOf(in resource.FunctionInput, network, region string) (n gcp.Network, refused, err error) {
	type outcome struct {
		network gcp.Network
		refused error
	}
	_, path, _ := strings.Cut(network, "/projects/")
	path = "projects/" + path
	project, _, _ := strings.Cut(path, "/global/") // of the network, which can be shared by another project
	call, what := gcpEffectiveFirewalls, "the effective firewalls of "+path
	if region != "" {
		call, what = gcpRegionalFirewalls, what+" in "+region
	}
	read, err := in.Caller.Once(what, func() (any, error) {
		answers, err := in.Caller.Call(in.Ctx, call, new(gcpItem(map[string]any{"network": path, "project": project, "region": region, "url": network})))
		if err != nil {
			if collect.IsFatal(err) {
				return nil, err
			}
			err = gcpUnread(what, err)
			return outcome{gcp.Network{Unread: err.Error()}, err}, nil
		}
		n := gcpNetworkOf(path, answers)
		if len(n.Policy) == 0 {
			return outcome{n, nil}, nil
		}
		// A setting of the network decides whether its firewall policy is evaluated before
		// or after the rules.
		networks, err := in.Caller.Items(in.Ctx, gcpNetwork)
		if err != nil && collect.IsFatal(err) {
			return nil, err
		}
		i := slices.IndexFunc(networks, func(item resource.Item) bool { return strings.HasSuffix(item.Get("selfLink").String(), "/"+path) })
		if i < 0 {
			err = gcpUnread("the firewall policy enforcement order of "+path, cmp.Or(err, collect.ErrGone))
			n.Unread = err.Error()
			return outcome{n, err}, nil
		}
		n.Before = networks[i].Get("networkFirewallPolicyEnforcementOrder").String() == "BEFORE_CLASSIC_FIREWALL"
		return outcome{n, nil}, nil
	})
	if err != nil {
		return gcp.Network{}, nil, err
	}
	o := read.(outcome)
	return o.network, o.refused, nil
}

// gcpNetworkOf returns a network with its effective firewalls, in order of evaluation.
func gcpNetworkOf(path string, answers []gjson.Result) gcp.Network {
	n := gcp.Network{Self: path}
	var system, regional []gjson.Result
	for _, answer := range answers {
		n.Rules = append(n.Rules, answer.Get("firewalls").Array()...)
		for _, policy := range answer.Get("firewallPolicys").Array() {
			switch policy.Get("type").String() {
			case "HIERARCHY":
				n.Hierarchy = append(n.Hierarchy, policy)
			case "SYSTEM", "SYSTEM_GLOBAL", "SYSTEM_REGIONAL": // of services such as GKE
				system = append(system, policy)
			case "NETWORK_REGIONAL":
				regional = append(regional, policy)
			default:
				n.Policy = append(n.Policy, policy)
			}
		}
	}
	n.Hierarchy, n.Policy = append(n.Hierarchy, system...), append(n.Policy, regional...)
	return n
}

// gcpFirewallOpens adds what a firewall rule opens to the internet after everything with
// precedence is applied: rules with a lower priority number, and policies of the network, its
// folders and its organisation.
var gcpFirewallOpens = resource.Function{
	Properties: []resource.Property{
		{Name: "openToInternet", Kind: resource.Flag, Doc: "The internet at large reaches a port by it, with earlier rules and firewall policies applied.", Exposed: "is open to the internet"},
		{Name: "opensSsh", Kind: resource.Flag, Doc: "The internet at large reaches TCP port 22 by it, with earlier rules and firewall policies applied."},
		{Name: "opensRdp", Kind: resource.Flag, Doc: "The internet at large reaches TCP port 3389 by it, with earlier rules and firewall policies applied."},
		{Name: "opensAllPorts", Kind: resource.Flag, Doc: "The internet at large reaches all ports of TCP or UDP by it, with earlier rules and firewall policies applied."},
	},
	Reads:       []posture.EntityType{gcpNetwork},
	Permissions: []string{gcpEffectiveFirewalls.Permission},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		name := in.Value.Get("name").String()
		alone := gcp.Network{Rules: []gjson.Result{in.Value}}
		questions := map[string]func(gcp.Network) predicate.Answer{
			"openToInternet": func(n gcp.Network) predicate.Answer { return gcp.OpensAny(n, name) },
			"opensSsh":       func(n gcp.Network) predicate.Answer { return gcp.Opens(n, name, "tcp", 22) },
			"opensRdp":       func(n gcp.Network) predicate.Answer { return gcp.Opens(n, name, "tcp", 3389) },
			"opensAllPorts":  func(n gcp.Network) predicate.Answer { return gcp.OpensAll(n, name) },
		}
		for _, property := range []string{"openToInternet", "opensSsh", "opensRdp", "opensAllPorts"} {
			// A rule that does not open a port by itself does not open it with the others.
			answer := questions[property](alone)
			var refused error
			if answer.Truth != predicate.No {
				network, refusedErr, err := gcpFirewallsOf(in, in.Value.Get("network").String(), "")
				if err != nil {
					return err
				}
				refused = refusedErr
				// The rule is missing if the rules of the network could not be read.
				if !slices.ContainsFunc(network.Rules, func(r gjson.Result) bool { return r.Get("name").String() == name }) {
					network.Rules = append(slices.Clone(network.Rules), in.Value) // a copy: other firewall rules use the network too
				}
				answer = questions[property](network)
			}
			putAnswerOrRefusal(b, property, answer, refused)
		}
		return nil
	},
}

// gcpInternetReachable adds whether an instance is reachable from the internet at its own
// public address.
var gcpInternetReachable = resource.Function{
	Properties:  []resource.Property{{Name: "internetReachable", Kind: resource.Flag, Doc: "The internet at large reaches a port at its public address: firewall rules for it, its tags and service accounts, and firewall policies of network, region, folders and organisation let it in."}},
	Reads:       []posture.EntityType{gcpNetwork},
	Permissions: []string{gcpRegionalFirewalls.Permission},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		answer := predicate.Of(false, "")
		var refused error
		_, zone, _ := strings.Cut(in.Value.Get("selfLink").String(), "/zones/")
		zone, _, _ = strings.Cut(zone, "/")
		region := zone[:max(0, strings.LastIndex(zone, "-"))] // us-central1 of us-central1-a
		for _, nic := range in.Value.Get("networkInterfaces").Array() {
			addresses := slices.Concat(texts(nic.Get("accessConfigs.#.natIP")), texts(nic.Get("accessConfigs.#.externalIpv6")), texts(nic.Get("ipv6AccessConfigs.#.externalIpv6")))
			if len(addresses) == 0 {
				continue
			}
			network, unread, err := gcpFirewallsOf(in, nic.Get("network").String(), region)
			if err != nil {
				return err
			}
			refused = cmp.Or(refused, unread)
			network = network.OnMachine(gcp.Machine{Tags: texts(in.Value.Get("tags.items")), Accounts: texts(in.Value.Get("serviceAccounts.#.email")), Addresses: addresses})
			answer = predicate.Or(answer, gcp.ReachesAny(network))
		}
		putAnswerOrRefusal(b, "internetReachable", answer, refused)
		return nil
	},
}
