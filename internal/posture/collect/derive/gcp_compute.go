package derive

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

const (
	gcpFirewall       posture.EntityType = "GCP.Compute.Firewall"
	gcpCIDRRange      posture.EntityType = "GCP.Compute.CidrRange"
	gcpInstance       posture.EntityType = "GCP.Compute.Instance"
	gcpAddress        posture.EntityType = "GCP.Compute.Address"
	gcpForwardingRule posture.EntityType = "GCP.Compute.ForwardingRule"
	gcpNetwork        posture.EntityType = "GCP.Compute.Network"
)

// gcpShownMetadata are the metadata keys whose values are settings. Other values may be scripts
// or secrets, so only their keys are kept.
var gcpShownMetadata = []string{
	"block-project-ssh-keys", "disable-legacy-endpoints", "enable-guest-attributes", "enable-os-inventory", "enable-osconfig", "enable-oslogin",
	"enable-oslogin-2fa", "google-logging-enabled", "google-monitoring-enabled", "serial-port-enable", "serial-port-logging-enable", "vmdnssetting",
	"windows-keys-enabled",
}

// gcpMetadata returns a function that adds metadata as the named property, and the settings in
// it as further properties. settings has the metadata keys by property. A setting whose property
// is optional is omitted when the metadata lack it.
func gcpMetadata(name string, settings map[string]string, docs map[string]string, optional ...string) resource.Function {
	f := resource.Function{Properties: []resource.Property{{Name: name, Kind: resource.Texts, Doc: "Metadata: settings as key=value, of everything else the key alone."}}}
	for property := range settings {
		f.Properties = append(f.Properties, resource.Property{Name: property, Kind: resource.Flag, Doc: docs[property]})
	}
	slices.SortFunc(f.Properties, func(a, b resource.Property) int { return strings.Compare(a.Name, b.Name) })
	f.Apply = func(in resource.FunctionInput, b *resource.Builder) error {
		var all []string
		values := map[string]string{}
		for _, item := range in.Value.Get("items").Array() {
			key, value := item.Get("key").String(), item.Get("value")
			if value.Exists() && slices.Contains(gcpShownMetadata, strings.ToLower(key)) {
				all = append(all, key+"="+value.String())
			} else {
				all = append(all, key)
			}
			if _, exists := values[strings.ToLower(key)]; !exists { // of keys that differ only in case, the first one counts
				values[strings.ToLower(key)] = strings.ToLower(value.String())
			}
		}
		b.Set(name, all)
		for property, key := range settings {
			value, exists := values[key]
			if exists || !slices.Contains(optional, property) {
				b.Flag(property, slices.Contains([]string{"true", "1", "y", "yes"}, value))
			}
		}
		return nil
	}
	f.Absent = func(b *resource.Builder) {
		for property := range settings {
			if !slices.Contains(optional, property) {
				b.Flag(property, false)
			}
		}
	}
	return f
}

var (
	gcpInstanceMetadata = gcpMetadata("metadata", map[string]string{
		"blockProjectSshKeys": "block-project-ssh-keys", "serialPortEnable": "serial-port-enable", "osLogin": "enable-oslogin",
	}, map[string]string{
		"blockProjectSshKeys": "SSH keys of the project are not accepted.", "serialPortEnable": "Its serial port can be connected to; absent when the project decides.",
		"osLogin": "Users log in with their Google identity (OS Login); absent when the project decides.",
	}, "osLogin", "serialPortEnable")
	gcpTemplateMetadata = gcpMetadata("metadata", nil, nil)
	gcpProjectMetadata  = gcpMetadata("commonInstanceMetadata", map[string]string{
		"osLogin": "enable-oslogin", "serialPortEnable": "serial-port-enable",
	}, map[string]string{
		"osLogin":          "Users log in to instances with their Google identity: enable-oslogin.",
		"serialPortEnable": "The serial port of instances that do not decide themselves can be connected to: serial-port-enable.",
	})
)

