package aws

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"vigil/internal/posture/collect"
)

// Only snapshots that people make can be shared; those that RDS makes every day
// are many more, and nothing is to be known of them.
const manual = "manual"

// snapshotProperties are those of the snapshots of instances and clusters.
var snapshotProperties = properties{
	text("engine", "The kind of database."),
	text("engineVersion", "Its version."),
	text("status", "available when it can be used."),
	text("snapshotCreateTime", "When it was made."),
	flag("encrypted", "It is encrypted."),
	text("kmsKeyId", "The key for that."),
	texts("restoreAttribute", "Which accounts may restore it; all for anybody."),
	flag("public", "Anybody may restore it."),
}

// sharing are the properties that take a call for each snapshot.
var sharing = []string{"restoreAttribute", "public"}

// shared adds who may restore a snapshot.
func shared(r *resource, accounts []string) {
	set(r, "restoreAttribute", accounts).Flag("public", slices.Contains(accounts, "all"))
}

var dbSnapshots = detailed(declaration{
	Type: dbSnapshotType, Scope: collect.PerRegion, Service: "rds", Doc: "A copy of a database server at one time, made by somebody.",
	Permissions: []string{"rds:DescribeDBSnapshots", "rds:DescribeDBSnapshotAttributes"},
	Properties:  snapshotProperties,
	Edges: edges{
		edge("SNAPSHOT_OF", "The server it was made of.", dbInstanceType),
		edge("ENCRYPTED_BY", "The key it is encrypted with.", keyType),
	},
	Events: events{on("rds", "CreateDBSnapshot", "CopyDBSnapshot", "DeleteDBSnapshot", "ModifyDBSnapshotAttribute", "ModifyDBSnapshot")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.DBSnapshot) error) error {
	in := &rds.DescribeDBSnapshotsInput{DBSnapshotIdentifier: onlyName(names), SnapshotType: aws.String(manual), MaxRecords: limit(names, 100)}
	return each(ctx, rds.NewDescribeDBSnapshotsPaginator(rds.NewFromConfig(s.config), in), func(out *rds.DescribeDBSnapshotsOutput) error { return page(out.DBSnapshots) })
}, func(ctx context.Context, s *scope, v *types.DBSnapshot) (*resource, error) {
	r := s.rds(dbSnapshotType, v.DBSnapshotIdentifier, v.DBSnapshotArn, v.TagList)
	r.Text("engine", aws.ToString(v.Engine)).Text("engineVersion", aws.ToString(v.EngineVersion)).Text("status", aws.ToString(v.Status)).
		Flag("encrypted", aws.ToBool(v.Encrypted)).Text("kmsKeyId", aws.ToString(v.KmsKeyId)).
		Edge("SNAPSHOT_OF", s.id(dbInstanceType, v.DBInstanceIdentifier)).Edge("ENCRYPTED_BY", s.key(v.KmsKeyId))
	when(r, "snapshotCreateTime", v.SnapshotCreateTime)
	return r, detail(r, sharing, func() error {
		out, err := rds.NewFromConfig(s.config).DescribeDBSnapshotAttributes(ctx, &rds.DescribeDBSnapshotAttributesInput{DBSnapshotIdentifier: v.DBSnapshotIdentifier})
		if err != nil || out.DBSnapshotAttributesResult == nil {
			return err
		}
		var accounts []string
		for _, a := range out.DBSnapshotAttributesResult.DBSnapshotAttributes {
			if aws.ToString(a.AttributeName) == "restore" {
				accounts = append(accounts, a.AttributeValues...)
			}
		}
		shared(r, accounts)
		return nil
	})
})

var dbClusterSnapshots = detailed(declaration{
	Type: dbClusterSnapshotType, Scope: collect.PerRegion, Service: "rds", Doc: "A copy of a database cluster at one time, made by somebody.",
	Permissions: []string{"rds:DescribeDBClusterSnapshots", "rds:DescribeDBClusterSnapshotAttributes"},
	Properties:  snapshotProperties,
	Edges: edges{
		edge("SNAPSHOT_OF", "The cluster it was made of.", dbClusterType),
		edge("ENCRYPTED_BY", "The key it is encrypted with.", keyType),
	},
	Events: events{on("rds", "CreateDBClusterSnapshot", "CopyDBClusterSnapshot", "DeleteDBClusterSnapshot", "ModifyDBClusterSnapshotAttribute")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.DBClusterSnapshot) error) error {
	in := &rds.DescribeDBClusterSnapshotsInput{DBClusterSnapshotIdentifier: onlyName(names), SnapshotType: aws.String(manual), MaxRecords: limit(names, 100)}
	return each(ctx, rds.NewDescribeDBClusterSnapshotsPaginator(rds.NewFromConfig(s.config), in), func(out *rds.DescribeDBClusterSnapshotsOutput) error {
		return page(out.DBClusterSnapshots)
	})
}, func(ctx context.Context, s *scope, v *types.DBClusterSnapshot) (*resource, error) {
	r := s.rds(dbClusterSnapshotType, v.DBClusterSnapshotIdentifier, v.DBClusterSnapshotArn, v.TagList)
	r.Text("engine", aws.ToString(v.Engine)).Text("engineVersion", aws.ToString(v.EngineVersion)).Text("status", aws.ToString(v.Status)).
		Flag("encrypted", aws.ToBool(v.StorageEncrypted)).Text("kmsKeyId", aws.ToString(v.KmsKeyId)).
		Edge("SNAPSHOT_OF", s.id(dbClusterType, v.DBClusterIdentifier)).Edge("ENCRYPTED_BY", s.key(v.KmsKeyId))
	when(r, "snapshotCreateTime", v.SnapshotCreateTime)
	return r, detail(r, sharing, func() error {
		in := &rds.DescribeDBClusterSnapshotAttributesInput{DBClusterSnapshotIdentifier: v.DBClusterSnapshotIdentifier}
		out, err := rds.NewFromConfig(s.config).DescribeDBClusterSnapshotAttributes(ctx, in)
		if err != nil || out.DBClusterSnapshotAttributesResult == nil {
			return err
		}
		var accounts []string
		for _, a := range out.DBClusterSnapshotAttributesResult.DBClusterSnapshotAttributes {
			if aws.ToString(a.AttributeName) == "restore" {
				accounts = append(accounts, a.AttributeValues...)
			}
		}
		shared(r, accounts)
		return nil
	})
})
