package aws

import (
	"fmt"
	"strings"

	"vigil/internal/sim/world"
)

// workload contains the kinds of serverless and container services.
type workload struct {
	functions, ecsClusters, ecsServices, taskDefinitions, eksClusters, nodegroups, scalingGroups, launchConfigurations *world.Kind
}

func (e *inventory) makeWorkload() {
	e.functions = e.wordNamed("AWS.Lambda.Function", "function", e.share(40, 6), e.function)
	e.ecsClusters = e.wordNamed("AWS.ECS.Cluster", "containers", constantCount(1), func(p world.Place, i int, name string) world.Object {
		return world.Obj("clusterArn", arn("ecs", p, "cluster/"+name), "clusterName", name, "status", "ACTIVE", "activeServicesCount", e.ecsServices.Count(p),
			"capacityProviders", world.Items("FARGATE"), "settings", world.Items(world.Obj("name", "containerInsights", "value", "enabled")), "tags", e.tagSet(p, "ecs", i))
	})
	e.ecsServices = e.numberNamed("AWS.ECS.Service", func(p world.Place, i int) string { return fmt.Sprintf("%s/service-%d", e.ecsClusters.Name(p, 0), i) }, e.share(10, 2), e.ecsService)
	e.taskDefinitions = e.wordNamed("AWS.ECS.TaskDefinition", "task", e.share(8, 2), func(p world.Place, i int, name string) world.Object {
		role := func(j int) string { return arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), i+j)) }
		container := world.Obj("name", "main", "image", "public.ecr.aws/app:1", "privileged", i%5 == 0, "readonlyRootFilesystem", i%2 == 1, "essential", true)
		if i%2 == 1 {
			container = append(container, world.Obj("logConfiguration", world.Obj("logDriver", "awslogs"))...)
		}
		return world.Obj("taskDefinitionArn", arn("ecs", p, "task-definition/"+name+":3"), "family", name, "revision", 3, "status", "ACTIVE", "networkMode", "awsvpc",
			"pidMode", "task", "taskRoleArn", role(0), "executionRoleArn", role(1), "containerDefinitions", world.Items(container),
			"volumes", world.Items(world.Obj("name", "shared", "efsVolumeConfiguration", world.Obj("fileSystemId", nth(e.fileSystems, p, i)))),
			"_tags", e.tagSet(p, "task", i))
	})
	e.eksClusters = e.wordNamed("AWS.EKS.Cluster", "kubernetes", constantCount(2), e.eksCluster)
	e.nodegroups = e.numberNamed("AWS.EKS.Nodegroup", func(p world.Place, i int) string { return fmt.Sprintf("%s/nodes-%d", nth(e.eksClusters, p, i), i) }, constantCount(2), func(p world.Place, i int, name string) world.Object {
		return world.Obj("nodegroupName", afterSlash(name), "clusterName", nth(e.eksClusters, p, i), "nodegroupArn", arn("eks", p, "nodegroup/"+name), "version", "1.33",
			"status", "ACTIVE", "capacityType", "ON_DEMAND", "amiType", "AL2023_x86_64_STANDARD", "instanceTypes", world.Items("m6i.large"),
			"nodeRole", arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), i+3)), "subnets", world.Items(nth(e.subnets, p, i)),
			"remoteAccess", world.Obj("ec2SshKey", nth(e.keyPairs, p, i)), "createdAt", e.ago(60),
			"resources", world.Obj("autoScalingGroups", world.Items(world.Obj("name", nth(e.scalingGroups, p, i)))), "tags", world.Obj("Owner", "platform"))
	})
	e.launchConfigurations = e.wordNamed("AWS.AutoScaling.LaunchConfiguration", "launch", constantCount(1), func(p world.Place, i int, name string) world.Object {
		return world.Obj("LaunchConfigurationName", name, "LaunchConfigurationARN", arn("autoscaling", p, "launchConfiguration:x:launchConfigurationName/"+name),
			"ImageId", nth(e.images, p, i), "InstanceType", "t3.micro", "SecurityGroups", world.Items(nth(e.securityGroups, p, i)), "IamInstanceProfile", nth(e.profiles, everywhere(p), i),
			"KeyName", nth(e.keyPairs, p, i), "AssociatePublicIpAddress", false, "MetadataOptions", world.Obj("HttpTokens", "required", "HttpEndpoint", "enabled", "HttpPutResponseHopLimit", 1),
			"BlockDeviceMappings", world.Items(world.Obj("DeviceName", "/dev/xvda", "Ebs", world.Obj("Encrypted", true, "VolumeSize", 8))), "CreatedTime", e.ago(400))
	})
	e.scalingGroups = e.wordNamed("AWS.AutoScaling.Group", "scaling", constantCount(2), func(p world.Place, i int, name string) world.Object {
		var template, configuration any
		if i == 1 { // the older form
			configuration = nth(e.launchConfigurations, p, 0)
		} else {
			template = world.Obj("LaunchTemplateId", nth(e.launchTemplates, p, i), "Version", "1")
		}
		return world.Obj("AutoScalingGroupName", name, "LaunchTemplate", template, "LaunchConfigurationName", configuration, "AutoScalingGroupARN", arn("autoscaling", p, "autoScalingGroup:x:autoScalingGroupName/"+name), "MinSize", 1, "MaxSize", 4,
			"DesiredCapacity", 2, "DefaultCooldown", 300, "HealthCheckType", "EC2", "CreatedTime", e.ago(90), "AvailabilityZones", world.Items(zone(p, 0), zone(p, 1)),
			"VPCZoneIdentifier", nth(e.subnets, p, 0)+","+nth(e.subnets, p, 1),
			"Instances", world.Items(world.Obj("InstanceId", nth(e.instances, p, i), "AvailabilityZone", zone(p, 0), "LifecycleState", "InService", "HealthStatus", "Healthy", "ProtectedFromScaleIn", false)),
			"TargetGroupARNs", world.Items(e.targetGroupARN(p, i)),
			"Tags", world.Items(world.Obj("Key", "Owner", "Value", "platform", "ResourceId", name, "ResourceType", "auto-scaling-group", "PropagateAtLaunch", true)))
	})
}

