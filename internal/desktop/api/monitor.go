package api

import (
	"context"
	"net/http"

	"vigil/internal/desktop"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// lists are the monitor lists: path, operation, kind, and the operation that
// reads one record where records have ids of their own.
var lists = []struct {
	path, operation string
	kind            desktop.Kind
	single          string
}{
	{"/rest/monitor/ad-domains", "listADDomainMonitors", desktop.KindDomain, ""},
	{"/rest/monitor/connection-servers", "listConnectionServerMonitors", desktop.KindConnectionServer, "getConnectionServerMonitor"},
	{"/rest/monitor/event-database", "getEventDatabaseMonitor", desktop.KindEventDatabase, ""},
	{"/rest/monitor/farms", "listFarmMonitors", desktop.KindFarm, "getFarmMonitor"},
	{"/rest/monitor/gateways", "listGatewayMonitors", desktop.KindGateway, "getGatewayMonitor"},
	{"/rest/monitor/rds-servers", "listRDSServerMonitors", desktop.KindRDSServer, "getRDSServerMonitor"},
	{"/rest/monitor/saml-authenticators", "listSAMLAuthenticatorMonitors", desktop.KindSAMLAuthenticator, "getSAMLAuthenticatorMonitor"},
	{"/rest/monitor/v1/pods", "listPodMonitors", desktop.KindPod, "getPodMonitor"},
	{"/rest/monitor/v1/true-sso", "listTrueSSOMonitorInfos", desktop.KindSSOConnector, "getTrueSSOMonitorInfo"},
	{"/rest/monitor/desktop-composers", "listDesktopComposerMonitors", desktop.KindComposer, ""},
	{"/rest/monitor/view-composers", "listViewComposerMonitors", desktop.KindComposer, ""},
	{"/rest/monitor/virtual-centers", "listVirtualCenterMonitors", desktop.KindVirtualCenter, "getVirtualCenterMonitor"},
}

func (a *API) monitorRoutes() []httpapi.Route {
	limits := httpapi.Limits{Rate: RateMonitor}
	var routes []httpapi.Route
	for _, l := range lists {
		routes = append(routes, httpapi.Route{
			Pattern: "GET " + l.path, Need: viewer, Operation: l.operation, Quiet: true, Limits: limits,
			Handler: a.document(l.kind),
		})
		if l.single != "" {
			routes = append(routes, httpapi.Route{
				Pattern: "GET " + l.path + "/{id}", Need: viewer, Operation: l.single, Quiet: true, Limits: limits,
				Handler: a.record(l.kind),
			})
		}
	}
	return append(routes, httpapi.Route{
		Pattern: "GET /rest/monitor/history", Need: viewer, Operation: "listStatusChanges", Handler: httpapi.JSON(a.listChanges),
	})
}

// The header values of every document, made once: making them anew for each
// request shows in measurements.
var jsonType = []string{"application/json"}

// document serves a list as the board has it encoded.
func (a *API) document(k desktop.Kind) httpapi.Handler {
	return func(_ http.ResponseWriter, r *http.Request) (any, error) {
		d := a.Board.Document(k)
		h := http.Header{"Content-Type": jsonType, "Etag": {d.ETag}}
		if r.Header.Get("If-None-Match") == d.ETag {
			return httpapi.Reply{Status: http.StatusNotModified, Header: h}, nil
		}
		return httpapi.Reply{Header: h, Body: d.JSON}, nil
	}
}

// record serves one record as the board has it encoded.
func (a *API) record(k desktop.Kind) httpapi.Handler {
	return func(_ http.ResponseWriter, r *http.Request) (any, error) {
		_, encoded, ok := a.Board.Record(k, desktop.ID(r.PathValue("id")))
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
