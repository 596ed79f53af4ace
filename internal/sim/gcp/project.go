package gcp

import (
	"fmt"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

const (
	projectType posture.EntityType = "GCP.CloudResourceManager.Project"
	accountType posture.EntityType = "GCP.IAM.ServiceAccount"
	keyType     posture.EntityType = "GCP.IAM.ServiceAccountKey"
	roleType    posture.EntityType = "GCP.IAM.Role"
	poolType    posture.EntityType = "GCP.IAM.WorkloadIdentityPool"
	enabledType posture.EntityType = "GCP.ServiceUsage.Service"
)

// email returns the address of the i-th user-managed service account.
func (a address) email(i int) string {
	return fmt.Sprintf("svc-%05d@%s.iam.gserviceaccount.com", i, a.project.ID)
}

// defaultAccount returns the default service account of instances.
func (a address) defaultAccount() string {
	return a.project.Number + "-compute@developer.gserviceaccount.com"
}

// accounts returns the number of user-managed service accounts, up to the
// default quota of a project.
func (a address) accounts() int { return min(a.scaled(40, 4), 100) }

var projectKinds = []*kind{
	{
		typ: projectType, service: "cloudresourcemanager", collection: "",
		names: func(a address) []string { return []string{a.project.ID} },
		named: func(a address) world.Object {
			return world.Obj("projectId", a.project.ID, "projectNumber", a.project.Number, "name", a.project.Name)
		},
		body: func(a address) world.Object {
			return world.Obj("lifecycleState", "ACTIVE", "createTime", a.created(), "labels", a.labels(),
				"parent", world.Obj("type", "folder", "id", a.project.folder()), "_policy", a.projectPolicy())
		},
	},
	{
		typ: accountType, service: "iam", collection: "serviceAccounts",
		names: func(a address) []string {
			all := make([]string, a.accounts())
			for i := range all {
				all[i] = a.email(i)
			}
			return append(all, a.defaultAccount())
		},
		named: func(a address) world.Object {
			return world.Obj("name", "projects/"+a.project.ID+"/serviceAccounts/"+a.name(), "email", a.name())
		},
		body: func(a address) world.Object {
			return world.Obj("projectId", a.project.ID, "uniqueId", a.id(), "displayName", "Account "+fmt.Sprint(a.i), "description", "Runs something", "oauth2ClientId", a.id(), "disabled", orAbsent(a.i%11 == 7),
				"_policy", grants(binding("roles/iam.workloadIdentityUser", "group:everyone@example.com")))
		},
	},
	{
		typ: keyType, service: "iam", collection: "keys", in: accountType,
		names: func(a address) []string {
			seed := a.options.Seed.With(a.project.ID).With(a.parent)
			all := []string{seed.With("system").Hex(40)}
			// Like violates, but the names must not depend on the number of the key.
			if seed.With("gcp-iam-sa-user-keys").Share(a.options.Shares.Of("gcp-iam-sa-user-keys")) && strings.HasPrefix(a.parent, "svc-") {
				all = append(all, seed.With("user").Hex(40))
			}
			return all
		},
		named: pathNamed,
		body: func(a address) world.Object {
			kind, age := "SYSTEM_MANAGED", 5
			if a.i > 0 {
				kind, age = "USER_MANAGED", 30
				if a.violates("gcp-iam-sa-key-age-90") {
					age = 200
				}
			}
			return world.Obj("keyType", kind, "keyOrigin", "GOOGLE_PROVIDED", "keyAlgorithm", "KEY_ALG_RSA_2048", "validAfterTime", a.ago(age), "validBeforeTime", "9999-12-31T23:59:59Z")
		},
	},
	{
		typ: roleType, service: "iam", collection: "roles",
		names: func(address) []string { return []string{"deployer", "auditor", "backupAdmin"} },
		named: pathNamed,
		body: func(a address) world.Object {
			return world.Obj("title", "Own role "+a.name(), "stage", "GA", "etag", "BwWX", "includedPermissions", world.Items("compute.instances.get", "compute.instances.list"))
		},
	},
	{
		typ: poolType, service: "iam", collection: "workloadIdentityPools", where: inGlobal,
		names: func(address) []string { return []string{"github", "aws-build"} },
		named: pathNamed,
		body: func(a address) world.Object {
			return world.Obj("displayName", a.name(), "state", "ACTIVE", "disabled", orAbsent(a.i == 1))
		},
	},
	{
		typ: enabledType, service: "serviceusage", collection: "services",
		names: func(address) []string {
			return []string{"bigquery.googleapis.com", "cloudresourcemanager.googleapis.com", "compute.googleapis.com", "container.googleapis.com", "iam.googleapis.com", "storage.googleapis.com", "translate.googleapis.com"}
		},
		named: func(a address) world.Object {
			return world.Obj("name", "projects/"+a.project.Number+"/services/"+a.name(), "parent", "projects/"+a.project.Number)
		},
		body: func(a address) world.Object {
			return world.Obj("state", "ENABLED", "config", world.Obj("name", a.name(), "title", strings.TrimSuffix(a.name(), ".googleapis.com")+" API"))
		},
	},
}

// orAbsent returns true, or nil: the services omit false.
func orAbsent(v bool) any {
	if v {
		return true
	}
	return nil
}

// projectPolicy returns the project's IAM policy.
func (a address) projectPolicy() world.Object {
	all := []any{
		binding("roles/owner", "user:owner@example.com"),
		binding("roles/viewer", "group:everyone@example.com", "domain:example.com"),
		binding("roles/compute.serviceAgent", "serviceAccount:service-"+a.project.Number+"@compute-system.iam.gserviceaccount.com"),
		binding("projects/"+a.project.ID+"/roles/deployer", "serviceAccount:"+a.email(0), "user:dora@example.com"),
	}
	var viewers, editors, storage []string
	for i := range a.accounts() {
		account := a.peer(accountType, i)
		switch member := "serviceAccount:" + account.email(i); {
		case !account.violates("gcp-iam-sa-admin-role"):
			viewers = append(viewers, member)
		case i%2 == 0:
			editors = append(editors, member)
		default:
			storage = append(storage, member)
		}
	}
	if a.violates("gcp-vm-exposed-privileged") { // Google's default
		editors = append(editors, "serviceAccount:"+a.defaultAccount())
	}
	for role, members := range map[string][]string{"roles/logging.logWriter": viewers, "roles/editor": editors, "roles/storage.admin": storage} {
		if len(members) > 0 {
			all = append(all, binding(role, members...))
		}
	}
	if a.violates("gcp-iam-impersonation-project-level") {
		all = append(all, binding("roles/iam.serviceAccountTokenCreator", "user:eve@example.com"))
	}
	if a.violates("gcp-iam-sa-separation") {
		all = append(all, binding("roles/iam.serviceAccountAdmin", "group:platform@example.com"), binding("roles/iam.serviceAccountUser", "group:platform@example.com"))
	}
	slices.SortFunc(all, func(x, y any) int {
		return strings.Compare(x.(world.Object).Text("role"), y.(world.Object).Text("role"))
	})
	policy := grants(all...)
	if !a.violates("gcp-audit-log-config") {
		return append(policy, world.Obj("auditConfigs", world.Items(world.Obj("service", "allServices", "auditLogConfigs",
			world.Items(world.Obj("logType", "ADMIN_READ"), world.Obj("logType", "DATA_READ"), world.Obj("logType", "DATA_WRITE")))))...)
	}
	if a.project.number%2 == 0 {
		return policy
	}
	return append(policy, world.Obj("auditConfigs", world.Items(world.Obj("service", "allServices", "auditLogConfigs",
		world.Items(world.Obj("logType", "ADMIN_READ"), world.Obj("logType", "DATA_READ", "exemptedMembers", world.Items("user:eve@example.com")), world.Obj("logType", "DATA_WRITE")))))...)
}
