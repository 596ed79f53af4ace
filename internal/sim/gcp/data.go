package gcp

import (
	"fmt"
	"strconv"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

const (
	bucketType  posture.EntityType = "GCP.Storage.Bucket"
	sqlType     posture.EntityType = "GCP.SQL.Instance"
	datasetType posture.EntityType = "GCP.BigQuery.Dataset"
	ringType    posture.EntityType = "GCP.KMS.KeyRing"
	cryptoType  posture.EntityType = "GCP.KMS.CryptoKey"
	secretType  posture.EntityType = "GCP.SecretManager.Secret"
	apiKeyType  posture.EntityType = "GCP.APIKeys.Key"
	redisType   posture.EntityType = "GCP.Redis.Instance"
	fileType    posture.EntityType = "GCP.Filestore.Instance"
)

// keyPath returns the name of a key for encrypting the i-th resource.
func (a address) keyPath(i int) string {
	ring := a.peer(ringType, i%a.countOf(ringType))
	key := ring.peer(cryptoType, 0)
	key.parent, key.i = ring.name(), i%key.count()
	return key.path()
}

// ownerOf returns the project of a bucket. The name of a generated bucket begins with its
// project; for a created bucket, ownerOf searches all projects.
func (c *Cloud) ownerOf(bucket string) string {
	if i := strings.LastIndex(bucket, "-data-"); i > 0 {
		return bucket[:i]
	}
	for _, p := range c.order {
		if _, ok := (address{Cloud: c, k: kinds[bucketType], project: p}).get(bucket); ok {
			return p.ID
		}
	}
	return ""
}

var dataKinds = []*kind{
	{
		typ: bucketType, service: "storage", collection: "b", prefix: "{project}-data-", count: func(a address) int { return a.scaled(60, 8) }, body: bucket,
		named: func(a address) world.Object {
			return world.Obj("kind", "storage#bucket", "id", a.name(), "name", a.name(), "selfLink", "https://www.googleapis.com/storage/v1/b/"+a.name(), "projectNumber", a.project.Number)
		},
	},
	{
		typ: sqlType, service: "sqladmin", collection: "instances", prefix: "sql-", count: func(a address) int { return a.scaled(20, 5) },
		named: func(a address) world.Object {
			return world.Obj("kind", "sql#instance", "name", a.name(), "project", a.project.ID, "selfLink", "https://sqladmin.googleapis.com/sql/v1beta4/"+a.path())
		},
		body: sqlInstance,
	},
	{
		typ: datasetType, service: "bigquery", collection: "datasets", prefix: "dataset_", count: func(a address) int { return a.scaled(20, 4) },
		named: func(a address) world.Object {
			return world.Obj("kind", "bigquery#dataset", "type", "DEFAULT", "id", a.project.ID+":"+a.name(), "datasetReference", world.Obj("projectId", a.project.ID, "datasetId", a.name()))
		},
		body: dataset,
	},
	{
		typ: ringType, service: "cloudkms", collection: "keyRings", where: inLocation, prefix: "ring-", count: func(a address) int { return min(a.scaled(5, 2), 20) }, named: pathNamed,
		body: func(a address) world.Object {
			p := grants(binding("roles/cloudkms.viewer", "group:platform@example.com"))
			if a.violates("gcp-kms-key-public") && a.i%4 == 3 {
				p = grants(binding("roles/cloudkms.cryptoKeyDecrypter", "allAuthenticatedUsers"))
			}
			return world.Obj("createTime", a.created(), "_policy", p)
		},
	},
	{
		typ: cryptoType, service: "cloudkms", collection: "cryptoKeys", in: ringType, prefix: "key-", count: func(a address) int { return min(a.scaled(5, 4), 50) }, named: pathNamed,
		body: cryptoKey,
	},
	{
		typ: secretType, service: "secretmanager", collection: "secrets", prefix: "secret-", count: func(a address) int { return a.scaled(20, 3) },
		named: func(a address) world.Object {
			return world.Obj("name", "projects/"+a.project.Number+"/secrets/"+a.name())
		},
		body: func(a address) world.Object {
			o := world.Obj("createTime", a.created(), "labels", a.labels(), "etag", `"1"`)
			if a.i%2 == 0 {
				return append(o, world.Obj("replication", world.Obj("automatic", world.Obj()))...)
			}
			return append(o, world.Obj("replication", world.Obj("userManaged", world.Obj("replicas", world.Items(world.Obj("location", "europe-west1", "customerManagedEncryption", world.Obj("kmsKeyName", a.keyPath(a.i)))))),
				"expireTime", a.ago(-400), "rotation", world.Obj("rotationPeriod", "7776000s", "nextRotationTime", a.ago(-30)), "topics", world.Items(world.Obj("name", a.peer(topicType, 0).path())))...)
		},
	},
	{
		typ: apiKeyType, service: "apikeys", collection: "keys", where: inGlobal, prefix: "apikey-", count: func(a address) int { return a.scaled(10, 4) },
		named: func(a address) world.Object {
			return world.Obj("name", strings.Replace(a.path(), a.project.ID, a.project.Number, 1), "uid", a.name(), "displayName", "Key "+strconv.Itoa(a.i))
		},
		body: func(a address) world.Object {
			age := 20
			if a.violates("gcp-apikey-age-90") {
				age = 400
			}
			o := world.Obj("createTime", a.ago(age), "updateTime", a.ago(age), "etag", `W/"1"`)
			if a.i%4 == 3 {
				o = append(o, world.Obj("serviceAccountEmail", a.email(0))...)
			}
			limits := world.Obj("apiTargets", world.Items(world.Obj("service", "translate.googleapis.com")))
			if a.i%2 == 1 {
				limits = append(limits, world.Obj("serverKeyRestrictions", world.Obj("allowedIps", world.Items("203.0.113.7")))...)
			}
			if a.violates("gcp-apikey-api-restrictions") {
				if a.i%2 == 0 {
					return o
				}
				limits = world.Obj("browserKeyRestrictions", world.Obj("allowedReferrers", world.Items("https://www.example.com/*")))
			}
			return append(o, world.Obj("restrictions", limits)...)
		},
	},
	{
		typ: redisType, service: "redis", collection: "instances", where: inLocation, prefix: "redis-", count: func(a address) int { return a.scaled(5, 2) }, named: pathNamed,
		body: func(a address) world.Object {
			return world.Obj("tier", "STANDARD_HA", "memorySizeGb", 4, "redisVersion", "REDIS_7_0", "state", "READY", "authEnabled", a.i%2 == 0, "createTime", a.created(), "labels", a.labels(),
				"transitEncryptionMode", []string{"SERVER_AUTHENTICATION", "DISABLED"}[a.i%2], "connectMode", "PRIVATE_SERVICE_ACCESS", "customerManagedKey", a.keyPath(a.i), "authorizedNetwork", "projects/"+a.project.ID+"/global/networks/"+a.peer(networkType, 0).name())
		},
	},
	{
		typ: fileType, service: "file", collection: "instances", where: inLocation, prefix: "files-", count: func(a address) int { return a.scaled(5, 2) }, named: pathNamed,
		body: func(a address) world.Object {
			share := world.Obj("name", "vol1", "capacityGb", "1024")
			if a.i%2 == 0 {
				share = append(share, world.Obj("nfsExportOptions", world.Items(world.Obj("ipRanges", world.Items("10.0.0.0/29"), "accessMode", "READ_WRITE")))...)
			}
			return world.Obj("tier", "ENTERPRISE", "state", "READY", "createTime", a.created(), "labels", a.labels(), "fileShares", world.Items(share),
				"networks", world.Items(world.Obj("network", a.peer(networkType, 0).name(), "modes", world.Items("MODE_IPV4"), "ipAddresses", world.Items("10.9.0.2"))), "kmsKeyName", a.keyPath(a.i))
		},
	},
}

// bucket generates a bucket. The first ones receive logs.
func bucket(a address) world.Object {
	uniform := !a.violates("gcp-storage-uniform-access")
	prevention := "enforced"
	p := grants(binding("roles/storage.legacyBucketOwner", "projectOwner:"+a.project.ID, "projectEditor:"+a.project.ID), binding("roles/storage.objectViewer", "serviceAccount:"+a.email(0)))
	acl := world.Items(world.Obj("kind", "storage#bucketAccessControl", "entity", "project-owners-"+a.project.Number, "role", "OWNER"))
	switch {
	case a.violates("gcp-storage-public") && !uniform && a.i%2 == 0:
		prevention = "inherited"
		acl = append(acl, world.Obj("kind", "storage#bucketAccessControl", "entity", "allUsers", "role", "READER"))
	case a.violates("gcp-storage-public"):
		prevention = "inherited"
		p = grants(append(p.List("bindings"), binding("roles/storage.objectViewer", world.PickOne(a.seed("public"), "allUsers", "allAuthenticatedUsers")))...)
	case a.i%4 == 1: // looks public, but public access prevention is enforced
		p = grants(append(p.List("bindings"), binding("roles/storage.objectViewer", "allUsers"))...)
	}
	o := world.Obj("location", []string{"US", "EUROPE-WEST1"}[a.i%2], "locationType", "region", "storageClass", "STANDARD", "timeCreated", a.created(), "updated", a.created(), "labels", a.labels(),
		"iamConfiguration", world.Obj("uniformBucketLevelAccess", world.Obj("enabled", uniform), "publicAccessPrevention", prevention), "versioning", world.Obj("enabled", a.i%2 == 0), "_policy", p)
	if !uniform {
		o = append(o, world.Obj("acl", acl)...)
	}
	if a.i < logBuckets && !a.violates("gcp-log-bucket-retention-lock") {
		o = append(o, world.Obj("retentionPolicy", world.Obj("retentionPeriod", "31536000", "effectiveTime", a.created(), "isLocked", true))...)
	} else if a.i%3 == 0 {
		o = append(o, world.Obj("retentionPolicy", world.Obj("retentionPeriod", "86400", "effectiveTime", a.created(), "isLocked", false))...)
	}
	if a.i%3 == 1 {
		o = append(o, world.Obj("encryption", world.Obj("defaultKmsKeyName", a.keyPath(a.i)))...)
	}
	if a.i >= logBuckets {
		o = append(o, world.Obj("logging", world.Obj("logBucket", a.peer(bucketType, 0).name(), "logObjectPrefix", "x"))...)
	}
	return o
}

func sqlInstance(a address) world.Object {
	open := a.violates("gcp-sql-authorized-any")
	public := open || a.violates("gcp-sql-public-ip")
	ip := world.Obj("ipv4Enabled", public, "privateNetwork", "projects/"+a.project.ID+"/global/networks/"+a.peer(networkType, 0).name())
	allowed := world.Items(world.Obj("kind", "sql#aclEntry", "name", "office", "value", "203.0.113.0/24"))
	if open {
		allowed = append(allowed, world.Obj("kind", "sql#aclEntry", "name", "any", "value", "0.0.0.0/0"))
	}
	if public {
		ip = append(ip, world.Obj("authorizedNetworks", allowed)...)
	}
	switch {
	case a.violates("gcp-sql-ssl"):
		ip = append(ip, world.Obj("sslMode", "ALLOW_UNENCRYPTED_AND_ENCRYPTED", "requireSsl", false)...)
	case a.i%2 == 0:
		ip = append(ip, world.Obj("sslMode", "ENCRYPTED_ONLY", "requireSsl", false)...)
	default:
		ip = append(ip, world.Obj("sslMode", "TRUSTED_CLIENT_CERTIFICATE_REQUIRED", "requireSsl", true)...)
	}
	addresses := world.Items(world.Obj("type", "PRIVATE", "ipAddress", fmt.Sprintf("10.200.0.%d", a.i&255)))
	if public {
		addresses = append(addresses, world.Obj("type", "PRIMARY", "ipAddress", publicIP(120, a.i)))
	}
	kind, backup := "CLOUD_SQL_INSTANCE", world.Obj("kind", "sql#backupConfiguration", "enabled", !a.violates("gcp-sql-backup"), "pointInTimeRecoveryEnabled", true)
	o := world.Obj("databaseVersion", world.PickOne(a.seed("version"), "POSTGRES_15", "MYSQL_8_0"), "state", "RUNNABLE", "region", regions[a.i%len(regions)], "createTime", a.created(), "ipAddresses", addresses,
		"serviceAccountEmailAddress", "p"+a.project.Number+"-x@gcp-sa-cloud-sql.iam.gserviceaccount.com")
	if a.i%5 == 4 { // a replica has no backups of its own
		kind, backup = "READ_REPLICA_INSTANCE", world.Obj("kind", "sql#backupConfiguration", "enabled", false)
		o = append(o, world.Obj("masterInstanceName", a.project.ID+":"+a.peer(sqlType, a.i-1).name())...)
	}
	if a.i%3 == 1 {
		o = append(o, world.Obj("diskEncryptionConfiguration", world.Obj("kind", "sql#diskEncryptionConfiguration", "kmsKeyName", a.keyPath(a.i)))...)
	}
	return append(o, world.Obj("instanceType", kind, "settings", world.Obj("kind", "sql#settings", "tier", "db-custom-2-7680", "availabilityType", "REGIONAL", "ipConfiguration", ip, "backupConfiguration", backup,
		"databaseFlags", world.Items(world.Obj("name", "log_connections", "value", "on")), "userLabels", a.labels(), "deletionProtectionEnabled", a.i%2 == 0))...)
}

func dataset(a address) world.Object {
	access := world.Items(world.Obj("role", "OWNER", "specialGroup", "projectOwners"), world.Obj("role", "READER", "groupByEmail", "analysts@example.com"),
		world.Obj("role", "WRITER", "userByEmail", a.email(0)))
	if a.violates("gcp-bigquery-public") {
		if a.i%2 == 0 {
			access = append(access, world.Obj("role", "READER", "specialGroup", "allAuthenticatedUsers"))
		} else {
			access = append(access, world.Obj("role", "READER", "iamMember", "allUsers"))
		}
	}
	var expiry any
	if a.i%3 == 0 {
		expiry = "3600000"
	}
	o := world.Obj("location", []string{"US", "europe-west1"}[a.i%2], "defaultTableExpirationMs", expiry, "creationTime", strconv.FormatInt(a.options.Today.AddDate(0, 0, -a.i-1).UnixMilli(), 10), "access", access, "labels", a.labels())
	if !a.violates("gcp-bigquery-cmek") {
		o = append(o, world.Obj("defaultEncryptionConfiguration", world.Obj("kmsKeyName", a.keyPath(a.i)))...)
	}
	return o
}

// summary returns a dataset's entry in the list of datasets.
func summary(_ address, o world.Object) world.Object {
	return world.Obj("kind", o.Get("kind"), "id", o.Get("id"), "datasetReference", o.Get("datasetReference"), "location", o.Get("location"), "labels", o.Get("labels"))
}

func cryptoKey(a address) world.Object {
	p := grants(binding("roles/cloudkms.cryptoKeyEncrypterDecrypter", "serviceAccount:"+a.email(0)))
	if a.violates("gcp-kms-key-public") {
		p = grants(binding("roles/cloudkms.cryptoKeyEncrypterDecrypter", world.PickOne(a.seed("public"), "allUsers", "allAuthenticatedUsers")))
	}
	o := world.Obj("createTime", a.created(), "labels", a.labels(), "versionTemplate", world.Obj("protectionLevel", "SOFTWARE", "algorithm", "GOOGLE_SYMMETRIC_ENCRYPTION"), "_policy", p)
	if a.i%4 == 3 { // cannot be rotated
		return append(o, world.Obj("purpose", "ASYMMETRIC_SIGN")...)
	}
	state := "ENABLED"
	if a.violates("gcp-kms-key-dead-in-use") {
		state = "DISABLED"
	}
	o = append(o, world.Obj("purpose", "ENCRYPT_DECRYPT", "primary", world.Obj("name", a.path()+"/cryptoKeyVersions/1", "state", state, "protectionLevel", "SOFTWARE", "algorithm", "GOOGLE_SYMMETRIC_ENCRYPTION"))...)
	switch {
	case !a.violates("gcp-kms-rotation-90"):
		return append(o, world.Obj("rotationPeriod", "7776000s", "nextRotationTime", a.ago(-30))...)
	case a.i%2 == 0:
		return append(o, world.Obj("rotationPeriod", "31536000s", "nextRotationTime", a.ago(-300))...)
	}
	return o
}
