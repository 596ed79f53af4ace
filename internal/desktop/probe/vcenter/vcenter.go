// Package vcenter probes virtual centers.
//
// It is a separate package because the library that it needs is larger than the
// rest of the desktop server.
package vcenter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/vmware/govmomi/object"
	"github.com/vmware/govmomi/session"
	"github.com/vmware/govmomi/view"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// Secrets resolves references to secrets.
type Secrets interface {
	Secret(ctx context.Context, ref desktop.SecretRef) (string, error)
}

// Center probes a virtual center repeatedly, reusing one session while it
// lasts.
type Center struct {
	spec    desktop.VirtualCenter
	secrets Secrets
	now     func() time.Time

	mu        sync.Mutex
	vcSession *vcSession
	peerCert  *reach.PeerCertificate
}

// vcSession is a session with its container views.
type vcSession struct {
	client   *vim25.Client
	manager  *session.Manager
	estate   types.ManagedObjectReference // view of hosts, datastores and their folders
	machines types.ManagedObjectReference // view of the virtual machines that are desktops
}

// New returns a virtual center. It connects at the first probe.
func New(vc desktop.VirtualCenter, secrets Secrets, now func() time.Time) *Center {
	return &Center{spec: vc, secrets: secrets, now: now, peerCert: new(reach.PeerCertificate)}
}

// Probe reads the virtual center once: one call in an existing session, a few
// more to open one.
func (c *Center) Probe(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reading, err := c.read(ctx)
	if isSessionEnded(err) {
		c.drop()
		reading, err = c.read(ctx)
	}
	if err != nil {
		c.drop()
		return nil, c.peerCert.Certificate(), c.failure(err)
	}
	return reading, c.peerCert.Certificate(), nil
}

func (c *Center) read(ctx context.Context) (desktop.VirtualCenterReading, error) {
	if c.vcSession == nil {
		l, err := c.connect(ctx)
		if err != nil {
			return desktop.VirtualCenterReading{}, err
		}
		c.vcSession = l
	}
	content, err := c.vcSession.retrieve(ctx)
	if err != nil {
		return desktop.VirtualCenterReading{}, err
	}
	about := c.vcSession.client.ServiceContent.About
	reading, err := describe(content)
	reading.APIVersion, reading.Version, reading.Build = about.ApiVersion, about.Version, about.Build
	reading.InstanceUUID = about.InstanceUuid
	return reading, err
}

// logoutTimeout limits the logout in Close.
const logoutTimeout = 3 * time.Second

// Close ends the session.
func (c *Center) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.vcSession == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), logoutTimeout)
	defer cancel()
	_ = c.vcSession.manager.Logout(ctx) // an unreachable center has no session to end
	c.drop()
}

// drop discards the session.
func (c *Center) drop() {
	if c.vcSession != nil {
		c.vcSession.client.CloseIdleConnections()
		c.vcSession = nil
	}
}

// address returns the URL of the virtual center.
func (c *Center) address() *url.URL {
	u := &url.URL{Scheme: "https", Host: net.JoinHostPort(c.spec.ServerName, strconv.Itoa(c.spec.Port)), Path: "/sdk"}
	if !c.spec.UseSSL {
		u.Scheme = "http"
	}
	return u
}

// connect opens a session and creates the views.
func (c *Center) connect(ctx context.Context) (*vcSession, error) {
	password, err := c.secrets.Secret(ctx, c.spec.Password)
	if err != nil {
		return nil, &desktop.Failure{Cause: desktop.Refused, Reason: "the password for the virtual center cannot be read", Err: err}
	}
	config, err := reach.TLS(c.spec.Trust, c.spec.ServerName, c.now, c.peerCert)
	if err != nil {
		return nil, err
	}
	wire := soap.NewClient(c.address(), false)
	transport := wire.DefaultTransport()
	transport.Proxy = nil
	transport.DialContext = reach.Dialer().DialContext
	transport.DialTLSContext = nil // use TLSClientConfig, which verifies and records the certificate
	transport.TLSClientConfig = config
	client, err := vim25.NewClient(ctx, wire)
	if err != nil {
		wire.CloseIdleConnections()
		return nil, fmt.Errorf("read service content: %w", err)
	}
	l := &vcSession{client: client, manager: session.NewManager(client)}
	if err := l.manager.Login(ctx, url.UserPassword(c.spec.UserName, password)); err != nil {
		wire.CloseIdleConnections()
		return nil, fmt.Errorf("log in: %w", err)
	}
	if err := c.createViews(ctx, l); err != nil {
		_ = l.manager.Logout(ctx)
		wire.CloseIdleConnections()
		return nil, err
	}
	return l, nil
}

// createViews creates the session's views.
func (c *Center) createViews(ctx context.Context, l *vcSession) error {
	views := view.NewManager(l.client)
	root := l.client.ServiceContent.RootFolder
	estate, err := views.CreateContainerView(ctx, root, objectTypes, true)
	if err != nil {
		return fmt.Errorf("create the view of hosts: %w", err)
	}
	l.estate = estate.Reference()
	folder := root
	if c.spec.DesktopFolder != "" {
		found, err := object.NewSearchIndex(l.client).FindByInventoryPath(ctx, c.spec.DesktopFolder)
		if err != nil {
			return fmt.Errorf("find the folder of desktops: %w", err)
		}
		if found == nil {
			return &desktop.Failure{Cause: desktop.Broken, Reason: c.spec.Name + " has no folder " + c.spec.DesktopFolder}
		}
		folder = found.Reference()
	}
	machines, err := views.CreateContainerView(ctx, folder, []string{"VirtualMachine"}, true)
	if err != nil {
		return fmt.Errorf("create the view of desktops: %w", err)
	}
	l.machines = machines.Reference()
	return nil
}

// fault returns the virtual center's own fault in an error, or nil.
func fault(err error) any {
	if err == nil {
		return nil
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if soap.IsSoapFault(e) {
			return soap.ToSoapFault(e).VimFault()
		}
		if soap.IsVimFault(e) {
			return soap.ToVimFault(e)
		}
	}
	return nil
}

// isSessionEnded reports whether the session has ended, as after an idle time or
// a restart.
func isSessionEnded(err error) bool {
	switch fault(err).(type) {
	case types.NotAuthenticated, *types.NotAuthenticated, types.ManagedObjectNotFound, *types.ManagedObjectNotFound:
		return true
	}
	return false
}

func (c *Center) failure(err error) *desktop.Failure {
	fail := func(cause desktop.Cause, reason string) *desktop.Failure {
		return &desktop.Failure{Cause: cause, Reason: c.spec.Name + " " + reason, Err: err}
	}
	switch f := fault(err).(type) {
	case nil:
		return reach.Failure(c.spec.Name, err)
	case types.InvalidLogin, *types.InvalidLogin:
		return fail(desktop.Refused, "does not accept the user name and password")
	case types.NoPermission, *types.NoPermission:
		return fail(desktop.Denied, "does not permit the user to read")
	case types.NotAuthenticated, *types.NotAuthenticated:
		return fail(desktop.Denied, "ends every session at once")
	default:
		return fail(desktop.Denied, fmt.Sprintf("answers with the fault %T", f))
	}
}
