package scripts_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/scripts"
)

// all lists the scripts of each provider.
var all = map[posture.Provider][]string{
	posture.AWS: {"setup.sh", "teardown.sh", "link.sh", "unlink.sh"}, posture.Azure: {"setup.sh", "teardown.sh", "link.sh", "unlink.sh"}, posture.GCP: {"setup.sh", "teardown.sh", "link.sh", "unlink.sh"},
}

func fill(t *testing.T, p posture.Provider, name string, v scripts.Values) []byte {
	t.Helper()
	text, _, ok := scripts.Fill(p, name, v)
	if !ok {
		t.Fatalf("%s has no %s", p, name)
	}
	return text
}

func TestShellcheckHasNothingToSay(t *testing.T) {
	t.Parallel()
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed")
	}
	for p, names := range all {
		for _, name := range names {
			c := exec.CommandContext(t.Context(), shellcheck, "-")
			c.Stdin = bytes.NewReader(fill(t, p, name, scripts.Values{URL: "https://vigil.example"}))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s/%s: %v\n%s", p, name, err, out)
			}
		}
	}
}

func TestValuesAreFilledInAndCannotBreakOut(t *testing.T) {
	t.Parallel()
	hostile := `https://x.example/'; touch pwned; echo '`
	for p, names := range all {
		for _, name := range names {
			text := string(fill(t, p, name, scripts.Values{URL: hostile, Accounts: []string{"a", "b"}}))
			if strings.Contains(text, "@url@") || strings.Contains(text, "@accounts@") || strings.Contains(text, "@library@") {
				t.Errorf("%s/%s: a value is not filled in", p, name)
			}
			if !strings.Contains(text, "accounts='a b'") {
				t.Errorf("%s/%s: the accounts are not filled in", p, name)
			}
			if !strings.Contains(text, `VIGIL_URL=${VIGIL_URL:-'https://x.example/'\''; touch pwned; echo '\'''}`) {
				t.Errorf("%s/%s: the address is not quoted", p, name)
			}
		}
	}
}

func TestOnlyWhatIsThereIsServed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "none.sh", "../library.sh", "setup", "library.sh", "..%2flibrary.sh", "aws/setup.sh", "setup.sh/"} {
		if _, _, ok := scripts.Fill(posture.AWS, name, scripts.Values{}); ok {
			t.Errorf("%q is served", name)
		}
	}
	for p, name := range map[posture.Provider]string{posture.AWS: "template.yaml", posture.Azure: "template.json"} {
		if _, kind, ok := scripts.Fill(p, name, scripts.Values{}); !ok || !strings.HasPrefix(kind, "application/") {
			t.Errorf("%s %s: %v, %q", p, name, ok, kind)
		}
	}
}
