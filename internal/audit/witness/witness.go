// Package witness implements witnesses of the audit log outside the
// installation: a syslog server, or a web server or object store that supports
// PUT and GET.
package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"vigil/internal/audit"
	"vigil/internal/outbound"
)

// Options configure the witnesses. An empty URL or Syslog means no such witness.
type Options struct {
	URL    string // http or https: checkpoints are written with PUT and read with GET
	Token  string // file:PATH or env:NAME of its bearer token
	Syslog string // unix:///dev/log, udp://HOST:PORT or tcp://HOST:PORT
	Host   string // host name in syslog messages
}

const timeout = 10 * time.Second

// New returns the configured witnesses. It does not connect to them.
func New(o Options) ([]audit.Witness, error) {
	var all []audit.Witness
	dialer := outbound.Policy{AllowSelf: true}.Dialer(timeout)
	if o.URL != "" {
		all = append(all, &web{url: o.URL, token: o.Token, client: &http.Client{
			Timeout:       timeout,
			Transport:     &http.Transport{DialContext: dialer.DialContext, Proxy: nil, TLSHandshakeTimeout: timeout},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}})
	}
	if o.Syslog != "" {
		u, err := url.Parse(o.Syslog)
		if err != nil {
			return nil, fmt.Errorf("read the address of the syslog server: %w", err)
		}
		s := &syslog{network: u.Scheme, address: u.Host, host: o.Host, dial: dialer.DialContext, now: time.Now}
		if u.Scheme == "unix" {
			// Package outbound does not apply: a local socket has no network address.
			s.network, s.address, s.dial = "unixgram", u.Path, (&net.Dialer{Timeout: timeout}).DialContext
		}
		all = append(all, s)
	}
	return all, nil
}

// web is a web server or object store.
type web struct {
	url, token string
	client     *http.Client
}

func (w *web) Name() string { return w.url }

// Put implements [audit.Witness].
func (w *web) Put(ctx context.Context, c audit.Checkpoint) error {
	status, _, err := w.do(ctx, http.MethodPut, []byte(c.String()+"\n"))
	if err == nil && (status < 200 || status > 299) {
		err = fmt.Errorf("it answers with status %d", status)
	}
	return err
}

// Newest implements [audit.Witness].
func (w *web) Newest(ctx context.Context) (audit.Checkpoint, error) {
	status, body, err := w.do(ctx, http.MethodGet, nil)
	switch {
	case err != nil:
		return audit.Checkpoint{}, err
	case status == http.StatusNotFound:
		return audit.Checkpoint{}, nil
	case status != http.StatusOK:
		return audit.Checkpoint{}, fmt.Errorf("it answers with status %d", status)
	}
	return audit.ParseCheckpoint(string(body))
}

func (w *web) do(ctx context.Context, method string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if w.token != "" {
		token, err := reveal(w.token)
		if err != nil {
			return 0, nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	}
	res, err := w.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 4096))
	return res.StatusCode, answer, err
}

// reveal returns the secret that a reference refers to.
func reveal(reference string) (string, error) {
	kind, where, _ := strings.Cut(reference, ":")
	var text string
	switch kind {
	case "file":
		data, err := os.ReadFile(where)
		if err != nil {
			return "", err
		}
		text = string(data)
	case "env":
		text = os.Getenv(where)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", errors.New("no token in " + reference)
	}
	return text, nil
}

// syslog is a syslog server. It is write-only.
type syslog struct {
	network, address, host string
	dial                   func(ctx context.Context, network, address string) (net.Conn, error)
	now                    func() time.Time
}

func (s *syslog) Name() string { return "syslog " + s.address }

// priority is the facility and severity of the messages: log audit (13), notice (5).
const priority = 13*8 + 5

// Put implements [audit.Witness]. The message has the format of RFC 5424, with
// octet counting over TCP (RFC 6587).
func (s *syslog) Put(ctx context.Context, c audit.Checkpoint) error {
	conn, err := s.dial(ctx, s.network, s.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	host := s.host
	if host == "" {
		host = "-"
	}
	message := fmt.Sprintf("<%d>1 %s %s vigil - audit-checkpoint - %s", priority, s.now().UTC().Format(time.RFC3339), host, c)
	if s.network == "tcp" {
		message = fmt.Sprintf("%d %s", len(message), message)
	}
	_, err = io.WriteString(conn, message)
	return err
}

// Newest implements [audit.Witness].
func (*syslog) Newest(context.Context) (audit.Checkpoint, error) { return audit.Checkpoint{}, nil }
