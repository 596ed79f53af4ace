package aws

import (
	"fmt"
	"strings"

	"vigil/internal/sim/world"
)

func (e *inventory) makeBuckets() {
	// A bucket's name contains its account and region, so that it can be found by
	// name alone.
	e.buckets = e.numberNamed("AWS.S3.Bucket", func(p world.Place, i int) string {
		return fmt.Sprintf("%s-%s-%s-%d", world.PickOne(e.seed(p).With("bucket").Nth(i), "logs", "assets", "backup", "reports"), p.Account, p.Region, i)
	}, e.share(30, 4), e.bucket)
	e.blocks = e.single("AWS.S3.AccountPublicAccessBlock", func(p world.Place) world.Object {
		blocked := !e.violates("aws-s3-account-public-access-block", p, 0)
		return world.Obj("BlockPublicAcls", blocked, "IgnorePublicAcls", blocked, "BlockPublicPolicy", blocked, "RestrictPublicBuckets", blocked)
	})
}

func (e *inventory) bucket(p world.Place, i int, name string) world.Object {
	s := e.seed(p).With("bucket").Nth(i)
	public := e.violates("aws-s3-bucket-public", p, i)
	resource := "arn:aws:s3:::" + name
	statements := []world.Object{withCondition(allow("AWS:"+arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), i)), "s3:GetObject", resource+"/*"),
		"StringEquals", "aws:PrincipalAccount", p.Account)}
	if !e.violates("aws-s3-bucket-tls-only", p, i) {
		statements = append(statements, tlsOnly(resource))
	}
	grants := world.Items(grant("CanonicalUser", "ID", e.seed(everywhere(p)).With("canonical").Hex(64), "FULL_CONTROL"))
	if public {
		if s.With("how").Share(0.5) {
			statements = append(statements, allow("*", "s3:GetObject", resource+"/*"))
		} else {
			grants = append(grants, grant("Group", "URI", "http://acs.amazonaws.com/groups/global/AllUsers", "READ"))
		}
	}
	o := world.Obj("Name", name, "CreationDate", e.ago(100+i%500), "BucketRegion", p.Region, "_acl", grants, "_tags", e.tagList(p, "bucket", i, "Key", "Value"))
	// Some buckets have no policy at all, to cover the error for that.
	if len(statements) > 1 || s.With("policy").Share(0.5) {
		o = append(o, world.Obj("_policy", policy(statements...))...)
	}
	if !public {
		o = append(o, world.Obj("_block", world.Obj("BlockPublicAcls", true, "IgnorePublicAcls", true, "BlockPublicPolicy", true, "RestrictPublicBuckets", true))...)
	}
	if !e.violates("aws-s3-bucket-encryption", p, i) {
		sse := world.Obj("SSEAlgorithm", "AES256")
		if s.With("kms").Share(0.5) {
			sse = world.Obj("SSEAlgorithm", "aws:kms", "KMSMasterKeyID", e.keyARN(p, i))
		}
		o = append(o, world.Obj("_encryption", sse)...)
	}
	if !e.violates("aws-s3-bucket-versioning", p, i) {
		o = append(o, world.Obj("_versioning", world.Obj("Status", "Enabled", "MfaDelete", "Disabled"))...)
	}
	if !e.violates("aws-s3-bucket-access-logging", p, i) {
		o = append(o, world.Obj("_logging", world.Obj("TargetBucket", e.buckets.Name(p, 0), "TargetPrefix", name+"/"))...)
	}
	return o
}

