package aws

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"vigil/internal/posture"
	collectaws "vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/resource"
	"vigil/internal/posture/stream/change"
)

// declaredIndex is the index of the declarations that come with Vigil.
var declaredIndex = sync.OnceValue(func() *change.Index {
	return change.NewIndex(collectaws.Declarations(declared.Catalog()))
})

// TestEventReadsWhatItsCallChanged checks that Vigil, after the event of a call, reads the
// resource whose properties, edges or tags the call changed.
func TestEventReadsWhatItsCallChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source, call, parameters string
		entityType               posture.EntityType
		want                     string // name of the resource; "" for all of the type, if the event names none
	}{
		// The permissions of users include those of their groups and of the versions of policies.
		{"iam", "AttachGroupPolicy", `{"groupName": "ops", "policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"}`, "AWS.IAM.Group", "ops"},
		{"iam", "AttachGroupPolicy", `{"groupName": "ops", "policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"}`, "AWS.IAM.User", ""},
		{"iam", "PutGroupPolicy", `{"groupName": "ops", "policyName": "all", "policyDocument": "{}"}`, "AWS.IAM.User", ""},
		{"iam", "CreatePolicyVersion", `{"policyArn": "arn:aws:iam::123456789012:policy/app", "setAsDefault": true}`, "AWS.IAM.User", ""},
		{"iam", "CreatePolicyVersion", `{"policyArn": "arn:aws:iam::123456789012:policy/app", "setAsDefault": true}`, "AWS.IAM.Group", ""},
		{"iam", "SetDefaultPolicyVersion", `{"policyArn": "arn:aws:iam::123456789012:policy/app", "versionId": "v2"}`, "AWS.IAM.Role", ""},
		{"ec2", "DeleteVpcPeeringConnection", `{"vpcPeeringConnectionId": "pcx-1"}`, "AWS.EC2.RouteTable", ""},
		{"redshift", "EnableLogging", `{"clusterIdentifier": "sales", "bucketName": "logs"}`, "AWS.Redshift.Cluster", "sales"},
		{"redshift", "DisableLogging", `{"clusterIdentifier": "sales"}`, "AWS.Redshift.Cluster", "sales"},
		{"redshift", "PauseCluster", `{"clusterIdentifier": "sales"}`, "AWS.Redshift.Cluster", "sales"},
		// This event does not have clusterIdentifier, which is a part of the names of snapshots.
		{"redshift", "BatchDeleteClusterSnapshots", `{"identifiers": [{"snapshotIdentifier": "s1", "snapshotClusterIdentifier": "sales"}, {"snapshotIdentifier": "s2"}]}`, "AWS.Redshift.ClusterSnapshot", ""},
		{"rds", "EnableHttpEndpoint", `{"resourceArn": "arn:aws:rds:eu-west-1:123456789012:cluster:orders"}`, "AWS.RDS.DBCluster", "orders"},
		{"rds", "StopDBCluster", `{"dBClusterIdentifier": "orders"}`, "AWS.RDS.DBCluster", "orders"},
		{"rds", "StopDBCluster", `{"dBClusterIdentifier": "orders"}`, "AWS.DocDB.DBCluster", "orders"},
		{"rds", "StopDBCluster", `{"dBClusterIdentifier": "orders"}`, "AWS.Neptune.DBCluster", "orders"},
		{"rds", "AddRoleToDBInstance", `{"dBInstanceIdentifier": "db", "roleArn": "arn:aws:iam::123456789012:role/app"}`, "AWS.RDS.DBInstance", "db"},
		{"rds", "CreateDBCluster", `{"dBClusterIdentifier": "orders", "globalClusterIdentifier": "world"}`, "AWS.RDS.GlobalCluster", "world"},
		{"docdb-elastic", "StopCluster", `{"clusterArn": "arn:aws:docdb-elastic:eu-west-1:123456789012:cluster/c1"}`, "AWS.DocDB.ElasticCluster", "c1"},
		{"dynamodb", "ImportTable", `{"tableCreationParameters": {"tableName": "orders"}}`, "AWS.DynamoDB.Table", "orders"},
		{"autoscaling", "RegisterScalableTarget", `{"serviceNamespace": "dynamodb", "resourceId": "table/orders", "scalableDimension": "dynamodb:table:ReadCapacityUnits"}`, "AWS.DynamoDB.Table", "orders"},
		{"autoscaling", "DeregisterScalableTarget", `{"serviceNamespace": "dynamodb", "resourceId": "table/orders/index/day"}`, "AWS.DynamoDB.Table", "orders"},
		{"elasticache", "ModifyUserGroup", `{"userGroupId": "group", "userIdsToAdd": ["ada"]}`, "AWS.ElastiCache.User", "ada"},
		{"memorydb", "UpdateACL", `{"aCLName": "acl", "userNamesToRemove": ["ada"]}`, "AWS.MemoryDB.User", "ada"},
		{"neptune-graph", "StopGraph", `{"graphIdentifier": "g-0123456789"}`, "AWS.NeptuneGraph.Graph", "g-0123456789"},
		{"es", "UpgradeDomain", `{"domainName": "search"}`, "AWS.OpenSearch.Domain", "search"},
		{"dms", "StopReplicationTask", `{"replicationTask": {"replicationTaskIdentifier": "task"}}`, "AWS.DMS.ReplicationTask", "task"},
		{"logs", "PutLogGroupDeletionProtection", `{"logGroupIdentifier": "/app/web", "deletionProtectionEnabled": true}`, "AWS.Logs.LogGroup", "/app/web"},
		{"logs", "PutLogGroupDeletionProtection", `{"logGroupIdentifier": "arn:aws:logs:eu-west-1:123456789012:log-group:/app/web"}`, "AWS.Logs.LogGroup", "/app/web"},
		{"logs", "AssociateKmsKey", `{"resourceIdentifier": "arn:aws:logs:eu-west-1:123456789012:log-group:/app/web"}`, "AWS.Logs.LogGroup", "/app/web"},
		{"logs", "PutMetricFilter", `{"logGroupName": "/app/web", "filterName": "errors"}`, "AWS.Logs.LogGroup", "/app/web"},
		{"logs", "CreateDelivery", `{"deliverySourceName": "cdn"}`, "AWS.CloudFront.Distribution", ""},
		{"logs", "DeleteDelivery", `{"id": "HNxLvPoGpTqdRsUv"}`, "AWS.CloudFront.Distribution", ""},
		{"cloudfront", "AssociateDistributionWebACL2020_05_31", `{"id": "E1", "webACLArn": "arn:aws:wafv2:us-east-1:123456789012:global/webacl/n/i"}`, "AWS.CloudFront.Distribution", "E1"},
		{"wafv2", "PutLoggingConfiguration", `{"loggingConfiguration": {"resourceArn": "arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/n/i"}}`, "AWS.WAF.WebACL", "regional/n/i"},
		{"wafv2", "DeleteLoggingConfiguration", `{"resourceArn": "arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/n/i"}`, "AWS.WAF.WebACL", "regional/n/i"},
		{"wafv2", "DisassociateWebACL", `{"resourceArn": "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/web/1"}`, "AWS.WAF.WebACL", ""},
		{"route53", "CreateQueryLoggingConfig", `{"hostedZoneId": "Z1"}`, "AWS.Route53.HostedZone", "Z1"},
		{"route53", "DeleteQueryLoggingConfig", `{"id": "87654321-dcba-1234-abcd-1a2b3c4d5e6f"}`, "AWS.Route53.HostedZone", ""},
		{"ses", "PutEmailIdentityDkimSigningAttributes", `{"emailIdentity": "example.com"}`, "AWS.SES.EmailIdentity", "example.com"},
		{"network-firewall", "UpdateSubnetChangeProtection", `{"firewallArn": "arn:aws:network-firewall:eu-west-1:123456789012:firewall/edge"}`, "AWS.NetworkFirewall.Firewall", "edge"},
		{"route53resolver", "AssociateResolverEndpointIpAddress", `{"resolverEndpointId": "rslvr-in-1"}`, "AWS.Route53Resolver.Endpoint", "rslvr-in-1"},
		{"route53domains", "RenewDomain", `{"domainName": "example.com"}`, "AWS.Route53Domains.Domain", "example.com"},
		{"directconnect", "ConfirmConnection", `{"connectionId": "dxcon-1"}`, "AWS.DirectConnect.Connection", "dxcon-1"},
		{"directconnect", "CreateBGPPeer", `{"virtualInterfaceId": "dxvif-1"}`, "AWS.DirectConnect.VirtualInterface", "dxvif-1"},
		{"elasticloadbalancing", "SetLoadBalancerListenerSSLCertificate", `{"loadBalancerName": "web", "loadBalancerPort": 443}`, "AWS.ELB.ClassicLoadBalancer", "web"},
		{"apigateway", "UpdateRoute", `{"apiId": "a1", "routeId": "r1", "authorizationType": "NONE"}`, "AWS.APIGateway.HttpApi", "a1"},
		{"apigateway", "ImportRestApi", `{"id": "a1"}`, "AWS.APIGateway.RestApi", "a1"},
		{"apigateway", "TagResource", `{"resourceArn": "arn:aws:apigateway:eu-west-1::/restapis/a1/stages/prod"}`, "AWS.APIGateway.Stage", "a1/prod"},
		{"appsync", "UpdateApiCache", `{"apiId": "a1", "type": "SMALL"}`, "AWS.AppSync.GraphqlApi", "a1"},
		{"ec2", "CreateNatGateway", `{"subnetId": "subnet-0a1b2c3d", "allocationId": "eipalloc-0a1b2c3d"}`, "AWS.EC2.Address", "eipalloc-0a1b2c3d"},
		{"ec2", "ResetImageAttribute", `{"imageId": "ami-0a1b2c3d"}`, "AWS.EC2.Image", "ami-0a1b2c3d"},
		{"ec2", "ResetSnapshotAttribute", `{"snapshotId": "snap-0a1b2c3d"}`, "AWS.EC2.Snapshot", "snap-0a1b2c3d"},
		{"ec2", "AttachVolume", `{"instanceId": "i-0a1b2c3d", "volumeId": "vol-0a1b2c3d"}`, "AWS.EC2.Instance", "i-0a1b2c3d"},
		{"ec2", "ModifyVpnTunnelOptions", `{"ModifyVpnTunnelOptionsRequest": {"VpnConnectionId": "vpn-0a1b2c3d"}}`, "AWS.EC2.VpnConnection", "vpn-0a1b2c3d"},
		{"ec2", "ModifyInstanceConnectEndpoint", `{"instanceConnectEndpointId": "eice-0a1b2c3d"}`, "AWS.EC2.InstanceConnectEndpoint", "eice-0a1b2c3d"},
		{"ec2", "AssociateNatGatewayAddress", `{"natGatewayId": "nat-0a1b2c3d"}`, "AWS.EC2.NatGateway", "nat-0a1b2c3d"},
		{"ec2", "AssociateDhcpOptions", `{"dhcpOptionsId": "dopt-0a1b2c3d", "vpcId": "vpc-0a1b2c3d"}`, "AWS.EC2.Vpc", "vpc-0a1b2c3d"},
		{"ec2", "UnassignPrivateIpAddresses", `{"networkInterfaceId": "eni-0a1b2c3d"}`, "AWS.EC2.NetworkInterface", "eni-0a1b2c3d"},
		{"ec2", "DetachNetworkInterface", `{"attachmentId": "eni-attach-0a1b2c3d"}`, "AWS.EC2.NetworkInterface", ""},
		{"ec2", "EnableVgwRoutePropagation", `{"gatewayId": "vgw-0a1b2c3d", "routeTableId": "rtb-0a1b2c3d"}`, "AWS.EC2.RouteTable", "rtb-0a1b2c3d"},
		{"ecr", "PutLifecyclePolicy", `{"repositoryName": "app"}`, "AWS.ECR.Repository", "app"},
		{"ecr", "PutRegistryScanningConfiguration", `{"scanType": "ENHANCED"}`, "AWS.ECR.Repository", ""},
		{"ecs", "PutClusterCapacityProviders", `{"cluster": "web"}`, "AWS.ECS.Cluster", "web"},
		{"ecs", "TagResource", `{"resourceArn": "arn:aws:ecs:eu-west-1:123456789012:service/web/api"}`, "AWS.ECS.Service", "web/api"},
		{"eks", "TagResource", `{"resourceArn": "arn:aws:eks:eu-west-1:123456789012:nodegroup/blue/workers/1a2b3c4d-5e6f"}`, "AWS.EKS.Nodegroup", "blue/workers"},
		{"eks", "UntagResource", `{"resourceArn": "arn:aws:eks:eu-west-1:123456789012:addon/blue/vpc-cni/1a2b3c4d-5e6f"}`, "AWS.EKS.Addon", "blue/vpc-cni"},
		// The name of an access entry contains the whole ARN of the principal, which some of these events encode.
		{"eks", "CreateAccessEntry", `{"name": "blue", "accessEntry": {"clusterName": "blue", "principalArn": "arn:aws:iam::123456789012:role/app"}}`, "AWS.EKS.AccessEntry", ""},
		{"eks", "AssociateAccessPolicy", `{"name": "blue", "principalArn": "arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fapp"}`, "AWS.EKS.AccessEntry", ""},
		{"eks", "TagResource", `{"resourceArn": "arn:aws:eks:eu-west-1:123456789012:fargateprofile/blue/batch/1a2b3c4d-5e6f"}`, "AWS.EKS.FargateProfile", "blue/batch"},
		{"elasticfilesystem", "PutBackupPolicy", `{"fileSystemId": "fs-0a1b2c3d"}`, "AWS.EFS.FileSystem", "fs-0a1b2c3d"},
		{"elasticfilesystem", "CreateTags", `{"fileSystemId": "fs-0a1b2c3d", "tags": [{"key": "env", "value": "prod"}]}`, "AWS.EFS.FileSystem", "fs-0a1b2c3d"},
		{"elasticfilesystem", "TagResource", `{"resourceId": "fsap-0a1b2c3d"}`, "AWS.EFS.AccessPoint", "fsap-0a1b2c3d"},
		{"elasticfilesystem", "UntagResource", `{"resourceId": "arn:aws:elasticfilesystem:eu-west-1:123456789012:file-system/fs-0a1b2c3d"}`, "AWS.EFS.FileSystem", "fs-0a1b2c3d"},
		{"autoscaling", "AttachTrafficSources", `{"autoScalingGroupName": "web"}`, "AWS.AutoScaling.Group", "web"},
		{"autoscaling", "DeleteTags", `{"tags": [{"resourceId": "web", "resourceType": "auto-scaling-group", "key": "env"}]}`, "AWS.AutoScaling.Group", "web"},
		{"lambda", "PutFunctionCodeSigningConfig20200630", `{"codeSigningConfigArn": "arn:aws:lambda:eu-west-1:123456789012:code-signing-config:csc-1"}`, "AWS.Lambda.CodeSigningConfig", "csc-1"},
		{"lightsail", "UpdateInstanceMetadataOptions", `{"instanceName": "web"}`, "AWS.Lightsail.Instance", "web"},
		{"lightsail", "StopRelationalDatabase", `{"relationalDatabaseName": "db"}`, "AWS.Lightsail.Database", "db"},
		{"elasticmapreduce", "AddTags", `{"resourceId": "j-2PY4K1X9ZQ63", "tags": [{"key": "env", "value": "prod"}]}`, "AWS.EMR.Cluster", "j-2PY4K1X9ZQ63"},
		{"lightsail", "TagResource", `{"resourceName": "web", "tags": [{"key": "env", "value": "prod"}]}`, "AWS.Lightsail.Instance", "web"},
		{"lightsail", "UntagResource", `{"resourceName": "photos", "tagKeys": ["env"]}`, "AWS.Lightsail.Bucket", "photos"},
		{"amazonmq", "CreateTags", `{"resource-arn": "arn:aws:mq:eu-west-1:123456789012:broker:orders:b-1234a5b6-78cd-901e-2fgh-3i45j6k178l9"}`, "AWS.MQ.Broker", "b-1234a5b6-78cd-901e-2fgh-3i45j6k178l9"},
		{"workspaces", "StopWorkspaces", `{"stopWorkspaceRequests": [{"workspaceId": "ws-1"}]}`, "AWS.WorkSpaces.Workspace", "ws-1"},
		{"ssm", "AddTagsToResource", `{"resourceType": "Document", "resourceId": "patch", "tags": [{"key": "env", "value": "prod"}]}`, "AWS.SSM.Document", "patch"},
		{"ssm", "RemoveTagsFromResource", `{"resourceType": "Document", "resourceId": "patch", "tagKeys": ["env"]}`, "AWS.SSM.Document", "patch"},
		{"storagegateway", "ShutdownGateway", `{"gatewayARN": "arn:aws:storagegateway:eu-west-1:123456789012:gateway/sgw-1"}`, "AWS.StorageGateway.Gateway", "sgw-1"},
		{"glue", "StopCrawler", `{"name": "web"}`, "AWS.Glue.Crawler", "web"},
		{"iam", "CreateServiceLinkedRole", `{"role": {"roleName": "AWSServiceRoleForSupport"}}`, "AWS.IAM.Role", "AWSServiceRoleForSupport"},
		{"iam", "TagInstanceProfile", `{"instanceProfileName": "web"}`, "AWS.IAM.InstanceProfile", "web"},
		{"iam", "UntagMFADevice", `{"serialNumber": "arn:aws:iam::123456789012:mfa/ada"}`, "AWS.IAM.VirtualMfaDevice", "ada"},
		{"iam", "ChangePassword", `null`, "AWS.IAM.User", ""}, // the user who makes the call is not in its parameters
		{"kms", "DeleteImportedKeyMaterial", `{"keyId": "k1"}`, "AWS.KMS.Key", "k1"},
		{"acm", "RevokeCertificate", `{"certificateArn": "arn:aws:acm:eu-west-1:123456789012:certificate/c1"}`, "AWS.ACM.Certificate", "c1"},
		{"acm-pca", "ImportCertificateAuthorityCertificate", `{"certificateAuthorityArn": "arn:aws:acm-pca:eu-west-1:123456789012:certificate-authority/c1"}`, "AWS.ACMPCA.CertificateAuthority", "c1"},
		{"access-analyzer", "DeleteServiceLinkedAnalyzer", `{"analyzerName": "a1"}`, "AWS.AccessAnalyzer.Analyzer", "a1"},
		{"access-analyzer", "CreateServiceLinkedAnalyzer", `{}`, "AWS.Account.Region", ""},
		{"secretsmanager", "StopReplicationToReplica", `{"aRN": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf"}`, "AWS.SecretsManager.Secret", "db-AbCdEf"},
		{"ds", "EnableSso", `{"directoryId": "d-1"}`, "AWS.DirectoryService.Directory", "d-1"},
		{"ram", "TagResource", `{"resourceShareArn": "arn:aws:ram:eu-west-1:123456789012:resource-share/s1"}`, "AWS.RAM.ResourceShare", "s1"},
		{"account", "EnableRegion", `{"regionName": "af-south-1"}`, "AWS.Account.Account", ""},
		{"organizations", "LeaveOrganization", `{}`, "AWS.Account.Account", ""},
		{"backup", "DeleteRecoveryPoint", `{"backupVaultName": "vault"}`, "AWS.Backup.Vault", "vault"},
		{"cloudformation", "ExecuteChangeSet", `{"changeSetName": "c1", "stackName": "web"}`, "AWS.CloudFormation.Stack", "web"},
		{"config", "PutServiceLinkedConfigurationRecorder", `{"servicePrincipal": "cloudwatch.amazonaws.com"}`, "AWS.Config.Recorder", ""},
		{"wellarchitected", "UpgradeLensReview", `{"workloadId": "w1"}`, "AWS.WellArchitected.Workload", "w1"},
	} {
		e := eventOf(t, c.source, c.call, c.parameters)
		var got []string
		for _, target := range e.targets(declaredIndex()) {
			if target.Type == c.entityType {
				got = append(got, target.Name)
			}
		}
		if !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s of %s reads %s %q, want %q", c.call, c.parameters, c.entityType, got, c.want)
		}
	}
}

