// Package awsapi calls any read operation of any AWS service by name, with a JSON
// input and a JSON answer, without the service's generated module.
//
// What can be called is in package model, how it is written and read in package
// wire. This package adds the addresses, the signature, retries and pages. It
// uses the signer, the retryer and the credentials of the official SDK.
package awsapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/awsapi/wire"
)

// Options say how AWS is called.
type Options struct {
	// HTTP makes the calls. It must not follow redirects: a request is signed
	// for one host.
	HTTP *http.Client
	// Credentials sign the calls. When AWS says that they have expired and they
	// have a method Invalidate, it is called and the call is tried again.
	Credentials aws.CredentialsProvider
	// Endpoint, when not empty, is the one address of all services in all
	// regions: "http://127.0.0.1:5000".
	Endpoint string
	// FIPS chooses the endpoints that are validated by FIPS 140.
	FIPS bool
	// Attempts is how often a call is tried at most. 5 when zero.
	Attempts int
	// Backoff is the longest pause before the second attempt; it doubles with
	// every further one. Half a second when zero.
	Backoff time.Duration
	// Timeout is how long one attempt may take. A minute when zero.
	Timeout time.Duration
	// Before, when not nil, is called before every attempt, to wait for a rate
	// limit. Its error ends the call.
	Before func(context.Context, Attempt) error
	// After, when not nil, is told how every attempt ended.
	After func(Attempt, error)
	// Now is the clock. time.Now when nil.
	Now func() time.Time
}

// An Attempt is one try of a call.
type Attempt struct {
	Service   string
	Operation string
	Region    string
	Number    int // from 1; what is above 1 is a retry
}

// A Client calls AWS. It is safe for concurrent use.
type Client struct {
	options  Options
	endpoint *url.URL // nil unless there is one for all
	signer   *v4.Signer
	retryer  aws.RetryerV2
	skew     atomic.Int64 // nanoseconds that AWS's clock is ahead of ours
	buckets  sync.Map     // name of a bucket -> its region, where it is not where it was asked for
}

// New returns a client.
func New(o Options) (*Client, error) {
	if o.HTTP == nil || o.Credentials == nil {
		return nil, errors.New("a client of AWS needs an HTTP client and credentials")
	}
	if o.Attempts == 0 {
		o.Attempts = 5
	}
	if o.Backoff == 0 {
		o.Backoff = 500 * time.Millisecond
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{options: o, signer: v4.NewSigner(), retryer: newRetryer(o)}
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("endpoint %q is not an address of HTTP", o.Endpoint)
		}
		c.endpoint = u
	}
	return c, nil
}

// Call makes one call and returns its answer as JSON. The input is a
// map[string]any, a [json.RawMessage] or nil.
//
// A refusal is an [*Error]. An input that does not fit the model is a
// [*wire.InputError], and nothing is called.
func (c *Client) Call(ctx context.Context, service, operation, region string, input any) ([]byte, error) {
	op, err := model.Find(service, operation)
	if err != nil {
		return nil, err
	}
	values, err := members(input)
	if err != nil {
		return nil, err
	}
	return c.call(ctx, op, region, values)
}

// members returns an input as a map, which is not the caller's.
func members(input any) (map[string]any, error) {
	switch input := input.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		values := make(map[string]any, len(input)+2)
		for k, v := range input {
			values[k] = v
		}
		return values, nil
	case json.RawMessage:
		return parseMembers(input)
	case []byte:
		return parseMembers(input)
	}
	return nil, fmt.Errorf("an input must be a map or JSON, not %T", input)
}

func (c *Client) call(ctx context.Context, op *model.Operation, region string, input map[string]any) ([]byte, error) {
	prepare(op, input)
	decoder, err := wire.DecoderOf(op)
	if err != nil {
		return nil, err
	}
	request, err := wire.Encode(ctx, op, input)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", op.Service.Name, op.Name, err)
	}
	switch op.Service.Name {
	case "apigateway":
		request.Header.Set("Accept", "application/json") // else it answers in HAL
	case "glacier":
		request.Header.Set("X-Amz-Glacier-Version", op.Service.Version)
	}
	x := &exchange{client: c, op: op, region: region, request: request, decoder: decoder}
	if op.Service.Name == "s3" {
		if x.bucket, err = bucketOf(input); err != nil {
			return nil, err
		}
	}
	if x.hostPrefix, err = hostPrefix(op, input); err != nil {
		return nil, err
	}
	return x.run(ctx)
}
