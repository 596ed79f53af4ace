package derive

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/ipset"
	"vigil/internal/posture/resource"
)

const gcpAlertPolicy posture.EntityType = "GCP.Monitoring.AlertPolicy"

// gcpUserMetric matches the log metrics in a condition of an alert policy. PromQL writes the name
// with underscores in place of everything but letters and digits.
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

// gcpWatchers returns the names of the alert policies that notify somebody, by the log metric
// that they watch.
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
		names = append(names[:len(names):len(names)], watchers[name]...)
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

// A gcpChange is a change to alert on, with the terms that a log filter for it must contain. A
// filter on the type of the resource alone covers all of its methods.
type gcpChange struct {
	name     string
	words    []string
	resource string
}

var gcpOwnership = gcpChange{"", []string{"cloudresourcemanager.googleapis.com", "roles/owner"}, ""}

var gcpChanges = []gcpChange{
	{"auditConfig", []string{"SetIamPolicy", "auditConfigDeltas"}, ""},
	{"customRole", []string{"iam.admin.v1.CreateRole", "iam.admin.v1.DeleteRole", "iam.admin.v1.UpdateRole"}, "iam_role"},
	{"firewall", []string{"compute.firewalls.insert", "compute.firewalls.patch", "compute.firewalls.delete"}, "gce_firewall_rule"},
	{"route", []string{"compute.routes.insert", "compute.routes.delete"}, "gce_route"},
	{"network", []string{"compute.networks.insert", "compute.networks.patch", "compute.networks.delete"}, "gce_network"},
	{"storagePermissions", []string{"storage.setIamPermissions"}, ""},
	{"database", []string{"cloudsql.instances.update"}, ""},
}

// countedBy reports whether a log filter selects the change. A filter that negates a term excludes
// events, those of a user or a service for example, and does not count.
func (c gcpChange) countedBy(filter string) bool {
	filter, negated := gcpFilterTerms(filter)
	if negated {
		return false
	}
	if c.resource != "" && strings.Contains(filter, c.resource) && !strings.Contains(filter, "methodName") {
		return true
	}
	return !slices.ContainsFunc(c.words, func(word string) bool { return !strings.Contains(filter, word) })
}

// gcpFilterTerms returns a filter of the Logging query language without its comments, and whether
// it negates a term with NOT, a minus sign, != or !~.
func gcpFilterTerms(filter string) (terms string, negated bool) {
	var kept strings.Builder
	previous := "" // the token before, without quoted texts, which negate nothing
	for _, token := range gcpFilterToken.FindAllString(filter, -1) {
		if strings.HasPrefix(token, "--") {
			continue
		}
		comparison := strings.HasSuffix(previous, "=") || previous == "<" || previous == ">" || previous == ":"
		negated = negated || token == "NOT" || token == "!=" || token == "!~" || token[0] == '-' && !comparison
		kept.WriteString(token)
		if strings.TrimSpace(token) != "" {
			previous = token
		}
	}
	return kept.String(), negated
}

// gcpFilterToken matches the tokens of the Logging query language: comments, quoted texts,
// comparisons, parentheses, white space, and everything else, such as names and numbers.
var gcpFilterToken = regexp.MustCompile(`--[^\n]*|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|!=|!~|=~|<=|>=|[=<>:]|[()]|\s+|[^\s()"'=<>:!]+|!`)

