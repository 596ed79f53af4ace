package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/httpapi"
)

// pulse contains the times of the latest changes. It is cheap, so that clients
// can poll it often.
type pulse struct {
	desktop.Pulse
	Alerts        desktop.Millis `json:"alerts"`
	Configuration desktop.Millis `json:"configuration"`
}

// readPulse returns the pulse and the revision of the configuration.
func (a *API) readPulse(ctx context.Context) (pulse, desktop.Revision, error) {
	revision, err := a.Revision(ctx)
	return pulse{a.Board.Pulse(), desktop.MillisOf(a.Alerts.ChangedAt()), revision.At}, revision, err
}

func (a *API) pulse(_ http.ResponseWriter, r *http.Request) (any, error) {
	p, revision, err := a.readPulse(r.Context())
	if err != nil {
		return nil, err
	}
	etag := fmt.Sprintf(`"%x-%x-%x-%x-%x"`, p.Records, p.Statuses, p.Inventory, p.Alerts, revision.Number)
	if httpapi.NotModified(r, etag) {
		return httpapi.Reply{Status: http.StatusNotModified, Header: http.Header{"Etag": {etag}}}, nil
	}
	return httpapi.OK(p).With("ETag", etag), nil
}

// pulseInterval is how often the pulse is compared while browsers follow it.
const pulseInterval = time.Second

// streamPulse returns the handler that sends the pulse after each change. All
// callers get the same pulse: the feed has a single key.
func (a *API) streamPulse() httpapi.Handler {
	feed := httpapi.NewFeed("pulse", pulseInterval, func(ctx context.Context, _ struct{}) (pulse, error) {
		p, _, err := a.readPulse(ctx)
		return p, err
	})
	return feed.Stream(func(context.Context) struct{} { return struct{}{} }, func(_ context.Context, p pulse) any { return p })
}
