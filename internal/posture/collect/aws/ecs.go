package aws

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// ecs begins an entity of ECS.
func (s *scope) ecs(t posture.EntityType, name string, arn *string, tags []types.Tag) *resource {
	r := s.resource(t, name)
	r.XID = aws.ToString(arn)
	for _, tag := range tags {
		r.Tag(aws.ToString(tag.Key), aws.ToString(tag.Value))
	}
	return r
}

var ecsClusters = listed(declaration{
	Type: ecsClusterType, Scope: collect.PerRegion, Service: "ecs", Doc: "Where containers run.",
	Permissions: []string{"ecs:ListClusters", "ecs:DescribeClusters"},
	Properties: properties{
		text("status", "ACTIVE when it can be used."),
		texts("capacityProviders", "What it runs containers on."),
		text("containerInsights", "enabled when its containers are measured."),
		long("activeServicesCount", "How many services it has."),
	},
	Events: events{on("ecs", "CreateCluster", "UpdateCluster", "UpdateClusterSettings", "DeleteCluster")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Cluster) error) error {
	if len(names) > 0 {
		return describeClusters(ctx, s, names, page)
	}
	return listClusters(ctx, s, func(arns []string) error { return describeClusters(ctx, s, arns, page) })
}, func(s *scope, v *types.Cluster) *resource {
	r := s.ecs(ecsClusterType, aws.ToString(v.ClusterName), v.ClusterArn, v.Tags)
	r.Text("status", aws.ToString(v.Status)).Number("activeServicesCount", int64(v.ActiveServicesCount))
	for _, setting := range v.Settings {
		if setting.Name == types.ClusterSettingNameContainerInsights {
			r.Text("containerInsights", aws.ToString(setting.Value))
		}
	}
	return set(r, "capacityProviders", v.CapacityProviders)
})

func listClusters(ctx context.Context, s *scope, page func(arns []string) error) error {
	in := &ecs.ListClustersInput{MaxResults: aws.Int32(100)}
	return each(ctx, ecs.NewListClustersPaginator(ecs.NewFromConfig(s.config), in), func(out *ecs.ListClustersOutput) error { return page(out.ClusterArns) })
}

func describeClusters(ctx context.Context, s *scope, names []string, page func([]types.Cluster) error) error {
	if len(names) == 0 {
		return nil
	}
	in := &ecs.DescribeClustersInput{Clusters: names, Include: []types.ClusterField{types.ClusterFieldSettings, types.ClusterFieldTags}}
	out, err := ecs.NewFromConfig(s.config).DescribeClusters(ctx, in)
	if err != nil {
		return err
	}
	return page(slices.DeleteFunc(out.Clusters, func(c types.Cluster) bool { return aws.ToString(c.Status) == "INACTIVE" }))
}