func (e *inventory) function(p world.Place, i int, name string) world.Object {
	runtime := "python3.13"
	if e.violates("aws-lambda-runtime", p, i) {
		runtime = "python3.7"
	}
	s := e.seed(p).With("function").Nth(i)
	resource := arn("lambda", p, "function:"+name)
	statements := []world.Object{withCondition(allow("Service:s3.amazonaws.com", "lambda:InvokeFunction", resource), "ArnLike", "AWS:SourceArn", "arn:aws:s3:::"+nth(e.buckets, p, i))}
	o := world.Obj("FunctionName", name, "FunctionArn", resource, "Runtime", runtime, "Role", arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), i)),
		"Handler", "main.handler", "CodeSize", 2048, "Timeout", 30, "MemorySize", 256, "LastModified", "2026-01-02T03:04:05.000+0000", "PackageType", "Zip",
		"Architectures", world.Items("arm64"), "State", "Active", "TracingConfig", world.Obj("Mode", "Active"), "Version", "$LATEST",
		"KMSKeyArn", e.keyARN(p, i), "Layers", world.Items(world.Obj("Arn", arn("lambda", p, "layer:base:1"), "CodeSize", 12)),
		"DeadLetterConfig", world.Obj("TargetArn", arn("sqs", p, nth(e.queues, p, i))), "LoggingConfig", world.Obj("LogFormat", "Text", "LogGroup", nth(e.logGroups, p, i)),
		"VpcConfig", world.Obj("VpcId", e.vpcs.Name(p, 0), "SubnetIds", world.Items(e.subnets.Name(p, 0)), "SecurityGroupIds", world.Items(e.securityGroups.Name(p, e.ordinaryGroup(p, 0, i)))))
	auth := "AWS_IAM"
	if e.violates("aws-lambda-public", p, i) {
		if s.With("how").Share(0.5) {
			statements = append(statements, allow("*", "lambda:InvokeFunction", resource))
		} else {
			auth = "NONE"
			statements = append(statements, withCondition(allow("*", "lambda:InvokeFunctionUrl", resource), "StringEquals", "lambda:FunctionUrlAuthType", "NONE"),
				withCondition(allow("*", "lambda:InvokeFunction", resource), "Bool", "lambda:InvokedViaFunctionUrl", "true"))
		}
	}
	// Some functions have no policy, to cover the error for that.
	if len(statements) > 1 || i%3 != 0 {
		o = append(o, world.Obj("_policy", policy(statements...))...)
	}
	if auth == "NONE" || i%2 == 0 {
		o = append(o, world.Obj("_urls", world.Items(world.Obj("FunctionUrl", "https://"+s.Hex(20)+".lambda-url."+p.Region+".on.aws/", "FunctionArn", resource,
			"AuthType", auth, "CreationTime", scalar(e.ago(70)), "LastModifiedTime", scalar(e.ago(70)))))...)
	}
	return o
}

