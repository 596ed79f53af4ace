package gcp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
)

// PublicMembers are the members that denote everybody, with or without a Google account.
var PublicMembers = []string{"allUsers", "allAuthenticatedUsers"}

// Public decides whether one of some IAM policies (bindings) gives a role to
// everybody. A condition may limit the binding to a time or some resources, not
// to some people. A deny policy for everybody makes the answer unknown, because
// its permissions are not evaluated.
func Public(denies []gjson.Result, policies ...gjson.Result) predicate.Answer {
	out := predicate.Of(false, "")
	for _, policy := range policies {
		if !policy.IsObject() {
			out = predicate.Or(out, predicate.NotKnown("an IAM policy could not be read"))
			continue
		}
		for _, b := range policy.Get("bindings").Array() {
			for _, member := range texts(b.Get("members")) {
				if slices.Contains(PublicMembers, member) {
					out = predicate.Or(out, underCondition(b.Get("condition"), fmt.Sprintf("%s has the role %s", member, b.Get("role"))))
				}
			}
		}
	}
	if out.Truth == predicate.Yes && isDenied("", denies) {
		return predicate.NotKnown(out.Why + ", and a deny policy applies to everybody")
	}
	return out
}

// underCondition returns yes for a binding without a condition or with the condition true,
// no with the condition false, and otherwise unknown.
func underCondition(condition gjson.Result, reason string) predicate.Answer {
	switch expression := strings.TrimSpace(condition.Get("expression").String()); {
	case !condition.IsObject() || expression == "" || expression == "true":
		return predicate.Of(true, reason)
	case expression == "false":
		return predicate.Of(false, "")
	}
	return predicate.NotKnown(reason + " under a condition, which is not evaluated")
}

// A Role returns the permissions of a role, and false when they could not be read.
type Role func(name string) (permissions []string, known bool)

// controlPermissions are the permissions with which a principal can give itself every
// permission in a project: by changing the project's policy or roles, or by
// acting as one of its service accounts.
var controlPermissions = []string{
	"resourcemanager.projects.setIamPolicy", "resourcemanager.folders.setIamPolicy", "resourcemanager.organizations.setIamPolicy", "iam.roles.update",
	"iam.serviceAccounts.setIamPolicy", "iam.serviceAccountKeys.create", "iam.serviceAccounts.getAccessToken", "iam.serviceAccounts.implicitDelegation",
	"iam.serviceAccounts.signJwt",
}

// mainPermissions are permissions to change the main types of resources. A principal
// that has all of them administers a project.
var mainPermissions = []string{"compute.instances.create", "storage.buckets.delete", "cloudsql.instances.update", "iam.serviceAccounts.actAs"}

// knownRoles has permissions of common basic and predefined roles. They are not
// complete, but enough for Controls, which need not read these roles.
var knownRoles = map[string][]string{
	"roles/owner":   append([]string{"resourcemanager.projects.setIamPolicy"}, mainPermissions...),
	"roles/editor":  mainPermissions,
	"roles/viewer":  {"compute.instances.get", "storage.buckets.list"},
	"roles/browser": {"resourcemanager.projects.get"},
	"roles/resourcemanager.organizationAdmin": {"resourcemanager.organizations.setIamPolicy", "resourcemanager.projects.setIamPolicy"},
	"roles/resourcemanager.folderAdmin":       {"resourcemanager.folders.setIamPolicy"},
	"roles/resourcemanager.projectIamAdmin":   {"resourcemanager.projects.setIamPolicy"},
	"roles/iam.securityAdmin":                 {"resourcemanager.projects.setIamPolicy"},
	"roles/iam.serviceAccountAdmin":           {"iam.serviceAccounts.setIamPolicy"},
	"roles/iam.serviceAccountKeyAdmin":        {"iam.serviceAccountKeys.create"},
	"roles/iam.serviceAccountTokenCreator":    {"iam.serviceAccounts.getAccessToken"},
	"roles/iam.roleAdmin":                     {"iam.roles.update"},
	"roles/storage.admin":                     {"storage.buckets.delete"},
	"roles/compute.admin":                     {"compute.instances.create"},
	"roles/logging.admin":                     {"logging.sinks.create"},
	"roles/iam.serviceAccountUser":            {"iam.serviceAccounts.actAs"},
	"roles/logging.logWriter":                 {"logging.logEntries.create"},
	"roles/monitoring.metricWriter":           {"monitoring.timeSeries.create"},
}

// Controls decides whether a role's permissions control a project: they allow
// changing its policy, or all of its resources.
func Controls(name string, role Role) predicate.Answer {
	permissions, known := knownRoles[name]
	if !known && role != nil {
		permissions, known = role(name)
	}
	if !known {
		return predicate.NotKnown(fmt.Sprintf("the permissions of %s are unknown", name))
	}
	for _, p := range controlPermissions {
		if slices.Contains(permissions, p) {
			return predicate.Of(true, name+" may do "+p)
		}
	}
	for _, p := range mainPermissions {
		if !slices.Contains(permissions, p) {
			return predicate.Of(false, "")
		}
	}
	return predicate.Of(true, name+" may change everything")
}

