package main

import (
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestBashCompletes runs the script in bash, with a function that replaces vigil and
// prints its arguments.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	parser, err := newParser(nil, nil, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	words := map[string][]string{}
	gather(parser.Model.Node, "", words)
	var script strings.Builder
	bash(&script, words)
	script.WriteString("vigil() { echo \"$2-1 $2-2\"; }\n")
	script.WriteString("try() { COMP_WORDS=(vigil \"$@\"); COMP_CWORD=$#; COMPREPLY=(); _vigil; echo \"$*: ${COMPREPLY[*]}\"; }\n")
	cases := []struct{ typed, want string }{
		{"find", "findings"},
		{"findings --fra", "--framework"},
		{"findings --level high --fai", "--fail-on"},
		{"findings --framework ''", "frameworks-1 frameworks-2"},
		{"findings --account accounts-2", "accounts-2"},
		{"collect ''", "accounts-1 accounts-2"},
		{"collect --wa", "--watch"},
		{"compliance ''", "frameworks-1 frameworks-2"},
		{"audit --foll", "--follow"},
		{"desktop machines --farm ''", "farms-1 farms-2"},
		{"desktop alerts ack", "acknowledge"},
		{"nam", ""},
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
		t.Fatalf("%s", out)
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
	for kind, want := range map[string]string{"farms": "Blue\ngreen\n", "profiles": "desk\n"} {
		if got, err := runDesktop(t, &namesCmd{Profiles: flags.Profiles, Kind: kind}, ""); err != nil || got != want {
			t.Errorf("%s: %q, %v", kind, got, err)
		}
	}
	if _, err := runDesktop(t, &namesCmd{Profiles: flags.Profiles, Kind: "rules"}, ""); err == nil {
		t.Error("names were printed without a login")
	}
}
