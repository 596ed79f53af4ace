package aws

import (
	"slices"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// Findings returns what the built-in rules ought to say of an account as it is
// now, in the order of rule and entity. It looks at the resources themselves,
// not at what they were made to be, so that changes count.
func (c *Cloud) Findings(account string) []world.Finding {
	var all []world.Finding
	e := c.estate
	places := make([]world.Place, 0, len(c.options.Regions)+1)
	for _, region := range c.options.Regions {
		places = append(places, world.Place{Account: account, Region: region})
	}
	global := world.Place{Account: account}
	for _, j := range judgements {
		look := places
		if j.global {
			look = []world.Place{global}
		}
		kind := j.kind(e)
		for _, p := range look {
			c.List(kind, p, 0, -1, func(name string, o world.Object) bool {
				if j.bad(e, p, name, o) {
					all = append(all, world.Finding{Rule: j.rule, Entity: entityID(kind.Type, p, name)})
				}
				return true
			})
		}
	}
	all = append(all, e.regionFindings(places)...)
	if !e.recorded(global) {
		all = append(all, world.Finding{Rule: "aws-cloudtrail-multi-region", Entity: posture.EntityType("AWS.Account.Account").ID(posture.AccountID(account), "", account)})
	}
	slices.SortFunc(all, func(a, b world.Finding) int {
		if d := strings.Compare(a.Rule, b.Rule); d != 0 {
			return d
		}
		return strings.Compare(string(a.Entity), string(b.Entity))
	})
	return all
}

// entityID returns the id the product gives a resource. A bucket is known by its
// name alone.
func entityID(t posture.EntityType, p world.Place, name string) posture.EntityID {
	if t == "AWS.S3.Bucket" {
		p.Region = ""
	}
	return t.ID(posture.AccountID(p.Account), p.Region, name)
}

// A judgement says which resources violate a rule.
type judgement struct {
	rule   string
	kind   func(*estate) *world.Kind
	global bool
	bad    func(e *estate, p world.Place, name string, o world.Object) bool
}

// whose makes a judgement of what a resource itself says.
func whose(rule string, kind func(*estate) *world.Kind, bad func(e *estate, o world.Object) bool) judgement {
	return judgement{rule: rule, kind: kind, bad: func(e *estate, _ world.Place, _ string, o world.Object) bool { return bad(e, o) }}
}

// everywhere makes a judgement hold for what belongs to no region.
func (j judgement) everywhere() judgement {
	j.global = true
	return j
}

var (
	ofSummary   = func(e *estate) *world.Kind { return e.summaries }
	ofUser      = func(e *estate) *world.Kind { return e.users }
	ofPasswords = func(e *estate) *world.Kind { return e.passwordPolicies }
	ofBucket    = func(e *estate) *world.Kind { return e.buckets }
	ofGroup     = func(e *estate) *world.Kind { return e.securityGroups }
	ofInstance  = func(e *estate) *world.Kind { return e.instances }
	ofTrail     = func(e *estate) *world.Kind { return e.trails }
	ofKey       = func(e *estate) *world.Kind { return e.keys }
	ofDatabase  = func(e *estate) *world.Kind { return e.dbInstances }
	ofFunction  = func(e *estate) *world.Kind { return e.functions }
)

var judgements = slices.Concat(identityJudgements, bucketJudgements, networkJudgements, recordJudgements, serviceJudgements)

var identityJudgements = []judgement{
	whose("aws-iam-root-mfa", ofSummary, func(_ *estate, o world.Object) bool { return o.Number("AccountMFAEnabled") == 0 }).everywhere(),
	whose("aws-iam-root-access-key", ofSummary, func(_ *estate, o world.Object) bool { return o.Number("AccountAccessKeysPresent") == 1 }).everywhere(),
	whose("aws-iam-root-recent-use", ofSummary, func(e *estate, o world.Object) bool {
		return slices.ContainsFunc([]string{"password_last_used", "access_key_1_last_used_date", "access_key_2_last_used_date"}, func(column string) bool {
			return o.Time("_report", column).After(e.ago(1))
		})
	}).everywhere(),
	whose("aws-iam-user-console-mfa", ofUser, func(_ *estate, o world.Object) bool {
		return o.Flag("_report", "password_enabled") && !o.Flag("_report", "mfa_active")
	}).everywhere(),
	whose("aws-iam-access-key-age-90", ofUser, func(e *estate, o world.Object) bool { return keyOlder(e, o, "last_rotated", 90) }).everywhere(),
	whose("aws-iam-credential-unused-45", ofUser, func(e *estate, o world.Object) bool {
		idle := o.Flag("_report", "password_enabled") && o.Time("_report", "password_last_used").Before(e.ago(45))
		return idle || keyOlder(e, o, "last_used_date", 45)
	}).everywhere(),
	whose("aws-iam-password-min-length-14", ofPasswords, func(_ *estate, o world.Object) bool { return o.Number("MinimumPasswordLength") < 14 }).everywhere(),
	whose("aws-iam-password-reuse-24", ofPasswords, func(_ *estate, o world.Object) bool { return o.Number("PasswordReusePrevention") < 24 }).everywhere(),
	whose("aws-iam-policy-admin-star", func(e *estate) *world.Kind { return e.policies }, func(_ *estate, o world.Object) bool {
		return !strings.Contains(o.Text("Arn"), "::aws:") && o.Number("AttachmentCount") > 0 && administers(o)
	}).everywhere(),
	whose("aws-iam-user-direct-policy", ofUser, func(_ *estate, o world.Object) bool {
		return len(o.List("UserPolicyList"))+len(o.List("AttachedManagedPolicies")) > 0
	}).everywhere(),
	whose("aws-iam-role-trust-wildcard", func(e *estate) *world.Kind { return e.roles }, func(_ *estate, o world.Object) bool {
		return anyoneAllowed(unescape(o.Text("AssumeRolePolicyDocument")))
	}).everywhere(),
	whose("aws-iam-server-certificate-expired", func(e *estate) *world.Kind { return e.certificates }, func(e *estate, o world.Object) bool {
		return o.Time("Expiration").Before(e.options.Today)
	}).everywhere(),
	whose("aws-s3-account-public-access-block", func(e *estate) *world.Kind { return e.blocks }, func(_ *estate, o world.Object) bool { return !allSwitches(o) }).everywhere(),
}

// keyOlder reports whether an active access key's column lies more than some
// days back.
func keyOlder(e *estate, o world.Object, column string, days int) bool {
	for _, key := range []string{"access_key_1_", "access_key_2_"} {
		if o.Flag("_report", key+"active") && o.Time("_report", key+column).Before(e.ago(days)) {
			return true
		}
	}
	return false
}

// administers reports whether a managed policy allows everything.
func administers(o world.Object) bool {
	for _, v := range o.Objects("PolicyVersionList") {
		if v.Flag("IsDefaultVersion") && everythingAllowed(unescape(v.Text("Document"))) {
			return true
		}
	}
	return false
}

func allSwitches(o world.Object) bool {
	return o.Flag("BlockPublicAcls") && o.Flag("IgnorePublicAcls") && o.Flag("BlockPublicPolicy") && o.Flag("RestrictPublicBuckets")
}

var bucketJudgements = []judgement{
	{rule: "aws-s3-bucket-public", kind: ofBucket, bad: func(e *estate, p world.Place, _ string, o world.Object) bool { return e.publicBucket(p, o) }},
	whose("aws-s3-bucket-encryption", ofBucket, func(_ *estate, o world.Object) bool { return o.Get("_encryption") == nil }),
	whose("aws-s3-bucket-tls-only", ofBucket, func(_ *estate, o world.Object) bool { return !plaintextRefused(o.Text("_policy")) }),
	whose("aws-s3-bucket-versioning", ofBucket, func(_ *estate, o world.Object) bool { return o.Text("_versioning", "Status") != "Enabled" }),
	whose("aws-s3-bucket-access-logging", ofBucket, func(_ *estate, o world.Object) bool { return o.Get("_logging") == nil }),
}

// publicBucket reports whether the internet gets at a bucket: by its policy or
// its list, where no switch of the bucket or the account stops that.
func (e *estate) publicBucket(p world.Place, o world.Object) bool {
	account, _ := e.Get(e.blocks, everywhere(p), p.Account)
	byPolicy := anyoneAllowed(o.Text("_policy")) && !o.Flag("_block", "RestrictPublicBuckets") && !account.Flag("RestrictPublicBuckets")
	byList := false
	for _, g := range o.Objects("_acl") {
		if grantee, ok := g.Get("Grantee").(element); ok {
			uri := grantee.Text("URI")
			byList = byList || strings.HasSuffix(uri, "/AllUsers") || strings.HasSuffix(uri, "/AuthenticatedUsers")
		}
	}
	return byPolicy || byList && !o.Flag("_block", "IgnorePublicAcls") && !account.Flag("IgnorePublicAcls")
}

var recordJudgements = []judgement{
	whose("aws-cloudtrail-log-validation", ofTrail, func(_ *estate, o world.Object) bool { return !o.Flag("LogFileValidationEnabled") }),
	whose("aws-cloudtrail-kms", ofTrail, func(_ *estate, o world.Object) bool { return o.Text("KmsKeyId") == "" }),
	{rule: "aws-cloudtrail-bucket-public", kind: ofTrail, bad: func(e *estate, p world.Place, _ string, o world.Object) bool {
		bucket, ok := e.Get(e.buckets, p, o.Text("S3BucketName"))
		return ok && e.publicBucket(p, bucket)
	}},
	whose("aws-cloudtrail-cloudwatch", ofTrail, func(e *estate, o world.Object) bool {
		return o.Text("CloudWatchLogsLogGroupArn") == "" || o.Time("_delivered").Before(e.ago(1))
	}),
	whose("aws-kms-rotation", ofKey, func(_ *estate, o world.Object) bool {
		return o.Text("KeyManager") == "CUSTOMER" && o.Text("KeyState") == "Enabled" && o.Text("KeySpec") == "SYMMETRIC_DEFAULT" && o.Text("Origin") == "AWS_KMS" && !o.Flag("_rotation")
	}),
	whose("aws-kms-key-public", ofKey, func(_ *estate, o world.Object) bool { return anyoneAllowed(o.Text("_policy")) }),
}

// regionFindings judges what regions lack.
func (e *estate) regionFindings(places []world.Place) []world.Finding {
	var all []world.Finding
	for _, p := range places {
		any := func(k *world.Kind, good func(o world.Object) bool) bool {
			found := false
			e.List(k, p, 0, -1, func(_ string, o world.Object) bool {
				found = found || good(o)
				return true
			})
			return found
		}
		region, _ := e.Get(e.regions, p, p.Region)
		for rule, good := range map[string]bool{
			"aws-ec2-ebs-default-encryption": region.Flag("ebsEncryptionByDefault"),
			"aws-accessanalyzer-enabled": any(e.analyzers, func(o world.Object) bool {
				return o.Text("status") == "ACTIVE" && (o.Text("type") == "ACCOUNT" || o.Text("type") == "ORGANIZATION")
			}),
			"aws-config-recorder":     any(e.recorders, func(o world.Object) bool { return o.Flag("_recording") }),
			"aws-guardduty-enabled":   any(e.detectors, func(o world.Object) bool { return o.Text("status") == "ENABLED" }),
			"aws-securityhub-enabled": any(e.hubs, func(world.Object) bool { return true }),
		} {
			if !good {
				all = append(all, world.Finding{Rule: rule, Entity: entityID("AWS.Account.Region", p, p.Region)})
			}
		}
	}
	return all
}

// recorded reports whether a trail records every region.
func (e *estate) recorded(p world.Place) bool {
	found := false
	e.List(e.trails, world.Place{Account: p.Account, Region: e.options.Regions[0]}, 0, -1, func(_ string, o world.Object) bool {
		found = found || o.Flag("IsMultiRegionTrail") && o.Flag("_logging")
		return true
	})
	return found
}

var serviceJudgements = []judgement{
	whose("aws-rds-public", ofDatabase, func(_ *estate, o world.Object) bool { return o.Flag("PubliclyAccessible") }),
	whose("aws-rds-encrypted", ofDatabase, func(_ *estate, o world.Object) bool { return !o.Flag("StorageEncrypted") }),
	whose("aws-rds-backup", ofDatabase, func(_ *estate, o world.Object) bool { return o.Number("BackupRetentionPeriod") == 0 }),
	whose("aws-rds-minor-upgrade", ofDatabase, func(_ *estate, o world.Object) bool { return !o.Flag("AutoMinorVersionUpgrade") }),
	whose("aws-rds-snapshot-public", func(e *estate) *world.Kind { return e.dbSnapshots }, func(_ *estate, o world.Object) bool { return slices.Contains(o.List("_restore"), any("all")) }),
	whose("aws-efs-encrypted", func(e *estate) *world.Kind { return e.fileSystems }, func(_ *estate, o world.Object) bool { return !o.Flag("Encrypted") }),
	whose("aws-lambda-public", ofFunction, func(_ *estate, o world.Object) bool {
		for _, u := range o.Objects("_urls") {
			if u.Text("AuthType") == "NONE" {
				return true
			}
		}
		return anyoneAllowed(o.Text("_policy"))
	}),
	whose("aws-lambda-runtime", ofFunction, func(_ *estate, o world.Object) bool { return o.Text("Runtime") == "python3.7" }),
	whose("aws-sqs-public", func(e *estate) *world.Kind { return e.queues }, func(_ *estate, o world.Object) bool { return anyoneAllowed(o.Text("Policy")) }),
	whose("aws-sns-public", func(e *estate) *world.Kind { return e.topics }, func(_ *estate, o world.Object) bool { return anyoneAllowed(o.Text("Policy")) }),
	whose("aws-eks-endpoint-public", func(e *estate) *world.Kind { return e.eksClusters }, func(_ *estate, o world.Object) bool {
		return o.Flag("resourcesVpcConfig", "endpointPublicAccess") && slices.Contains(o.List("resourcesVpcConfig", "publicAccessCidrs"), any("0.0.0.0/0"))
	}),
	{rule: "aws-elb-https", kind: func(e *estate) *world.Kind { return e.loadBalancers }, bad: func(e *estate, p world.Place, _ string, o world.Object) bool {
		return o.Text("Scheme") == "internet-facing" && e.plainHTTP(p, o.Text("LoadBalancerArn"))
	}},
	whose("aws-cloudfront-https", func(e *estate) *world.Kind { return e.distributions }, func(_ *estate, o world.Object) bool {
		return o.Text("DefaultCacheBehavior", "ViewerProtocolPolicy") == "allow-all"
	}).everywhere(),
	whose("aws-redshift-public", func(e *estate) *world.Kind { return e.warehouses }, func(_ *estate, o world.Object) bool { return o.Flag("PubliclyAccessible") }),
	whose("aws-dynamodb-pitr", func(e *estate) *world.Kind { return e.tables }, func(_ *estate, o world.Object) bool { return o.Text("_pitr") != "ENABLED" }),
	whose("aws-secret-rotation", func(e *estate) *world.Kind { return e.secrets }, func(_ *estate, o world.Object) bool { return !o.Flag("RotationEnabled") }),
}

// plainHTTP reports whether a load balancer answers HTTP with more than a
// redirect.
func (e *estate) plainHTTP(p world.Place, balancer string) bool {
	found := false
	e.List(e.listeners, p, 0, -1, func(_ string, o world.Object) bool {
		if o.Text("LoadBalancerArn") == balancer && o.Text("Protocol") == "HTTP" {
			for _, a := range o.Objects("DefaultActions") {
				found = found || a.Text("Type") != "redirect"
			}
		}
		return true
	})
	return found
}

// Today returns the day the world is of, by which findings are judged.
func (c *Cloud) Today() time.Time { return c.options.Today }
