package estate

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"vigil/internal/desktop"
)

// follower simulates replication: it reads the product's health like a peer,
// and the simulated connection servers report the same revision.
type follower struct {
	token string
	now   func() time.Time

	mu     sync.Mutex
	health desktop.PeerHealth
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// followEvery is well below the grace period of replication.
const followEvery = 2 * time.Second

// start follows the server at an https URL. It does not verify the certificate:
// the token is worthless outside the simulation.
func (f *follower) start(ctx context.Context, server string) {
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	client := &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}
	f.work.Go(func() {
		defer client.CloseIdleConnections()
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for {
			f.follow(ctx, client, server)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// follow reads the health once. If the server does not answer, the last health
// is kept.
func (f *follower) follow(ctx context.Context, client *http.Client, server string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+desktop.HealthPath, nil)
	if err != nil {
		return
	}
	request.Header.Set("Authorization", "Bearer "+f.token)
	response, err := client.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	var h desktop.PeerHealth
	if response.StatusCode == http.StatusOK && json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&h) == nil {
		f.mu.Lock()
		f.health = h
		f.mu.Unlock()
	}
}

func (f *follower) last() desktop.PeerHealth {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.health
	if h.Version == "" {
		h.Version, h.Build = "starting", "0"
	}
	return h
}

func (f *follower) stop() {
	if f.cancel != nil {
		f.cancel()
		f.work.Wait()
	}
}
