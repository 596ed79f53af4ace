package aws

import (
	"fmt"
	"strings"

	"vigil/internal/sim/world"
)

// data contains the kinds of databases and other stores.
type data struct {
	dbInstances, dbClusters, dbSnapshots, dbClusterSnapshots, dbSubnetGroups                 *world.Kind
	tables, cacheClusters, replicationGroups, warehouses, fileSystems, domains, repositories *world.Kind
}

func (e *inventory) makeData() {
	e.dbSubnetGroups = e.wordNamed("AWS.RDS.DBSubnetGroup", "db-subnets", constantCount(1), func(p world.Place, i int, name string) world.Object {
		subnet := func(j int) world.Object {
			return world.Obj("SubnetIdentifier", nth(e.subnets, p, j*e.vpcs.Count(p)+i), "SubnetStatus", "Active")
		}
		return world.Obj("DBSubnetGroupName", name, "DBSubnetGroupDescription", "subnets of databases", "VpcId", nth(e.vpcs, p, i), "SubnetGroupStatus", "Complete",
			"DBSubnetGroupArn", arn("rds", p, "subgrp:"+name), "Subnets", listOf("Subnet", world.Items(subnet(0), subnet(1))))
	})
	e.dbInstances = e.wordNamed("AWS.RDS.DBInstance", "db", e.share(10, 4), e.dbInstance)
	e.dbClusters = e.wordNamed("AWS.RDS.DBCluster", "aurora", constantCount(1), func(p world.Place, i int, name string) world.Object {
		return world.Obj("DBClusterIdentifier", name, "DBClusterArn", arn("rds", p, "cluster:"+name), "Engine", "aurora-postgresql", "EngineVersion", "16.4",
			"Status", "available", "Endpoint", name+".cluster-x."+p.Region+".rds.amazonaws.com", "Port", 5432, "StorageEncrypted", true, "KmsKeyId", e.keyARN(p, i),
			"BackupRetentionPeriod", 7, "DeletionProtection", true, "IAMDatabaseAuthenticationEnabled", true, "HttpEndpointEnabled", false,
			"DBSubnetGroup", e.dbSubnetGroups.Name(p, 0), "VpcSecurityGroups", e.dbGroups(p, i), "TagList", listOf("Tag", e.tagList(p, "cluster", i, "Key", "Value")))
	})
	e.dbSnapshots = e.wordNamed("AWS.RDS.DBSnapshot", "db-snapshot", e.share(10, 3), func(p world.Place, i int, name string) world.Object {
		return world.Obj("DBSnapshotIdentifier", name, "DBSnapshotArn", arn("rds", p, "snapshot:"+name), "DBInstanceIdentifier", nth(e.dbInstances, p, i),
			"Engine", "postgres", "EngineVersion", "16.4", "Status", "available", "SnapshotType", "manual", "SnapshotCreateTime", e.ago(15), "Encrypted", true,
			"KmsKeyId", e.keyARN(p, i), "TagList", listOf("Tag", e.tagList(p, "dbsnap", i, "Key", "Value")), "_restore", e.restoreAccounts(p, i))
	})
	e.dbClusterSnapshots = e.wordNamed("AWS.RDS.DBClusterSnapshot", "aurora-snapshot", constantCount(1), func(p world.Place, i int, name string) world.Object {
		return world.Obj("DBClusterSnapshotIdentifier", name, "DBClusterSnapshotArn", arn("rds", p, "cluster-snapshot:"+name),
			"DBClusterIdentifier", nth(e.dbClusters, p, i), "Engine", "aurora-postgresql", "EngineVersion", "16.4", "Status", "available", "SnapshotType", "manual",
			"SnapshotCreateTime", e.ago(15), "StorageEncrypted", true, "KmsKeyId", e.keyARN(p, i), "_restore", world.Items("123456789012"))
	})
	e.tables = e.wordNamed("AWS.DynamoDB.Table", "table", e.share(15, 3), func(p world.Place, i int, name string) world.Object {
		status := "ENABLED"
		if e.violates("aws-dynamodb-pitr", p, i) {
			status = "DISABLED"
		}
		return world.Obj("TableName", name, "TableArn", arn("dynamodb", p, "table/"+name), "TableStatus", "ACTIVE", "CreationDateTime", e.ago(300),
			"BillingModeSummary", world.Obj("BillingMode", "PAY_PER_REQUEST"), "DeletionProtectionEnabled", i%2 == 0,
			"SSEDescription", world.Obj("Status", "ENABLED", "SSEType", "KMS", "KMSMasterKeyArn", e.keyARN(p, i)), "_pitr", status)
	})
	e.makeStores()
}

