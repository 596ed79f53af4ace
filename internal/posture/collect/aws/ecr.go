package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecr/types"

	"vigil/internal/posture/collect"
)

var repositories = detailed(declaration{
	Type: repositoryType, Scope: collect.PerRegion, Service: "ecr", Doc: "Where images of containers are kept.",
	Permissions: []string{"ecr:DescribeRepositories", "ecr:GetRepositoryPolicy"},
	Properties: append(properties{
		text("repositoryUri", "Where it answers."),
		flag("scanOnPush", "New images are scanned."),
		text("imageTagMutability", "MUTABLE when a tag can be given to another image."),
		text("encryptionType", "AES256, KMS or KMS_DSSE."),
		text("createdAt", "When it was made."),
	}, policyProperties...),
	Edges:  edges{edge("ENCRYPTED_BY", "The key of its images.", keyType)},
	Events: events{on("ecr", "CreateRepository", "DeleteRepository", "SetRepositoryPolicy", "DeleteRepositoryPolicy", "PutImageScanningConfiguration", "PutImageTagMutability")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Repository) error) error {
	in := &ecr.DescribeRepositoriesInput{RepositoryNames: names, MaxResults: limit(names, 1000)}
	return each(ctx, ecr.NewDescribeRepositoriesPaginator(ecr.NewFromConfig(s.config), in), func(out *ecr.DescribeRepositoriesOutput) error { return page(out.Repositories) })
}, func(ctx context.Context, s *scope, v *types.Repository) (*resource, error) {
	r := s.resource(repositoryType, aws.ToString(v.RepositoryName))
	r.XID = aws.ToString(v.RepositoryArn)
	r.Text("repositoryUri", aws.ToString(v.RepositoryUri)).Text("imageTagMutability", string(v.ImageTagMutability))
	if v.ImageScanningConfiguration != nil {
		r.Flag("scanOnPush", v.ImageScanningConfiguration.ScanOnPush)
	}
	if e := v.EncryptionConfiguration; e != nil {
		r.Text("encryptionType", string(e.EncryptionType)).Edge("ENCRYPTED_BY", s.key(e.KmsKey))
	}
	when(r, "createdAt", v.CreatedAt)
	return r, detail(r, policyNames, func() error {
		out, err := ecr.NewFromConfig(s.config).GetRepositoryPolicy(ctx, &ecr.GetRepositoryPolicyInput{RepositoryName: v.RepositoryName})
		if err == nil {
			policyFacts(r, aws.ToString(out.PolicyText))
		}
		return err
	})
})
