package directory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-ldap/ldap/v3"

	"vigil/internal/desktop"
)

// A User is a user of a directory.
type User struct {
	Name   string // sAMAccountName, as the directory spells it
	SID    string
	DN     string
	Domain string // NetBIOS name
}

// Login checks a password and that the user is a direct or nested member of an
// administrator group. It fails with a *Refusal when the directory refuses the
// user, and with a *desktop.Failure when the directory could not be queried.
func (c *Client) Login(ctx context.Context, id desktop.ID, username, password string) (User, error) {
	d, err := c.domain(id)
	if err != nil {
		return User{}, err
	}
	// Look up the groups first: without them the login fails anyway, and the
	// password should not be tried.
	admins, err := c.administratorSIDs(ctx)
	if err != nil {
		return User{}, err
	}
	var user User
	err = c.asUser(ctx, d, username, password, func(conn *conn, r root) error {
		var groups []string
		if user, groups, err = whoIs(conn, r, username); err != nil {
			return err
		}
		user.Domain = d.netbiosName()
		if !slices.ContainsFunc(groups, func(sid string) bool { return slices.Contains(admins, sid) }) {
			return &Refusal{Reason: NotAdministrator}
		}
		return nil
	})
	if err != nil {
		return User{}, err
	}
	return user, nil
}

// CheckCloneAccount checks the credentials of an account for instant clones: that the
// directory accepts them, and that the account may create computer accounts in
// the configured organisational unit.
func (c *Client) CheckCloneAccount(ctx context.Context, id desktop.ID, username, password string) error {
	d, err := c.domain(id)
	if err != nil {
		return err
	}
	return c.asUser(ctx, d, username, password, func(conn *conn, _ root) error {
		if d.spec.CloneOU == "" {
			return nil
		}
		e, err := conn.one(d.spec.CloneOU, ldap.ScopeBaseObject, "(objectClass=*)", "allowedChildClassesEffective")
		if ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject) {
			return &Refusal{Reason: CannotJoin, Err: err}
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", d.spec.CloneOU, err)
		}
		if e == nil || !slices.Contains(e.GetAttributeValues("allowedChildClassesEffective"), "computer") {
			return &Refusal{Reason: CannotJoin}
		}
		return nil
	})
}

// asUser binds as a user and passes the connection to do.
func (c *Client) asUser(ctx context.Context, d *domain, username, password string, do func(*conn, root) error) error {
	unguarded := func(bind func() error) error { return bind() }
	return c.bindAs(ctx, d, username, password, unguarded, do)
}

// bindAs binds as a user and passes the connection to do. The function guard calls bind, or returns an error
// instead.
func (c *Client) bindAs(ctx context.Context, d *domain, username, password string, guard func(bind func() error) error, do func(*conn, root) error) error {
	switch {
	case password == "":
		return &Refusal{Reason: EmptyPassword}
	case username == "", strings.ContainsAny(username, "\\@\x00"):
		return &Refusal{Reason: BadName}
	}
	err := c.with(ctx, d, func(conn *conn) error {
		r, err := conn.root()
		if err != nil {
			return err
		}
		conn.bound = bindName(d, username)
		bind := func() error { return conn.Bind(conn.bound, password) }
		return conn.afterBind(func() error { return guard(bind) }, func() error { return do(conn, r) })
	})
	if refusal := refusalOf(err); refusal != nil {
		return refusal
	}
	return err
}