// restoreAccounts returns the accounts that may restore a snapshot.
func (e *inventory) restoreAccounts(p world.Place, i int) []any {
	if e.violates("aws-rds-snapshot-public", p, i) {
		return world.Items("all")
	}
	return []any{}
}

// dbGroups returns the security group of the i-th database.
func (e *inventory) dbGroups(p world.Place, i int) world.List {
	id := e.securityGroups.Name(p, e.ordinaryGroup(p, 0, i))
	return listOf("VpcSecurityGroupMembership", world.Items(world.Obj("VpcSecurityGroupId", id, "Status", "active")))
}

func (e *inventory) dbInstance(p world.Place, i int, name string) world.Object {
	days := 7
	if e.violates("aws-rds-backup", p, i) {
		days = 0
	}
	o := world.Obj("DBInstanceIdentifier", name, "DBInstanceArn", arn("rds", p, "db:"+name), "DBInstanceClass", "db.t4g.medium", "Engine", "postgres",
		"EngineVersion", "16.4", "DBInstanceStatus", "available", "InstanceCreateTime", e.ago(200),
		"Endpoint", world.Obj("Address", name+".x."+p.Region+".rds.amazonaws.com", "Port", 5432),
		"PubliclyAccessible", e.violates("aws-rds-public", p, i), "BackupRetentionPeriod", days,
		"AutoMinorVersionUpgrade", !e.violates("aws-rds-minor-upgrade", p, i), "MultiAZ", i%2 == 0, "DeletionProtection", i%3 == 0,
		"IAMDatabaseAuthenticationEnabled", i%2 == 1, "CACertificateIdentifier", "rds-ca-rsa2048-g1",
		"EnabledCloudwatchLogsExports", world.Items("postgresql"), "VpcSecurityGroups", e.dbGroups(p, i),
		"DBSubnetGroup", world.Obj("DBSubnetGroupName", e.dbSubnetGroups.Name(p, 0), "VpcId", e.vpcs.Name(p, 0), "SubnetGroupStatus", "Complete"),
		"AssociatedRoles", listOf("DBInstanceRole", world.Items(world.Obj("RoleArn", arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), i)), "FeatureName", "s3Import"))),
		"TagList", listOf("Tag", e.tagList(p, "db", i, "Key", "Value")))
	if i == 0 {
		o = append(o, world.Obj("DBClusterIdentifier", e.dbClusters.Name(p, 0))...)
	}
	if i == 1 && days > 0 { // not a violating instance: aws-rds-backup ignores read replicas
		o = append(o, world.Obj("ReadReplicaSourceDBInstanceIdentifier", e.dbInstances.Name(p, 0))...)
	}
	if e.violates("aws-rds-encrypted", p, i) {
		return append(o, world.Obj("StorageEncrypted", false)...)
	}
	return append(o, world.Obj("StorageEncrypted", true, "KmsKeyId", e.keyARN(p, i))...)
}

