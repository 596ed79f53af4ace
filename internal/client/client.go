// Package client calls the API of a running Vigil server.
//
// A [Profile] contains the server's address and the API token. The client
// exchanges the token for an access token, caches that until shortly before it
// expires, and renews it when the server refuses it. Records are returned as
// the server sent them, so that new members reach the user without a new
// client.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"vigil/internal/fault"
)

// Record is one JSON object of a response.
type Record = map[string]any

// A Client calls one server. It is safe for concurrent use.
type Client struct {
	http  *http.Client
	save  func(Profile) error // stores a renewed access token; may be nil
	now   func() time.Time
	agent string

	mu      sync.Mutex
	profile Profile
}

// Options configure a client.
type Options struct {
	Save    func(Profile) error
	Version string // of the program, for the server's log
	Now     func() time.Time
}

// New returns a client of a profile's server.
func New(p Profile, o Options) (*Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if p.CA != "" {
		text, err := os.ReadFile(p.CA)
		if err != nil {
			return nil, fmt.Errorf("read the server's certificate: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fault.New(fault.Invalid, "%s contains no PEM certificate", p.CA)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Client{http: &http.Client{Transport: transport}, save: o.Save, now: o.Now, agent: "vigil/" + o.Version, profile: p}, nil
}

// URL returns the address of the server, without a slash at the end.
func (c *Client) URL() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.TrimSuffix(c.profile.URL, "/")
}

// renewBefore is how long before its expiry an access token is renewed.
const renewBefore = time.Minute

// access returns the cached access token. If there is none, if it expires soon, or if
// renew is true, access requests a new one first.
func (c *Client) access(ctx context.Context, renew bool) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !renew && c.profile.Access != "" && c.now().Add(renewBefore).Before(c.profile.Ends) {
		return c.profile.Access, nil
	}
	switch {
	case c.profile.Token == "":
		return "", fault.New(fault.Unauthenticated, "profile %q has no token; run %s", c.profile.Name, loginCommand(c.profile.Server))
	case c.profile.Key && renew:
		return "", fault.New(fault.Unauthenticated, "the server does not accept the read-only key for this; log in as a user, or with a new key: %s", loginCommand(c.profile.Server))
	case c.profile.Key:
		return c.profile.Token, nil
	case c.profile.Server == Desktop:
		err := c.refreshDesktop(ctx)
		return c.profile.Access, err
	}
	form := strings.NewReader(url.Values{"refresh_token": {c.profile.Token}}.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.profile.URL+"/csp/gateway/am/api/auth/api-tokens/authorize", form)
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := c.send(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "", fault.New(fault.Unavailable, "%s is not a posture server of Vigil", c.profile.URL)
	default:
		if answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests { // it says nothing about the token
			return "", problem(answer)
		}
		return "", fault.Wrap(fault.Unauthenticated, problem(answer), "the server does not accept the API token; run vigil login with a new one")
	}
	var got struct {
		Access  string `json:"access_token"`
		Seconds int    `json:"expires_in"`
	}
	if err := decodeLogin(answer, c.profile.URL, "posture", &got); err != nil {
		return "", err
	}
	if got.Access == "" {
		return "", fmt.Errorf("%s is not a posture server of Vigil", c.profile.URL)
	}
	if err := c.keep(got.Access, time.Duration(got.Seconds)*time.Second); err != nil {
		return "", err
	}
	return c.profile.Access, nil
}

// decodeLogin decodes the response of a posture or desktop server to a login. If the
// response is not JSON, another program answers at the address.
func decodeLogin(answer *http.Response, address, kind string, out any) error {
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "the response of %s was interrupted", address)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s is not a %s server of Vigil: %w", address, kind, err)
	}
	return nil
}

// keep stores an access token in the profile. The caller holds mu.
func (c *Client) keep(access string, lifetime time.Duration) error {
	c.profile.Access, c.profile.Ends = access, c.now().Add(lifetime)
	if c.save == nil {
		return nil
	}
	return c.save(c.profile)
}

// send sends a request. It explains the error of an untrusted certificate.
func (c *Client) send(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", c.agent)
	answer, err := c.http.Do(r)
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return nil, fault.Wrap(fault.Unauthenticated, unknown, "the certificate of %s is not signed by a trusted authority; get it from the server (tls/tls.crt in its data folder) and log in with --ca FILE", r.URL.Host)
	}
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok { // it repeats the whole address
			err = outer.Err
		}
		return nil, fault.Wrap(fault.Unavailable, err, "the server %s://%s cannot be reached", r.URL.Scheme, r.URL.Host)
	}
	return answer, nil
}

// Login checks that the server accepts the token.
func (c *Client) Login(ctx context.Context) error {
	_, err := c.access(ctx, true) // true: ask the server even if an access token is cached
	return err
}

