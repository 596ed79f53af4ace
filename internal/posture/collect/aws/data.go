package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/efs"
	efstypes "github.com/aws/aws-sdk-go-v2/service/efs/types"
	"github.com/aws/aws-sdk-go-v2/service/redshift"
	rstypes "github.com/aws/aws-sdk-go-v2/service/redshift/types"

	"vigil/internal/posture/collect"
)

var tables = detailed(declaration{
	Type: tableType, Scope: collect.PerRegion, Service: "dynamodb", Doc: "A table of items.",
	Permissions: []string{"dynamodb:ListTables", "dynamodb:DescribeTable", "dynamodb:DescribeContinuousBackups"},
	Properties: properties{
		text("tableStatus", "ACTIVE when it can be used."),
		text("billingMode", "PROVISIONED or PAY_PER_REQUEST."),
		text("sseType", "KMS when a key of KMS encrypts it; absent when one of the service does."),
		text("kmsKeyArn", "The key."),
		flag("deletionProtectionEnabled", "It cannot be deleted by mistake."),
		text("creationDateTime", "When it was made."),
		text("pointInTimeRecoveryStatus", "ENABLED when it can be put back to any moment of the last weeks."),
	},
	Edges:  edges{edge("ENCRYPTED_BY", "The key it is encrypted with.", keyType)},
	Events: events{on("dynamodb", "CreateTable", "UpdateTable", "DeleteTable", "UpdateContinuousBackups", "RestoreTableFromBackup", "RestoreTableToPointInTime")},
}, func(ctx context.Context, s *scope, names []string, page func([]string) error) error {
	if len(names) > 0 {
		return page(names)
	}
	in := &dynamodb.ListTablesInput{Limit: aws.Int32(100)}
	return each(ctx, dynamodb.NewListTablesPaginator(dynamodb.NewFromConfig(s.config), in), func(out *dynamodb.ListTablesOutput) error { return page(out.TableNames) })
}, func(ctx context.Context, s *scope, name *string) (*resource, error) {
	client := dynamodb.NewFromConfig(s.config)
	r := s.resource(tableType, *name)
	r.XID = s.arn("dynamodb", "table/"+*name)
	r, err := whole(r, []string{"tableStatus", "billingMode", "sseType", "kmsKeyArn", "deletionProtectionEnabled", "creationDateTime", "ENCRYPTED_BY"}, func() error {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: name})
		if err == nil {
			s.describeTable(r, out.Table)
		}
		return err
	})
	if r == nil || err != nil {
		return nil, err
	}
	return r, detail(r, []string{"pointInTimeRecoveryStatus"}, func() error {
		out, err := client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: name})
		if err == nil && out.ContinuousBackupsDescription != nil && out.ContinuousBackupsDescription.PointInTimeRecoveryDescription != nil {
			r.Text("pointInTimeRecoveryStatus", string(out.ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus))
		}
		return err
	})
})

func (s *scope) describeTable(r *resource, v *dbtypes.TableDescription) {
	r.Text("tableStatus", string(v.TableStatus)).Flag("deletionProtectionEnabled", aws.ToBool(v.DeletionProtectionEnabled))
	when(r, "creationDateTime", v.CreationDateTime)
	mode := dbtypes.BillingModeProvisioned // what it means when nothing is said
	if v.BillingModeSummary != nil {
		mode = v.BillingModeSummary.BillingMode
	}
	r.Text("billingMode", string(mode))
	if e := v.SSEDescription; e != nil {
		r.Text("sseType", string(e.SSEType)).Text("kmsKeyArn", aws.ToString(e.KMSMasterKeyArn)).Edge("ENCRYPTED_BY", s.key(e.KMSMasterKeyArn))
	}
}

