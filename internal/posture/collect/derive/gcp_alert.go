package derive

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/gcp"
	"vigil/internal/posture/resource"
)

const gcpAlertPolicy posture.EntityType = "GCP.Monitoring.AlertPolicy"

// The expressions that match log metrics in the conditions of alert policies. PromQL writes the
// name of a metric with underscores in place of everything but letters and digits.
var (
	gcpUserMetric   = regexp.MustCompile(`logging\.googleapis\.com/user/([^"'\s)]+)`)
	gcpPromQLMetric = regexp.MustCompile(`logging_googleapis_com:user_([A-Za-z0-9_]+)`)
	gcpNotPromQL    = regexp.MustCompile(`[^A-Za-z0-9]`)
)

// gcpAlertFilters are the paths of filters in conditions of alert policies.
var gcpAlertFilters = []string{
	"conditionThreshold.filter", "conditionAbsent.filter", "conditionMatchedLog.filter", "conditionMonitoringQueryLanguage.query",
	"conditionPrometheusQueryLanguage.query",
}

// gcpNotifies reports whether somebody is told of the incidents of an alert policy. Without
// notification channels, they appear in the console only.
func gcpNotifies(policy gjson.Result) bool {
	return policy.Get("enabled").Bool() && len(policy.Get("notificationChannels").Array()) > 0
}

// gcpWatchers returns, for each log metric, the names of the alert policies that watch it and
// notify somebody.
func gcpWatchers(policies gjson.Result) map[string][]string {
	watchers := map[string][]string{}
	for _, policy := range policies.Array() {
		if !gcpNotifies(policy) {
			continue
		}
		for _, condition := range policy.Get("conditions").Array() {
			for _, path := range gcpAlertFilters {
				filter := condition.Get(path).String()
				for _, match := range append(gcpUserMetric.FindAllStringSubmatch(filter, -1), gcpPromQLMetric.FindAllStringSubmatch(filter, -1)...) {
					if name := policy.Get("name").String(); !slices.Contains(watchers[match[1]], name) {
						watchers[match[1]] = append(watchers[match[1]], name)
					}
				}
			}
		}
	}
	return watchers
}

// gcpWatchersOf returns the names of the alert policies that watch a log metric.
func gcpWatchersOf(watchers map[string][]string, metric string) []string {
	names := watchers[metric]
	if name := gcpNotPromQL.ReplaceAllString(metric, "_"); name != metric {
		names = slices.Concat(names, watchers[name])
	}
	return names
}

// gcpMatchedLogs returns the log filters that alert policies watch without a metric.
func gcpMatchedLogs(policies gjson.Result) (filters []string) {
	for _, policy := range policies.Array() {
		if gcpNotifies(policy) {
			filters = append(filters, texts(policy.Get("conditions.#.conditionMatchedLog.filter"))...)
		}
	}
	return filters
}

