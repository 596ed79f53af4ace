package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

const (
	maxAnswer = 64 << 20        // bytes of one answer; the largest pages have a few million
	maxPause  = 2 * time.Minute // that Azure may ask for before a call is given up
)

// lines are the ways to Azure's services with one identity.
type lines map[string]runtime.Pipeline // by host

// dial prepares calls with the credential of a subscription.
func (src *Source) dial(a posture.Access, env environment) (lines, error) {
	client := policy.ClientOptions{
		Cloud:     env.cloud,
		Transport: capped{src.options.HTTP},
		Telemetry: policy.TelemetryOptions{ApplicationID: "vigil"},
		Retry: policy.RetryOptions{
			MaxRetries: int32(src.options.Attempts - 1), RetryDelay: src.options.RetryDelay, MaxRetryDelay: maxPause, TryTimeout: src.options.Timeout,
		},
	}
	if src.options.Attempts == 1 {
		client.Retry.MaxRetries = -1 // the SDK takes zero for its default
	}
	credential, err := src.credential(a, client)
	if err != nil {
		return nil, err
	}
	manager := client
	manager.PerRetryPolicies = src.policies(a.Account.ID, armService)
	resources, err := arm.NewClient("vigil", "v1.0.0", credential, &arm.ClientOptions{ClientOptions: manager, DisableRPRegistration: true})
	if err != nil {
		return nil, fmt.Errorf("prepare calls of Resource Manager: %w", err)
	}
	directory := client
	directory.PerRetryPolicies = src.policies(a.Account.ID, graphService)
	token := runtime.NewBearerTokenPolicy(credential, []string{env.graph + "/.default"}, nil)
	return lines{
		host(env.cloud.Services[cloud.ResourceManager].Endpoint): resources.Pipeline(),
		host(env.graph): runtime.NewPipeline("vigil", "v1.0.0", runtime.PipelineOptions{PerRetry: []policy.Policy{token}}, &directory),
	}, nil
}

// credential returns what signs in to a subscription.
func (src *Source) credential(a posture.Access, client policy.ClientOptions) (azcore.TokenCredential, error) {
	if src.options.Credential != nil {
		return src.options.Credential, nil
	}
	credential, err := azidentity.NewClientSecretCredential(
		a.Credential.Property(posture.PropDirectoryID), a.Credential.Property(posture.PropApplicationID), a.Secrets[posture.PropApplicationKey],
		&azidentity.ClientSecretCredentialOptions{ClientOptions: client},
	)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", collect.ErrIdentity, err)
	}
	return credential, nil
}

// policies are what every attempt of a call goes through.
func (src *Source) policies(account posture.AccountID, service string) []policy.Policy {
	all := []policy.Policy{sound{}}
	if src.options.Limiter != nil {
		key := collect.Key{Provider: posture.Azure, Account: account, Service: service}
		all = append([]policy.Policy{limit{src.options.Limiter, key}}, all...)
	}
	return all
}

// limit makes every attempt wait for its turn, and tells the limiter when Azure
// wants fewer.
type limit struct {
	limiter collect.Limiter
	key     collect.Key
}

// Do implements [policy.Policy].
func (l limit) Do(req *policy.Request) (*http.Response, error) {
	if err := l.limiter.Wait(req.Raw().Context(), l.key); err != nil {
		return nil, err
	}
	answer, err := req.Next()
	if err == nil && answer.StatusCode == http.StatusTooManyRequests {
		l.limiter.Throttled(l.key, retryAfter(answer.Header))
	}
	return answer, err
}

// retryAfter returns how long an answer asks to wait, or 0.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxPause)
}

// sound makes sure that an answer is JSON, so that one that is not is asked for
// again.
type sound struct{}

var errNotJSON = errors.New("the answer is not JSON")

// Do implements [policy.Policy].
func (sound) Do(req *policy.Request) (*http.Response, error) {
	answer, err := req.Next()
	if err != nil || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	body, err := runtime.Payload(answer)
	if err == nil && !collect.ValidAnswer(body) {
		err = errNotJSON
	}
	return answer, err
}

// capped is a transport whose answers have an end.
type capped struct{ client *http.Client }

// Do implements [policy.Transporter].
func (c capped) Do(req *http.Request) (*http.Response, error) {
	answer, err := c.client.Do(req)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err
}

// host returns the host of an address.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// get makes one call and returns its answer. The permission is what the call
// takes. A token that is no longer accepted is renewed once.
func (s *session) get(ctx context.Context, address, permission string) (gjson.Result, error) {
	pipelines := s.lines.Load()
	answer, err := call(ctx, *pipelines, address, permission)
	if expired(err) && s.renew(pipelines) == nil {
		answer, err = call(ctx, *s.lines.Load(), address, permission)
	}
	return answer, err
}

func call(ctx context.Context, to lines, address, permission string) (gjson.Result, error) {
	pipeline, ok := to[host(address)]
	if !ok {
		return gjson.Result{}, fmt.Errorf("call %s: it is none of Azure's services", host(address))
	}
	req, err := runtime.NewRequest(ctx, http.MethodGet, address)
	if err != nil {
		return gjson.Result{}, err
	}
	req.Raw().Header.Set("Accept", "application/json")
	answer, err := pipeline.Do(req)
	if err != nil {
		return gjson.Result{}, sorted(ctx, err, permission)
	}
	defer answer.Body.Close()
	if !runtime.HasStatusCode(answer, http.StatusOK) {
		return gjson.Result{}, sorted(ctx, runtime.NewResponseError(answer), permission)
	}
	body, err := io.ReadAll(answer.Body)
	return gjson.ParseBytes(body), err
}

// pages passes on every page of a list. With keep it may have been read before
// in this session, by a collector that needs the same list.
func (s *session) pages(ctx context.Context, address, permission string, keep bool, page func(gjson.Result) error) error {
	for address != "" {
		read := func() (gjson.Result, error) { return s.get(ctx, address, permission) }
		var answer gjson.Result
		var err error
		if keep {
			answer, err = s.memo.read(ctx, address, read)
		} else {
			answer, err = read()
		}
		if err != nil {
			return err
		}
		if err := page(answer); err != nil {
			return err
		}
		if address, err = follow(address, answer); err != nil {
			return err
		}
	}
	return nil
}

// follow returns the address of the next page, or "" after the last. A page
// cannot lead to another host, where the token would be shown.
func follow(address string, answer gjson.Result) (string, error) {
	next := answer.Get("nextLink").String()
	if next == "" {
		next = answer.Get(`\@odata\.nextLink`).String()
	}
	if next == "" {
		return "", nil
	}
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "https" || !strings.EqualFold(u.Host, host(address)) || next == address {
		return "", fmt.Errorf("the next page is said to be at %.200q", next)
	}
	return next, nil
}