func (e *inventory) makeStores() {
	group := func(p world.Place, i int) string { return e.securityGroups.Name(p, e.ordinaryGroup(p, 0, i)) }
	e.replicationGroups = e.wordNamed("AWS.ElastiCache.ReplicationGroup", "redis", constantCount(1), func(p world.Place, i int, name string) world.Object {
		return world.Obj("ReplicationGroupId", name, "Description", "sessions", "ARN", arn("elasticache", p, "replicationgroup:"+name), "Status", "available",
			"Engine", "valkey", "AtRestEncryptionEnabled", true, "TransitEncryptionEnabled", true, "AuthTokenEnabled", false, "KmsKeyId", e.keyARN(p, i),
			"AutomaticFailover", "enabled", "MultiAZ", "enabled", "SnapshotRetentionLimit", 5)
	})
	e.cacheClusters = e.wordNamed("AWS.ElastiCache.CacheCluster", "redis-node", constantCount(2), func(p world.Place, i int, name string) world.Object {
		return world.Obj("CacheClusterId", name, "ARN", arn("elasticache", p, "cluster:"+name), "Engine", "redis", "EngineVersion", "7.1", "CacheNodeType", "cache.t4g.micro",
			"CacheClusterStatus", "available", "AtRestEncryptionEnabled", true, "TransitEncryptionEnabled", i%2 == 0, "AuthTokenEnabled", false,
			"AutoMinorVersionUpgrade", true, "SnapshotRetentionLimit", 1, "ReplicationGroupId", e.replicationGroups.Name(p, 0),
			"SecurityGroups", world.Items(world.Obj("SecurityGroupId", group(p, i), "Status", "active")))
	})
	e.warehouses = e.wordNamed("AWS.Redshift.Cluster", "warehouse", e.share(1, 2), func(p world.Place, i int, name string) world.Object {
		return world.Obj("ClusterIdentifier", name, "ClusterStatus", "available", "NodeType", "ra3.xlplus", "PubliclyAccessible", e.violates("aws-redshift-public", p, i),
			"Encrypted", true, "KmsKeyId", e.keyARN(p, i), "EnhancedVpcRouting", true, "AllowVersionUpgrade", true, "AutomatedSnapshotRetentionPeriod", 3,
			"Endpoint", world.Obj("Address", name+".redshift.amazonaws.com", "Port", 5439), "VpcId", e.vpcs.Name(p, 0),
			"VpcSecurityGroups", listOf("VpcSecurityGroup", world.Items(world.Obj("VpcSecurityGroupId", group(p, i), "Status", "active"))),
			"IamRoles", listOf("ClusterIamRole", world.Items(world.Obj("IamRoleArn", arn("iam", everywhere(p), "role/"+nth(e.roles, everywhere(p), i)), "ApplyStatus", "in-sync"))),
			"Tags", listOf("Tag", e.tagList(p, "warehouse", i, "Key", "Value")))
	})
	e.fileSystems = e.hexNamed("AWS.EFS.FileSystem", "fs-0", 16, e.share(5, 3), func(p world.Place, i int, id string) world.Object {
		o := world.Obj("FileSystemId", id, "FileSystemArn", arn("elasticfilesystem", p, "file-system/"+id), "OwnerId", p.Account, "CreationToken", id,
			"CreationTime", e.ago(150), "LifeCycleState", "available", "NumberOfMountTargets", 2, "PerformanceMode", "generalPurpose", "ThroughputMode", "elastic",
			"SizeInBytes", world.Obj("Value", 6144), "Name", fmt.Sprintf("shared-%d", i), "Tags", e.tagList(p, "efs", i, "Key", "Value"))
		if e.violates("aws-efs-encrypted", p, i) {
			return append(o, world.Obj("Encrypted", false)...)
		}
		return append(o, world.Obj("Encrypted", true, "KmsKeyId", e.keyARN(p, i))...)
	})
	e.domains = e.wordNamed("AWS.OpenSearch.Domain", "search", constantCount(1), func(p world.Place, i int, name string) world.Object {
		return world.Obj("DomainName", name, "DomainId", p.Account+"/"+name, "ARN", arn("es", p, "domain/"+name), "EngineVersion", "OpenSearch_2.13",
			"ClusterConfig", world.Obj("InstanceCount", 2), "EncryptionAtRestOptions", world.Obj("Enabled", true, "KmsKeyId", e.keyARN(p, i)),
			"NodeToNodeEncryptionOptions", world.Obj("Enabled", true), "DomainEndpointOptions", world.Obj("EnforceHTTPS", true, "TLSSecurityPolicy", "Policy-Min-TLS-1-2-2019-07"),
			"AdvancedSecurityOptions", world.Obj("Enabled", true), "Endpoint", "search-"+name+"."+p.Region+".es.amazonaws.com",
			"AccessPolicies", policy(allow("AWS:"+arn("iam", everywhere(p), "root"), "es:*", "*")),
			"VPCOptions", world.Obj("VPCId", e.vpcs.Name(p, 0), "SubnetIds", world.Items(e.subnets.Name(p, 0)), "SecurityGroupIds", world.Items(group(p, i))))
	})
	e.repositories = e.wordNamed("AWS.ECR.Repository", "app/image", e.share(5, 2), func(p world.Place, i int, name string) world.Object {
		o := world.Obj("repositoryArn", arn("ecr", p, "repository/"+name), "registryId", p.Account, "repositoryName", name,
			"repositoryUri", p.Account+".dkr.ecr."+p.Region+".amazonaws.com/"+name, "createdAt", e.ago(220), "imageTagMutability", "MUTABLE",
			"imageScanningConfiguration", world.Obj("scanOnPush", i%2 == 0), "encryptionConfiguration", world.Obj("encryptionType", "KMS", "kmsKey", e.keyARN(p, i)))
		if i%2 == 0 {
			o = append(o, world.Obj("_policy", policy(allow("AWS:arn:aws:iam::123456789012:root", "ecr:BatchGetImage", "")))...)
		}
		return o
	})
}

