package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"vigil/internal/sim/events"
)

// tenantEvery is the interval at which the tenant, a simulated user, changes the clouds.
const tenantEvery = 4 * time.Second

// newPublisher returns the publisher of the simulated clouds' events.
func newPublisher(log *slog.Logger) (*events.Publisher, error) {
	sns, err := events.NewSNS(time.Now)
	if err != nil {
		return nil, err
	}
	google, err := events.NewGoogle(time.Now)
	if err != nil {
		return nil, err
	}
	return &events.Publisher{Client: &http.Client{Timeout: 15 * time.Second}, SNS: sns, Google: google, Log: log, Now: time.Now}, nil
}

// stream sets up the event streams of the demo's accounts, like the set-up
// scripts, and simulates a tenant until ctx is done.
func (w *world) stream(ctx context.Context, base, apiToken string) error {
	token, err := logIn(ctx, base, apiToken)
	if err != nil {
		return err
	}
	w.publisher.Start(ctx)
	for _, set := range w.sets {
		var s events.Stream
		path := "/v1/cloud-accounts/" + string(set.Links[0].Account) + "/event-stream"
		if err := call(ctx, base+path, token, &s); err != nil {
			return fmt.Errorf("set up event stream: %w", err)
		}
		if err := w.publisher.Subscribe(ctx, s); err != nil {
			return err
		}
	}
	w.work.Go(func() {
		w.tenant.Run(ctx)
		w.publisher.Wait()
	})
	return nil
}

// logIn exchanges an API token for an access token.
func logIn(ctx context.Context, base, apiToken string) (string, error) {
	form := url.Values{"refresh_token": {apiToken}}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/csp/gateway/am/api/auth/api-tokens/authorize", bytes.NewReader([]byte(form)))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var grant struct {
		AccessToken string `json:"access_token"`
	}
	err = answer(r, &grant)
	return grant.AccessToken, err
}

// call posts to the server and decodes its response.
func call(ctx context.Context, address, token string, target any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return answer(r, target)
}

// answer sends a request and decodes its response into target.
func answer(r *http.Request, target any) error {
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s: status %d: %s", r.URL.Path, res.StatusCode, text)
	}
	return json.Unmarshal(text, target)
}
