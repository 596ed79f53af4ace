package gcp

import (
	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

const (
	sinkType      posture.EntityType = "GCP.Logging.Sink"
	metricType    posture.EntityType = "GCP.Logging.Metric"
	logBucketType posture.EntityType = "GCP.Logging.LogBucket"
	alertType     posture.EntityType = "GCP.Monitoring.AlertPolicy"
	channelType   posture.EntityType = "GCP.Monitoring.NotificationChannel"
	zoneType      posture.EntityType = "GCP.DNS.ManagedZone"
	dnsPolicyType posture.EntityType = "GCP.DNS.Policy"
)

// logBuckets is the number of Cloud Storage buckets that receive logs. They are the first ones
// of a project.
const logBuckets = 2

// ownershipFilter matches changes of a project's owners and of permissions on
// buckets.
const ownershipFilter = `(protoPayload.serviceName="cloudresourcemanager.googleapis.com" AND (ProjectOwnership OR projectOwnerInvitee OR (protoPayload.serviceData.policyDelta.bindingDeltas.action=("ADD" OR "REMOVE") AND protoPayload.serviceData.policyDelta.bindingDeltas.role="roles/owner"))) OR protoPayload.methodName="storage.setIamPermissions"`

// root returns the project as a resource.
func (a address) root() address { return a.peer(projectType, 0) }

var monitoringKinds = []*kind{
	{
		typ: sinkType, service: "logging", collection: "sinks",
		names: func(address) []string { return []string{"_Default", "audit", "archive", "warehouse"} },
		body: func(a address) world.Object {
			o := world.Obj("createTime", a.created(), "writerIdentity", "serviceAccount:service-"+a.project.Number+"@gcp-sa-logging.iam.gserviceaccount.com")
			switch a.i {
			case 0:
				return append(o, world.Obj("destination", "logging.googleapis.com/projects/"+a.project.ID+"/locations/global/buckets/_Default", "filter", `NOT LOG_ID("cloudaudit.googleapis.com/activity")`)...)
			case 1, 2:
				filter := any(`logName:"cloudaudit.googleapis.com"`)
				if a.i == 2 && !a.root().violates("gcp-logging-sink-all") {
					filter = nil
				}
				return append(o, world.Obj("destination", "storage.googleapis.com/"+a.peer(bucketType, a.i-1).name(), "filter", filter)...)
			}
			return append(o, world.Obj("destination", "bigquery.googleapis.com/"+a.peer(datasetType, 0).path(), "filter", "severity>=ERROR", "exclusions", world.Items(world.Obj("name", "noise", "filter", "resource.type=http_load_balancer")))...)
		},
	},
	{
		typ: metricType, service: "logging", collection: "metrics",
		names: func(a address) []string {
			if a.root().violates("gcp-alert-ownership-change") && a.project.number%2 == 0 {
				return []string{"errors", "web/slow"}
			}
			return []string{"errors", "web/slow", "owners"}
		},
		body: func(a address) world.Object {
			filter := []string{"severity>=ERROR", "httpRequest.latency>1s", ownershipFilter}[a.i]
			return world.Obj("filter", filter, "description", "Counts "+a.name(), "createTime", a.created(), "metricDescriptor", world.Obj("metricKind", "DELTA", "valueType", "INT64"))
		},
	},
	{
		typ: logBucketType, service: "logging", collection: "buckets", where: inGlobal,
		names: func(address) []string { return []string{"_Default", "_Required"} }, named: pathNamed,
		body: func(a address) world.Object {
			return world.Obj("retentionDays", []int{30, 400}[a.i], "locked", orAbsent(a.i == 1), "lifecycleState", "ACTIVE", "cmekSettings", world.Obj("kmsKeyName", a.keyPath(a.i)))
		},
	},
	{
		typ: alertType, service: "monitoring", collection: "alertPolicies", prefix: "100", count: two, named: pathNamed,
		body: func(a address) world.Object {
			metric := "errors"
			if a.i == 1 && !a.root().violates("gcp-alert-ownership-change") {
				metric = "owners"
			}
			return world.Obj("displayName", "Alert on "+metric, "enabled", true, "combiner", "OR", "notificationChannels", world.Items(a.peer(channelType, 0).path()),
				"conditions", world.Items(world.Obj("name", a.path()+"/conditions/1", "displayName", "above", "conditionThreshold", world.Obj(
					"filter", `resource.type = "global" AND metric.type = "logging.googleapis.com/user/`+metric+`"`, "comparison", "COMPARISON_GT", "duration", "0s"))))
		},
	},
	{
		typ: channelType, service: "monitoring", collection: "notificationChannels", prefix: "200", count: one, named: pathNamed,
		body: func(a address) world.Object {
			return world.Obj("displayName", "On call", "type", "email", "enabled", true, "verificationStatus", "VERIFIED", "labels", world.Obj("email_address", "oncall@example.com"))
		},
	},
	{
		typ: zoneType, service: "dns", collection: "managedZones", prefix: "zone-", count: func(a address) int { return a.scaled(10, 4) },
		body: func(a address) world.Object {
			o := world.Obj("kind", "dns#managedZone", "id", a.id(), "dnsName", a.name()+".example.com.", "creationTime", a.created(), "labels", a.labels(), "description", "")
			if a.i%4 == 3 {
				return append(o, world.Obj("visibility", "private", "privateVisibilityConfig", world.Obj("kind", "dns#managedZonePrivateVisibilityConfig",
					"networks", world.Items(world.Obj("kind", "dns#managedZonePrivateVisibilityConfigNetwork", "networkUrl", a.ref(networkType, 0)))))...)
			}
			o = append(o, world.Obj("visibility", "public")...)
			switch {
			case !a.violates("gcp-dnssec"):
				return append(o, world.Obj("dnssecConfig", world.Obj("kind", "dns#managedZoneDnsSecConfig", "state", "on", "defaultKeySpecs", world.Items(world.Obj("kind", "dns#dnsKeySpec", "keyType", "keySigning", "algorithm", "rsasha256", "keyLength", 2048))))...)
			case a.i%2 == 0:
				return append(o, world.Obj("dnssecConfig", world.Obj("kind", "dns#managedZoneDnsSecConfig", "state", "off"))...)
			}
			return o
		},
	},
	{
		typ: dnsPolicyType, service: "dns", collection: "policies", prefix: "dns-", count: two,
		body: func(a address) world.Object {
			// The first policy logs the queries of its networks; the second does not, and has the
			// networks that violate the rule.
			var networks []any
			for i := range a.networks() {
				if a.peer(networkType, i).violates("gcp-dns-logging") == (a.i == 1) {
					networks = append(networks, world.Obj("kind", "dns#policyNetwork", "networkUrl", a.ref(networkType, i)))
				}
			}
			return world.Obj("kind", "dns#policy", "id", a.id(), "enableLogging", a.i == 0, "enableInboundForwarding", false, "description", "What networks ask", "networks", networks)
		},
	},
}