func dataService(c *Cloud) {
	e := c.inventory
	// Calls that return one resource, if a parameter names it, else all in pages.
	for _, l := range []struct {
		service, action, field, item, nameParam, missing string
		kind                                             *world.Kind
	}{
		{"rds", "DescribeDBInstances", "DBInstances", "DBInstance", "DBInstanceIdentifier", "DBInstanceNotFound", e.dbInstances},
		{"rds", "DescribeDBClusters", "DBClusters", "DBCluster", "DBClusterIdentifier", "DBClusterNotFoundFault", e.dbClusters},
		{"rds", "DescribeDBSnapshots", "DBSnapshots", "DBSnapshot", "DBSnapshotIdentifier", "DBSnapshotNotFound", e.dbSnapshots},
		{"rds", "DescribeDBClusterSnapshots", "DBClusterSnapshots", "DBClusterSnapshot", "DBClusterSnapshotIdentifier", "DBClusterSnapshotNotFoundFault", e.dbClusterSnapshots},
		{"rds", "DescribeDBSubnetGroups", "DBSubnetGroups", "DBSubnetGroup", "DBSubnetGroupName", "DBSubnetGroupNotFoundFault", e.dbSubnetGroups},
		{"elasticache", "DescribeCacheClusters", "CacheClusters", "CacheCluster", "CacheClusterId", "CacheClusterNotFound", e.cacheClusters},
		{"elasticache", "DescribeReplicationGroups", "ReplicationGroups", "ReplicationGroup", "ReplicationGroupId", "ReplicationGroupNotFoundFault", e.replicationGroups},
		{"redshift", "DescribeClusters", "Clusters", "Cluster", "ClusterIdentifier", "ClusterNotFound", e.warehouses},
		{"elasticfilesystem", "DescribeFileSystems", "FileSystems", "", "FileSystemId", "FileSystemNotFound", e.fileSystems},
	} {
		c.register(l.service, l.action, func(x *call) (answer, error) {
			if name := x.text(l.nameParam); name != "" {
				o, ok := c.Get(l.kind, x.place(), name)
				if !ok {
					return answer{}, &failure{404, l.missing, name + " not found."}
				}
				return answer{Object: world.Obj(l.field, listing{item: l.item}.wrap(world.Items(o.Visible())))}, nil
			}
			max, next := "MaxRecords", "Marker"
			if l.service == "elasticfilesystem" {
				max, next = "MaxItems", "NextMarker"
			}
			return x.list(c, listing{kind: l.kind, field: l.field, item: l.item, token: "Marker", next: next, max: max, page: 100})
		})
	}
	attributes := func(action, name, prefix string, kind *world.Kind) {
		c.register("rds", action, func(x *call) (answer, error) {
			o, ok := c.Get(kind, x.place(), x.text(name))
			if !ok {
				return answer{}, &failure{404, "DBSnapshotNotFound", x.text(name) + " not found."}
			}
			attribute := world.Obj("AttributeName", "restore", "AttributeValues", listOf("AttributeValue", o.List("_restore")))
			return answer{Object: world.Obj(prefix+"AttributesResult", world.Obj(name, x.text(name), prefix+"Attributes", listOf(prefix+"Attribute", world.Items(attribute))))}, nil
		})
	}
	attributes("DescribeDBSnapshotAttributes", "DBSnapshotIdentifier", "DBSnapshot", e.dbSnapshots)
	attributes("DescribeDBClusterSnapshotAttributes", "DBClusterSnapshotIdentifier", "DBClusterSnapshot", e.dbClusterSnapshots)
	tableService(c)
	c.register("es", "ListDomainNames", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.domains, field: "DomainNames", page: 1000, shape: func(name string, _ world.Object) any { return world.Obj("DomainName", name) }})
	})
	c.register("es", "DescribeDomains", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.domains, field: "DomainStatusList", names: "DomainNames"})
	})
	c.register("ecr", "DescribeRepositories", func(x *call) (answer, error) {
		return x.list(c, listing{kind: e.repositories, field: "repositories", names: "repositoryNames", missing: "RepositoryNotFoundException", token: "nextToken", next: "nextToken", max: "maxResults", page: 1000})
	})
	c.register("ecr", "GetRepositoryPolicy", func(x *call) (answer, error) {
		o, _ := c.Get(e.repositories, x.place(), x.text("repositoryName"))
		if o.Text("_policy") == "" {
			return answer{}, &failure{400, "RepositoryPolicyNotFoundException", "Repository policy does not exist"}
		}
		return answer{Object: world.Obj("policyText", o.Get("_policy"), "registryId", x.account, "repositoryName", x.text("repositoryName"))}, nil
	})
}

