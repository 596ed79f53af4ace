package main

import (
	"slices"
	"sort"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
)

// readAccount is the input of hand-written checks: entities by type and by id.
type readAccount struct {
	byType map[posture.EntityType][]*posture.Entity
	byID   map[posture.EntityID]*posture.Entity
}

func read(all []posture.Entity) *readAccount {
	a := &readAccount{map[posture.EntityType][]*posture.Entity{}, make(map[posture.EntityID]*posture.Entity, len(all))}
	for i := range all {
		e := &all[i]
		a.byType[e.Type] = append(a.byType[e.Type], e)
		a.byID[e.ID] = e
	}
	return a
}

// A check decides whether an entity violates a rule.
type check struct {
	entityType posture.EntityType
	violates   func(a *readAccount, e *posture.Entity) posture.Truth
}

// run returns the entities that violate a check, and those for which it is unknown.
func (c check) run(a *readAccount) (violating, unknown []posture.EntityID) {
	for _, e := range a.byType[c.entityType] {
		switch c.violates(a, e) {
		case posture.Yes:
			violating = append(violating, e.ID)
		case posture.Maybe:
			unknown = append(unknown, e.ID)
		}
	}
	slices.Sort(violating)
	slices.Sort(unknown)
	return violating, unknown
}

// find returns the index of the first property with a name, or where it would be.
func find(e *posture.Entity, name string) int {
	return sort.Search(len(e.Properties), func(i int) bool { return e.Properties[i].Name >= name })
}

// anyProperty reports whether one of the values of a property satisfies a condition.
func anyProperty(e *posture.Entity, name string, matches func(p *posture.Property) bool) posture.Truth {
	answer := posture.No
	for i := find(e, name); i < len(e.Properties) && e.Properties[i].Name == name; i++ {
		p := &e.Properties[i]
		if p.Type == posture.UnknownProperty {
			answer = posture.Maybe
		} else if matches(p) {
			return posture.Yes
		}
	}
	return answer
}

func isFlag(e *posture.Entity, name string, value bool) posture.Truth {
	return anyProperty(e, name, func(p *posture.Property) bool { return p.Type == posture.BoolProperty && p.Bool == value })
}

func isText(e *posture.Entity, name, value string) posture.Truth {
	return anyProperty(e, name, func(p *posture.Property) bool { return p.Type == posture.StringProperty && p.String == value })
}

func has(e *posture.Entity, name string) posture.Truth {
	return anyProperty(e, name, func(*posture.Property) bool { return true })
}

func not(t posture.Truth) posture.Truth { return posture.Yes - t }

// appliesAnd returns whether a rule applies to a resource and the resource violates it.
// If applies is Maybe, the result is Maybe even if wrong is No.
func appliesAnd(applies, wrong posture.Truth) posture.Truth {
	if applies == posture.Maybe {
		return posture.Maybe
	}
	return min(applies, wrong)
}

// out reports whether one of the edges with a label satisfies a condition together with
// its target.
func (a *readAccount) out(e *posture.Entity, label string, matches func(edge *posture.Edge, to *posture.Entity) posture.Truth) posture.Truth {
	answer := posture.No
	for i := range e.Edges {
		if e.Edges[i].Label != label {
			continue
		}
		if to := a.byID[e.Edges[i].To]; to != nil {
			answer = max(answer, matches(&e.Edges[i], to))
			if answer == posture.Yes {
				break
			}
		}
	}
	return answer
}

// number returns a numeric property of an edge.
func number(edge *posture.Edge, name string) int64 {
	for i := range edge.Properties {
		if edge.Properties[i].Name == name {
			return edge.Properties[i].Long
		}
	}
	return -1
}

func text(edge *posture.Edge, name string) string {
	for i := range edge.Properties {
		if edge.Properties[i].Name == name {
			return edge.Properties[i].String
		}
	}
	return ""
}