// gcpWatchesOwnership adds whether an alert policy watches changes of owners, by a log metric that
// counts them or by the log itself, and which other changes are watched. It applies to the log
// metrics; the alert policies are the response named alerts.
var gcpWatchesOwnership = resource.Function{
	Properties: []resource.Property{
		{Name: "watchesOwnership", Kind: resource.Flag, Doc: "An alert policy that notifies somebody watches changes of project owners, by a log metric that counts them or by the log itself."},
		{Name: "watchedChanges", Kind: resource.Texts, Doc: "The changes that alert policies that notify somebody watch, by a log metric or by the log itself: auditConfig, customRole, firewall, route, network, storagePermissions, database."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		policies := in.Item.Answers["alerts"].Get("alertPolicies")
		watchers, filters := gcpWatchers(policies), gcpMatchedLogs(policies)
		for _, metric := range in.Value.Get("metrics").Array() {
			if !metric.Get("disabled").Bool() && len(gcpWatchersOf(watchers, metric.Get("name").String())) > 0 {
				filters = append(filters, metric.Get("filter").String())
			}
		}
		watched := func(c gcpChange) bool { return slices.ContainsFunc(filters, c.countedBy) }
		var changes []string
		for _, c := range gcpChanges {
			if watched(c) {
				changes = append(changes, c.name)
			}
		}
		b.Flag("watchesOwnership", watched(gcpOwnership)).Set("watchedChanges", changes)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("watchesOwnership", false) },
}

// gcpRotationDays adds the rotation period of a key in days.
var gcpRotationDays = resource.Function{
	Properties: []resource.Property{{Name: "rotationPeriodDays", Kind: resource.Long, Doc: "The rotation period in days, rounded up; absent when it is not rotated."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		if seconds, err := strconv.ParseFloat(strings.TrimSuffix(in.Value.String(), "s"), 64); err == nil {
			b.Number("rotationPeriodDays", int64(math.Ceil(seconds/86400)))
		}
		return nil
	},
}

// gcpDatasetAccess adds the members that have access to a dataset.
var gcpDatasetAccess = resource.Function{
	Properties: []resource.Property{
		{Name: "access", Kind: resource.Texts, Doc: "Who has access: a role and a member each, such as READER specialGroup:allAuthenticatedUsers."},
		{Name: "allUsers", Kind: resource.Flag, Doc: "Everybody on the internet has access.", Exposed: "lets everybody in"},
		{Name: "allAuthenticatedUsers", Kind: resource.Flag, Doc: "Everybody who has a Google account has access.", Exposed: "lets everybody with an account in"},
	},
	Edges: []resource.Edge{{Label: "GRANTS", To: gcpMembers, Doc: "Who has access, with the role."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var all []string
		var grants []posture.Edge
		public := map[string]bool{}
		for _, access := range in.Value.Get("access").Array() {
			role := access.Get("role").String()
			for _, kind := range []string{"specialGroup", "userByEmail", "groupByEmail", "domain", "iamMember"} {
				name := access.Get(kind).String()
				if name == "" {
					continue
				}
				kind = strings.TrimSuffix(kind, "ByEmail")
				member := kind + ":" + name
				all = append(all, strings.TrimSpace(role+" "+member))
				public[name] = true
				switch {
				case kind == "iamMember", strings.HasPrefix(name, "all"):
					member = name
				case strings.HasSuffix(name, "gserviceaccount.com"):
					member = "serviceAccount:" + name
				}
				grants = append(grants, gcpGrantTo(in, member, role))
			}
		}
		gcpAddEdges(b, grants)
		b.Set("access", all).Flag("allUsers", public["allUsers"]).Flag("allAuthenticatedUsers", public["allAuthenticatedUsers"])
		return nil
	},
}

// gcpControlPlane adds which networks can reach the control plane of a cluster. Newer responses
// have it in another place than older ones.
var gcpControlPlane = resource.Function{
	Properties: []resource.Property{
		{Name: "enablePrivateEndpoint", Kind: resource.Flag, Doc: "Its control plane is reached from its network alone."},
		{Name: "enablePrivateNodes", Kind: resource.Flag, Doc: "Its nodes have no public addresses."},
		{Name: "masterAuthorizedNetworksEnabled", Kind: resource.Flag, Doc: "Only listed networks reach its control plane."},
		{Name: "masterAuthorizedNetworks", Kind: resource.Texts, Doc: "The networks that reach its control plane."},
		{Name: "openToInternet", Kind: resource.Flag, Doc: "The internet at large reaches its control plane: by a public IP endpoint whose authorized networks are off or hold the internet, or by the DNS endpoint with tokens or certificates of Kubernetes.", Exposed: "has a control plane on the internet"},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		v := in.Value
		limited, endpoints := v.Get("masterAuthorizedNetworksConfig"), v.Get("controlPlaneEndpointsConfig.ipEndpointsConfig")
		private, nodes := v.Get("privateClusterConfig.enablePrivateEndpoint").Bool(), v.Get("networkConfig.defaultEnablePrivateNodes").Bool()
		if v.Get("privateClusterConfig").Exists() {
			nodes = v.Get("privateClusterConfig.enablePrivateNodes").Bool()
		}
		if endpoints.Exists() {
			off := endpoints.Get("enabled")
			private = private || !endpoints.Get("enablePublicEndpoint").Bool() || off.Exists() && !off.Bool()
			if !limited.Get("enabled").Bool() {
				limited = endpoints.Get("authorizedNetworksConfig")
			}
		}
		b.Flag("enablePrivateEndpoint", private).Flag("enablePrivateNodes", nodes).Flag("masterAuthorizedNetworksEnabled", limited.Get("enabled").Bool())
		networks := texts(limited.Get("cidrBlocks.#.cidrBlock"))
		b.Set("masterAuthorizedNetworks", networks)
		open := predicate.Of(!private, "")
		if limited.Get("enabled").Bool() {
			open = predicate.And(open, ipset.Admits(networks))
		}
		putAnswer(b, "openToInternet", predicate.Or(open, predicate.Of(gcpOpenDNSEndpoint(v.Get("controlPlaneEndpointsConfig.dnsEndpointConfig")), "")))
		return nil
	},
}

// gcpOpenDNSEndpoint reports whether strangers reach a control plane by its DNS endpoint. It is
// on the internet, but IAM authorizes each request before the control plane receives it, unless
// tokens or certificates of Kubernetes are accepted there.
func gcpOpenDNSEndpoint(endpoint gjson.Result) bool {
	return endpoint.Get("allowExternalTraffic").Bool() && (endpoint.Get("enableK8sTokensViaDns").Bool() || endpoint.Get("enableK8sCertsViaDns").Bool())
}

// gcpDatabaseOpen adds whether the whole internet may connect to a Cloud SQL instance.
var gcpDatabaseOpen = resource.Function{
	Properties: []resource.Property{
		{Name: "openToInternet", Kind: resource.Flag, Doc: "The internet at large may connect: it has a public address, and its authorized networks, taken together, hold the internet.", Exposed: "is open to the internet"},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		ip := in.Value.Get("settings.ipConfiguration")
		putAnswer(b, "openToInternet", predicate.And(predicate.Of(ip.Get("ipv4Enabled").Bool(), ""), ipset.Admits(texts(ip.Get("authorizedNetworks.#.value")))))
		return nil
	},
}

// gcpRunsAs are the types of the identities of workloads.
var gcpRunsAs = resource.EntityTypes{gcpServiceAccount, gcpPrincipal}

// gcpPoolAccount returns the service account of a node pool, "default" for the default account of
// Compute Engine.
func gcpPoolAccount(pool gjson.Result) string {
	return cmp.Or(pool.Get("config.serviceAccount").String(), "default")
}

// gcpClusterNodes adds the node pools of a cluster and their service accounts.
var gcpClusterNodes = resource.Function{
	Properties: []resource.Property{
		{Name: "nodePools", Kind: resource.Texts, Doc: "Its node pools and the service accounts that they run as, such as default-pool default."},
		{Name: "nodesUseDefaultServiceAccount", Kind: resource.Flag, Doc: "A node pool runs as the default service account of Compute Engine."},
	},
	Edges: []resource.Edge{{Label: "RUNS_AS", To: gcpRunsAs, Doc: "The service accounts that its node pools run as."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var all []string
		standard, seen := false, map[posture.EntityID]bool{}
		for _, pool := range in.Value.Get("nodePools").Array() {
			account := gcpPoolAccount(pool)
			standard = standard || account == "default" || account == naming.DefaultServiceAccount(in.Vars)
			all = append(all, pool.Get("name").String()+" "+account)
			if id := in.Cloud.Ref(in.Vars, gcpRunsAs, account); !seen[id] {
				seen[id] = true
				b.Edge("RUNS_AS", id)
			}
		}
		b.Set("nodePools", all).Flag("nodesUseDefaultServiceAccount", standard)
		return nil
	},
}

// gcpNodeAccount adds the service account of the nodes of a pool.
var gcpNodeAccount = resource.Function{
	Properties: []resource.Property{{Name: "serviceAccount", Kind: resource.Text, Doc: "The service account that nodes run as; default for that of Compute Engine."}},
	Edges:      []resource.Edge{{Label: "RUNS_AS", To: gcpRunsAs, Doc: "The service account that nodes run as."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		account := gcpPoolAccount(in.Value)
		b.Text("serviceAccount", account).Edge("RUNS_AS", in.Cloud.Ref(in.Vars, gcpRunsAs, account))
		return nil
	},
}

// gcpPushEndpoint adds the URL to which a subscription pushes messages. The part after the path is
// removed because it may be a token.
var gcpPushEndpoint = resource.Function{
	Properties: []resource.Property{
		{Name: "pushEndpoint", Kind: resource.Text, Doc: "The address that messages are pushed to, without its query; absent when they are pulled."},
		{Name: "pushAuthenticated", Kind: resource.Flag, Doc: "Pushed messages carry an OpenID Connect token; absent when they are pulled."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		if endpoint, _, _ := strings.Cut(in.Value.Get("pushEndpoint").String(), "?"); endpoint != "" {
			b.Text("pushEndpoint", endpoint).Flag("pushAuthenticated", in.Value.Get("oidcToken").Exists())
		}
		return nil
	},
}

// gcpOpenShares adds whether a file server has a share without a list of allowed clients.
var gcpOpenShares = resource.Function{
	Properties: []resource.Property{{Name: "openToNetwork", Kind: resource.Flag, Doc: "Every address of its network may use a share, because the share has no export options."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		b.Flag("openToNetwork", slices.ContainsFunc(in.Value.Array(), func(share gjson.Result) bool { return len(share.Get("nfsExportOptions").Array()) == 0 }))
		return nil
	},
	Absent: func(b *resource.Builder) { b.Flag("openToNetwork", false) },
}
