package aws_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/collecttest"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/world"
)

// An accountData is an account as it was read, with helpers for the rules.
type accountData struct {
	collecttest.Read
	today time.Time
}

func all(e posture.Entity, name string) []posture.Property {
	var found []posture.Property
	for _, p := range e.Properties {
		if p.Name == name {
			found = append(found, p)
		}
	}
	return found
}

func get(e posture.Entity, name string) posture.Property {
	if found := all(e, name); len(found) > 0 {
		return found[0]
	}
	return posture.Property{}
}

func str(e posture.Entity, name string) string   { return get(e, name).String }
func hasFlag(e posture.Entity, name string) bool { return get(e, name).Bool }

func has(e posture.Entity, name, value string) bool {
	return slices.ContainsFunc(all(e, name), func(p posture.Property) bool { return p.String == value })
}

// isOlderThan reports whether the time in a property is more than some days ago.
func (d accountData) isOlderThan(e posture.Entity, name string, days int) bool {
	t, err := time.Parse(time.RFC3339, str(e, name))
	return err == nil && t.Before(d.today.AddDate(0, 0, -days))
}

// to returns the entities that the edges of an entity with a label lead to.
func (d accountData) to(e posture.Entity, label string) []posture.Entity {
	var found []posture.Entity
	for _, edge := range e.Edges {
		if next, ok := d.Entities[edge.To]; ok && edge.Label == label {
			found = append(found, next)
		}
	}
	return found
}

// allowsInternet reports whether a security group allows traffic from the internet to one of
// the TCP ports or, without ports, to any port over IPv4.
func (d accountData) allowsInternet(e posture.Entity, ports ...int64) bool {
	return slices.ContainsFunc(e.Edges, func(edge posture.Edge) bool {
		if edge.Label != "ALLOWS_INGRESS" || !hasFlag(d.Entities[edge.To], "isInternet") {
			return false
		}
		var protocol string
		var from, to int64
		for _, p := range edge.Properties {
			switch p.Name {
			case "protocol":
				protocol = p.String
			case "fromPort":
				from = p.Long
			case "toPort":
				to = p.Long
			}
		}
		within := func(port int64) bool { return from <= port && port <= to && (protocol == "tcp" || protocol == "-1") }
		if len(ports) == 0 {
			ipv4 := get(d.Entities[edge.To], "ipVersion").Long == 4 // simulated instances have only IPv4 addresses
			return ipv4 && (protocol == "tcp" || protocol == "udp" || protocol == "-1")
		}
		return slices.ContainsFunc(ports, within)
	})
}

func (d accountData) isPublic(bucket posture.Entity) bool {
	account := d.to(bucket, "IN_ACCOUNT")[0]
	return hasFlag(bucket, "policyStatusIsPublic") && !hasFlag(bucket, "restrictPublicBuckets") && !hasFlag(account, "restrictPublicBuckets") ||
		hasFlag(bucket, "aclIsPublic") && !hasFlag(bucket, "ignorePublicAcls") && !hasFlag(account, "ignorePublicAcls")
}

