package derive

import (
	"cmp"
	"math"
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
		named := map[string]bool{}
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
				switch {
				case kind == "iamMember":
					member = name
				case kind == "specialGroup" && strings.HasPrefix(name, "all"):
					member = name // IAM policies have the member allAuthenticatedUsers too, but not projectOwners
				case kind == "user" && strings.HasSuffix(name, ".gserviceaccount.com"):
					member = "serviceAccount:" + name
				}
				named[member] = true
				grants = append(grants, gcpGrantTo(in, member, role))
			}
		}
		gcpAddEdges(b, grants)
		b.Set("access", all).Flag("allUsers", named["allUsers"]).Flag("allAuthenticatedUsers", named["allAuthenticatedUsers"])
		return nil
	},
}

// gcpControlPlane adds which networks can reach the control plane of a cluster. Newer responses
// have these settings in other members than older ones.
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
		authorized, ipEndpoints := v.Get("masterAuthorizedNetworksConfig"), v.Get("controlPlaneEndpointsConfig.ipEndpointsConfig")
		private, privateNodes := v.Get("privateClusterConfig.enablePrivateEndpoint").Bool(), v.Get("networkConfig.defaultEnablePrivateNodes").Bool()
		if v.Get("privateClusterConfig").Exists() {
			privateNodes = v.Get("privateClusterConfig.enablePrivateNodes").Bool()
		}
		if ipEndpoints.Exists() {
			disabled := ipEndpoints.Get("enabled").Exists() && !ipEndpoints.Get("enabled").Bool()
			private = private || disabled || !ipEndpoints.Get("enablePublicEndpoint").Bool()
			if !authorized.Get("enabled").Bool() {
				authorized = ipEndpoints.Get("authorizedNetworksConfig")
			}
		}
		b.Flag("enablePrivateEndpoint", private).Flag("enablePrivateNodes", privateNodes).Flag("masterAuthorizedNetworksEnabled", authorized.Get("enabled").Bool())
		networks := texts(authorized.Get("cidrBlocks.#.cidrBlock"))
		b.Set("masterAuthorizedNetworks", networks)
		open := predicate.Of(!private, "")
		if authorized.Get("enabled").Bool() {
			open = predicate.And(open, ipset.Admits(networks))
		}
		putAnswer(b, "openToInternet", predicate.Or(open, predicate.Of(gcpOpenDNSEndpoint(v.Get("controlPlaneEndpointsConfig.dnsEndpointConfig")), "")))
		return nil
	},
}

// gcpOpenDNSEndpoint reports whether strangers reach a control plane by its DNS endpoint. IAM
// authorizes each request to the endpoint before the control plane receives it, unless the endpoint
// accepts tokens or certificates of Kubernetes.
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
		usesDefault, seen := false, map[posture.EntityID]bool{}
		for _, pool := range in.Value.Get("nodePools").Array() {
			account := gcpPoolAccount(pool)
			usesDefault = usesDefault || account == "default" || account == naming.DefaultServiceAccount(in.Vars)
			all = append(all, pool.Get("name").String()+" "+account)
			if id := in.Cloud.Ref(in.Vars, gcpRunsAs, account); !seen[id] {
				seen[id] = true
				b.Edge("RUNS_AS", id)
			}
		}
		b.Set("nodePools", all).Flag("nodesUseDefaultServiceAccount", usesDefault)
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

// gcpPushEndpoint adds the URL to which a subscription pushes messages, without its query, which may
// contain a token.
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
