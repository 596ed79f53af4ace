package aws

import (
	"fmt"

	"vigil/internal/sim/world"
)

// storage contains the kinds of disks.
type storage struct {
	volumes, snapshots, images *world.Kind
}

func (e *inventory) makeStorage() {
	e.volumes = e.hexNamed("AWS.EC2.Volume", "vol-0", 16, func(p world.Place) int { return e.instances.Count(p) + e.share(50, 2)(p) }, e.volume)
	e.snapshots = e.hexNamed("AWS.EC2.Snapshot", "snap-0", 16, e.share(100, 4), e.snapshot)
	e.images = e.hexNamed("AWS.EC2.Image", "ami-0", 16, e.share(10, 2), func(p world.Place, i int, id string) world.Object {
		return world.Obj("imageId", id, "imageState", "available", "imageOwnerId", p.Account, "isPublic", e.violates("aws-ec2-ami-public", p, i),
			"architecture", "x86_64", "imageType", "machine", "name", fmt.Sprintf("golden-%d", i), "creationDate", scalar(e.ago(90+i%100)),
			"deprecationTime", scalar(e.ago(-300)), "platformDetails", "Linux/UNIX", "imdsSupport", "v2.0",
			"blockDeviceMapping", world.Items(world.Obj("deviceName", "/dev/xvda", "ebs", world.Obj("snapshotId", nth(e.snapshots, p, i), "volumeSize", 8))),
			"tagSet", e.tagSet(p, "ami", i))
	})
}

// volume generates the volumes of instances, then some unattached ones.
func (e *inventory) volume(p world.Place, i int, id string) world.Object {
	o := world.Obj("volumeId", id, "size", 8+i%500, "availabilityZone", zone(p, i%e.subnets.Count(p)), "createTime", e.ago(30+i%300), "volumeType", "gp3",
		"snapshotId", nth(e.snapshots, p, i), "tagSet", e.tagSet(p, "vol", i))
	if i < e.instances.Count(p) {
		o = append(o, world.Obj("status", "in-use", "attachmentSet", world.Items(world.Obj("volumeId", id, "instanceId", e.instances.Name(p, i),
			"device", "/dev/xvda", "status", "attached", "attachTime", e.ago(30), "deleteOnTermination", true)))...)
	} else {
		o = append(o, world.Obj("status", "available", "attachmentSet", []any{})...)
	}
	if e.violates("aws-ec2-ebs-encrypted", p, i) {
		return append(o, world.Obj("encrypted", false)...)
	}
	return append(o, world.Obj("encrypted", true, "kmsKeyId", e.keyARN(p, i))...)
}

func (e *inventory) snapshot(p world.Place, i int, id string) world.Object {
	public := e.violates("aws-ec2-snapshot-public", p, i)
	o := world.Obj("snapshotId", id, "volumeId", nth(e.volumes, p, i), "status", "completed", "startTime", e.ago(i%60), "ownerId", p.Account,
		"volumeSize", 8+i%500, "description", fmt.Sprintf("backup %d", i), "encrypted", !public, "_public", public, "tagSet", e.tagSet(p, "snap", i))
	if !public {
		o = append(o, world.Obj("kmsKeyId", e.keyARN(p, i))...)
	}
	return o
}
