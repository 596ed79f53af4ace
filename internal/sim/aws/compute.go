package aws

import (
	"encoding/base64"
	"fmt"
	"strings"

	"vigil/internal/sim/world"
)

// compute contains the kinds of virtual machines.
type compute struct {
	instances, keyPairs, launchTemplates *world.Kind
}

func (e *inventory) makeCompute() {
	e.instances = e.hexNamed("AWS.EC2.Instance", "i-0", 16, e.share(150, 6), e.instance)
	e.keyPairs = e.wordNamed("AWS.EC2.KeyPair", "key", constantCount(2), func(p world.Place, i int, name string) world.Object {
		return world.Obj("keyPairId", "key-0"+e.seed(p).With(name).Hex(16), "keyName", name, "keyFingerprint", e.seed(p).With(name).Hex(40),
			"keyType", "ed25519", "createTime", e.ago(500), "tagSet", e.tagSet(p, "key", i))
	})
	e.launchTemplates = e.hexNamed("AWS.EC2.LaunchTemplate", "lt-0", 16, e.share(5, 1), func(p world.Place, i int, id string) world.Object {
		return world.Obj("launchTemplateId", id, "launchTemplateName", fmt.Sprintf("template-%d", i), "createTime", e.ago(120),
			"createdBy", arn("iam", everywhere(p), "root"), "defaultVersionNumber", 1, "latestVersionNumber", 3, "tagSet", e.tagSet(p, "lt", i))
	})
}

// A machine contains the properties of an instance that other resources need.
type machine struct {
	subnet, group, profile int // numbers in their kinds; profile is -1 for none
	running                bool
	privateIP, publicIP    string
}

func (e *inventory) machine(p world.Place, i int) machine {
	s := e.seed(p).With("instance").Nth(i)
	m := machine{subnet: i % e.subnets.Count(p), running: !s.With("stopped").Share(0.1), profile: -1}
	v := e.vpcOf(p, m.subnet)
	m.group = e.ordinaryGroup(p, v, s.With("group").Intn(1<<16))
	m.privateIP = fmt.Sprintf("10.%d.%d.%d", v%256, i>>8&255, i&255)
	if m.running && e.violates("aws-ec2-instance-public-ip", p, i) {
		m.publicIP = instanceIP(e.region(p), i)
	}
	if s.With("profile").Share(0.7) {
		m.profile = s.With("which").Intn(e.profiles.Count(everywhere(p)))
	}
	return m
}

func (e *inventory) instance(p world.Place, i int, id string) world.Object {
	s := e.seed(p).With("instance").Nth(i)
	m := e.machine(p, i)
	state, tokens := world.Obj("code", 16, "name", "running"), "required"
	if !m.running {
		state = world.Obj("code", 80, "name", "stopped")
	}
	if e.violates("aws-ec2-imdsv2", p, i) {
		tokens = "optional"
	}
	o := world.Obj("instanceId", id, "imageId", nth(e.images, p, i), "instanceState", state, "privateDnsName", "ip-"+id+".ec2.internal",
		"keyName", nth(e.keyPairs, p, i), "instanceType", world.PickOne(s.With("type"), "t3.micro", "t3.large", "m6i.xlarge", "c7g.large"),
		"launchTime", e.ago(1+s.With("launch").Intn(400)), "placement", world.Obj("availabilityZone", zone(p, m.subnet), "tenancy", "default"),
		"monitoring", world.Obj("state", world.PickOne(s.With("monitoring"), "enabled", "disabled")),
		"subnetId", e.subnets.Name(p, m.subnet), "vpcId", e.vpcs.Name(p, e.vpcOf(p, m.subnet)), "privateIpAddress", m.privateIP,
		"sourceDestCheck", true, "groupSet", e.groupSet(p, m.group), "architecture", "x86_64", "rootDeviceType", "ebs", "rootDeviceName", "/dev/xvda",
		"blockDeviceMapping", world.Items(world.Obj("deviceName", "/dev/xvda", "ebs", world.Obj("volumeId", e.volumes.Name(p, i), "status", "attached",
			"attachTime", e.ago(1), "deleteOnTermination", true))),
		"networkInterfaceSet", world.Items(world.Obj("networkInterfaceId", e.interfaces.Name(p, i), "status", "in-use")),
		"ebsOptimized", s.With("ebs").Share(0.5),
		"metadataOptions", world.Obj("state", "applied", "httpTokens", tokens, "httpPutResponseHopLimit", 1+s.With("hops").Intn(2), "httpEndpoint", "enabled"),
		"tagSet", e.tagSet(p, "vm", i))
	if s.With("windows").Share(0.2) {
		o = append(o, world.Obj("platform", "windows")...)
	}
	if script := s.With("user data"); script.Share(0.1) {
		text := "#!/bin/bash\nyum -y install httpd\n"
		if script.Nth(1).Share(0.2) {
			text += "export DB_PASSWORD=simulated-Passw0rd\n"
		}
		o = append(o, world.Obj("_userData", base64.StdEncoding.EncodeToString([]byte(text)))...)
	}
	if m.publicIP != "" {
		o = append(o, world.Obj("ipAddress", m.publicIP, "dnsName", "ec2-"+m.publicIP+".compute.amazonaws.com")...)
	}
	if m.profile >= 0 {
		g := everywhere(p)
		o = append(o, world.Obj("iamInstanceProfile", world.Obj("arn", arn("iam", g, "instance-profile/"+e.profiles.Name(g, m.profile)), "id", "AIPA"+e.seed(g).Hex(16)))...)
	}
	return o
}

