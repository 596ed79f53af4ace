package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
)

// NotifySender sends a message immediately, to test a channel.
type NotifySender interface {
	Send(ctx context.Context, c notify.Channel, m notify.Message) error
}

type (
	channelBody struct {
		Name      string            `json:"name" required:"true"`
		Type      string            `json:"type" required:"true" enum:"webhook,slack,teams,pagerduty,splunk,jira,email,syslog,securityhub"`
		Enabled   *bool             `json:"enabled"`
		PerMinute *int              `json:"perMinute"`
		Settings  map[string]string `json:"settings" required:"true" maxItems:"20"`
	}
	channelPath struct {
		ID string `path:"channel_id"`
	}
	putChannelIn struct {
		channelPath
		channelBody
		IfMatch httpapi.Match `header:"If-Match"`
	}
	deleteChannelIn struct {
		channelPath
		IfMatch httpapi.Match `header:"If-Match"`
	}
	notifyChannel struct {
		ID             string            `json:"id"`
		Name           string            `json:"name"`
		Type           string            `json:"type"`
		Enabled        bool              `json:"enabled"`
		PerMinute      int               `json:"perMinute"`
		Settings       map[string]string `json:"settings"`
		Failures       int               `json:"consecutiveFailures"`
		NextTime       *httpapi.Time     `json:"nextAttemptTime,omitempty"`
		DeadCount      int               `json:"deadCount"`
		LastState      string            `json:"lastDeliveryState,omitempty"`
		ETag           string            `json:"eTag"`
		LastUpdateTime httpapi.Time      `json:"lastUpdateTime"`
	}
	channelRetry struct {
		Count int `json:"retriedCount"`
	}
	channelTest struct {
		Delivered bool   `json:"delivered"`
		Error     string `json:"error,omitempty"`
	}
	notifyList[T any] struct {
		TotalCount int `json:"totalCount"`
		Results    []T `json:"results"`
	}
	deliveriesIn struct {
		ChannelID string `query:"channelId"`
		State     string `query:"state" enum:"Waiting,Delivered,Dead"`
	}
	deliveryPath struct {
		ID string `path:"delivery_id"`
	}
	delivery struct {
		ID           string        `json:"id"`
		ChannelID    string        `json:"channelId"`
		State        string        `json:"state"`
		Title        string        `json:"title"`
		EventCount   int           `json:"eventCount"`
		Attempts     int           `json:"attempts"`
		Error        string        `json:"error,omitempty"`
		CreationTime httpapi.Time  `json:"creationTime"`
		GiveUpTime   *httpapi.Time `json:"giveUpTime,omitempty"`
		EndTime      *httpapi.Time `json:"endTime,omitempty"`
	}
)

func notifyChannelOf(c notify.Channel) notifyChannel {
	w := notifyChannel{c.ID, c.Name, string(c.Type), c.Enabled, c.PerMinute, c.Settings, c.Failures, optionalTime(c.Resume), c.DeadCount, string(c.LastState), c.ETag, httpapi.Time{Time: c.Updated}}
	if w.Settings == nil {
		w.Settings = map[string]string{}
	}
	return w
}

// channelOf validates a channel. exists says that the channel is in the store already: then
// secrets may be missing, and the store keeps the old ones.
func (a *API) channelOf(ctx context.Context, id string, b channelBody, exists bool) (notify.Channel, error) {
	c := notify.Channel{
		ID: id, Name: strings.TrimSpace(b.Name), Type: notify.Type(b.Type), Enabled: b.Enabled == nil || *b.Enabled, PerMinute: 30, ETag: uuid.NewString(), Updated: a.Now(),
	}
	if b.PerMinute != nil {
		c.PerMinute = *b.PerMinute
	}
	switch {
	case c.Name == "" || len(c.Name) > 100:
		return c, fault.Field("name", "must have from 1 to 100 bytes")
	case c.PerMinute < 1 || c.PerMinute > 600:
		return c, fault.Field("perMinute", "must be from 1 to 600")
	}
	if err := c.SetValues(b.Settings, exists); err != nil || c.Type != notify.SecurityHub {
		return c, err
	}
	// The role of a Security Hub channel must require the external id of the organisation.
	external, err := a.Store.ExternalID(ctx, a.Org(ctx))
	c.Settings[notify.ExternalID] = external
	return c, err
}

