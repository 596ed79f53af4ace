package app

import (
	"context"
	"errors"
	"time"

	"vigil/internal/auth/authapi"
	"vigil/internal/desktop"
	"vigil/internal/desktop/directory"
	"vigil/internal/desktop/session"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

// health returns this server's health for its peers.
func (a *App) health(ctx context.Context) (desktop.PeerHealth, error) {
	revision, err := a.store.Revision(ctx)
	if err != nil {
		return desktop.PeerHealth{}, err
	}
	h := desktop.PeerHealth{
		Name: a.name(), Version: a.o.Version, Build: a.o.Build, Revision: revision, Views: a.board.Views(),
		Problems: []string{}, Warnings: []string{},
	}
	if refused := a.board.Refused(); refused != nil {
		h.Warnings = append(h.Warnings, "its inventory file is refused and the last good one is in use: "+refused.Message)
	}
	return h, nil
}

// name returns this server's name in the inventory.
func (a *App) name() string {
	self, _ := a.board.Inventory().Self()
	return self.Name
}

// peerToken returns the token that peers authenticate with.
func (a *App) peerToken(ctx context.Context) (secret.Text, error) {
	ref := a.board.Inventory().PeerToken
	if ref == "" {
		return secret.Text{}, nil
	}
	token, err := a.secrets.Secret(ctx, ref)
	return secret.NewText(token), err
}

// loginDirectory implements session.Directory with the directory client.
type loginDirectory struct {
	client *directory.Client
	board  *desktop.Board
}

// Find implements [session.Directory].
func (d loginDirectory) Find(name string) (desktop.Domain, bool) { return d.client.Find(name) }

// Lockout implements [session.Directory]. For a directory that was not read yet
// it assumes a very low threshold.
func (d loginDirectory) Lockout(id desktop.ID) desktop.LockoutPolicy {
	if p, ok := d.lockout(id); ok {
		return p
	}
	return desktop.LockoutPolicy{Threshold: 2}
}

// longestWindow is the longest window that the group policy of Active Directory allows.
const longestWindow = 99_999 * time.Minute

// LongestWindow implements [session.Directory]. For a directory that was not read
// yet it assumes a very long window.
func (d loginDirectory) LongestWindow() time.Duration {
	var longest time.Duration
	for _, domain := range d.board.Inventory().Domains {
		p, ok := d.lockout(domain.ID)
		if !ok {
			p.Window = longestWindow
		}
		longest = max(longest, p.Window)
	}
	return longest
}

// lockout returns the lockout policy of a domain, and false if its directory was not
// read yet.
func (d loginDirectory) lockout(id desktop.ID) (desktop.LockoutPolicy, bool) {
	p := d.board.Lockout(id)
	if p != (desktop.LockoutPolicy{}) {
		return p, true
	}
	for _, v := range d.board.Views() {
		if v.ID == id && v.Status == string(desktop.DomainFullyAccessible) {
			return p, true // it was read and never locks accounts
		}
	}
	return p, false
}

// Login implements [session.Directory].
func (d loginDirectory) Login(ctx context.Context, domain desktop.Domain, username string, password secret.Text) (session.User, error) {
	u, err := d.client.Login(ctx, domain.ID, username, password.Reveal())
	if err != nil {
		return session.User{}, refusal(err)
	}
	return session.User{DomainID: domain.ID, Domain: u.Domain, Name: u.Name, SID: u.SID}, nil
}

// tryAccount tries the credentials of an instant clone account.
func (a *App) tryAccount(ctx context.Context, d desktop.Domain, username string, password secret.Text) error {
	return refusal(a.directory.CheckCloneAccount(ctx, d.ID, username, password.Reveal()))
}

// refusal converts a directory's refusal to that of package session.
func refusal(err error) error {
	if r, ok := errors.AsType[*directory.Refusal](err); ok {
		return &session.Refusal{Cause: string(r.Reason), Counted: r.Counted, Err: err, Misconfigured: r.Reason == directory.NoAdministrators}
	}
	return err
}

// reportLogin records a login or logout in the request's audit record, in the
// event database and in the metrics.
func (a *App) reportLogin(ctx context.Context, e session.Event) {
	outcome := "success"
	if e.Refused != "" {
		outcome = "refused"
		httpapi.Note(ctx, authapi.NoteCause, e.Refused)
	}
	if e.SID != "" {
		httpapi.Note(ctx, authapi.NoteActor, e.SID)
		httpapi.SetCaller(ctx, httpapi.Caller{ID: e.Session, Name: e.Domain + `\` + e.Username})
	}
	if e.Action == "login" {
		a.metrics.logins.WithLabelValues(outcome).Inc()
	}
	a.events.Record(loginEvent(e, a.name()))
}
