package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"vigil/internal/config"
	"vigil/internal/posture"
	"vigil/internal/posture/app"
	"vigil/internal/posture/store"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb/dbtest"
	"vigil/internal/webhook"
)

const signingKey = "0123456789abcdef0123"

// TestFindingsReachAWebhook runs the whole server: the findings of a judgement are sent
// through the outbox and the job queue to a receiver on this machine, which a setting allows.
func TestFindingsReachAWebhook(t *testing.T) {
	t.Parallel()
	type request struct {
		body      string
		signature string
	}
	got := make(chan request, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var b strings.Builder
		_, _ = io.Copy(&b, r.Body)
		got <- request{b.String(), r.Header.Get("Vigil-Signature")}
	}))
	t.Cleanup(receiver.Close)
	a, in := buildWith(t, dbtest.SQLite(t), app.Options{Cloud: new(memcloud.Cloud)}, func(p *config.Posture) { p.NotifyPrivate = true })
	base, err := a.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	background(t, a.Serve)
	c, org, _ := newOrg(t, in, base, "org")
	i := &inventory{client: c, test: t, install: in, org: posture.OrgID(org.ID), store: store.New(in.DB, in.Box, nil)}
	id := i.want(201, "POST", "/v1/notification-channels", object{"name": "x", "type": "webhook", "settings": object{"url": receiver.URL, "signingKey": signingKey}}).member("id")
	if test := i.want(200, "POST", "/v1/notification-channels/"+id+"/test", nil); test.body["delivered"] != true {
		t.Fatalf("the test message: %s", test.text)
	}
	if test := <-got; !strings.Contains(test.body, `"test":true`) {
		t.Errorf("the test message is %s", test.body)
	}
	if channel := i.want(200, "GET", "/v1/notification-channels/"+id, nil); channel.member("name") != "x" || strings.Contains(channel.text, signingKey) || strings.Contains(channel.text, receiver.URL) {
		t.Errorf("the channel: %s", channel.text)
	}
	i.want(404, "GET", "/v1/notification-channels/none", nil)
	rule := i.want(201, "POST", "/v1/notification-rules", object{"name": "all", "channelIds": []string{id}}).member("id")
	if stored := i.want(200, "GET", "/v1/notification-rules/"+rule, nil); stored.member("name") != "all" {
		t.Errorf("the rule: %s", stored.text)
	}
	i.want(404, "GET", "/v1/notification-rules/none", nil)
	i.raise("r", time.Now(), nil, 1, 2)
	m := <-got
	var message struct {
		ID     string
		Events []struct {
			Type    string
			Finding struct{ RuleID, Level string }
		}
	}
	if err := json.Unmarshal([]byte(m.body), &message); err != nil || len(message.Events) != 2 || message.Events[0].Type != "FindingRaised" || message.Events[0].Finding.RuleID != "r" {
		t.Errorf("message %s: %v", m.body, err)
	}
	stamp, _, _ := strings.Cut(strings.TrimPrefix(m.signature, "t="), ",")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || webhook.Sign([]byte(signingKey), time.Unix(seconds, 0), []byte(m.body)) != m.signature {
		t.Errorf("signature %q, %v", m.signature, err)
	}
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		delivered := results(i.want(200, "GET", "/v1/notification-deliveries?state=Delivered", nil))
		if len(delivered) == 1 && delivered[0]["id"] == message.ID {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("deliveries %v, want %s", delivered, message.ID)
		}
	}
}

