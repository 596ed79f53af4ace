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
	maxAnswer = 64 << 20        // bytes of one response; the largest pages have a few million
	maxPause  = 2 * time.Minute // longest requested pause after which a call is still retried
)

// pipelines are the HTTP pipelines to Azure's services for one identity.
type pipelines map[string]runtime.Pipeline // by host

// dial creates the pipelines with the credential of a subscription.
func (src *Source) dial(a posture.Access, env environment) (pipelines, error) {
	client := policy.ClientOptions{
		Cloud:     env.cloud,
		Transport: capped{src.options.HTTP},
		Telemetry: policy.TelemetryOptions{ApplicationID: "vigil"},
		Retry: policy.RetryOptions{
			MaxRetries: int32(src.options.Attempts - 1), RetryDelay: src.options.RetryDelay, MaxRetryDelay: maxPause, TryTimeout: src.options.Timeout,
		},
	}
	if src.options.Attempts == 1 {
		client.Retry.MaxRetries = -1 // the SDK treats zero as its default
	}
	credential, err := src.credential(a, client)
	if err != nil {
		return nil, err
	}
	manager := client
	manager.PerRetryPolicies = src.policies(a.Account.ID, armService)
	resources, err := arm.NewClient("vigil", "v1.0.0", credential, &arm.ClientOptions{ClientOptions: manager, DisableRPRegistration: true})
	if err != nil {
		return nil, fmt.Errorf("create a Resource Manager client: %w", err)
	}
	directory := client
	directory.PerRetryPolicies = src.policies(a.Account.ID, graphService)
	token := runtime.NewBearerTokenPolicy(credential, []string{env.graph + "/.default"}, nil)
	return pipelines{
		hostOf(env.cloud.Services[cloud.ResourceManager].Endpoint): resources.Pipeline(),
		hostOf(env.graph): runtime.NewPipeline("vigil", "v1.0.0", runtime.PipelineOptions{PerRetry: []policy.Policy{token}}, &directory),
	}, nil
}

// credential returns the credential that signs in to a subscription.
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

// policies are the pipeline policies for every attempt of a call.
func (src *Source) policies(account posture.AccountID, service string) []policy.Policy {
	all := []policy.Policy{requireJSON{}}
	if src.options.Limiter != nil {
		key := collect.Key{Provider: posture.Azure, Account: account, Service: service}
		all = append([]policy.Policy{limit{src.options.Limiter, key}}, all...)
	}
	return all
}

// limit makes every attempt wait for the rate limiter, and reports throttling to it.
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

// retryAfter returns the pause that a response requests, or 0.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxPause)
}

// requireJSON fails when a response is not JSON, so that the call is retried.
type requireJSON struct{}

var errNotJSON = errors.New("the response is not JSON")

// Do implements [policy.Policy].
func (requireJSON) Do(req *policy.Request) (*http.Response, error) {
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

// capped is a transport that limits the size of responses.
type capped struct{ client *http.Client }

// Do implements [policy.Transporter].
func (c capped) Do(req *http.Request) (*http.Response, error) {
	answer, err := c.client.Do(req)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err
}

// hostOf returns the host of a URL.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// get makes one call and returns its response. The permission is the one that the call
// needs. A token that is no longer accepted is renewed once.
func (s *session) get(ctx context.Context, address, permission string) (gjson.Result, error) {
	used := s.pipelines.Load()
	answer, err := call(ctx, *used, address, permission)
	if isExpired(err) && s.renew(used) == nil {
		answer, err = call(ctx, *s.pipelines.Load(), address, permission)
	}
	return answer, err
}

func call(ctx context.Context, to pipelines, address, permission string) (gjson.Result, error) {
	pipeline, ok := to[hostOf(address)]
	if !ok {
		return gjson.Result{}, fmt.Errorf("call %s: it is not a host of Azure", hostOf(address))
	}
	req, err := runtime.NewRequest(ctx, http.MethodGet, address)
	if err != nil {
		return gjson.Result{}, err
	}
	req.Raw().Header.Set("Accept", "application/json")
	answer, err := pipeline.Do(req)
	if err != nil {
		return gjson.Result{}, classify(ctx, err, permission)
	}
	defer answer.Body.Close()
	if !runtime.HasStatusCode(answer, http.StatusOK) {
		return gjson.Result{}, classify(ctx, runtime.NewResponseError(answer), permission)
	}
	body, err := io.ReadAll(answer.Body)
	return gjson.ParseBytes(body), err
}

// pages calls page for every page of a list. If keep is true, the session caches the list for
// other types that need it.
func (s *session) pages(ctx context.Context, address, permission string, keep bool, page func(gjson.Result) error) error {
	visited := map[string]bool{}
	for address != "" {
		read := func() (gjson.Result, error) { return s.get(ctx, address, permission) }
		var answer gjson.Result
		var err error
		if keep {
			answer, err = s.memo.get(ctx, address, read)
		} else {
			answer, err = read()
		}
		if err != nil {
			return err
		}
		if err := page(answer); err != nil {
			return err
		}
		if address, err = follow(address, answer, visited); err != nil {
			return err
		}
	}
	return nil
}

// follow returns the URL of the next page, or "" after the last. The next page must be on
// the same host, because the token must not be sent to another one. A page that was visited before
// is an error, because the list would not end.
func follow(address string, answer gjson.Result, visited map[string]bool) (string, error) {
	next := answer.Get("nextLink").String()
	if next == "" {
		next = answer.Get(`\@odata\.nextLink`).String()
	}
	if next == "" {
		return "", nil
	}
	visited[address] = true
	next = strings.Clone(next) // otherwise visited would keep the whole page in memory
	switch u, err := url.Parse(next); {
	case err != nil || u.Scheme != "https":
		return "", fmt.Errorf("the next page %.200q is not an https URL", next)
	case !strings.EqualFold(u.Host, hostOf(address)):
		return "", fmt.Errorf("the next page %.200q is not on the same host", next)
	case visited[next]:
		return "", fmt.Errorf("the next page %.200q has been read already", next)
	}
	return next, nil
}
