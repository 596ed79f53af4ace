// Package awsapi calls any read operation of any AWS service by name, with JSON
// input and JSON output, without the service's generated SDK module.
//
// Package model describes the operations; package wire encodes requests and decodes
// responses. This package adds endpoints, signatures, retries and pagination. It uses
// the signer, the retryer and the credentials of the official SDK.
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

// Options configure a client.
type Options struct {
	// HTTP makes the calls. It must not follow redirects, because a signature is valid
	// for one host.
	HTTP *http.Client
	// Credentials sign the calls. When AWS reports that they have expired, their method
	// Invalidate is called, if they have one, and the call is retried.
	Credentials aws.CredentialsProvider
	// Endpoint, when not empty, is the address of all services in all regions:
	// "http://127.0.0.1:5000".
	Endpoint string
	// FIPS selects the endpoints that are validated by FIPS 140.
	FIPS bool
	// Attempts is the maximum number of attempts per call. 5 when zero.
	Attempts int
	// Backoff is the maximum pause before the first retry; it doubles with every
	// retry. Half a second when zero.
	Backoff time.Duration
	// Timeout is the time limit of one attempt. A minute when zero.
	Timeout time.Duration
	// Before, when not nil, is called before every attempt, to wait for a rate
	// limit. Its error ends the call.
	Before func(context.Context, Attempt) error
	// After, when not nil, is called with the result of every attempt.
	After func(Attempt, error)
	// Now is the clock. time.Now when nil.
	Now func() time.Time
}

// An Attempt is one attempt of a call.
type Attempt struct {
	Service   string
	Operation string
	Region    string
	Number    int // from 1; greater numbers are retries
}

// A Client calls AWS. It is safe for concurrent use.
type Client struct {
	options  Options
	endpoint *url.URL // Options.Endpoint; nil when empty
	signer   *v4.Signer
	retryer  aws.RetryerV2
	skew     atomic.Int64 // nanoseconds by which AWS's clock is ahead of ours
	buckets  sync.Map     // bucket name -> its region, for buckets in another region than that of the call
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
			return nil, fmt.Errorf("endpoint %q must be an HTTP URL", o.Endpoint)
		}
		c.endpoint = u
	}
	return c, nil
}

// Call makes one call and returns its output as JSON. The input is a map[string]any, a
// [json.RawMessage] or nil.
//
// It fails with an [*Error] when AWS refuses the call, and with a [*wire.InputError]
// before calling when the input does not match the model.
func (c *Client) Call(ctx context.Context, service, operation, region string, input any) (string, error) {
	op, err := model.Find(service, operation)
	if err != nil {
		return "", err
	}
	values, err := members(input)
	if err != nil {
		return "", err
	}
	return c.call(ctx, op, region, values)
}

// members returns an input as a map that the caller does not share.
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

func (c *Client) call(ctx context.Context, op *model.Operation, region string, input map[string]any) (string, error) {
	prepare(op, input)
	decoder, err := wire.DecoderOf(op)
	if err != nil {
		return "", err
	}
	request, err := wire.Encode(ctx, op, input)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", op.Service.Name, op.Name, err)
	}
	switch op.Service.Name {
	case "apigateway":
		request.Header.Set("Accept", "application/json") // otherwise the response is HAL
	case "glacier":
		request.Header.Set("X-Amz-Glacier-Version", op.Service.Version)
	}
	x := &exchange{client: c, op: op, region: region, request: request, decoder: decoder}
	if op.Service.Name == "s3" {
		if x.bucket, err = bucketOf(input); err != nil {
			return "", err
		}
	}
	if x.hostPrefix, err = hostPrefix(op, input); err != nil {
		return "", err
	}
	return x.run(ctx)
}
