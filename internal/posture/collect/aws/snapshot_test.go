package aws_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/aws/smithy-go/encoding/cbor"

	"vigil/internal/posture/collect/aws"
	simaws "vigil/internal/sim/aws"
)

// recorder keeps one answer of each call that speaks JSON or CBOR.
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
	if len(body) > len(r.answers[name]) { // the one that tells most
		r.answers[name] = body
	}
	return answer, err
}

// modules are the SDK's of services whose answers have snapshots, by the first
// part of their hosts.
var modules = map[string]string{
	"kms": "kms", "logs": "cloudwatchlogs", "config": "configservice", "dynamodb": "dynamodb", "api": "ecr", "ecs": "ecs", "events": "eventbridge",
	"organizations": "organizations", "secretsmanager": "secretsmanager", "sqs": "sqs", "ssm": "ssm", "acm": "acm", "lambda": "lambda", "eks": "eks",
	"monitoring": "cloudwatch",
}

// restCalls name the operations of services that are called by path.
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

// operation returns the module and operation of a call, or "" when there is no
// snapshot of it.
func operation(r *http.Request) string {
	host, _, _ := strings.Cut(r.URL.Host, ".")
	module := modules[host]
	if module == "" {
		return ""
	}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return module + "/" + target[strings.LastIndex(target, ".")+1:]
	}
	if _, name, ok := strings.Cut(r.URL.Path, "/operation/"); ok {
		return module + "/" + name
	}
	for _, c := range restCalls {
		if c.service == host && c.path.MatchString(r.URL.Path) {
			return module + "/" + c.name
		}
	}
	return ""
}

// TestAnswersLookLikeTheSDKsOwn compares what the simulator answers with the
// answers that the SDK's authors test it with: it has no member and no kind of
// value that they do not have.
func TestAnswersLookLikeTheSDKsOwn(t *testing.T) {
	t.Parallel()
	c := start(t, simaws.Options{Seed: 3, Size: 600, Regions: []string{"us-east-1"}})
	r := &recorder{next: c.options.HTTP.Transport, answers: map[string][]byte{}}
	c.options.HTTP.Transport = r
	collectAll(t, aws.New(c.options), c.access(0))
	if len(r.answers) < 30 || r.answers["cloudwatch/DescribeAlarms"] == nil {
		t.Errorf("only %d calls were recorded", len(r.answers))
	}
	for name, answer := range r.answers {
		want := snapshot(t, name)
		got, err := decode(name, answer)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, problem := range compareShape(name, got, want) {
			t.Error(problem)
		}
	}
}

// snapshot returns the body of the SDK's own answer.
func snapshot(t *testing.T, name string) (body any) {
	t.Helper()
	module, operation, _ := strings.Cut(name, "/")
	text, err := os.ReadFile(filepath.Join(moduleDir(t, module), "response_snapshot", operation+".response.snap"))
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the SDK has no snapshot of %s", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, raw, _ := bytes.Cut(text, []byte("\n\n"))
	if body, err = decode(name, raw); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return body
}

// decode reads an answer: JSON, or CBOR of the one service that speaks it.
func decode(name string, raw []byte) (v any, err error) {
	if !strings.HasPrefix(name, "cloudwatch/") {
		err = json.Unmarshal(raw, &v)
		return v, err
	}
	in, err := cbor.Decode(raw)
	if err != nil {
		return nil, err
	}
	return fromCBOR(in), nil
}

// fromCBOR returns what JSON would have made of a value.
func fromCBOR(v cbor.Value) any {
	switch v := v.(type) {
	case cbor.Map:
		m := map[string]any{}
		for name, e := range v {
			m[name] = fromCBOR(e)
		}
		return m
	case cbor.List:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = fromCBOR(e)
		}
		return list
	case *cbor.Tag: // a time
		return fromCBOR(v.Value)
	case cbor.Uint, cbor.NegInt, cbor.Float32, cbor.Float64:
		return float64(0)
	case cbor.Bool:
		return bool(v)
	case cbor.String:
		return string(v)
	}
	return nil
}

var moduleDirs sync.Map

func moduleDir(t *testing.T, module string) string {
	t.Helper()
	if dir, ok := moduleDirs.Load(module); ok {
		return dir.(string)
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/aws/aws-sdk-go-v2/service/"+module).Output()
	if err != nil {
		t.Skipf("the go command does not tell where the SDK is: %v", err)
	}
	dir := strings.TrimSpace(string(out))
	moduleDirs.Store(module, dir)
	return dir
}

// compareShape returns what got has that want does not. Maps whose names are
// data are left alone.
func compareShape(at string, got, want any) []string {
	switch got := got.(type) {
	case map[string]any:
		want, ok := want.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is an object", at)}
		}
		if strings.HasSuffix(at, ".tags") || strings.HasSuffix(at, ".Attributes") {
			return nil
		}
		var problems []string
		for name, value := range got {
			expected, ok := want[name]
			if !ok {
				problems = append(problems, fmt.Sprintf("%s has no member %s", at, name))
				continue
			}
			problems = append(problems, compareShape(at+"."+name, value, expected)...)
		}
		return problems
	case []any:
		want, ok := want.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s is a list", at)}
		}
		if len(got) == 0 || len(want) == 0 {
			return nil
		}
		return compareShape(at, got[0], want[0])
	}
	if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want) {
		return []string{fmt.Sprintf("%s is a %T, not a %T", at, got, want)}
	}
	return nil
}
