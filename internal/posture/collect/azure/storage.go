package azure

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
)

const (
	storageAccountType = "Azure.Storage.StorageAccount"
	blobServiceType    = "Azure.Storage.BlobService"
	blobContainerType  = "Azure.Storage.BlobContainer"
)

const storageVersion = "2023-05-01"

var storageKinds = []*kind{
	{
		typ: storageAccountType, doc: "A storage account: blobs, files, queues and tables.",
		arm: "Microsoft.Storage/storageAccounts", version: storageVersion,
		rows: []row{
			text("kind", "kind", "What it can hold."),
			text("sku", "sku.name", "How often it is copied, and where to."),
			flag("supportsHttpsTrafficOnly", "properties.supportsHttpsTrafficOnly", "Only HTTPS is answered.").or(true),
			flag("allowBlobPublicAccess", "properties.allowBlobPublicAccess", "Containers may be made public. Accounts that never set it allow it.").or(true),
			flag("allowSharedKeyAccess", "properties.allowSharedKeyAccess", "The account's keys open it.").or(true),
			flag("allowCrossTenantReplication", "properties.allowCrossTenantReplication", "Blobs may be copied to other directories.").or(true),
			text("minimumTlsVersion", "properties.minimumTlsVersion", "The oldest TLS version that it speaks.").or("TLS1_0"),
			text("networkAclsDefaultAction", "properties.networkAcls.defaultAction", "What happens to calls from networks that no rule names.").or("Allow"),
			texts("ipRules", "properties.networkAcls.ipRules.#.value", "Addresses that are let in."),
			text("publicNetworkAccess", "properties.publicNetworkAccess", "Whether it is reached over the internet at all.").or("Enabled"),
			text("encryptionKeySource", "properties.encryption.keySource", "With whose key it is encrypted.").or("Microsoft.Storage"),
			flag("requireInfrastructureEncryption", "properties.encryption.requireInfrastructureEncryption", "It is encrypted twice.").or(false),
			text("keyCreationTime1", "properties.keyCreationTime.key1", "When the first account key was made."),
			text("keyCreationTime2", "properties.keyCreationTime.key2", "When the second account key was made."),
			flag("isHnsEnabled", "properties.isHnsEnabled", "It has folders.").or(false),
			flag("isSftpEnabled", "properties.isSftpEnabled", "It is reached by SFTP.").or(false),
			identityTypeRow, identityPrincipalRow,
		},
		links: []link{
			refs("ALLOWS", "properties.networkAcls.virtualNetworkRules.#.id", "Subnets that are let in.", subnetType),
			identityLink, assignedIdentityLink,
		},
		has:       []entityType{blobServiceType, blobContainerType},
		moreLinks: []collect.Edge{keyEdge},
		takes:     []string{"Microsoft.KeyVault/vaults/read"},
		also: func(ctx context.Context, s *session, j gjson.Result, r *resource) error {
			key := j.Get("properties.encryption.keyvaultproperties")
			return s.encrypted(ctx, r, key.Get("keyvaulturi").String()+"/keys/"+key.Get("keyname").String())
		},
		events: []collect.Event{
			{Source: "Microsoft.Storage/storageAccounts", Names: []string{"regenerateKey/action"}},
			{Source: "Microsoft.Storage/storageAccounts/blobServices/containers", Names: []string{"write", "delete"}},
		},
	},
	{
		typ: blobServiceType, doc: "How a storage account looks after its blobs.",
		arm: "Microsoft.Storage/storageAccounts/blobServices", version: storageVersion, path: "/blobServices/default", in: storageAccountType, of: holdsBlobs,
		rows: []row{
			flag("deleteRetentionEnabled", "properties.deleteRetentionPolicy.enabled", "Deleted blobs can be brought back.").or(false),
			number("deleteRetentionDays", "properties.deleteRetentionPolicy.days", "For how many days."),
			flag("containerDeleteRetentionEnabled", "properties.containerDeleteRetentionPolicy.enabled", "Deleted containers can be brought back.").or(false),
			number("containerDeleteRetentionDays", "properties.containerDeleteRetentionPolicy.days", "For how many days."),
			flag("isVersioningEnabled", "properties.isVersioningEnabled", "Earlier versions of blobs are kept.").or(false),
			flag("changeFeedEnabled", "properties.changeFeed.enabled", "Changes are logged.").or(false),
		},
	},
	{
		typ: blobContainerType, doc: "A container of blobs.",
		arm: "Microsoft.Storage/storageAccounts/blobServices/containers", version: storageVersion, path: "/blobServices/default/containers", in: storageAccountType, of: holdsBlobs,
		rows: []row{
			text("publicAccess", "properties.publicAccess", "What anybody may read, if the account allows it: None, Blob or Container.").or("None"),
			flag("hasImmutabilityPolicy", "properties.hasImmutabilityPolicy", "Blobs cannot be changed for some time.").or(false),
			flag("hasLegalHold", "properties.hasLegalHold", "Blobs cannot be changed while a legal hold is on.").or(false),
			text("lastModifiedTime", "properties.lastModifiedTime", "When it was last changed."),
		},
	},
}

// holdsBlobs reports whether a storage account has blobs at all.
func holdsBlobs(account gjson.Result) bool {
	return !strings.EqualFold(account.Get("kind").String(), "FileStorage")
}
