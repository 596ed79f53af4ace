package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"vigil/internal/posture/collect"
)

var instances = listed(declaration{
	Type: instanceType, Scope: collect.PerRegion, Service: "ec2", Doc: "A virtual machine.",
	Permissions: []string{"ec2:DescribeInstances"},
	Properties: properties{
		text("instanceId", "Its id."),
		text("instanceType", "Its size, such as t3.micro."),
		text("imageId", "The image it was started from."),
		text("state", "pending, running, shutting-down, stopping, stopped or terminated."),
		text("launchTime", "When it was last started."),
		text("privateIpAddress", "Its first private address."),
		text("publicIpAddress", "Its public address; absent when it has none."),
		text("publicDnsName", "Its public name; absent when it has none."),
		text("keyName", "The key pair that opens it."),
		text("architecture", "Of its processor."),
		text("platform", "Windows; absent otherwise."),
		text("metadataHttpTokens", "required when the metadata service wants a token, else optional."),
		text("metadataHttpEndpoint", "Whether the metadata service answers: enabled or disabled."),
		long("metadataHopLimit", "How many hops away the metadata service may be asked from."),
		text("monitoring", "Whether detailed monitoring is on: enabled or disabled."),
		text("rootDeviceType", "ebs or instance-store."),
		flag("ebsOptimized", "It has a network of its own to its volumes."),
	},
	Edges: edges{
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
		edge("IN_SUBNET", "Where it is.", subnetType),
		edge("IN_VPC", "Where it is.", vpcType),
		edge("HAS_PROFILE", "The instance profile it acts with.", instanceProfileType),
		edge("HAS_IP", "Its public address.", publicIPType),
		edge("HAS_INTERFACE", "Its network interfaces.", networkInterfaceType),
		edge("HAS_VOLUME", "The volumes attached to it.", volumeType),
		edge("MADE_FROM", "Its image, where the account has it.", imageType),
		edge("OPENED_BY", "The key pair that opens it.", keyPairType),
	},
	Events: events{on("ec2", "RunInstances", "TerminateInstances", "StartInstances", "StopInstances", "RebootInstances", "ModifyInstanceAttribute",
		"ModifyInstanceMetadataOptions", "AssociateIamInstanceProfile", "DisassociateIamInstanceProfile", "ReplaceIamInstanceProfileAssociation",
		"AssociateAddress", "DisassociateAddress", "MonitorInstances", "UnmonitorInstances", "CreateTags", "DeleteTags")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Instance) error) error {
	in := &ec2.DescribeInstancesInput{InstanceIds: names, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeInstancesPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeInstancesOutput) error {
		for _, r := range out.Reservations {
			if err := page(r.Instances); err != nil {
				return err
			}
		}
		return nil
	})
}, func(s *scope, v *types.Instance) *resource {
	r := s.ec2(instanceType, "instance", v.InstanceId, v.Tags)
	r.Text("instanceId", aws.ToString(v.InstanceId)).
		Text("instanceType", string(v.InstanceType)).
		Text("imageId", aws.ToString(v.ImageId)).
		Text("privateIpAddress", aws.ToString(v.PrivateIpAddress)).
		Text("publicIpAddress", aws.ToString(v.PublicIpAddress)).
		Text("publicDnsName", aws.ToString(v.PublicDnsName)).
		Text("keyName", aws.ToString(v.KeyName)).
		Text("architecture", string(v.Architecture)).
		Text("platform", string(v.Platform)).
		Text("rootDeviceType", string(v.RootDeviceType)).
		Flag("ebsOptimized", aws.ToBool(v.EbsOptimized))
	when(r, "launchTime", v.LaunchTime)
	if v.State != nil {
		r.Text("state", string(v.State.Name))
	}
	if m := v.MetadataOptions; m != nil {
		r.Text("metadataHttpTokens", string(m.HttpTokens)).Text("metadataHttpEndpoint", string(m.HttpEndpoint))
		number(r, "metadataHopLimit", m.HttpPutResponseHopLimit)
	}
	if v.Monitoring != nil {
		r.Text("monitoring", string(v.Monitoring.State))
	}
	for _, g := range v.SecurityGroups {
		r.Edge("MEMBER_OF", s.id(securityGroupType, g.GroupId))
	}
	for _, n := range v.NetworkInterfaces {
		r.Edge("HAS_INTERFACE", s.id(networkInterfaceType, n.NetworkInterfaceId))
	}
	for _, b := range v.BlockDeviceMappings {
		if b.Ebs != nil {
			r.Edge("HAS_VOLUME", s.id(volumeType, b.Ebs.VolumeId))
		}
	}
	if v.IamInstanceProfile != nil {
		r.Edge("HAS_PROFILE", s.refs(v.IamInstanceProfile.Arn))
	}
	r.Edge("IN_SUBNET", s.id(subnetType, v.SubnetId))
	r.Edge("IN_VPC", s.id(vpcType, v.VpcId))
	r.Edge("HAS_IP", s.id(publicIPType, v.PublicIpAddress))
	r.Edge("MADE_FROM", s.id(imageType, v.ImageId))
	r.Edge("OPENED_BY", s.id(keyPairType, v.KeyName))
	return r
})

