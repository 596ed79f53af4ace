package vcenter

import (
	"encoding/xml"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
)

// answering returns a client of a server that always answers with a status and
// a body.
func answering(t *testing.T, status int, body string) *soapClient {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return &soapClient{address: server.URL, http: server.Client(), cookies: map[string]string{}}
}

// envelope returns a response as vCenter Server writes it.
func envelope(body string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/" xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"
 xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<soapenv:Body>` + body + `</soapenv:Body></soapenv:Envelope>`
}

func TestMalformedResponsesAreErrors(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"a page of a proxy":     {200, "<html><body>Service unavailable</body></html>"},
		"an unavailable server": {503, "the service is starting"},
		"a redirect":            {302, ""},
		"no body":               {200, ""},
		"no response":           {200, envelope("")},
		"no value":              {200, envelope(`<RetrieveServiceContentResponse xmlns="urn:vim25"/>`)},
		"a truncated response":  {200, envelope(`<RetrieveServiceContentResponse xmlns="urn:vim25"><returnval>`)[:350]},
		"unclosed elements":     {200, envelope(strings.Repeat("<a>", 100_000))},
		"not XML":               {200, "\x00\x01\x02"},
		"not a number": {200, envelope(`<RetrievePropertiesExResponse xmlns="urn:vim25"><returnval><objects><obj type="Datastore">d</obj>
			<propSet><name>summary</name><val xsi:type="DatastoreSummary"><capacity>much</capacity></val></propSet></objects></returnval>
			</RetrievePropertiesExResponse>`)},
	} {
		t.Run(name, func(t *testing.T) {
			c := answering(t, answer.status, answer.body)
			if name == "not a number" {
				if objects, err := c.retrieveProperties(t.Context(), ref{}, properties); err == nil {
					t.Errorf("objects = %+v, want an error", objects)
				}
				return
			}
			if content, err := c.serviceContent(t.Context()); err == nil || faultType(err) != "" {
				t.Errorf("content = %+v, error %v; want an error that is no fault", content, err)
			}
		})
	}
}

// TestConnectionsAreReused makes several calls, which all fail with a fault. The bodies continue after the end of the
// XML document: the connection is reused only if the client reads that rest.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(500)
		_, _ = w.Write([]byte(envelope(`<soapenv:Fault><faultstring>x</faultstring></soapenv:Fault>`)))
		_ = http.NewResponseController(w).Flush()
		_, _ = w.Write([]byte("\n")) // after the end of the document
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	c := &soapClient{address: server.URL, http: server.Client(), cookies: map[string]string{}}
	for range 5 {
		if _, err := c.serviceContent(t.Context()); err == nil {
			t.Fatal("no fault")
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 5 calls, want 1", n)
	}
}

func TestFaultsAreNamedByTheirType(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>Cannot complete login.</faultstring>
			<detail><InvalidLoginFault xmlns="urn:vim25" xsi:type="InvalidLogin"></InvalidLoginFault></detail></soapenv:Fault>`: "InvalidLogin",
		`<soapenv:Fault><faultstring>x</faultstring><detail><NotAuthenticatedFault xmlns="urn:vim25"/></detail></soapenv:Fault>`:         "NotAuthenticated",
		`<soapenv:Fault><faultstring>x</faultstring><detail><f xmlns:v="urn:vim25" xsi:type="v:NoPermission"/></detail></soapenv:Fault>`: "NoPermission",
	} {
		_, err := answering(t, 500, envelope(body)).serviceContent(t.Context())
		if got := faultType(err); got != want {
			t.Errorf("fault = %q (%v), want %s", got, err, want)
		}
	}
	_, err := answering(t, 500, envelope(`<soapenv:Fault><faultstring>broken</faultstring></soapenv:Fault>`)).serviceContent(t.Context())
	if f, ok := errors.AsType[*soapFault](err); !ok || f.Message != "broken" {
		t.Errorf("a fault without detail = %v", err)
	}
}

