package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"vigil/internal/posture/collect"
)

var volumes = listed(declaration{
	Type: volumeType, Scope: collect.PerRegion, Service: "ec2", Doc: "A disk.",
	Permissions: []string{"ec2:DescribeVolumes"},
	Properties: properties{
		text("volumeId", "Its id."),
		flag("encrypted", "What is on it is encrypted."),
		text("kmsKeyId", "The key it is encrypted with."),
		text("volumeType", "Its kind, such as gp3."),
		long("sizeGiB", "Its size in GiB."),
		text("state", "creating, available, in-use, deleting, deleted or error."),
		text("availabilityZone", "Where it is."),
		text("createTime", "When it was made."),
		flag("deleteOnTermination", "It goes when its instance goes."),
	},
	Edges: edges{
		edge("ATTACHED_TO", "The instances that use it.", instanceType),
		edge("ENCRYPTED_BY", "The key it is encrypted with.", keyType),
		edge("MADE_FROM", "The snapshot it was made from, where the account has it.", snapshotType),
	},
	Events: events{on("ec2", "CreateVolume", "DeleteVolume", "AttachVolume", "DetachVolume", "ModifyVolume")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Volume) error) error {
	in := &ec2.DescribeVolumesInput{VolumeIds: names, MaxResults: limit(names, 500)}
	return each(ctx, ec2.NewDescribeVolumesPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeVolumesOutput) error { return page(out.Volumes) })
}, func(s *scope, v *types.Volume) *resource {
	r := s.ec2(volumeType, "volume", v.VolumeId, v.Tags)
	r.Text("volumeId", aws.ToString(v.VolumeId)).Flag("encrypted", aws.ToBool(v.Encrypted)).Text("kmsKeyId", aws.ToString(v.KmsKeyId)).
		Text("volumeType", string(v.VolumeType)).Text("state", string(v.State)).Text("availabilityZone", aws.ToString(v.AvailabilityZone))
	number(r, "sizeGiB", v.Size)
	for _, a := range v.Attachments {
		r.Edge("ATTACHED_TO", s.id(instanceType, a.InstanceId))
	}
	if len(v.Attachments) > 0 {
		r.Flag("deleteOnTermination", aws.ToBool(v.Attachments[0].DeleteOnTermination))
	}
	r.Edge("ENCRYPTED_BY", s.key(v.KmsKeyId)).Edge("MADE_FROM", s.id(snapshotType, v.SnapshotId))
	return when(r, "createTime", v.CreateTime)
})

// A sharedSnapshot is a snapshot and whether anybody may use it.
type sharedSnapshot struct {
	types.Snapshot
	public bool
}

var snapshots = listed(declaration{
	Type: snapshotType, Scope: collect.PerRegion, Service: "ec2", Doc: "A copy of a volume at one time.",
	Permissions: []string{"ec2:DescribeSnapshots"},
	Properties: properties{
		text("snapshotId", "Its id."),
		flag("public", "Anybody may make a volume from it."),
		flag("encrypted", "What is on it is encrypted."),
		text("kmsKeyId", "The key it is encrypted with."),
		text("state", "pending, completed, error, recoverable or recovering."),
		text("startTime", "When it was made."),
		text("description", "What its owner says of it."),
		long("volumeSizeGiB", "The size of the volume in GiB."),
	},
	Edges: edges{
		edge("SNAPSHOT_OF", "The volume it was made of.", volumeType),
		edge("ENCRYPTED_BY", "The key it is encrypted with.", keyType),
	},
	Events: events{on("ec2", "CreateSnapshot", "CreateSnapshots", "CopySnapshot", "DeleteSnapshot", "ModifySnapshotAttribute")},
}, listSnapshots, func(s *scope, v *sharedSnapshot) *resource {
	r := s.ec2(snapshotType, "snapshot", v.SnapshotId, v.Tags)
	r.Text("snapshotId", aws.ToString(v.SnapshotId)).Flag("public", v.public).Flag("encrypted", aws.ToBool(v.Encrypted)).
		Text("kmsKeyId", aws.ToString(v.KmsKeyId)).Text("state", string(v.State)).Text("description", aws.ToString(v.Description))
	number(r, "volumeSizeGiB", v.VolumeSize)
	r.Edge("SNAPSHOT_OF", s.id(volumeType, v.VolumeId)).Edge("ENCRYPTED_BY", s.key(v.KmsKeyId))
	return when(r, "startTime", v.StartTime)
})

