package channel_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/outbound"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/posture/notify/channel"
	"vigil/internal/webhook"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func senders() *channel.Senders {
	return channel.New(channel.Options{Policy: outbound.Policy{AllowSelf: true}, Now: func() time.Time { return at }})
}

func message() notify.Message {
	found := func(name string, level posture.FindingLevel) *posture.Finding {
		return &posture.Finding{
			ID: "f-" + posture.FindingID(name), Rule: "open-bucket", Account: "111111111111", Provider: posture.AWS, Object: "AWS.S3.111111111111.global.Bucket.b", Name: name,
			Level: level, Risk: posture.Risk{Score: 70}, Status: posture.FindingOpen,
		}
	}
	return notify.Message{ID: "m-1", RuleName: "all", At: at, Link: "https://vigil.example/console/findings", Events: []notify.Event{
		{ID: "e-1", Kind: notify.FindingRaised, At: at, Account: "111111111111", Finding: found("bücket <1>", posture.LevelHigh)},
		{ID: "e-2", Kind: notify.FindingResolved, At: at, Account: "111111111111", Finding: found("two", posture.LevelLow)},
		{ID: "e-3", Kind: notify.CollectionFailed, At: at, Account: "222222222222", Detail: "access\r\ndenied"},
	}}
}

// A request is a request that an HTTP receiver got.
type request struct {
	method, path string
	header       http.Header
	body         []byte
}

// receive starts an HTTP receiver with a fixed response. It returns its URL and a
// function that returns the received requests.
func receive(t *testing.T, status int, header map[string]string, answer string) (address string, got func() []request) {
	t.Helper()
	requests := make(chan request, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- request{r.Method, r.URL.RequestURI(), r.Header, body}
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() (all []request) {
		for len(requests) > 0 {
			all = append(all, <-requests)
		}
		return all
	}
}

// member returns a member of a decoded JSON value by path.
func member(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}

func TestHTTPRequests(t *testing.T) {
	t.Parallel()
	title := "Vigil: 1 new finding, 1 resolved finding, 1 failed collection"
	for _, c := range []struct {
		kind   notify.Type
		values map[string]string
		path   string
		header [2]string      // name and value of a header of the request; empty for none
		want   map[string]any // by the path of the member
	}{
		{notify.Webhook, map[string]string{"signingKey": "0123456789abcdef"}, "/", [2]string{"Vigil-Delivery", "m-1"}, map[string]any{
			"id": "m-1", "title": title, "rule": "all", "link": "https://vigil.example/console/findings", "events.0.type": "FindingRaised", "events.0.finding.level": "High",
			"events.1.finding.objectName": "two", "events.2.cloudAccountId": "222222222222",
		}},
		{notify.Slack, nil, "/", [2]string{}, map[string]any{"text": "*" + title + "*\n• High, risk 70: open-bucket on bücket &lt;1&gt; (account 111111111111)\n" +
			"• resolved: open-bucket on two (account 111111111111)\n• the collection of account 222222222222 failed: access denied\n<https://vigil.example/console/findings|Open in Vigil>"}},
		{notify.Teams, nil, "/", [2]string{}, map[string]any{
			"type": "message", "attachments.0.contentType": "application/vnd.microsoft.card.adaptive", "attachments.0.content.type": "AdaptiveCard",
			"attachments.0.content.body.0.inlines.0.text": title, "attachments.0.content.actions.0.url": "https://vigil.example/console/findings",
		}},
		{notify.PagerDuty, map[string]string{"routingKey": "key"}, "/", [2]string{}, map[string]any{
			"routing_key": "key", "event_action": "trigger", "dedup_key": "m-1", "payload.severity": "critical", "payload.summary": title, "payload.source": "vigil",
		}},
		{notify.Splunk, map[string]string{"token": "t0ken", "index": "main"}, "/services/collector/event", [2]string{"Authorization", "Splunk t0ken"}, map[string]any{
			"sourcetype": "vigil:event", "index": "main", "event.type": "FindingRaised", "time": float64(at.Unix()),
		}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			address, got := receive(t, 200, nil, "{}")
			values := map[string]string{"url": address}
			for name, value := range c.values {
				values[name] = value
			}
			target := notify.Channel{Type: c.kind}
			if err := target.SetValues(values, notify.NewChannel); err != nil {
				t.Fatal(err)
			}
			if err := senders().Send(t.Context(), target, message()); err != nil {
				t.Fatal(err)
			}
			all := got()
			if len(all) != 1 || all[0].method != "POST" || all[0].path != c.path || all[0].header.Get(c.header[0]) != c.header[1] {
				t.Fatalf("requests %v", all)
			}
			var body any
			if err := json.NewDecoder(bytes.NewReader(all[0].body)).Decode(&body); err != nil {
				t.Fatal(err)
			}
			for path, want := range c.want {
				var steps []any
				for part := range strings.SplitSeq(path, ".") {
					var n int
					if _, err := fmt.Sscan(part, &n); err == nil {
						steps = append(steps, n)
					} else {
						steps = append(steps, part)
					}
				}
				if value := member(body, steps...); value != want {
					t.Errorf("%s is %#v, want %#v", path, value, want)
				}
			}
			if c.kind == notify.Webhook && all[0].header.Get("Vigil-Signature") != webhook.Sign([]byte("0123456789abcdef"), at, all[0].body) {
				t.Errorf("signature %q", all[0].header.Get("Vigil-Signature"))
			}
			if c.kind == notify.Splunk && bytes.Count(all[0].body, []byte(`"sourcetype"`)) != 3 {
				t.Errorf("body %s, want three events", all[0].body)
			}
			if err := senders().Send(t.Context(), target, notify.Message{ID: "m-2", At: at, Test: true}); err != nil {
				t.Errorf("test message: %v", err)
			}
		})
	}
}

