package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

func listEKS(ctx context.Context, s *scope, page func(names []string) error) error {
	in := &eks.ListClustersInput{MaxResults: aws.Int32(100)}
	return each(ctx, eks.NewListClustersPaginator(eks.NewFromConfig(s.config), in), func(out *eks.ListClustersOutput) error { return page(out.Clusters) })
}

// clusterDetails are the properties and edges that DescribeCluster tells.
var clusterDetails = []string{
	"status", "version", "platformVersion", "endpoint", "endpointPublicAccess", "endpointPrivateAccess", "publicAccessCidrs", "secretsEncrypted", "enabledLogTypes",
	"authenticationMode", "deletionProtection", "createdAt", "HAS_ROLE", "IN_VPC", "IN_SUBNET", "MEMBER_OF", "ENCRYPTED_BY",
	posture.TagsUnread,
}

var eksClusters = detailed(declaration{
	Type: eksClusterType, Scope: collect.PerRegion, Service: "eks", Doc: "A Kubernetes cluster.",
	Permissions: []string{"eks:ListClusters", "eks:DescribeCluster"},
	Properties: properties{
		text("status", "ACTIVE when it works."),
		text("version", "Of Kubernetes."),
		text("platformVersion", "Of EKS."),
		text("endpoint", "Where its API answers."),
		flag("endpointPublicAccess", "The internet can reach its API."),
		flag("endpointPrivateAccess", "Its VPC can reach its API."),
		texts("publicAccessCidrs", "Which addresses on the internet can."),
		flag("secretsEncrypted", "Its secrets are encrypted with a key of the account."),
		texts("enabledLogTypes", "Which of its logs are kept."),
		text("authenticationMode", "How callers are recognised: API, CONFIG_MAP or API_AND_CONFIG_MAP."),
		flag("deletionProtection", "It cannot be deleted by mistake."),
		text("createdAt", "When it was made."),
	},
	Edges: edges{
		edge("HAS_ROLE", "The role it acts with.", roleType),
		edge("IN_VPC", "Where it is.", vpcType),
		edge("IN_SUBNET", "Where it is.", subnetType),
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
		edge("ENCRYPTED_BY", "The key of its secrets.", keyType),
	},
	Events: events{on("eks", "CreateCluster", "DeleteCluster", "UpdateClusterConfig", "UpdateClusterVersion", "AssociateEncryptionConfig")},
}, func(ctx context.Context, s *scope, names []string, page func([]string) error) error {
	if len(names) > 0 {
		return page(names)
	}
	return listEKS(ctx, s, page)
}, func(ctx context.Context, s *scope, name *string) (*resource, error) {
	r := s.resource(eksClusterType, *name)
	r.XID = s.arn("eks", "cluster/"+*name)
	return whole(r, clusterDetails, func() error {
		out, err := eks.NewFromConfig(s.config).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: name})
		if err == nil {
			s.describeEKS(r, out.Cluster)
		}
		return err
	})
})

func (s *scope) describeEKS(r *resource, v *types.Cluster) {
	r.Text("status", string(v.Status)).Text("version", aws.ToString(v.Version)).Text("platformVersion", aws.ToString(v.PlatformVersion)).
		Text("endpoint", aws.ToString(v.Endpoint)).Flag("deletionProtection", aws.ToBool(v.DeletionProtection)).
		Flag("secretsEncrypted", len(v.EncryptionConfig) > 0).Edge("HAS_ROLE", s.refs(v.RoleArn))
	when(r, "createdAt", v.CreatedAt)
	for name, value := range v.Tags {
		r.Tag(name, value)
	}
	if v.AccessConfig != nil {
		r.Text("authenticationMode", string(v.AccessConfig.AuthenticationMode))
	}
	for _, e := range v.EncryptionConfig {
		if e.Provider != nil {
			r.Edge("ENCRYPTED_BY", s.refs(e.Provider.KeyArn))
		}
	}
	if v.Logging != nil {
		var on []string
		for _, l := range v.Logging.ClusterLogging {
			if aws.ToBool(l.Enabled) {
				on = append(on, strs(l.Types)...)
			}
		}
		set(r, "enabledLogTypes", on)
	}
	if n := v.ResourcesVpcConfig; n != nil {
		r.Flag("endpointPublicAccess", n.EndpointPublicAccess).Flag("endpointPrivateAccess", n.EndpointPrivateAccess)
		set(r, "publicAccessCidrs", n.PublicAccessCidrs)
		r.Edge("IN_VPC", s.id(vpcType, n.VpcId)).Edge("MEMBER_OF", s.id(securityGroupType, n.ClusterSecurityGroupId))
		for _, id := range n.SubnetIds {
			r.Edge("IN_SUBNET", s.id(subnetType, &id))
		}
		for _, id := range n.SecurityGroupIds {
			r.Edge("MEMBER_OF", s.id(securityGroupType, &id))
		}
	}
}

