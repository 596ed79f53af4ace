package aws

import (
	"slices"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// Findings returns the findings that the built-in rules must report for an
// account, ordered by rule and entity. It checks the current resources,
// including changes, rather than the intended flaws.
func (c *Cloud) Findings(account string) []world.Finding {
	var all []world.Finding
	e := c.inventory
	regions := make([]world.Place, 0, len(c.options.Regions))
	for _, region := range c.options.Regions {
		regions = append(regions, world.Place{Account: account, Region: region})
	}
	global := world.Place{Account: account}
	for _, check := range ruleChecks {
		places := regions
		if check.global {
			places = []world.Place{global}
		}
		kind := check.kind(e)
		for _, p := range places {
			c.List(kind, p, 0, -1, func(name string, o world.Object) bool {
				if check.isViolated(e, p, name, o) {
					all = append(all, world.Finding{Rule: check.rule, Entity: entityID(kind.Type, p, name)})
				}
				return true
			})
		}
	}
	all = append(all, e.regionFindings(regions)...)
	if !e.isRecorded(global) {
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

// entityID returns the product's id of a resource. A bucket is identified by
// its name alone.
func entityID(t posture.EntityType, p world.Place, name string) posture.EntityID {
	if t == "AWS.S3.Bucket" {
		p.Region = ""
	}
	return t.ID(posture.AccountID(p.Account), p.Region, name)
}

// A ruleCheck determines which resources violate a rule.
type ruleCheck struct {
	rule       string
	kind       func(*inventory) *world.Kind
	global     bool // the resources are in no region
	isViolated func(e *inventory, p world.Place, name string, o world.Object) bool
}

// checkOf returns a check that depends only on the resource itself.
func checkOf(rule string, kind func(*inventory) *world.Kind, isViolated func(e *inventory, o world.Object) bool) ruleCheck {
	return ruleCheck{rule: rule, kind: kind, isViolated: func(e *inventory, _ world.Place, _ string, o world.Object) bool { return isViolated(e, o) }}
}

// inAccount returns the check for a kind whose resources are in no region.
func (c ruleCheck) inAccount() ruleCheck {
	c.global = true
	return c
}

var (
	ofSummary       = func(e *inventory) *world.Kind { return e.summaries }
	ofUser          = func(e *inventory) *world.Kind { return e.users }
	ofPasswords     = func(e *inventory) *world.Kind { return e.passwordPolicies }
	ofBucket        = func(e *inventory) *world.Kind { return e.buckets }
	ofSecurityGroup = func(e *inventory) *world.Kind { return e.securityGroups }
	ofInstance      = func(e *inventory) *world.Kind { return e.instances }
	ofTrail         = func(e *inventory) *world.Kind { return e.trails }
	ofKey           = func(e *inventory) *world.Kind { return e.keys }
	ofDatabase      = func(e *inventory) *world.Kind { return e.dbInstances }
	ofFunction      = func(e *inventory) *world.Kind { return e.functions }
)

var ruleChecks = slices.Concat(identityChecks, bucketChecks, networkChecks, recordChecks, serviceChecks)

var identityChecks = []ruleCheck{
	checkOf("aws-iam-root-mfa", ofSummary, func(_ *inventory, o world.Object) bool { return o.Number("AccountMFAEnabled") == 0 }).inAccount(),
	checkOf("aws-iam-root-access-key", ofSummary, func(_ *inventory, o world.Object) bool { return o.Number("AccountAccessKeysPresent") == 1 }).inAccount(),
	checkOf("aws-iam-root-recent-use", ofSummary, func(e *inventory, o world.Object) bool {
		return slices.ContainsFunc([]string{"password_last_used", "access_key_1_last_used_date", "access_key_2_last_used_date"}, func(column string) bool {
			return o.Time("_report", column).After(e.ago(1))
		})
	}).inAccount(),
	checkOf("aws-iam-user-console-mfa", ofUser, func(_ *inventory, o world.Object) bool {
		return o.Flag("_report", "password_enabled") && !o.Flag("_report", "mfa_active")
	}).inAccount(),
	checkOf("aws-iam-access-key-age-90", ofUser, func(e *inventory, o world.Object) bool { return isKeyOlder(e, o, "last_rotated", 90) }).inAccount(),
	checkOf("aws-iam-credential-unused-45", ofUser, func(e *inventory, o world.Object) bool {
		idle := o.Flag("_report", "password_enabled") && o.Time("_report", "password_last_used").Before(e.ago(45))
		return idle || isKeyOlder(e, o, "last_used_date", 45)
	}).inAccount(),
	checkOf("aws-iam-password-min-length-14", ofPasswords, func(_ *inventory, o world.Object) bool { return o.Number("MinimumPasswordLength") < 14 }).inAccount(),
	checkOf("aws-iam-password-reuse-24", ofPasswords, func(_ *inventory, o world.Object) bool { return o.Number("PasswordReusePrevention") < 24 }).inAccount(),
	checkOf("aws-iam-policy-admin-star", func(e *inventory) *world.Kind { return e.policies }, func(_ *inventory, o world.Object) bool {
		ofAWS := strings.Contains(o.Text("Arn"), "::aws:")
		return !ofAWS && o.Number("AttachmentCount") > 0 && isAdminPolicy(o)
	}).inAccount(),
	checkOf("aws-iam-user-direct-policy", ofUser, func(_ *inventory, o world.Object) bool {
		return len(o.List("UserPolicyList"))+len(o.List("AttachedManagedPolicies")) > 0
	}).inAccount(),
	checkOf("aws-iam-role-trust-wildcard", func(e *inventory) *world.Kind { return e.roles }, func(_ *inventory, o world.Object) bool {
		return allowsAnyone(unescape(o.Text("AssumeRolePolicyDocument")))
	}).inAccount(),
	checkOf("aws-iam-server-certificate-expired", func(e *inventory) *world.Kind { return e.certificates }, func(e *inventory, o world.Object) bool {
		return o.Time("Expiration").Before(e.options.Today)
	}).inAccount(),
	checkOf("aws-s3-account-public-access-block", func(e *inventory) *world.Kind { return e.blocks }, func(_ *inventory, o world.Object) bool { return !blocksPublicAccess(o) }).inAccount(),
}

// isKeyOlder reports whether a date column of an active access key is older than
// a number of days.
func isKeyOlder(e *inventory, o world.Object, column string, days int) bool {
	for _, key := range []string{"access_key_1_", "access_key_2_"} {
		if o.Flag("_report", key+"active") && o.Time("_report", key+column).Before(e.ago(days)) {
			return true
		}
	}
	return false
}

// isAdminPolicy reports whether a managed policy allows everything.
func isAdminPolicy(o world.Object) bool {
	for _, v := range o.Objects("PolicyVersionList") {
		if v.Flag("IsDefaultVersion") && allowsEverything(unescape(v.Text("Document"))) {
			return true
		}
	}
	return false
}

// blocksPublicAccess reports whether all four settings of a public access block are on.
func blocksPublicAccess(o world.Object) bool {
	return o.Flag("BlockPublicAcls") && o.Flag("IgnorePublicAcls") && o.Flag("BlockPublicPolicy") && o.Flag("RestrictPublicBuckets")
}

var bucketChecks = []ruleCheck{
	{rule: "aws-s3-bucket-public", kind: ofBucket, isViolated: func(e *inventory, p world.Place, _ string, o world.Object) bool { return e.isPublicBucket(p, o) }},
	checkOf("aws-s3-bucket-encryption", ofBucket, func(_ *inventory, o world.Object) bool { return o.Get("_encryption") == nil }),
	checkOf("aws-s3-bucket-tls-only", ofBucket, func(_ *inventory, o world.Object) bool { return !deniesPlaintext(o.Text("_policy")) }),
	checkOf("aws-s3-bucket-versioning", ofBucket, func(_ *inventory, o world.Object) bool { return o.Text("_versioning", "Status") != "Enabled" }),
	checkOf("aws-s3-bucket-access-logging", ofBucket, func(_ *inventory, o world.Object) bool { return o.Get("_logging") == nil }),
}

// isPublicBucket reports whether a bucket is public: by its policy or ACL, unless
// a public access block of the bucket or account prevents it.
func (e *inventory) isPublicBucket(p world.Place, o world.Object) bool {
	account, _ := e.Get(e.blocks, everywhere(p), p.Account)
	byPolicy := allowsAnyone(o.Text("_policy")) && !o.Flag("_block", "RestrictPublicBuckets") && !account.Flag("RestrictPublicBuckets")
	byList := false
	for _, g := range o.Objects("_acl") {
		if grantee, ok := g.Get("Grantee").(element); ok {
			uri := grantee.Text("URI")
			byList = byList || strings.HasSuffix(uri, "/AllUsers") || strings.HasSuffix(uri, "/AuthenticatedUsers")
		}
	}
	return byPolicy || byList && !o.Flag("_block", "IgnorePublicAcls") && !account.Flag("IgnorePublicAcls")
}

var recordChecks = []ruleCheck{
	checkOf("aws-cloudtrail-log-validation", ofTrail, func(_ *inventory, o world.Object) bool { return !o.Flag("LogFileValidationEnabled") }),
	checkOf("aws-cloudtrail-kms", ofTrail, func(_ *inventory, o world.Object) bool { return o.Text("KmsKeyId") == "" }),
	{rule: "aws-cloudtrail-bucket-public", kind: ofTrail, isViolated: func(e *inventory, p world.Place, _ string, o world.Object) bool {
		bucket, ok := e.Get(e.buckets, p, o.Text("S3BucketName"))
		return ok && e.isPublicBucket(p, bucket)
	}},
	checkOf("aws-cloudtrail-cloudwatch", ofTrail, func(e *inventory, o world.Object) bool {
		return o.Text("CloudWatchLogsLogGroupArn") == "" || o.Time("_delivered").Before(e.ago(1))
	}),
	checkOf("aws-kms-rotation", ofKey, func(_ *inventory, o world.Object) bool {
		return o.Text("KeyManager") == "CUSTOMER" && o.Text("KeyState") == "Enabled" && o.Text("KeySpec") == "SYMMETRIC_DEFAULT" && o.Text("Origin") == "AWS_KMS" && !o.Flag("_rotation")
	}),
	checkOf("aws-kms-key-public", ofKey, func(_ *inventory, o world.Object) bool { return allowsAnyone(o.Text("_policy")) }),
}

// regionFindings returns the findings about missing resources of regions.
func (e *inventory) regionFindings(regions []world.Place) []world.Finding {
	var all []world.Finding
	for _, p := range regions {
		exists := func(k *world.Kind, compliant func(o world.Object) bool) bool {
			found := false
			e.List(k, p, 0, -1, func(_ string, o world.Object) bool {
				found = found || compliant(o)
				return true
			})
			return found
		}
		region, _ := e.Get(e.regions, p, p.Region)
		for rule, compliant := range map[string]bool{
			"aws-ec2-ebs-default-encryption": region.Flag("ebsEncryptionByDefault"),
			"aws-accessanalyzer-enabled": exists(e.analyzers, func(o world.Object) bool {
				return o.Text("status") == "ACTIVE" && (o.Text("type") == "ACCOUNT" || o.Text("type") == "ORGANIZATION")
			}),
			"aws-config-recorder":     exists(e.recorders, func(o world.Object) bool { return o.Flag("_recording") }),
			"aws-guardduty-enabled":   exists(e.detectors, func(o world.Object) bool { return o.Text("status") == "ENABLED" }),
			"aws-securityhub-enabled": exists(e.hubs, func(world.Object) bool { return true }),
		} {
			if !compliant {
				all = append(all, world.Finding{Rule: rule, Entity: entityID("AWS.Account.Region", p, p.Region)})
			}
		}
	}
	return all
}

// isRecorded reports whether a trail records every region.
func (e *inventory) isRecorded(p world.Place) bool {
	found := false
	e.List(e.trails, world.Place{Account: p.Account, Region: e.options.Regions[0]}, 0, -1, func(_ string, o world.Object) bool {
		found = found || o.Flag("IsMultiRegionTrail") && o.Flag("_logging")
		return true
	})
	return found
}

var serviceChecks = []ruleCheck{
	checkOf("aws-rds-public", ofDatabase, func(_ *inventory, o world.Object) bool { return o.Flag("PubliclyAccessible") }),
	checkOf("aws-rds-encrypted", ofDatabase, func(_ *inventory, o world.Object) bool { return !o.Flag("StorageEncrypted") }),
	checkOf("aws-rds-backup", ofDatabase, func(_ *inventory, o world.Object) bool { return o.Number("BackupRetentionPeriod") < 7 }),
	checkOf("aws-rds-minor-upgrade", ofDatabase, func(_ *inventory, o world.Object) bool { return !o.Flag("AutoMinorVersionUpgrade") }),
	checkOf("aws-rds-snapshot-public", func(e *inventory) *world.Kind { return e.dbSnapshots }, func(_ *inventory, o world.Object) bool { return slices.Contains(o.List("_restore"), any("all")) }),
	checkOf("aws-efs-encrypted", func(e *inventory) *world.Kind { return e.fileSystems }, func(_ *inventory, o world.Object) bool { return !o.Flag("Encrypted") }),
	checkOf("aws-lambda-public", ofFunction, func(_ *inventory, o world.Object) bool {
		for _, u := range o.Objects("_urls") {
			if u.Text("AuthType") == "NONE" {
				return true
			}
		}
		return allowsAnyone(o.Text("_policy"))
	}),
	checkOf("aws-lambda-runtime", ofFunction, func(_ *inventory, o world.Object) bool { return o.Text("Runtime") == "python3.7" }),
	checkOf("aws-sqs-public", func(e *inventory) *world.Kind { return e.queues }, func(_ *inventory, o world.Object) bool { return allowsAnyone(o.Text("Policy")) }),
	checkOf("aws-sns-public", func(e *inventory) *world.Kind { return e.topics }, func(_ *inventory, o world.Object) bool { return allowsAnyone(o.Text("Policy")) }),
	checkOf("aws-eks-endpoint-public", func(e *inventory) *world.Kind { return e.eksClusters }, func(_ *inventory, o world.Object) bool {
		return o.Flag("resourcesVpcConfig", "endpointPublicAccess") && slices.Contains(o.List("resourcesVpcConfig", "publicAccessCidrs"), any("0.0.0.0/0"))
	}),
	{rule: "aws-elb-https", kind: func(e *inventory) *world.Kind { return e.loadBalancers }, isViolated: func(e *inventory, p world.Place, _ string, o world.Object) bool {
		return e.servesHTTP(p, o.Text("LoadBalancerArn"))
	}},
	checkOf("aws-cloudfront-https", func(e *inventory) *world.Kind { return e.distributions }, func(_ *inventory, o world.Object) bool {
		return o.Text("DefaultCacheBehavior", "ViewerProtocolPolicy") == "allow-all"
	}).inAccount(),
	checkOf("aws-redshift-public", func(e *inventory) *world.Kind { return e.warehouses }, func(_ *inventory, o world.Object) bool { return o.Flag("PubliclyAccessible") }),
	checkOf("aws-dynamodb-pitr", func(e *inventory) *world.Kind { return e.tables }, func(_ *inventory, o world.Object) bool { return o.Text("_pitr") != "ENABLED" }),
	checkOf("aws-secret-rotation", func(e *inventory) *world.Kind { return e.secrets }, func(_ *inventory, o world.Object) bool { return !o.Flag("RotationEnabled") }),
}

// servesHTTP reports whether a load balancer serves HTTP other than a redirect.
func (e *inventory) servesHTTP(p world.Place, balancer string) bool {
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

// Today returns the reference time of ages.
func (c *Cloud) Today() time.Time { return c.options.Today }
