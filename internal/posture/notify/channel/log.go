package channel

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/webhook"
)

// splunk sends the events of the message to the HTTP Event Collector in one request.
func (s *Senders) splunk(ctx context.Context, c notify.Channel, m notify.Message) error {
	var body bytes.Buffer
	write := func(at time.Time, e any) {
		event := map[string]any{"time": float64(at.UnixMilli()) / 1000, "source": "vigil", "sourcetype": "vigil:event", "event": e}
		if index := c.Value("index"); index != "" {
			event["index"] = index
		}
		body.Write(encode(event))
	}
	for _, e := range m.Events {
		write(e.At, eventOf(e))
	}
	if m.Test {
		write(m.At, map[string]any{"type": "Test", "summary": m.Title()})
	}
	return s.post(ctx, strings.TrimRight(c.Value("url"), "/")+"/services/collector/event", map[string]string{"Authorization": "Splunk " + c.Value("token")}, body.Bytes(), nil)
}

// syslog sends one RFC 5424 message per event: over UDP one per datagram, over TCP and
// TLS with the octet counting of RFC 6587.
func (s *Senders) syslog(ctx context.Context, c notify.Channel, m notify.Message) error {
	transport := cmp.Or(c.Value("transport"), "udp")
	network := map[string]string{"udp": "udp", "tcp": "tcp", "tls": "tcp"}[transport]
	conn, err := s.dialer.DialContext(ctx, network, c.Value("server"))
	if err != nil {
		return webhook.Unreachable{Cause: err}
	}
	defer conn.Close()
	if transport == "tls" {
		config := s.o.TLS.Clone()
		host, _, _ := net.SplitHostPort(c.Value("server"))
		config.ServerName = cmp.Or(config.ServerName, host)
		conn = tls.Client(conn, config)
	}
	_ = conn.SetDeadline(time.Now().Add(webhook.Timeout)) // socket deadlines use the real clock
	for _, line := range syslogLines(m) {
		if network == "tcp" {
			line = fmt.Sprintf("%d %s", len(line), line)
		}
		if _, err := conn.Write([]byte(line)); err != nil {
			return webhook.Unreachable{Cause: err}
		}
	}
	return nil
}

// syslogLines formats RFC 5424 messages with facility 13 (log audit). The structured
// data has the id of the event, so that receivers can detect duplicates.
func syslogLines(m notify.Message) (lines []string) {
	line := func(severity int, at time.Time, kind, id, text string) {
		lines = append(lines, fmt.Sprintf(`<%d>1 %s - vigil - %s [vigil@32473 id="%s"] %s`, 13*8+severity, at.UTC().Format("2006-01-02T15:04:05.000Z"), kind, id, text))
	}
	for _, e := range m.Events {
		severity := 5 // notice
		if e.Kind != notify.FindingResolved {
			severity = 4 // warning
		}
		if f := e.Finding; f != nil && f.Level == posture.LevelHigh && e.Kind == notify.FindingRaised {
			severity = 2 // critical
		}
		line(severity, e.At, string(e.Kind), e.ID, e.Summary())
	}
	if m.Test {
		line(6, m.At, "Test", m.ID, m.Title())
	}
	return lines
}
