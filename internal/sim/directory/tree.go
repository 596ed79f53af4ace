package directory

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// entry is one object of the directory.
type entry struct {
	dn          string
	attributes  []attribute
	operational []attribute // returned only when requested by name
}

type attribute struct {
	name   string
	values []string
}

// values returns the values of an attribute, ignoring the case of its name.
func (e *entry) values(name string) []string {
	for _, list := range [][]attribute{e.attributes, e.operational} {
		for _, a := range list {
			if strings.EqualFold(a.name, name) {
				return a.values
			}
		}
	}
	return nil
}

func attr(name string, values ...string) attribute { return attribute{name, values} }

// build creates the entries of a domain.
func build(d Domain) *domain {
	b := &domain{Domain: d, accounts: map[string]*account{}}
	root, config := d.Root(), d.configuration()
	b.add(root,
		attr("objectClass", "top", "domain", "domainDNS"),
		attr("objectSid", sid(d.SID)),
		attr("lockoutThreshold", strconv.Itoa(d.LockoutThreshold)),
		attr("lockOutObservationWindow", interval(b.window())),
		attr("lockoutDuration", interval(b.window())))
	b.container("CN=System", root)
	b.container("CN=Users", root)
	b.add(config, attr("objectClass", "top", "configuration"), attr("cn", "Configuration"))
	b.container("CN=Partitions", config)
	b.add("CN="+d.NetBIOS+",CN=Partitions,"+config,
		attr("objectClass", "top", "crossRef"),
		attr("nCName", root), attr("nETBIOSName", d.NetBIOS), attr("dnsRoot", d.DNSName))
	b.addGroups(root)
	b.addUsers(root)
	b.addUnits(root)
	b.addTrusts(root)
	b.addPublicKeyServices(config)
	return b
}

func (d *domain) add(dn string, attributes ...attribute) *entry {
	e := &entry{dn: dn, attributes: append(attributes, attr("distinguishedName", dn), attr("objectGUID", guid(dn)))}
	d.entries = append(d.entries, e)
	return e
}

func (d *domain) container(name, parent string) {
	d.add(name+","+parent, attr("objectClass", "top", "container"), attr("cn", strings.TrimPrefix(name, "CN=")))
}

func (d *domain) groupDN(name string) string { return "CN=" + name + ",CN=Users," + d.Root() }

func (d *domain) groupDNs(groups []string) []string {
	all := make([]string, len(groups))
	for i, g := range groups {
		all[i] = d.groupDN(g)
	}
	return all
}

func (d *domain) addGroups(root string) {
	d.add("CN=Domain Users,CN=Users,"+root,
		attr("objectClass", "top", "group"), attr("cn", "Domain Users"), attr("sAMAccountName", "Domain Users"),
		attr("objectSid", sid(d.SID+"-"+strconv.Itoa(usersRID))))
	for _, g := range d.Groups {
		var members []string
		for _, u := range d.Users {
			if slices.ContainsFunc(u.Groups, func(n string) bool { return strings.EqualFold(n, g.Name) }) {
				members = append(members, "CN="+u.Name+",CN=Users,"+root)
			}
		}
		for _, other := range d.Groups {
			if slices.ContainsFunc(other.Groups, func(n string) bool { return strings.EqualFold(n, g.Name) }) {
				members = append(members, d.groupDN(other.Name))
			}
		}
		d.add(d.groupDN(g.Name),
			attr("objectClass", "top", "group"), attr("objectCategory", "CN=Group,CN=Schema,"+d.configuration()),
			attr("cn", g.Name), attr("sAMAccountName", g.Name), attr("objectSid", sid(d.GroupSID(g.Name))),
			attr("member", members...), attr("memberOf", d.groupDNs(g.Groups)...))
	}
}

