package aws

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	cachetypes "github.com/aws/aws-sdk-go-v2/service/elasticache/types"
	"github.com/aws/aws-sdk-go-v2/service/opensearch"
	searchtypes "github.com/aws/aws-sdk-go-v2/service/opensearch/types"

	"vigil/internal/posture/collect"
)

var cacheClusters = listed(declaration{
	Type: cacheClusterType, Scope: collect.PerRegion, Service: "elasticache", Doc: "Machines that keep things in memory.",
	Permissions: []string{"elasticache:DescribeCacheClusters"},
	Properties: properties{
		text("engine", "redis, valkey or memcached."),
		text("engineVersion", "Its version."),
		text("cacheNodeType", "The size of its machines."),
		text("cacheClusterStatus", "available when it works."),
		flag("atRestEncryptionEnabled", "What is on its disks is encrypted."),
		flag("transitEncryptionEnabled", "Calls to it are encrypted."),
		flag("authTokenEnabled", "Callers need a token."),
		flag("autoMinorVersionUpgrade", "It gets minor versions by itself."),
		long("snapshotRetentionLimit", "For how many days backups are kept; 0 for none."),
	},
	Edges: edges{
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
		edge("PART_OF", "The replication group it is a part of.", replicationGroupType),
	},
	Events: events{on("elasticache", "CreateCacheCluster", "ModifyCacheCluster", "DeleteCacheCluster")},
}, func(ctx context.Context, s *scope, names []string, page func([]cachetypes.CacheCluster) error) error {
	in := &elasticache.DescribeCacheClustersInput{CacheClusterId: onlyName(names), MaxRecords: limit(names, 100)}
	return each(ctx, elasticache.NewDescribeCacheClustersPaginator(elasticache.NewFromConfig(s.config), in), func(out *elasticache.DescribeCacheClustersOutput) error {
		return page(out.CacheClusters)
	})
}, func(s *scope, v *cachetypes.CacheCluster) *resource {
	r := s.resource(cacheClusterType, aws.ToString(v.CacheClusterId))
	r.XID = aws.ToString(v.ARN)
	r.Text("engine", aws.ToString(v.Engine)).Text("engineVersion", aws.ToString(v.EngineVersion)).Text("cacheNodeType", aws.ToString(v.CacheNodeType)).
		Text("cacheClusterStatus", aws.ToString(v.CacheClusterStatus)).Flag("atRestEncryptionEnabled", aws.ToBool(v.AtRestEncryptionEnabled)).
		Flag("transitEncryptionEnabled", aws.ToBool(v.TransitEncryptionEnabled)).Flag("authTokenEnabled", aws.ToBool(v.AuthTokenEnabled)).
		Flag("autoMinorVersionUpgrade", aws.ToBool(v.AutoMinorVersionUpgrade))
	number(r, "snapshotRetentionLimit", v.SnapshotRetentionLimit)
	for _, g := range v.SecurityGroups {
		r.Edge("MEMBER_OF", s.id(securityGroupType, g.SecurityGroupId))
	}
	return r.Edge("PART_OF", s.id(replicationGroupType, v.ReplicationGroupId))
})

var replicationGroups = listed(declaration{
	Type: replicationGroupType, Scope: collect.PerRegion, Service: "elasticache", Doc: "Caches that hold the same.",
	Permissions: []string{"elasticache:DescribeReplicationGroups"},
	Properties: properties{
		text("description", "What its owner says it is for."),
		text("status", "available when it works."),
		text("engine", "redis or valkey."),
		flag("atRestEncryptionEnabled", "What is on its disks is encrypted."),
		flag("transitEncryptionEnabled", "Calls to it are encrypted."),
		flag("authTokenEnabled", "Callers need a token."),
		text("kmsKeyId", "The key of its disks."),
		text("automaticFailover", "enabled when a stand-in takes over by itself."),
		text("multiAZ", "enabled when its members are in different zones."),
		long("snapshotRetentionLimit", "For how many days backups are kept; 0 for none."),
	},
	Edges:  edges{edge("ENCRYPTED_BY", "The key of its disks.", keyType)},
	Events: events{on("elasticache", "CreateReplicationGroup", "ModifyReplicationGroup", "DeleteReplicationGroup")},
}, func(ctx context.Context, s *scope, names []string, page func([]cachetypes.ReplicationGroup) error) error {
	in := &elasticache.DescribeReplicationGroupsInput{ReplicationGroupId: onlyName(names), MaxRecords: limit(names, 100)}
	return each(ctx, elasticache.NewDescribeReplicationGroupsPaginator(elasticache.NewFromConfig(s.config), in), func(out *elasticache.DescribeReplicationGroupsOutput) error {
		return page(out.ReplicationGroups)
	})
}, func(s *scope, v *cachetypes.ReplicationGroup) *resource {
	r := s.resource(replicationGroupType, aws.ToString(v.ReplicationGroupId))
	r.XID = aws.ToString(v.ARN)
	r.Text("description", aws.ToString(v.Description)).Text("status", aws.ToString(v.Status)).Text("engine", aws.ToString(v.Engine)).
		Flag("atRestEncryptionEnabled", aws.ToBool(v.AtRestEncryptionEnabled)).Flag("transitEncryptionEnabled", aws.ToBool(v.TransitEncryptionEnabled)).
		Flag("authTokenEnabled", aws.ToBool(v.AuthTokenEnabled)).Text("kmsKeyId", aws.ToString(v.KmsKeyId)).
		Text("automaticFailover", string(v.AutomaticFailover)).Text("multiAZ", string(v.MultiAZ)).Edge("ENCRYPTED_BY", s.key(v.KmsKeyId))
	return number(r, "snapshotRetentionLimit", v.SnapshotRetentionLimit)
})