func (a *API) listChannels(ctx context.Context, _ httpapi.None) (notifyList[notifyChannel], error) {
	all, err := a.Notify.Channels(ctx, a.Org(ctx))
	return notifyList[notifyChannel]{len(all), httpapi.Each(all, notifyChannelOf)}, err
}

func (a *API) addChannel(ctx context.Context, in channelBody) (httpapi.Reply, error) {
	c, err := a.channelOf(ctx, uuid.NewString(), in, notify.NewChannel)
	if err == nil {
		err = a.Notify.AddChannel(ctx, a.Org(ctx), c)
	}
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Created("/v1/notification-channels/"+c.ID, c.ETag, notifyChannelOf(c)), nil
}

func (a *API) putChannel(ctx context.Context, in putChannelIn) (httpapi.Reply, error) {
	c, err := a.channelOf(ctx, in.ID, in.channelBody, notify.ExistingChannel)
	if err == nil {
		c, err = a.Notify.ReplaceChannel(ctx, a.Org(ctx), c, versionCheck(in.IfMatch))
	}
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Tagged(c.ETag, notifyChannelOf(c)), nil
}

func (a *API) getChannel(ctx context.Context, in channelPath) (httpapi.Reply, error) {
	c, err := a.Notify.Channel(ctx, a.Org(ctx), in.ID)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Tagged(c.ETag, notifyChannelOf(c)), nil
}

func (a *API) deleteChannel(ctx context.Context, in deleteChannelIn) (notifyChannel, error) {
	old, err := a.Notify.DeleteChannel(ctx, a.Org(ctx), in.ID, in.IfMatch.Check)
	return notifyChannelOf(old), err
}

// testChannel sends a test message and returns whether the receiver accepted it.
func (a *API) testChannel(ctx context.Context, in channelPath) (channelTest, error) {
	c, err := a.Notify.Channel(ctx, a.Org(ctx), in.ID)
	if err != nil {
		return channelTest{}, err
	}
	if err := a.Sender.Send(ctx, c, notify.Message{ID: uuid.NewString(), At: a.Now(), Test: true, Org: a.Org(ctx)}); err != nil {
		return channelTest{Error: err.Error()}, nil
	}
	return channelTest{Delivered: true}, nil
}

// retryChannel retries the dead letters of a channel.
func (a *API) retryChannel(ctx context.Context, in channelPath) (channelRetry, error) {
	n, err := a.Notify.RetryChannel(ctx, a.Org(ctx), in.ID, a.Now())
	return channelRetry{n}, err
}

func deliveryOf(d notify.Delivery) delivery {
	w := delivery{
		ID: d.ID, ChannelID: d.Channel, State: string(d.State), Title: d.Title, EventCount: d.Count, Attempts: d.Attempts, Error: d.Error,
		CreationTime: httpapi.Time{Time: d.Created}, EndTime: optionalTime(d.Ended),
	}
	if d.State == notify.Waiting {
		w.GiveUpTime = optionalTime(d.GiveUp)
	}
	return w
}

// shownDeliveries is the number of deliveries in a list.
const shownDeliveries = 200

func (a *API) listDeliveries(ctx context.Context, in deliveriesIn) (notifyList[delivery], error) {
	all, total, err := a.Notify.Deliveries(ctx, a.Org(ctx), notify.DeliveryFilter{State: notify.DeliveryState(in.State), Channel: in.ChannelID}, shownDeliveries)
	return notifyList[delivery]{total, httpapi.Each(all, deliveryOf)}, err
}

func (a *API) retryDelivery(ctx context.Context, in deliveryPath) (delivery, error) {
	d, err := a.Notify.RetryDelivery(ctx, a.Org(ctx), in.ID, a.Now())
	return deliveryOf(d), err
}