// tableService registers DynamoDB, whose pages continue after the last name.
func tableService(c *Cloud) {
	e := c.inventory
	c.register("dynamodb", "ListTables", func(x *call) (answer, error) {
		from := 0
		if after := x.text("ExclusiveStartTableName"); after != "" {
			i, _ := e.tables.Index(x.place(), after)
			from = i + 1
		}
		var names []any
		next := c.List(e.tables, x.place(), from, x.number("Limit", 100), func(name string, _ world.Object) bool {
			names = append(names, name)
			return true
		})
		out := world.Obj("TableNames", listing{}.wrap(names))
		if next >= 0 && len(names) > 0 {
			out = append(out, world.Obj("LastEvaluatedTableName", names[len(names)-1])...)
		}
		return answer{Object: out}, nil
	})
	table := func(action string, write func(o world.Object) world.Object) {
		c.register("dynamodb", action, func(x *call) (answer, error) {
			o, ok := c.Get(e.tables, x.place(), x.text("TableName"))
			if !ok {
				return answer{}, &failure{400, "ResourceNotFoundException", "Requested resource not found: Table: " + x.text("TableName") + " not found"}
			}
			return answer{Object: write(o)}, nil
		})
	}
	table("DescribeTable", func(o world.Object) world.Object { return world.Obj("Table", o.Visible()) })
	table("DescribeContinuousBackups", func(o world.Object) world.Object {
		return world.Obj("ContinuousBackupsDescription", world.Obj("ContinuousBackupsStatus", "ENABLED",
			"PointInTimeRecoveryDescription", world.Obj("PointInTimeRecoveryStatus", o.Get("_pitr"))))
	})
}

// afterSlash returns what follows the last slash.
func afterSlash(s string) string { return s[strings.LastIndex(s, "/")+1:] }