// TestTeamsTextsAreNoMarkdown checks that names of resources are shown as they are, and cannot
// show a link with a misleading text.
func TestTeamsTextsAreNoMarkdown(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"[x](https://evil)", `\[x\](https://evil)`, `a_b_c **d** C:\logs`} {
		address, got := receive(t, 200, nil, "{}")
		m := message()
		m.Events = m.Events[:1]
		m.Events[0].Finding.Name = name
		if err := senders().Send(t.Context(), notify.Channel{Type: notify.Teams, Secrets: map[string]string{"url": address}}, m); err != nil {
			t.Fatal(err)
		}
		var body any
		if err := json.Unmarshal(got()[0].body, &body); err != nil {
			t.Fatal(err)
		}
		for i, prefix := range []string{"Vigil: ", ""} { // the title and the line of the event
			block := member(body, "attachments", 0, "content", "body", i)
			if kind := member(block, "type"); kind != "RichTextBlock" { // a TextBlock interprets Markdown
				t.Errorf("text %d is in a %v", i, kind)
			}
			text := member(block, "inlines", 0, "text")
			if want := prefix + "High, risk 70: open-bucket on " + name + " (account 111111111111)"; text != want {
				t.Errorf("text %d is %q, want %q", i, text, want)
			}
		}
	}
}