type (
	notifyRuleBody struct {
		Name       string              `json:"name" required:"true"`
		Enabled    *bool               `json:"enabled"`
		Events     []string            `json:"events" maxItems:"10"`
		Levels     []string            `json:"levels" maxItems:"10"`
		MinRisk    int                 `json:"minRiskScore"`
		RuleIDs    []string            `json:"ruleIds" maxItems:"1000"`
		AccountIDs []string            `json:"cloudAccountIds" maxItems:"1000"`
		CloudTags  map[string][]string `json:"cloudTags" maxItems:"50"`
		ChannelIDs []string            `json:"channelIds" required:"true" maxItems:"10"`
	}
	notifyRulePath struct {
		ID string `path:"notification_rule_id"`
	}
	putNotifyRuleIn struct {
		notifyRulePath
		notifyRuleBody
		IfMatch httpapi.Match `header:"If-Match"`
	}
	deleteNotifyRuleIn struct {
		notifyRulePath
		IfMatch httpapi.Match `header:"If-Match"`
	}
	notifyRule struct {
		ID             string              `json:"id"`
		Name           string              `json:"name"`
		Enabled        bool                `json:"enabled"`
		Events         []string            `json:"events"`
		Levels         []string            `json:"levels"`
		MinRisk        int                 `json:"minRiskScore"`
		RuleIDs        []string            `json:"ruleIds"`
		AccountIDs     []string            `json:"cloudAccountIds"`
		CloudTags      map[string][]string `json:"cloudTags"`
		ChannelIDs     []string            `json:"channelIds"`
		ETag           string              `json:"eTag"`
		LastUpdateTime httpapi.Time        `json:"lastUpdateTime"`
	}
)

func notifyRuleOf(r notify.Rule) notifyRule {
	w := notifyRule{
		r.ID, r.Name, r.Enabled, texts(r.Filter.Kinds), texts(r.Filter.Levels), r.Filter.MinRisk, texts(r.Filter.Rules), texts(r.Filter.Accounts), r.Filter.Tags,
		texts(r.Channels), r.ETag, httpapi.Time{Time: r.Updated},
	}
	if w.CloudTags == nil {
		w.CloudTags = map[string][]string{}
	}
	return w
}

func (a *API) notifyRuleFrom(id string, b notifyRuleBody) (notify.Rule, error) {
	r := notify.Rule{ID: id, Name: strings.TrimSpace(b.Name), Enabled: b.Enabled == nil || *b.Enabled, Channels: b.ChannelIDs, ETag: uuid.NewString(), Updated: a.Now()}
	var bad []fault.Detail
	r.Filter = notify.Filter{
		Kinds: checkKnown("events", b.Events, notify.Kinds, &bad), Levels: checkKnown("levels", b.Levels, posture.FindingLevels, &bad), MinRisk: b.MinRisk, Tags: b.CloudTags,
	}
	for _, id := range b.RuleIDs {
		r.Filter.Rules = append(r.Filter.Rules, posture.RuleID(id))
	}
	for _, id := range b.AccountIDs {
		r.Filter.Accounts = append(r.Filter.Accounts, posture.AccountID(id))
	}
	for _, m := range []struct {
		wrong         bool
		path, message string
	}{
		{r.Name == "" || len(r.Name) > 100, "name", "must have from 1 to 100 bytes"},
		{b.MinRisk < 0 || b.MinRisk > 100, "minRiskScore", "must be from 0 to 100"},
		{len(b.ChannelIDs) == 0, "channelIds", "must name a channel"},
	} {
		if m.wrong {
			bad = append(bad, fault.Detail{Path: m.path, Message: m.message})
		}
	}
	for i, id := range b.ChannelIDs {
		if len(id) > 100 || slices.Contains(b.ChannelIDs[:i], id) {
			bad = append(bad, fault.Detail{Path: fmt.Sprintf("channelIds[%d]", i), Message: "must be the id of a channel, without duplicates"})
		}
	}
	if len(bad) > 0 {
		return r, fault.Fields(bad...)
	}
	return r, nil
}

func (a *API) listNotifyRules(ctx context.Context, _ httpapi.None) (notifyList[notifyRule], error) {
	all, err := a.Notify.NotifyRules(ctx, a.Org(ctx))
	return notifyList[notifyRule]{len(all), httpapi.Each(all, notifyRuleOf)}, err
}

func (a *API) addNotifyRule(ctx context.Context, in notifyRuleBody) (httpapi.Reply, error) {
	r, err := a.notifyRuleFrom(uuid.NewString(), in)
	if err == nil {
		err = a.Notify.AddNotifyRule(ctx, a.Org(ctx), r)
	}
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Created("/v1/notification-rules/"+r.ID, r.ETag, notifyRuleOf(r)), nil
}

