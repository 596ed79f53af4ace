package aws

import (
	"net/url"

	"vigil/internal/sim/world"
)

func unescape(text string) string {
	unescaped, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return unescaped
}

var networkChecks = []ruleCheck{
	checkOf("aws-ec2-sg-ssh-open", ofSecurityGroup, func(_ *inventory, o world.Object) bool { return opensToInternet(o, 22) }),
	checkOf("aws-ec2-sg-rdp-open", ofSecurityGroup, func(_ *inventory, o world.Object) bool { return opensToInternet(o, 3389) }),
	checkOf("aws-ec2-sg-db-ports-open", ofSecurityGroup, func(_ *inventory, o world.Object) bool {
		return opensToInternet(o, 1433, 1521, 3306, 5432, 6379, 9200, 11211, 27017)
	}),
	checkOf("aws-ec2-sg-all-open", ofSecurityGroup, func(_ *inventory, o world.Object) bool {
		for _, rule := range o.Objects("ipPermissions") {
			allPorts := rule.Text("ipProtocol") == "-1" || rule.Get("fromPort") != nil && rule.Number("fromPort") <= 0 && rule.Number("toPort") >= 65535
			if allPorts && isFromInternet(rule) {
				return true
			}
		}
		return false
	}),
	checkOf("aws-ec2-default-sg-open", ofSecurityGroup, func(_ *inventory, o world.Object) bool {
		return o.Text("groupName") == "default" && len(o.List("ipPermissions"))+len(o.List("ipPermissionsEgress")) > 0
	}),
	checkOf("aws-ec2-nacl-admin-open", func(e *inventory) *world.Kind { return e.networkACLs }, func(_ *inventory, o world.Object) bool {
		return !o.Flag("default") && (allowsPort(o, 22) || allowsPort(o, 3389))
	}),
	checkOf("aws-ec2-ebs-encrypted", func(e *inventory) *world.Kind { return e.volumes }, func(_ *inventory, o world.Object) bool { return !o.Flag("encrypted") }),
	checkOf("aws-ec2-snapshot-public", func(e *inventory) *world.Kind { return e.snapshots }, func(_ *inventory, o world.Object) bool { return o.Flag("_public") }),
	checkOf("aws-ec2-ami-public", func(e *inventory) *world.Kind { return e.images }, func(_ *inventory, o world.Object) bool { return o.Flag("isPublic") }),
	checkOf("aws-ec2-imdsv2", ofInstance, func(_ *inventory, o world.Object) bool {
		return o.Text("metadataOptions", "httpTokens") != "required" && o.Text("metadataOptions", "httpEndpoint") == "enabled"
	}),
	checkOf("aws-ec2-instance-public-ip", ofInstance, func(_ *inventory, o world.Object) bool {
		return o.Text("ipAddress") != "" && o.Text("instanceState", "name") == "running"
	}),
	{rule: "aws-ec2-exposed-admin-instance", kind: ofInstance, isViolated: func(e *inventory, p world.Place, _ string, o world.Object) bool {
		return o.Text("ipAddress") != "" && e.isExposed(p, o) && e.isPowerful(p, o.Text("iamInstanceProfile", "arn"))
	}},
	{rule: "aws-vpc-flow-logs", kind: func(e *inventory) *world.Kind { return e.vpcs }, isViolated: func(e *inventory, p world.Place, name string, _ world.Object) bool {
		recorded := false
		e.List(e.flowLogs, p, 0, -1, func(_ string, o world.Object) bool {
			recorded = recorded || o.Text("resourceId") == name && o.Text("deliverLogsStatus") == "SUCCESS"
			return true
		})
		return !recorded
	}},
}

// isFromInternet reports whether a rule applies to all addresses.
func isFromInternet(rule world.Object) bool {
	for _, r := range rule.Objects("ipRanges") {
		if r.Text("cidrIp") == "0.0.0.0/0" {
			return true
		}
	}
	for _, r := range rule.Objects("ipv6Ranges") {
		if r.Text("cidrIpv6") == "::/0" {
			return true
		}
	}
	return false
}

// opensToInternet reports whether a security group allows the internet to connect to one
// of the TCP ports.
func opensToInternet(o world.Object, ports ...int64) bool {
	for _, rule := range o.Objects("ipPermissions") {
		if !isFromInternet(rule) {
			continue
		}
		protocol := rule.Text("ipProtocol")
		if protocol == "-1" {
			return true
		}
		for _, port := range ports {
			if protocol == "tcp" && rule.Number("fromPort") <= port && port <= rule.Number("toPort") {
				return true
			}
		}
	}
	return false
}

// allowsPort reports whether a network ACL allows the internet to connect to a TCP
// port: the rule with the lowest number decides.
func allowsPort(o world.Object, port int64) bool {
	var decides world.Object
	for _, rule := range o.Objects("entrySet") {
		protocol := rule.Text("protocol")
		if rule.Flag("egress") || rule.Text("cidrBlock") != "0.0.0.0/0" || protocol != "-1" && protocol != "6" {
			continue
		}
		if rule.Get("portRange") != nil && (port < rule.Number("portRange", "from") || port > rule.Number("portRange", "to")) {
			continue
		}
		if decides == nil || rule.Number("ruleNumber") < decides.Number("ruleNumber") {
			decides = rule
		}
	}
	return decides.Text("ruleAction") == "allow"
}

// isExposed reports whether a security group of an instance allows the internet
// to connect to a port over IPv4, which is the only version of the instances'
// addresses. ICMP does not count.
func (e *inventory) isExposed(p world.Place, instance world.Object) bool {
	for _, g := range instance.Objects("groupSet") {
		group, _ := e.Get(e.securityGroups, p, g.Text("groupId"))
		for _, rule := range group.Objects("ipPermissions") {
			protocol := rule.Text("ipProtocol")
			if isFromInternet(rule.With("ipv6Ranges", nil)) && (protocol == "tcp" || protocol == "udp" || protocol == "-1") {
				return true
			}
		}
	}
	return false
}

// isLimited reports whether a permissions boundary limits a role: one that allows
// everything does not.
func (e *inventory) isLimited(p world.Place, role world.Object) bool {
	arn := role.Text("PermissionsBoundary", "PermissionsBoundaryArn")
	if arn == "" {
		return false
	}
	for i := range e.policies.Count(p) {
		if e.policyARN(p, i) == arn {
			boundary, ok := e.Get(e.policies, p, e.policies.Name(p, i))
			return !ok || !isAdminPolicy(boundary)
		}
	}
	return true
}

// isPowerful reports whether the role of an instance profile may do everything.
func (e *inventory) isPowerful(p world.Place, profile string) bool {
	g := everywhere(p)
	o, ok := e.Get(e.profiles, g, afterSlash(profile))
	if !ok {
		return false
	}
	for _, r := range o.Objects("Roles") {
		role, _ := e.Get(e.roles, g, r.Text("RoleName"))
		if e.isLimited(g, role) {
			continue
		}
		for _, inline := range role.Objects("RolePolicyList") {
			if allowsEverything(unescape(inline.Text("PolicyDocument"))) {
				return true
			}
		}
		for _, attached := range role.Objects("AttachedManagedPolicies") {
			// Get does not find AWS's policies, whose names begin with aws/ here. They do not allow everything.
			if policy, ok := e.Get(e.policies, g, attached.Text("PolicyName")); ok && isAdminPolicy(policy) {
				return true
			}
		}
	}
	return false
}