// violates decides for each rule whether an entity violates it, using only the
// collected data.
var violates = map[string]func(g accountData, e posture.Entity) bool{
	"aws-iam-root-mfa":        func(_ accountData, e posture.Entity) bool { return get(e, "accountMfaEnabled").Long == 0 },
	"aws-iam-root-access-key": func(_ accountData, e posture.Entity) bool { return get(e, "accountAccessKeysPresent").Long == 1 },
	"aws-iam-root-recent-use": func(g accountData, e posture.Entity) bool {
		recent := func(name string) bool { return str(e, name) != "" && !g.isOlderThan(e, name, 1) }
		return recent("rootPasswordLastUsed") || recent("rootKeyLastUsed")
	},
	"aws-iam-user-console-mfa": func(_ accountData, e posture.Entity) bool {
		return hasFlag(e, "passwordEnabled") && !hasFlag(e, "mfaActive")
	},
	"aws-iam-access-key-age-90": func(g accountData, e posture.Entity) bool {
		return hasFlag(e, "accessKey1Active") && g.isOlderThan(e, "accessKey1LastRotated", 90) || hasFlag(e, "accessKey2Active") && g.isOlderThan(e, "accessKey2LastRotated", 90)
	},
	"aws-iam-credential-unused-45": func(g accountData, e posture.Entity) bool {
		return hasFlag(e, "passwordEnabled") && g.isOlderThan(e, "passwordLastUsed", 45) || hasFlag(e, "accessKey1Active") && g.isOlderThan(e, "accessKey1LastUsed", 45) ||
			hasFlag(e, "accessKey2Active") && g.isOlderThan(e, "accessKey2LastUsed", 45)
	},
	"aws-iam-password-min-length-14": func(_ accountData, e posture.Entity) bool { return get(e, "minimumPasswordLength").Long < 14 },
	"aws-iam-password-reuse-24":      func(_ accountData, e posture.Entity) bool { return get(e, "passwordReusePrevention").Long < 24 },
	"aws-iam-policy-admin-star": func(g accountData, e posture.Entity) bool {
		return hasFlag(e, "allowsAdmin") && len(g.to(e, "ATTACHED_TO")) > 0
	},
	"aws-iam-user-direct-policy": func(g accountData, e posture.Entity) bool {
		return len(all(e, "inlinePolicies")) > 0 || len(g.to(e, "HAS_POLICY")) > 0
	},
	"aws-iam-role-trust-wildcard": func(_ accountData, e posture.Entity) bool {
		return slices.ContainsFunc(e.Edges, func(edge posture.Edge) bool {
			// The only property of this edge is "restricted".
			return edge.Label == "TRUSTS" && strings.HasSuffix(string(edge.To), ".Principal.*") && !edge.Properties[0].Bool
		})
	},
	"aws-iam-server-certificate-expired": func(g accountData, e posture.Entity) bool { return g.isOlderThan(e, "expiration", 0) },
	"aws-accessanalyzer-enabled":         func(_ accountData, e posture.Entity) bool { return len(all(e, "analyzers")) == 0 },
	"aws-s3-account-public-access-block": func(_ accountData, e posture.Entity) bool {
		return !(hasFlag(e, "blockPublicAcls") && hasFlag(e, "ignorePublicAcls") && hasFlag(e, "blockPublicPolicy") && hasFlag(e, "restrictPublicBuckets"))
	},
	"aws-s3-bucket-public":         func(g accountData, e posture.Entity) bool { return g.isPublic(e) },
	"aws-s3-bucket-encryption":     func(_ accountData, e posture.Entity) bool { return str(e, "serverSideEncryption") == "" },
	"aws-s3-bucket-tls-only":       func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "policyTlsOnly") },
	"aws-s3-bucket-versioning":     func(_ accountData, e posture.Entity) bool { return str(e, "versioningStatus") != "Enabled" },
	"aws-s3-bucket-access-logging": func(g accountData, e posture.Entity) bool { return len(g.to(e, "LOGS_TO")) == 0 },
	"aws-ec2-sg-ssh-open":          func(g accountData, e posture.Entity) bool { return g.allowsInternet(e, 22) },
	"aws-ec2-sg-rdp-open":          func(g accountData, e posture.Entity) bool { return g.allowsInternet(e, 3389) },
	"aws-ec2-sg-all-open": func(g accountData, e posture.Entity) bool {
		return g.allowsInternet(e, 0) && g.allowsInternet(e, 65535)
	},
	"aws-ec2-sg-db-ports-open": func(g accountData, e posture.Entity) bool {
		return g.allowsInternet(e, 1433, 1521, 3306, 5432, 6379, 9200, 11211, 27017)
	},
	"aws-ec2-default-sg-open": func(_ accountData, e posture.Entity) bool {
		return str(e, "groupName") == "default" && len(all(e, "ipPermissions"))+len(all(e, "ipPermissionsEgress")) > 0
	},
	"aws-ec2-nacl-admin-open": func(_ accountData, e posture.Entity) bool {
		return !hasFlag(e, "isDefault") && (hasFlag(e, "sshOpenToInternet") || hasFlag(e, "rdpOpenToInternet"))
	},
	"aws-ec2-ebs-encrypted":          func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "encrypted") },
	"aws-ec2-ebs-default-encryption": func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "ebsEncryptionByDefault") },
	"aws-ec2-snapshot-public":        func(_ accountData, e posture.Entity) bool { return hasFlag(e, "public") },
	"aws-ec2-ami-public":             func(_ accountData, e posture.Entity) bool { return hasFlag(e, "public") },
	"aws-ec2-imdsv2": func(_ accountData, e posture.Entity) bool {
		return str(e, "metadataHttpTokens") != "required" && str(e, "metadataHttpEndpoint") == "enabled"
	},
	"aws-ec2-instance-public-ip": func(g accountData, e posture.Entity) bool {
		return str(e, "state") == "running" && len(g.to(e, "HAS_IP")) > 0
	},
	"aws-ec2-exposed-admin-instance": func(g accountData, e posture.Entity) bool {
		admin := false
		for _, profile := range g.to(e, "HAS_PROFILE") {
			for _, role := range g.to(profile, "HAS_ROLE") {
				admin = admin || hasFlag(role, "isAdmin")
			}
		}
		open := slices.ContainsFunc(g.to(e, "MEMBER_OF"), func(group posture.Entity) bool { return g.allowsInternet(group) })
		return admin && open && str(e, "publicIpAddress") != ""
	},
	"aws-vpc-flow-logs":             func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "hasActiveFlowLog") },
	"aws-cloudtrail-multi-region":   func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "multiRegionTrailLogs") },
	"aws-cloudtrail-log-validation": func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "logFileValidationEnabled") },
	"aws-cloudtrail-kms":            func(g accountData, e posture.Entity) bool { return len(g.to(e, "ENCRYPTED_BY")) == 0 },
	"aws-cloudtrail-bucket-public": func(g accountData, e posture.Entity) bool {
		return slices.ContainsFunc(g.to(e, "WRITES_TO"), func(to posture.Entity) bool { return to.Type == "AWS.S3.Bucket" && g.isPublic(to) })
	},
	"aws-cloudtrail-cloudwatch": func(g accountData, e posture.Entity) bool {
		return str(e, "cloudWatchLogsLogGroupArn") == "" || g.isOlderThan(e, "latestCloudWatchLogsDeliveryTime", 1)
	},
	"aws-config-recorder": func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "recording") },
	"aws-kms-rotation": func(_ accountData, e posture.Entity) bool {
		return str(e, "keyManager") == "CUSTOMER" && str(e, "keyState") == "Enabled" && str(e, "keySpec") == "SYMMETRIC_DEFAULT" && str(e, "origin") == "AWS_KMS" &&
			!hasFlag(e, "rotationEnabled")
	},
	"aws-kms-key-public":      func(_ accountData, e posture.Entity) bool { return hasFlag(e, "policyIsPublic") },
	"aws-rds-public":          func(_ accountData, e posture.Entity) bool { return hasFlag(e, "publiclyAccessible") },
	"aws-rds-encrypted":       func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "storageEncrypted") },
	"aws-rds-snapshot-public": func(_ accountData, e posture.Entity) bool { return has(e, "restoreAttribute", "all") },
	"aws-rds-backup":          func(_ accountData, e posture.Entity) bool { return get(e, "backupRetentionPeriod").Long < 7 },
	"aws-rds-minor-upgrade":   func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "autoMinorVersionUpgrade") },
	"aws-efs-encrypted":       func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "encrypted") },
	"aws-guardduty-enabled":   func(_ accountData, e posture.Entity) bool { return str(e, "detectorStatus") != "ENABLED" },
	"aws-securityhub-enabled": func(_ accountData, e posture.Entity) bool { return str(e, "hubArn") == "" },
	"aws-lambda-public": func(_ accountData, e posture.Entity) bool {
		return hasFlag(e, "policyIsPublic") || hasFlag(e, "urlIsPublic")
	},
	"aws-lambda-runtime": func(_ accountData, e posture.Entity) bool {
		return str(e, "runtime") == "python3.7" // the only unsupported runtime of the simulation
	},
	"aws-sqs-public": func(_ accountData, e posture.Entity) bool { return hasFlag(e, "policyIsPublic") },
	"aws-sns-public": func(_ accountData, e posture.Entity) bool { return hasFlag(e, "policyIsPublic") },
	"aws-eks-endpoint-public": func(_ accountData, e posture.Entity) bool {
		return hasFlag(e, "endpointPublicAccess") && has(e, "publicAccessCidrs", "0.0.0.0/0")
	},
	"aws-elb-https": func(g accountData, e posture.Entity) bool {
		return slices.ContainsFunc(g.to(e, "HAS"), func(l posture.Entity) bool {
			return str(l, "protocol") == "HTTP" && !hasFlag(l, "redirectsToHttps")
		})
	},
	"aws-cloudfront-https": func(_ accountData, e posture.Entity) bool { return has(e, "viewerProtocolPolicy", "allow-all") },
	"aws-redshift-public":  func(_ accountData, e posture.Entity) bool { return hasFlag(e, "publiclyAccessible") },
	"aws-dynamodb-pitr":    func(_ accountData, e posture.Entity) bool { return str(e, "pointInTimeRecoveryStatus") != "ENABLED" },
	"aws-secret-rotation":  func(_ accountData, e posture.Entity) bool { return !hasFlag(e, "rotationEnabled") },
}

