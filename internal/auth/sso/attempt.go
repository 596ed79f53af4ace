package sso

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"

	"vigil/internal/secret"
)

// AttemptLife is how long a user may take to log in at the provider.
const AttemptLife = 10 * time.Minute

// A Sealer encrypts and decrypts. *secret.Box implements it.
type Sealer interface {
	Seal(ctx context.Context, c secret.Cell, plaintext []byte) ([]byte, error)
	Open(ctx context.Context, c secret.Cell, sealed []byte) ([]byte, error)
}

// An attempt is a login that was started. It is stored in an encrypted cookie,
// so that anonymous requests store nothing on the server, and the callback may
// be handled by another process.
type attempt struct {
	State    string
	Nonce    string
	Verifier string // of PKCE
	Return   string
	Ends     time.Time
}

var attemptCell = secret.Cell{Table: "sso", Field: "attempt"}

func (p *Provider) seal(ctx context.Context, a attempt) (string, error) {
	plaintext, err := json.Marshal(a)
	if err != nil {
		return "", err
	}
	sealed, err := p.o.Sealer.Seal(ctx, attemptCell, plaintext)
	if err != nil {
		return "", fmt.Errorf("encrypt the login attempt: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

func (p *Provider) open(ctx context.Context, cookie string) (a attempt, err error) {
	if cookie == "" {
		return a, errors.New("the browser sent no cookie of a login")
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return a, errors.New("the cookie of the login is malformed")
	}
	plaintext, err := p.o.Sealer.Open(ctx, attemptCell, sealed)
	if err != nil {
		return a, fmt.Errorf("read the cookie of the login: %w", err)
	}
	if err := json.Unmarshal(plaintext, &a); err != nil {
		return a, fmt.Errorf("read the cookie of the login: %w", err)
	}
	if !p.o.Now().Before(a.Ends) {
		return a, errors.New("the login took too long")
	}
	return a, nil
}

// home is the first page of the console.
const home = "/console/"

// SafeReturn returns the path to go to after a login: a page of the console, or
// its first page when the path is anything else. The result is always a path on
// this server.
func SafeReturn(to string) string {
	u, err := url.Parse(to)
	switch { // every case except default refuses the path
	case err != nil || len(to) > 1000 || u.IsAbs() || u.Host != "" || u.User != nil || u.Opaque != "":
	case strings.ContainsFunc(to, func(c rune) bool { return c == '\\' || unicode.IsControl(c) || unicode.IsSpace(c) }):
	case !strings.HasPrefix(u.Path, home) || !isClean(u.Path):
	case strings.HasPrefix(u.Path, home+"sso/") || u.Path == home+"open": // these begin a login
	default:
		return to
	}
	return home
}

// isClean reports whether a path has neither dot segments nor repeated slashes. It may end with a slash.
func isClean(p string) bool { return path.Clean(p) == p || path.Clean(p)+"/" == p }
