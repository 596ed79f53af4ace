package estate

import (
	"bytes"
	_ "embed"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"text/template"
)

//go:embed inventory.yaml.tmpl
var inventoryText string

var inventoryTemplate = template.Must(template.New("inventory").Parse(inventoryText))

// The types below are the data of the template.

type inventoryData struct {
	Dir             string
	GatewayInterval string
	AgentInterval   string
	Failures        int
	AdminGroup      string
	ServiceUser     string
	CloneUnit       string
	Template        string
	Issuer          string
	Domains         []domainData
	Self            string
	Peers           []peerData
	EventDatabase   *Database
	Farms           []farmData
	Gateways        []gatewayData
	MetadataURL     string
	Pods            []podData
	Enrollment      []int // ports
	ComposerURL     string
	Centers         []centerData
}

type domainData struct {
	DNS, NetBIOS, Root, Controller string
	Primary                        bool
}

type peerData struct {
	Name, URL     string
	SecureGateway string
}

type farmData struct {
	Name, Type, Source string
	Enabled            bool
	Applications       int
	Servers            []serverData
}

type serverData struct {
	Name    string
	Enabled bool
}

type gatewayData struct {
	Name, Address, Type string
	Internal            bool
}

type podData struct {
	Name      string
	Endpoints []peerData
}

type centerData struct {
	Host   string
	Port   int
	Name   string
	User   string
	Secret string
}

// eventDatabase returns the real event database or the simulated one, nil for none.
func (e *Estate) eventDatabase() *Database {
	if e.Events == nil {
		return e.options.EventDatabase
	}
	return &Database{
		Host: "127.0.0.1", Port: e.Events.Listener().Port(), Name: eventName, User: serviceUser, Prefix: eventPrefix,
		CAFile: filepath.ToSlash(e.options.Dir) + "/ca.pem",
	}
}

// inventory returns the inventory as YAML.
func (e *Estate) inventory(self string) ([]byte, error) {
	d := inventoryData{
		Dir: filepath.ToSlash(e.options.Dir), Failures: e.options.Failures,
		GatewayInterval: e.options.GatewayInterval.String(), AgentInterval: e.options.AgentInterval.String(),
		AdminGroup: adminGroup, ServiceUser: serviceUser, CloneUnit: cloneUnit, Template: ssoTemplate, Issuer: issuerName,
		Self: self, EventDatabase: e.eventDatabase(), MetadataURL: e.SAML.MetadataURL(), ComposerURL: e.Composer.URL(),
	}
	for i, n := range domainNames {
		controller := net.JoinHostPort("127.0.0.1", strconv.Itoa(e.Domains[i].SecurePort()))
		root := e.Domains[i].Root()
		d.Domains = append(d.Domains, domainData{DNS: n.dns, NetBIOS: n.netbios, Root: root, Controller: controller, Primary: i == 0})
	}
	for i, p := range e.Peers {
		data := peerData{Name: p.Name, URL: p.URL()}
		if i < len(e.SecurePorts) {
			data.SecureGateway = e.SecurePorts[i].Addr().String()
		}
		d.Peers = append(d.Peers, data)
	}
	for i := 0; i < len(e.Pods); i += 2 { // each pod has two endpoints
		d.Pods = append(d.Pods, podData{Name: fmt.Sprintf("pod-%d", i/2+1), Endpoints: []peerData{
			{Name: e.Pods[i].Name, URL: e.Pods[i].URL()}, {Name: e.Pods[i+1].Name, URL: e.Pods[i+1].URL()},
		}})
	}
	for _, s := range e.Enrollment {
		d.Enrollment = append(d.Enrollment, s.Port())
	}
	// The inventory identifies centers by address, so each needs its own.
	for i, c := range e.Centers {
		d.Centers = append(d.Centers, centerData{
			Host: []string{"localhost", "127.0.0.1"}[i], Port: c.Port(), Name: fmt.Sprintf("vc%d.corp.example", i+1),
			User: centerUser, Secret: fmt.Sprintf("center-%d", i+1),
		})
	}
	e.describeMachines(&d)
	var out bytes.Buffer
	err := inventoryTemplate.Execute(&out, d)
	return out.Bytes(), err
}
