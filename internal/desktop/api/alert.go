package api

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

type condition struct {
	Type      string     `json:"type" required:"true" enum:"CERTIFICATE,STATUS,COUNT"`
	Kind      string     `json:"kind,omitempty"`
	Component desktop.ID `json:"component_id,omitempty"`
	Days      int        `json:"days,omitempty"`
	Statuses  []string   `json:"statuses" maxItems:"50"`
	Measure   string     `json:"measure,omitempty"`
	Operator  string     `json:"operator,omitempty"`
	Value     int64      `json:"value,omitempty"`
}

type channel struct {
	Type   string                        `json:"type" required:"true" enum:"WEBHOOK,MAIL"`
	URL    string                        `json:"url,omitempty"`
	Secret httpapi.Optional[secret.Text] `json:"secret,omitzero"`
	Signed *bool                         `json:"signed,omitempty"` // read-only: whether a secret is set
	To     []string                      `json:"to" maxItems:"20"`
}

type ruleSpec struct {
	Name      string    `json:"name" required:"true"`
	Enabled   *bool     `json:"enabled"`
	Condition condition `json:"condition" required:"true"`
	For       int64     `json:"for_seconds"`
	Repeat    int64     `json:"repeat_seconds"`
	Channels  []channel `json:"channels" required:"true" maxItems:"10"`
}

type rule struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Enabled   bool           `json:"enabled"`
	Condition condition      `json:"condition"`
	For       int64          `json:"for_seconds"`
	Repeat    int64          `json:"repeat_seconds"`
	Channels  []channel      `json:"channels"`
	CreatedAt desktop.Millis `json:"created_at"`
	UpdatedAt desktop.Millis `json:"updated_at"`
}

func (a *API) ruleOf(r alert.Rule) rule {
	c := r.Condition
	wire := rule{
		ID: r.ID, Name: r.Name, Enabled: r.Enabled,
		Condition: condition{
			Type: string(c.Type), Kind: string(c.Kind), Component: a.Board.PublicID(c.Kind, c.Component), Days: c.Days,
			Statuses: append([]string{}, c.Statuses...), Measure: c.Measure, Operator: string(c.Operator), Value: c.Value,
		},
		For: int64(r.For / time.Second), Repeat: int64(r.Repeat / time.Second),
		CreatedAt: desktop.MillisOf(r.CreatedAt), UpdatedAt: desktop.MillisOf(r.UpdatedAt),
	}
	for _, ch := range r.Channels {
		view := channel{Type: string(ch.Type), URL: ch.URL, To: append([]string{}, ch.To...)}
		if ch.Type == alert.Webhook {
			view.Signed = new(!ch.Secret.IsZero())
		}
		wire.Channels = append(wire.Channels, view)
	}
	return wire
}

// seconds converts a number of seconds to a duration. A number that no duration can represent
// becomes the nearest duration, because a product that overflows could pass validation.
func seconds(n int64) time.Duration {
	const limit = int64(math.MaxInt64 / time.Second)
	return time.Duration(min(max(n, -limit), limit)) * time.Second
}

// ruleFrom converts a request to a rule. A webhook without a secret keeps the
// secret that the rule had for the same address.
func (a *API) ruleFrom(s ruleSpec, old alert.Rule) alert.Rule {
	c := s.Condition
	r := old
	r.Name, r.Enabled = s.Name, s.Enabled == nil || *s.Enabled
	r.For, r.Repeat = seconds(s.For), seconds(s.Repeat)
	r.SetCondition(alert.Condition{
		Type: alert.ConditionType(c.Type), Kind: desktop.Kind(c.Kind), Component: a.Board.ComponentID(c.Component), Days: c.Days,
		Statuses: c.Statuses, Measure: c.Measure, Operator: alert.Operator(c.Operator), Value: c.Value,
	}, a.Now())
	r.Channels = make([]alert.Channel, len(s.Channels))
	for i, ch := range s.Channels {
		target := alert.Channel{Type: alert.ChannelType(ch.Type), URL: ch.URL, To: ch.To, Secret: ch.Secret.Value}
		index := slices.IndexFunc(old.Channels, func(o alert.Channel) bool { return o.Type == target.Type && o.URL == target.URL })
		if !ch.Secret.Sent && index >= 0 {
			target.Secret = old.Channels[index].Secret
		}
		r.Channels[i] = target
	}
	return r
}

func (a *API) listRules(ctx context.Context, _ httpapi.None) ([]rule, error) {
	all, err := a.Rules.Rules(ctx)
	return httpapi.Each(all, a.ruleOf), err
}

func (a *API) getRule(ctx context.Context, in idPath) (httpapi.Reply, error) {
	r, err := a.Rules.Rule(ctx, in.ID)
	return httpapi.Tagged(tag(r), a.ruleOf(r)), err
}

func tag(r alert.Rule) string { return strconv.FormatInt(r.Version, 10) }

func (a *API) createRule(ctx context.Context, in ruleSpec) (httpapi.Reply, error) {
	r := a.ruleFrom(in, alert.Rule{ID: uuid.NewString(), Version: 1, CreatedAt: a.Now(), UpdatedAt: a.Now()})
	if err := r.Validate(); err != nil {
		return httpapi.Reply{}, err
	}
	httpapi.Note(ctx, "rule", r.ID)
	if err := a.Rules.AddRule(ctx, r); err != nil {
		return httpapi.Reply{}, err
	}
	a.Alerts.Wake()
	return httpapi.Created("/rest/config/v1/alert-rules/"+r.ID, tag(r), a.ruleOf(r)), nil
}

type ruleUpdate struct {
	ID      string        `path:"id"`
	IfMatch httpapi.Match `header:"If-Match"`
	ruleSpec
}

func (a *API) updateRule(ctx context.Context, in ruleUpdate) (httpapi.Reply, error) {
	old, err := a.Rules.Rule(ctx, in.ID)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if err := in.IfMatch.Check(tag(old)); err != nil {
		return httpapi.Reply{}, err
	}
	r := a.ruleFrom(in.ruleSpec, old)
	r.Version, r.UpdatedAt = old.Version+1, a.Now()
	if err := r.Validate(); err != nil {
		return httpapi.Reply{}, err
	}
	if err := a.Rules.ReplaceRule(ctx, r, old.Version); err != nil {
		return httpapi.Reply{}, err
	}
	a.Alerts.Wake()
	return httpapi.Tagged(tag(r), a.ruleOf(r)), nil
}

func (a *API) deleteRule(ctx context.Context, in idPath) (httpapi.Reply, error) {
	return httpapi.NoContent(), a.Rules.DeleteRule(ctx, in.ID)
}

type testResult struct {
	Channel   int    `json:"channel"`
	Delivered bool   `json:"delivered"`
	Error     string `json:"error,omitempty"`
}

func (a *API) testRule(ctx context.Context, in idPath) ([]testResult, error) {
	r, err := a.Rules.Rule(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := []testResult{}
	for i, err := range a.Alerts.Test(ctx, r) {
		result := testResult{Channel: i, Delivered: err == nil}
		if err != nil {
			result.Error = err.Error()
		}
		out = append(out, result)
	}
	return out, nil
}
