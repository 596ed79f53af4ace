package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestNotificationCommands checks the requests and the output of each command.
func TestNotificationCommands(t *testing.T) {
	t.Parallel()
	var request, answer string
	secret := writeSecret(t)
	call := commandsOn(t, secret, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request = strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL, body))
		_, _ = io.WriteString(w, answer)
	})
	for _, tt := range []struct {
		args, answer  string
		code          int
		request, want string
	}{
		{
			"channel add ops --type splunk --set url=https://splunk.example --set token=@" + secret, `{"id":"c1"}`, 0,
			`POST /v1/notification-channels {"name":"ops","settings":{"token":"hush","url":"https://splunk.example"},"type":"splunk"}`, "channel c1 is added",
		},
		{"channel add ops --type slack --set url", ``, exitUsage, "", "--set is NAME=VALUE or NAME=@FILE"},
		{"channel add ops --type pigeon", ``, exitUsage, "", "--type must be one of"},
		{"channel list", `{"results":[{"id":"c1","name":"ops","type":"slack","enabled":true}]}`, 0, "GET /v1/notification-channels", "c1"},
		{"channel show c1", `{"id":"c1","type":"slack","settings":{}}`, 0, "GET /v1/notification-channels/c1", "type: slack"},
		{"rule show r1", `{"id":"r1","events":["FindingRaised"]}`, 0, "GET /v1/notification-rules/r1", "FindingRaised"},
		{"channel test c1", `{"delivered":true}`, 0, "POST /v1/notification-channels/c1/test {}", "accepted the message"},
		{"channel test c1", `{"delivered":false,"error":"the receiver answered 500"}`, exitFailed, "POST /v1/notification-channels/c1/test {}", "the receiver answered 500"},
		{"channel retry c1", `{"retriedCount":7}`, 0, "POST /v1/notification-channels/c1/retry {}", "7 messages"},
		{"channel delete c1", `{"id":"c1"}`, 0, "DELETE /v1/notification-channels/c1", "is deleted"},
		{
			"rule add high --channel c1 --event FindingRaised --level High --min-risk 70 --tag env=prod --tag env=stage", `{"id":"r1"}`, 0,
			`POST /v1/notification-rules {"channelIds":["c1"],"cloudTags":{"env":["prod","stage"]},"events":["FindingRaised"],"levels":["High"],"minRiskScore":70,"name":"high"}`, "r1 is in force",
		},
		{"rule list", `{"results":[{"id":"r1","events":["FindingRaised"]}]}`, 0, "GET /v1/notification-rules", "FindingRaised"},
		{"rule delete r1", `{"id":"r1"}`, 0, "DELETE /v1/notification-rules/r1", "is deleted"},
		{"deliveries --state dead", `{"results":[{"id":"d1","state":"Dead"}]}`, 0, "GET /v1/notification-deliveries?state=Dead", "d1"},
	} {
		request, answer = "", tt.answer
		code, out := call(append([]string{"notifications"}, strings.Fields(tt.args)...)...)
		if code != tt.code || request != tt.request || !strings.Contains(out, tt.want) {
			t.Errorf("%s: exit %d, want %d\nsent %s\nwant %s\nprinted %s\nwant %s", tt.args, code, tt.code, request, tt.request, out, tt.want)
		}
	}
}

func TestNotificationRulesNameChannels(t *testing.T) {
	t.Parallel()
	var sent string
	call := commandsOn(t, writeSecret(t), func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"results":[{"id":"c1","name":"ops"},{"id":"c2","name":"twice"},{"id":"c3","name":"twice"},{"id":"c4","name":"c1"}]}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		sent = string(body)
		_, _ = io.WriteString(w, `{"id":"r1"}`)
	})
	for _, tt := range []struct {
		channel    string
		code       int
		sent, want string
	}{
		{"ops", 0, `{"channelIds":["c1"],"name":"x"}`, "in force"},
		{"c1", 0, `{"channelIds":["c1"],"name":"x"}`, "in force"}, // not c4, which has the name c1
		{"c3", 0, `{"channelIds":["c3"],"name":"x"}`, "in force"},
		{"unknown", 0, `{"channelIds":["unknown"],"name":"x"}`, "in force"},
		{"twice", exitUsage, "", `2 channels are called "twice": give an id: c2, c3`},
	} {
		sent = ""
		code, out := call("notifications", "rule", "add", "x", "--channel", tt.channel)
		if code != tt.code || sent != tt.sent || !strings.Contains(out, tt.want) {
			t.Errorf("%s: exit %d, sent %s: %s", tt.channel, code, sent, out)
		}
	}
}
