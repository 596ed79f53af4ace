package estate

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	"vigil/internal/sim/directory"
	"vigil/internal/sim/eventdatabase"
	"vigil/internal/sim/pki"
	"vigil/internal/sim/saml"
	"vigil/internal/sim/site"
	"vigil/internal/sim/vcenter"
)

// Names that are shared by the inventory and the components.
const (
	adminGroup  = "Desktop Root Administrators"
	serviceUser = "svc-vigil"
	cloneUnit   = "Clones"
	ssoTemplate = "DesktopLogon"
	issuerName  = "CORP-Issuing-CA"
	centerUser  = "svc-vigil@vsphere.local"
	eventName   = "events" // of the event database
	eventPrefix = "vdi_"
)

func (e *Estate) build() error {
	for _, step := range []func() error{
		e.buildDomains, e.buildPeers, e.buildPods, e.buildSites, e.buildCenters, e.buildEvents,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	e.buildMachines()
	return nil
}

// domainNames are the domains of the environment. The first is the primary domain. The
// others have the direction, type and attributes of the primary domain's trust with them.
var domainNames = []struct {
	dns, netbios string
	trust        [3]int
}{
	{"corp.example", "CORP", [3]int{}},
	{"emea.corp.example", "EMEA", [3]int{3, 2, 0x20}}, // a child domain of the forest
	{"lab.example", "LAB", [3]int{3, 2, 0x8}},         // another forest, two-way
	{"partner.example", "PARTNER", [3]int{2, 2, 0}},   // trusted by the primary domain
}

func domainSID(i int) string { return fmt.Sprintf("S-1-5-21-%d-2000000001-3000000001", 1000000001+i) }

func (e *Estate) buildDomains() error {
	var trusts []directory.Trust
	for i, d := range domainNames[1:] {
		trusts = append(trusts, directory.Trust{
			Partner: d.dns, NetBIOS: d.netbios, SID: domainSID(i + 1),
			Direction: d.trust[0], Type: d.trust[1], Attributes: d.trust[2],
		})
	}
	issuer, err := pki.New(issuerName, pki.Around(e.options.Now(), 3*365*24*time.Hour))
	if err != nil {
		return err
	}
	for i, d := range domainNames {
		password := rand.Text()
		e.secrets["bind-"+d.netbios] = password
		domain := directory.Domain{
			DNSName: d.dns, NetBIOS: d.netbios, SID: domainSID(i),
			LockoutThreshold: 10, LockoutWindow: 40 * time.Second,
			Users: []directory.User{{Name: serviceUser, Password: password}, {Name: "reader", Password: rand.Text()}},
			OUs:   []string{cloneUnit},
		}
		if i == 0 {
			domain.Trusts = trusts
			domain.Groups = []directory.Group{{Name: adminGroup}, {Name: "Desktop Operators", Groups: []string{adminGroup}}}
			domain.Users = append(domain.Users, directory.User{
				Name: e.Admin.Username, Password: e.Admin.Password, Groups: []string{"Desktop Operators"}, JoinsTo: []string{cloneUnit},
			})
			domain.Templates = []directory.Template{{Name: ssoTemplate, Usages: []string{directory.SmartCardLogon}, KeySize: 2048}}
			domain.Issuers = []directory.Issuer{{
				Name: issuerName, Host: "ca1.corp.example", Certificate: issuer.Certificate().Raw, Templates: []string{ssoTemplate},
			}}
		}
		leaf, err := e.leaf()
		if err != nil {
			return err
		}
		e.Domains = append(e.Domains, directory.New(directory.Options{Domain: domain, Certificate: leaf, Now: e.options.Now}))
	}
	return nil
}

func (e *Estate) buildPeers() error {
	for i := range e.options.Size.ConnectionServers - 1 {
		p, err := e.newPeer(fmt.Sprintf("cs%02d.corp.example", i+2), i) // cs01 is the product
		if err != nil {
			return err
		}
		e.Peers = append(e.Peers, p)
		if i < 3 { // the first three have a secure gateway
			e.SecurePorts = append(e.SecurePorts, new(Port))
		}
	}
	return nil
}

func (e *Estate) buildPods() error {
	for i := range e.options.Size.Pods {
		for j := range 2 {
			p, err := e.newPeer(fmt.Sprintf("cs%d.pod%d.example", j+1, i+1), 2*i+j)
			if err != nil {
				return err
			}
			e.Pods = append(e.Pods, p)
		}
	}
	return nil
}

func (e *Estate) newPeer(name string, number int) (*Peer, error) {
	leaf, err := e.leaf()
	if err != nil {
		return nil, err
	}
	return newPeer(name, number, leaf, e.secrets["peer-token"], e.follower), nil
}

func (e *Estate) buildSites() error {
	leaves := make([]tls.Certificate, 4)
	for i := range leaves {
		var err error
		if leaves[i], err = e.leaf(); err != nil {
			return err
		}
	}
	var err error
	e.SAML, err = saml.New(saml.Options{EntityID: "https://idp.corp.example", Certificate: leaves[0], Now: e.options.Now})
	if err != nil {
		return err
	}
	e.Composer = site.New(leaves[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"version":"7.13.0","build":"17041303","api_version":"7.0","min_vc_version":"6.0","min_esx_version":"6.0"}`))
	}))
	for _, leaf := range leaves[2:] {
		e.Enrollment = append(e.Enrollment, site.New(leaf, http.NotFoundHandler()))
	}
	return nil
}

func (e *Estate) buildCenters() error {
	for i := range min(2, e.options.Size.VirtualCenters) {
		leaf, err := e.leaf()
		if err != nil {
			return err
		}
		password := rand.Text()
		e.secrets[fmt.Sprintf("center-%d", i+1)] = password
		e.Centers = append(e.Centers, vcenter.New(vcenter.Options{
			User: centerUser, Password: password, Certificate: leaf, Hosts: 4 - i, Desktops: 25,
		}))
	}
	return nil
}

func (e *Estate) buildEvents() error {
	if e.options.Events == 0 || e.options.EventDatabase != nil {
		return nil
	}
	leaf, err := e.leaf()
	if err != nil {
		return err
	}
	password := rand.Text()
	e.secrets["event-database"] = password
	e.Events = eventdatabase.New(eventdatabase.Options{
		Database: eventName, User: serviceUser, Password: password, Certificate: leaf, Prefix: eventPrefix, Events: e.options.Events,
	})
	return nil
}