func TestChannelsHideSecretsAndRejectPrivateAddresses(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	const channels = "/v1/notification-channels"
	receiver := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(receiver.Close)
	url := receiver.URL
	created := i.want(201, "POST", channels, object{"name": "x", "type": "webhook", "settings": object{"url": url, "signingKey": signingKey}})
	path := channels + "/" + created.member("id")
	for _, text := range []string{created.text, i.want(200, "GET", channels, nil).text} {
		if strings.Contains(text, url) || strings.Contains(text, signingKey) {
			t.Errorf("the response contains a secret: %s", text)
		}
	}
	if got := i.want(200, "POST", path+"/test", nil); got.body["delivered"] != false || !strings.Contains(got.text, "could not be reached") || strings.Contains(got.text, "127.0.0.1") {
		t.Errorf("a message to this machine, which no setting allows: %s", got.text)
	}
	for _, bad := range []struct {
		name string
		body object
	}{
		{"settings.url", object{"name": "x", "type": "slack", "settings": object{"url": "http://example.com"}}},
		{"settings.token", object{"name": "x", "type": "splunk", "settings": object{"url": "https://example.com"}}},
		{"settings.more", object{"name": "x", "type": "slack", "settings": object{"url": "https://example.com", "more": "x"}}},
		{"settings.to", object{"name": "x", "type": "email", "settings": object{"server": "mail:25", "from": "a@b.example", "to": "nobody"}}},
		{"type", object{"name": "x", "type": "pigeon", "settings": object{}}},
		{"name", object{"name": " ", "type": "slack", "settings": object{"url": "https://example.com"}}},
		{"perMinute", object{"name": "x", "type": "slack", "perMinute": 0, "settings": object{"url": "https://example.com"}}},
	} {
		if text := i.want(400, "POST", channels, bad.body).text; !strings.Contains(text, bad.name) {
			t.Errorf("the response for an invalid %s is %s", bad.name, text)
		}
	}
	i.want(200, "PUT", path, object{"name": "y", "type": "webhook", "settings": object{}}, "If-Match", created.member("eTag"))
	c, err := i.store.Channel(t.Context(), i.org, created.member("id"))
	if err != nil || c.Secrets["url"] != url || c.Name != "y" {
		t.Errorf("after a change without secrets: %v, %v", c.Name, err)
	}
	known := created.member("id")
	for _, bad := range []struct {
		name string
		body object
	}{
		{"channelIds", object{"name": "x", "channelIds": []string{"none"}}},
		{"channelIds", object{"name": "x", "channelIds": []string{}}},
		{"channelIds[1]", object{"name": "x", "channelIds": []string{known, known}}},
		{"events", object{"name": "x", "channelIds": []string{known}, "events": []string{"Nonsense"}}},
		{"minRiskScore", object{"name": "x", "channelIds": []string{known}, "minRiskScore": 101}},
	} {
		if text := i.want(400, "POST", "/v1/notification-rules", bad.body).text; !strings.Contains(text, bad.name) {
			t.Errorf("the response for an invalid %s is %s", bad.name, text)
		}
	}
}

func TestMutedFindingsSendNothing(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	id := i.want(201, "POST", "/v1/notification-channels", object{"name": "x", "type": "slack", "settings": object{"url": "https://receiver.invalid/"}}).member("id")
	i.want(201, "POST", "/v1/notification-rules", object{"name": "x", "levels": []string{"High"}, "minRiskScore": 15, "channelIds": []string{id}})
	i.want(201, "POST", muteRules, object{"name": "x", "reason": "x", "scope": object{"ruleIds": []string{"muted"}}})
	i.raise("muted", time.Now(), nil, 1, 2, 3)
	// The risk score of the first finding is 10, which is too low, and the level of the last is too low.
	i.raise("r", time.Now(), func(n int, f *posture.Finding) {
		if n == 5 {
			f.Level = posture.LevelLow
		}
	}, 1, 4, 5)
	if _, err := i.store.Dispatch(t.Context(), i.org, "", time.Now()); err != nil {
		t.Fatal(err)
	}
	got := results(i.want(200, "GET", "/v1/notification-deliveries", nil))
	if len(got) != 1 || got[0]["eventCount"] != 1.0 {
		t.Errorf("deliveries %v, want one, for the finding that is not muted and of high level and risk", got)
	}
	for channel, want := range map[string]int{id: 1, absentID: 0} {
		page := i.want(200, "GET", "/v1/notification-deliveries?channelId="+channel, nil)
		if len(results(page)) != want || page.body["totalCount"] != float64(want) {
			t.Errorf("deliveries to the channel %s: %s, want %d", channel, page.text, want)
		}
	}
}

// TestSecurityHubChannel checks that the external id of a channel is the one that was
// issued to the organisation, whatever the request says.
func TestSecurityHubChannel(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	issued := i.want(200, "GET", "/v1/cloud-credentials/aws-external-id", nil).member("externalId")
	settings := object{"roleArn": "arn:aws:iam::111122223333:role/hub", "region": "eu-west-1", "externalId": "of-another-organisation"}
	created := i.want(201, "POST", "/v1/notification-channels", object{"name": "hub", "type": "securityhub", "settings": settings})
	if got := created.body["settings"].(object)["externalId"]; issued == "" || got != issued {
		t.Errorf("external id %v, want %s", got, issued)
	}
	put := i.want(200, "PUT", "/v1/notification-channels/"+created.member("id"), object{"name": "hub", "type": "securityhub", "settings": settings}, "If-Match", created.member("eTag"))
	if got := put.body["settings"].(object)["externalId"]; got != issued {
		t.Errorf("external id %v after a change, want %s", got, issued)
	}
	if test := i.want(200, "POST", "/v1/notification-channels/"+created.member("id")+"/test", nil); test.body["delivered"] != false {
		t.Errorf("a server without AWS sent the test: %s", test.text)
	}
}
