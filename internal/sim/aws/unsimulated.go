package aws

import (
	"net/http"
	"net/url"
	"strings"

	"vigil/internal/posture/collect/awsapi/model"
)

// signers maps the name in a signature to the models of the services that use it. The
// other services sign with the name of their model.
var signers = map[string][]string{
	"ses": {"sesv2"}, "bedrock": {"bedrock", "bedrock-agent"}, "apigateway": {"apigateway", "apigatewayv2"}, "elasticfilesystem": {"efs"}, "es": {"opensearch"},
	"s3-control": {"s3control"}, "airflow": {"mwaa"}, "aps": {"amp"},
}

// unsimulatedOperation returns the name of a REST operation that is not simulated,
// from AWS's published models.
func unsimulatedOperation(service string, r *http.Request) (string, bool) {
	names, ok := signers[service]
	if !ok {
		names = []string{service}
	}
	for _, name := range names {
		s, err := model.Open(name)
		if err != nil {
			continue
		}
		for _, op := range s.Operations {
			if op.Method == r.Method && matches(op.URI, r.URL) {
				return op.Name, true
			}
		}
	}
	return "", false
}

// matches reports whether an address matches a URI template with {members}. A query in the
// template tells operations with the same path apart.
func matches(uri string, address *url.URL) bool {
	uri, query, _ := strings.Cut(uri, "?")
	want, got := strings.Split(strings.Trim(uri, "/"), "/"), strings.Split(strings.Trim(address.Path, "/"), "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	given := address.Query()
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); name != "" && (!given.Has(name) || value != given.Get(name)) {
			return false
		}
	}
	return true
}
