package events

import (
	"cmp"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/aws"
	"vigil/internal/sim/azure"
	"vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
)

// callNames are the names of the AWS calls that create, change and delete a resource.
type callNames struct {
	source                 string // the service
	create, update, remove string
	member                 string // of the request: contains the name of the resource
}

// calls are the calls by type. Changes of other types cause no events.
var calls = map[posture.EntityType]callNames{
	"AWS.EC2.Instance":          {"ec2", "RunInstances", "ModifyInstanceAttribute", "TerminateInstances", "instanceId"},
	"AWS.EC2.SecurityGroup":     {"ec2", "CreateSecurityGroup", "AuthorizeSecurityGroupIngress", "DeleteSecurityGroup", "groupId"},
	"AWS.EC2.NetworkAcl":        {"ec2", "CreateNetworkAcl", "ReplaceNetworkAclEntry", "DeleteNetworkAcl", "networkAclId"},
	"AWS.EC2.Vpc":               {"ec2", "CreateVpc", "ModifyVpcAttribute", "DeleteVpc", "vpcId"},
	"AWS.EC2.Subnet":            {"ec2", "CreateSubnet", "ModifySubnetAttribute", "DeleteSubnet", "subnetId"},
	"AWS.EC2.RouteTable":        {"ec2", "CreateRouteTable", "CreateRoute", "DeleteRouteTable", "routeTableId"},
	"AWS.EC2.Volume":            {"ec2", "CreateVolume", "ModifyVolume", "DeleteVolume", "volumeId"},
	"AWS.EC2.Snapshot":          {"ec2", "CreateSnapshot", "ModifySnapshotAttribute", "DeleteSnapshot", "snapshotId"},
	"AWS.EC2.Image":             {"ec2", "CreateImage", "ModifyImageAttribute", "DeregisterImage", "imageId"},
	"AWS.IAM.User":              {"iam", "CreateUser", "UpdateUser", "DeleteUser", "userName"},
	"AWS.IAM.Group":             {"iam", "CreateGroup", "UpdateGroup", "DeleteGroup", "groupName"},
	"AWS.IAM.Role":              {"iam", "CreateRole", "UpdateAssumeRolePolicy", "DeleteRole", "roleName"},
	"AWS.S3.Bucket":             {"s3", "CreateBucket", "PutBucketPolicy", "DeleteBucket", "bucketName"},
	"AWS.KMS.Key":               {"kms", "CreateKey", "PutKeyPolicy", "ScheduleKeyDeletion", "keyId"},
	"AWS.RDS.DBInstance":        {"rds", "CreateDBInstance", "ModifyDBInstance", "DeleteDBInstance", "dBInstanceIdentifier"},
	"AWS.RDS.DBSnapshot":        {"rds", "CreateDBSnapshot", "ModifyDBSnapshotAttribute", "DeleteDBSnapshot", "dBSnapshotIdentifier"},
	"AWS.DynamoDB.Table":        {"dynamodb", "CreateTable", "UpdateTable", "DeleteTable", "tableName"},
	"AWS.Lambda.Function":       {"lambda", "CreateFunction20150331", "UpdateFunctionConfiguration20150331v2", "DeleteFunction20150331", "functionName"},
	"AWS.CloudTrail.Trail":      {"cloudtrail", "CreateTrail", "UpdateTrail", "DeleteTrail", "name"},
	"AWS.Logs.LogGroup":         {"logs", "CreateLogGroup", "PutRetentionPolicy", "DeleteLogGroup", "logGroupName"},
	"AWS.ECR.Repository":        {"ecr", "CreateRepository", "SetRepositoryPolicy", "DeleteRepository", "repositoryName"},
	"AWS.EFS.FileSystem":        {"elasticfilesystem", "CreateFileSystem", "UpdateFileSystem", "DeleteFileSystem", "fileSystemId"},
	"AWS.AutoScaling.Group":     {"autoscaling", "CreateAutoScalingGroup", "UpdateAutoScalingGroup", "DeleteAutoScalingGroup", "autoScalingGroupName"},
	"AWS.IAM.InstanceProfile":   {"iam", "CreateInstanceProfile", "AddRoleToInstanceProfile", "DeleteInstanceProfile", "instanceProfileName"},
	"AWS.Redshift.Cluster":      {"redshift", "CreateCluster", "ModifyCluster", "DeleteCluster", "clusterIdentifier"},
	"AWS.OpenSearch.Domain":     {"es", "CreateDomain", "UpdateDomainConfig", "DeleteDomain", "domainName"},
	"AWS.EKS.Cluster":           {"eks", "CreateCluster", "UpdateClusterConfig", "DeleteCluster", "name"},
	"AWS.EC2.NetworkInterface":  {"ec2", "CreateNetworkInterface", "ModifyNetworkInterfaceAttribute", "DeleteNetworkInterface", "networkInterfaceId"},
	"AWS.EC2.InternetGateway":   {"ec2", "CreateInternetGateway", "AttachInternetGateway", "DeleteInternetGateway", "internetGatewayId"},
	"AWS.IAM.ServerCertificate": {"iam", "UploadServerCertificate", "UpdateServerCertificate", "DeleteServerCertificate", "serverCertificateName"},
}

// name returns the name of the call of a change.
func (c callNames) name(change world.Change) string {
	switch {
	case change.Gone:
		return c.remove
	case change.Make != nil:
		return c.create
	}
	return c.update
}

