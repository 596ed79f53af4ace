package archtest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowedServices are the generated AWS modules that the credential chain
// itself imports. All other calls use collect/awsapi.
var allowedServices = []string{"sts", "sso", "ssooidc", "signin", "internal"}

// generated are the prefixes of packages that only tests may use.
var generated = []string{"google.golang.org/grpc", "google.golang.org/api", "github.com/vmware/govmomi"}

// TestTheBinaryHasNoGeneratedClients keeps generated API clients and gRPC out
// of the binary: they tripled its size and doubled its build time.
func TestTheBinaryHasNoGeneratedClients(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/vigil")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 500 {
		t.Fatalf("go list returned %d packages", len(packages))
	}
	for _, p := range packages {
		for _, prefix := range generated {
			if strings.HasPrefix(p, prefix) {
				t.Errorf("the binary has %s", p)
			}
		}
		if rest, ok := strings.CutPrefix(p, "github.com/aws/aws-sdk-go-v2/service/"); ok {
			service, _, _ := strings.Cut(rest, "/")
			if !slices.Contains(allowedServices, service) {
				t.Errorf("the binary has %s", p)
			}
		}
	}
}
