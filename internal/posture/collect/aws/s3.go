package aws

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/s3control"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// The names of the four switches against public access.
var publicSwitches = []string{"blockPublicAcls", "ignorePublicAcls", "blockPublicPolicy", "restrictPublicBuckets"}

var switchProperties = properties{
	flag("blockPublicAcls", "New public access control lists are refused."),
	flag("ignorePublicAcls", "Public access control lists have no effect."),
	flag("blockPublicPolicy", "New public policies are refused."),
	flag("restrictPublicBuckets", "A public policy opens it to its own account alone."),
}

// Buckets are read in the region they are in, but a reference to one does not
// say where that is: their ids say global.
var buckets = detailed(declaration{
	Type: bucketType, Scope: collect.PerRegion, Service: "s3", Doc: "A container of objects.",
	Permissions: []string{
		"s3:ListAllMyBuckets", "s3:GetBucketPolicy", "s3:GetBucketPolicyStatus", "s3:GetBucketAcl", "s3:GetBucketPublicAccessBlock",
		"s3:GetEncryptionConfiguration", "s3:GetBucketVersioning", "s3:GetBucketLogging", "s3:GetBucketTagging",
	},
	Properties: append(append(properties{
		text("creationDate", "When it was made."),
		flag("policyStatusIsPublic", "AWS judges its policy to be public."),
		flag("policyTlsOnly", "Its policy refuses calls that are not encrypted."),
		texts("aclGrants", "Whom its access control list allows what, such as AllUsers READ."),
		flag("aclIsPublic", "Its access control list allows everybody, or everybody with an AWS account, something."),
		texts("publicAccessBlock", "Which of the four switches against public access are on."),
		text("serverSideEncryption", "How objects are encrypted unless they say otherwise: AES256, aws:kms or aws:kms:dsse."),
		text("kmsKeyId", "The key for that."),
		text("versioningStatus", "Enabled, Suspended, or Disabled when it never was on."),
		text("mfaDelete", "Enabled when deleting takes a second factor."),
		text("loggingTarget", "The bucket that its access log is written to; absent when there is none."),
	}, switchProperties...), policyProperties...),
	Edges: edges{
		edge("IN_ACCOUNT", "The account's switches against public access.", accountPublicBlockType),
		edge("LOGS_TO", "Where its access log is written.", bucketType),
		edge("ENCRYPTED_BY", "The key for objects that do not name one.", keyType),
	},
	Events: events{on("s3", "CreateBucket", "DeleteBucket", "PutBucketPolicy", "DeleteBucketPolicy", "PutBucketAcl", "PutBucketPublicAccessBlock",
		"DeleteBucketPublicAccessBlock", "PutBucketEncryption", "DeleteBucketEncryption", "PutBucketVersioning", "PutBucketLogging",
		"PutBucketTagging", "DeleteBucketTagging", "PutBucketOwnershipControls")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Bucket) error) error {
	in := &s3.ListBucketsInput{BucketRegion: aws.String(s.region), MaxBuckets: aws.Int32(1000)}
	if len(names) > 0 {
		in.Prefix = &names[0]
	}
	return each(ctx, s3.NewListBucketsPaginator(s3.NewFromConfig(s.config), in), func(out *s3.ListBucketsOutput) error {
		here := out.Buckets[:0]
		for _, b := range out.Buckets {
			if region := aws.ToString(b.BucketRegion); region == "" || region == s.region {
				here = append(here, b)
			}
		}
		return page(here)
	})
}, func(ctx context.Context, s *scope, v *types.Bucket) (*resource, error) {
	b := bucket{s3.NewFromConfig(s.config), v.Name, s.resource(bucketType, aws.ToString(v.Name))}
	b.ID = s.global(bucketType, b.Name)
	b.XID = "arn:" + s.partition.name + ":s3:::" + b.Name
	when(b.resource, "creationDate", v.CreationDate)
	b.Edge("IN_ACCOUNT", s.global(accountPublicBlockType, string(s.account)))
	for _, read := range []func(context.Context, *scope) error{b.policy, b.acl, b.block, b.encryption, b.versioning, b.logging, b.tagging} {
		if err := read(ctx, s); err != nil {
			if errors.Is(err, errBucketGone) {
				return nil, nil
			}
			return nil, err
		}
	}
	return b.resource, nil
})

// A bucket is one that is being looked at.
type bucket struct {
	client *s3.Client
	name   *string
	*resource
}

// errBucketGone says that a bucket went away while it was read. What its other
// calls would say of "nothing configured" must not be believed.
var errBucketGone = fmt.Errorf("the bucket is gone: %w", context.Canceled)

// read makes one call into the properties of the given names. When nothing is
// configured, absent says what that means.
func (b bucket) read(names []string, f func() error, absent func()) error {
	return detail(b.resource, names, func() error {
		err := f()
		if e, ok := errors.AsType[*classError](err); ok && e.code == "NoSuchBucket" {
			return errBucketGone
		}
		if errors.Is(err, collect.ErrGone) && absent != nil {
			absent()
			return nil
		}
		return err
	})
}