// Privileged decides whether a member controls a project by the IAM policies of
// the project, its folders and its organisation. Deny policies are not
// evaluated: one that names the member makes the answer unknown. unread
// describes what could not be read, or is empty.
func Privileged(member string, policies, denies []gjson.Result, role Role, unread string) predicate.Answer {
	out := predicate.Of(false, "")
	for _, policy := range policies {
		for _, b := range policy.Get("bindings").Array() {
			if !matches(texts(b.Get("members")), member) {
				continue
			}
			out = predicate.Or(out, predicate.And(Controls(b.Get("role").String(), role), underCondition(b.Get("condition"), member+" has "+b.Get("role").String())))
		}
	}
	if out.Truth == predicate.Yes && isDenied(member, denies) {
		return predicate.NotKnown("a deny policy names " + member)
	}
	if unread != "" {
		out = predicate.Or(out, predicate.NotKnown(unread))
	}
	return out
}

// matches reports whether a member is among the members of a binding, directly
// or as part of everybody. Deleted members have no access.
func matches(members []string, member string) bool {
	return slices.ContainsFunc(members, func(m string) bool {
		return strings.EqualFold(m, member) || slices.Contains(PublicMembers, m)
	})
}

// isDenied reports whether a deny policy applies to a member.
func isDenied(member string, policies []gjson.Result) bool {
	id := cmp.Or(member, "\x00") // matches no specific member
	if _, name, ok := strings.Cut(member, ":"); ok {
		id = name
	}
	for _, policy := range policies {
		for _, rule := range policy.Get("rules.#.denyRule").Array() {
			principals := texts(rule.Get("deniedPrincipals"))
			if slices.ContainsFunc(principals, func(p string) bool {
				return p == "principalSet://goog/public:all" || strings.HasSuffix(strings.ToLower(p), "/"+strings.ToLower(id))
			}) {
				return true
			}
		}
	}
	return false
}

// Invocable decides whether anybody on the internet may invoke a function or
// service: its ingress setting allows the internet, and IAM allows everybody.
func Invocable(ingress string, public predicate.Answer) predicate.Answer {
	open := predicate.NotKnown(fmt.Sprintf("the ingress setting %q is not supported", ingress))
	switch strings.ToUpper(strings.TrimPrefix(strings.ToUpper(ingress), "INGRESS_TRAFFIC_")) {
	case "", "ALLOW_ALL", "ALL":
		open = predicate.Of(true, "")
	case "ALLOW_INTERNAL_ONLY", "INTERNAL_ONLY", "INTERNAL", "ALLOW_INTERNAL_AND_GCLB", "INTERNAL_LOAD_BALANCER", "INTERNAL-AND-CLOUD-LOAD-BALANCING", "NONE":
		open = predicate.Of(false, "")
	}
	return predicate.And(open, public)
}

// PublicBucket decides whether everybody has access to a bucket: an IAM policy,
// or the access control list unless access is uniform, gives it to them, and
// neither the bucket nor an organisation policy prevents public access.
func PublicBucket(bucket gjson.Result, byPolicy, prevented predicate.Answer) predicate.Answer {
	configuration := bucket.Get("iamConfiguration")
	if strings.EqualFold(configuration.Get("publicAccessPrevention").String(), "enforced") {
		return predicate.Of(false, "")
	}
	uniform := configuration.Get("uniformBucketLevelAccess.enabled").Bool() || configuration.Get("bucketPolicyOnly.enabled").Bool()
	listed := !uniform && slices.ContainsFunc(texts(bucket.Get("acl.#.entity")), func(entity string) bool { return slices.Contains(PublicMembers, entity) })
	return predicate.And(predicate.Not(prevented), predicate.Or(predicate.Of(listed, "its access control list names everybody"), byPolicy))
}

// AuditsAllServices decides whether the audit configurations of policies, those of
// the project and its ancestors, log all reads and writes of all services for
// everybody. The configurations add up: a type is logged if one of them enables it,
// and a member is exempted if one of them exempts it. A policy that was not read may
// do either.
func AuditsAllServices(policies []gjson.Result, unread string) predicate.Answer {
	missing := map[string]bool{"ADMIN_READ": true, "DATA_READ": true, "DATA_WRITE": true}
	for _, policy := range policies {
		for _, config := range policy.Get("auditConfigs").Array() {
			for _, log := range config.Get("auditLogConfigs").Array() {
				if len(log.Get("exemptedMembers").Array()) > 0 {
					return predicate.Of(false, "")
				}
				if config.Get("service").String() == "allServices" {
					delete(missing, log.Get("logType").String())
				}
			}
		}
	}
	if unread != "" {
		return predicate.NotKnown(unread)
	}
	return predicate.Of(len(missing) == 0, "")
}
