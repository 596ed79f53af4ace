package api

import (
	"context"
	"net/http"
	"strings"

	"vigil/internal/cursor"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
)

// Pulses returns version tokens of an organisation's data.
type Pulses interface {
	Pulse(ctx context.Context, org posture.OrgID) (posture.Pulse, error)
}

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
	tag, err := cursor.Hash(p)
	if err != nil {
		return httpapi.Reply{}, err
	}
	out := httpapi.Tagged(tag, pulse{p.Findings, p.Entities, p.Rules, p.Accounts, p.Collections, optionalTime(p.LastChange)})
	if strings.Contains(in.IfNoneMatch, `"`+tag+`"`) {
		out.Status, out.Body = http.StatusNotModified, nil
	}
	return out, nil
}