func (e *inventory) ecsService(p world.Place, i int, name string) world.Object {
	return world.Obj("serviceArn", arn("ecs", p, "service/"+name), "serviceName", afterSlash(name), "clusterArn", arn("ecs", p, "cluster/"+e.ecsClusters.Name(p, 0)),
		"status", "ACTIVE", "desiredCount", 2, "launchType", "FARGATE", "platformVersion", "LATEST", "taskDefinition", arn("ecs", p, "task-definition/"+nth(e.taskDefinitions, p, i)+":3"),
		"enableExecuteCommand", i%2 == 0, "networkConfiguration", world.Obj("awsvpcConfiguration", world.Obj("subnets", world.Items(nth(e.subnets, p, i)),
			"securityGroups", world.Items(e.securityGroups.Name(p, e.ordinaryGroup(p, e.vpcOf(p, i%e.subnets.Count(p)), i))), "assignPublicIp", "DISABLED")),
		"loadBalancers", world.Items(world.Obj("targetGroupArn", e.targetGroupARN(p, i), "containerName", "main", "containerPort", 8080)),
		"createdAt", e.ago(45), "tags", e.tagSet(p, "service", i))
}

func (e *inventory) eksCluster(p world.Place, i int, name string) world.Object {
	cidrs := world.Items("203.0.113.0/24")
	if e.violates("aws-eks-endpoint-public", p, i) {
		cidrs = world.Items("0.0.0.0/0")
	}
	group := e.securityGroups.Name(p, e.ordinaryGroup(p, 0, i))
	return world.Obj("name", name, "arn", arn("eks", p, "cluster/"+name), "version", "1.33", "platformVersion", "eks.7", "endpoint", "https://"+name+".eks.amazonaws.com",
		"roleArn", arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), i+2)), "status", "ACTIVE", "createdAt", e.ago(180), "deletionProtection", true,
		"accessConfig", world.Obj("authenticationMode", "API"), "tags", world.Obj("Owner", "platform"),
		"logging", world.Obj("clusterLogging", world.Items(world.Obj("types", world.Items("api", "audit"), "enabled", true), world.Obj("types", world.Items("scheduler"), "enabled", false))),
		"encryptionConfig", world.Items(world.Obj("resources", world.Items("secrets"), "provider", world.Obj("keyArn", e.keyARN(p, i)))),
		"resourcesVpcConfig", world.Obj("subnetIds", world.Items(e.subnets.Name(p, 0)), "securityGroupIds", world.Items(group), "clusterSecurityGroupId", group,
			"vpcId", e.vpcs.Name(p, 0), "endpointPublicAccess", true, "endpointPrivateAccess", true, "publicAccessCidrs", cidrs))
}