// listSnapshots asks twice for all, the second time for those that anybody may
// use, rather than once for each.
func listSnapshots(ctx context.Context, s *scope, names []string, page func([]sharedSnapshot) error) error {
	client := ec2.NewFromConfig(s.config)
	public := map[string]bool{}
	open := &ec2.DescribeSnapshotsInput{SnapshotIds: names, OwnerIds: []string{"self"}, RestorableByUserIds: []string{"all"}, MaxResults: limit(names, 1000)}
	err := each(ctx, ec2.NewDescribeSnapshotsPaginator(client, open), func(out *ec2.DescribeSnapshotsOutput) error {
		for _, v := range out.Snapshots {
			public[aws.ToString(v.SnapshotId)] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	own := &ec2.DescribeSnapshotsInput{SnapshotIds: names, OwnerIds: []string{"self"}, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeSnapshotsPaginator(client, own), func(out *ec2.DescribeSnapshotsOutput) error {
		all := make([]sharedSnapshot, len(out.Snapshots))
		for i, v := range out.Snapshots {
			all[i] = sharedSnapshot{v, public[aws.ToString(v.SnapshotId)]}
		}
		return page(all)
	})
}

var images = listed(declaration{
	Type: imageType, Scope: collect.PerRegion, Service: "ec2", Doc: "What instances are started from.",
	Permissions: []string{"ec2:DescribeImages"},
	Properties: properties{
		text("imageId", "Its id."),
		flag("public", "Anybody may start instances from it."),
		text("state", "available when it can be used."),
		text("creationDate", "When it was made."),
		text("deprecationTime", "When it is to be used no more."),
		text("architecture", "Of the processor it is for."),
		text("platformDetails", "The operating system on it."),
		text("imdsSupport", "v2.0 when its instances want tokens for metadata."),
	},
	Edges:  edges{edge("MADE_FROM", "The snapshots of its disks.", snapshotType)},
	Events: events{on("ec2", "CreateImage", "CopyImage", "RegisterImage", "DeregisterImage", "ModifyImageAttribute", "EnableImageDeprecation")},
}, func(ctx context.Context, s *scope, names []string, page func([]types.Image) error) error {
	in := &ec2.DescribeImagesInput{ImageIds: names, Owners: []string{"self"}, MaxResults: limit(names, 1000)}
	return each(ctx, ec2.NewDescribeImagesPaginator(ec2.NewFromConfig(s.config), in), func(out *ec2.DescribeImagesOutput) error { return page(out.Images) })
}, func(s *scope, v *types.Image) *resource {
	r := s.ec2(imageType, "image", v.ImageId, v.Tags)
	if name := aws.ToString(v.Name); name != "" {
		r.Name = name
	}
	r.Text("imageId", aws.ToString(v.ImageId)).Flag("public", aws.ToBool(v.Public)).Text("state", string(v.State)).
		Text("creationDate", aws.ToString(v.CreationDate)).Text("deprecationTime", aws.ToString(v.DeprecationTime)).
		Text("architecture", string(v.Architecture)).Text("platformDetails", aws.ToString(v.PlatformDetails)).Text("imdsSupport", string(v.ImdsSupport))
	for _, b := range v.BlockDeviceMappings {
		if b.Ebs != nil {
			r.Edge("MADE_FROM", s.id(snapshotType, b.Ebs.SnapshotId))
		}
	}
	return r
})