// found applies every rule to the collected entities.
func (d accountData) found(rules []collecttest.Need) []world.Finding {
	var all []world.Finding
	for _, r := range rules {
		for _, e := range d.EntitiesOf(r.ResourceType) {
			if violates[r.ID](d, e) {
				all = append(all, world.Finding{Rule: r.ID, Entity: e.ID})
			}
		}
	}
	sortFindings(all)
	return all
}

func sortFindings(all []world.Finding) {
	slices.SortFunc(all, func(a, b world.Finding) int {
		return strings.Compare(a.Rule+" "+string(a.Entity), b.Rule+" "+string(b.Entity))
	})
}

// TestRulesFindExpectedFlaws checks that the collected data suffices to find every
// flaw of the simulated account, and no other.
func TestRulesFindExpectedFlaws(t *testing.T) {
	t.Parallel()
	rules := collecttest.Needs(t, "aws")
	for _, r := range rules {
		if violates[r.ID] == nil {
			t.Errorf("the test lacks rule %s", r.ID)
		}
	}
	// Types with one resource per account need a higher share of flaws, so that a few
	// accounts are enough to see them.
	shares := world.Shares{Default: 0.3, ByRule: map[string]float64{
		"aws-iam-root-recent-use": 0.5, "aws-s3-account-public-access-block": 0.6, "aws-s3-bucket-public": 0.6, "aws-securityhub-enabled": 0.5,
	}}
	const accounts = 5
	c := start(t, simaws.Options{Seed: 22, Accounts: accounts, Size: 300, Shares: shares})
	seen := map[string]bool{}
	for i := range accounts {
		g := accountData{collecttest.All(t, aws.New(c.options), c.access(i)), c.Today()}
		want := c.Findings(c.Account(i).ID)
		sortFindings(want)
		if diff := cmp.Diff(want, g.found(rules)); diff != "" {
			t.Errorf("account %d: -world +found\n%s", i, diff)
		}
		for _, f := range want {
			seen[f.Rule] = true
		}
	}
	for _, r := range rules {
		if !seen[r.ID] {
			t.Errorf("nothing in the world violates %s", r.ID)
		}
	}
}