func TestErrorResponses(t *testing.T) {
	t.Parallel()
	elsewhere, redirected := receive(t, 200, nil, "")
	for _, c := range []struct {
		status  int
		header  map[string]string
		refused bool
		pause   time.Duration
	}{
		{status: 500}, {status: 401}, {status: 302, header: map[string]string{"Location": elsewhere}},
		{status: 400, refused: true}, {status: 413, refused: true},
		{status: 429, header: map[string]string{"Retry-After": "30"}, pause: 30 * time.Second},
		{status: 503, header: map[string]string{"Retry-After": "999999999"}, pause: time.Hour},
		{status: 503, header: map[string]string{"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}, pause: time.Hour},
		{status: 503, header: map[string]string{"Retry-After": "Fri, 01 Jan 2010 00:00:00 GMT"}},
	} {
		address, _ := receive(t, c.status, c.header, "secret response body")
		err := senders().Send(t.Context(), notify.Channel{Type: notify.Slack, Secrets: map[string]string{"url": address}}, message())
		if err == nil || channel.Refused(err) != c.refused || channel.RetryAfter(err) != c.pause || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d: %v, refused %t, retry after %s", c.status, err, channel.Refused(err), channel.RetryAfter(err))
		}
	}
	if n := len(redirected()); n > 0 {
		t.Errorf("a redirect was followed: %d requests", n)
	}
}

// TestForbiddenAndClosedAddressesHaveTheSameError checks that the error does not depend
// on whether an address is forbidden or closed: otherwise users could explore the
// server's network.
func TestForbiddenAndClosedAddressesHaveTheSameError(t *testing.T) {
	t.Parallel()
	address, got := receive(t, 200, nil, "")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	strict := channel.New(channel.Options{Now: time.Now})
	texts := map[string]bool{}
	host := strings.TrimPrefix(address, "http://")
	for _, c := range []struct {
		senders *channel.Senders
		channel notify.Channel
	}{
		{strict, notify.Channel{Type: notify.Webhook, Secrets: map[string]string{"url": address}}},
		{strict, notify.Channel{Type: notify.Email, Settings: map[string]string{"server": host}}},
		{strict, notify.Channel{Type: notify.Syslog, Settings: map[string]string{"server": host, "transport": "tcp"}}},
		{strict, notify.Channel{Type: notify.Syslog, Settings: map[string]string{"server": host}}},
		{strict, notify.Channel{Type: notify.Webhook, Secrets: map[string]string{"url": "http://169.254.169.254/"}}},
		{senders(), notify.Channel{Type: notify.Webhook, Secrets: map[string]string{"url": "http://" + closed.Addr().String()}}},
	} {
		err := c.senders.Send(t.Context(), c.channel, message())
		if err == nil {
			t.Fatalf("%v: a message was sent", c.channel)
		}
		texts[err.Error()] = true
		if c.senders == strict && !errors.Is(err, outbound.ErrRefused) {
			t.Errorf("%s: the cause is %v, want %v", c.channel.Type, channel.Cause(err), outbound.ErrRefused)
		}
	}
	if len(texts) != 1 || len(got()) > 0 {
		t.Errorf("errors %v, and %d requests arrived", texts, len(got()))
	}
}

// serveSMTP starts an SMTP server for one mail. heard receives the lines that the
// client sent; final is the response to the mail.
func serveSMTP(t *testing.T, final string) (address string, heard <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	out := make(chan string, 1)
	go func() {
		var all strings.Builder
		defer func() { out <- all.String() }()
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		reply := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
		reply("220 mail.example ESMTP")
		data := false
		for in := bufio.NewScanner(conn); in.Scan(); {
			line := in.Text()
			all.WriteString(line + "\n")
			switch word, _, _ := strings.Cut(line, " "); {
			case data && line == ".":
				data = false
				reply(final)
			case data:
			case word == "EHLO":
				reply("250-mail.example\r\n250 8BITMIME")
			case word == "DATA":
				data = true
				reply("354 go ahead")
			case word == "QUIT":
				reply("221 bye")
				return
			default:
				reply("250 ok")
			}
		}
	}()
	return l.Addr().String(), out
}

func TestSendMail(t *testing.T) {
	t.Parallel()
	address, heard := serveSMTP(t, "250 queued")
	target := notify.Channel{Type: notify.Email}
	if err := target.SetValues(map[string]string{"server": address, "from": "vigil@example.com", "to": "ann@example.com, bob@example.com", "security": "none"}, notify.NewChannel); err != nil {
		t.Fatal(err)
	}
	if err := senders().Send(t.Context(), target, message()); err != nil {
		t.Fatal(err)
	}
	sent := <-heard
	for _, want := range []string{"MAIL FROM:<vigil@example.com>", "RCPT TO:<ann@example.com>", "RCPT TO:<bob@example.com>"} {
		if !strings.Contains(sent, want) {
			t.Errorf("%q is missing in %s", want, sent)
		}
	}
	_, text, _ := strings.Cut(sent, "DATA\n")
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || subject != message().Title() || m.Header.Get("Message-Id") != "<m-1@example.com>" {
		t.Errorf("subject %q, id %q, %v", subject, m.Header.Get("Message-Id"), err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil || !strings.Contains(string(body), "bücket <1>") || !strings.Contains(string(body), message().Link) {
		t.Errorf("body %s, %v", body, err)
	}
}

func TestMailServerErrors(t *testing.T) {
	t.Parallel()
	for final, refused := range map[string]bool{"452 too many": false, "552 too large": true} {
		address, _ := serveSMTP(t, final)
		target := notify.Channel{Type: notify.Email, Settings: map[string]string{"server": address, "from": "a@b.example", "to": "c@d.example", "security": "none"}}
		if err := senders().Send(t.Context(), target, message()); err == nil || channel.Refused(err) != refused {
			t.Errorf("%s: %v, refused %t", final, err, channel.Refused(err))
		}
	}
	address, _ := serveSMTP(t, "250 queued") // it has no STARTTLS, so nothing may be sent in plain text
	target := notify.Channel{Type: notify.Email, Settings: map[string]string{"server": address, "from": "a@b.example", "to": "c@d.example"}}
	if err := senders().Send(t.Context(), target, message()); err == nil {
		t.Error("a mail was sent without TLS")
	}
}

func TestSyslogOverTCPAndUDP(t *testing.T) {
	t.Parallel()
	want := []string{
		`<106>1 2026-03-04T05:06:07.000Z - vigil - FindingRaised [vigil@32473 id="e-1"] High, risk 70: open-bucket on bücket <1> (account 111111111111)`,
		`<109>1 2026-03-04T05:06:07.000Z - vigil - FindingResolved [vigil@32473 id="e-2"] resolved: open-bucket on two (account 111111111111)`,
		`<108>1 2026-03-04T05:06:07.000Z - vigil - CollectionFailed [vigil@32473 id="e-3"] the collection of account 222222222222 failed: access denied`,
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	target := notify.Channel{Type: notify.Syslog, Settings: map[string]string{"server": l.Addr().String(), "transport": "tcp"}}
	if err := senders().Send(t.Context(), target, message()); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	framed := ""
	for _, line := range want {
		framed += fmt.Sprintf("%d %s", len(line), line)
	}
	if string(text) != framed {
		t.Errorf("over TCP %q, want %q", text, framed)
	}

	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	target.Settings = map[string]string{"server": udp.LocalAddr().String()}
	if err := senders().Send(t.Context(), target, message()); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 2000)
	for _, line := range want {
		n, _, err := udp.ReadFrom(buffer)
		if err != nil || string(buffer[:n]) != line {
			t.Errorf("over UDP %q, %v; want %q", buffer[:n], err, line)
		}
	}
}

// hub is a Security Hub that records the imported findings. It answers with failed and err.
type hub struct {
	role, externalID, region string
	findings                 []json.RawMessage
	failed                   map[string]string
	err                      error
}

func (h *hub) ImportFindings(_ context.Context, role, externalID, region string, findings []json.RawMessage) (map[string]string, error) {
	h.role, h.externalID, h.region, h.findings = role, externalID, region, findings
	return h.failed, h.err
}

func TestSecurityHub(t *testing.T) {
	t.Parallel()
	h := &hub{}
	s := channel.New(channel.Options{
		SecurityHub: h,
		Findings: func(_ context.Context, org posture.OrgID, all []posture.Finding, account, region string) (out []json.RawMessage, err error) {
			for _, f := range all {
				out = append(out, fmt.Appendf(nil, "%s %s %s %s", org, account, region, f.ID))
			}
			return out, nil
		},
		TestFinding: func(id, account, region string) json.RawMessage { return json.RawMessage(id) },
	})
	c := notify.Channel{Type: notify.SecurityHub}
	if err := c.SetValues(map[string]string{"roleArn": "arn:aws:iam::111122223333:role/hub", "region": "eu-west-1", "externalId": "id"}, notify.NewChannel); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]map[string]string{
		"a user":      {"roleArn": "arn:aws:iam::111122223333:user/hub", "region": "eu-west-1"},
		"no region":   {"roleArn": "arn:aws:iam::111122223333:role/hub"},
		"a host name": {"roleArn": "arn:aws:iam::111122223333:role/hub", "region": "eu-west-1.example.com"},
	} {
		other := c
		if err := other.SetValues(bad, notify.NewChannel); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	m := message()
	m.Org, m.Events = "org", append(m.Events, m.Events[0]) // a finding with two events is imported once
	if err := s.Send(t.Context(), c, m); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s %s %s %s", h.role, h.externalID, h.region, h.findings); got != "arn:aws:iam::111122223333:role/hub id eu-west-1 [org 111122223333 eu-west-1 f-bücket <1> org 111122223333 eu-west-1 f-two]" {
		t.Errorf("imported %s", got)
	}
	if err := s.Send(t.Context(), c, notify.Message{ID: "m-2", Test: true}); err != nil || string(h.findings[0]) != "m-2" {
		t.Errorf("test: %v, %s", err, h.findings)
	}
	for _, tt := range []struct {
		failed  map[string]string
		err     error
		text    string
		refused bool
	}{
		{map[string]string{"b": "InvalidInput: x", "a": "InvalidInput: y"}, nil, "did not accept 2 of 2 findings: a: InvalidInput: y", true},
		{map[string]string{"a": "InternalError: y"}, nil, "did not accept 1 of 2 findings", false},
		{nil, fault.New(fault.Forbidden, "no permission"), "no permission", false},
		{nil, fault.New(fault.Invalid, "too large"), "too large", true},
		{nil, errors.New("dial 10.0.0.1"), webhook.Unreachable{}.Error(), false},
	} {
		h.failed, h.err = tt.failed, tt.err
		err := s.Send(t.Context(), c, message())
		if err == nil || !strings.Contains(err.Error(), tt.text) || channel.Refused(err) != tt.refused {
			t.Errorf("%v, %v: %v", tt.failed, tt.err, err)
		}
	}
}
