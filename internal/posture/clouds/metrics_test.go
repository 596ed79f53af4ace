package clouds

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/egress"
)

func TestHostsBelongToServices(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"ec2.us-east-1.amazonaws.com":                         "aws ec2",
		"iam.amazonaws.com":                                   "aws iam",
		"my.bucket.s3.eu-west-1.amazonaws.com":                "aws s3",
		"123456789012.s3-control.us-gov-west-1.amazonaws.com": "aws s3-control",
		"kms.cn-north-1.amazonaws.com.cn":                     "aws kms",
		"api.ecr.us-east-1.amazonaws.com":                     "aws ecr",
		"management.azure.com":                                "azure arm",
		"graph.microsoft.us":                                  "azure graph",
		"login.microsoftonline.com":                           "azure login",
		"anything.vault.azure.net":                            "azure vault",
		"compute.googleapis.com":                              "gcp compute",
	} {
		provider, service := serviceOf(host)
		if got := strings.ToLower(provider) + " " + service; got != want {
			t.Errorf("%s belongs to %s, want %s", host, got, want)
		}
	}
}

func TestCallsAndThrottlesAreCounted(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	m, err := newMetrics(reg)
	if err != nil {
		t.Fatal(err)
	}
	m.observe(egress.Call{Host: "ec2.us-east-1.amazonaws.com", Status: 200, Took: time.Second})
	m.observe(egress.Call{Host: "management.azure.com", Err: errors.New("reset")})
	limiter := measured{nil, m}
	if err := limiter.Wait(t.Context(), collect.Key{}); err != nil {
		t.Error(err)
	}
	limiter.Throttled(collect.Key{Provider: posture.GCP, Service: "compute"}, time.Second)
	err = testutil.GatherAndCompare(reg, strings.NewReader(`
# HELP vigil_cloud_answers_total Responses of the clouds by status class, 2xx to 5xx; none if there was no response.
# TYPE vigil_cloud_answers_total counter
vigil_cloud_answers_total{provider="aws",service="ec2",status="2xx"} 1
vigil_cloud_answers_total{provider="azure",service="arm",status="none"} 1
# HELP vigil_cloud_throttles_total Calls that a cloud throttled.
# TYPE vigil_cloud_throttles_total counter
vigil_cloud_throttles_total{provider="gcp",service="compute"} 1
`), "vigil_cloud_answers_total", "vigil_cloud_throttles_total")
	if err != nil {
		t.Error(err)
	}
}