func (b bucket) policy(ctx context.Context, _ *scope) error {
	none := func() {
		b.Flag("policyStatusIsPublic", false).Flag("policyTlsOnly", false).Flag("policyIsPublic", false)
	}
	exists := false
	err := b.read(append([]string{"policyTlsOnly"}, policyNames...), func() error {
		out, err := b.client.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: b.name})
		if err != nil {
			return err
		}
		exists = true
		b.Flag("policyTlsOnly", policyFacts(b.resource, aws.ToString(out.Policy)).TLSOnly())
		return nil
	}, none)
	if err != nil || !exists && !b.IsUnread("policy") {
		return err // without a policy there is no status to ask for
	}
	return b.read([]string{"policyStatusIsPublic"}, func() error {
		out, err := b.client.GetBucketPolicyStatus(ctx, &s3.GetBucketPolicyStatusInput{Bucket: b.name})
		if err == nil && out.PolicyStatus != nil {
			b.Flag("policyStatusIsPublic", aws.ToBool(out.PolicyStatus.IsPublic))
		}
		return err
	}, func() { b.Flag("policyStatusIsPublic", false) })
}

func (b bucket) acl(ctx context.Context, _ *scope) error {
	return b.read([]string{"aclGrants", "aclIsPublic"}, func() error {
		out, err := b.client.GetBucketAcl(ctx, &s3.GetBucketAclInput{Bucket: b.name})
		if err != nil {
			return err
		}
		var grants []string
		public := false
		for _, g := range out.Grants {
			if g.Grantee == nil {
				continue
			}
			who := aws.ToString(first(g.Grantee.URI, g.Grantee.ID, g.Grantee.EmailAddress))
			who = who[strings.LastIndex(who, "/")+1:]
			public = public || who == "AllUsers" || who == "AuthenticatedUsers"
			grants = append(grants, who+" "+string(g.Permission))
		}
		set(b.resource, "aclGrants", grants).Flag("aclIsPublic", public)
		return nil
	}, nil)
}

func (b bucket) block(ctx context.Context, _ *scope) error {
	return b.read(append([]string{"publicAccessBlock"}, publicSwitches...), func() error {
		out, err := b.client.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: b.name})
		if err != nil {
			return err
		}
		c := out.PublicAccessBlockConfiguration
		switches(b.resource, c.BlockPublicAcls, c.IgnorePublicAcls, c.BlockPublicPolicy, c.RestrictPublicBuckets)
		return nil
	}, func() { switches(b.resource, nil, nil, nil, nil) })
}

// switches adds the four switches; one that is not set is off.
func switches(r *resource, values ...*bool) {
	for i, name := range publicSwitches {
		r.Flag(name, aws.ToBool(values[i]))
		if aws.ToBool(values[i]) && r.Type == bucketType {
			r.Text("publicAccessBlock", name)
		}
	}
}

func (b bucket) encryption(ctx context.Context, s *scope) error {
	return b.read([]string{"serverSideEncryption", "kmsKeyId", "ENCRYPTED_BY"}, func() error {
		out, err := b.client.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: b.name})
		if err != nil {
			return err
		}
		for _, rule := range out.ServerSideEncryptionConfiguration.Rules {
			if d := rule.ApplyServerSideEncryptionByDefault; d != nil {
				b.Text("serverSideEncryption", string(d.SSEAlgorithm)).Text("kmsKeyId", aws.ToString(d.KMSMasterKeyID))
				b.Edge("ENCRYPTED_BY", s.key(d.KMSMasterKeyID))
			}
		}
		return nil
	}, func() {})
}

func (b bucket) versioning(ctx context.Context, _ *scope) error {
	return b.read([]string{"versioningStatus", "mfaDelete"}, func() error {
		out, err := b.client.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: b.name})
		if err != nil {
			return err
		}
		status := string(out.Status)
		if status == "" {
			status = "Disabled"
		}
		b.Text("versioningStatus", status).Text("mfaDelete", string(out.MFADelete))
		return nil
	}, nil)
}

func (b bucket) logging(ctx context.Context, s *scope) error {
	return b.read([]string{"loggingTarget", "LOGS_TO"}, func() error {
		out, err := b.client.GetBucketLogging(ctx, &s3.GetBucketLoggingInput{Bucket: b.name})
		if err == nil && out.LoggingEnabled != nil {
			to := aws.ToString(out.LoggingEnabled.TargetBucket)
			b.Text("loggingTarget", to).Edge("LOGS_TO", s.global(bucketType, to))
		}
		return err
	}, nil)
}

func (b bucket) tagging(ctx context.Context, _ *scope) error {
	return b.read([]string{posture.TagsUnread}, func() error {
		out, err := b.client.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: b.name})
		if err != nil {
			return err
		}
		for _, t := range out.TagSet {
			b.Tag(aws.ToString(t.Key), aws.ToString(t.Value))
		}
		return nil
	}, func() {})
}

var accountPublicBlock = single(declaration{
	Type: accountPublicBlockType, Scope: collect.PerAccount, Service: "s3", Doc: "The account's switches against public buckets.",
	Permissions: []string{"s3:GetAccountPublicAccessBlock"},
	Properties:  switchProperties,
	Events:      events{on("s3", "PutAccountPublicAccessBlock", "DeleteAccountPublicAccessBlock")},
}, func(ctx context.Context, s *scope) (*resource, error) {
	r := s.resource(accountPublicBlockType, string(s.account))
	r.XID = s.arn("s3", "account-public-access-block")
	out, err := s3control.NewFromConfig(s.config).GetPublicAccessBlock(ctx, &s3control.GetPublicAccessBlockInput{AccountId: aws.String(string(s.account))})
	switch err = plain(err); {
	case errors.Is(err, collect.ErrGone):
		switches(r, nil, nil, nil, nil)
		return r, nil
	case collect.Over(err):
		return nil, err
	case err != nil:
		unknown(r, err, publicSwitches...)
		return r, err
	}
	c := out.PublicAccessBlockConfiguration
	switches(r, c.BlockPublicAcls, c.IgnorePublicAcls, c.BlockPublicPolicy, c.RestrictPublicBuckets)
	return r, nil
})
