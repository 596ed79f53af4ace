// Package vcenter probes virtual centers.
package vcenter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

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
	client      *soapClient
	content     serviceContent
	hostView    ref // of hosts, datastores and their folders
	desktopView ref // of the virtual machines that are desktops
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
		s, err := c.connect(ctx)
		if err != nil {
			return desktop.VirtualCenterReading{}, err
		}
		c.vcSession = s
	}
	content, err := c.vcSession.retrieve(ctx)
	if err != nil {
		return desktop.VirtualCenterReading{}, err
	}
	about := c.vcSession.content.About
	reading, err := describe(content)
	reading.APIVersion, reading.Version, reading.Build = about.APIVersion, about.Version, about.Build
	reading.InstanceUUID = about.InstanceUUID
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
	_ = c.vcSession.logout(ctx) // after an error, the center ends the session when it is idle
	c.drop()
}

// drop discards the session.
func (c *Center) drop() {
	if c.vcSession != nil {
		c.vcSession.client.close()
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
	client := &soapClient{address: c.address().String(), cookies: make(map[string]string), http: &http.Client{
		Transport: &http.Transport{DialContext: reach.Dialer().DialContext, TLSClientConfig: config, MaxResponseHeaderBytes: 64 << 10},
		// Probes connect only to the addresses in the inventory.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	s := &vcSession{client: client}
	if s.content, err = client.serviceContent(ctx); err != nil {
		client.close()
		return nil, fmt.Errorf("read service content: %w", err)
	}
	if err := client.login(ctx, s.content.SessionManager, c.spec.UserName, password); err != nil {
		client.close()
		return nil, fmt.Errorf("log in: %w", err)
	}
	if err := c.createViews(ctx, s); err != nil {
		_ = s.logout(ctx)
		client.close()
		return nil, err
	}
	return s, nil
}

// logout ends the session at the server.
func (s *vcSession) logout(ctx context.Context) error {
	return s.client.logout(ctx, s.content.SessionManager)
}

// createViews creates the session's views.
func (c *Center) createViews(ctx context.Context, s *vcSession) error {
	var err error
	root := s.content.RootFolder
	if s.hostView, err = s.client.createContainerView(ctx, s.content.ViewManager, root, objectTypes); err != nil {
		return fmt.Errorf("create the view of hosts: %w", err)
	}
	folder := root
	if c.spec.DesktopFolder != "" {
		found, err := s.client.findByInventoryPath(ctx, s.content.SearchIndex, c.spec.DesktopFolder)
		if err != nil {
			return fmt.Errorf("find the folder of desktops: %w", err)
		}
		if found == nil {
			return &desktop.Failure{Cause: desktop.Broken, Reason: c.spec.Name + " has no folder " + c.spec.DesktopFolder}
		}
		folder = *found
	}
	if s.desktopView, err = s.client.createContainerView(ctx, s.content.ViewManager, folder, []string{"VirtualMachine"}); err != nil {
		return fmt.Errorf("create the view of desktops: %w", err)
	}
	return nil
}

// faultType returns the type of the virtual center's own fault in an error, or
// "".
func faultType(err error) string {
	if f, ok := errors.AsType[*soapFault](err); ok {
		return f.Type
	}
	return ""
}

// isSessionEnded reports whether an error means that the session has ended, as after an idle time or
// a restart. The views end with their session: a read of one that has ended fails with ManagedObjectNotFound.
func isSessionEnded(err error) bool {
	kind := faultType(err)
	return kind == "NotAuthenticated" || kind == "ManagedObjectNotFound"
}

func (c *Center) failure(err error) *desktop.Failure {
	fail := func(cause desktop.Cause, reason string) *desktop.Failure {
		return &desktop.Failure{Cause: cause, Reason: c.spec.Name + " " + reason, Err: err}
	}
	fault, ok := errors.AsType[*soapFault](err)
	if !ok {
		return reach.Failure(c.spec.Name, err)
	}
	switch fault.Type {
	case "InvalidLogin":
		return fail(desktop.Refused, "does not accept the user name and password")
	case "NoPermission":
		return fail(desktop.Denied, "does not permit the user to read")
	case "NotAuthenticated":
		return fail(desktop.Denied, "ends each new session immediately")
	default:
		return fail(desktop.Denied, "answers with the fault "+cmp.Or(fault.Type, fault.Message))
	}
}
