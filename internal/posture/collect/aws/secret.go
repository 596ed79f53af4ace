package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	secrettypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"vigil/internal/posture/collect"
)

// What secrets say is never read.
var secrets = listed(declaration{
	Type: secretType, Scope: collect.PerRegion, Service: "secretsmanager", Doc: "A secret that is kept, without what it says.",
	Permissions: []string{"secretsmanager:ListSecrets"},
	Properties: properties{
		flag("rotationEnabled", "It is changed by itself."),
		text("lastRotatedDate", "When it was last changed by itself; absent when it never was."),
		text("lastChangedDate", "When it was last changed."),
		text("createdDate", "When it was made."),
		text("kmsKeyId", "The key it is encrypted with; absent when the service's own is."),
		text("owningService", "The service that made it."),
		long("rotationDays", "After how many days it is changed."),
	},
	Edges: edges{
		edge("ENCRYPTED_BY", "The key it is encrypted with.", keyType, aliasType),
		edge("ROTATED_BY", "The function that changes it.", functionType),
	},
	Events: events{on("secretsmanager", "CreateSecret", "UpdateSecret", "DeleteSecret", "RestoreSecret", "RotateSecret", "CancelRotateSecret", "PutSecretValue",
		"TagResource", "UntagResource")},
}, func(ctx context.Context, s *scope, _ []string, page func([]secrettypes.SecretListEntry) error) error {
	in := &secretsmanager.ListSecretsInput{MaxResults: aws.Int32(100)}
	return each(ctx, secretsmanager.NewListSecretsPaginator(secretsmanager.NewFromConfig(s.config), in), func(out *secretsmanager.ListSecretsOutput) error {
		return page(out.SecretList)
	})
}, func(s *scope, v *secrettypes.SecretListEntry) *resource {
	arn := aws.ToString(v.ARN)
	r := s.resource(secretType, arn[lastColon(arn)+1:])
	r.Name, r.XID = aws.ToString(v.Name), arn
	for _, tag := range v.Tags {
		r.Tag(aws.ToString(tag.Key), aws.ToString(tag.Value))
	}
	r.Flag("rotationEnabled", aws.ToBool(v.RotationEnabled)).Text("kmsKeyId", aws.ToString(v.KmsKeyId)).Text("owningService", aws.ToString(v.OwningService)).
		Edge("ENCRYPTED_BY", s.key(v.KmsKeyId)).Edge("ROTATED_BY", s.refs(v.RotationLambdaARN))
	if v.RotationRules != nil {
		number(r, "rotationDays", v.RotationRules.AutomaticallyAfterDays)
	}
	when(r, "lastRotatedDate", v.LastRotatedDate)
	when(r, "lastChangedDate", v.LastChangedDate)
	return when(r, "createdDate", v.CreatedDate)
})

var parameters = listed(declaration{
	Type: parameterType, Scope: collect.PerRegion, Service: "ssm", Doc: "A setting that is kept, without its value.",
	Permissions: []string{"ssm:DescribeParameters"},
	Properties: properties{
		text("type", "String, StringList, or SecureString when it is encrypted."),
		text("tier", "Standard or Advanced."),
		text("dataType", "text, or what its value names."),
		text("keyId", "The key it is encrypted with."),
		text("lastModifiedDate", "When it was last changed."),
		long("version", "How often it was changed."),
	},
	Edges:  edges{edge("ENCRYPTED_BY", "The key it is encrypted with.", keyType, aliasType)},
	Events: events{on("ssm", "PutParameter", "DeleteParameter", "DeleteParameters")},
}, func(ctx context.Context, s *scope, names []string, page func([]ssmtypes.ParameterMetadata) error) error {
	in := &ssm.DescribeParametersInput{MaxResults: aws.Int32(50)}
	if len(names) > 0 {
		in.ParameterFilters = []ssmtypes.ParameterStringFilter{{Key: aws.String("Name"), Option: aws.String("Equals"), Values: names}}
	}
	return each(ctx, ssm.NewDescribeParametersPaginator(ssm.NewFromConfig(s.config), in), func(out *ssm.DescribeParametersOutput) error { return page(out.Parameters) })
}, func(s *scope, v *ssmtypes.ParameterMetadata) *resource {
	name := aws.ToString(v.Name)
	r := s.resource(parameterType, name)
	r.XID = aws.ToString(first(v.ARN, aws.String(s.arn("ssm", "parameter/"+name))))
	r.Text("type", string(v.Type)).Text("tier", string(v.Tier)).Text("dataType", aws.ToString(v.DataType)).Text("keyId", aws.ToString(v.KeyId)).
		Number("version", v.Version).Edge("ENCRYPTED_BY", s.key(v.KeyId))
	return when(r, "lastModifiedDate", v.LastModifiedDate)
})