var domains = listed(declaration{
	Type: domainType, Scope: collect.PerRegion, Service: "es", Doc: "A search engine.",
	Permissions: []string{"es:ListDomainNames", "es:DescribeDomains"},
	Properties: append(properties{
		text("engineVersion", "Its version."),
		text("endpoint", "Where it answers on the internet; absent in a VPC."),
		flag("inVpc", "Only its VPC can reach it."),
		flag("encryptionAtRest", "What is on its disks is encrypted."),
		text("kmsKeyId", "The key for that."),
		flag("nodeToNodeEncryption", "Its machines talk to one another encrypted."),
		flag("enforceHttps", "It answers encrypted calls alone."),
		text("tlsSecurityPolicy", "The oldest version of TLS it speaks."),
		flag("fineGrainedAccessControl", "It tells its callers apart."),
	}, policyProperties...),
	Edges: edges{
		edge("IN_VPC", "Where it is.", vpcType),
		edge("IN_SUBNET", "Where it is.", subnetType),
		edge("MEMBER_OF", "The security groups that guard it.", securityGroupType),
		edge("ENCRYPTED_BY", "The key of its disks.", keyType),
	},
	Events: events{on("es", "CreateDomain", "UpdateDomainConfig", "DeleteDomain", "CreateElasticsearchDomain", "UpdateElasticsearchDomainConfig",
		"DeleteElasticsearchDomain")},
}, func(ctx context.Context, s *scope, names []string, page func([]searchtypes.DomainStatus) error) error {
	client := opensearch.NewFromConfig(s.config)
	if len(names) == 0 {
		out, err := client.ListDomainNames(ctx, &opensearch.ListDomainNamesInput{})
		if err != nil {
			return err
		}
		for _, d := range out.DomainNames {
			names = append(names, aws.ToString(d.DomainName))
		}
	}
	for batch := range slices.Chunk(names, 5) {
		out, err := client.DescribeDomains(ctx, &opensearch.DescribeDomainsInput{DomainNames: batch})
		if err != nil {
			return err
		}
		if err := page(out.DomainStatusList); err != nil {
			return err
		}
	}
	return nil
}, func(s *scope, v *searchtypes.DomainStatus) *resource {
	r := s.resource(domainType, aws.ToString(v.DomainName))
	r.XID = aws.ToString(v.ARN)
	r.Text("engineVersion", aws.ToString(v.EngineVersion)).Text("endpoint", aws.ToString(v.Endpoint)).Flag("inVpc", v.VPCOptions != nil).
		Flag("nodeToNodeEncryption", v.NodeToNodeEncryptionOptions != nil && aws.ToBool(v.NodeToNodeEncryptionOptions.Enabled)).
		Flag("fineGrainedAccessControl", v.AdvancedSecurityOptions != nil && aws.ToBool(v.AdvancedSecurityOptions.Enabled))
	if e := v.EncryptionAtRestOptions; e != nil {
		r.Flag("encryptionAtRest", aws.ToBool(e.Enabled)).Text("kmsKeyId", aws.ToString(e.KmsKeyId)).Edge("ENCRYPTED_BY", s.key(e.KmsKeyId))
	}
	if e := v.DomainEndpointOptions; e != nil {
		r.Flag("enforceHttps", aws.ToBool(e.EnforceHTTPS)).Text("tlsSecurityPolicy", string(e.TLSSecurityPolicy))
	}
	if v.AccessPolicies != nil && *v.AccessPolicies != "" {
		policyFacts(r, *v.AccessPolicies)
	}
	if n := v.VPCOptions; n != nil {
		r.Edge("IN_VPC", s.id(vpcType, n.VPCId))
		for _, id := range n.SubnetIds {
			r.Edge("IN_SUBNET", s.id(subnetType, &id))
		}
		for _, id := range n.SecurityGroupIds {
			r.Edge("MEMBER_OF", s.id(securityGroupType, &id))
		}
	}
	return r
})
