package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"vigil/clients/go/auth"
)

// A server is the posture server that resources are managed on.
type server struct {
	url   string
	token *auth.APIToken
	http  *http.Client
}

func newServer(url, token string) *server {
	url = strings.TrimRight(url, "/")
	client := &http.Client{Timeout: time.Minute}
	return &server{url: url, token: &auth.APIToken{Server: url, Token: token, HTTP: client}, http: client}
}

// errNotFound is the error of a record that does not exist.
var errNotFound = errors.New("not found")

// call calls an operation. If in is not nil, it is sent as JSON. If out is not nil, the
// response is decoded into it.
func (s *server) call(ctx context.Context, method, path string, in, out any) error {
	_, err := s.send(ctx, method, path, "", in, out)
	return err
}

// change reads the version of a record and calls an operation that changes this version.
func (s *server) change(ctx context.Context, method, path string, in any) error {
	eTag, err := s.send(ctx, http.MethodGet, path, "", nil, nil)
	if err != nil {
		return err
	}
	_, err = s.send(ctx, method, path, eTag, in, nil)
	return err
}

// send sends a request and returns the version of the record in the response. If
// ifMatch is not empty, the request fails unless the record still has this version.
func (s *server) send(ctx context.Context, method, path, ifMatch string, in, out any) (eTag string, err error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return "", err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return "", err
	}
	if err := s.token.Authorize(ctx, r); err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if ifMatch != "" {
		r.Header.Set("If-Match", ifMatch)
	}
	response, err := s.http.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	eTag = response.Header.Get("ETag")
	if response.StatusCode >= 300 {
		var problem struct {
			Message string `json:"message"`
		}
		_ = json.NewDecoder(response.Body).Decode(&problem) // the status says enough
		if response.StatusCode == http.StatusNotFound {
			return "", fmt.Errorf("%s %s: %w: %s", method, path, errNotFound, problem.Message)
		}
		return "", fmt.Errorf("%s %s: %s: %s", method, path, response.Status, problem.Message)
	}
	if out == nil {
		return eTag, nil
	}
	return eTag, json.NewDecoder(response.Body).Decode(out)
}
