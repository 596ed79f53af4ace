package accountgen

import "fmt"

var (
	instanceTypes = []string{"t3.micro", "t3.small", "m5.large", "m5.xlarge", "c5.2xlarge", "r5.large", "g4dn.xlarge"}
	states        = []string{"running", "running", "running", "stopped", "terminated"}
	runtimes      = []string{"python3.12", "python3.6", "python2.7", "nodejs20.x", "nodejs12.x", "go1.x", "java17"}
	engines       = []string{"postgres", "mysql", "aurora-postgresql", "mariadb"}
	ports         = []int{22, 80, 443, 3306, 3389, 5432, 6379, 8080}
)

func (m *generator) account(r *resource) {
	r.set("name", "main")
	r.set("number", Account)
	r.set("rootMfa", true)
}

func (m *generator) vpc(r *resource) {
	r.set("cidr", fmt.Sprintf("10.%d.0.0/16", r.i%256))
	r.set("isDefault", m.chance(10))
	r.set("flowLogs", m.chance(60))
}

func (m *generator) subnet(r *resource) {
	r.set("cidr", fmt.Sprintf("10.%d.%d.0/24", r.i/256%256, r.i%256))
	r.set("mapPublicIp", m.chance(30))
	r.set("zone", m.pick(regions)+string(rune('a'+m.r.IntN(3))))
	r.set("freeAddresses", m.r.IntN(250))
	m.link(r, "vpc", "AWS.EC2.VPC")
}

func (m *generator) securityGroup(r *resource) {
	if m.chance(5) {
		r.set("name", "default")
	}
	r.set("description", "managed by "+m.pick(teams))
	m.link(r, "vpc", "AWS.EC2.VPC")
	for range m.r.IntN(5) {
		m.link(r, "rule", "AWS.EC2.SecurityGroupRule")
	}
}

func (m *generator) rule(r *resource) {
	r.set("direction", []string{"ingress", "ingress", "egress"}[m.r.IntN(3)])
	r.set("protocol", []string{"tcp", "tcp", "tcp", "udp", "-1"}[m.r.IntN(5)])
	from := ports[m.r.IntN(len(ports))]
	to := from
	if m.chance(10) {
		from, to = 0, 65535
	}
	r.set("fromPort", from)
	r.set("toPort", to)
	switch {
	case m.chance(12):
		r.set("cidr", "0.0.0.0/0")
	case m.chance(60):
		r.set("cidr", fmt.Sprintf("10.%d.0.0/16", m.r.IntN(256)))
	default:
		m.link(r, "peer", "AWS.EC2.SecurityGroup")
	}
}

func (m *generator) key(r *resource) {
	r.set("rotation", m.chance(70))
	r.set("enabled", m.chance(95))
	r.set("manager", []string{"AWS", "CUSTOMER"}[m.r.IntN(2)])
	r.set("spec", "SYMMETRIC_DEFAULT")
}

func (m *generator) policy(r *resource) {
	admin := m.chance(3)
	if admin {
		r.set("name", "AdministratorAccess")
	}
	r.set("admin", admin)
	r.set("managed", m.chance(40))
	r.set("versions", 1+m.r.IntN(5))
	r.set("statements", 1+m.r.IntN(12))
	for range m.r.IntN(3) {
		m.link(r, "grants", "AWS.S3.Bucket")
	}
	if m.chance(20) {
		m.link(r, "grants", "AWS.KMS.Key")
	}
}

func (m *generator) role(r *resource) {
	if m.chance(40) {
		r.set("name", fmt.Sprintf("svc-%s-%d", m.pick(teams), r.i))
	}
	r.set("external", m.chance(8))
	r.set("lastUsedDays", m.r.IntN(400))
	r.set("maxSession", 3600)
	for range 1 + m.r.IntN(3) {
		m.link(r, "policy", "AWS.IAM.Policy")
	}
	if m.chance(35) {
		m.link(r, "trusts", "AWS.IAM.Role")
	}
}

func (m *generator) user(r *resource) {
	r.set("mfa", m.chance(80))
	r.set("consoleAccess", m.chance(60))
	r.set("keyAgeDays", m.r.IntN(365))
	r.set("keys", m.r.IntN(3))
	if m.chance(20) {
		m.link(r, "policy", "AWS.IAM.Policy")
	}
	m.link(r, "assume", "AWS.IAM.Role")
}