func TestNoFlawsNoFindings(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 12, Shares: world.Shares{Default: -1}})
	if findings := c.Findings(c.Account(0).ID); len(findings) > 0 {
		t.Errorf("the simulated account has flaws: %v", findings)
	}
	g := accountData{collecttest.All(t, aws.New(c.options), c.access(0)), c.Today()}
	rules := collecttest.Needs(t, "aws")
	for _, r := range rules {
		if len(g.EntitiesOf(r.ResourceType)) == 0 {
			t.Errorf("the account has no %s that the rule %s could find", r.ResourceType, r.ID)
		}
	}
	if findings := g.found(rules); len(findings) > 0 {
		t.Errorf("the collected data shows flaws: %v", findings)
	}
}

func TestChangesAreRead(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 13, Shares: world.Shares{Default: -1}})
	source := aws.New(c.options)
	place := world.Place{Account: c.Account(0).ID, Region: "us-east-1"}
	name, _, _ := c.Resource("AWS.EC2.SecurityGroup", place, 5)
	removed, _, _ := c.Resource("AWS.EC2.Volume", place, 6)
	for _, change := range []world.Change{
		{Ref: world.Ref{Type: "AWS.EC2.SecurityGroup", Place: place, Name: name}, Patch: world.Obj("ipPermissions",
			world.Items(world.Obj("ipProtocol", "tcp", "fromPort", 20, "toPort", 30, "ipRanges", world.Items(world.Obj("cidrIp", "0.0.0.0/0")))))},
		{Ref: world.Ref{Type: "AWS.EC2.Volume", Place: place, Name: removed}, Gone: true},
		{Ref: world.Ref{Type: "AWS.EC2.Volume", Place: place, Name: "vol-0new"}, Make: world.Obj("volumeId", "vol-0new", "encrypted", false, "size", 1)},
	} {
		if err := c.Change(change); err != nil {
			t.Fatal(err)
		}
	}
	g := accountData{collecttest.All(t, source, c.access(0)), c.Today()}
	want := []world.Finding{
		{Rule: "aws-ec2-ebs-encrypted", Entity: posture.EntityType("AWS.EC2.Volume").ID(posture.AccountID(place.Account), place.Region, "vol-0new")},
		{Rule: "aws-ec2-sg-ssh-open", Entity: posture.EntityType("AWS.EC2.SecurityGroup").ID(posture.AccountID(place.Account), place.Region, name)},
	}
	if diff := cmp.Diff(want, g.found(collecttest.Needs(t, "aws"))); diff != "" {
		t.Errorf("-want +found\n%s", diff)
	}
	if diff := cmp.Diff(want, c.Findings(place.Account)); diff != "" {
		t.Errorf("-want +world\n%s", diff)
	}
	if _, exists := g.Entities[posture.EntityType("AWS.EC2.Volume").ID(posture.AccountID(place.Account), place.Region, removed)]; exists {
		t.Error("the removed resource is still there")
	}
}