func (d *domain) addUsers(root string) {
	for i, u := range d.Users {
		if u.ForeignSID != "" {
			d.accounts[strings.ToLower(u.PrincipalName)] = &account{User: u, token: []string{sid(u.ForeignSID)}}
			continue
		}
		control := 0x200 // a normal account
		if u.Disabled {
			control |= 0x2
		}
		dn, own := "CN="+u.Name+",CN=Users,"+root, sid(d.SID+"-"+strconv.Itoa(firstUserRID+i))
		e := d.add(dn,
			attr("objectClass", "top", "person", "organizationalPerson", "user"),
			attr("objectCategory", "CN=Person,CN=Schema,"+d.configuration()),
			attr("cn", u.Name), attr("sAMAccountName", u.Name), attr("userPrincipalName", cmp.Or(u.PrincipalName, u.Name+"@"+d.DNSName)),
			attr("objectSid", own),
			attr("primaryGroupID", strconv.Itoa(usersRID)),
			attr("userAccountControl", strconv.Itoa(control)),
			attr("memberOf", d.groupDNs(u.Groups)...))
		tokens := []string{sid(d.SID + "-" + strconv.Itoa(usersRID)), sid("S-1-5-32-545")} // Domain Users and BUILTIN\Users
		for _, g := range d.memberships(u.Groups) {
			tokens = append(tokens, sid(d.GroupSID(g)))
		}
		e.operational = []attribute{attr("tokenGroups", tokens...)}
		d.accounts[strings.ToLower(u.Name)] = &account{User: u, dn: dn, token: append([]string{own}, tokens...)}
	}
}

func (d *domain) addUnits(root string) {
	for _, ou := range d.OUs {
		d.add("OU="+ou+","+root, attr("objectClass", "top", "organizationalUnit"), attr("ou", ou), attr("name", ou))
	}
}

func (d *domain) addTrusts(root string) {
	for _, t := range d.Trusts {
		d.add("CN="+t.Partner+",CN=System,"+root,
			attr("objectClass", "top", "leaf", "trustedDomain"),
			attr("cn", t.Partner), attr("trustPartner", t.Partner), attr("flatName", t.NetBIOS),
			attr("securityIdentifier", sid(t.SID)),
			attr("trustDirection", strconv.Itoa(t.Direction)), attr("trustType", strconv.Itoa(t.Type)),
			attr("trustAttributes", strconv.Itoa(t.Attributes)))
	}
}

func (d *domain) addPublicKeyServices(config string) {
	d.container("CN=Services", config)
	services := "CN=Public Key Services,CN=Services," + config
	d.container("CN=Public Key Services", "CN=Services,"+config)
	d.container("CN=Certificate Templates", services)
	d.container("CN=Enrollment Services", services)
	for _, t := range d.Templates {
		d.add("CN="+t.Name+",CN=Certificate Templates,"+services,
			attr("objectClass", "top", "pKICertificateTemplate"),
			attr("cn", t.Name), attr("displayName", t.Name),
			attr("pKIExtendedKeyUsage", t.Usages...), attr("msPKI-Certificate-Application-Policy", t.Usages...),
			attr("msPKI-Minimal-Key-Size", strconv.Itoa(t.KeySize)))
	}
	for _, i := range d.Issuers {
		d.add("CN="+i.Name+",CN=Enrollment Services,"+services,
			attr("objectClass", "top", "pKIEnrollmentService"),
			attr("cn", i.Name), attr("dNSHostName", i.Host),
			attr("cACertificate", string(i.Certificate)), attr("certificateTemplates", i.Templates...))
	}
}

// rootDSE returns the only entry that unauthenticated clients may read. The reader is nil for them.
func (d *domain) rootDSE(reader *account) *entry {
	host := d.host() + "." + d.DNSName
	e := &entry{attributes: []attribute{
		attr("objectClass", "top"),
		attr("defaultNamingContext", d.Root()),
		attr("rootDomainNamingContext", "DC="+strings.ReplaceAll(d.forest(), ".", ",DC=")),
		attr("configurationNamingContext", d.configuration()),
		attr("namingContexts", d.Root(), d.configuration()),
		attr("dnsHostName", host),
		attr("ldapServiceName", fmt.Sprintf("%s:%s$@%s", d.DNSName, d.host(), strings.ToUpper(d.DNSName))),
		attr("isSynchronized", "TRUE"),
		attr("domainFunctionality", "7"),
		attr("supportedLDAPVersion", "3"),
		attr("supportedCapabilities", "1.2.840.113556.1.4.800", "1.2.840.113556.1.4.1670"),
		attr("supportedExtension", startTLS),
	}}
	if reader != nil {
		e.operational = []attribute{attr("tokenGroups", reader.token...)}
	}
	return e
}
