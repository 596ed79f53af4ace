package entitygen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var azure = model{
	regions: []share{{"westeurope", 0.5}, {"eastus", 0.3}, {"northeurope", 0.15}, {"uksouth", 0.05}},
	group: func(_ string, r *rand.Rand) string {
		return fmt.Sprintf("rg-%d", r.IntN(40)) // ids name the resource group, not the region
	},
	xid: func(k *kind, a Account, _, name string) string {
		return "/subscriptions/" + string(a.ID) + "/providers/Microsoft." + k.typ.Service() + "/" + strings.TrimSuffix(k.prefix, "-") + "/" + name
	},
	kinds: []kind{
		{typ: "Azure.Compute.VirtualMachine", share: 14, global: true, spread: true, prefix: "vm-", properties: []maker{choice("size", "Standard_B2s", "Standard_D4s_v5", "Standard_E8s_v3"), choice("osType", "Linux", "Windows"), flag("encryptionAtHost", 0.3), choice("powerState", "running", "deallocated"), text("image", "image-", 1)}, edges: []edgeMaker{to("USES", "Azure.Network.NetworkInterface", 3), to("USES", "Azure.Compute.Disk", 4), maybe(0.5, to("READS", "Azure.KeyVault.Vault", 2)), maybe(0.6, to("WRITES_TO", "Azure.Storage.StorageAccount", 1))}},
		{typ: "Azure.Compute.Disk", share: 18, global: true, spread: true, prefix: "disk-", properties: []maker{number("sizeGB", 2048), choice("sku", "Premium_LRS", "StandardSSD_LRS", "Standard_LRS"), choice("networkAccessPolicy", "AllowAll", "DenyAll"), flag("encrypted", 0.9)}, edges: []edgeMaker{to("ATTACHED_TO", "Azure.Compute.VirtualMachine", 1), maybe(0.4, to("ENCRYPTED_BY", "Azure.KeyVault.Vault", 1)), maybe(0.4, to("CREATED_FROM", "Azure.Compute.Disk", 1))}},
		{typ: "Azure.Network.NetworkInterface", share: 18, global: true, spread: true, prefix: "nic-", properties: []maker{text("privateIpAddress", "10.", 1), text("publicIpAddress", "20.", 0.1), flag("ipForwarding", 0.05)}, edges: []edgeMaker{to("MEMBER_OF", "Azure.Network.Subnet", 1), maybe(0.6, to("USES", "Azure.Network.SecurityGroup", 1)), to("ATTACHED_TO", "Azure.Compute.VirtualMachine", 1)}},
		{typ: "Azure.Network.SecurityGroup", share: 8, global: true, spread: true, prefix: "nsg-", properties: []maker{flag("allowsAnySsh", 0.05), flag("allowsAnyRdp", 0.03), list("openPort", "", 4, 300)}, edges: []edgeMaker{to("PROTECTS", "Azure.Network.Subnet", 3), maybe(0.5, to("ALLOWS_INGRESS", "Azure.Network.SecurityGroup", 3))}},
		{typ: "Azure.Network.Subnet", share: 6, global: true, spread: true, prefix: "snet-", properties: []maker{text("addressPrefix", "10.", 1), flag("hasServiceEndpoints", 0.3)}, edges: []edgeMaker{maybe(0.8, to("USES", "Azure.Network.SecurityGroup", 1)), maybe(0.5, to("REACHES", "Azure.Storage.StorageAccount", 4))}},
		{typ: "Azure.Storage.StorageAccount", share: 10, global: true, spread: true, prefix: "st", properties: []maker{flag("httpsOnly", 0.95), choice("minimumTlsVersion", "TLS1_2", "TLS1_0"), flag("allowBlobPublicAccess", 0.1), choice("kind", "StorageV2", "BlobStorage"), choice("networkDefaultAction", "Deny", "Allow")}, edges: []edgeMaker{maybe(0.5, to("ENCRYPTED_BY", "Azure.KeyVault.Vault", 1)), maybe(0.6, to("ALLOWS_INGRESS", "Azure.Network.Subnet", 5))}},
		{typ: "Azure.KeyVault.Vault", share: 5, global: true, spread: true, prefix: "kv-", properties: []maker{flag("purgeProtection", 0.6), flag("softDelete", 0.98), choice("networkDefaultAction", "Allow", "Deny"), flag("rbac", 0.5)}, edges: []edgeMaker{to("ALLOWS_INGRESS", "Azure.Network.Subnet", 4)}},
		{typ: "Azure.Sql.Server", share: 2, global: true, spread: true, prefix: "sql-", properties: []maker{choice("version", "12.0"), flag("publicNetworkAccess", 0.4), flag("auditingEnabled", 0.7), text("adminLogin", "admin-", 1)}, edges: []edgeMaker{to("ALLOWS_INGRESS", "Azure.Network.Subnet", 4), to("WRITES_TO", "Azure.Storage.StorageAccount", 1)}},
		{typ: "Azure.Web.App", share: 6, global: true, spread: true, prefix: "app-", properties: []maker{flag("httpsOnly", 0.8), choice("minTlsVersion", "1.2", "1.0"), choice("kind", "app", "functionapp"), flag("remoteDebugging", 0.02)}, edges: []edgeMaker{maybe(0.6, to("READS", "Azure.KeyVault.Vault", 2)), to("USES", "Azure.Storage.StorageAccount", 2), maybe(0.4, to("MEMBER_OF", "Azure.Network.Subnet", 1)), maybe(0.5, to("READS", "Azure.Sql.Server", 1))}},
		{typ: "Azure.Authorization.RoleAssignment", share: 13, global: true, prefix: "ra-", properties: []maker{choice("roleName", "Reader", "Contributor", "Owner", "Storage Blob Data Reader"), choice("principalType", "Group", "User", "ServicePrincipal"), text("principalId", "p-", 1)}, edges: []edgeMaker{to("GRANTS", "Azure.Storage.StorageAccount", 5), maybe(0.6, to("GRANTS", "Azure.KeyVault.Vault", 4))}},
	},
}

