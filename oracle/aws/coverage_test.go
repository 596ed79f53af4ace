package aws_test

import (
	"io/fs"
	"os"
	"path"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"vigil/internal/posture/collect/awsapi/model"
)

// Calls in declarations (call: ec2.DescribeVpcs) and in Go (ec2.DescribeVpcsInput).
var (
	declaredCall  = regexp.MustCompile(`\bcall: *([a-z0-9-]+)\.([A-Z][A-Za-z0-9]+)`)
	collectorCall = regexp.MustCompile(`\b([a-z0-9]+)\.([A-Z][A-Za-z0-9]+)Input\b`)
)

// packages maps SDK modules to services, where the names differ.
var packages = map[string]string{
	"cloudwatchlogs": "logs", "configservice": "config", "elasticloadbalancingv2": "elbv2", "elbv2": "elbv2", "eventbridge": "events",
}

// TestWhatIsCalledIsCompared checks that every operation that a declaration or a
// collector calls is in the models and is compared with its SDK module.
func TestWhatIsCalledIsCompared(t *testing.T) {
	t.Parallel()
	called := map[string]string{} // "service operation" -> file that calls it
	collect(t, called, "../../resources/aws", ".yaml", declaredCall)
	collect(t, called, "../../internal/posture/collect/aws", ".go", collectorCall)
	if len(called) == 0 {
		t.Fatal("no calls were found")
	}
	for call, where := range called {
		service, operation, _ := strings.Cut(call, " ")
		if _, err := model.Find(service, operation); err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		client, ok := clients[service]
		switch {
		case !ok:
			t.Errorf("%s: %s is not compared; add the generated module of %s to client_test.go and go.mod", where, call, service)
		case !reflect.ValueOf(client(aws.Config{Region: region})).MethodByName(operation).IsValid():
			t.Errorf("%s: the generated module has no %s; take a newer one", where, call)
		case incomparable[call] != "":
			t.Logf("%s is not compared: %s", call, incomparable[call])
		}
	}
	t.Logf("%d operations are called", len(called))
}

// collect adds the calls that match a pattern in the files of a folder.
func collect(t *testing.T, called map[string]string, folder, extension string, pattern *regexp.Regexp) {
	t.Helper()
	if _, err := os.Stat(folder); err != nil {
		return
	}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != extension || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path.Join(folder, name))
		for _, match := range pattern.FindAllStringSubmatch(string(text), -1) {
			service := match[1]
			if renamed, ok := packages[service]; ok {
				service = renamed
			}
			if _, known := clients[service]; known || extension == ".yaml" {
				called[service+" "+match[2]] = name
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
