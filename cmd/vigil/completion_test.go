package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vigil/internal/client"
)

// TestBashCompletes runs the completion script in bash, with a function that replaces "vigil
// names KIND" and prints two names, KIND-1 and "KIND 2".
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash, which is not installed: install the package bash")
	}
	app, err := allCommands()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]completions{}
	gather(app.Node, "", all)
	var script strings.Builder
	bash(&script, all)
	script.WriteString("vigil() { echo $2-1; echo \"$2 2\"; }\n")
	script.WriteString("try() { COMP_WORDS=(vigil \"$@\"); COMP_CWORD=$#; COMPREPLY=(); _vigil; echo \"$*: ${COMPREPLY[*]}\"; }\n")
	cases := []struct{ typed, want string }{
		{"find", "findings"},
		{"findings --fra", "--framework"},
		{"findings --level high --fai", "--fail-on"},
		{"findings --framework ''", `frameworks-1 frameworks\ 2`},
		{"findings --account accounts-", "accounts-1"},
		{"collect ''", `accounts-1 accounts\ 2`},
		{"collect --wa", "--watch"},
		{"compliance ''", `frameworks-1 frameworks\ 2`},
		{"audit --foll", "--follow"},
		{"desktop machines --farm ''", `farms-1 farms\ 2`},
		{"desktop alerts ack", "acknowledge"},
		{"users set ''", `users-1 users\ 2`},
		{"tokens revoke tokens-", "tokens-1"},
		{"tokens create --user ''", `users-1 users\ 2`},
		{"accounts link --pro", "--profile --profiles"},
		{"desktop machines --profile ''", `desktop-profiles-1 desktop-profiles\ 2`},
		{"profiles --use ''", `all-profiles-1 all-profiles\ 2`},
		{"accounts link --watch --ro", "--role-arn"},
		{"accounts link --profile ''", `profiles-1 profiles\ 2`},
		{"scan aws --framework ''", `built-in-frameworks-1 built-in-frameworks\ 2`},
		{"scan aws --profile ''", ""}, // a profile of AWS, not of Vigil
		{"findings -o ''", "table json yaml csv"},
		{"findings --output ''", "table json yaml csv"},
		{"rules s", "show set"},
		{"completion ''", "bash zsh fish"},
		{"nam", ""}, // names is a hidden command
	}
	for _, c := range cases {
		script.WriteString("try " + c.typed + "\n")
	}
	command := exec.CommandContext(t.Context(), shell, "--norc", "-s")
	command.Stdin = strings.NewReader(script.String())
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(cases), out)
	}
	for i, c := range cases {
		if _, got, _ := strings.Cut(lines[i], ":"); strings.TrimSpace(got) != c.want {
			t.Errorf("vigil %s: %q, not %q", c.typed, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	_, flags := loggedIn(t)
	if _, err := runDesktop(t, &namesCmd{Profiles: flags.Profiles, Kind: "rules"}, ""); err == nil {
		t.Error("names of rules were printed without a login to a posture server")
	}
	profiles, err := client.ReadProfiles(flags.Profiles)
	if err != nil {
		t.Fatal(err)
	}
	if err := profiles.Login(client.Profile{Name: "cloud", URL: "https://vigil.example", Token: "token"}); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]string{"farms": "Blue\ngreen\n", "profiles": "cloud\n", "desktop-profiles": "desk\n", "all-profiles": "cloud\ndesk\n"} {
		if got, err := runDesktop(t, &namesCmd{Profiles: flags.Profiles, Kind: kind}, ""); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", kind, got, err, want)
		}
	}
	// VIGIL_PROFILE and VIGIL_DESKTOP_PROFILE replace the current profiles.
	for _, kind := range []string{"rules", "farms"} {
		_, err := runDesktop(t, &namesCmd{Profile: "none", DesktopProfile: "none", Profiles: flags.Profiles, Kind: kind}, "")
		if err == nil || !strings.Contains(err.Error(), `no profile "none"`) {
			t.Errorf("%s of a profile that does not exist: %v", kind, err)
		}
	}
}

// TestNamesOfEveryFlag checks that the flags and arguments use every kind of names, and no unknown kind.
func TestNamesOfEveryFlag(t *testing.T) {
	t.Parallel()
	app, err := allCommands()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]completions{}
	gather(app.Node, "", all)
	kinds := map[string]bool{}
	for _, c := range all {
		kinds[c.argument.kind] = true
		for _, f := range c.flags {
			kinds[valuesOf(f.Value).kind] = true
		}
	}
	delete(kinds, "")
	for kind := range namesOf {
		if !kinds[kind] {
			t.Errorf("nothing is completed by %s", kind)
		}
	}
	for kind := range kinds {
		_, err := runDesktop(t, &namesCmd{Profiles: filepath.Join(t.TempDir(), "profiles"), Kind: kind}, "")
		if err != nil && strings.Contains(err.Error(), "not a kind of names") {
			t.Error(err)
		}
	}
}
