// Package auth authenticates the requests of the generated clients.
package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// renewBefore is how long before its expiry an access token is replaced.
const renewBefore = time.Minute

// An APIToken exchanges an API token of the posture server for access tokens.
// Its method Authorize is a RequestEditorFn of the generated client, and is safe for
// concurrent use.
type APIToken struct {
	Server string       // URL of the posture server
	Token  string       // the API token
	HTTP   *http.Client // http.DefaultClient if nil

	mu      sync.Mutex
	access  string
	expires time.Time
}

// Authorize adds an access token to a request.
func (t *APIToken) Authorize(ctx context.Context, r *http.Request) error {
	access, err := t.accessToken(ctx)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+access)
	return nil
}

func (t *APIToken) accessToken(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Now().Add(renewBefore).Before(t.expires) {
		return t.access, nil
	}
	form := strings.NewReader(url.Values{"refresh_token": {t.Token}}.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Server+"/csp/gateway/am/api/auth/api-tokens/authorize", form)
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := t.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("exchange the API token: the server answered %s", response.Status)
	}
	var authorization struct {
		Access  string `json:"access_token"`
		Seconds int    `json:"expires_in"`
	}
	if err := json.NewDecoder(response.Body).Decode(&authorization); err != nil {
		return "", fmt.Errorf("decode the response to the exchange of the API token: %w", err)
	}
	t.access = authorization.Access
	t.expires = time.Now().Add(time.Duration(authorization.Seconds) * time.Second)
	return t.access, nil
}

// Bearer returns a RequestEditorFn that adds an access token, such as that of a
// login to the desktop server.
func Bearer(access string) func(context.Context, *http.Request) error {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+access)
		return nil
	}
}