func workloadService(c *Cloud) {
	e := c.inventory
	c.register("lambda", "ListFunctions", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.functions, field: "Functions", token: "Marker", next: "NextMarker", max: "MaxItems", page: 50})
	})
	function := func(action, field string, write func(o world.Object) world.Object) {
		c.register("lambda", action, func(x *call) (answer, error) {
			name := x.text("FunctionName")
			o, ok := c.Get(e.functions, x.place(), name)
			if !ok || field != "" && o.Get(field) == nil {
				return answer{}, &failure{404, "ResourceNotFoundException", "The resource you requested does not exist."}
			}
			return answer{Object: write(o)}, nil
		})
	}
	function("GetFunctionConfiguration", "", func(o world.Object) world.Object { return o.Visible() })
	function("GetPolicy", "_policy", func(o world.Object) world.Object { return world.Obj("Policy", o.Get("_policy"), "RevisionId", "1") })
	function("ListFunctionUrlConfigs", "", func(o world.Object) world.Object {
		return world.Obj("FunctionUrlConfigs", listing{}.wrap(o.List("_urls")))
	})
	containerService(c)
	c.register("eks", "ListClusters", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.eksClusters, field: "clusters", token: "nextToken", next: "nextToken", max: "maxResults", page: 100,
			shape: func(name string, _ world.Object) any { return name }})
	})
	c.register("eks", "DescribeCluster", func(x *call) (answer, error) {
		o, ok := c.Get(e.eksClusters, x.place(), x.text("name"))
		if !ok {
			return answer{}, &failure{404, "ResourceNotFoundException", "No cluster found for name: " + x.text("name") + "."}
		}
		return answer{Object: world.Obj("cluster", o.Visible())}, nil
	})
	c.register("eks", "ListNodegroups", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.nodegroups, field: "nodegroups", token: "nextToken", next: "nextToken", max: "maxResults", page: 100,
			only:  func(_ string, o world.Object) bool { return o.Text("clusterName") == x.text("clusterName") },
			shape: func(name string, _ world.Object) any { return afterSlash(name) }})
	})
	c.register("eks", "DescribeNodegroup", func(x *call) (answer, error) {
		o, ok := c.Get(e.nodegroups, x.place(), x.text("clusterName")+"/"+x.text("nodegroupName"))
		if !ok {
			return answer{}, &failure{404, "ResourceNotFoundException", "No node group found for name: " + x.text("nodegroupName") + "."}
		}
		return answer{Object: world.Obj("nodegroup", o.Visible())}, nil
	})
	c.register("autoscaling", "DescribeLaunchConfigurations", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.launchConfigurations, field: "LaunchConfigurations", names: "LaunchConfigurationNames", token: "NextToken", next: "NextToken", max: "MaxRecords", page: 100})
	})
	c.register("autoscaling", "DescribeAutoScalingGroups", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.scalingGroups, field: "AutoScalingGroups", names: "AutoScalingGroupNames", token: "NextToken", next: "NextToken", max: "MaxRecords", page: 100})
	})
}

// containerService registers ECS, which accepts names and ARNs.
func containerService(c *Cloud) {
	e := c.inventory
	// The lists contain the ARNs in arnField, or names if it is "".
	identifiers := func(action, field, arnField string, kind *world.Kind) {
		c.register("ecs", action, func(x *call) (answer, error) {
			return x.list(c, listing{kind: kind, field: field, token: "nextToken", next: "nextToken", max: "maxResults", page: 100,
				shape: func(name string, o world.Object) any {
					if arnField == "" {
						return name
					}
					return o.Get(arnField)
				}})
		})
	}
	identifiers("ListClusters", "clusterArns", "clusterArn", e.ecsClusters)
	identifiers("ListServices", "serviceArns", "serviceArn", e.ecsServices)
	identifiers("ListTaskDefinitionFamilies", "families", "", e.taskDefinitions)
	described := func(action, names, field string, kind *world.Kind, name func(x *call, identifier string) string) {
		c.register("ecs", action, func(x *call) (answer, error) {
			list, failures := []any{}, []any{}
			for _, identifier := range x.texts(names) {
				if o, ok := c.Get(kind, x.place(), name(x, identifier)); ok {
					list = append(list, o.Visible())
				} else {
					failures = append(failures, world.Obj("arn", identifier, "reason", "MISSING"))
				}
			}
			return answer{Object: world.Obj(field, list, "failures", failures)}, nil
		})
	}
	described("DescribeClusters", "clusters", "clusters", e.ecsClusters, func(_ *call, identifier string) string { return afterSlash(identifier) })
	described("DescribeServices", "services", "services", e.ecsServices, func(x *call, identifier string) string {
		return afterSlash(x.text("cluster")) + "/" + afterSlash(identifier)
	})
	c.register("ecs", "DescribeTaskDefinition", func(x *call) (answer, error) {
		family, _, _ := strings.Cut(afterSlash(x.text("taskDefinition")), ":")
		o, ok := c.Get(e.taskDefinitions, x.place(), family)
		if !ok {
			return answer{}, &failure{400, "ClientException", "Unable to describe task definition."}
		}
		return answer{Object: world.Obj("taskDefinition", o.Visible(), "tags", o.List("_tags"))}, nil
	})
}
