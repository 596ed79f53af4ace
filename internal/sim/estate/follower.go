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

// follower copies the product's replication state and views to the peers: it reads
// the product's health like a peer, and the simulated connection servers report the
// same revision and views.
type follower struct {
	token  string
	now    func() time.Time
	client *http.Client
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	server string             // https URL of the product
	health desktop.PeerHealth // without a version before the first reading
}

// followEvery is well below the grace period of replication.
const followEvery = 2 * time.Second

// newFollower returns a follower that does not verify the product's certificate: the token
// is worthless outside the simulation.
func newFollower(token string, now func() time.Time) *follower {
	return &follower{token: token, now: now, client: &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}}
}

// setServer sets the https URL of the product.
func (f *follower) setServer(server string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.server = server
}

// start follows the product until stop.
func (f *follower) start(ctx context.Context) {
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	f.work.Go(func() {
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for {
			f.follow(ctx)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// follow reads the health once. If the product does not answer, the last health
// is kept.
func (f *follower) follow(ctx context.Context) {
	f.mu.Lock()
	server := f.server
	f.mu.Unlock()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+desktop.HealthPath, nil)
	if err != nil {
		return
	}
	request.Header.Set("Authorization", "Bearer "+f.token)
	response, err := f.client.Do(request)
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

// last returns the health that was read last, or false if none can be read. It reads the health
// now if it was not read before, because the product probes its peers as soon as it serves. A
// peer that answered without the product's health would report an empty store, which the product
// would take for a different one.
func (f *follower) last(ctx context.Context) (desktop.PeerHealth, bool) {
	h, ok := f.known()
	if !ok {
		f.follow(ctx)
		h, ok = f.known()
	}
	return h, ok
}

func (f *follower) known() (desktop.PeerHealth, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.health, f.health.Version != ""
}

func (f *follower) stop() {
	if f.cancel != nil {
		f.cancel()
		f.work.Wait()
	}
	f.client.CloseIdleConnections()
}
