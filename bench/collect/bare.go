package main

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/sync/errgroup"

	"vigil/internal/posture"
)

// types are the types to read. Most resources of a large account have one of them.
// Their list calls return all properties, except for instances, launch templates and
// secrets: each of these costs one more call.
var types = []posture.EntityType{
	"AWS.EC2.Instance", "AWS.EC2.Volume", "AWS.EC2.NetworkInterface", "AWS.EC2.Snapshot", "AWS.EC2.SecurityGroup", "AWS.EC2.Subnet",
	"AWS.EC2.RouteTable", "AWS.EC2.NetworkAcl", "AWS.EC2.Image", "AWS.EC2.LaunchTemplate", "AWS.Logs.LogGroup", "AWS.CloudWatch.Alarm",
	"AWS.SSM.Parameter", "AWS.SecretsManager.Secret",
}

// bare reads accounts with the SDK alone, as its documentation shows.
type bare struct {
	cloud  cloud
	client *http.Client
}

// pager is one of the SDK's paginators.
type pager[O, Opt any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*Opt)) (*O, error)
}

// count lists all pages and counts their items.
func count[O, Opt any](ctx context.Context, p pager[O, Opt], itemsOf func(*O) int) (int, error) {
	return complete(ctx, p, func(page *O) (int, error) { return itemsOf(page), nil })
}

// complete lists all pages and returns the number of their items. completePage makes the
// further calls for the items of a page and returns their number.
func complete[O, Opt any](ctx context.Context, p pager[O, Opt], completePage func(*O) (int, error)) (total int, err error) {
	for p.HasMorePages() {
		out, err := p.NextPage(ctx)
		if err != nil {
			return total, err
		}
		n, err := completePage(out)
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// read lists the resources of an account and returns their number.
func (b bare) read(ctx context.Context, a posture.Access) (int, error) {
	config := aws.Config{
		Region: region, HTTPClient: b.client, Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(b.cloud.Key, b.cloud.Secret, "")),
	}
	role := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(config), a.Credential.Property(posture.PropRoleArn), func(o *stscreds.AssumeRoleOptions) {
		o.ExternalID = aws.String(a.Credential.Property(posture.PropExternalID))
	})
	config.Credentials = aws.NewCredentialsCache(role)
	if _, err := ec2.NewFromConfig(config).DescribeRegions(ctx, &ec2.DescribeRegionsInput{}); err != nil {
		return 0, err
	}
	var total atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrentLists)
	for _, list := range listFunctions(config) {
		group.Go(func() error {
			n, err := list(ctx)
			total.Add(int64(n))
			return err
		})
	}
	err := group.Wait()
	return int(total.Load()), err
}