// gcpDefaultAccount adds whether one of several service accounts is the default account of
// Compute Engine.
var gcpDefaultAccount = resource.Function{
	Properties: []resource.Property{{Name: "usesDefaultServiceAccount", Kind: resource.Flag, Doc: "It runs as the default service account of Compute Engine."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("usesDefaultServiceAccount", slices.Contains(texts(in.Value), naming.DefaultServiceAccount(in.Vars)))
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("usesDefaultServiceAccount", false) },
}

// gcpGKENode adds whether an instance, or an instance of a template, is a node of a cluster. It
// looks for a label that users cannot set, not at the name: anybody can name an instance gke-something.
var gcpGKENode = resource.Function{
	Properties: []resource.Property{{Name: "gkeNode", Kind: resource.Flag, Doc: "It is a node of a GKE cluster."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("gkeNode", isGKENode(in.Value))
		return nil
	},
}

func isGKENode(v gjson.Result) bool {
	return v.Get("labels.goog-gke-node").Exists() || v.Get("properties.labels.goog-gke-node").Exists()
}

// gcpMetadataSecrets adds the credentials in metadata. In nodes of GKE, it leaves out kube-env: GKE
// itself puts credentials there with which the node joins the cluster, and users cannot remove them.
var gcpMetadataSecrets = resource.Function{
	Properties: secretsInMetadata.Properties,
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		if in.Item != nil && isGKENode(in.Item.Result) {
			in.Value = in.Value.Get(`#(key!="kube-env")#`)
		}
		return secretsInMetadata.Apply(in, b)
	},
}

var secretsInMetadata = secretsInVariables("metadataSecrets", "the values of its metadata")

// gcpNATLogging adds whether logging is enabled on all NAT gateways of a router.
var gcpNATLogging = resource.Function{
	Properties: []resource.Property{{Name: "natLogging", Kind: resource.Flag, Doc: "All of its NAT gateways log; absent when it has none."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		if nats := in.Value.Array(); len(nats) > 0 {
			b.Flag("natLogging", !slices.ContainsFunc(nats, func(nat gjson.Result) bool { return !nat.Get("logConfig.enable").Bool() }))
		}
		return nil
	},
}

// gcpDNSLogging adds whether a DNS policy logs the queries of a network.
var gcpDNSLogging = resource.Function{
	Properties: []resource.Property{{Name: "dnsLogging", Kind: resource.Flag, Doc: "A DNS policy logs its DNS queries."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		id := in.Cloud.Ref(in.Vars, []posture.EntityType{gcpNetwork}, in.Item.Get("selfLink").String())
		logged := false
		for _, policy := range in.Value.Get("policies").Array() {
			for _, network := range texts(policy.Get("networks.#.networkUrl")) {
				logged = logged || policy.Get("enableLogging").Bool() && in.Cloud.Ref(in.Vars, []posture.EntityType{gcpNetwork}, network) == id
			}
		}
		b.Flag("dnsLogging", logged)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("dnsLogging", false) },
}

// gcpIsInternet reports whether an address range is the whole internet.
func gcpIsInternet(cidr string) bool { return cidr == "0.0.0.0/0" || cidr == "::/0" }

// gcpFirewallRule adds what a firewall rule allows and denies. A range of ports is one edge.
var gcpFirewallRule = resource.Function{
	Properties: []resource.Property{
		{Name: "allowed", Kind: resource.Texts, Doc: "What it allows: protocol and ports, such as tcp:22 or all."},
		{Name: "denied", Kind: resource.Texts, Doc: "What it denies: protocol and ports."},
		{Name: "appliesToAll", Kind: resource.Flag, Doc: "It applies to all instances of the network."},
	},
	Edges: []resource.Edge{
		{Label: "ALLOWS_INGRESS", To: resource.EntityTypes{gcpCIDRRange}, Doc: "The sources of traffic that it allows, with protocol (all, or a name or number), fromPort and toPort."},
		{Label: "ALLOWS_EGRESS", To: resource.EntityTypes{gcpCIDRRange}, Doc: "The destinations of traffic that it allows, with protocol, fromPort and toPort."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		v := in.Value
		label, peers := "ALLOWS_INGRESS", texts(v.Get("sourceRanges"))
		b.Flag("appliesToAll", len(v.Get("targetTags").Array()) == 0 && len(v.Get("targetServiceAccounts").Array()) == 0)
		if v.Get("direction").String() == "EGRESS" {
			label, peers = "ALLOWS_EGRESS", texts(v.Get("destinationRanges"))
		}
		var allowed, denied []string
		var edges []posture.Edge
		for _, rule := range v.Get("allowed").Array() {
			allowed = append(allowed, gcpPortText(rule))
			edges = append(edges, gcpPermitted(in, label, peers, rule)...)
		}
		gcpAddEdges(b, edges)
		for _, rule := range v.Get("denied").Array() {
			denied = append(denied, gcpPortText(rule))
		}
		b.Set("allowed", allowed).Set("denied", denied)
		return nil
	},
}

// gcpPortText formats the protocol and ports of a part of a firewall rule: tcp:22,80-90.
func gcpPortText(rule gjson.Result) string {
	protocol := rule.Get("IPProtocol").String()
	if ports := texts(rule.Get("ports")); len(ports) > 0 {
		return protocol + ":" + strings.Join(ports, ",")
	}
	return protocol
}

// gcpPermitted returns an edge for each combination of address range and port range that a rule
// allows.
func gcpPermitted(in resource.FunctionInput, label string, peers []string, rule gjson.Result) (edges []posture.Edge) {
	ports := texts(rule.Get("ports"))
	if len(ports) == 0 {
		ports = []string{"0-65535"}
	}
	protocol := strings.ToLower(rule.Get("IPProtocol").String())
	for _, peer := range peers {
		for _, text := range ports {
			if from, to, ok := gcpPortRange(text); ok {
				edges = append(edges, posture.Edge{Label: label, To: gcpCIDRRange.ID(in.Account, posture.Global, peer), Properties: []posture.Property{
					posture.Text("protocol", protocol), posture.Number("fromPort", from), posture.Number("toPort", to),
				}})
			}
		}
	}
	return edges
}

// gcpPortRange parses 22 or 20-25.
func gcpPortRange(text string) (from, to int64, ok bool) {
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	from, err := strconv.ParseInt(strings.TrimSpace(low), 10, 32)
	if err != nil {
		return 0, 0, false
	}
	to, err = strconv.ParseInt(strings.TrimSpace(high), 10, 32)
	return from, to, err == nil
}

// gcpCIDRRanges lists the address ranges in firewall rules.
var gcpCIDRRanges = resource.ListFunction{
	Reads: []posture.EntityType{gcpFirewall},
	Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) (items []resource.Item, err error) {
		seen := map[string]bool{}
		err = c.Each(ctx, gcpFirewall, func(firewall *resource.Item) error {
			for _, cidr := range append(texts(firewall.Get("sourceRanges")), texts(firewall.Get("destinationRanges"))...) {
				if !seen[cidr] {
					seen[cidr] = true
					items = append(items, gcpItem(map[string]any{"cidr": cidr}))
				}
			}
			return nil
		})
		return items, err
	},
}

// gcpCIDR adds the facts about an address range.
var gcpCIDR = resource.Function{
	Properties: []resource.Property{
		{Name: "anybody", Kind: resource.Flag, Doc: "It is the whole internet.", Exposed: "is the whole internet"},
		{Name: "private", Kind: resource.Flag, Doc: "No address of it is reachable from the internet."},
		{Name: "ipVersion", Kind: resource.Long, Doc: "The IP version: 4 or 6."},
		{Name: "prefixLength", Kind: resource.Long, Doc: "How many bits its addresses share."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("anybody", gcpIsInternet(in.Value.String()))
		prefix, ok := parsePrefix(in.Value.String())
		if !ok {
			return nil
		}
		b.Flag("private", isPrivate(prefix)).Number("ipVersion", ipVersion(prefix.Addr())).Number("prefixLength", int64(prefix.Bits()))
		return nil
	},
}

// gcpPublicIPs lists the public addresses of instances and load balancers, and reserved ones.
var gcpPublicIPs = resource.ListFunction{
	Reads: []posture.EntityType{gcpInstance, gcpForwardingRule, gcpAddress},
	Apply: func(ctx context.Context, c resource.Caller, _ []resource.Item) (items []resource.Item, err error) {
		seen := map[string]bool{}
		add := func(ip string, used bool) {
			if ip != "" && !seen[ip] {
				seen[ip] = true
				items = append(items, gcpItem(map[string]any{"ip": ip, "inUse": used}))
			}
		}
		err = c.Each(ctx, gcpInstance, func(instance *resource.Item) error {
			for _, configs := range []string{"accessConfigs", "ipv6AccessConfigs"} {
				for _, ip := range []string{"natIP", "externalIpv6"} {
					for _, address := range texts(instance.Get("networkInterfaces.#." + configs + ".#." + ip)) {
						add(address, true)
					}
				}
			}
			return nil
		})
		if err != nil {
			return items, err
		}
		err = c.Each(ctx, gcpForwardingRule, func(rule *resource.Item) error {
			if strings.HasPrefix(rule.Get("loadBalancingScheme").String(), "EXTERNAL") {
				add(rule.Get("IPAddress").String(), true)
			}
			return nil
		})
		if err != nil {
			return items, err
		}
		err = c.Each(ctx, gcpAddress, func(address *resource.Item) error {
			if kind := address.Get("addressType").String(); kind == "EXTERNAL" || kind == "" { // EXTERNAL is the default
				add(address.Get("address").String(), address.Get("status").String() == "IN_USE")
			}
			return nil
		})
		return items, err
	},
}
