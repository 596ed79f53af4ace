package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"vigil/internal/posture/collect"
)

var autoScalingGroups = listed(declaration{
	Type: autoScalingGroupType, Scope: collect.PerRegion, Service: "autoscaling", Doc: "Instances that are started and stopped as needed.",
	Permissions: []string{"autoscaling:DescribeAutoScalingGroups"},
	Properties: properties{
		long("minSize", "How many instances it has at least."),
		long("maxSize", "How many instances it has at most."),
		text("healthCheckType", "EC2, or ELB when load balancers are asked too."),
		text("launchConfigurationName", "The launch configuration it uses; absent with a launch template."),
		texts("availabilityZones", "Where its instances are."),
		text("createdTime", "When it was made."),
	},
	Edges: edges{
		edge("HAS_INSTANCE", "Its instances.", instanceType),
		edge("MADE_FROM", "How its instances are started.", launchTemplateType),
		edge("IN_SUBNET", "Where its instances are.", subnetType),
		edge("SERVES", "The target groups its instances answer for.", targetGroupType),
	},
	Events: events{on("autoscaling", "CreateAutoScalingGroup", "UpdateAutoScalingGroup", "DeleteAutoScalingGroup", "AttachInstances", "DetachInstances",
		"AttachLoadBalancerTargetGroups", "DetachLoadBalancerTargetGroups")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.AutoScalingGroup) error) error {
	in := &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: names, MaxRecords: aws.Int32(100)}
	return each(ctx, autoscaling.NewDescribeAutoScalingGroupsPaginator(autoscaling.NewFromConfig(s.config), in), func(out *autoscaling.DescribeAutoScalingGroupsOutput) error {
		return page(out.AutoScalingGroups)
	})
}, func(s *scope, v *types.AutoScalingGroup) *resource {
	r := s.resource(autoScalingGroupType, aws.ToString(v.AutoScalingGroupName))
	r.XID = aws.ToString(v.AutoScalingGroupARN)
	for _, tag := range v.Tags {
		r.Tag(aws.ToString(tag.Key), aws.ToString(tag.Value))
	}
	number(r, "minSize", v.MinSize)
	number(r, "maxSize", v.MaxSize)
	set(r, "availabilityZones", v.AvailabilityZones).Text("healthCheckType", aws.ToString(v.HealthCheckType)).
		Text("launchConfigurationName", aws.ToString(v.LaunchConfigurationName))
	for _, i := range v.Instances {
		r.Edge("HAS_INSTANCE", s.id(instanceType, i.InstanceId))
	}
	for _, arn := range v.TargetGroupARNs {
		r.Edge("SERVES", s.ref(arn))
	}
	for id := range strings.SplitSeq(aws.ToString(v.VPCZoneIdentifier), ",") {
		r.Edge("IN_SUBNET", s.id(subnetType, &id))
	}
	if v.LaunchTemplate != nil {
		r.Edge("MADE_FROM", s.id(launchTemplateType, v.LaunchTemplate.LaunchTemplateId))
	}
	return when(r, "createdTime", v.CreatedTime)
})
