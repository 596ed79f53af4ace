package directory

import (
	"slices"
	"strings"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"
)

const notBound = "000004DC: LdapErr: DSID-0C0907C2, comment: In order to perform this operation " +
	"a successful bind must be completed on the connection., data 0, v4563"

func (in *session) search(id int64, r searchRequest) []*ber.Packet {
	s := in.server
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.domain
	done := func(code int64, diagnostic string) *ber.Packet {
		return result{code: code, diagnostic: diagnostic}.packet(id, ldap.ApplicationSearchResultDone)
	}
	if r.base == "" && r.scope == ldap.ScopeBaseObject {
		return []*ber.Packet{d.rootDSE(in.user).packet(id, r.attributes), done(ldap.LDAPResultSuccess, "")}
	}
	if in.user == nil {
		return []*ber.Packet{done(ldap.LDAPResultOperationsError, notBound)}
	}
	var packets []*ber.Packet
	baseExists := false
	for _, e := range d.entries {
		baseExists = baseExists || strings.EqualFold(e.dn, r.base)
		if !isWithin(e.dn, r.base, r.scope) || !d.matches(r.filter, d.visibleTo(e, in.user)) {
			continue
		}
		if r.size > 0 && int64(len(packets)) == r.size {
			return append(packets, done(ldap.LDAPResultSizeLimitExceeded, ""))
		}
		packets = append(packets, d.visibleTo(e, in.user).packet(id, r.attributes))
	}
	if !baseExists {
		return []*ber.Packet{done(ldap.LDAPResultNoSuchObject, "0000208D: NameErr: DSID-03100241, problem 2001 (NO_OBJECT)")}
	}
	if strings.EqualFold(r.base, d.Root()) && r.scope == ldap.ScopeWholeSubtree {
		packets = append(packets, referral(id, "ldap://"+d.DNSName+"/"+d.configuration()))
	}
	return append(packets, done(ldap.LDAPResultSuccess, ""))
}

// visibleTo returns an entry as a user sees it: the permission to create children
// depends on the user.
func (d *domain) visibleTo(e *entry, reader *account) *entry {
	ou := e.values("ou")
	if len(ou) == 0 {
		return e
	}
	view := *e
	view.operational = slices.Clone(e.operational)
	if slices.ContainsFunc(reader.JoinsTo, func(name string) bool { return strings.EqualFold(name, ou[0]) }) {
		view.operational = append(view.operational, attr("allowedChildClassesEffective", "computer"))
	}
	return &view
}

// selectAttributes returns the attributes of an entry that a search requested.
func (e *entry) selectAttributes(attributes []string) []attribute {
	all := len(attributes) == 0 || slices.Contains(attributes, "*")
	var chosen []attribute
	for _, a := range e.attributes {
		if len(a.values) > 0 && (all || isRequested(attributes, a.name)) {
			chosen = append(chosen, a)
		}
	}
	for _, a := range e.operational {
		if len(a.values) > 0 && isRequested(attributes, a.name) {
			chosen = append(chosen, a)
		}
	}
	return chosen
}

func isRequested(attributes []string, name string) bool {
	return slices.ContainsFunc(attributes, func(w string) bool { return strings.EqualFold(w, name) })
}

func isWithin(dn, base string, scope int64) bool {
	dn, base = strings.ToLower(dn), strings.ToLower(base)
	if scope == ldap.ScopeBaseObject {
		return dn == base
	}
	prefix, isBelow := strings.CutSuffix(dn, ","+base)
	switch scope {
	case ldap.ScopeSingleLevel:
		return isBelow && !strings.Contains(prefix, ",")
	case ldap.ScopeWholeSubtree:
		return isBelow || dn == base
	}
	return false
}