// listFunctions returns a function for each list to read, with the same page size as the product.
func listFunctions(config aws.Config) []func(context.Context) (int, error) {
	many, few := aws.Int32(1000), aws.Int32(50)
	self := []string{"self"}
	e, logs, watch := ec2.NewFromConfig(config), cloudwatchlogs.NewFromConfig(config), cloudwatch.NewFromConfig(config)
	alarms := []cwtypes.AlarmType{cwtypes.AlarmTypeMetricAlarm, cwtypes.AlarmTypeCompositeAlarm}
	return []func(context.Context) (int, error){
		func(ctx context.Context) (int, error) {
			return complete(ctx, ec2.NewDescribeInstancesPaginator(e, &ec2.DescribeInstancesInput{MaxResults: many}),
				func(o *ec2.DescribeInstancesOutput) (int, error) { return completeInstances(ctx, e, o) })
		},
		func(ctx context.Context) (int, error) {
			return count(ctx, ec2.NewDescribeVolumesPaginator(e, &ec2.DescribeVolumesInput{MaxResults: aws.Int32(500)}),
				func(o *ec2.DescribeVolumesOutput) int { return len(o.Volumes) })
		},
		func(ctx context.Context) (int, error) {
			return count(ctx, ec2.NewDescribeNetworkInterfacesPaginator(e, &ec2.DescribeNetworkInterfacesInput{MaxResults: many}),
				func(o *ec2.DescribeNetworkInterfacesOutput) int { return len(o.NetworkInterfaces) })
		},
		func(ctx context.Context) (int, error) { // like the product, list the public snapshots first
			open := &ec2.DescribeSnapshotsInput{OwnerIds: self, RestorableByUserIds: []string{"all"}, MaxResults: many}
			if _, err := count(ctx, ec2.NewDescribeSnapshotsPaginator(e, open), func(*ec2.DescribeSnapshotsOutput) int { return 0 }); err != nil {
				return 0, err
			}
			return count(ctx, ec2.NewDescribeSnapshotsPaginator(e, &ec2.DescribeSnapshotsInput{OwnerIds: self, MaxResults: many}),
				func(o *ec2.DescribeSnapshotsOutput) int { return len(o.Snapshots) })
		},
		func(ctx context.Context) (int, error) {
			return count(ctx, ec2.NewDescribeSecurityGroupsPaginator(e, &ec2.DescribeSecurityGroupsInput{MaxResults: many}),
				func(o *ec2.DescribeSecurityGroupsOutput) int { return len(o.SecurityGroups) })
		},
		func(ctx context.Context) (int, error) {
			return count(ctx, ec2.NewDescribeSubnetsPaginator(e, &ec2.DescribeSubnetsInput{MaxResults: many}),
				func(o *ec2.DescribeSubnetsOutput) int { return len(o.Subnets) })
		},
		func(ctx context.Context) (int, error) { // like the product, list the peering connections first: they show which routes lead to a whole VPC
			peerings := ec2.NewDescribeVpcPeeringConnectionsPaginator(e, &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: many})
			if _, err := count(ctx, peerings, func(*ec2.DescribeVpcPeeringConnectionsOutput) int { return 0 }); err != nil {
				return 0, err
			}
			return count(ctx, ec2.NewDescribeRouteTablesPaginator(e, &ec2.DescribeRouteTablesInput{MaxResults: aws.Int32(100)}),
				func(o *ec2.DescribeRouteTablesOutput) int { return len(o.RouteTables) })
		},
		func(ctx context.Context) (int, error) {
			return count(ctx, ec2.NewDescribeNetworkAclsPaginator(e, &ec2.DescribeNetworkAclsInput{MaxResults: many}),
				func(o *ec2.DescribeNetworkAclsOutput) int { return len(o.NetworkAcls) })
		},
		func(ctx context.Context) (int, error) {
			return count(ctx, ec2.NewDescribeImagesPaginator(e, &ec2.DescribeImagesInput{Owners: self, MaxResults: many}),
				func(o *ec2.DescribeImagesOutput) int { return len(o.Images) })
		},
		func(ctx context.Context) (int, error) {
			return complete(ctx, ec2.NewDescribeLaunchTemplatesPaginator(e, &ec2.DescribeLaunchTemplatesInput{MaxResults: aws.Int32(200)}),
				func(o *ec2.DescribeLaunchTemplatesOutput) (int, error) { return completeTemplates(ctx, e, o) })
		},
		func(ctx context.Context) (int, error) {
			return count(ctx, cloudwatchlogs.NewDescribeLogGroupsPaginator(logs, &cloudwatchlogs.DescribeLogGroupsInput{Limit: few}),
				func(o *cloudwatchlogs.DescribeLogGroupsOutput) int { return len(o.LogGroups) })
		},
		func(ctx context.Context) (int, error) {
			return count(ctx, cloudwatch.NewDescribeAlarmsPaginator(watch, &cloudwatch.DescribeAlarmsInput{MaxRecords: aws.Int32(100), AlarmTypes: alarms}),
				func(o *cloudwatch.DescribeAlarmsOutput) int { return len(o.MetricAlarms) + len(o.CompositeAlarms) })
		},
		func(ctx context.Context) (int, error) {
			return count(ctx, ssm.NewDescribeParametersPaginator(ssm.NewFromConfig(config), &ssm.DescribeParametersInput{MaxResults: few}),
				func(o *ssm.DescribeParametersOutput) int { return len(o.Parameters) })
		},
		func(ctx context.Context) (int, error) {
			secrets := secretsmanager.NewFromConfig(config)
			return complete(ctx, secretsmanager.NewListSecretsPaginator(secrets, &secretsmanager.ListSecretsInput{MaxResults: aws.Int32(100)}),
				func(o *secretsmanager.ListSecretsOutput) (int, error) { return completeSecrets(ctx, secrets, o) })
		},
	}
}