var ecsServices = listed(declaration{
	Type: ecsServiceType, Scope: collect.PerRegion, Service: "ecs", Doc: "Containers that are kept running.",
	Permissions: []string{"ecs:ListClusters", "ecs:ListServices", "ecs:DescribeServices"},
	Properties: properties{
		text("status", "ACTIVE when it runs."),
		text("launchType", "EC2, FARGATE or EXTERNAL."),
		text("platformVersion", "The version of what it runs on."),
		text("taskDefinition", "What it runs."),
		text("assignPublicIp", "ENABLED when its containers have public addresses."),
		flag("enableExecuteCommand", "People can run commands in its containers."),
		long("desiredCount", "How many containers it is to have."),
	},
	Edges: edges{
		edge("IN_CLUSTER", "Where it runs.", ecsClusterType),
		edge("RUNS", "What it runs.", taskDefinitionType),
		edge("IN_SUBNET", "Where its containers are.", subnetType),
		edge("MEMBER_OF", "The security groups that guard its containers.", securityGroupType),
		edge("SERVES", "The target groups it answers for.", targetGroupType),
	},
	Events: events{on("ecs", "CreateService", "UpdateService", "DeleteService")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Service) error) error {
	client := ecs.NewFromConfig(s.config)
	if len(names) > 0 {
		cluster, service, _ := strings.Cut(names[0], "/")
		return describeServices(ctx, client, cluster, []string{service}, page)
	}
	return listClusters(ctx, s, func(arns []string) error {
		for _, cluster := range arns {
			in := &ecs.ListServicesInput{Cluster: &cluster, MaxResults: aws.Int32(100)}
			err := each(ctx, ecs.NewListServicesPaginator(client, in), func(out *ecs.ListServicesOutput) error {
				for batch := range slices.Chunk(out.ServiceArns, 10) {
					if err := describeServices(ctx, client, cluster, batch, page); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}, func(s *scope, v *types.Service) *resource {
	cluster := lastPart(aws.ToString(v.ClusterArn))
	r := s.ecs(ecsServiceType, cluster+"/"+aws.ToString(v.ServiceName), v.ServiceArn, v.Tags)
	r.Name = aws.ToString(v.ServiceName)
	r.Text("status", aws.ToString(v.Status)).Text("launchType", string(v.LaunchType)).Text("platformVersion", aws.ToString(v.PlatformVersion)).
		Text("taskDefinition", aws.ToString(v.TaskDefinition)).Flag("enableExecuteCommand", v.EnableExecuteCommand).Number("desiredCount", int64(v.DesiredCount))
	if n := v.NetworkConfiguration; n != nil && n.AwsvpcConfiguration != nil {
		r.Text("assignPublicIp", string(n.AwsvpcConfiguration.AssignPublicIp))
		for _, id := range n.AwsvpcConfiguration.Subnets {
			r.Edge("IN_SUBNET", s.id(subnetType, &id))
		}
		for _, id := range n.AwsvpcConfiguration.SecurityGroups {
			r.Edge("MEMBER_OF", s.id(securityGroupType, &id))
		}
	}
	for _, lb := range v.LoadBalancers {
		r.Edge("SERVES", s.refs(lb.TargetGroupArn))
	}
	return r.Edge("IN_CLUSTER", s.id(ecsClusterType, &cluster)).Edge("RUNS", s.refs(v.TaskDefinition))
})

func describeServices(ctx context.Context, client *ecs.Client, cluster string, names []string, page func([]types.Service) error) error {
	in := &ecs.DescribeServicesInput{Cluster: &cluster, Services: names, Include: []types.ServiceField{types.ServiceFieldTags}}
	out, err := client.DescribeServices(ctx, in)
	if err != nil {
		return err
	}
	return page(slices.DeleteFunc(out.Services, func(v types.Service) bool { return aws.ToString(v.Status) == "INACTIVE" }))
}

// lastPart returns what follows the last slash.
func lastPart(s string) string { return s[strings.LastIndex(s, "/")+1:] }

// Of each family the newest revision is read: old ones are many, and run nothing
// new. The values of environments are not read, they may hold secrets.
var taskDefinitions = detailed(declaration{
	Type: taskDefinitionType, Scope: collect.PerRegion, Service: "ecs", Doc: "What containers are to be run, in its newest revision.",
	Permissions: []string{"ecs:ListTaskDefinitionFamilies", "ecs:DescribeTaskDefinition"},
	Properties: properties{
		long("revision", "The newest revision."),
		text("networkMode", "awsvpc, bridge, host or none."),
		text("pidMode", "host when it sees the processes of its host."),
		texts("images", "The images of its containers."),
		texts("privilegedContainers", "The containers that may do everything on their host."),
		texts("writableRootContainers", "The containers that may change their own files."),
		texts("unloggedContainers", "The containers that have no log."),
	},
	Edges: edges{
		edge("HAS_ROLE", "The role its containers act with.", roleType),
		edge("STARTED_BY", "The role it is started with.", roleType),
		edge("MOUNTS", "The file systems it uses.", fileSystemType),
	},
	Events: events{on("ecs", "RegisterTaskDefinition", "DeregisterTaskDefinition", "DeleteTaskDefinitions")},
}, func(ctx context.Context, s *scope, names []string, page func([]string) error) error {
	if len(names) > 0 {
		return page(names)
	}
	in := &ecs.ListTaskDefinitionFamiliesInput{Status: types.TaskDefinitionFamilyStatusActive, MaxResults: aws.Int32(100)}
	return each(ctx, ecs.NewListTaskDefinitionFamiliesPaginator(ecs.NewFromConfig(s.config), in), func(out *ecs.ListTaskDefinitionFamiliesOutput) error {
		return page(out.Families)
	})
}, func(ctx context.Context, s *scope, family *string) (*resource, error) {
	r := s.resource(taskDefinitionType, *family)
	r.XID = s.arn("ecs", "task-definition/"+*family)
	return r, detail(r, []string{"revision", "networkMode", "pidMode", "images", "privilegedContainers", "writableRootContainers", "unloggedContainers",
		"HAS_ROLE", "STARTED_BY", "MOUNTS", posture.TagsUnread}, func() error {
		in := &ecs.DescribeTaskDefinitionInput{TaskDefinition: family, Include: []types.TaskDefinitionField{types.TaskDefinitionFieldTags}}
		out, err := ecs.NewFromConfig(s.config).DescribeTaskDefinition(ctx, in)
		if err != nil {
			return err
		}
		for _, tag := range out.Tags {
			r.Tag(aws.ToString(tag.Key), aws.ToString(tag.Value))
		}
		s.describeTask(r, out.TaskDefinition)
		return nil
	})
})

func (s *scope) describeTask(r *resource, v *types.TaskDefinition) {
	r.XID = aws.ToString(v.TaskDefinitionArn)
	r.Number("revision", int64(v.Revision)).Text("networkMode", string(v.NetworkMode)).Text("pidMode", string(v.PidMode))
	for _, c := range v.ContainerDefinitions {
		name := aws.ToString(c.Name)
		r.Text("images", aws.ToString(c.Image))
		for property, holds := range map[string]bool{
			"privilegedContainers": aws.ToBool(c.Privileged), "writableRootContainers": !aws.ToBool(c.ReadonlyRootFilesystem), "unloggedContainers": c.LogConfiguration == nil,
		} {
			if holds {
				r.Text(property, name)
			}
		}
	}
	for _, volume := range v.Volumes {
		if e := volume.EfsVolumeConfiguration; e != nil {
			r.Edge("MOUNTS", s.id(fileSystemType, e.FileSystemId))
		}
	}
	r.Edge("HAS_ROLE", s.refs(v.TaskRoleArn)).Edge("STARTED_BY", s.refs(v.ExecutionRoleArn))
}