// TestTagEventDoesNotReadOtherTypes checks which resources of six types Vigil reads after events
// about tags or scaling. It reads all resources of a type only if the event does not tell which
// resources, of this or of another type, the call changed.
func TestTagEventDoesNotReadOtherTypes(t *testing.T) {
	t.Parallel()
	checkedTypes := []posture.EntityType{"AWS.DynamoDB.Table", "AWS.EC2.Instance", "AWS.EFS.FileSystem", "AWS.RDS.DBInstance", "AWS.SSM.Document", "AWS.SecretsManager.Secret"}
	for _, c := range []struct {
		source, call, parameters string
		want                     []posture.Target
	}{
		// The tagged resource has none of the six types.
		{"rds", "AddTagsToResource", `{"resourceName": "arn:aws:rds:eu-west-1:123456789012:snapshot:s"}`, nil},
		{"ec2", "CreateTags", `{"resourcesSet": {"items": [{"resourceId": "vol-0a1b2c3d"}]}, "tagSet": {"items": [{"key": "env", "value": "prod"}]}}`, nil},
		{"elasticfilesystem", "TagResource", `{"resourceId": "fsap-0a1b2c3d"}`, nil},
		{"ssm", "AddTagsToResource", `{"resourceType": "Parameter", "resourceId": "/app/key"}`, nil},
		// The event names a resource of one of the types.
		{"ec2", "DeleteTags", `{"resourcesSet": {"items": [{"resourceId": "i-0a1b2c3d"}]}}`, []posture.Target{{Type: "AWS.EC2.Instance", Region: "eu-west-1", Name: "i-0a1b2c3d"}}},
		// The name db does not identify the secret; its ARN would. The ARN in the tag does not count as the tagged resource.
		{"secretsmanager", "TagResource", `{"secretId": "db", "tags": [{"key": "function", "value": "arn:aws:lambda:eu-west-1:123456789012:function:f"}]}`,
			[]posture.Target{{Type: "AWS.SecretsManager.Secret", Region: "eu-west-1"}}},
		// The scaled resource is not a DynamoDB table.
		{"autoscaling", "RegisterScalableTarget", `{"serviceNamespace": "ecs", "resourceId": "service/web/api"}`, nil},
		{"autoscaling", "RegisterScalableTarget", `{"serviceNamespace": "rds", "resourceId": "cluster:orders"}`, nil},
		// This call changes neither tags nor scaling.
		{"ec2", "StartInstances", `{}`, []posture.Target{{Type: "AWS.EC2.Instance", Region: "eu-west-1"}}},
	} {
		e := eventOf(t, c.source, c.call, c.parameters)
		got := slices.DeleteFunc(e.targets(declaredIndex()), func(target posture.Target) bool { return !slices.Contains(checkedTypes, target.Type) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s of %s reads %v, want %v", c.call, c.parameters, got, c.want)
		}
	}
}

// TestTagEventReadsTheTaggedResource checks, for every type that is read again after its tags
// change, that Vigil finds the tagged resource in the event.
func TestTagEventReadsTheTaggedResource(t *testing.T) {
	t.Parallel()
	vars := resource.Vars{Account: "123456789012", Region: "eu-west-1", Partition: "aws"}
	members := map[string]string{ // by source, the member that names the tagged resource; in all other sources it is resourceArn
		"amazonmq": "resource-arn", "ec2": "resourceId", "elasticfilesystem": "resourceId", "elasticmapreduce": "resourceId",
		"elasticloadbalancing": "resourceArns", "kms": "keyId", "ram": "resourceShareArn",
		"rds": "resourceName", "redshift": "resourceName", "secretsmanager": "secretId", "transfer": "arn",
	}
	checked := 0
	for _, d := range collectaws.Declarations(declared.Catalog()) {
		for _, declaredEvent := range d.Events {
			source, _, _ := strings.Cut(declaredEvent.Source, ".")
			tagCall := slices.IndexFunc(declaredEvent.Names, func(name string) bool { return detail{EventName: name}.changesTags() })
			if tagCall < 0 || slices.Contains([]string{"iam", "autoscaling", "lightsail", "ssm"}, source) { // these name resources by their names
				continue
			}
			name, text := taggedResource(d.Declared, vars)
			member := cmp.Or(members[source], "resourceArn")
			e := eventOf(t, source, declaredEvent.Names[tagCall], `{"`+member+`": ["`+text+`"]}`)
			want := posture.Target{Type: d.Type, Region: cmp.Or(d.Declared.Place, "eu-west-1"), Name: name}
			if got := e.targets(declaredIndex()); name == "" || !slices.Contains(got, want) {
				t.Errorf("%s of %s reads %v, want %v", e.Detail.EventName, text, got, want)
			}
			checked++
		}
	}
	if checked < 80 {
		t.Errorf("%d types were checked, want at least 80", checked)
	}
}

// taggedResource returns the name of a resource and how calls that change tags name it.
func taggedResource(t *resource.Type, vars resource.Vars) (name, text string) {
	if prefix := t.IDPrefix(); prefix != "" {
		return prefix + "0a1b2c3d", prefix + "0a1b2c3d"
	}
	for _, part := range []string{"a", "a/b", "a/b/c"} { // some names consist of several parts
		text = t.ARN[0].Format(vars, part)
		if name, ok := fromARN(t, text); ok {
			return name, text
		}
	}
	return "", text
}

// eventOf returns the event of a call in eu-west-1.
func eventOf(t *testing.T, source, call, parameters string) event {
	t.Helper()
	var e event
	e.Region, e.Detail.EventSource, e.Detail.EventName = "eu-west-1", source+".amazonaws.com", call
	if err := json.Unmarshal([]byte(parameters), &e.Detail.RequestParameters); err != nil {
		t.Fatal(err)
	}
	return e
}
