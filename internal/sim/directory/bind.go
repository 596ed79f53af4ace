package directory

import (
	"fmt"
	"strings"

	"github.com/go-ldap/ldap/v3"
)

// The data codes in the diagnostic message of a refused bind.
const (
	dataBadCredentials = "52e"
	dataDisabled       = "533"
	dataExpired        = "701"
	dataMustChange     = "773"
	dataLocked         = "775"
)

func refuse(data string) result {
	return result{
		code:       ldap.LDAPResultInvalidCredentials,
		diagnostic: fmt.Sprintf("80090308: LdapErr: DSID-0C09044E, comment: AcceptSecurityContext error, data %s, v4563", data),
	}
}

func (in *session) bind(r bindRequest) result {
	in.user = nil
	switch {
	case !r.simple:
		return result{code: ldap.LDAPResultAuthMethodNotSupported, diagnostic: "only simple binds are simulated"}
	case r.name == "", r.password == "":
		// A name without a password is an unauthenticated bind, which succeeds but
		// proves nothing. Clients must refuse empty passwords themselves.
		return result{}
	}
	s := in.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.binds++
	switch {
	case s.fault == PingOnly, !in.secure && !s.options.AllowPlain:
		return result{code: ldap.LDAPResultStrongAuthRequired, diagnostic: "BindSimple: Transport encryption required."}
	case s.fault == Unwilling:
		return result{code: ldap.LDAPResultBusy, diagnostic: "the server is busy"}
	}
	a := s.domain.principal(r.name)
	if a == nil {
		return refuse(dataBadCredentials)
	}
	res := s.domain.check(a, r.password, s.now)
	if res.code == ldap.LDAPResultSuccess {
		in.user = a
	}
	return res
}

// principal returns the account of a bind name: NETBIOS\user, a principal name,
// user@domain or a distinguished name. It returns nil for a user name without a domain.
func (d *domain) principal(name string) *account {
	if netbios, user, ok := strings.Cut(name, `\`); ok {
		if strings.EqualFold(netbios, d.NetBIOS) || strings.EqualFold(netbios, d.DNSName) {
			return d.account(user)
		}
		return nil
	}
	if user, domain, ok := strings.Cut(name, "@"); ok {
		for _, a := range d.accounts {
			if strings.EqualFold(a.PrincipalName, name) {
				return a
			}
		}
		if strings.EqualFold(domain, d.DNSName) {
			return d.account(user)
		}
		return nil
	}
	for _, a := range d.accounts {
		if strings.EqualFold(a.dn, name) {
			return a
		}
	}
	return nil
}