var gcp = model{
	regions: []share{{"us-central1", 0.5}, {"europe-west1", 0.3}, {"asia-east1", 0.15}, {"us-east4", 0.05}},
	group:   sameLocation,
	xid: func(k *kind, a Account, region, name string) string {
		return "//" + strings.ToLower(k.typ.Service()) + ".googleapis.com/projects/" + string(a.ID) + "/locations/" + region + "/" + strings.TrimSuffix(k.prefix, "-") + "/" + name
	},
	kinds: []kind{
		{typ: "GCP.Compute.Instance", share: 14, prefix: "vm-", properties: []maker{choice("machineType", "e2-medium", "n2-standard-4", "c3-standard-8"), choice("status", "RUNNING", "TERMINATED"), flag("canIpForward", 0.05), flag("shieldedVm", 0.6), text("externalIp", "34.", 0.2), flag("serialPortEnabled", 0.05)}, edges: []edgeMaker{to("MEMBER_OF", "GCP.Compute.Subnetwork", 2), to("USES", "GCP.Compute.Disk", 3), to("RUNS_AS", "GCP.IAM.ServiceAccount", 1), to("PROTECTED_BY", "GCP.Compute.Firewall", 2)}},
		{typ: "GCP.Compute.Disk", share: 18, prefix: "disk-", properties: []maker{number("sizeGb", 2000), choice("type", "pd-balanced", "pd-ssd", "pd-standard"), flag("customerKey", 0.2)}, edges: []edgeMaker{to("ATTACHED_TO", "GCP.Compute.Instance", 1), maybe(0.4, to("CREATED_FROM", "GCP.Compute.Disk", 1)), maybe(0.4, to("ENCRYPTED_BY", "GCP.KMS.CryptoKey", 1))}},
		{typ: "GCP.Compute.Subnetwork", share: 4, prefix: "subnet-", properties: []maker{text("ipCidrRange", "10.", 1), flag("privateGoogleAccess", 0.6), flag("flowLogs", 0.3)}, edges: []edgeMaker{to("PROTECTED_BY", "GCP.Compute.Firewall", 6)}},
		{typ: "GCP.Compute.Firewall", share: 7, global: true, prefix: "fw-", properties: []maker{choice("direction", "INGRESS", "EGRESS"), list("sourceRange", "10.", 3, 400), list("allowed", "tcp:", 4, 300), flag("disabled", 0.05), number("priority", 65535)}, edges: []edgeMaker{to("ALLOWS_INGRESS", "GCP.IAM.ServiceAccount", 4)}},
		{typ: "GCP.Storage.Bucket", share: 12, global: true, spread: true, prefix: "bucket-", properties: []maker{flag("uniformAccess", 0.8), choice("publicAccessPrevention", "enforced", "inherited"), flag("versioning", 0.3), choice("storageClass", "STANDARD", "NEARLINE"), flag("logging", 0.2)}, edges: []edgeMaker{to("GRANTS", "GCP.IAM.ServiceAccount", 4), maybe(0.2, to("WRITES_TO", "GCP.Storage.Bucket", 1))}},
		{typ: "GCP.IAM.ServiceAccount", share: 9, global: true, prefix: "sa-", properties: []maker{text("email", "sa@", 1), flag("disabled", 0.05), number("userManagedKeys", 3), list("role", "roles/", 4, 60)}, edges: []edgeMaker{to("GRANTS", "GCP.IAM.ServiceAccount", 2), to("READS", "GCP.Storage.Bucket", 3)}},
		{typ: "GCP.KMS.CryptoKey", share: 4, prefix: "key-", properties: []maker{number("rotationDays", 365), choice("purpose", "ENCRYPT_DECRYPT", "ASYMMETRIC_SIGN"), choice("state", "ENABLED", "DISABLED")}, edges: []edgeMaker{to("GRANTS", "GCP.IAM.ServiceAccount", 5)}},
		{typ: "GCP.SQL.Instance", share: 3, prefix: "sql-", properties: []maker{choice("databaseVersion", "POSTGRES_15", "MYSQL_8_0"), flag("requireSsl", 0.6), flag("publicIp", 0.2), flag("backupEnabled", 0.8)}, edges: []edgeMaker{to("GRANTS", "GCP.IAM.ServiceAccount", 4), maybe(0.5, to("ENCRYPTED_BY", "GCP.KMS.CryptoKey", 1))}},
		{typ: "GCP.PubSub.Topic", share: 10, global: true, prefix: "topic-", properties: []maker{number("subscriptions", 10), flag("customerKey", 0.1)}, edges: []edgeMaker{to("GRANTS", "GCP.IAM.ServiceAccount", 4), maybe(0.3, to("NOTIFIES", "GCP.PubSub.Topic", 2))}},
		{typ: "GCP.Logging.Sink", share: 6, global: true, prefix: "sink-", properties: []maker{choice("destination", "storage", "bigquery", "pubsub"), flag("includeChildren", 0.2)}, edges: []edgeMaker{to("WRITES_TO", "GCP.Storage.Bucket", 2), maybe(0.4, to("WRITES_TO", "GCP.PubSub.Topic", 1))}},
	},
}