// A groupRef names a node group.
type groupRef struct{ cluster, name string }

var nodegroups = detailed(declaration{
	Type: nodegroupType, Scope: collect.PerRegion, Service: "eks", Doc: "Machines of a Kubernetes cluster.",
	Permissions: []string{"eks:ListClusters", "eks:ListNodegroups", "eks:DescribeNodegroup"},
	Properties: properties{
		text("status", "ACTIVE when it works."),
		text("version", "Of Kubernetes."),
		text("amiType", "The kind of image of its machines."),
		text("capacityType", "ON_DEMAND or SPOT."),
		texts("instanceTypes", "The sizes of its machines."),
		text("remoteAccessKey", "The key pair that opens its machines; absent when none does."),
	},
	Edges: edges{
		edge("IN_CLUSTER", "The cluster it is a part of.", eksClusterType),
		edge("HAS_ROLE", "The role its machines act with.", roleType),
		edge("IN_SUBNET", "Where its machines are.", subnetType),
		edge("HAS_GROUP", "The scaling groups of its machines.", autoScalingGroupType),
	},
	Events: events{on("eks", "CreateNodegroup", "UpdateNodegroupConfig", "UpdateNodegroupVersion", "DeleteNodegroup")},
}, func(ctx context.Context, s *scope, names []string, page func([]groupRef) error) error {
	if len(names) > 0 {
		cluster, name, _ := strings.Cut(names[0], "/")
		return page([]groupRef{{cluster, name}})
	}
	return listEKS(ctx, s, func(clusters []string) error {
		for _, cluster := range clusters {
			in := &eks.ListNodegroupsInput{ClusterName: &cluster, MaxResults: aws.Int32(100)}
			err := each(ctx, eks.NewListNodegroupsPaginator(eks.NewFromConfig(s.config), in), func(out *eks.ListNodegroupsOutput) error {
				refs := make([]groupRef, len(out.Nodegroups))
				for i, name := range out.Nodegroups {
					refs[i] = groupRef{cluster, name}
				}
				return page(refs)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}, func(ctx context.Context, s *scope, v *groupRef) (*resource, error) {
	r := s.resource(nodegroupType, v.cluster+"/"+v.name)
	r.Name, r.XID = v.name, s.arn("eks", "nodegroup/"+v.cluster+"/"+v.name)
	r.Edge("IN_CLUSTER", s.id(eksClusterType, &v.cluster))
	return whole(r, []string{"status", "version", "amiType", "capacityType", "instanceTypes", "remoteAccessKey", "HAS_ROLE", "IN_SUBNET", "HAS_GROUP", posture.TagsUnread}, func() error {
		in := &eks.DescribeNodegroupInput{ClusterName: &v.cluster, NodegroupName: &v.name}
		out, err := eks.NewFromConfig(s.config).DescribeNodegroup(ctx, in)
		if err == nil {
			s.describeNodegroup(r, out.Nodegroup)
		}
		return err
	})
})

func (s *scope) describeNodegroup(r *resource, g *types.Nodegroup) {
	r.XID = aws.ToString(g.NodegroupArn)
	for name, value := range g.Tags {
		r.Tag(name, value)
	}
	set(r, "instanceTypes", g.InstanceTypes).Text("status", string(g.Status)).Text("version", aws.ToString(g.Version)).Text("amiType", string(g.AmiType)).
		Text("capacityType", string(g.CapacityType)).Edge("HAS_ROLE", s.refs(g.NodeRole))
	if g.RemoteAccess != nil {
		r.Text("remoteAccessKey", aws.ToString(g.RemoteAccess.Ec2SshKey))
	}
	for _, id := range g.Subnets {
		r.Edge("IN_SUBNET", s.id(subnetType, &id))
	}
	if g.Resources != nil {
		for _, a := range g.Resources.AutoScalingGroups {
			r.Edge("HAS_GROUP", s.id(autoScalingGroupType, a.Name))
		}
	}
}
