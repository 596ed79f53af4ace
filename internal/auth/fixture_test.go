package auth_test

import (
	"sync"
	"testing"
	"time"

	"vigil/internal/auth"
	"vigil/internal/auth/authdb"
	"vigil/internal/fault"
	"vigil/internal/secret"
	"vigil/internal/secret/secretdb"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// clock is a time that tests advance.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

// newClock returns a clock between two seconds, because a JWT has times in whole seconds.
func newClock() *clock { return &clock{t: time.Date(2026, 11, 15, 12, 0, 0, 700_000_000, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// fixture is a database with the state that all processes share.
type fixture struct {
	db    *sqldb.DB
	box   *secret.Box
	clock *clock
}

func newFixture(t *testing.T, db *sqldb.DB) *fixture {
	t.Helper()
	ctx := t.Context()
	for _, err := range []error{secretdb.Migrate(ctx, db), authdb.Migrate(ctx, db)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	h := &fixture{db: db, clock: newClock()}
	box, err := secret.NewBox(ctx, secretdb.NewKeyring(db), secret.Options{Master: secrettest.Master(t), Now: h.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	h.box = box
	return h
}

// process is one server process.
type process struct {
	*auth.Registry
	*auth.Authenticator
	keys *auth.Keys
}

const issuer = "https://vigil.test"

func (f *fixture) process(t *testing.T) *process {
	t.Helper()
	store := authdb.NewStore(f.db)
	keys := auth.NewKeys(store, f.box, auth.KeyOptions{Realm: "posture", Issuer: issuer, Now: f.clock.now})
	if err := keys.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	registry := auth.NewRegistry(store, f.clock.now)
	return &process{registry, auth.NewAuthenticator(registry, keys, auth.AuthenticatorOptions{Audience: "posture"}), keys}
}

// org creates an organisation and returns its admin and an API token of the
// admin.
func (p *process) org(t *testing.T, name string) (auth.Caller, secret.Text) {
	t.Helper()
	o, u, err := p.CreateOrg(t.Context(), name, "admin")
	if err != nil {
		t.Fatal(err)
	}
	token, text, err := p.IssueToken(t.Context(), auth.Operator(o.ID), auth.TokenEdit{Name: "first", User: u.ID})
	if err != nil {
		t.Fatal(err)
	}
	return auth.Caller{Org: o.ID, User: u.ID, Name: u.Name, Role: auth.Admin, Token: token.ID}, text
}

// user adds a user and returns the user and an API token.
func (p *process) user(t *testing.T, caller auth.Caller, name string, role auth.Role) (auth.User, auth.Token, secret.Text) {
	t.Helper()
	u, err := p.AddUser(t.Context(), caller, auth.UserEdit{Name: name, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	token, text, err := p.IssueToken(t.Context(), caller, auth.TokenEdit{Name: name, User: u.ID})
	if err != nil {
		t.Fatal(err)
	}
	return u, token, text
}

// access exchanges an API token for an access token.
func (p *process) access(t *testing.T, text secret.Text) string {
	t.Helper()
	g, err := p.Exchange(t.Context(), text, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	return g.AccessToken.Reveal()
}

func onBothDatabases(t *testing.T, test func(t *testing.T, h *fixture)) {
	t.Helper()
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) { test(t, newFixture(t, db)) })
}

func onSQLite(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, dbtest.Open(t, dbtest.SQLite(t)))
}

func wantKind(t *testing.T, what string, err error, want fault.Kind) {
	t.Helper()
	if !fault.Is(err, want) {
		t.Errorf("%s: %v, want a fault of kind %d", what, err, want)
	}
}