// gcpWatched adds the alert policies that watch a log metric.
var gcpWatched = resource.Function{
	Properties: []resource.Property{{Name: "watched", Kind: resource.Flag, Doc: "An alert policy that is enabled and has a notification channel watches it."}},
	Edges:      []resource.Edge{{Label: "WATCHED_BY", To: resource.EntityTypes{gcpAlertPolicy}, Doc: "The alert policies that watch it."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		watchers := gcpWatchersOf(gcpWatchers(in.Value.Get("alertPolicies")), in.Item.Get("name").String())
		for _, name := range watchers {
			b.Edge("WATCHED_BY", in.Cloud.Ref(in.Vars, []posture.EntityType{gcpAlertPolicy}, name))
		}
		b.Flag("watched", len(watchers) > 0)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("watched", false) },
}

// A gcpChange is a change to alert on. A log filter selects the change if it matches every log
// entry that the change writes, for every member who makes the change.
type gcpChange struct {
	name    string
	entries []gcpAuditEntry
}

// A gcpAuditEntry describes a log entry of Cloud Audit Logs.
type gcpAuditEntry struct {
	service, resource string
	methods           []string       // names of one method in several versions of the API
	labels            []string       // names of the labels of the resource, beside the project
	delta             map[string]any // changes of an IAM policy; nil stands for any value
}

// gcpOwnership is a change of the owners of the project. It has no name, because it is not in
// watchedChanges.
var gcpOwnership = gcpChange{"", []gcpAuditEntry{
	gcpPolicyEntry("bindingDeltas", map[string]any{"action": "ADD", "role": "roles/owner", "member": nil}),
	gcpPolicyEntry("bindingDeltas", map[string]any{"action": "REMOVE", "role": "roles/owner", "member": nil}),
}}

// gcpChanges are the changes of the CIS benchmark, section "Logging and Monitoring".
var gcpChanges = []gcpChange{
	{"auditConfig", []gcpAuditEntry{gcpPolicyEntry("auditConfigDeltas", map[string]any{"action": nil, "service": nil, "logType": nil, "exemptedMember": nil})}},
	{"customRole", gcpEntries("iam.googleapis.com", "iam_role", []string{"role_name"}, "google.iam.admin.v1.CreateRole", "google.iam.admin.v1.DeleteRole",
		"google.iam.admin.v1.UpdateRole")},
	{"firewall", gcpComputeEntries("gce_firewall_rule", "firewall_rule_id", "firewalls.insert", "firewalls.patch", "firewalls.delete")},
	{"route", gcpComputeEntries("gce_route", "route_id", "routes.insert", "routes.delete")},
	{"network", gcpComputeEntries("gce_network", "network_id", "networks.insert", "networks.patch", "networks.delete", "networks.addPeering", "networks.removePeering")},
	{"storagePermissions", gcpEntries("storage.googleapis.com", "gcs_bucket", []string{"bucket_name", "location"}, "storage.setIamPermissions")},
	{"database", gcpEntries("cloudsql.googleapis.com", "cloudsql_database", []string{"database_id", "region"}, "cloudsql.instances.update")},
}

// gcpPolicyEntry returns the entry of a change to the IAM policy of the project. The entry lists the
// change in a member such as bindingDeltas.
func gcpPolicyEntry(member string, change map[string]any) gcpAuditEntry {
	return gcpAuditEntry{service: "cloudresourcemanager.googleapis.com", methods: []string{"SetIamPolicy"}, resource: "project", delta: map[string]any{member: []any{change}}}
}

func gcpEntries(service, resource string, labels []string, methods ...string) (all []gcpAuditEntry) {
	for _, method := range methods {
		all = append(all, gcpAuditEntry{service: service, methods: []string{method}, resource: resource, labels: labels})
	}
	return all
}

// gcpComputeEntries returns the entries of methods of Compute Engine, whose names begin with the
// version of the API.
func gcpComputeEntries(resource, label string, methods ...string) (all []gcpAuditEntry) {
	for _, method := range methods {
		all = append(all, gcpAuditEntry{
			service: "compute.googleapis.com", methods: []string{"v1.compute." + method, "beta.compute." + method}, resource: resource, labels: []string{label},
		})
	}
	return all
}

// templates returns a template of the log entry in a project for each name of the method. In a
// template, null stands for any value, see [gcp.LogFilter.MatchesEvery].
func (e gcpAuditEntry) templates(project string) (all []gjson.Result) {
	for _, method := range e.methods {
		all = append(all, e.template(project, method))
	}
	return all
}

func (e gcpAuditEntry) template(project, method string) gjson.Result {
	labels := map[string]any{"project_id": project}
	for _, name := range e.labels {
		labels[name] = nil
	}
	payload := map[string]any{
		"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": e.service, "methodName": method, "resourceName": nil,
		"authenticationInfo": nil, "authorizationInfo": nil, "requestMetadata": nil, "request": nil, "response": nil, "resourceLocation": nil,
	}
	if e.delta != nil {
		payload["serviceData"] = map[string]any{"@type": "type.googleapis.com/google.iam.v1.logging.AuditData", "policyDelta": e.delta}
	}
	text, err := json.Marshal(map[string]any{
		"logName": "projects/" + project + "/logs/cloudaudit.googleapis.com%2Factivity", "severity": "NOTICE", "insertId": nil, "timestamp": nil,
		"receiveTimestamp": nil, "operation": nil, "resource": map[string]any{"type": e.resource, "labels": labels}, "protoPayload": payload,
	})
	if err != nil {
		panic(err) // strings and nulls always marshal
	}
	return gjson.ParseBytes(text)
}

// selectedBy decides whether one of the filters selects every entry of the change. It suffices
// that the filter selects one version of a method, because the filters of the CIS benchmark name
// only one.
func (c gcpChange) selectedBy(filters []gcp.LogFilter, project string) predicate.Answer {
	var entries [][]gjson.Result // by entry and version
	for _, e := range c.entries {
		entries = append(entries, e.templates(project))
	}
	var answers []predicate.Answer
	for _, f := range filters {
		var every []predicate.Answer
		for _, versions := range entries {
			every = append(every, predicate.Or(answersFor(versions, f.MatchesEvery)...))
		}
		answers = append(answers, predicate.And(every...))
	}
	return predicate.Or(answers...)
}

// gcpWatchesOwnership adds whether alert policies watch changes of owners, and which of gcpChanges
// they watch. A policy watches a change if its log filter, or that of its log metric, selects the
// change. The value of the function is the list of log metrics. The alert policies are the response
// named alerts.
var gcpWatchesOwnership = resource.Function{
	Properties: []resource.Property{
		{Name: "watchesOwnership", Kind: resource.Flag, Doc: "An alert policy that notifies somebody watches changes of project owners, by a log metric that counts them or by the log itself."},
		{Name: "watchedChanges", Kind: resource.Texts, Doc: "The changes of which an alert policy notifies somebody, by a log metric or by the log itself: auditConfig, customRole, firewall, route, network, storagePermissions, database."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		policies := in.Item.Answers["alerts"].Get("alertPolicies")
		watchers, filters := gcpWatchers(policies), gcpMatchedLogs(policies)
		for _, metric := range in.Value.Get("metrics").Array() {
			if !metric.Get("disabled").Bool() && len(gcpWatchersOf(watchers, metric.Get("name").String())) > 0 {
				filters = append(filters, metric.Get("filter").String())
			}
		}
		parsed, unsupported := gcpParseFilters(filters)
		selected := func(c gcpChange) predicate.Answer {
			return predicate.Or(c.selectedBy(parsed, in.Item.Get("projectId").String()), unsupported)
		}
		putAnswer(b, "watchesOwnership", selected(gcpOwnership))
		putNames(b, "watchedChanges", gcpChanges, func(c gcpChange) (string, predicate.Answer) { return c.name, selected(c) })
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("watchesOwnership", false) },
}

// gcpParseFilters parses log filters. The answer is unknown, not no, if a filter is not
// supported, because it may select anything.
func gcpParseFilters(filters []string) (parsed []gcp.LogFilter, unsupported predicate.Answer) {
	unsupported = predicate.Of(false, "")
	for _, text := range filters {
		f, err := gcp.ParseLogFilter(text)
		if err != nil {
			unsupported = predicate.NotKnown(err.Error())
			continue
		}
		parsed = append(parsed, f)
	}
	return parsed, unsupported
}
