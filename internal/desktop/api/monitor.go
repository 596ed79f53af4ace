package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"vigil/internal/desktop"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// lists are the monitor lists.
var lists = []struct {
	path, operation string
	kind            desktop.Kind
	single          string // the operation that reads one record; empty if there is none
}{
	{"/rest/monitor/ad-domains", "listADDomainMonitors", desktop.KindDomain, "getADDomainMonitor"},
	{"/rest/monitor/connection-servers", "listConnectionServerMonitors", desktop.KindConnectionServer, "getConnectionServerMonitor"},
	{"/rest/monitor/event-database", "getEventDatabaseMonitor", desktop.KindEventDatabase, ""},
	{"/rest/monitor/farms", "listFarmMonitors", desktop.KindFarm, "getFarmMonitor"},
	{"/rest/monitor/gateways", "listGatewayMonitors", desktop.KindGateway, "getGatewayMonitor"},
	{"/rest/monitor/rds-servers", "listRDSServerMonitors", desktop.KindRDSServer, "getRDSServerMonitor"},
	{"/rest/monitor/saml-authenticators", "listSAMLAuthenticatorMonitors", desktop.KindSAMLAuthenticator, "getSAMLAuthenticatorMonitor"},
	{"/rest/monitor/v1/pods", "listPodMonitors", desktop.KindPod, "getPodMonitor"},
	{"/rest/monitor/v1/true-sso", "listTrueSSOMonitorInfos", desktop.KindSSOConnector, "getTrueSSOMonitorInfo"},
	{"/rest/monitor/desktop-composers", "listDesktopComposerMonitors", desktop.KindComposer, "getDesktopComposerMonitor"},
	{"/rest/monitor/view-composers", "listViewComposerMonitors", desktop.KindComposer, ""}, // the path that existing clients use
	{"/rest/monitor/virtual-centers", "listVirtualCenterMonitors", desktop.KindVirtualCenter, "getVirtualCenterMonitor"},
}

func (a *API) monitorRoutes() []httpapi.Route {
	limits := httpapi.Limits{Rate: RateMonitor}
	var routes []httpapi.Route
	for _, l := range lists {
		routes = append(routes, httpapi.Route{
			Pattern: "GET " + l.path, Need: viewer, Operation: l.operation, Quiet: true, Limits: limits,
			Handler: a.list(l.kind),
		})
		if l.single != "" {
			routes = append(routes, httpapi.Route{
				Pattern: "GET " + l.path + "/{id}", Need: viewer, Operation: l.single, Quiet: true, Limits: limits,
				Handler: a.record(l.kind),
			})
		}
	}
	return append(routes,
		httpapi.Route{Pattern: "GET /rest/monitor/overview", Need: viewer, Operation: "getOverview", Quiet: true, Limits: limits,
			Handler: document(func() desktop.Document { return a.Board.Overview() })},
		httpapi.Route{Pattern: "GET /rest/monitor/pulse", Need: viewer, Operation: "getPulse", Quiet: true, Limits: limits,
			Handler: a.pulse},
		httpapi.Route{Pattern: "GET /rest/monitor/pulse/stream", Need: viewer, Operation: "streamPulse", Quiet: true, Events: true,
			Limits: httpapi.StreamLimits, Handler: a.streamPulse()},
		httpapi.Route{Pattern: "GET /rest/monitor/samples", Need: viewer, Operation: "listSamples", Handler: httpapi.JSON(a.listSamples)},
		httpapi.Route{Pattern: "GET /rest/monitor/history", Need: viewer, Operation: "listStatusChanges", Handler: httpapi.JSON(a.listChanges)},
		httpapi.Route{Pattern: "GET /rest/monitor/history/groups", Need: viewer, Operation: "listStatusChangeGroups", Handler: httpapi.JSON(a.listChangeGroups)},
	)
}

// jsonType is the shared Content-Type value: allocating it per request is
// measurable.
var jsonType = []string{"application/json"}

// list serves the board's encoded list, or only the records that match a
// filter.
func (a *API) list(k desktop.Kind) httpapi.Handler {
	list := document(func() desktop.Document { return a.Board.Document(k) })
	if k != desktop.KindRDSServer {
		return list
	}
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		var q rdsQuery
		if err := httpapi.Bind(r, &q); err != nil {
			return nil, err
		}
		if q == (rdsQuery{}) {
			return list(w, r)
		}
		return httpapi.Reply{Header: http.Header{"Content-Type": jsonType}, Body: a.Board.Matching(k, q.match)}, nil
	}
}