func grant(kind, field, grantee, permission string) world.Object {
	return world.Obj("Grantee", element{world.Obj(field, grantee), ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="` + kind + `"`}, "Permission", permission)
}

// bucketPlace returns the account and region of a bucket of an account from its name.
func bucketPlace(account, name string) world.Place {
	_, rest, _ := strings.Cut(name, "-"+account+"-")
	region := rest[:max(0, strings.LastIndex(rest, "-"))]
	return world.Place{Account: account, Region: region}
}

func s3Service(c *Cloud) {
	c.register("s3", "ListBuckets", c.listBuckets)
	detail := func(action, field, missing string, write func(o world.Object) (answer, error)) {
		c.register("s3", action, func(x *call) (answer, error) {
			name := x.text("Bucket")
			o, ok := c.Get(c.inventory.buckets, bucketPlace(x.account, name), name)
			if !ok {
				return answer{}, &failure{404, "NoSuchBucket", "The specified bucket does not exist"}
			}
			if o.Get(field) == nil && missing != "" {
				return answer{}, &failure{404, missing, "There is none"}
			}
			return write(o)
		})
	}
	detail("GetBucketPolicy", "_policy", "NoSuchBucketPolicy", func(o world.Object) (answer, error) { return answer{raw: o.Text("_policy")}, nil })
	detail("GetBucketPolicyStatus", "_policy", "NoSuchBucketPolicy", func(o world.Object) (answer, error) {
		return answer{root: "PolicyStatus", Object: world.Obj("IsPublic", allowsAnyone(o.Text("_policy")))}, nil
	})
	detail("GetBucketAcl", "_acl", "", func(o world.Object) (answer, error) {
		return answer{root: "AccessControlPolicy", Object: world.Obj("Owner", world.Obj("ID", "owner"), "AccessControlList", listOf("Grant", o.List("_acl")))}, nil
	})
	detail("GetPublicAccessBlock", "_block", "NoSuchPublicAccessBlockConfiguration", func(o world.Object) (answer, error) {
		return answer{root: "PublicAccessBlockConfiguration", Object: o.Get("_block").(world.Object)}, nil
	})
	detail("GetBucketEncryption", "_encryption", "ServerSideEncryptionConfigurationNotFoundError", func(o world.Object) (answer, error) {
		rule := world.Obj("ApplyServerSideEncryptionByDefault", o.Get("_encryption"), "BucketKeyEnabled", true)
		return answer{root: "ServerSideEncryptionConfiguration", Object: world.Obj("Rule", flatList(world.Items(rule)))}, nil
	})
	detail("GetBucketVersioning", "", "", func(o world.Object) (answer, error) {
		v, _ := o.Get("_versioning").(world.Object)
		return answer{root: "VersioningConfiguration", Object: v}, nil
	})
	detail("GetBucketLogging", "", "", func(o world.Object) (answer, error) {
		out := world.Object{}
		if v := o.Get("_logging"); v != nil {
			out = world.Obj("LoggingEnabled", v)
		}
		return answer{root: "BucketLoggingStatus", Object: out}, nil
	})
	detail("GetBucketTagging", "_tags", "NoSuchTagSet", func(o world.Object) (answer, error) {
		return answer{root: "Tagging", Object: world.Obj("TagSet", listOf("Tag", o.List("_tags")))}, nil
	})
	// No bucket has the following fields, so that these calls always answer that there is none.
	detail("GetBucketLifecycleConfiguration", "_lifecycle", "NoSuchLifecycleConfiguration", nil)
	detail("GetBucketOwnershipControls", "_ownership", "OwnershipControlsNotFoundError", nil)
	detail("GetObjectLockConfiguration", "_lock", "ObjectLockConfigurationNotFoundError", nil)
	c.register("s3-control", "GetPublicAccessBlock", func(x *call) (answer, error) {
		o, ok := c.Get(c.inventory.blocks, x.global(), x.account)
		if !ok {
			return answer{}, &failure{404, "NoSuchPublicAccessBlockConfiguration", "There is none"}
		}
		return answer{root: "PublicAccessBlockConfiguration", Object: o.Visible()}, nil
	})
}

// listBuckets lists the buckets of one region, or of all.
func (c *Cloud) listBuckets(x *call) (answer, error) {
	region := x.text("bucket-region")
	if region == "" {
		var all []any
		for _, name := range c.options.Regions {
			c.List(c.inventory.buckets, world.Place{Account: x.account, Region: name}, 0, -1, func(_ string, o world.Object) bool {
				all = append(all, o.Visible())
				return true
			})
		}
		return answer{root: "ListAllMyBucketsResult", Object: world.Obj("Buckets", listOf("Bucket", all))}, nil
	}
	x.region = region
	return x.list(c, listing{
		kind: c.inventory.buckets, root: "ListAllMyBucketsResult", field: "Buckets", item: "Bucket", token: "continuation-token", next: "ContinuationToken",
		max: "max-buckets", page: 1000,
		only: func(name string, _ world.Object) bool { return strings.HasPrefix(name, x.text("prefix")) },
	})
}
