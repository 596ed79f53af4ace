package azure

import "github.com/tidwall/gjson"

const (
	virtualMachineType    = "Azure.Compute.VirtualMachine"
	scaleSetType          = "Azure.Compute.VirtualMachineScaleSet"
	diskType              = "Azure.Compute.Disk"
	snapshotType          = "Azure.Compute.Snapshot"
	diskEncryptionSetType = "Azure.Compute.DiskEncryptionSet"
)

var computeKinds = []*kind{
	{
		typ: virtualMachineType, doc: "A virtual machine.",
		arm: "Microsoft.Compute/virtualMachines", version: "2024-07-01",
		rows: []row{
			text("vmId", "properties.vmId", "Azure's own id of the machine."),
			text("vmSize", "properties.hardwareProfile.vmSize", "The size, which says how many cores and how much memory it has."),
			text("osType", "properties.storageProfile.osDisk.osType", "Linux or Windows."),
			yes("osDiskManagedDisk", "The operating system is on a managed disk.", func(j gjson.Result) bool {
				return j.Get("properties.storageProfile.osDisk.managedDisk").IsObject()
			}),
			text("imagePublisher", "properties.storageProfile.imageReference.publisher", "Who published the image it was made from."),
			text("imageOffer", "properties.storageProfile.imageReference.offer", "The image's product."),
			text("imageSku", "properties.storageProfile.imageReference.sku", "The image's edition."),
			flag("disablePasswordAuthentication", "properties.osProfile.linuxConfiguration.disablePasswordAuthentication", "Linux logins take a key, never a password."),
			flag("encryptionAtHost", "properties.securityProfile.encryptionAtHost", "Temporary disks and caches are encrypted on the host.").or(false),
			flag("secureBoot", "properties.securityProfile.uefiSettings.secureBootEnabled", "Only signed boot code runs.").or(false),
			flag("vTpm", "properties.securityProfile.uefiSettings.vTpmEnabled", "It has a virtual trusted platform module.").or(false),
			text("provisioningState", "properties.provisioningState", "Whether the last change succeeded."),
			texts("zones", "zones", "The availability zones it is in."),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{
			refs("HAS", "properties.storageProfile.[osDisk.managedDisk.id,dataDisks.#.managedDisk.id]", "Its disks.", diskType),
			refs("HAS", "properties.networkProfile.networkInterfaces.#.id", "Its network interfaces.", networkInterfaceType),
			identityLink, assignedIdentityLink,
		},
	},
	{
		typ: scaleSetType, doc: "A set of identical virtual machines that grows and shrinks.",
		arm: "Microsoft.Compute/virtualMachineScaleSets", version: "2024-07-01",
		rows: []row{
			text("vmSize", "sku.name", "The size of its machines."),
			number("capacity", "sku.capacity", "How many machines it has."),
			text("orchestrationMode", "properties.orchestrationMode", "Uniform or Flexible."),
			text("upgradeMode", "properties.upgradePolicy.mode", "How changes reach its machines: Manual, Automatic or Rolling."),
			flag("encryptionAtHost", "properties.virtualMachineProfile.securityProfile.encryptionAtHost", "Temporary disks and caches are encrypted on the host.").or(false),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{
			refs("IN_SUBNET", "properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations.#.properties.ipConfigurations.#.properties.subnet.id", "Where its machines are.", subnetType),
			identityLink, assignedIdentityLink,
		},
	},
	{
		typ: diskType, doc: "A managed disk.",
		arm: "Microsoft.Compute/disks", version: "2023-10-02",
		rows: []row{
			text("diskState", "properties.diskState", "Whether it is in use: Attached, Reserved, Unattached."),
			text("encryptionType", "properties.encryption.type", "With whose key it is encrypted.").or("EncryptionAtRestWithPlatformKey"),
			number("diskSizeGB", "properties.diskSizeGB", "Its size."),
			text("osType", "properties.osType", "The operating system on it, if any."),
			text("sku", "sku.name", "The kind of storage."),
			text("networkAccessPolicy", "properties.networkAccessPolicy", "Who may export it over the network.").or("AllowAll"),
			text("publicNetworkAccess", "properties.publicNetworkAccess", "Whether it may be exported over the internet.").or("Enabled"),
			text("timeCreated", "properties.timeCreated", "When it was made."),
		},
		links: []link{
			refs("ATTACHED_TO", "[managedBy,managedByExtended]", "The machines that use it.", virtualMachineType),
			refs("ENCRYPTED_BY", "properties.encryption.diskEncryptionSetId", "Where its key comes from.", diskEncryptionSetType),
		},
	},
	{
		typ: snapshotType, doc: "A copy of a disk at one time.",
		arm: "Microsoft.Compute/snapshots", version: "2023-10-02",
		rows: []row{
			flag("incremental", "properties.incremental", "It holds only differences to the one before.").or(false),
			text("encryptionType", "properties.encryption.type", "With whose key it is encrypted.").or("EncryptionAtRestWithPlatformKey"),
			number("diskSizeGB", "properties.diskSizeGB", "Its size."),
			text("networkAccessPolicy", "properties.networkAccessPolicy", "Who may export it over the network.").or("AllowAll"),
			text("publicNetworkAccess", "properties.publicNetworkAccess", "Whether it may be exported over the internet.").or("Enabled"),
			text("timeCreated", "properties.timeCreated", "When it was made."),
		},
		links: []link{
			refs("SNAPSHOT_OF", "properties.creationData.sourceResourceId", "The disk it is a copy of.", diskType),
			refs("ENCRYPTED_BY", "properties.encryption.diskEncryptionSetId", "Where its key comes from.", diskEncryptionSetType),
		},
	},
	{
		typ: diskEncryptionSetType, doc: "A key that disks are encrypted with.",
		arm: "Microsoft.Compute/diskEncryptionSets", version: "2023-10-02",
		rows: []row{
			text("encryptionType", "properties.encryptionType", "With whose key disks are encrypted."),
			flag("rotationToLatestKeyVersionEnabled", "properties.rotationToLatestKeyVersionEnabled", "Disks follow the key's latest version.").or(false),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{
			found("ENCRYPTED_BY", "The key itself.", func(j gjson.Result) []string {
				active := j.Get("properties.activeKey")
				_, key, ok := cutKey(active.Get("keyUrl").String())
				if !ok {
					return nil
				}
				return []string{active.Get("sourceVault.id").String() + "/keys/" + key}
			}, keyType),
			identityLink, assignedIdentityLink,
		},
	},
}
