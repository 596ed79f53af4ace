package directory_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/directory"
)

const sambaPassword = "Passw0rd!Test"

type fixedSecret string

func (f fixedSecret) Secret(context.Context, desktop.SecretRef) (string, error) {
	return string(f), nil
}

// samba returns the folder of the real directory that scripts/samba.sh manages,
// and a function that runs the script.
func samba(t *testing.T) (dir string, script func(command string)) {
	t.Helper()
	dir = os.Getenv("VIGIL_TEST_SAMBA")
	if dir == "" {
		t.Skip("VIGIL_TEST_SAMBA is not set: start a directory with scripts/samba.sh and set it to its folder")
	}
	return dir, func(command string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", filepath.FromSlash("../../../scripts/samba.sh"), command, dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("samba.sh %s: %v\n%s", command, err, out)
		}
	}
}

// realClient returns a client of the real directory.
func realClient(t *testing.T, dir string, edit func(*desktop.Domain)) *directory.Client {
	t.Helper()
	d := desktop.Domain{
		ID: "d1", DNSName: "corp.example", Primary: true, Controllers: []string{"127.0.0.10"},
		Trust: desktop.Trust{CAFile: filepath.Join(dir, "ca.pem")}, BindUser: "svc-vigil", BindPassword: "env:X",
	}
	if edit != nil {
		edit(&d)
	}
	c := directory.New(directory.Options{Secrets: fixedSecret(sambaPassword)})
	c.Configure(desktop.Inventory{
		Domains:        []desktop.Domain{d},
		Administrators: []desktop.AdministratorGroup{{DomainID: "d1", Name: "Root Admins"}},
	})
	return c
}

// TestRealDirectory tests the client with a real domain controller. Its parts
// share the controller and run sequentially.
func TestRealDirectory(t *testing.T) {
	dir, script := samba(t)
	for name, startTLS := range map[string]bool{"LDAPS": false, "StartTLS": true} {
		t.Run("survey over "+name, func(t *testing.T) {
			got, err := realClient(t, dir, func(d *desktop.Domain) { d.StartTLS = startTLS }).Survey(t.Context(), "d1")
			if err != nil {
				t.Fatal(err)
			}
			if got.NetBIOSName != "CORP" || got.DNSName != "corp.example" || len(got.SID) < 20 || len(got.Trusts) != 3 {
				t.Errorf("Survey = %+v", got)
			}
			if want := (desktop.LockoutPolicy{Threshold: 5, Window: 30 * time.Minute}); got.Lockout != want {
				t.Errorf("lockout = %+v, want %+v", got.Lockout, want)
			}
			var kinds []desktop.TrustRelationship
			for _, name := range []string{"lab.example", "child.corp.example", "old"} {
				d := desktop.Domain{DNSName: name}
				kinds = append(kinds, desktop.Relationship(d, desktop.FindTrust(d, got.Trusts)))
			}
			if want := []desktop.TrustRelationship{desktop.TrustTwoWay, desktop.TrustTwoWayForest, desktop.TrustToBroker}; !slices.Equal(kinds, want) {
				t.Errorf("trusts = %v, want %v", kinds, want)
			}
		})
	}
	client := realClient(t, dir, func(d *desktop.Domain) { d.CloneOU = "OU=Clones,DC=corp,DC=example" })
	for _, tt := range []struct {
		user, password string
		want           directory.Reason
	}{
		{"alice", sambaPassword, ""},
		{"ALICE", sambaPassword, ""},
		{"bob", sambaPassword, directory.NotAdministrator},
		{"bob", "wrong", directory.WrongCredentials},
		{"nobody", "wrong", directory.WrongCredentials},
		{"off", sambaPassword, directory.Disabled},
		{"old", sambaPassword, directory.AccountExpired},
		{"new", sambaPassword, directory.MustChangePassword},
		{"alice", "", directory.EmptyPassword},
	} {
		user, err := client.Login(t.Context(), "d1", tt.user, tt.password)
		if reasonOf(err) != tt.want || tt.want == "" && (err != nil || user.Name != "alice") {
			t.Errorf("Login(%s) = %+v %v, want %q", tt.user, user, err, tt.want)
		}
	}
	for user, want := range map[string]directory.Reason{"alice": "", "bob": directory.CannotJoin} {
		if err := client.CheckCloneAccount(t.Context(), "d1", user, sambaPassword); reasonOf(err) != want || want == "" && err != nil {
			t.Errorf("CheckCloneAccount(%s) = %v, want %q", user, err, want)
		}
	}
	services, err := client.PublicKeyServices(t.Context(), "d1")
	if err != nil || len(services.Servers) != 1 || len(services.Servers[0].Certificates) != 1 || services.Servers[0].Templates[0] != "TrueSso" {
		t.Errorf("PublicKeyServices = %+v %v", services, err)
	}
	if pong, err := directory.Ping(t.Context(), "127.0.0.10:389", "corp.example"); err != nil || pong.NetBIOSName != "CORP" || pong.Host != "dc1.corp.example" {
		t.Errorf("Ping = %+v %v", pong, err)
	}
	for range 6 { // one more than the lockout threshold
		_, _ = client.Login(t.Context(), "d1", "victim", "wrong")
	}
	if _, err := client.Login(t.Context(), "d1", "victim", sambaPassword); reasonOf(err) != directory.Locked {
		t.Errorf("Login of a locked account = %v, want %q", err, directory.Locked)
	}
	untrusted := realClient(t, dir, func(d *desktop.Domain) { d.Trust = desktop.Trust{} })
	if _, err := untrusted.Survey(t.Context(), "d1"); err == nil || desktop.FailureOf(err).Cause != desktop.Untrusted {
		t.Errorf("Survey without the authority = %v, want it untrusted", err)
	}
	script("kill")
	if _, err := client.Survey(t.Context(), "d1"); err == nil || desktop.FailureOf(err).Cause != desktop.Unreachable {
		t.Errorf("Survey of a stopped controller = %v, want it unreachable", err)
	}
	script("start")
	if _, err := client.Survey(t.Context(), "d1"); err != nil {
		t.Errorf("Survey after the controller is back = %v", err)
	}
}
