package aws_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"vigil/internal/posture/collect/awsapi/model"
)

// callers are the files that name calls, and patterns of how they do, with the groups service and operation.
var callers = []struct {
	folder, names string
	pattern       *regexp.Regexp
}{
	// call: ec2.DescribeVpcs
	{"../../resources/aws", "*.yaml", regexp.MustCompile(`\bcall: *([a-z0-9-]+)\.([A-Z][A-Za-z0-9]+)`)},
	// "ec2.DescribeRegions"
	{"../../internal/posture/collect/aws", "*.go", regexp.MustCompile(`"([a-z0-9-]+)\.([A-Z][A-Za-z0-9]+)"`)},
	// client.Call(ctx, "sts", "GetCallerIdentity", …)
	{"../../internal/posture/collect/aws", "*.go", regexp.MustCompile(`\.Call\(ctx, "([a-z0-9-]+)", "([A-Z][A-Za-z0-9]+)"`)},
	{"../../internal/posture/collect/derive", "aws_*.go", regexp.MustCompile(`"([a-z0-9-]+)\.([A-Z][A-Za-z0-9]+)"`)},
}

// TestWhatIsCalledIsCompared checks that every operation that a declaration or a
// collector calls is in the models and is compared with its SDK module.
func TestWhatIsCalledIsCompared(t *testing.T) {
	t.Parallel()
	called := map[string]string{} // "service operation" -> file that calls it
	for _, c := range callers {
		found := callsIn(t, c.folder, c.names, c.pattern)
		if len(found) == 0 {
			t.Errorf("no calls like %s were found in %s/%s", c.pattern, c.folder, c.names)
		}
		maps.Copy(called, found)
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

// callsIn returns the calls that match a pattern in the files of a folder, with the file of each.
func callsIn(t *testing.T, folder, names string, pattern *regexp.Regexp) map[string]string {
	t.Helper()
	called := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		if ok, err := path.Match(names, path.Base(name)); !ok {
			return err
		}
		text, err := os.ReadFile(path.Join(folder, name))
		for _, match := range pattern.FindAllStringSubmatch(string(text), -1) {
			called[match[1]+" "+match[2]] = name
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return called
}