// bindName returns the name that a user of a domain binds with. While the NetBIOS name of the domain is
// unknown, the user binds with a principal name, which may bind another user (see boundUser).
func bindName(d *domain, username string) string {
	if netbios := d.netbiosName(); netbios != "" {
		return netbios + `\` + username
	}
	return username + "@" + d.spec.DNSName
}

// whoIs returns the bound user and the SIDs of all the user's groups.
func whoIs(conn *conn, r root, username string) (User, []string, error) {
	e, err := boundUser(conn, r, username)
	if err != nil {
		return User{}, nil, fmt.Errorf("find user: %w", err)
	}
	if e == nil {
		return User{}, nil, &Refusal{Reason: UnknownUser}
	}
	sid, err := decodeSID(e.GetRawAttributeValue("objectSid"))
	if err != nil {
		return User{}, nil, err
	}
	// The directory computes tokenGroups only for a search with base scope.
	tokens, err := conn.one(e.DN, ldap.ScopeBaseObject, "(objectClass=*)", "tokenGroups")
	if err != nil {
		return User{}, nil, fmt.Errorf("read groups: %w", err)
	}
	groups := []string{}
	if tokens != nil {
		for _, raw := range tokens.GetRawAttributeValues("tokenGroups") {
			group, err := decodeSID(raw)
			if err != nil {
				return User{}, nil, err
			}
			groups = append(groups, group)
		}
	}
	return User{Name: e.GetAttributeValue("sAMAccountName"), SID: sid, DN: e.DN}, groups, nil
}

// boundUser returns the entry of the bound user, or nil when it is not found. A controller looks for a
// name with an @ among the principal names of the forest first, and then among the account names of its
// domain. A bind with alice@corp.example may therefore bind not the account alice, but a user, even of
// another domain, with that principal name.
func boundUser(conn *conn, r root, username string) (*ldap.Entry, error) {
	find := func(attribute, value string) ([]*ldap.Entry, error) {
		filter := fmt.Sprintf("(&(objectCategory=person)(%s=%s))", attribute, ldap.EscapeFilter(value))
		return conn.search(r.base, ldap.ScopeWholeSubtree, filter, "sAMAccountName", "objectSid")
	}
	isPrincipal := strings.Contains(conn.bound, "@")
	if isPrincipal {
		found, err := find("userPrincipalName", conn.bound)
		if err != nil || len(found) > 1 {
			return nil, err
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	found, err := find("sAMAccountName", username)
	if err != nil || len(found) != 1 {
		return nil, err
	}
	if isPrincipal {
		// The principal name may be that of a user of another domain of the forest, who has no entry in this domain.
		if bound, err := conn.isBound(found[0].GetRawAttributeValue("objectSid")); err != nil || !bound {
			return nil, err
		}
	}
	return found[0], nil
}

// groupLife is how long the SID of a group that is given by name is cached.
// Groups are rarely replaced by another of the same name.
const groupLife = 10 * time.Minute

// A MissingGroup is the error for a group name that a domain does not have.
type MissingGroup struct{ Domain, Name string }

func (g *MissingGroup) Error() string { return "the domain " + g.Domain + " has no group " + g.Name }

// CheckGroup looks up an administrator group that is given by name. It fails
// with a *MissingGroup when the domain does not have it.
func (c *Client) CheckGroup(ctx context.Context, g desktop.AdministratorGroup) error {
	_, err := c.groupSID(ctx, g)
	return err
}

// administratorSIDs returns the SIDs of the administrator groups. A group that
// cannot be looked up is skipped if the SID of another group is known. If no
// group exists, administratorSIDs returns a *Refusal rather than a failure,
// because retrying does not help.
func (c *Client) administratorSIDs(ctx context.Context) ([]string, error) {
	c.mu.RLock()
	groups := c.administrators
	c.mu.RUnlock()
	var out []string
	var failed, absent error
	for _, g := range groups {
		if g.SID != "" {
			out = append(out, g.SID)
			continue
		}
		sid, err := c.groupSID(ctx, g)
		if missing, ok := errors.AsType[*MissingGroup](err); ok {
			absent = errors.Join(absent, missing)
			continue
		}
		if err != nil {
			failed = err
			continue
		}
		out = append(out, sid)
	}
	switch {
	case len(out) > 0:
		return out, nil
	case failed != nil:
		return nil, failed
	case absent != nil:
		return nil, &Refusal{Reason: NoAdministrators, Err: absent}
	}
	return nil, &Refusal{Reason: NotAdministrator} // the inventory has no administrator group
}

// groupSID looks up a group by name, as the service account.
func (c *Client) groupSID(ctx context.Context, g desktop.AdministratorGroup) (string, error) {
	d, err := c.domain(g.DomainID)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	cached, isCached := d.groups[strings.ToLower(g.Name)]
	d.mu.Unlock()
	now := c.options.Now()
	if isCached && now.Sub(cached.readAt) < groupLife {
		return cached.sid, nil
	}
	var sid string
	err = c.asService(ctx, d, func(conn *conn, r root) error {
		filter := fmt.Sprintf("(&(objectClass=group)(sAMAccountName=%s))", ldap.EscapeFilter(g.Name))
		e, err := conn.one(r.base, ldap.ScopeWholeSubtree, filter, "objectSid")
		if err != nil {
			return fmt.Errorf("find group: %w", err)
		}
		if e == nil {
			return &MissingGroup{Domain: d.spec.DNSName, Name: g.Name}
		}
		sid, err = decodeSID(e.GetRawAttributeValue("objectSid"))
		return err
	})
	if err != nil {
		if _, missing := errors.AsType[*MissingGroup](err); isCached && !missing {
			return cached.sid, nil // use the cached SID while the directory is unavailable
		}
		return "", err
	}
	d.mu.Lock()
	d.groups[strings.ToLower(g.Name)] = groupSID{sid, now}
	d.mu.Unlock()
	return sid, nil
}
