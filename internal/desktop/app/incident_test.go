package app_test

import (
	"fmt"
	"testing"

	"vigil/internal/desktop"
	"vigil/internal/sim/directory"
	"vigil/internal/sim/estate"
	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/vcenter"
)

// A step injects or removes a fault and has the status that must follow.
type step struct {
	name      string
	do        func(*fixture)
	kind      desktop.Kind
	component string // name of the component
	part      string // a part, or the connection server whose view it is; empty for the component itself
	want      string
}

// begin and end return functions that inject and remove a fault.
func begin(name string) func(*fixture) {
	return func(w *fixture) {
		if err := w.estate.Begin(name); err != nil {
			w.Fatal(err)
		}
	}
}

func end(name string) func(*fixture) {
	return func(w *fixture) {
		if err := w.estate.End(name); err != nil {
			w.Fatal(err)
		}
	}
}

func noEffect(*fixture) {}

const (
	self = "cs01.corp.example"
	peer = "cs02.corp.example"
)

func TestEveryStatusIsReachedByInjectingFaults(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small(), join: true, estate: func(o *estate.Options) { o.Events = 100 }})
	for _, s := range []step{
		{"a healthy domain", noEffect, desktop.KindDomain, "lab.example", self, "FULLY_ACCESSIBLE"},
		{"a domain without controllers", begin("domain-down"), desktop.KindDomain, "lab.example", self, "UNCONTACTABLE"},
		{"it recovers", end("domain-down"), desktop.KindDomain, "lab.example", self, "FULLY_ACCESSIBLE"},
		{"a domain that refuses binds", begin("domain-refuses-binds"), desktop.KindDomain, "lab.example", self, "CANNOT_BIND"},
		{"it recovers", end("domain-refuses-binds"), desktop.KindDomain, "lab.example", self, "FULLY_ACCESSIBLE"},
		{"a peer has a different view", func(w *fixture) { w.estate.Peers[0].OverrideView(w.domain("lab.example"), "CANNOT_BIND") },
			desktop.KindDomain, "lab.example", peer, "CANNOT_BIND"},

		{"a healthy server", noEffect, desktop.KindConnectionServer, peer, "", "OK"},
		{"its replication", noEffect, desktop.KindConnectionServer, peer, "replication " + self, "OK"},
		{"its secure gateway", noEffect, desktop.KindConnectionServer, peer, "service BLAST_SECURE_GATEWAY", "UP"},
		{"a server is down", begin("server-down"), desktop.KindConnectionServer, peer, "", "NOT_RESPONDING"},
		{"replication to it fails", noEffect, desktop.KindConnectionServer, self, "replication " + peer, "ERROR"},
		{"its view of a domain is unknown", noEffect, desktop.KindDomain, "corp.example", peer, "UNKNOWN"},
		{"its view of a SAML provider is unknown", noEffect, desktop.KindSAMLAuthenticator, "Corporate sign-on", peer, "UNKNOWN"},
		{"its view of the virtual center is unknown", noEffect, desktop.KindVirtualCenter, "vc1.corp.example", peer, "UNKNOWN"},
		{"it recovers", end("server-down"), desktop.KindConnectionServer, peer, "", "OK"},
		{"a server complains", begin("server-complains"), desktop.KindConnectionServer, peer, "", "ERROR"},
		{"it recovers", end("server-complains"), desktop.KindConnectionServer, peer, "", "OK"},
		{"a server lags", begin("server-lags"), desktop.KindConnectionServer, self, "replication " + peer, "ERROR"},
		{"it recovers", end("server-lags"), desktop.KindConnectionServer, self, "replication " + peer, "OK"},
		{"a secure gateway is down", begin("secure-gateway-down"), desktop.KindConnectionServer, peer, "service BLAST_SECURE_GATEWAY", "DOWN"},
		{"it recovers", end("secure-gateway-down"), desktop.KindConnectionServer, peer, "service BLAST_SECURE_GATEWAY", "UP"},

		{"a healthy gateway", noEffect, desktop.KindGateway, "gw1.corp.example", "", "OK"},
		{"a gateway with a problem", begin("gateway-problem"), desktop.KindGateway, "gw1.corp.example", "", "PROBLEM"},
		{"it recovers", end("gateway-problem"), desktop.KindGateway, "gw1.corp.example", "", "OK"},
		{"a silent gateway", begin("gateway-silent"), desktop.KindGateway, "gw1.corp.example", "", "STALE"},
		{"it recovers", end("gateway-silent"), desktop.KindGateway, "gw1.corp.example", "", "OK"},

		{"a healthy farm", noEffect, desktop.KindFarm, "farm-01", "", "OK"},
		{"a farm that fails", begin("farm-fails"), desktop.KindFarm, "farm-01", "", "ERROR"},
		{"its servers", noEffect, desktop.KindRDSServer, "rds001.corp.example", "", "ERROR"},
		{"it recovers", end("farm-fails"), desktop.KindFarm, "farm-01", "", "OK"},
		{"a farm that drains", begin("farm-drains"), desktop.KindFarm, "farm-01", "", "WARNING"},
		{"its servers", noEffect, desktop.KindRDSServer, "rds001.corp.example", "", "WARNING"},
		{"it recovers", end("farm-drains"), desktop.KindFarm, "farm-01", "", "OK"},
		{"a full farm", begin("farm-full"), desktop.KindRDSServer, "rds001.corp.example", "", "WARNING"},
		{"it recovers", end("farm-full"), desktop.KindRDSServer, "rds001.corp.example", "", "OK"},
		{"a silent farm", begin("farm-silent"), desktop.KindRDSServer, "rds001.corp.example", "state", "AGENT_UNREACHABLE"},
		{"it recovers", end("farm-silent"), desktop.KindRDSServer, "rds001.corp.example", "state", "AVAILABLE"},

		{"a healthy provider", noEffect, desktop.KindSAMLAuthenticator, "Corporate sign-on", self, "OK"},
		{"a provider whose metadata end soon", begin("saml-ending"), desktop.KindSAMLAuthenticator, "Corporate sign-on", self, "WARN"},
		{"it recovers", end("saml-ending"), desktop.KindSAMLAuthenticator, "Corporate sign-on", self, "OK"},
		{"a provider whose metadata have expired", begin("saml-expired"), desktop.KindSAMLAuthenticator, "Corporate sign-on", self, "ERROR"},
		{"it recovers", end("saml-expired"), desktop.KindSAMLAuthenticator, "Corporate sign-on", self, "OK"},
		{"a provider whose metadata were tampered with", begin("saml-tampered"), desktop.KindSAMLAuthenticator, "Corporate sign-on", self, "ERROR"},
		{"it recovers", end("saml-tampered"), desktop.KindSAMLAuthenticator, "Corporate sign-on", self, "OK"},

		{"a healthy pod", noEffect, desktop.KindPod, "pod-1", "cs1.pod1.example", "ONLINE"},
		{"a pod that is down", begin("pod-down"), desktop.KindPod, "pod-1", "cs1.pod1.example", "OFFLINE"},
		{"it recovers", end("pod-down"), desktop.KindPod, "pod-1", "cs1.pod1.example", "ONLINE"},

		{"a healthy connector", noEffect, desktop.KindSSOConnector, "Corporate logon", "", "OK"},
		{"a weak template", begin("sso-template-weak"), desktop.KindSSOConnector, "Corporate logon", "", "WARN"},
		{"it recovers", end("sso-template-weak"), desktop.KindSSOConnector, "Corporate logon", "", "OK"},
		{"a missing template", begin("sso-template-gone"), desktop.KindSSOConnector, "Corporate logon", "", "ERROR"},
		{"it recovers", end("sso-template-gone"), desktop.KindSSOConnector, "Corporate logon", "", "OK"},
		{"an enrollment server is down", begin("enrollment-server-down"), desktop.KindSSOConnector, "Corporate logon", "", "WARN"},
		{"it recovers", end("enrollment-server-down"), desktop.KindSSOConnector, "Corporate logon", "", "OK"},

		{"a healthy composer", noEffect, desktop.KindComposer, "composer1.corp.example", self, "OK"},
		{"a composer that is down", begin("composer-down"), desktop.KindComposer, "composer1.corp.example", self, "ERROR"},
		{"it recovers", end("composer-down"), desktop.KindComposer, "composer1.corp.example", self, "OK"},
		{"a composer with an untrusted certificate", begin("composer-untrusted"), desktop.KindComposer, "composer1.corp.example", self, "CERT_ERROR"},
		{"it recovers", end("composer-untrusted"), desktop.KindComposer, "composer1.corp.example", self, "OK"},

		{"a healthy virtual center", noEffect, desktop.KindVirtualCenter, "vc1.corp.example", self, "OK"},
		{"a virtual center that is down", begin("center-down"), desktop.KindVirtualCenter, "vc1.corp.example", self, "DOWN"},
		{"it recovers", end("center-down"), desktop.KindVirtualCenter, "vc1.corp.example", self, "OK"},
		{"a virtual center that denies", begin("center-denies"), desktop.KindVirtualCenter, "vc1.corp.example", self, "CANNOT_LOGIN"},
		{"it recovers", end("center-denies"), desktop.KindVirtualCenter, "vc1.corp.example", self, "OK"},

		{"a healthy event database", noEffect, desktop.KindEventDatabase, "127.0.0.1", "", "CONNECTED"},
		{"an event database that is down", begin("event-database-down"), desktop.KindEventDatabase, "127.0.0.1", "", "DISCONNECTED"},
		{"it recovers", end("event-database-down"), desktop.KindEventDatabase, "127.0.0.1", "", "CONNECTED"},
	} {
		t.Run(s.name, func(t *testing.T) {
			w.T = t
			s.do(w)
			w.status(s.kind, s.component, s.part, s.want)
		})
	}
	w.T = t
}

