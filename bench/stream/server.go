package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/sim/events"
)

// A server controls the server process.
type server struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *json.Decoder
	ready ready
	token string
}

// start starts the server process, waits until it is ready and configures the
// event streams of all accounts.
func start(ctx context.Context, o options, c *cloud) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.CommandContext(ctx, self, "-serve")}
	s.cmd.Stderr = os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = json.NewDecoder(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, o, c); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// stop ends the server process.
func (s *server) stop() {
	_ = s.in.Close() // ends the server process
	if err := s.cmd.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "stream: the server ended:", err)
	}
}

func (s *server) prepare(ctx context.Context, o options, c *cloud) error {
	key, secret := c.Identity()
	setup := setup{Options: o, Gateway: egress.Gateway{Address: c.gate.Address(), CA: c.gate.CA()}, AWS: aws.Identity{AccessKeyID: key, SecretAccessKey: secret}}
	for i := range c.ids {
		setup.Accounts = append(setup.Accounts, c.Account(i))
	}
	if err := json.NewEncoder(s.in).Encode(setup); err != nil {
		return err
	}
	if err := s.out.Decode(&s.ready); err != nil {
		return fmt.Errorf("wait for the server: %w", err)
	}
	if err := s.logIn(ctx); err != nil {
		return err
	}
	for _, id := range c.ids {
		var stream events.Stream
		if err := s.call(ctx, "/v1/cloud-accounts/"+id+"/event-stream", nil, &stream); err != nil {
			return err
		}
		if err := c.publisher.Subscribe(ctx, stream); err != nil {
			return err
		}
	}
	return s.readInventory(ctx, c)
}

// readInventory reads the numbers of entities and rules, and opens in the simulation the
// groups that an earlier run left open.
func (s *server) readInventory(ctx context.Context, c *cloud) error {
	onlyTotal := map[string]any{"paginationInfo": map[string]any{"pageSize": 1}}
	var total struct {
		TotalCount int `json:"totalCount"`
	}
	if err := s.call(ctx, "/v1/entities/query", onlyTotal, &total); err != nil {
		return err
	}
	s.ready.Entities = total.TotalCount
	if err := s.call(ctx, "/v1/rules/query", onlyTotal, &total); err != nil {
		return err
	}
	s.ready.Rules = total.TotalCount
	for _, id := range c.ids {
		found, err := s.findings(ctx, map[string]any{"ruleIds": []string{rule}, "status": "Open", "cloudAccountIds": []string{id}}, posture.MaxPage, "")
		if err != nil {
			return err
		}
		open := map[posture.EntityID]bool{}
		for _, f := range found.Results {
			open[f.EntityID] = true
		}
		for i := range perAccount {
			if ref := group(id, i); open[entity(ref)] {
				if err := c.setOpen(ref, true); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// counters requests the current counters.
func (s *server) counters() (m counters, err error) {
	if _, err := io.WriteString(s.in, "counters\n"); err != nil { // any line requests them; see serve
		return m, err
	}
	err = s.out.Decode(&m)
	return m, err
}

// logIn exchanges the API token for an access token.
func (s *server) logIn(ctx context.Context) error {
	form := url.Values{"refresh_token": {s.ready.Token}}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.ready.Base+"/csp/gateway/am/api/auth/api-tokens/authorize", bytes.NewReader([]byte(form)))
	if err != nil {
		return err
	}
	var grant struct {
		AccessToken string `json:"access_token"`
	}
	err = send(r, &grant)
	s.token = grant.AccessToken
	return err
}

// A finding is a finding in the API.
type finding struct {
	EntityID posture.EntityID `json:"entityId"`
	RuleID   string           `json:"ruleId"`
	Status   string           `json:"status"`
	Updated  time.Time        `json:"lastUpdateTime"`
}

// A page is a page of findings. Token requests the next one.
type page struct {
	Results []finding `json:"results"`
	Token   string    `json:"continuationToken"`
}

// findings returns the first page of the findings that match a filter, the last updated
// first, or the page that a token requests.
func (s *server) findings(ctx context.Context, filters map[string]any, size int, token string) (found page, err error) {
	pagination := map[string]any{"pageSize": size}
	if token != "" {
		pagination["continuationToken"] = token
	}
	err = s.call(ctx, "/v2/findings/query", map[string]any{
		"filters":        filters,
		"sorts":          []any{map[string]string{"fieldName": "lastUpdateTime", "order": "desc"}},
		"paginationInfo": pagination,
	}, &found)
	return found, err
}

func (s *server) call(ctx context.Context, path string, body, target any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.ready.Base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	return send(r, target)
}

// send sends a request and decodes the JSON response into target.
func send(r *http.Request, target any) error {
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s: status %d: %s", r.URL.Path, res.StatusCode, text)
	}
	return json.Unmarshal(text, target)
}
