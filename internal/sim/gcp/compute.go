package gcp

import (
	"fmt"
	"strconv"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

const (
	computeProjectType posture.EntityType = "GCP.Compute.Project"
	instanceType       posture.EntityType = "GCP.Compute.Instance"
	diskType           posture.EntityType = "GCP.Compute.Disk"
	snapshotType       posture.EntityType = "GCP.Compute.Snapshot"
	imageType          posture.EntityType = "GCP.Compute.Image"
	templateType       posture.EntityType = "GCP.Compute.InstanceTemplate"
	groupType          posture.EntityType = "GCP.Compute.InstanceGroup"
	managerType        posture.EntityType = "GCP.Compute.InstanceGroupManager"
)

const cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"

func (a address) instances() int { return a.scaled(250, 8) }

// machineTypeLink returns the link of a machine type.
func (a address) machineTypeLink(name string) string {
	return computeBase + "projects/" + a.project.ID + "/zones/" + a.location() + "/machineTypes/" + name
}

// item returns one entry of metadata.
func item(key, value string) world.Object { return world.Obj("key", key, "value", value) }

// publicIP returns the i-th public address of a block. The blocks are the multiples of 8:
// each has the networks 34.block.0.0/16 to 34.(block+7).0.0/16.
func publicIP(block, i int) string {
	return fmt.Sprintf("34.%d.%d.%d", block+((i>>16)&7), (i>>8)&255, i&255)
}

var computeKinds = []*kind{
	{
		typ: computeProjectType, service: "compute", collection: "projects",
		names: func(a address) []string { return []string{a.project.ID} },
		named: func(a address) world.Object {
			return world.Obj("kind", "compute#project", "id", a.project.Number, "name", a.project.ID, "selfLink", computeBase+"projects/"+a.project.ID)
		},
		body: func(a address) world.Object {
			items := world.Items(item("ssh-keys", "ada:ssh-ed25519 AAAAC3Nza ada"), item("google-compute-default-zone", zones[0]), item("db-password", "simulated-Passw0rd"))
			if !a.violates("gcp-project-oslogin") {
				items = append(items, item("enable-oslogin", "TRUE"))
			}
			return world.Obj("creationTimestamp", a.computeCreated(), "commonInstanceMetadata", world.Obj("kind", "compute#metadata", "fingerprint", "x1", "items", items),
				"defaultServiceAccount", a.defaultAccount(), "defaultNetworkTier", "PREMIUM", "xpnProjectStatus", "UNSPECIFIED_XPN_PROJECT_STATUS")
		},
	},
	{
		typ: instanceType, service: "compute", collection: "instances", where: computeZone, prefix: "vm-",
		count: func(a address) int { return a.instances() }, body: instance,
	},
	{
		typ: diskType, service: "compute", collection: "disks", where: computeZone, prefix: "disk-",
		count: func(a address) int { return a.instances() + a.scaled(50, 4) },
		body: func(a address) world.Object {
			var users any
			if a.i < a.instances() {
				users = world.Items(a.ref(instanceType, a.i))
			}
			return world.Obj("zone", computeBase+"projects/"+a.project.ID+"/zones/"+a.location(), "sizeGb", strconv.Itoa(10+a.seed("size").Intn(490)), "status", "READY",
				"type", computeBase+"projects/"+a.project.ID+"/zones/"+a.location()+"/diskTypes/pd-balanced", "users", users, "labels", a.labels(),
				"sourceImage", a.ref(imageType, a.i%a.countOf(imageType)), "diskEncryptionKey", a.encryption("kmsKeyName"))
		},
	},
	{
		typ: snapshotType, service: "compute", collection: "snapshots", where: computeGlobal, prefix: "snap-",
		count: func(a address) int { return a.scaled(60, 3) },
		body: func(a address) world.Object {
			return world.Obj("status", "READY", "diskSizeGb", "50", "sourceDisk", a.ref(diskType, a.i%a.countOf(diskType)), "autoCreated", a.i%2 == 0,
				"storageLocations", world.Items("us"), "labels", a.labels(), "snapshotEncryptionKey", a.encryption("kmsKeyName"))
		},
	},
	{
		typ: imageType, service: "compute", collection: "images", where: computeGlobal, prefix: "image-",
		count: func(a address) int { return a.scaled(10, 2) },
		body: func(a address) world.Object {
			o := world.Obj("status", "READY", "family", world.PickOne(a.seed("family"), "web", "batch"), "diskSizeGb", "20", "archiveSizeBytes", "1048576", "labels", a.labels(), "imageEncryptionKey", a.encryption("kmsKeyName"))
			if a.i == 1 {
				return append(o, world.Obj("deprecated", world.Obj("state", "DEPRECATED"), "sourceDisk", a.ref(diskType, 0))...)
			}
			return o
		},
	},
	{
		typ: templateType, service: "compute", collection: "instanceTemplates", where: computeGlobal, prefix: "tpl-",
		count: func(a address) int { return a.scaled(8, 2) },
		body: func(a address) world.Object {
			return world.Obj("properties", world.Obj("machineType", "e2-small", "networkInterfaces", world.Items(world.Obj("network", a.ref(networkType, 0), "subnetwork", a.ref(subnetType, 0))),
				"metadata", world.Obj("items", world.Items(item("enable-oslogin", "TRUE"), item("startup-script", "simulated-template-secret"), item("db-password", "simulated-Passw0rd"))),
				"serviceAccounts", world.Items(world.Obj("email", a.email(0), "scopes", world.Items(cloudPlatform))),
				"shieldedInstanceConfig", world.Obj("enableVtpm", true, "enableIntegrityMonitoring", true)))
		},
	},
	{
		typ: groupType, service: "compute", collection: "instanceGroups", where: computeZone, prefix: "ig-",
		count: func(a address) int { return a.scaled(10, 2) },
		body: func(a address) world.Object {
			return world.Obj("size", 2, "network", a.ref(networkType, 0), "subnetwork", a.ref(subnetType, a.i%len(regions)), "zone", computeBase+"projects/"+a.project.ID+"/zones/"+a.location())
		},
	},
	{
		typ: managerType, service: "compute", collection: "instanceGroupManagers", where: computeZone, prefix: "ig-",
		count: func(a address) int { return a.scaled(10, 2) },
		body: func(a address) world.Object {
			return world.Obj("targetSize", 2, "baseInstanceName", "web", "instanceGroup", a.ref(groupType, a.i), "instanceTemplate", a.ref(templateType, a.i%a.countOf(templateType)),
				"autoHealingPolicies", world.Items(world.Obj("healthCheck", a.ref(healthType, 0), "initialDelaySec", 60)))
		},
	},
}

// encryption returns a customer-managed key for every third resource.
func (a address) encryption(field string) any {
	if a.i%3 != 1 {
		return nil
	}
	return world.Obj(field, a.keyPath(a.i)+"/cryptoKeyVersions/1")
}

// instance generates a virtual machine.
func instance(a address) world.Object {
	isClusterNode := a.i%37 == 5
	email, scopes := a.email(a.i%a.accounts()), world.Items(cloudPlatform)
	hasFullScope := a.violates("gcp-vm-default-sa-full-scope") // with the default service account
	if hasFullScope || isClusterNode || a.violates("gcp-vm-default-sa") {
		email = a.defaultAccount()
		if !hasFullScope {
			scopes = world.Items("https://www.googleapis.com/auth/devstorage.read_only", "https://www.googleapis.com/auth/logging.write")
		}
	}
	labels := a.labels()
	if isClusterNode {
		labels = append(labels, world.Field{Name: "goog-gke-node", Value: ""})
	}
	script := "#! /bin/sh\necho simulated-startup-secret\n"
	if a.i%20 == 1 {
		script += "export DB_PASSWORD=simulated-Passw0rd\n"
	}
	metadata := world.Items(item("startup-script", script))
	if !a.violates("gcp-vm-project-ssh-keys") {
		metadata = append(metadata, item("block-project-ssh-keys", "true"))
	}
	if a.violates("gcp-vm-serial-port") {
		metadata = append(metadata, item("serial-port-enable", world.PickOne(a.seed("serial"), "1", "true")))
	}
	if a.i%7 == 2 {
		metadata = append(metadata, item("enable-oslogin", "TRUE"))
	}
	shielded := !a.violates("gcp-vm-shielded")
	return world.Obj("zone", computeBase+"projects/"+a.project.ID+"/zones/"+a.location(), "machineType", a.machineTypeLink(world.PickOne(a.seed("size"), "e2-medium", "n2-standard-4")),
		"status", world.PickOne(a.seed("status"), "RUNNING", "RUNNING", "RUNNING", "TERMINATED"), "cpuPlatform", "Intel Broadwell",
		"tags", world.Obj("fingerprint", "x1", "items", world.Items([]string{"web", "app", "app"}[a.i%3])),
		"canIpForward", a.violates("gcp-vm-ip-forward"), "networkInterfaces", world.Items(a.nic()),
		"disks", world.Items(world.Obj("type", "PERSISTENT", "boot", true, "source", a.ref(diskType, a.i), "deviceName", "boot", "diskSizeGb", "20", "diskEncryptionKey", a.encryption("kmsKeyName"))),
		"metadata", world.Obj("kind", "compute#metadata", "fingerprint", "x2", "items", metadata),
		"serviceAccounts", world.Items(world.Obj("email", email, "scopes", scopes)), "labels", labels, "deletionProtection", a.i%5 == 0,
		"shieldedInstanceConfig", world.Obj("enableSecureBoot", a.i%2 == 0, "enableVtpm", shielded, "enableIntegrityMonitoring", shielded || a.i%2 == 0))
}

// nic returns the network interface of an instance.
func (a address) nic() world.Object {
	network := a.i % a.networks()
	region := a.i % len(regions)
	var public any
	if a.violates("gcp-vm-public-ip") {
		public = world.Items(world.Obj("kind", "compute#accessConfig", "type", "ONE_TO_ONE_NAT", "name", "External NAT", "natIP", publicIP(64, a.i), "networkTier", "PREMIUM"))
	}
	return world.Obj("kind", "compute#networkInterface", "name", "nic0", "network", a.ref(networkType, network), "subnetwork", a.ref(subnetType, a.subnetOf(network, region)),
		"networkIP", fmt.Sprintf("10.%d.%d.%d", network&127, a.i>>8&255, a.i&255), "accessConfigs", public)
}
