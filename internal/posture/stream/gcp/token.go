package gcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"vigil/internal/fault"
	"vigil/internal/posture/stream/refusal"
)

// keysURL is the address of Google's public keys of identity tokens.
const keysURL = "https://www.googleapis.com/oauth2/v3/certs"

// Limits of fetching the keys, and of the tokens.
const (
	fetchTime  = 5 * time.Second
	fetchSize  = 64 << 10
	keysKept   = time.Hour        // Google rotates them within days
	fetchPause = 30 * time.Second // minimum time between fetches
	leeway     = time.Minute      // permitted difference between clocks
	maxLife    = 24 * time.Hour   // maximum lifetime of a token
)

// issuers are the issuers of Google's identity tokens.
var issuers = []string{"https://accounts.google.com", "accounts.google.com"}

// Keys fetches and caches Google's keys. It is safe for concurrent use.
type Keys struct {
	http *http.Client
	now  func() time.Time

	mu      sync.Mutex
	set     jose.JSONWebKeySet
	fetched time.Time
	tried   time.Time
	failure error // of the last fetch
}

// NewKeys returns an empty cache. The client must be restricted to the addresses of
// the clouds; redirects are not followed.
func NewKeys(client *http.Client, now func() time.Time) *Keys {
	strict := *client
	strict.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Keys{http: &strict, now: now}
}

// claims are the claims of an identity token.
type claims struct {
	jwt.Claims
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
}

// bearer returns the token of an Authorization header.
func bearer(header string) (string, bool) {
	scheme, token, ok := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != "" && len(token) <= 8<<10
}

// algorithms are those that Google signs identity tokens with.
var algorithms = []jose.SignatureAlgorithm{jose.RS256}

// unverifiedClaims returns the claims of a token without verifying it.
func unverifiedClaims(token string) (claims, error) {
	var c claims
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err == nil {
		err = parsed.UnsafeClaimsWithoutVerification(&c)
	}
	if err != nil {
		return c, refusal.New(refusal.Signature, "read token: %w", err)
	}
	return c, nil
}

// verify checks that Google signed a token for an audience and a service account.
func (k *Keys) verify(ctx context.Context, token, audience, email string) error {
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return refusal.New(refusal.Signature, "read token: %w", err)
	}
	if len(parsed.Headers) != 1 || parsed.Headers[0].KeyID == "" {
		return refusal.New(refusal.Signature, "the token does not name one key")
	}
	key, err := k.key(ctx, parsed.Headers[0].KeyID)
	if err != nil {
		return err
	}
	var c claims
	if err := parsed.Claims(key, &c); err != nil {
		return refusal.New(refusal.Signature, "check token: %w", err)
	}
	now := k.now()
	switch {
	case c.Issuer != issuers[0] && c.Issuer != issuers[1]:
		return refusal.New(refusal.Claims, "the token is of another issuer")
	case len(c.Audience) != 1 || c.Audience[0] != audience:
		return refusal.New(refusal.Claims, "the token is for another audience")
	case c.Email != email || !c.EmailVerified:
		return refusal.New(refusal.Claims, "the token is of another service account")
	case c.Expiry == nil || c.IssuedAt == nil:
		return refusal.New(refusal.Claims, "the token has no expiry or no time of issue")
	case now.After(c.Expiry.Time().Add(leeway)), now.Before(c.IssuedAt.Time().Add(-leeway)), c.NotBefore != nil && now.Before(c.NotBefore.Time().Add(-leeway)):
		return refusal.New(refusal.Stale, "the token is not valid now")
	case c.Expiry.Time().Sub(c.IssuedAt.Time()) > maxLife:
		return refusal.New(refusal.Claims, "the token lasts too long")
	}
	return nil
}

// key returns the key with an id. It fetches the keys when the cached ones have
// expired or lack the id, but at most once per fetchPause. Until a fetch succeeds, expired
// keys stay in use. A key that is missing after a failed fetch may exist: the error is
// fault.Unavailable, so that the sender repeats the message.
func (k *Keys) key(ctx context.Context, id string) (*jose.JSONWebKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	found := k.set.Key(id)
	stale := now.Sub(k.fetched) > keysKept
	if (len(found) == 0 || stale) && now.Sub(k.tried) > fetchPause {
		k.tried = now
		var set jose.JSONWebKeySet
		// Other requests use the result too, so the end of this one must not cancel the fetch.
		if set, k.failure = k.fetch(context.WithoutCancel(ctx)); k.failure == nil {
			k.set, k.fetched = set, now
			found = k.set.Key(id)
		}
	}
	switch {
	case len(found) == 0 && k.failure != nil:
		return nil, fault.Wrap(fault.Unavailable, k.failure, "Google's public keys could not be fetched")
	case len(found) == 0:
		return nil, refusal.New(refusal.Signature, "unknown key id")
	}
	if found[0].Algorithm != "" && found[0].Algorithm != string(jose.RS256) || !found[0].IsPublic() {
		return nil, refusal.New(refusal.Signature, "the key is not for RS256 signatures")
	}
	return &found[0], nil
}

// fetch downloads Google's keys.
func (k *Keys) fetch(ctx context.Context) (set jose.JSONWebKeySet, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, keysURL, nil)
	if err != nil {
		return set, fmt.Errorf("fetch keys: %w", err)
	}
	res, err := k.http.Do(r)
	if err != nil {
		return set, fmt.Errorf("fetch keys: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return set, fmt.Errorf("fetch keys: status %d", res.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, fetchSize))
	if err != nil {
		return set, fmt.Errorf("fetch keys: %w", err)
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return set, fmt.Errorf("read keys: %w", err)
	}
	return set, nil
}
