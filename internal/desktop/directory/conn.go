package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/go-ldap/ldap/v3"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// operationTimeout limits one LDAP operation; the context limits all of them.
const operationTimeout = 10 * time.Second

// maxEntries limits the result of a search.
const maxEntries = 1000

// conn is a connection to one controller over verified TLS.
type conn struct {
	*ldap.Conn
	controller string
	bound      string // name of the last bind
	stop       func() bool
	firstErr   *reach.FirstError
}

// dial connects to a controller. The connection is closed when the context is
// done, because the LDAP library does not support contexts.
func dial(ctx context.Context, d desktop.Domain, controller string, now func() time.Time) (*conn, error) {
	host, _, err := net.SplitHostPort(controller)
	if err != nil {
		return nil, fmt.Errorf("parse controller address: %w", err)
	}
	peerCert := new(reach.PeerCertificate)
	config, err := reach.TLS(d.Trust, host, now, peerCert)
	if err != nil {
		return nil, err
	}
	outer := config
	if d.StartTLS { // TLS begins later, on the connected socket
		outer = nil
	}
	socket, err := reach.Connect(ctx, controller, outer)
	if err != nil {
		return nil, err
	}
	firstErr := new(reach.FirstError)
	watched := reach.Watch(socket, firstErr)
	stop := context.AfterFunc(ctx, func() { _ = watched.Close() })
	isTLS := !d.StartTLS
	c := &conn{Conn: ldap.NewConn(watched, isTLS), controller: controller, stop: stop, firstErr: firstErr}
	c.SetTimeout(operationTimeout)
	c.Start()
	if d.StartTLS {
		if err := c.StartTLS(config); err != nil {
			c.close()
			if untrusted := peerCert.Err(); untrusted != nil {
				return nil, untrusted
			}
			return nil, fmt.Errorf("start TLS: %w", cause(firstErr, err))
		}
	}
	return c, nil
}

func (c *conn) close() {
	c.stop()
	_ = c.Conn.Close()
}

// search returns entries. It does not follow referrals.
func (c *conn) search(base string, scope int, filter string, attributes ...string) ([]*ldap.Entry, error) {
	res, err := c.Search(ldap.NewSearchRequest(base, scope, ldap.NeverDerefAliases, maxEntries,
		int(operationTimeout/time.Second), false, filter, attributes, nil))
	if err != nil {
		return nil, err
	}
	return res.Entries, nil
}

// one returns the only entry of a search, or nil when there is none or more
// than one.
func (c *conn) one(base string, scope int, filter string, attributes ...string) (*ldap.Entry, error) {
	entries, err := c.search(base, scope, filter, attributes...)
	if err != nil || len(entries) != 1 {
		return nil, err
	}
	return entries[0], nil
}

// root contains the attributes of a controller's rootDSE.
type root struct {
	base   string // distinguished name of the domain
	config string // distinguished name of the forest's configuration
	host   string
}

func (c *conn) root() (root, error) {
	e, err := c.one("", ldap.ScopeBaseObject, "(objectClass=*)", "defaultNamingContext", "configurationNamingContext", "dnsHostName")
	if err != nil {
		return root{}, fmt.Errorf("read rootDSE: %w", c.broken(err))
	}
	if e == nil || e.GetAttributeValue("defaultNamingContext") == "" {
		return root{}, &desktop.Failure{Cause: desktop.Broken, Reason: c.controller + " is not a domain controller"}
	}
	return root{
		base:   e.GetAttributeValue("defaultNamingContext"),
		config: e.GetAttributeValue("configurationNamingContext"),
		host:   e.GetAttributeValue("dnsHostName"),
	}, nil
}

// isBound reports whether the bound user has the given SID, in binary form: the rootDSE shows users the SIDs of their token.
func (c *conn) isBound(sid []byte) (bool, error) {
	e, err := c.one("", ldap.ScopeBaseObject, "(objectClass=*)", "tokenGroups")
	if err != nil || e == nil {
		return false, err
	}
	return slices.ContainsFunc(e.GetRawAttributeValues("tokenGroups"), func(b []byte) bool { return bytes.Equal(b, sid) }), nil
}

// final marks an error after which no other controller is tried: a controller
// may have checked the password, and a second check would count twice towards
// the lockout.
type final struct{ error }

// Unwrap returns the error itself.
func (f final) Unwrap() error { return f.error }

// isBusy reports whether a controller answered that it is too busy.
func isBusy(err error) bool {
	return ldap.IsErrorAnyOf(err, ldap.LDAPResultBusy, ldap.LDAPResultUnavailable, ldap.LDAPResultUnwillingToPerform)
}

// tryNext reports whether another controller may succeed.
func tryNext(err error) bool {
	if _, ok := errors.AsType[final](err); ok {
		return false
	}
	var e *ldap.Error
	return !errors.As(err, &e) || e.ResultCode == ldap.ErrorNetwork || isBusy(err)
}

// afterBind calls bind, which sends a password, and then do. Unless the controller was too
// busy to check the password, any error is final.
func (c *conn) afterBind(bind, do func() error) error {
	err := bind()
	if err == nil {
		err = do()
	}
	if err == nil || isBusy(err) {
		return err
	}
	return final{c.broken(err)}
}

// cause returns the cause of a failed LDAP operation: why the connection broke,
// unless the controller has answered.
func cause(firstErr *reach.FirstError, err error) error {
	var e *ldap.Error
	// Codes below ErrorNetwork are answers of the controller; the others are errors of the library.
	if errors.As(err, &e) && e.ResultCode < ldap.ErrorNetwork || firstErr.Err() == nil {
		return err
	}
	return firstErr.Err()
}

// broken returns the error of an operation, or why the connection broke during
// it.
func (c *conn) broken(err error) error {
	if _, ok := errors.AsType[*Refusal](err); ok {
		return err
	}
	if _, ok := errors.AsType[*desktop.Failure](err); ok {
		return err
	}
	return cause(c.firstErr, err)
}

// failureOf classifies why a controller could not be used.
func failureOf(controller string, err error) *desktop.Failure {
	var e *ldap.Error
	if !errors.As(err, &e) {
		return reach.Failure(controller, err)
	}
	fail := func(c desktop.Cause, reason string) *desktop.Failure {
		return &desktop.Failure{Cause: c, Reason: controller + " " + reason, Err: err}
	}
	switch e.ResultCode {
	case ldap.ErrorNetwork:
		return fail(desktop.Unreachable, "does not answer")
	case ldap.LDAPResultBusy, ldap.LDAPResultUnavailable, ldap.LDAPResultUnwillingToPerform:
		return fail(desktop.Broken, "is too busy to answer")
	case ldap.LDAPResultStrongAuthRequired, ldap.LDAPResultConfidentialityRequired:
		return fail(desktop.Denied, "accepts pings but refuses to bind")
	case ldap.LDAPResultInvalidCredentials:
		return fail(desktop.Refused, "refuses the service account: "+string(refusalOf(err).Reason))
	case ldap.LDAPResultInsufficientAccessRights:
		return fail(desktop.Denied, "does not let the service account read")
	}
	return fail(desktop.Broken, "answers with "+ldap.LDAPResultCodeMap[e.ResultCode])
}
