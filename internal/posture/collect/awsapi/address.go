package awsapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/awsapi/wire"
)

// address returns the URL of an attempt and the endpoint to sign it for, and records the region
// in x.sentTo.
func (c *Client) address(x *exchange) (*url.URL, model.Endpoint, error) {
	region := x.region
	if x.bucket != "" {
		if known, ok := c.buckets.Load(x.bucket); ok {
			region = known.(string)
		}
	}
	x.sentTo = region
	endpoint, err := x.op.Endpoint(region, c.options.FIPS)
	if err != nil {
		return nil, endpoint, err
	}
	u := x.request.URL // a copy: the next attempt may have another address
	u.Scheme, u.Host = "https", x.hostPrefix+endpoint.Host
	switch {
	case c.endpoint != nil:
		u.Scheme, u.Host = c.endpoint.Scheme, c.endpoint.Host
		base := strings.TrimSuffix(c.endpoint.Path, "/")
		if u.RawPath != "" {
			u.RawPath = base + u.RawPath
		}
		u.Path = base + u.Path
	case virtualHost.MatchString(x.bucket):
		u.Host = x.bucket + "." + u.Host
		u.Path = cutBucket(u.Path, x.bucket)
		if u.RawPath != "" {
			u.RawPath = cutBucket(u.RawPath, x.bucket)
		}
	}
	return &u, endpoint, nil
}

// virtualHost matches bucket names that can be part of S3's host name. Names with a dot
// do not match its certificate.
var virtualHost = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// cutBucket removes the bucket from the beginning of a path.
func cutBucket(path, bucket string) string {
	rest := strings.TrimPrefix(path, "/"+bucket)
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	return rest
}

// bucketOf returns the bucket of an S3 call, or "".
func bucketOf(input map[string]any) (string, error) {
	bucket, _ := input["Bucket"].(string)
	if strings.HasPrefix(bucket, "arn:") || strings.ContainsAny(bucket, "/?#") {
		return "", &wire.InputError{Path: "Bucket", Err: errors.New("must be a bucket name")}
	}
	return bucket, nil
}

// regionName is the syntax of region names. It is checked because a region name in a
// response becomes a part of a host name.
var regionName = regexp.MustCompile(`^[a-z]{2}(-[a-z]+){1,3}-[0-9]{1,2}$`)

// followRedirect reports whether the error of S3 says that the bucket is in another region, and
// redirects the exchange to that region.
func (x *exchange) followRedirect(err error) bool {
	var e *Error
	if x.bucket == "" || x.redirected || !errors.As(err, &e) || !regionName.MatchString(e.bucketRegion) {
		return false
	}
	switch e.HTTPStatus {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect, http.StatusBadRequest:
	default:
		return false
	}
	if e.bucketRegion == x.sentTo || model.PartitionOf(e.bucketRegion) != model.PartitionOf(x.sentTo) {
		return false
	}
	x.redirected = true
	x.client.buckets.Store(x.bucket, e.bucketRegion)
	return true
}

var hostLabel = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// hostPrefix returns the prefix that an operation adds to the host name.
func hostPrefix(op *model.Operation, input map[string]any) (string, error) {
	prefix := op.Host
	for {
		before, rest, found := strings.Cut(prefix, "{")
		if !found {
			return prefix, nil
		}
		name, after, _ := strings.Cut(rest, "}")
		value, _ := input[name].(string)
		if !hostLabel.MatchString(value) {
			return "", &wire.InputError{Path: name, Err: errors.New("must be a valid part of a host name")}
		}
		prefix = before + value + after
	}
}

// prepare adapts an input to what the service accepts.
func prepare(op *model.Operation, input map[string]any) {
	if op.Service.Name != "route53" {
		return
	}
	// Responses have a path before the ids of zones; requests must not.
	for _, name := range []string{"Id", "HostedZoneId", "DelegationSetId", "ResourceId"} {
		if id, ok := input[name].(string); ok {
			input[name] = id[strings.LastIndex(id, "/")+1:]
		}
	}
}

// parseMembers parses an input that is a JSON object, null or empty.
func parseMembers(text []byte) (map[string]any, error) {
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	if !gjson.ValidBytes(text) {
		return nil, errors.New("the input is not JSON")
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	values := map[string]any{}
	if err := decoder.Decode(&values); err != nil {
		return nil, fmt.Errorf("the input must be a JSON object: %w", err)
	}
	if values == nil { // the input is null
		values = map[string]any{}
	}
	return values, nil
}