// groupSet returns a list with a reference to one security group, as descriptions of
// instances and network interfaces contain it.
func (e *inventory) groupSet(p world.Place, group int) []any {
	return world.Items(world.Obj("groupId", e.securityGroups.Name(p, group), "groupName", e.groupName(p, group)))
}

// groupName returns a security group's name. The first groups of a place are
// the default groups of its VPCs.
func (e *inventory) groupName(p world.Place, i int) string {
	if i < e.vpcs.Count(p) {
		return "default"
	}
	return fmt.Sprintf("group-%d", i)
}

// ordinaryGroup returns the number of a non-default group of a VPC; which selects one of them,
// modulo their number. With n VPCs, group i is in VPC i%n, and the first n groups are the default
// ones.
func (e *inventory) ordinaryGroup(p world.Place, vpc, which int) int {
	n := e.vpcs.Count(p)
	perVPC := e.securityGroups.Count(p)/n - 1
	return n*(1+which%perVPC) + vpc%n
}

func (e *inventory) securityGroup(p world.Place, i int, id string) world.Object {
	n := e.vpcs.Count(p)
	var in, out []any
	if i < n { // a default group
		if e.violates("aws-ec2-default-sg-open", p, i) {
			in = append(in, world.Obj("ipProtocol", "-1", "groups", world.Items(world.Obj("groupId", id, "userId", p.Account))))
			out = append(out, permit("-1", 0, 0, "0.0.0.0/0"))
		}
	} else {
		in, out = e.groupRules(p, i), world.Items(permit("-1", 0, 0, "0.0.0.0/0"))
	}
	return world.Obj("groupId", id, "groupName", e.groupName(p, i), "groupDescription", "group of "+e.groupName(p, i), "ownerId", p.Account,
		"vpcId", e.vpcs.Name(p, i%n), "ipPermissions", in, "ipPermissionsEgress", out, "tagSet", e.tagSet(p, "sg", i))
}

func (e *inventory) groupRules(p world.Place, i int) []any {
	in := world.Items(permit("tcp", 443, 443, "10.0.0.0/8", "fd00::/8"))
	for _, flaw := range []struct {
		rule     string
		protocol string
		port     int
	}{
		{"aws-ec2-sg-ssh-open", "tcp", 22}, {"aws-ec2-sg-rdp-open", "tcp", 3389}, {"aws-ec2-sg-db-ports-open", "tcp", 5432}, {"aws-ec2-sg-all-open", "-1", 0},
	} {
		if e.violates(flaw.rule, p, i) {
			in = append(in, permit(flaw.protocol, flaw.port, flaw.port, world.PickOne(e.seed(p).With(flaw.rule).Nth(i).With("from"), "0.0.0.0/0", "::/0")))
		}
	}
	if i%3 == 0 { // some allow another group
		in = append(in, world.Obj("ipProtocol", "tcp", "fromPort", 8080, "toPort", 8090,
			"groups", world.Items(world.Obj("groupId", e.securityGroups.Name(p, i%e.vpcs.Count(p)), "userId", p.Account))))
	}
	return in
}

// permit returns a rule of a security group.
func permit(protocol string, from, to int, cidrs ...string) world.Object {
	o := world.Obj("ipProtocol", protocol)
	if protocol != "-1" {
		o = append(o, world.Obj("fromPort", from, "toPort", to)...)
	}
	var v4, v6 []any
	for _, c := range cidrs {
		if strings.Contains(c, ":") {
			v6 = append(v6, world.Obj("cidrIpv6", c))
		} else {
			v4 = append(v4, world.Obj("cidrIp", c))
		}
	}
	return append(o, world.Obj("ipRanges", v4, "ipv6Ranges", v6)...)
}
