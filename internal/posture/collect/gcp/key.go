package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/auth"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// tokenURI is the only URL from which tokens are requested. A key file also
// contains a URL, which is not trusted because the author of the file chose it.
const tokenURI = "https://oauth2.googleapis.com/token"

// tokenScope is the scope of all tokens. The roles of the service account limit
// what may be read; the read-only scope does not cover all services.
const tokenScope = "https://www.googleapis.com/auth/cloud-platform"

// renewBefore is how long before its expiry a token is renewed.
const renewBefore = 4 * time.Minute

// tokens provides the access tokens of a service account. It caches a token
// until shortly before its expiry.
type tokens struct {
	source auth.TokenProvider

	mu    sync.Mutex
	token *auth.Token
}

// newTokens checks a key and returns its tokens.
func newTokens(key posture.ServiceAccountKey, client *http.Client) (*tokens, error) {
	if key.Type != "service_account" {
		return nil, &identityError{fmt.Sprintf("the key has type %q; only service account keys are accepted", key.Type), nil}
	}
	if key.TokenURI != "" && key.TokenURI != tokenURI {
		return nil, &identityError{"the key's token_uri is not " + tokenURI, nil}
	}
	source, err := auth.New2LOTokenProvider(&auth.Options2LO{
		Email: key.ClientEmail, PrivateKey: []byte(key.PrivateKey), PrivateKeyID: key.PrivateKeyID,
		TokenURL: tokenURI, Scopes: []string{tokenScope}, Client: client,
	})
	if err != nil {
		return nil, &identityError{"the key is incomplete", err}
	}
	return &tokens{source: source}, nil
}

// get returns a token that is valid for some minutes. Concurrent callers wait
// for the one that signs in.
func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if t.token != nil && (t.token.Expiry.IsZero() || time.Until(t.token.Expiry) > renewBefore) {
		return t.token.Value, nil
	}
	token, err := t.source.Token(ctx)
	if err != nil {
		return "", signInError(ctx, err)
	}
	if token.Value == "" {
		return "", errors.New("sign in: the response has no token")
	}
	t.token = token
	return token.Value, nil
}

// forget drops a token that Google no longer accepts, unless it has been renewed in the meantime.
func (t *tokens) forget(value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != nil && t.token.Value == value {
		t.token = nil
	}
}

// signInError explains why a key is refused. When Google did not respond, or not as
// expected, the error says nothing about the key.
func signInError(ctx context.Context, err error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	refused, ok := errors.AsType[*auth.Error](err)
	if !ok {
		if strings.Contains(err.Error(), "private key") {
			return &identityError{"the key's private_key cannot be read", err}
		}
		return fmt.Errorf("sign in: %w", err)
	}
	var answer struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if status := refused.Response.StatusCode; status == http.StatusTooManyRequests {
		return &classError{collect.ErrThrottled, "sign in", err}
	} else if status >= http.StatusInternalServerError || json.Unmarshal(refused.Body, &answer) != nil || answer.Error == "" {
		return fmt.Errorf("sign in: Google responded with %d", status)
	}
	reason, description := "Google refuses the key", strings.ToLower(answer.Description)
	switch {
	case strings.Contains(description, "signature"):
		reason = "the key does not belong to the service account, or was deleted: make a new key"
	case strings.Contains(description, "account not found"), strings.Contains(description, "invalid issuer"):
		reason = "the service account does not exist: check client_email"
	case strings.Contains(description, "reasonable timeframe"):
		reason = "Google reports that this server's clock is wrong"
	case strings.Contains(description, "disabled"):
		reason = "the service account is disabled"
	}
	return &identityError{reason + " (" + clip(answer.Error) + ")", err}
}

// clip truncates a message of the cloud for a status.
func clip(text string) string {
	const maxLength = 300
	if len(text) > maxLength {
		return strings.ToValidUTF8(text[:maxLength], "") + "…"
	}
	return text
}
