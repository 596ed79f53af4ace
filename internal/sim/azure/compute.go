package azure

import (
	"fmt"
	"strings"

	"vigil/internal/sim/world"
)

const (
	machines       = "Microsoft.Compute/virtualMachines"
	scaleSets      = "Microsoft.Compute/virtualMachineScaleSets"
	disks          = "Microsoft.Compute/disks"
	snapshots      = "Microsoft.Compute/snapshots"
	encryptionSets = "Microsoft.Compute/diskEncryptionSets"
)

var computeKinds = []*kind{
	{
		typ: "Azure.Compute.VirtualMachine", arm: machines, prefix: "vm-",
		count: func(a address) int { return max(4, a.permille(120)) },
		body:  machineBody,
	},
	{
		typ: "Azure.Compute.VirtualMachineScaleSet", arm: scaleSets, prefix: "vmss-",
		count: func(a address) int { return max(1, a.permille(3)) },
		body: func(a address) world.Object {
			return a.resource("sku", world.Obj("name", "Standard_D2s_v5", "capacity", 3), "properties", world.Obj("orchestrationMode", "Uniform", "upgradePolicy", world.Obj("mode", "Manual")))
		},
	},
	{
		// The first disks belong to machines.
		typ: "Azure.Compute.Disk", arm: disks, prefix: "disk-",
		count: func(a address) int { return a.countOf(machines) + max(3, a.permille(20)) },
		body: func(a address) world.Object {
			const rule = "azure-disk-unattached-cmk"
			p := world.Obj("diskSizeGB", 64, "timeCreated", a.daysAgo(200), "osType", "Linux", "provisioningState", "Succeeded", "networkAccessPolicy", "DenyAll")
			if a.i < a.countOf(machines) {
				p = p.With("diskState", "Attached").With("encryption", world.Obj("type", "EncryptionAtRestWithPlatformKey"))
				// Compute returns group names in upper case. The machine has the same number as
				// the disk, and therefore the same group.
				id := strings.Replace(a.ref(machines, a.i), a.group(), strings.ToUpper(a.group()), 1)
				return a.resource("managedBy", id, "sku", world.Obj("name", "Premium_LRS"), "properties", p)
			}
			encryption := world.Obj("type", "EncryptionAtRestWithCustomerKey", "diskEncryptionSetId", a.ref(encryptionSets, 0))
			if a.violates(rule) {
				encryption = world.Obj("type", "EncryptionAtRestWithPlatformKey")
			}
			return a.resource("sku", world.Obj("name", "Standard_LRS"), "properties", p.With("diskState", "Unattached").With("encryption", encryption))
		},
	},
	{
		typ: "Azure.Compute.Snapshot", arm: snapshots, prefix: "snap-",
		count: func(a address) int { return max(1, a.permille(10)) },
		body: func(a address) world.Object {
			return a.resource("properties", world.Obj("incremental", true, "timeCreated", a.daysAgo(30), "encryption", world.Obj("type", "EncryptionAtRestWithPlatformKey"),
				"creationData", world.Obj("createOption", "Copy", "sourceResourceId", a.ref(disks, a.i%a.countOf(disks)))))
		},
	},
	{
		typ: "Azure.Compute.DiskEncryptionSet", arm: encryptionSets, prefix: "des-",
		count: func(address) int { return 1 },
		body: func(a address) world.Object {
			vault := a.peer(vaults, 0)
			return a.resource("identity", a.identity(), "properties", world.Obj("encryptionType", "EncryptionAtRestWithCustomerKey", "rotationToLatestKeyVersionEnabled", true,
				"activeKey", world.Obj("sourceVault", reference(vault.id()), "keyUrl", vault.vaultURL()+"/keys/key-00000/0123456789abcdef")))
		},
	},
}

// machinesWithRole returns how many machines have an identity with a role. Azure
// limits a subscription to some thousand role assignments.
func (a address) machinesWithRole() int { return min(200, a.countOf(machines)) }

// isExposed reports whether a machine is reachable from the internet and has all
// permissions.
func (a address) isExposed() bool {
	return a.i < a.machinesWithRole() && a.violates("azure-vm-exposed-privileged")
}

// isReachable reports whether a machine has a public address.
func (a address) isReachable() bool {
	return a.i < a.machinesWithRole() && (a.i%5 == 1 || a.isExposed())
}

func machineBody(a address) world.Object {
	osDisk := world.Obj("osType", "Linux", "name", fmt.Sprintf("disk-%05d", a.i), "createOption", "FromImage")
	if a.violates("azure-vm-managed-disks") {
		osDisk = osDisk.With("vhd", world.Obj("uri", "https://"+a.peer(storage, 0).name()+".blob.core.windows.net/vhds/os.vhd"))
	} else {
		osDisk = osDisk.With("managedDisk", world.Obj("id", a.ref(disks, a.i), "storageAccountType", "Premium_LRS"))
	}
	o := a.resource("properties", world.Obj(
		"vmId", a.seed("vm").UUID(a.i), "provisioningState", "Succeeded", "hardwareProfile", world.Obj("vmSize", world.PickOne(a.seed("size"), "Standard_D2s_v5", "Standard_B2ms", "Standard_E4s_v5")),
		"storageProfile", world.Obj("imageReference", world.Obj("publisher", "Canonical", "offer", "ubuntu-24_04-lts", "sku", "server"), "osDisk", osDisk, "dataDisks", []any{}),
		"osProfile", world.Obj("computerName", a.name(), "adminUsername", "azureuser", "linuxConfiguration", world.Obj("disablePasswordAuthentication", true)),
		"networkProfile", world.Obj("networkInterfaces", world.Items(world.Obj("id", a.ref(interfaces, a.i), "properties", world.Obj("primary", true)))),
	))
	switch {
	case a.i < a.machinesWithRole():
		return o.With("identity", a.identity())
	case a.i%3 == 0:
		identity := a.peer(identities, a.i%a.countOf(identities))
		return o.With("identity", world.Obj("type", "UserAssigned", "userAssignedIdentities", world.Obj(identity.id(), world.Obj("principalId", identity.principal(), "clientId", identity.clientID()))))
	}
	return o
}