// TestObjectsOfVCenter reads objects as vCenter Server 8 writes them: typed
// values, a property that may not be read, and a reference that has both
// attributes named type.
func TestObjectsOfVCenter(t *testing.T) {
	t.Parallel()
	const objects = `<RetrievePropertiesExResponse xmlns="urn:vim25"><returnval>
<objects><obj type="ClusterComputeResource">domain-c8</obj><propSet><name>name</name><val xsi:type="xsd:string">C1</val></propSet></objects>
<objects><obj type="HostSystem">host-12</obj>
<propSet><name>name</name><val xsi:type="xsd:string">esx1.example</val></propSet>
<propSet><name>parent</name><val type="ClusterComputeResource" xsi:type="ManagedObjectReference">domain-c8</val></propSet>
<propSet><name>runtime.connectionState</name><val xsi:type="HostSystemConnectionState">notResponding</val></propSet>
<propSet><name>config.sharedPassthruGpuTypes</name><val xsi:type="ArrayOfString"><string>grid_m60-8q</string><string>grid_m60-4q</string></val></propSet>
<propSet><name>summary.hardware</name><val xsi:type="HostHardwareSummary"><vendor>V</vendor><memorySize>4294430720</memorySize><cpuMhz>2294</cpuMhz>
<numCpuPkgs>2</numCpuPkgs><numCpuCores>20</numCpuCores><numCpuThreads>40</numCpuThreads></val></propSet>
</objects>
<objects><obj type="VirtualMachine">vm-1</obj><propSet><name>config.template</name><val xsi:type="xsd:boolean">true</val></propSet></objects>
<objects><obj type="VirtualMachine">vm-2</obj><propSet><name>config.template</name><val xsi:type="xsd:boolean">false</val></propSet></objects>
%s</returnval></RetrievePropertiesExResponse>`
	reading, err := describeBody(t, strings.Replace(objects, "%s", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	h := reading.Hosts[0]
	if h.Details.Name != "esx1.example" || h.Details.ClusterName != "C1" || h.Status != desktop.HostNotResponding || *h.CPUCoreCount != 20 ||
		*h.CPUMHz != 2294 || *h.MemorySizeMB != 4095 || len(h.Details.VGPUTypes) != 2 || reading.DesktopsCount != 1 {
		t.Errorf("reading = %+v", reading)
	}
	_, err = describeBody(t, strings.Replace(objects, "%s", `<objects><obj type="Folder">group-d1</obj><missingSet><path>name</path><fault>
		<fault xsi:type="NoPermission"><privilegeId>System.View</privilegeId></fault><localizedMessage>denied</localizedMessage></fault></missingSet></objects>`, 1))
	if faultType(err) != "NoPermission" {
		t.Errorf("a property that may not be read: %v", err)
	}
}

func describeBody(t *testing.T, body string) (desktop.VirtualCenterReading, error) {
	t.Helper()
	content, err := answering(t, 200, envelope(body)).retrieveProperties(t.Context(), ref{}, properties)
	if err != nil {
		return desktop.VirtualCenterReading{}, err
	}
	return describe(content)
}

// TestDatastoresHaveDistinctPaths reads two datastores of the same name with an account
// that may read none, one or both of their folders.
func TestDatastoresHaveDistinctPaths(t *testing.T) {
	t.Parallel()
	object := func(kind, id, name, parent string) objectContent {
		return objectContent{Object: ref{kind, id}, PropSet: []property{
			{"name", value{Text: name}},
			{"parent", value{Text: parent, Attr: []xml.Attr{{Name: xml.Name{Local: "type"}, Value: "Folder"}}}},
			{"summary", value{Name: name}},
		}}
	}
	a, b := object("Datastore", "datastore-11", "local", "group-s1"), object("Datastore", "datastore-12", "local", "group-s2")
	other := object("Datastore", "datastore-13", "other", "group-s2")
	for name, tt := range map[string]struct {
		content []objectContent
		want    []string
	}{
		"no folder":    {[]objectContent{b, a, other}, []string{"/local (datastore-11)", "/local (datastore-12)", "/other"}},
		"one folder":   {[]objectContent{b, a, other, object("Folder", "group-s2", "datastore", "group-d")}, []string{"/datastore/local", "/datastore/other", "/local"}},
		"both folders": {[]objectContent{b, a, object("Folder", "group-s1", "A", "group-d"), object("Folder", "group-s2", "B", "group-d")}, []string{"/A/local", "/B/local"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 10 { // the order of a map is random
				r, err := describe(tt.content)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, d := range r.Datastores {
					got = append(got, d.Details.Path)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Fatalf("paths (-want +got):\n%s", diff)
				}
			}
		})
	}
}