var warehouses = listed(declaration{
	Type: warehouseType, Scope: collect.PerRegion, Service: "redshift", Doc: "A data warehouse.",
	Permissions: []string{"redshift:DescribeClusters"},
	Properties: properties{
		text("clusterStatus", "available when it works."),
		text("nodeType", "The size of its machines."),
		text("endpoint", "Where it answers."),
		long("port", "The port it answers on."),
		flag("publiclyAccessible", "It has an address on the internet."),
		flag("encrypted", "What is on its disks is encrypted."),
		text("kmsKeyId", "The key for that."),
		flag("enhancedVpcRouting", "Its copies go through the VPC."),
		long("automatedSnapshotRetentionPeriod", "For how many days backups are kept."),
		flag("allowVersionUpgrade", "It gets new versions by itself."),
	},
	Edges: edges{
		edge("IN_VPC", "Where it is.", vpcType),
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
		edge("ENCRYPTED_BY", "The key of its disks.", keyType),
		edge("HAS_ROLE", "The roles it acts with.", roleType),
	},
	Events: events{on("redshift", "CreateCluster", "ModifyCluster", "DeleteCluster", "RestoreFromClusterSnapshot", "ModifyClusterIamRoles")},
}, func(ctx context.Context, s *scope, names []string, page func([]rstypes.Cluster) error) error {
	in := &redshift.DescribeClustersInput{ClusterIdentifier: onlyName(names), MaxRecords: limit(names, 100)}
	return each(ctx, redshift.NewDescribeClustersPaginator(redshift.NewFromConfig(s.config), in), func(out *redshift.DescribeClustersOutput) error { return page(out.Clusters) })
}, func(s *scope, v *rstypes.Cluster) *resource {
	name := aws.ToString(v.ClusterIdentifier)
	r := s.resource(warehouseType, name)
	r.XID = s.arn("redshift", "cluster:"+name)
	for _, tag := range v.Tags {
		r.Tag(aws.ToString(tag.Key), aws.ToString(tag.Value))
	}
	r.Text("clusterStatus", aws.ToString(v.ClusterStatus)).Text("nodeType", aws.ToString(v.NodeType)).Flag("publiclyAccessible", aws.ToBool(v.PubliclyAccessible)).
		Flag("encrypted", aws.ToBool(v.Encrypted)).Text("kmsKeyId", aws.ToString(v.KmsKeyId)).Flag("enhancedVpcRouting", aws.ToBool(v.EnhancedVpcRouting)).
		Flag("allowVersionUpgrade", aws.ToBool(v.AllowVersionUpgrade))
	number(r, "automatedSnapshotRetentionPeriod", v.AutomatedSnapshotRetentionPeriod)
	if v.Endpoint != nil {
		number(r.Text("endpoint", aws.ToString(v.Endpoint.Address)), "port", v.Endpoint.Port)
	}
	for _, g := range v.VpcSecurityGroups {
		r.Edge("MEMBER_OF", s.id(securityGroupType, g.VpcSecurityGroupId))
	}
	for _, role := range v.IamRoles {
		r.Edge("HAS_ROLE", s.refs(role.IamRoleArn))
	}
	return r.Edge("IN_VPC", s.id(vpcType, v.VpcId)).Edge("ENCRYPTED_BY", s.key(v.KmsKeyId))
})

var fileSystems = listed(declaration{
	Type: fileSystemType, Scope: collect.PerRegion, Service: "elasticfilesystem", Doc: "Files that several machines share.",
	Permissions: []string{"elasticfilesystem:DescribeFileSystems"},
	Properties: properties{
		flag("encrypted", "It is encrypted."),
		text("kmsKeyId", "The key for that."),
		text("lifeCycleState", "available when it works."),
		text("performanceMode", "generalPurpose or maxIO."),
		text("throughputMode", "bursting, provisioned or elastic."),
		long("numberOfMountTargets", "From how many subnets it can be used."),
		text("creationTime", "When it was made."),
	},
	Edges:  edges{edge("ENCRYPTED_BY", "The key it is encrypted with.", keyType)},
	Events: events{on("elasticfilesystem", "CreateFileSystem", "UpdateFileSystem", "DeleteFileSystem", "CreateMountTarget", "DeleteMountTarget")},
}, func(ctx context.Context, s *scope, names []string, page func([]efstypes.FileSystemDescription) error) error {
	in := &efs.DescribeFileSystemsInput{FileSystemId: onlyName(names), MaxItems: limit(names, 100)}
	return each(ctx, efs.NewDescribeFileSystemsPaginator(efs.NewFromConfig(s.config), in), func(out *efs.DescribeFileSystemsOutput) error { return page(out.FileSystems) })
}, func(s *scope, v *efstypes.FileSystemDescription) *resource {
	r := s.resource(fileSystemType, aws.ToString(v.FileSystemId))
	r.XID = aws.ToString(v.FileSystemArn)
	if name := aws.ToString(v.Name); name != "" {
		r.Name = name
	}
	for _, tag := range v.Tags {
		r.Tag(aws.ToString(tag.Key), aws.ToString(tag.Value))
	}
	r.Flag("encrypted", aws.ToBool(v.Encrypted)).Text("kmsKeyId", aws.ToString(v.KmsKeyId)).Text("lifeCycleState", string(v.LifeCycleState)).
		Text("performanceMode", string(v.PerformanceMode)).Text("throughputMode", string(v.ThroughputMode)).
		Number("numberOfMountTargets", int64(v.NumberOfMountTargets)).Edge("ENCRYPTED_BY", s.key(v.KmsKeyId))
	return when(r, "creationTime", v.CreationTime)
})
