package gcp

import (
	"context"

	"google.golang.org/api/compute/v1"
)

var disks = searched(with(computeType(diskType, "disks", "A disk of instances."), properties{
	text("type", "Its kind, such as pd-ssd."),
	text("status", "READY and others."),
	long("sizeGb", "Its size."),
	text("creationTimestamp", "When it was made."),
	text("kmsKeyName", "The customer's key that encrypts it; absent when Google's does."),
	flag("customerSuppliedKey", "The customer sends the key with each request."),
	flag("attached", "Something uses it."),
}, edges{
	edge("ATTACHED_TO", "The instances that use it.", instanceType),
	edge("ENCRYPTED_BY", "The key that encrypts it.", cryptoKeyType),
	edge("MADE_FROM", "What it was made from.", imageType, snapshotType, diskType),
}, changes("disks", "insert", "delete", "resize", "setLabels", "update", "createSnapshot")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.Disk) error) error {
		return s.compute.Disks.AggregatedList(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.DiskAggregatedList) error {
			return everywhere(l.Items, l.Unreachables, func(v compute.DisksScopedList) ([]*compute.Disk, bool) {
				return v.Disks, v.Warning != nil && v.Warning.Code == notReached
			}, page)
		})
	}, func(s *scope, v *compute.Disk) *resource {
		r := s.begin(diskType, v.SelfLink)
		r.Text("type", last(v.Type)).Text("status", v.Status).Number("sizeGb", v.SizeGb).Text("kmsKeyName", kmsKey(v.DiskEncryptionKey)).
			Flag("customerSuppliedKey", suppliedKey(v.DiskEncryptionKey)).Flag("attached", len(v.Users) > 0)
		when(r, "creationTimestamp", v.CreationTimestamp)
		for _, user := range v.Users {
			r.Edge("ATTACHED_TO", s.ref(user, instanceType))
		}
		r.Edge("ENCRYPTED_BY", s.keyRef(kmsKey(v.DiskEncryptionKey))).Edge("MADE_FROM", s.ref(v.SourceImage, imageType)).
			Edge("MADE_FROM", s.ref(v.SourceSnapshot, snapshotType)).Edge("MADE_FROM", s.ref(v.SourceDisk, diskType))
		return tag(r, v.Labels)
	})

// suppliedKey reports whether the customer keeps the key and sends it along.
func suppliedKey(k *compute.CustomerEncryptionKey) bool { return k != nil && k.Sha256 != "" }

var snapshots = searched(with(computeType(snapshotType, "snapshots", "A disk as it was at some time."), properties{
	text("status", "READY and others."),
	long("diskSizeGb", "The size of the disk."),
	text("creationTimestamp", "When it was made."),
	flag("autoCreated", "A schedule made it."),
	texts("storageLocations", "Where it is kept."),
	text("kmsKeyName", "The customer's key that encrypts it; absent when Google's does."),
}, edges{
	edge("MADE_FROM", "The disk it is of.", diskType),
	edge("ENCRYPTED_BY", "The key that encrypts it.", cryptoKeyType),
}, append(changes("snapshots", "insert", "delete", "setLabels", "setIamPolicy"), changes("disks", "createSnapshot")...)),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.Snapshot) error) error {
		return s.compute.Snapshots.List(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.SnapshotList) error { return page(l.Items) })
	}, func(s *scope, v *compute.Snapshot) *resource {
		r := s.begin(snapshotType, v.SelfLink)
		r.Text("status", v.Status).Number("diskSizeGb", v.DiskSizeGb).Flag("autoCreated", v.AutoCreated).Text("kmsKeyName", kmsKey(v.SnapshotEncryptionKey))
		when(r, "creationTimestamp", v.CreationTimestamp)
		set(r, "storageLocations", v.StorageLocations)
		r.Edge("MADE_FROM", s.ref(v.SourceDisk, diskType)).Edge("ENCRYPTED_BY", s.keyRef(kmsKey(v.SnapshotEncryptionKey)))
		return tag(r, v.Labels)
	})

var images = searched(with(computeType(imageType, "images", "What disks of instances are made from."), properties{
	text("family", "The family of which it is a version."),
	text("status", "READY and others."),
	text("creationTimestamp", "When it was made."),
	text("deprecated", "DEPRECATED, OBSOLETE or DELETED; absent while it is current."),
	long("diskSizeGb", "The size of disks made from it."),
	text("kmsKeyName", "The customer's key that encrypts it; absent when Google's does."),
}, edges{
	edge("MADE_FROM", "What it was made from.", diskType, snapshotType, imageType),
	edge("ENCRYPTED_BY", "The key that encrypts it.", cryptoKeyType),
}, changes("images", "insert", "delete", "deprecate", "patch", "setLabels", "setIamPolicy")),
	func(ctx context.Context, s *scope, filter string, page func([]*compute.Image) error) error {
		return s.compute.Images.List(s.project).MaxResults(most).Filter(filter).Pages(ctx, func(l *compute.ImageList) error { return page(l.Items) })
	}, func(s *scope, v *compute.Image) *resource {
		r := s.begin(imageType, v.SelfLink)
		r.Text("family", v.Family).Text("status", v.Status).Number("diskSizeGb", v.DiskSizeGb).Text("kmsKeyName", kmsKey(v.ImageEncryptionKey))
		when(r, "creationTimestamp", v.CreationTimestamp)
		if v.Deprecated != nil {
			r.Text("deprecated", v.Deprecated.State)
		}
		r.Edge("MADE_FROM", s.ref(v.SourceDisk, diskType)).Edge("MADE_FROM", s.ref(v.SourceSnapshot, snapshotType)).
			Edge("MADE_FROM", s.ref(v.SourceImage, imageType)).Edge("ENCRYPTED_BY", s.keyRef(kmsKey(v.ImageEncryptionKey)))
		return tag(r, v.Labels)
	})
