package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// rds begins an entity of RDS.
func (s *scope) rds(t posture.EntityType, name, arn *string, tags []types.Tag) *resource {
	r := s.resource(t, aws.ToString(name))
	r.XID = aws.ToString(arn)
	for _, tag := range tags {
		r.Tag(aws.ToString(tag.Key), aws.ToString(tag.Value))
	}
	return r
}

// onlyName returns the first of the names, or nil.
func onlyName(names []string) *string {
	if len(names) == 0 {
		return nil
	}
	return &names[0]
}

var dbInstances = listed(declaration{
	Type: dbInstanceType, Scope: collect.PerRegion, Service: "rds", Doc: "A database server.",
	Permissions: []string{"rds:DescribeDBInstances"},
	Properties: properties{
		text("engine", "Its kind, such as postgres."),
		text("engineVersion", "Its version."),
		text("dbInstanceClass", "Its size."),
		text("dbInstanceStatus", "available when it works."),
		long("dbInstancePort", "The port it answers on."),
		text("endpoint", "Where it answers."),
		flag("publiclyAccessible", "It has an address on the internet."),
		flag("storageEncrypted", "What is on its disks is encrypted."),
		text("kmsKeyId", "The key for that."),
		long("backupRetentionPeriod", "For how many days backups are kept; 0 for none."),
		flag("autoMinorVersionUpgrade", "It gets minor versions by itself."),
		flag("multiAZ", "It has a stand-in in another zone."),
		flag("deletionProtection", "It cannot be deleted by mistake."),
		flag("iamDatabaseAuthenticationEnabled", "IAM identities can log in."),
		text("caCertificateIdentifier", "The authority of its certificate."),
		texts("enabledCloudwatchLogsExports", "Which of its logs are kept in CloudWatch."),
		text("instanceCreateTime", "When it was made."),
	},
	Edges: edges{
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
		edge("ENCRYPTED_BY", "The key of its disks.", keyType),
		edge("IN_VPC", "Where it is.", vpcType),
		edge("IN_SUBNET_GROUP", "The subnets it may be in.", dbSubnetGroupType),
		edge("PART_OF", "The cluster it is a part of.", dbClusterType),
		edge("HAS_ROLE", "The roles it acts with.", roleType),
	},
	Events: events{on("rds", "CreateDBInstance", "ModifyDBInstance", "DeleteDBInstance", "RestoreDBInstanceFromDBSnapshot", "RestoreDBInstanceToPointInTime",
		"CreateDBInstanceReadReplica", "StartDBInstance", "StopDBInstance", "AddTagsToResource", "RemoveTagsFromResource")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.DBInstance) error) error {
	in := &rds.DescribeDBInstancesInput{DBInstanceIdentifier: onlyName(names), MaxRecords: limit(names, 100)}
	return each(ctx, rds.NewDescribeDBInstancesPaginator(rds.NewFromConfig(s.config), in), func(out *rds.DescribeDBInstancesOutput) error { return page(out.DBInstances) })
}, func(s *scope, v *types.DBInstance) *resource {
	r := s.rds(dbInstanceType, v.DBInstanceIdentifier, v.DBInstanceArn, v.TagList)
	r.Text("engine", aws.ToString(v.Engine)).Text("engineVersion", aws.ToString(v.EngineVersion)).Text("dbInstanceClass", aws.ToString(v.DBInstanceClass)).
		Text("dbInstanceStatus", aws.ToString(v.DBInstanceStatus)).Flag("publiclyAccessible", aws.ToBool(v.PubliclyAccessible)).
		Flag("storageEncrypted", aws.ToBool(v.StorageEncrypted)).Text("kmsKeyId", aws.ToString(v.KmsKeyId)).
		Flag("autoMinorVersionUpgrade", aws.ToBool(v.AutoMinorVersionUpgrade)).Flag("multiAZ", aws.ToBool(v.MultiAZ)).
		Flag("deletionProtection", aws.ToBool(v.DeletionProtection)).
		Flag("iamDatabaseAuthenticationEnabled", aws.ToBool(v.IAMDatabaseAuthenticationEnabled)).
		Text("caCertificateIdentifier", aws.ToString(v.CACertificateIdentifier))
	number(r, "backupRetentionPeriod", v.BackupRetentionPeriod)
	set(r, "enabledCloudwatchLogsExports", v.EnabledCloudwatchLogsExports)
	when(r, "instanceCreateTime", v.InstanceCreateTime)
	if v.Endpoint != nil {
		number(r, "dbInstancePort", v.Endpoint.Port)
		r.Text("endpoint", aws.ToString(v.Endpoint.Address))
	}
	for _, g := range v.VpcSecurityGroups {
		r.Edge("MEMBER_OF", s.id(securityGroupType, g.VpcSecurityGroupId))
	}
	for _, role := range v.AssociatedRoles {
		r.Edge("HAS_ROLE", s.refs(role.RoleArn))
	}
	if v.DBSubnetGroup != nil {
		r.Edge("IN_VPC", s.id(vpcType, v.DBSubnetGroup.VpcId)).Edge("IN_SUBNET_GROUP", s.id(dbSubnetGroupType, v.DBSubnetGroup.DBSubnetGroupName))
	}
	return r.Edge("ENCRYPTED_BY", s.key(v.KmsKeyId)).Edge("PART_OF", s.id(dbClusterType, v.DBClusterIdentifier))
})

