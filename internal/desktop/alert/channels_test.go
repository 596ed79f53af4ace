package alert

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/mail"
	"vigil/internal/secret"
	"vigil/internal/sim/pki"
	"vigil/internal/webhook"
)

func notice(state State) Delivery {
	a := Alert{
		RuleID: "r1", State: state, Summary: "the status is STALE", Since: now,
		Subject: Subject{Ref: desktop.Ref{Kind: desktop.KindGateway, ID: "g1", Name: "édge\r\nBcc: x@y"}},
	}
	return Delivery{ID: "d1", RuleID: "r1", Notice: Notice{RuleID: "r1", RuleName: "gateways", Alert: a, At: now}}
}

func TestWebhooksAreSigned(t *testing.T) {
	t.Parallel()
	type hook struct {
		header http.Header
		body   []byte
	}
	got := make(chan hook, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- hook{r.Header, body}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer s.Close()
	c := NewChannels(WebhookOptions{AllowPlain: true, AllowLoopback: true, Now: func() time.Time { return now }}, MailOptions{})
	if err := c.Send(t.Context(), Channel{Type: Webhook, URL: s.URL, Secret: secret.NewText("hush")}, notice(Resolved)); err != nil {
		t.Fatal(err)
	}
	h := <-got
	mac := hmac.New(sha256.New, []byte("hush"))
	fmt.Fprintf(mac, "%d.%s", now.Unix(), h.body)
	if want := fmt.Sprintf("t=%d,v1=%s", now.Unix(), hex.EncodeToString(mac.Sum(nil))); h.header.Get("X-Vigil-Signature") != want {
		t.Errorf("signature %q, want %q", h.header.Get("X-Vigil-Signature"), want)
	}
	var p payload
	if err := json.Unmarshal(h.body, &p); err != nil || p.Type != "alert.resolved" || p.ID != "d1" || p.Component.ID != "g1" {
		t.Errorf("body %s, %v; want delivery d1: the alert about the gateway g1 is resolved", h.body, err)
	}
	if strings.Contains(string(h.body), "hush") {
		t.Error("the secret was sent")
	}
}

func TestWebhooksRefuseForbiddenAddressesWithOneMessage(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
	}))
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	trusted := &tls.Config{RootCAs: pool}
	open := httptest.NewServer(http.NotFoundHandler()) // a server that does not speak TLS
	defer open.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	secure := func(url string) string { return strings.Replace(url, "http:", "https:", 1) }
	for _, tt := range []struct {
		name, url, want string
		o               WebhookOptions
	}{
		{"a port that is open", secure(open.URL), "HTTP response to HTTPS client", WebhookOptions{AllowLoopback: true}},
		{"a port that is closed", secure(closed.URL), "connection refused", WebhookOptions{AllowLoopback: true}},
		{"a port that is open, and not allowed", secure(open.URL), "not allowed", WebhookOptions{}},
		{"a port that is closed, and not allowed", secure(closed.URL), "not allowed", WebhookOptions{}},
		{"a name that does not resolve", "https://nothing.invalid/", "", WebhookOptions{}},
		{"this machine", s.URL, "not allowed", WebhookOptions{TLS: trusted}},
		{"this machine by name", strings.Replace(s.URL, "127.0.0.1", "localhost", 1), "not allowed", WebhookOptions{TLS: trusted}},
		{"a denied network", s.URL, "not allowed", WebhookOptions{TLS: trusted, Deny: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}},
		{"a link-local address", "https://169.254.169.254/latest", "not allowed", WebhookOptions{}},
		{"the unspecified address", "https://0.0.0.0/", "not allowed", WebhookOptions{}},
		{"plain http", "http://127.0.0.1:9", "not https", WebhookOptions{AllowLoopback: true}},
		{"redirects", s.URL, "redirects are not followed", WebhookOptions{AllowLoopback: true, TLS: trusted}},
		{"an unknown authority", s.URL, "certificate", WebhookOptions{AllowLoopback: true}},
	} {
		err := NewChannels(tt.o, MailOptions{}).Send(t.Context(), Channel{Type: Webhook, URL: tt.url}, notice(Firing))
		cause := err
		if u, ok := err.(webhook.Unreachable); ok {
			cause = u.Cause
			if text := err.Error(); text != (webhook.Unreachable{}).Error() {
				t.Errorf("%s: %q reveals whether the port is open", tt.name, text)
			}
		}
		if err == nil || !strings.Contains(cause.Error(), tt.want) {
			t.Errorf("%s: cause %v, want %q", tt.name, cause, tt.want)
		}
		if _, ok := err.(webhook.Unreachable); !ok && tt.name != "plain http" { // plain http is refused for its scheme
			t.Errorf("%s: %v differs from the other errors", tt.name, err)
		}
	}
}

// TestWebhooksRefuseNotices checks which answers mean that the receiver will never accept the notice. An administrator can
// correct the cause of the others.
func TestWebhooksRefuseNotices(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
	}))
	defer s.Close()
	c := NewChannels(WebhookOptions{AllowPlain: true, AllowLoopback: true}, MailOptions{})
	for status, want := range map[int]bool{400: true, 413: true, 422: true, 401: false, 403: false, 404: false, 408: false, 410: false, 429: false, 500: false, 503: false} {
		err := c.Send(t.Context(), Channel{Type: Webhook, URL: fmt.Sprint(s.URL, "/", status)}, notice(Firing))
		for deadline := time.Now().Add(2 * time.Minute); isUnreachable(err) && time.Now().Before(deadline); { // the machine stalls
			err = c.Send(t.Context(), Channel{Type: Webhook, URL: fmt.Sprint(s.URL, "/", status)}, notice(Firing))
		}
		_, refused := errors.AsType[Refused](err)
		if wantText := fmt.Sprintf("post notice: the receiver answered %d", status); refused != want || err == nil || err.Error() != wantText {
			t.Errorf("%v, refused is %t; want %s, %t", err, refused, wantText, want)
		}
	}
}

