package inventory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

const examplePath = "../../../deploy/desktop-inventory.example.yaml"

func TestExampleIsRead(t *testing.T) {
	t.Parallel()
	inv, err := Load(filepath.FromSlash(examplePath), Options{})
	if err != nil {
		t.Fatal(err)
	}
	diff := Compare(desktop.Inventory{}, inv)
	kinds := make(map[desktop.Kind]int)
	for _, ref := range diff.Added {
		kinds[ref.Kind]++
		if _, err := uuid.Parse(string(ref.ID)); err != nil || ref.Name == "" {
			t.Errorf("a component has no id or name: %+v", ref)
		}
	}
	for _, k := range desktop.Kinds() {
		if kinds[k] == 0 {
			t.Errorf("the example shows no %s", k)
		}
	}
	if inv.Policy != desktop.DefaultPolicy() {
		t.Errorf("the example's policy %+v is not the default", inv.Policy)
	}
	if self, _ := inv.Self(); self.Name != "cs1" {
		t.Errorf("Self = %q, want cs1", self.Name)
	}
}

// TestExampleShowsEveryKey keeps the example complete, because it is the
// documentation of the file.
func TestExampleShowsEveryKey(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile(filepath.FromSlash(examplePath))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("file.go")
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(source), "`key:\"") {
		key, _, ok := strings.Cut(part, "\"`")
		if ok && key != "id" && !strings.Contains(string(example), key+":") {
			t.Errorf("the example does not show %s", key)
		}
	}
}

func TestAllProblemsAreReportedWithTheirLines(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte(`version: 1
administrators:
  - domain: nowhere.example
    group: Admins
  - domain: corp.example
domains:
  - dns_name: corp.example
    netbios: CORP
    bind: {username: svc, password: hunter2}
  - dns_name: CORP.example
    primary: yes
    sid: S-1
    bind: [svc]
connection_servers:
  - name: cs1
    url: http://cs1
    session_threshold: 10
farms:
  - name: Office
    type: automated
    error_percent: 101
    rds_servers:
      - {name: a, max_sessions: many}
      - {name: A, enabled: maybe}
virtual_centers:
  - server: vc
    login: {username: u, password: "file:/x"}
    storage_accelerator:
      default_cache_size_mb: 99
gateways: {}
`), Options{})
	want := []string{
		`line 3: administrators[0].domain is not a domain of the inventory`,
		`line 5: administrators[1] must have a group or a sid`,
		`line 7: domains must have exactly one domain with primary: true, and has 0`,
		`line 8: domains[0].netbios is not a known key`,
		`line 9: domains[0].bind.password must be a reference to the secret (file:, env: or vault:), not the secret itself`,
		`line 10: domains[1].dns_name is "CORP.example", which domains[0] already has`,
		`line 11: domains[1].primary must be true or false`,
		`line 12: domains[1].sid must be a security identifier, such as S-1-5-21-1-2-3`,
		`line 13: domains[1].bind must be a mapping of keys to values`,
		`line 16: connection_servers[0].url must be an https:// address without credentials`,
		`line 17: connection_servers[0].session_threshold needs a secure gateway`,
		`line 19: farms[0].source is required`,
		`line 21: farms[0].error_percent must be between 1 and 100`,
		`line 23: farms[0].rds_servers[0].max_sessions must be a whole number`,
		`line 24: farms[0].rds_servers[1].enabled must be true or false`,
		`line 24: farms[0].rds_servers[1].name is "A", which farms[0].rds_servers[0] already has`,
		`line 29: virtual_centers[0].storage_accelerator.default_cache_size_mb must be between 100 and 2048`,
		`line 30: gateways must be a list`,
	}
	problems, _ := errors.AsType[Problems](err)
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("kind = %v, want Invalid", fault.KindOf(err))
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Error("a problem repeats a secret")
	}
}