// Header values of compressed documents, shared like jsonType.
var (
	gzipEncoding = []string{"gzip"}
	varyEncoding = []string{"Accept-Encoding"}
)

// document serves an encoded document of the board, compressed if the caller
// accepts gzip. The two encodings have different entity tags; either matches in
// If-None-Match.
func document(get func() desktop.Document) httpapi.Handler {
	return func(_ http.ResponseWriter, r *http.Request) (any, error) {
		d := get()
		gzipTag := strings.TrimSuffix(d.ETag, `"`) + `-gzip"`
		h := http.Header{"Content-Type": jsonType, "Etag": {d.ETag}, "Vary": varyEncoding}
		if httpapi.NotModified(r, d.ETag, gzipTag) {
			return httpapi.Reply{Status: http.StatusNotModified, Header: h}, nil
		}
		if httpapi.AcceptsGzip(r) {
			if compressed := d.Gzip(); compressed != nil {
				h["Etag"], h["Content-Encoding"] = []string{gzipTag}, gzipEncoding
				return httpapi.Reply{Header: h, Body: compressed}, nil
			}
		}
		return httpapi.Reply{Header: h, Body: d.JSON}, nil
	}
}

// rdsQuery selects RDS servers; empty fields match all.
type rdsQuery struct {
	Farm   string `query:"farm_id"`
	State  string `query:"state"`
	Status string `query:"status"`
	Text   string `query:"q"`
}

var rdsStatuses = []desktop.RDSStatus{desktop.RDSStatusOK, desktop.RDSStatusWarning, desktop.RDSStatusError, desktop.RDSStatusDisabled}

// Validate checks the filter. An unknown state or status is an error, because
// it would silently match nothing.
func (q *rdsQuery) Validate() error {
	q.State, q.Status, q.Text = strings.ToUpper(q.State), strings.ToUpper(q.Status), strings.ToLower(q.Text)
	for state := range strings.SplitSeq(q.State, ",") {
		if q.State != "" && !desktop.RDSState(state).Known() {
			return fault.Field("state", "is not a state of an RDS server: %s", state)
		}
	}
	for status := range strings.SplitSeq(q.Status, ",") {
		if q.Status != "" && !slices.Contains(rdsStatuses, desktop.RDSStatus(status)) {
			return fault.Field("status", "must be one of OK, WARNING, ERROR, DISABLED")
		}
	}
	return nil
}

func (q rdsQuery) match(r desktop.Record) bool {
	m, ok := r.(desktop.RDSServerMonitor)
	return ok && listContains(q.Farm, string(m.FarmID)) && listContains(q.State, string(m.Details.State)) && listContains(q.Status, string(m.Status)) &&
		(strings.Contains(strings.ToLower(m.Name), q.Text) || strings.Contains(strings.ToLower(m.FarmName), q.Text))
}

// listContains reports whether a value is in a comma-separated list; an empty list
// contains every value.
func listContains(list, value string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), value)
}

// record serves one encoded record of the board.
func (a *API) record(k desktop.Kind) httpapi.Handler {
	return func(_ http.ResponseWriter, r *http.Request) (any, error) {
		id := desktop.ID(r.PathValue("id"))
		if k == desktop.KindDomain { // its public id is the SID
			id = a.Board.ComponentID(id)
		}
		_, encoded, ok := a.Board.Record(k, id)
		if !ok {
			return nil, fault.New(fault.NotFound, "there is no such component")
		}
		return httpapi.Reply{Header: http.Header{"Content-Type": jsonType}, Body: encoded}, nil
	}
}

func (a *API) listDomains(context.Context, httpapi.None) ([]desktop.DomainInfo, error) {
	return a.Board.Domains(), nil
}

func (a *API) listVirtualCenters(context.Context, httpapi.None) ([]desktop.VirtualCenterInfo, error) {
	return a.Board.VirtualCenters(), nil
}

func (a *API) peerHealth(ctx context.Context, _ httpapi.None) (desktop.PeerHealth, error) {
	return a.Health(ctx)
}