// WatchAWS sends events for the changes of a simulated AWS.
func (pub *Publisher) WatchAWS(cloud *aws.Cloud) {
	cloud.Changes.Watch = func(change world.Change) {
		if names, ok := calls[change.Ref.Type]; ok {
			region, text := regionOf(change), names.event(pub.Now(), change)
			pub.deliver(posture.AWS, change.Ref.Place.Account, func(s Stream) request { return s.request(pub.SNS.Notify(s.topic(region), text)) })
		}
	}
}

// event returns CloudTrail's event of a change.
func (c callNames) event(at time.Time, change world.Change) string {
	return trailEvent(at.UTC(), change.Ref.Place.Account, regionOf(change), c.source+".amazonaws.com", c.name(change), map[string]any{c.member: change.Ref.Name})
}

// regionOf returns the region of a change's event.
func regionOf(change world.Change) string {
	return cmp.Or(change.Ref.Place.Region, "us-east-1")
}

// PrepareAWS signs the event of a change in advance and returns a function that
// delivers it. Signing takes almost half as long as the product needs to
// process the change, so benchmarks do it before they measure.
func (pub *Publisher) PrepareAWS(at time.Time, change world.Change) (deliver func()) {
	account, text := change.Ref.Place.Account, calls[change.Ref.Type].event(at, change)
	pub.mu.Lock()
	q, ok := pub.streams[key(posture.AWS, account)]
	pub.mu.Unlock()
	if !ok {
		return func() {}
	}
	ready := q.request(pub.SNS.notify(at, q.topic(regionOf(change)), text))
	return func() { pub.deliver(posture.AWS, account, func(Stream) request { return ready }) }
}

// ChangeAzure applies a change to a simulated Azure and sends its event.
func (pub *Publisher) ChangeAzure(cloud *azure.Cloud, change azure.Change) error {
	if err := cloud.Change(change); err != nil {
		return err
	}
	part := strings.Split(strings.Trim(change.ID, "/"), "/")
	if len(part) < 2 || !strings.EqualFold(part[0], "subscriptions") {
		return nil // directory changes are not in the activity log
	}
	verb := "/write"
	if change.Gone {
		verb = "/delete"
	}
	pub.SendAzure(NewOperation(part[1], change.ID, kindOf(part)+verb, pub.Now()))
	return nil
}

// kindOf returns the type of a resource from the segments of its id.
func kindOf(part []string) string {
	kind := "Microsoft.Resources/subscriptions"
	for i := 2; i+1 < len(part); i += 2 {
		if strings.EqualFold(part[i], "providers") {
			kind = part[i+1]
			continue
		}
		kind += "/" + part[i]
	}
	return kind
}

// methods are, by type, the methods that create, change and delete a resource, in this order. The
// names are those in audit logs. Changes of other types cause no events.
var methods = map[posture.EntityType][3]string{
	"GCP.Compute.Firewall":             {"v1.compute.firewalls.insert", "v1.compute.firewalls.patch", "v1.compute.firewalls.delete"},
	"GCP.Compute.Instance":             {"v1.compute.instances.insert", "v1.compute.instances.setMetadata", "v1.compute.instances.delete"},
	"GCP.Compute.Network":              {"v1.compute.networks.insert", "v1.compute.networks.patch", "v1.compute.networks.delete"},
	"GCP.Compute.Subnetwork":           {"v1.compute.subnetworks.insert", "v1.compute.subnetworks.patch", "v1.compute.subnetworks.delete"},
	"GCP.Compute.Disk":                 {"v1.compute.disks.insert", "v1.compute.disks.update", "v1.compute.disks.delete"},
	"GCP.Storage.Bucket":               {"storage.buckets.create", "storage.buckets.update", "storage.buckets.delete"},
	"GCP.SQL.Instance":                 {"cloudsql.instances.create", "cloudsql.instances.update", "cloudsql.instances.delete"},
	"GCP.KMS.CryptoKey":                {"CreateCryptoKey", "SetIamPolicy", "DestroyCryptoKeyVersion"},
	"GCP.Container.Cluster":            {"google.container.v1.ClusterManager.CreateCluster", "google.container.v1.ClusterManager.UpdateCluster", "google.container.v1.ClusterManager.DeleteCluster"},
	"GCP.DNS.ManagedZone":              {"dns.managedZones.create", "dns.managedZones.patch", "dns.managedZones.delete"},
	"GCP.CloudResourceManager.Project": {"CreateProject", "SetIamPolicy", "DeleteProject"},
}

// WatchGCP sends events for the changes of a simulated Google Cloud.
func (pub *Publisher) WatchGCP(cloud *gcp.Cloud) {
	cloud.Changes.Watch = func(change world.Change) {
		names, ok := methods[change.Ref.Type]
		if !ok {
			return
		}
		method := names[1]
		switch {
		case change.Gone:
			method = names[2]
		case change.Make != nil:
			method = names[0]
		}
		// The region of a simulated resource of Google Cloud contains its parent.
		service, name := cloud.Resource(gcp.Change{
			Type: change.Ref.Type, Project: change.Ref.Place.Account, Parent: change.Ref.Place.Region, Name: change.Ref.Name, Make: change.Make,
		})
		if service == "sql.googleapis.com" || service == "sqladmin.googleapis.com" {
			service = "cloudsql.googleapis.com" // the name in audit logs
		}
		pub.SendGCP(change.Ref.Place.Account, service, method, name)
	}
}
