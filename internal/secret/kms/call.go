package kms

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	maxAnswer = 1 << 20 // bytes; a wrapped key has a few hundred
	attempts  = 3
	backoff   = 200 * time.Millisecond // before the second attempt; twice that before the third
)

// call posts a JSON document and decodes the JSON response. It retries
// transient failures. The sign function signs each attempt's request.
func call(ctx context.Context, client *http.Client, address string, in, out any, sign func(r *http.Request, body []byte) error) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		retry, err := try(ctx, client, address, body, out, sign)
		if err == nil || !retry || attempt == attempts {
			return err
		}
		select {
		case <-time.After(backoff << (attempt - 1)):
		case <-ctx.Done():
			return err
		}
	}
}

// try makes one attempt. It returns whether a retry may succeed.
func try(ctx context.Context, client *http.Client, address string, body []byte, out any, sign func(r *http.Request, body []byte) error) (retry bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/json")
	if err := sign(r, body); err != nil {
		return false, fmt.Errorf("sign the request: %w", err)
	}
	answer, err := client.Do(r)
	if err != nil {
		return true, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return true, fmt.Errorf("read the response: %w", err)
	case answer.StatusCode != http.StatusOK:
		retry := answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests || awsThrottled(text)
		return retry, fmt.Errorf("the key management service answered %d: %.300s", answer.StatusCode, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return true, fmt.Errorf("read the response: %w", err)
	}
	return false, nil
}
