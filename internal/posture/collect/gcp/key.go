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

// tokenURI is where tokens come from. A key file names a place too, and whoever
// wrote the file chose it: no other than this is asked.
const tokenURI = "https://oauth2.googleapis.com/token"

// scope of all tokens. What may be read is up to the roles of the service
// account; the read-only variant does not cover all services.
const tokenScope = "https://www.googleapis.com/auth/cloud-platform"

// early is how long before its end a token is renewed.
const early = 4 * time.Minute

// tokens are a service account's. They are kept until shortly before they end.
type tokens struct {
	source auth.TokenProvider

	mu    sync.Mutex
	token *auth.Token
}

// newTokens returns the tokens of a key, which it checks first.
func newTokens(key posture.ServiceAccountKey, client *http.Client) (*tokens, error) {
	if key.Type != "service_account" {
		return nil, &identityError{fmt.Sprintf("the key is of type %q; only service account keys are taken", key.Type), nil}
	}
	if key.TokenURI != "" && key.TokenURI != tokenURI {
		return nil, &identityError{"the key's token_uri is not " + tokenURI, nil}
	}
	source, err := auth.New2LOTokenProvider(&auth.Options2LO{
		Email: key.ClientEmail, PrivateKey: []byte(key.PrivateKey), PrivateKeyID: key.PrivateKeyID,
		TokenURL: tokenURI, Scopes: []string{tokenScope}, Client: client,
	})
	if err != nil {
		return nil, &identityError{"the key is not complete", err}
	}
	return &tokens{source: source}, nil
}

// get returns a token that is good for a while. Of several that ask at a time
// one signs in and the others wait for it.
func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if t.token != nil && (t.token.Expiry.IsZero() || time.Until(t.token.Expiry) > early) {
		return t.token.Value, nil
	}
	token, err := t.source.Token(ctx)
	if err != nil {
		return "", signIn(ctx, err)
	}
	if token.Value == "" {
		return "", errors.New("sign in: the answer has no token")
	}
	t.token = token
	return token.Value, nil
}

// forget drops a token that Google does not accept any more, unless it was
// renewed meanwhile.
func (t *tokens) forget(value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != nil && t.token.Value == value {
		t.token = nil
	}
}

// signIn says what to mend when a key is refused. When Google did not answer, or
// not in its way, that says nothing about the key.
func signIn(ctx context.Context, err error) error {
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
		return fmt.Errorf("sign in: Google answers %d", status)
	}
	why, said := "Google refuses the key", strings.ToLower(answer.Description)
	switch {
	case strings.Contains(said, "signature"):
		why = "the key does not belong to the service account, or was deleted: make a new key"
	case strings.Contains(said, "account not found"), strings.Contains(said, "invalid issuer"):
		why = "the service account does not exist any more, or not under this name"
	case strings.Contains(said, "reasonable timeframe"):
		why = "Google says that this server's clock is wrong"
	case strings.Contains(said, "disabled"):
		why = "the service account is disabled"
	}
	return &identityError{why + " (" + clip(answer.Error) + ")", err}
}

// clip keeps what a cloud says short enough for a status.
func clip(text string) string {
	const most = 300
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
