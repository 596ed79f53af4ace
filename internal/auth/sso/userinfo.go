package sso

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// userInformation returns the claims of a subject at the user info endpoint.
func (p *Provider) userInformation(ctx context.Context, found *oidc.Provider, subject string, token *oauth2.Token) (map[string]any, error) {
	answer := &statusRecorder{next: p.o.HTTP.Transport}
	client := *p.o.HTTP
	client.Transport = answer
	info, err := found.UserInfo(oidc.ClientContext(ctx, &client), oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, p.userInfoFailure(answer, err)
	}
	claims := map[string]any{}
	if err := info.Claims(&claims); err != nil {
		return nil, p.userInfoFailure(answer, err)
	}
	switch info.Subject {
	case subject:
		return claims, nil
	case "":
		return nil, fail(Invalid, errors.New("the user information has no subject: the identity provider must send the claim sub of the ID token in it"))
	}
	return nil, fail(Invalid, errors.New("the user information is about another subject than the ID token: the identity provider must send the same claim sub in both"))
}

// userInfoFailure returns the failure for an error of the user info endpoint. If the status of
// the response is not 200, err contains the body, which may contain personal data. The failure
// then has only the status.
func (p *Provider) userInfoFailure(answer *statusRecorder, err error) error {
	switch status := answer.status; {
	case status == 0:
		return fail(Unavailable, fmt.Errorf("the identity provider did not answer the request for user information: %w", err))
	case status == http.StatusOK && answer.broken != nil:
		return fail(Unavailable, fmt.Errorf("the response of the identity provider with the user information was interrupted: %w", answer.broken))
	case status == http.StatusOK:
		return fail(Invalid, errors.New("the user information that the identity provider sent cannot be read: "+printable(err.Error())))
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		return fail(Unavailable, fmt.Errorf("the identity provider could not send user information: it answered with status %d", status))
	}
	return fail(Misconfigured, fmt.Errorf(
		"the identity provider refused to send user information: it answered with status %d; permit the client to read it there, or add the claim %q to the ID token",
		answer.status, p.o.GroupsClaim))
}

// A statusRecorder records the status of a response and why its body ended early, which
// the errors of package oidc have only in their text.
type statusRecorder struct {
	next   http.RoundTripper
	status int   // 0 without a response
	broken error // of the connection, while the body was read
}

// RoundTrip implements [http.RoundTripper].
func (s *statusRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := s.next.RoundTrip(r)
	if err == nil {
		s.status = res.StatusCode
		res.Body = &recordedBody{res.Body, s}
	}
	return res, err
}

// A recordedBody is the body of a response to a statusRecorder.
type recordedBody struct {
	io.ReadCloser
	recorder *statusRecorder
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	_, tooLong := errors.AsType[*http.MaxBytesError](err)
	if err != nil && err != io.EOF && !tooLong {
		b.recorder.broken = err
	}
	return n, err
}