// domain returns the id of a domain.
func (f *fixture) domain(name string) desktop.ID {
	for _, d := range f.app.Board().Inventory().Domains {
		if d.DNSName == name {
			return d.ID
		}
	}
	f.Fatalf("there is no domain %s", name)
	return ""
}

func TestHostsAndDatastoresOfAVirtualCenter(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: estate.Small()})
	center := w.estate.Centers[0]
	check := func(what string, condition func(desktop.VirtualCenterMonitor) bool) {
		t.Helper()
		w.until(what, func() bool {
			return condition(w.record(desktop.KindVirtualCenter, "vc1.corp.example").(desktop.VirtualCenterMonitor))
		})
	}
	count := func(m desktop.VirtualCenterMonitor, s desktop.HostStatus) (n int) {
		for _, h := range m.Hosts {
			if h.Status == s {
				n++
			}
		}
		return n
	}
	all := center.Hosts()
	check("all hosts are connected", func(m desktop.VirtualCenterMonitor) bool { return count(m, desktop.HostConnected) == all })
	for state, status := range map[vcenter.HostState]desktop.HostStatus{
		vcenter.NotResponding: desktop.HostNotResponding,
		vcenter.Disconnected:  desktop.HostDisconnected,
	} {
		center.SetHost(0, state)
		check(string(state), func(m desktop.VirtualCenterMonitor) bool { return count(m, status) == 1 })
	}
	center.SetHost(0, vcenter.Connected)
	check("all hosts are connected again", func(m desktop.VirtualCenterMonitor) bool { return count(m, desktop.HostConnected) == all })
	for _, accessible := range []bool{false, true} {
		center.SetDatastore(0, accessible)
		want := 1
		if accessible {
			want = 0
		}
		check(fmt.Sprintf("%d datastores are not accessible", want), func(m desktop.VirtualCenterMonitor) bool {
			n := 0
			for _, d := range m.Datastores {
				if d.Status == desktop.DatastoreNotAccessible {
					n++
				}
			}
			return n == want
		})
	}
}