func (m *generator) bucket(r *resource) {
	r.set("name", fmt.Sprintf("%s-%s-%d", m.pick(teams), m.pick([]string{"logs", "assets", "backup", "exports"}), r.i))
	r.set("public", m.chance(4))
	r.set("encryption", []string{"none", "AES256", "aws:kms"}[m.r.IntN(3)])
	r.set("versioning", []string{"Enabled", "Suspended", "Disabled"}[m.r.IntN(3)])
	r.set("logging", m.chance(50))
	r.set("sizeBytes", m.r.Int64N(1<<42))
	if m.chance(40) {
		m.link(r, "key", "AWS.KMS.Key")
	}
}

func (m *generator) volume(r *resource) {
	r.set("encrypted", m.chance(75))
	r.set("size", 8<<m.r.IntN(8))
	r.set("type", []string{"gp2", "gp3", "io1", "st1"}[m.r.IntN(4)])
	r.set("iops", 100*m.r.IntN(160))
	r.set("state", []string{"in-use", "in-use", "in-use", "available"}[m.r.IntN(4)])
	if m.chance(70) {
		m.link(r, "key", "AWS.KMS.Key")
	}
}

func (m *generator) snapshot(r *resource) {
	r.set("public", m.chance(1))
	r.set("encrypted", m.chance(75))
	r.set("size", 8<<m.r.IntN(8))
	r.set("progress", "100%")
	m.link(r, "source", "AWS.EC2.Volume")
}

func (m *generator) instance(r *resource) {
	r.set("state", m.pick(states))
	r.set("instanceType", m.pick(instanceTypes))
	r.set("imageId", fmt.Sprintf("ami-%05x", m.r.IntN(200)))
	r.set("metadataTokens", []string{"optional", "required"}[m.r.IntN(2)])
	r.set("monitoring", m.chance(40))
	r.set("privateIp", fmt.Sprintf("10.%d.%d.%d", r.i>>16&255, r.i>>8&255, r.i&255))
	if m.chance(25) {
		r.set("publicIp", fmt.Sprintf("54.%d.%d.%d", r.i>>16&255, r.i>>8&255, r.i&255))
	}
	m.link(r, "subnet", "AWS.EC2.Subnet")
	for range 1 + m.r.IntN(3) {
		m.link(r, "securityGroup", "AWS.EC2.SecurityGroup")
	}
	for range 1 + m.r.IntN(2) {
		m.link(r, "volume", "AWS.EC2.Volume")
	}
	if m.chance(80) {
		m.link(r, "role", "AWS.IAM.Role")
	}
}

func (m *generator) networkInterface(r *resource) {
	r.set("status", []string{"in-use", "available"}[m.r.IntN(2)])
	r.set("mac", fmt.Sprintf("0a:%02x:%02x:%02x:00:01", r.i>>16&255, r.i>>8&255, r.i&255))
	m.link(r, "subnet", "AWS.EC2.Subnet")
	m.link(r, "securityGroup", "AWS.EC2.SecurityGroup")
	if m.chance(80) {
		m.link(r, "instance", "AWS.EC2.Instance")
	}
}

func (m *generator) function(r *resource) {
	r.set("runtime", m.pick(runtimes))
	r.set("memory", 128<<m.r.IntN(5))
	r.set("timeout", 3+m.r.IntN(300))
	r.set("tracing", m.chance(30))
	m.link(r, "role", "AWS.IAM.Role")
	if m.chance(40) {
		m.link(r, "subnet", "AWS.EC2.Subnet")
		m.link(r, "securityGroup", "AWS.EC2.SecurityGroup")
	}
}

func (m *generator) database(r *resource) {
	r.set("engine", m.pick(engines))
	r.set("encrypted", m.chance(80))
	r.set("public", m.chance(6))
	r.set("multiAZ", m.chance(50))
	r.set("backupRetention", m.r.IntN(35))
	m.link(r, "securityGroup", "AWS.EC2.SecurityGroup")
	m.link(r, "subnet", "AWS.EC2.Subnet")
	if m.chance(80) {
		m.link(r, "key", "AWS.KMS.Key")
	}
}

func (m *generator) loadBalancer(r *resource) {
	r.set("scheme", []string{"internet-facing", "internal"}[m.r.IntN(2)])
	r.set("type", []string{"application", "network"}[m.r.IntN(2)])
	r.set("logging", m.chance(50))
	m.link(r, "securityGroup", "AWS.EC2.SecurityGroup")
	for range 2 + m.r.IntN(8) {
		m.link(r, "target", "AWS.EC2.Instance")
	}
}
