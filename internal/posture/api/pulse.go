package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"vigil/internal/cursor"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

// Pulses returns version tokens of an organisation's data.
type Pulses interface {
	Pulse(ctx context.Context, org posture.OrgID) (posture.Pulse, error)
	// Visible returns the part of a pulse that the caller may see.
	Visible(ctx context.Context, p posture.Pulse) posture.Pulse
}

// pulseInterval is how often the data of an organisation is compared while
// browsers follow it.
const pulseInterval = time.Second

type (
	pulseIn struct {
		IfNoneMatch string `header:"If-None-Match"`
	}
	pulse struct {
		Findings       string        `json:"findings"`
		Entities       string        `json:"entities"`
		Rules          string        `json:"rules"`
		Accounts       string        `json:"accounts"`
		Collections    string        `json:"collections"`
		LastChangeTime *httpapi.Time `json:"lastChangeTime,omitempty"`
	}
)

// getPulse responds with 304 if nothing has changed.
func (a *API) getPulse(ctx context.Context, in pulseIn) (httpapi.Reply, error) {
	p, err := a.Pulses.Pulse(ctx, a.Org(ctx))
	if err != nil {
		return httpapi.Reply{}, err
	}
	p = a.Pulses.Visible(ctx, p)
	tag, err := cursor.Hash(p)
	if err != nil {
		return httpapi.Reply{}, err
	}
	out := httpapi.Tagged(tag, toPulse(p))
	if strings.Contains(in.IfNoneMatch, `"`+tag+`"`) {
		out.Status, out.Body = http.StatusNotModified, nil
	}
	return out, nil
}

func toPulse(p posture.Pulse) pulse {
	return pulse{p.Findings, p.Entities, p.Rules, p.Accounts, p.Collections, optionalTime(p.LastChange)}
}

// streamPulse returns the handler that sends the pulse after each change.
func (a *API) streamPulse() httpapi.Handler {
	feed := httpapi.NewFeed("pulse", pulseInterval, func(ctx context.Context, org posture.OrgID) (posture.Pulse, error) {
		return a.Pulses.Pulse(ctx, org)
	})
	return feed.Stream(func(ctx context.Context) posture.OrgID { return a.Org(ctx) }, func(ctx context.Context, p posture.Pulse) any {
		return toPulse(a.Pulses.Visible(ctx, p))
	})
}