// byHand are ten rules of the catalog as Go code.
var byHand = map[posture.RuleID]check{
	"aws-iam-user-console-mfa": {"AWS.IAM.User", func(_ *readAccount, e *posture.Entity) posture.Truth {
		return appliesAnd(isFlag(e, "passwordEnabled", true), isFlag(e, "mfaActive", false))
	}},
	"aws-iam-access-key-age-90": {"AWS.IAM.User", func(_ *readAccount, e *posture.Entity) posture.Truth {
		applies := max(isFlag(e, "accessKey1Active", true), isFlag(e, "accessKey2Active", true))
		return appliesAnd(applies, max(oldKey(e, "accessKey1Active", "accessKey1LastRotated"), oldKey(e, "accessKey2Active", "accessKey2LastRotated")))
	}},
	"aws-s3-bucket-public": {"AWS.S3.Bucket", func(a *readAccount, e *posture.Entity) posture.Truth {
		return max(isPublic(a, e, "policyStatusIsPublic", "restrictPublicBuckets"), isPublic(a, e, "aclIsPublic", "ignorePublicAcls"))
	}},
	"aws-ec2-sg-ssh-open": {"AWS.EC2.SecurityGroup", func(a *readAccount, e *posture.Entity) posture.Truth {
		return a.out(e, "ALLOWS_INGRESS", func(edge *posture.Edge, to *posture.Entity) posture.Truth {
			if p := text(edge, "protocol"); p != "tcp" && p != "udp" && p != "-1" || number(edge, "fromPort") > 22 || number(edge, "toPort") < 22 {
				return posture.No
			}
			return isFlag(to, "isInternet", true)
		})
	}},
	"aws-ec2-ebs-encrypted": {"AWS.EC2.Volume", func(_ *readAccount, e *posture.Entity) posture.Truth { return isFlag(e, "encrypted", false) }},
	"aws-ec2-imdsv2": {"AWS.EC2.Instance", func(_ *readAccount, e *posture.Entity) posture.Truth {
		terminated := max(isText(e, "state", "shutting-down"), isText(e, "state", "terminated"))
		return appliesAnd(not(terminated), min(isText(e, "metadataHttpEndpoint", "enabled"), not(isText(e, "metadataHttpTokens", "required"))))
	}},
	"aws-ec2-exposed-admin-instance": {"AWS.EC2.Instance", func(a *readAccount, e *posture.Entity) posture.Truth {
		exposed := max(a.isReached(e, "publicIpAddress", 4), a.isReached(e, "ipv6Addresses", 6))
		if exposed == posture.No {
			return posture.No
		}
		return min(exposed, a.out(e, "HAS_PROFILE", func(_ *posture.Edge, profile *posture.Entity) posture.Truth {
			return a.out(profile, "HAS_ROLE", func(_ *posture.Edge, role *posture.Entity) posture.Truth {
				return isFlag(role, "isAdmin", true)
			})
		}))
	}},
	"aws-vpc-flow-logs": {"AWS.EC2.Vpc", func(a *readAccount, e *posture.Entity) posture.Truth {
		return appliesAnd(not(isFlag(e, "ownedByAccount", false)), not(a.out(e, "HAS_FLOW_LOG", func(_ *posture.Edge, log *posture.Entity) posture.Truth {
			return min(isText(log, "flowLogStatus", "ACTIVE"), not(isText(log, "deliverLogsStatus", "FAILED")), max(isText(log, "trafficType", "ALL"), isText(log, "trafficType", "REJECT")))
		})))
	}},
	"aws-kms-rotation": {"AWS.KMS.Key", func(_ *readAccount, e *posture.Entity) posture.Truth {
		applies := min(isText(e, "keyManager", "CUSTOMER"), isText(e, "keyState", "Enabled"), isText(e, "keySpec", "SYMMETRIC_DEFAULT"), isText(e, "origin", "AWS_KMS"))
		return appliesAnd(applies, isFlag(e, "rotationEnabled", false))
	}},
	"aws-rds-public": {"AWS.RDS.DBInstance", func(_ *readAccount, e *posture.Entity) posture.Truth { return isFlag(e, "publiclyAccessible", true) }},
}

// isReached reports whether the internet can reach an instance over an IP version (4 or
// 6): the instance has an address of that version, and an interface with a public address
// of that version is in a security group that allows ingress from the internet over it.
func (a *readAccount) isReached(e *posture.Entity, address string, version int64) posture.Truth {
	hasAddress := has(e, address)
	if hasAddress == posture.No {
		return hasAddress
	}
	public := "publicIpv4"
	if version == 6 {
		public = "publicIpv6"
	}
	return min(hasAddress, a.out(e, "MEMBER_OF", func(member *posture.Edge, group *posture.Entity) posture.Truth {
		for i := range member.Properties {
			if p := &member.Properties[i]; p.Name == public && !p.Bool {
				return posture.No
			}
		}
		return a.out(group, "ALLOWS_INGRESS", func(edge *posture.Edge, to *posture.Entity) posture.Truth {
			if p := text(edge, "protocol"); p != "tcp" && p != "udp" && p != "-1" {
				return posture.No
			}
			return min(isFlag(to, "isInternet", true), anyProperty(to, "ipVersion", func(p *posture.Property) bool { return p.Long == version }))
		})
	}))
}

// oldKey reports whether a key is active and older than 90 days.
func oldKey(e *posture.Entity, active, created string) posture.Truth {
	return min(isFlag(e, active, true), anyProperty(e, created, func(p *posture.Property) bool {
		at, err := time.Parse(time.RFC3339, p.String)
		return err == nil && at.AddDate(0, 0, 90).Before(catalog.CaseTime)
	}))
}

// isPublic reports whether a bucket is public by its policy or by its ACL, as the property
// public says, and neither the bucket nor its account has the setting block against that.
func isPublic(a *readAccount, e *posture.Entity, public, block string) posture.Truth {
	answer := isFlag(e, public, true)
	if answer == posture.No {
		return answer
	}
	answer = min(answer, not(isFlag(e, block, true)))
	if answer == posture.No {
		return answer
	}
	return min(answer, not(a.out(e, "IN_ACCOUNT", func(_ *posture.Edge, to *posture.Entity) posture.Truth { return isFlag(to, block, true) })))
}