var keyPairs = listed(declaration{
	Type: keyPairType, Scope: collect.PerRegion, Service: "ec2", Doc: "A key that opens instances.",
	Permissions: []string{"ec2:DescribeKeyPairs"},
	Properties: properties{
		text("keyPairId", "Its id."),
		text("keyType", "rsa or ed25519."),
		text("fingerprint", "Of the public key."),
		text("createTime", "When it was made."),
	},
	Events: events{on("ec2", "CreateKeyPair", "ImportKeyPair", "DeleteKeyPair")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.KeyPairInfo) error) error {
	out, err := ec2.NewFromConfig(s.config).DescribeKeyPairs(ctx, &ec2.DescribeKeyPairsInput{KeyNames: names})
	if err != nil {
		return err
	}
	return page(out.KeyPairs)
}, func(s *scope, v *types.KeyPairInfo) *resource {
	r := s.ec2(keyPairType, "key-pair", v.KeyName, v.Tags)
	r.XID = s.arn("ec2", "key-pair/"+aws.ToString(v.KeyPairId))
	r.Text("keyPairId", aws.ToString(v.KeyPairId)).Text("keyType", string(v.KeyType)).Text("fingerprint", aws.ToString(v.KeyFingerprint))
	return when(r, "createTime", v.CreateTime)
})

var launchTemplates = listed(declaration{
	Type: launchTemplateType, Scope: collect.PerRegion, Service: "ec2", Doc: "How instances are to be started.",
	Permissions: []string{"ec2:DescribeLaunchTemplates"},
	Properties: properties{
		text("launchTemplateId", "Its id."),
		text("createTime", "When it was made."),
		text("createdBy", "Who made it."),
		long("defaultVersion", "The version that is used when none is named."),
		long("latestVersion", "The newest version."),
	},
	Events: events{on("ec2", "CreateLaunchTemplate", "CreateLaunchTemplateVersion", "ModifyLaunchTemplate", "DeleteLaunchTemplate")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.LaunchTemplate) error) error {
	in := &ec2.DescribeLaunchTemplatesInput{LaunchTemplateIds: names, MaxResults: limit(names, 200)}
	return each(ctx, ec2.NewDescribeLaunchTemplatesPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeLaunchTemplatesOutput) error {
		return page(out.LaunchTemplates)
	})
}, func(s *scope, v *types.LaunchTemplate) *resource {
	r := s.ec2(launchTemplateType, "launch-template", v.LaunchTemplateId, v.Tags)
	r.Name = aws.ToString(v.LaunchTemplateName)
	r.Text("launchTemplateId", aws.ToString(v.LaunchTemplateId)).Text("createdBy", aws.ToString(v.CreatedBy))
	number(r, "defaultVersion", v.DefaultVersionNumber)
	number(r, "latestVersion", v.LatestVersionNumber)
	return when(r, "createTime", v.CreateTime)
})