func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "line 1: the file is empty"},
		{"comments only", "# nothing\n", "line 1: the file is empty"},
		{"not YAML", "version: 1\ndomains: [", "the file is not YAML"},
		{"two documents", "version: 1\n---\nversion: 1\n", "the file must contain one document"},
		{"a list", "- 1\n", "must be a mapping"},
		{"no version", "farms: []\n", "version must be 1"},
		{"aliases", "version: 1\ngateways: &a []\npods: *a\n", "anchors and aliases are not supported"},
		{"a service account with its domain", "version: 1\ndomains: [{dns_name: a.b, primary: true, bind: {username: x@a.b, password: env:P}}]\n",
			"domains[0].bind.username must be the account name without its domain"},
		{"a key twice", "version: 1\nversion: 1\n", "version is given twice"},
		{"no server with self: true", "version: 1\npeer_token: env:T\nconnection_servers: [{name: a, url: https://a}, {name: b, url: https://b}]\n",
			"must have exactly one server with self: true"},
		{"peers without a token", "version: 1\nconnection_servers: [{name: a, url: https://a, self: true}, {name: b, url: https://b}]\n",
			"peer_token is required"},
		{"a domain controller with a malformed port", "version: 1\ndomains: [{dns_name: a.b, primary: true, controllers: ['dc1:x']}]\n",
			"domains[0].controllers[0] must be host or host:port"},
		{"a gateway without a port", "version: 1\nconnection_servers: [{name: a, url: https://a, secure_gateways: [{address: a, service: blast}]}]\n",
			"connection_servers[0].secure_gateways[0].address must be host:port"},
		{"a label that ends with a hyphen", "version: 1\ndomains: [{dns_name: a-.b, primary: true}]\n", "domains[0].dns_name must be a DNS name"},
		{"a label that begins with a hyphen", "version: 1\ndomains: [{dns_name: a.-b, primary: true}]\n", "domains[0].dns_name must be a DNS name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.text), Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestDNSNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 63)
	for name, want := range map[string]bool{
		"a": true, "corp.example": true, "a--b.c-d.1": true, long + "." + long: true,
		"": false, "-a": false, "a-": false, "a.-": false, "a..b": false, "a.": false, long + "a": false, "a." + long + "a": false, "a_b": false,
	} {
		if got := dnsName.MatchString(name); got != want {
			t.Errorf("%q is a DNS name: %t, want %t", name, got, want)
		}
	}
}

func TestIDsAreStableAndMayBeGiven(t *testing.T) {
	t.Parallel()
	const givenID = "7d444840-9dc0-11d1-b245-5ffdce74fad2"
	inv, err := Parse([]byte("version: 1\ngateways: [{name: One, address: a}, {name: two, address: a, id: "+givenID+"}]\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Literal, so that a change of how ids are derived fails the test.
	if got, want := inv.Gateways[0].ID, desktop.ID("60870b86-8387-5b33-93b5-ea906ca0d46f"); got != want {
		t.Errorf("derived id = %s, want %s", got, want)
	}
	if got := inv.Gateways[1].ID; got != givenID {
		t.Errorf("given id = %s, want %s", got, givenID)
	}
}

func TestSelfMayBeSetByAnOption(t *testing.T) {
	t.Parallel()
	text := "version: 1\npeer_token: env:T\nconnection_servers: [{name: a, url: https://a, self: true}, {name: b, url: https://b}]\n"
	inv, err := Parse([]byte(text), Options{Self: "B"})
	if err != nil {
		t.Fatal(err)
	}
	if self, _ := inv.Self(); self.Name != "b" {
		t.Errorf("Self = %q, want b", self.Name)
	}
}

func TestNullIsAsIfTheKeyWereMissing(t *testing.T) {
	t.Parallel()
	const (
		withKey    = "version: 1\nfarms: [{name: a, type: manual, error_percent: %s, rds_servers: [{name: b}]}]\n"
		withoutKey = "version: 1\nfarms: [{name: a, type: manual, rds_servers: [{name: b}]}]\n"
	)
	want, err := Parse([]byte(withoutKey), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, null := range []string{"", "~", "null"} {
		got, err := Parse(fmt.Appendf(nil, withKey, null), Options{})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v, inventory (-want +got):\n%s", null, err, diff)
		}
	}
	_, err = Parse([]byte("version: 1\ngateways:\n  - name:\n    address: a\n"), Options{})
	if want := "line 3: gateways[0].name is required"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Parse = %v, want %q", err, want)
	}
}

func FuzzParse(f *testing.F) {
	example, err := os.ReadFile(filepath.FromSlash(examplePath))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	f.Add("version: 1\nfarms: [{name: a, type: manual, rds_servers: [{name: b}]}]\n")
	f.Add("version: 1\npolicy: {certificate_warning: 99999999999d}\n")
	f.Fuzz(func(t *testing.T, text string) {
		inv, err := Parse([]byte(text), Options{})
		if err != nil {
			for _, p := range fault.Details(err) {
				if !strings.Contains(p.Message, "(line ") {
					t.Errorf("a problem has no line: %v", p)
				}
			}
			return
		}
		// Every accepted inventory has unique ids.
		seen := make(map[desktop.ID]bool)
		for _, ref := range Compare(desktop.Inventory{}, inv).Added {
			if seen[ref.ID] {
				t.Errorf("two components have the id %s", ref.ID)
			}
			seen[ref.ID] = true
		}
	})
}
