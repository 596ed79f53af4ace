package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"golang.org/x/sync/errgroup"
)

// concurrentItems is the maximum number of concurrent calls for the items of a page.
const concurrentItems = 8

// completeEach makes a call for each item.
func completeEach[T any](ctx context.Context, items []T, call func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrentItems)
	for _, item := range items {
		group.Go(func() error { return call(ctx, item) })
	}
	return group.Wait()
}

// completeInstances reads the user data of the instances that still exist.
func completeInstances(ctx context.Context, client *ec2.Client, page *ec2.DescribeInstancesOutput) (int, error) {
	var instances []ec2types.Instance
	for _, r := range page.Reservations {
		instances = append(instances, r.Instances...)
	}
	return len(instances), completeEach(ctx, instances, func(ctx context.Context, i ec2types.Instance) error {
		if s := i.State.Name; s == ec2types.InstanceStateNameTerminated || s == ec2types.InstanceStateNameShuttingDown {
			return nil
		}
		_, err := client.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{
			InstanceId: i.InstanceId, Attribute: ec2types.InstanceAttributeNameUserData,
		})
		return err
	})
}

// completeTemplates reads the default version of launch templates.
func completeTemplates(ctx context.Context, client *ec2.Client, page *ec2.DescribeLaunchTemplatesOutput) (int, error) {
	isDefault := []ec2types.Filter{{Name: aws.String("is-default-version"), Values: []string{"true"}}}
	return len(page.LaunchTemplates), completeEach(ctx, page.LaunchTemplates, func(ctx context.Context, t ec2types.LaunchTemplate) error {
		_, err := client.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: t.LaunchTemplateId, Filters: isDefault})
		return err
	})
}

// completeSecrets reads the resource policies of secrets.
func completeSecrets(ctx context.Context, client *secretsmanager.Client, page *secretsmanager.ListSecretsOutput) (int, error) {
	arns := make([]*string, len(page.SecretList))
	for i, s := range page.SecretList {
		arns[i] = s.ARN
	}
	return len(arns), completeEach(ctx, arns, func(ctx context.Context, arn *string) error {
		_, err := client.GetResourcePolicy(ctx, &secretsmanager.GetResourcePolicyInput{SecretId: arn})
		return err
	})
}