// do calls an operation. If the server refuses the access token, do renews it and
// calls once more. A status other than 2xx is an error.
func (c *Client) do(ctx context.Context, method, path, ifMatch string, in any) (*http.Response, error) {
	var body []byte
	switch in := in.(type) {
	case nil:
	case json.RawMessage:
		body = in
	default:
		var err error
		if body, err = json.Marshal(in); err != nil {
			return nil, err
		}
	}
	for renew := false; ; renew = true {
		token, err := c.access(ctx, renew)
		if err != nil {
			return nil, err
		}
		answer, err := c.request(ctx, method, path, ifMatch, body, token)
		if err != nil {
			return nil, err
		}
		if answer.StatusCode == http.StatusUnauthorized && !renew {
			answer.Body.Close()
			continue
		}
		if answer.StatusCode/100 != 2 {
			defer answer.Body.Close()
			return nil, problem(answer)
		}
		return answer, nil
	}
}

// request sends JSON, with an access token and If-Match unless they are empty.
func (c *Client) request(ctx context.Context, method, path, ifMatch string, body []byte, token string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.profile.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if ifMatch != "" {
		r.Header.Set("If-Match", ifMatch)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return c.send(r)
}

// Call calls an operation and decodes its response into out, unless out is nil.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	return c.CallIfMatch(ctx, method, path, "", in, out)
}

// CallIfMatch is [Client.Call] for a record that must still have the ETag.
func (c *Client) CallIfMatch(ctx context.Context, method, path, etag string, in, out any) error {
	answer, err := c.do(ctx, method, path, etag, in)
	if err != nil {
		return err
	}
	return decode(answer, method, path, out)
}

// Public posts to an operation that needs no login, and decodes its response into out.
func (c *Client) Public(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer, err := c.request(ctx, http.MethodPost, path, "", body, "")
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		defer answer.Body.Close()
		return problem(answer)
	}
	return decode(answer, http.MethodPost, path, out)
}

// Patch reads the current version of a record and changes it with If-Match.
func (c *Client) Patch(ctx context.Context, path string, in, out any) error {
	current, err := c.do(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	current.Body.Close()
	return c.CallIfMatch(ctx, http.MethodPatch, path, current.Header.Get("ETag"), in, out)
}

// decode decodes a JSON response into out, unless out is nil.
func decode(answer *http.Response, method, path string, out any) error {
	defer answer.Body.Close()
	if out == nil || answer.StatusCode == http.StatusNoContent {
		_, err := io.Copy(io.Discard, answer.Body)
		return err
	}
	decoder := json.NewDecoder(answer.Body)
	decoder.UseNumber()
	if err := decoder.Decode(out); err != nil {
		return fmt.Errorf("decode the response of %s %s: %w", method, path, err)
	}
	return nil
}

// Copy calls an operation and streams its response to a writer.
func (c *Client) Copy(ctx context.Context, method, path string, in any, to io.Writer) error {
	answer, err := c.do(ctx, method, path, "", in)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err = io.Copy(to, answer.Body); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the response was interrupted")
	}
	return nil
}

// pageSize is the number of records of one request.
const pageSize = 500

// List reads at most limit records of a paged list. It also returns how many records
// the list has. The member of a response with the given key has the records.
func (c *Client) List(ctx context.Context, path, key string, query Record, limit int) (all []Record, total int, err error) {
	token := ""
	for {
		page := Record{"pageSize": min(pageSize, limit-len(all))}
		if token != "" {
			page["continuationToken"] = token
		}
		in := Record{"paginationInfo": page}
		for name, value := range query {
			in[name] = value
		}
		var answer Record
		if err := c.Call(ctx, http.MethodPost, path, in, &answer); err != nil {
			return nil, 0, err
		}
		records := Records(answer, key)
		all = append(all, records...)
		if n, ok := answer["totalCount"].(json.Number); ok {
			if count, err := n.Int64(); err == nil {
				total = int(count)
			}
		}
		token, _ = answer["continuationToken"].(string)
		if token == "" || len(all) >= limit || len(records) == 0 {
			return all, max(total, len(all)), nil
		}
	}
}

// Records returns the objects in a list member of a response.
func Records(answer Record, key string) (all []Record) {
	members, _ := answer[key].([]any)
	for _, each := range members {
		if r, ok := each.(Record); ok {
			all = append(all, r)
		}
	}
	return all
}

// problem converts an error response of either server to an error.
func problem(answer *http.Response) error {
	var response struct {
		Message string `json:"message"`
		Desktop string `json:"error_message"` // the message of a desktop server
		Errors  []struct {
			Path    string `json:"path"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil || json.Unmarshal(text, &response) != nil || response.Message+response.Desktop == "" {
		response.Message = "the server answered " + answer.Status
	}
	if response.Message == "" { // the error_message of a desktop server contains the errors
		response.Message, response.Errors = response.Desktop, nil
	}
	for _, e := range response.Errors {
		if !strings.Contains(response.Message, e.Path) {
			response.Message += "; " + e.Path + " " + e.Message
		}
	}
	kind, ok := map[int]fault.Kind{
		http.StatusBadRequest: fault.Invalid, http.StatusUnauthorized: fault.Unauthenticated, http.StatusForbidden: fault.Forbidden, http.StatusNotFound: fault.NotFound,
		http.StatusConflict: fault.Conflict, http.StatusPreconditionFailed: fault.Stale, http.StatusTooManyRequests: fault.Limited, http.StatusServiceUnavailable: fault.Unavailable,
	}[answer.StatusCode]
	if !ok {
		kind = fault.Internal
	}
	return fault.New(kind, "%s", response.Message)
}