func isUnreachable(err error) bool {
	_, ok := errors.AsType[webhook.Unreachable](err)
	return ok
}

// TestMailServersRefuseNotices checks that only a permanent answer to the mail itself means that it will never be accepted.
func TestMailServersRefuseNotices(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command, answer string
		want            bool
	}{
		{"", "552 too large", true},
		{"", "452 the disk is full", false},
		{"RCPT", "550 no such mailbox", false},
		{"MAIL", "550 no such sender", false},
		{"AUTH", "535 wrong password", false},
	} {
		address, config, _ := mailServer(t, refusal{tt.command, tt.answer})
		c := NewChannels(WebhookOptions{}, MailOptions{
			Server: mail.Server{Address: address, Username: "vigil", Password: secret.NewText("pw"), TLS: config}, From: "vigil@corp.example",
			Now: func() time.Time { return now },
		})
		err := c.Send(t.Context(), Channel{Type: Mail, To: []string{"a@corp.example"}}, notice(Firing))
		_, refused := errors.AsType[Refused](err)
		if wantText := fmt.Sprintf("send mail: %s %q", tt.answer[:3], tt.answer[4:]); refused != tt.want || err == nil || err.Error() != wantText {
			t.Errorf("%v, refused is %t; want %s, %t", err, refused, wantText, tt.want)
		}
	}
}

// refusal is the answer of a mail server to a command, or to the mail itself if the command is empty.
type refusal struct{ command, answer string }

// mailServer is a mail server that accepts one mail, unless it has a refusal.
func mailServer(t *testing.T, r ...refusal) (address string, config *tls.Config, mail chan string) {
	t.Helper()
	validity := pki.Around(time.Now(), time.Hour)
	ca, err := pki.New("Mail CA", validity)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(validity, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	mail = make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		converse(c, &tls.Config{Certificates: []tls.Certificate{leaf}}, mail, r)
	}()
	return l.Addr().String(), &tls.Config{RootCAs: ca.Pool()}, mail
}

func converse(c net.Conn, config *tls.Config, mail chan string, refusals []refusal) {
	r := bufio.NewReader(c)
	command := "connect"
	reply := func(s string) {
		for _, each := range refusals {
			if each.command == command {
				s = each.answer
			}
		}
		_, _ = io.WriteString(c, s+"\r\n")
	}
	var log strings.Builder
	reply("220 mail.example ESMTP")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		log.WriteString(line)
		command, _, _ = strings.Cut(strings.TrimSpace(line), " ")
		switch word := strings.ToUpper(strings.TrimSpace(line)); {
		case strings.HasPrefix(word, "EHLO"):
			reply("250-mail.example")
			reply("250-AUTH PLAIN")
			reply("250 STARTTLS")
		case word == "STARTTLS":
			reply("220 go ahead")
			secure := tls.Server(c, config)
			c, r = secure, bufio.NewReader(secure)
		case word == "DATA":
			reply("354 go ahead")
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				log.WriteString(line)
			}
			command = ""
			reply("250 taken")
			mail <- log.String()
		case strings.HasPrefix(word, "AUTH"):
			reply("235 welcome")
		case word == "QUIT":
			reply("221 bye")
			return
		default:
			reply("250 fine")
		}
	}
}

func TestMailGoesOverTLSAndItsHeadersCannotBeForged(t *testing.T) {
	t.Parallel()
	address, config, received := mailServer(t)
	c := NewChannels(WebhookOptions{}, MailOptions{
		Server: mail.Server{Address: address, Username: "vigil", Password: secret.NewText("pw"), TLS: config}, From: "vigil@corp.example",
		Now: func() time.Time { return now },
	})
	if err := c.Send(t.Context(), Channel{Type: Mail, To: []string{"a@corp.example", "b@corp.example"}}, notice(Firing)); err != nil {
		t.Fatal(err)
	}
	got := <-received
	for _, want := range []string{
		"STARTTLS", "AUTH PLAIN", "MAIL FROM:<vigil@corp.example>", "RCPT TO:<a@corp.example>", "RCPT TO:<b@corp.example>",
		"To: a@corp.example, b@corp.example\r\n", "Message-ID: <d1@corp.example>\r\n", "Subject: =?utf-8?q?", "the status is STALE",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the conversation lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\nBcc:") {
		t.Errorf("a header was forged:\n%s", got)
	}
}

func TestMailNeedsAServerThatIsTrusted(t *testing.T) {
	t.Parallel()
	address, _, _ := mailServer(t)
	for name, o := range map[string]MailOptions{
		"no server":            {},
		"an unknown authority": {Server: mail.Server{Address: address}, From: "vigil@corp.example"},
	} {
		if err := NewChannels(WebhookOptions{}, o).Send(t.Context(), Channel{Type: Mail, To: []string{"a@corp.example"}}, notice(Firing)); err == nil {
			t.Errorf("%s: a mail was sent", name)
		}
	}
}