var dbClusters = listed(declaration{
	Type: dbClusterType, Scope: collect.PerRegion, Service: "rds", Doc: "A cluster of database servers over the same data.",
	Permissions: []string{"rds:DescribeDBClusters"},
	Properties: properties{
		text("engine", "Its kind, such as aurora-postgresql."),
		text("engineVersion", "Its version."),
		text("status", "available when it works."),
		text("endpoint", "Where it answers."),
		long("port", "The port it answers on."),
		flag("storageEncrypted", "Its data is encrypted."),
		text("kmsKeyId", "The key for that."),
		long("backupRetentionPeriod", "For how many days backups are kept."),
		flag("deletionProtection", "It cannot be deleted by mistake."),
		flag("iamDatabaseAuthenticationEnabled", "IAM identities can log in."),
		flag("httpEndpointEnabled", "It answers SQL over HTTP."),
	},
	Edges: edges{
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
		edge("ENCRYPTED_BY", "The key of its data.", keyType),
		edge("IN_SUBNET_GROUP", "The subnets it may be in.", dbSubnetGroupType),
	},
	Events: events{on("rds", "CreateDBCluster", "ModifyDBCluster", "DeleteDBCluster", "RestoreDBClusterFromSnapshot", "RestoreDBClusterToPointInTime")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.DBCluster) error) error {
	in := &rds.DescribeDBClustersInput{DBClusterIdentifier: onlyName(names), MaxRecords: limit(names, 100)}
	return each(ctx, rds.NewDescribeDBClustersPaginator(rds.NewFromConfig(s.config), in), func(out *rds.DescribeDBClustersOutput) error { return page(out.DBClusters) })
}, func(s *scope, v *types.DBCluster) *resource {
	r := s.rds(dbClusterType, v.DBClusterIdentifier, v.DBClusterArn, v.TagList)
	r.Text("engine", aws.ToString(v.Engine)).Text("engineVersion", aws.ToString(v.EngineVersion)).Text("status", aws.ToString(v.Status)).
		Text("endpoint", aws.ToString(v.Endpoint)).Flag("storageEncrypted", aws.ToBool(v.StorageEncrypted)).Text("kmsKeyId", aws.ToString(v.KmsKeyId)).
		Flag("deletionProtection", aws.ToBool(v.DeletionProtection)).
		Flag("iamDatabaseAuthenticationEnabled", aws.ToBool(v.IAMDatabaseAuthenticationEnabled)).
		Flag("httpEndpointEnabled", aws.ToBool(v.HttpEndpointEnabled))
	number(r, "port", v.Port)
	number(r, "backupRetentionPeriod", v.BackupRetentionPeriod)
	for _, g := range v.VpcSecurityGroups {
		r.Edge("MEMBER_OF", s.id(securityGroupType, g.VpcSecurityGroupId))
	}
	return r.Edge("ENCRYPTED_BY", s.key(v.KmsKeyId)).Edge("IN_SUBNET_GROUP", s.id(dbSubnetGroupType, v.DBSubnetGroup))
})

var dbSubnetGroups = listed(declaration{
	Type: dbSubnetGroupType, Scope: collect.PerRegion, Service: "rds", Doc: "The subnets that databases may be in.",
	Permissions: []string{"rds:DescribeDBSubnetGroups"},
	Properties: properties{
		text("description", "What its owner says it is for."),
		text("status", "Complete when it can be used."),
	},
	Edges: edges{
		edge("IN_VPC", "The VPC of the subnets.", vpcType),
		edge("HAS_SUBNET", "The subnets.", subnetType),
	},
	Events: events{on("rds", "CreateDBSubnetGroup", "ModifyDBSubnetGroup", "DeleteDBSubnetGroup")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.DBSubnetGroup) error) error {
	in := &rds.DescribeDBSubnetGroupsInput{DBSubnetGroupName: onlyName(names), MaxRecords: limit(names, 100)}
	return each(ctx, rds.NewDescribeDBSubnetGroupsPaginator(rds.NewFromConfig(s.config), in), func(out *rds.DescribeDBSubnetGroupsOutput) error {
		return page(out.DBSubnetGroups)
	})
}, func(s *scope, v *types.DBSubnetGroup) *resource {
	r := s.rds(dbSubnetGroupType, v.DBSubnetGroupName, v.DBSubnetGroupArn, nil)
	r.Text("description", aws.ToString(v.DBSubnetGroupDescription)).Text("status", aws.ToString(v.SubnetGroupStatus))
	for _, subnet := range v.Subnets {
		r.Edge("HAS_SUBNET", s.id(subnetType, subnet.SubnetIdentifier))
	}
	return r.Edge("IN_VPC", s.id(vpcType, v.VpcId))
})
