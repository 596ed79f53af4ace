package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"cloud.google.com/go/auth"
	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

func TestIncompleteListIsAFailure(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"items":{"zones/a":{"disks":[{}]},"zones/b":{"warning":{"code":"NO_RESULTS_ON_PAGE"}}}}`:    "",
		`{"items":{"zones/a":{"warning":{"code":"UNREACHABLE"}}},"unreachables":["zones/e"]}`:         "unreachable locations: zones/e, zones/a",
		`{"instances":[],"unreachable":["projects/p/locations/l"]}`:                                   "unreachable locations: projects/p/locations/l",
		`{"clusters":[],"missingZones":["z"]}`:                                                        "unreachable locations: z",
		`{"instances":[],"failedLocations":["projects/p/locations/l"]}`:                               "unreachable locations: projects/p/locations/l",
		`{"items":[{}],"warnings":[{"code":"REGION_UNREACHABLE","region":"r"},{"code":"SOMETHING"}]}`: "unreachable locations: r",
		`{}`: "",
	} {
		got := ""
		if err := incomplete(gjson.Parse(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{ // "" if the address is refused
		"compute/v1/projects/p/aggregated/disks":            "https://compute.googleapis.com/compute/v1/projects/p/aggregated/disks",
		"cloudkms/v1/projects/p/locations":                  "https://cloudkms.googleapis.com/v1/projects/p/locations",
		"logging/v2/projects/p/metrics/web%2Fslow":          "https://logging.googleapis.com/v2/projects/p/metrics/web%2Fslow",
		"iam/v1/projects/p/serviceAccounts/a@b.c":           "https://iam.googleapis.com/v1/projects/p/serviceAccounts/a@b.c",
		"pubsub/v1/projects/p/topics/a?alt=media#x y":       "https://pubsub.googleapis.com/v1/projects/p/topics/a%3Falt=media%23x%20y",
		"run/v2/projects/p/locations/l/s:getIamPolicy":      "https://run.googleapis.com/v2/projects/p/locations/l/s:getIamPolicy",
		"evil.example.com/v1/projects":                      "",
		"pubsub/v1/projects/p/topics/%zz":                   "",
		"pubsub":                                            "",
		"a@example.com:b/v1/x":                              "",
		"storage/v1/b/bucket/../../../etc":                  "https://storage.googleapis.com/storage/v1/b/bucket/../../../etc", // the host remains
		"apikeys/v2/projects/p/locations/global/keys/a\x00": "",
	} {
		got := ""
		if u, err := urlOf(address); err == nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestErrorsNameThePermission(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Required 'compute.zones.list' permission for 'projects/p'":                                                 "compute.zones.list",
		"Permission 'iam.roles.list' denied on resource '//x' (or it may not exist).":                               "iam.roles.list",
		"Permission iam.serviceAccountKeys.list is required to perform this operation on service account x.":        "iam.serviceAccountKeys.list",
		"a@b does not have storage.buckets.getIamPolicy access to the Google Cloud Storage bucket.":                 "storage.buckets.getIamPolicy",
		"Access Denied: Dataset p:d: Permission bigquery.datasets.get denied on dataset p:d (or it may not exist).": "bigquery.datasets.get",
		"Required \"container.clusters.list\" permission(s) for \"projects/p\".":                                    "container.clusters.list",
		"The caller does not have permission":                                                                       "fallback.things.list",
		"Forbidden":                                                                                                 "fallback.things.list",
		"Permission denied on resource project p.":                                                                  "fallback.things.list",
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]any{"code": 403, "message": message}})
		if err != nil {
			t.Fatal(err)
		}
		refused := refusal(403, body, "fallback.things.list")
		if denied, ok := errors.AsType[*collect.DeniedError](refused); !ok || denied.Permission != want {
			t.Errorf("%s: %v, want the denied permission %q", message, refused, want)
		}
	}
}

func TestErrorClasses(t *testing.T) {
	t.Parallel()
	info := func(reason string) string {
		return `{"error":{"code":403,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + reason + `","metadata":{"service":"x.googleapis.com","consumer":"projects/1"}}]}}`
	}
	for _, tt := range []struct {
		status  int
		body    string
		class   error // nil if it is none of the classes
		message string
	}{
		{403, info("SERVICE_DISABLED"), collect.ErrOff, "x.googleapis.com is not enabled in projects/1"},
		{403, `{"error":{"errors":[{"reason":"accessNotConfigured"}],"message":"API has not been used in project 7 before or it is disabled."}}`, collect.ErrOff, "the API is not enabled in projects/7"},
		{403, info("IAM_PERMISSION_DENIED"), collect.ErrDenied, "permission p is missing"},
		{403, `{"error":{"errors":[{"reason":"rateLimitExceeded"}]}}`, collect.ErrThrottled, "throttled"},
		{429, `{}`, collect.ErrThrottled, "throttled"},
		{401, `{}`, collect.ErrIdentity, "no longer accepts the key"},
		{404, `{}`, collect.ErrGone, "it does not exist"},
		{403, info("BILLING_DISABLED"), nil, "billing is disabled"},
		{400, `{"error":{"message":"bad","errors":[{"reason":"invalid"}]}}`, nil, "Google responded with 400 invalid: bad"},
		{503, `<html>`, nil, "Google responded with 503"},
	} {
		err := refusal(tt.status, []byte(tt.body), "p")
		for _, class := range []error{collect.ErrIdentity, collect.ErrDenied, collect.ErrThrottled, collect.ErrOff, collect.ErrGone} {
			if is := errors.Is(err, class); is != (class == tt.class) {
				t.Errorf("%d %s: %v; errors.Is with %q is %t", tt.status, tt.body, err, class, is)
			}
		}
		if !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%d %s: %v, want %q", tt.status, tt.body, err, tt.message)
		}
	}
}

func TestErrorsOfScansDoNotNameAServiceAccount(t *testing.T) {
	t.Parallel()
	own := New(Options{Tokens: ownTokens{}})
	s, err := own.newSession("p", posture.ServiceAccountKey{ProjectID: "p"})
	if err != nil {
		t.Fatal(err)
	}
	want := "the Cloud Resource Manager API is not enabled in project p"
	if err := s.accessErrorOf(&offError{}); err.Error() != want || !errors.Is(err, collect.ErrDenied) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestDisabledAPIOfTheServiceAccountNamesItsProject(t *testing.T) {
	t.Parallel()
	s := &session{account: "read", number: "1", key: posture.ServiceAccountKey{ProjectID: "of-the-key"}}
	for consumer, project := range map[string]string{"": "projects/of-the-key", "projects/2": "projects/2"} {
		want := "x.googleapis.com is not enabled in " + project + ", which the service account belongs to: enable it there"
		if err := s.classify("x", &offError{service: "x.googleapis.com", consumer: consumer}); err.Error() != want || errors.Is(err, collect.ErrOff) {
			t.Errorf("consumer %q: %v, want %s, which is not ErrOff", consumer, err, want)
		}
	}
}

// ownTokens stands for the credentials of a user, which a scan from the command line uses.
type ownTokens struct{}

func (ownTokens) Token(context.Context) (*auth.Token, error) { return nil, errors.New("not used") }
