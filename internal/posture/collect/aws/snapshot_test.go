package aws_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/collect/collecttest"
	simaws "vigil/internal/sim/aws"
)

// recorder records the longest JSON response of each operation.
type recorder struct {
	next    http.RoundTripper
	mu      sync.Mutex
	answers map[string][]byte // by service and operation
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := r.next.RoundTrip(request)
	name := operation(request)
	if err != nil || name == "" || answer.StatusCode != http.StatusOK {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(body) > len(r.answers[name]) { // keep the longest response
		r.answers[name] = body
	}
	return answer, err
}

// services are the services with JSON responses, by the first label of their hosts (or
// the first two, if the first is "api").
var services = map[string]string{
	"kms": "kms", "logs": "logs", "config": "config", "dynamodb": "dynamodb", "api.ecr": "ecr", "ecs": "ecs", "events": "events",
	"organizations": "organizations", "secretsmanager": "secretsmanager", "sqs": "sqs", "ssm": "ssm", "acm": "acm", "lambda": "lambda", "eks": "eks",
	"monitoring": "cloudwatch",
}

// restCalls are the operations of services that are called by path.
var restCalls = []struct {
	service, name string
	path          *regexp.Regexp
}{
	{"lambda", "ListFunctions", regexp.MustCompile(`/functions$`)},
	{"lambda", "GetPolicy", regexp.MustCompile(`/policy$`)},
	{"lambda", "ListFunctionUrlConfigs", regexp.MustCompile(`/urls$`)},
	{"eks", "ListClusters", regexp.MustCompile(`^/clusters$`)},
	{"eks", "DescribeCluster", regexp.MustCompile(`^/clusters/[^/]+$`)},
	{"eks", "ListNodegroups", regexp.MustCompile(`/node-groups$`)},
	{"eks", "DescribeNodegroup", regexp.MustCompile(`/node-groups/[^/]+$`)},
}

// operation returns the service and operation of a call, or "" when its response is not
// JSON.
func operation(r *http.Request) string {
	host, rest, _ := strings.Cut(r.URL.Host, ".")
	if host == "api" {
		second, _, _ := strings.Cut(rest, ".")
		host += "." + second
	}
	service := services[host]
	if service == "" {
		return ""
	}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return service + "/" + target[strings.LastIndex(target, ".")+1:]
	}
	for _, c := range restCalls {
		if c.service == service && c.path.MatchString(r.URL.Path) {
			return service + "/" + c.name
		}
	}
	return ""
}

// TestSimulatedResponsesMatchModels checks the responses of the simulator against the models
// of AWS: all members and value types must be in the models.
func TestSimulatedResponsesMatchModels(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 3, Size: 600, Regions: []string{"us-east-1"}})
	r := &recorder{next: c.options.HTTP.Transport, answers: map[string][]byte{}}
	c.options.HTTP.Transport = r
	collecttest.All(t, aws.New(c.options), c.access(0))
	if len(r.answers) < 30 {
		t.Errorf("only %d calls were recorded", len(r.answers))
	}
	recorded := map[string]bool{}
	for name, answer := range r.answers {
		service, operation, _ := strings.Cut(name, "/")
		recorded[service] = true
		op, err := awsapi.Describe(service, operation)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got any
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, problem := range compareShape(name, got, op.Output) {
			t.Error(problem)
		}
	}
	for _, service := range services {
		if !recorded[service] {
			t.Errorf("no response of %s was compared", service)
		}
	}
}

// compareShape returns the members and values of a response that its shape lacks.
func compareShape(at string, got any, want *model.Shape) (problems []string) {
	switch got := got.(type) {
	case map[string]any:
		switch want.Type {
		case model.Map:
			for name, value := range got {
				problems = append(problems, compareShape(at+"."+name, value, want.Value.Shape)...)
			}
		case model.Structure:
			for name, value := range got {
				m := wireMember(want, name)
				if m == nil {
					problems = append(problems, fmt.Sprintf("%s has no member %s", at, name))
					continue
				}
				problems = append(problems, compareShape(at+"."+name, value, m.Shape)...)
			}
		default:
			problems = append(problems, fmt.Sprintf("%s is an object, not a %s", at, want.Type))
		}
	case []any:
		if want.Type != model.List {
			return []string{fmt.Sprintf("%s is a list, not a %s", at, want.Type)}
		}
		for _, element := range got {
			problems = append(problems, compareShape(at, element, want.Item.Shape)...)
		}
	case string:
		if want.Type != model.String && want.Type != model.Timestamp && want.Type != model.Blob {
			problems = append(problems, fmt.Sprintf("%s is a string, not a %s", at, want.Type))
		}
	case bool:
		if want.Type != model.Boolean {
			problems = append(problems, fmt.Sprintf("%s is a bool, not a %s", at, want.Type))
		}
	case float64:
		if !slices.Contains([]model.Type{model.Integer, model.Long, model.Float, model.Double, model.Timestamp}, want.Type) {
			problems = append(problems, fmt.Sprintf("%s is a number, not a %s", at, want.Type))
		}
	}
	return problems
}

// wireMember returns the member that has a name on the wire.
func wireMember(s *model.Shape, name string) *model.Member {
	for i := range s.Members {
		if s.Members[i].WireName() == name {
			return &s.Members[i]
		}
	}
	return nil
}