func TestEveryStateOfAnAgent(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), join: true})
	server := w.estate.RDSServers[0]
	for _, state := range []desktop.RDSState{
		desktop.RDSAgentConfigError, desktop.RDSProvisioning, desktop.RDSProvisioningError, desktop.RDSCustomizing,
		desktop.RDSDeleting, desktop.RDSMaintenance, desktop.RDSError, desktop.RDSProvisioned, desktop.RDSConnected,
		desktop.RDSDisconnected, desktop.RDSStartupInProgress, desktop.RDSAgentDisabled, desktop.RDSInvalidIP,
		desktop.RDSNeedReboot, desktop.RDSProtocolFailure, desktop.RDSDomainFailure, desktop.RDSDrainMode,
		desktop.RDSDrainUntilRestart, desktop.RDSAlreadyUsed, desktop.RDSInProgress, desktop.RDSValidating,
		desktop.RDSUnknown, desktop.RDSAvailable,
	} {
		server.SetState(state)
		w.status(desktop.KindRDSServer, server.Name, "state", string(state))
	}
}

func TestLoadPreferences(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny(), join: true})
	server := w.estate.RDSServers[0]
	for _, tt := range []struct {
		load *int
		want desktop.LoadPreference
	}{{new(5), "LIGHT"}, {new(60), "NORMAL"}, {new(90), "HEAVY"}, {new(100), "BLOCK"}, {nil, "UNKNOWN"}} {
		if tt.load == nil {
			server.HideLoad()
		} else {
			server.SetLoad(tt.load)
		}
		w.until(fmt.Sprintf("the preference is %s", tt.want), func() bool {
			return w.record(desktop.KindRDSServer, server.Name).(desktop.RDSServerMonitor).LoadPreference == tt.want
		})
	}
}

func TestMachinesThatNeverReported(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	w.status(desktop.KindGateway, "gw1.corp.example", "", "NOT_CONTACTED")
	w.status(desktop.KindRDSServer, "rds001.corp.example", "state", "WAIT_FOR_AGENT")
}

func TestHangingDomainDelaysNothingElse(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	w.status(desktop.KindDomain, "lab.example", self, "FULLY_ACCESSIBLE")
	w.estate.Domains[2].Break(directory.Hung) // lab.example
	for range 3 {
		w.estate.Pods[0].Listener().Set(flakylistener.Down)
		w.status(desktop.KindPod, "pod-1", "cs1.pod1.example", "OFFLINE")
		w.estate.Pods[0].Listener().Set(flakylistener.Up)
		w.status(desktop.KindPod, "pod-1", "cs1.pod1.example", "ONLINE")
	}
	w.status(desktop.KindDomain, "lab.example", self, "UNCONTACTABLE")
}
