package aws

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

var keys = detailed(declaration{
	Type: keyType, Scope: collect.PerRegion, Service: "kms", Doc: "A key that encrypts or signs.",
	Permissions: []string{"kms:ListKeys", "kms:DescribeKey", "kms:GetKeyPolicy", "kms:GetKeyRotationStatus", "kms:ListResourceTags"},
	Properties: append(properties{
		text("keyId", "Its id."),
		text("description", "What its owner says it is for."),
		text("keyManager", "CUSTOMER, or AWS for one that a service made."),
		text("keyState", "Enabled when it can be used; PendingDeletion when it is going."),
		text("keySpec", "SYMMETRIC_DEFAULT, or what kind of key pair or code it is."),
		text("keyUsage", "ENCRYPT_DECRYPT, SIGN_VERIFY, GENERATE_VERIFY_MAC or KEY_AGREEMENT."),
		text("origin", "AWS_KMS, or EXTERNAL, AWS_CLOUDHSM and others for one made elsewhere."),
		text("creationDate", "When it was made."),
		text("deletionDate", "When it will be deleted; absent when it will not."),
		flag("multiRegion", "It is the same key in other regions."),
		flag("rotationEnabled", "It is changed every year by itself. Only for keys that can be."),
	}, policyProperties...),
	Events: events{on("kms", "CreateKey", "EnableKey", "DisableKey", "EnableKeyRotation", "DisableKeyRotation", "PutKeyPolicy", "ScheduleKeyDeletion",
		"CancelKeyDeletion", "UpdateKeyDescription", "TagResource", "UntagResource")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.KeyListEntry) error) error {
	if len(names) > 0 {
		return page([]types.KeyListEntry{{KeyId: &names[0]}})
	}
	in := &kms.ListKeysInput{Limit: aws.Int32(1000)}
	return each(ctx, kms.NewListKeysPaginator(kms.NewFromConfig(s.config), in), func(out *kms.ListKeysOutput) error { return page(out.Keys) })
}, func(ctx context.Context, s *scope, v *types.KeyListEntry) (*resource, error) {
	client := kms.NewFromConfig(s.config)
	id := aws.ToString(v.KeyId)
	r := s.resource(keyType, id)
	r.XID = s.arn("kms", "key/"+id)
	r.Text("keyId", id)
	about, err := client.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: v.KeyId})
	switch err = plain(err); {
	case errors.Is(err, collect.ErrGone):
		return nil, nil
	case collect.Over(err):
		return nil, err
	case err != nil:
		r.Unread(err, "keyManager", "keyState", "keySpec", "keyUsage", "origin", "creationDate", "deletionDate", "multiRegion", "description", "rotationEnabled")
	default:
		describeKey(r, about.KeyMetadata)
		if err := keyRotation(ctx, client, r, about.KeyMetadata); err != nil {
			return nil, err
		}
	}
	err = detail(r, policyNames, func() error {
		out, err := client.GetKeyPolicy(ctx, &kms.GetKeyPolicyInput{KeyId: v.KeyId, PolicyName: aws.String("default")})
		if err == nil {
			policyFacts(r, aws.ToString(out.Policy))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, detail(r, []string{posture.TagsUnread}, func() error {
		out, err := client.ListResourceTags(ctx, &kms.ListResourceTagsInput{KeyId: v.KeyId})
		if err == nil {
			for _, t := range out.Tags {
				r.Tag(aws.ToString(t.TagKey), aws.ToString(t.TagValue))
			}
		}
		return err
	})
})

func describeKey(r *resource, m *types.KeyMetadata) {
	r.Text("keyManager", string(m.KeyManager)).Text("keyState", string(m.KeyState)).Text("keySpec", string(m.KeySpec)).
		Text("keyUsage", string(m.KeyUsage)).Text("origin", string(m.Origin)).Text("description", aws.ToString(m.Description)).
		Flag("multiRegion", aws.ToBool(m.MultiRegion))
	when(r, "creationDate", m.CreationDate)
	when(r, "deletionDate", m.DeletionDate)
}

// keyRotation asks about rotation only where there can be one.
func keyRotation(ctx context.Context, client *kms.Client, r *resource, m *types.KeyMetadata) error {
	if m.KeyManager != types.KeyManagerTypeCustomer || m.KeySpec != types.KeySpecSymmetricDefault || m.Origin != types.OriginTypeAwsKms ||
		m.KeyState != types.KeyStateEnabled && m.KeyState != types.KeyStateDisabled {
		return nil
	}
	return detail(r, []string{"rotationEnabled"}, func() error {
		out, err := client.GetKeyRotationStatus(ctx, &kms.GetKeyRotationStatusInput{KeyId: m.KeyId})
		if err == nil {
			r.Flag("rotationEnabled", out.KeyRotationEnabled)
		}
		return err
	})
}

var aliases = listed(declaration{
	Type: aliasType, Scope: collect.PerRegion, Service: "kms", Doc: "A name for a key.",
	Permissions: []string{"kms:ListAliases"},
	Properties: properties{
		text("targetKeyId", "The key it is for; absent for a service's that was never used."),
		text("creationDate", "When it was made."),
	},
	Edges:  edges{edge("NAMES", "The key it is for.", keyType)},
	Events: events{on("kms", "CreateAlias", "UpdateAlias", "DeleteAlias")},
}, func(ctx context.Context, s *scope, _ []string, page func([]types.AliasListEntry) error) error {
	in := &kms.ListAliasesInput{Limit: aws.Int32(100)}
	return each(ctx, kms.NewListAliasesPaginator(kms.NewFromConfig(s.config), in), func(out *kms.ListAliasesOutput) error { return page(out.Aliases) })
}, func(s *scope, v *types.AliasListEntry) *resource {
	r := s.resource(aliasType, strings.TrimPrefix(aws.ToString(v.AliasName), "alias/"))
	r.XID = aws.ToString(v.AliasArn)
	r.Text("targetKeyId", aws.ToString(v.TargetKeyId)).Edge("NAMES", s.id(keyType, v.TargetKeyId))
	return when(r, "creationDate", v.CreationDate)
})