func (a *API) getNotifyRule(ctx context.Context, in notifyRulePath) (httpapi.Reply, error) {
	all, err := a.Notify.NotifyRules(ctx, a.Org(ctx))
	if err != nil {
		return httpapi.Reply{}, err
	}
	i := slices.IndexFunc(all, func(r notify.Rule) bool { return r.ID == in.ID })
	if i < 0 {
		return httpapi.Reply{}, fault.New(fault.NotFound, "notification rule %q was not found", in.ID)
	}
	return httpapi.Tagged(all[i].ETag, notifyRuleOf(all[i])), nil
}

func (a *API) putNotifyRule(ctx context.Context, in putNotifyRuleIn) (httpapi.Reply, error) {
	r, err := a.notifyRuleFrom(in.ID, in.notifyRuleBody)
	if err == nil {
		err = a.Notify.ReplaceNotifyRule(ctx, a.Org(ctx), r, versionCheck(in.IfMatch))
	}
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Tagged(r.ETag, notifyRuleOf(r)), nil
}

func (a *API) deleteNotifyRule(ctx context.Context, in deleteNotifyRuleIn) (notifyRule, error) {
	old, err := a.Notify.DeleteNotifyRule(ctx, a.Org(ctx), in.ID, in.IfMatch.Check)
	return notifyRuleOf(old), err
}

// notifyRoutes are the routes of notifications. Channels send the organisation's data
// to other servers, so only admins configure them.
func (a *API) notifyRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Pattern: "GET /v1/notification-channels", Need: viewer, Operation: "listNotificationChannels", Handler: httpapi.JSON(a.listChannels)},
		{Pattern: "POST /v1/notification-channels", Need: admin, Operation: "addNotificationChannel", Handler: httpapi.JSON(a.addChannel)},
		{Pattern: "GET /v1/notification-channels/{channel_id}", Need: viewer, Operation: "getNotificationChannel", Handler: httpapi.JSON(a.getChannel)},
		{Pattern: "PUT /v1/notification-channels/{channel_id}", Need: admin, Operation: "putNotificationChannel", Handler: httpapi.JSON(a.putChannel)},
		{Pattern: "DELETE /v1/notification-channels/{channel_id}", Need: admin, Operation: "deleteNotificationChannel", Handler: httpapi.JSON(a.deleteChannel)},
		{Pattern: "POST /v1/notification-channels/{channel_id}/test", Need: admin, Operation: "testNotificationChannel", Limits: httpapi.Limits{Rate: httpapi.RateHeavy}, Handler: httpapi.JSON(a.testChannel)},
		{Pattern: "POST /v1/notification-channels/{channel_id}/retry", Need: admin, Operation: "retryNotificationChannel", Handler: httpapi.JSON(a.retryChannel)},
		{Pattern: "GET /v1/notification-rules", Need: viewer, Operation: "listNotificationRules", Handler: httpapi.JSON(a.listNotifyRules)},
		{Pattern: "POST /v1/notification-rules", Need: admin, Operation: "addNotificationRule", Handler: httpapi.JSON(a.addNotifyRule)},
		{Pattern: "GET /v1/notification-rules/{notification_rule_id}", Need: viewer, Operation: "getNotificationRule", Handler: httpapi.JSON(a.getNotifyRule)},
		{Pattern: "PUT /v1/notification-rules/{notification_rule_id}", Need: admin, Operation: "putNotificationRule", Handler: httpapi.JSON(a.putNotifyRule)},
		{Pattern: "DELETE /v1/notification-rules/{notification_rule_id}", Need: admin, Operation: "deleteNotificationRule", Handler: httpapi.JSON(a.deleteNotifyRule)},
		{Pattern: "GET /v1/notification-deliveries", Need: viewer, Operation: "listNotificationDeliveries", Handler: httpapi.JSON(a.listDeliveries)},
		{Pattern: "POST /v1/notification-deliveries/{delivery_id}/retry", Need: admin, Operation: "retryNotificationDelivery", Handler: httpapi.JSON(a.retryDelivery)},
	}
}
