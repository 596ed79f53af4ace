package main

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vigil/docs"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/gateway"
)

// TestQuickStart runs the shell blocks of the quick start, in order and in one shell,
// with the real program, a simulated AWS and a receiver of messages.
func TestQuickStart(t *testing.T) {
	t.Parallel()
	g, err := gateway.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	cloud := simaws.New(simaws.Options{Seed: 5, Accounts: 1, Size: 40}, g.Faults)
	for _, host := range simaws.Hosts {
		g.Handle(host, cloud)
	}
	serving := make(chan error, 1)
	go func() { serving <- g.Serve(t.Context()) }()
	t.Cleanup(func() { <-serving })

	messages := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		select {
		case messages <- string(body):
		default:
		}
	}))
	t.Cleanup(receiver.Close)

	dir := t.TempDir()
	script, environment := quickStart(t, dir, g, cloud, receiver.URL)
	shell := exec.CommandContext(t.Context(), "bash", "-eu", "-c", script)
	shell.Dir, shell.Env = dir, environment
	shell.WaitDelay = time.Minute // for the server in the background, which writes to the same output
	out, err := shell.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "vigil.log"))
		t.Fatalf("%v\n%s\n%s", err, out, log)
	}
	for _, want := range []string{"logged in to", "Completed", "LEVEL", "CONTROL"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if page, err := os.ReadFile(filepath.Join(dir, "findings.html")); err != nil || !bytes.Contains(page, []byte("</html>")) {
		t.Errorf("the report has %d bytes, %v", len(page), err)
	}
	select {
	case m := <-messages:
		if !strings.Contains(m, "FindingRaised") {
			t.Errorf("the first message is %s", m)
		}
	default:
		t.Errorf("no message was sent:\n%s", out)
	}
}

// quickStart returns the script of the document and its environment: the addresses and
// the account are those of the test, and the server stops at the end.
func quickStart(t *testing.T, dir string, g *gateway.Gateway, cloud *simaws.Cloud, receiver string) (script string, environment []string) {
	t.Helper()
	text, err := docs.Files.ReadFile("quickstart.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(text, -1) {
		blocks.Write(block[1])
	}
	if n := regexp.MustCompile(`(?m)^(until )?vigil `).FindAllString(blocks.String(), -1); len(n) != 10 {
		t.Errorf("the quick start has %d commands, and says ten", len(n))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	authority := filepath.Join(dir, "gateway.pem")
	if err := os.WriteFile(authority, g.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	account := cloud.Account(0)
	script = strings.NewReplacer(
		"127.0.0.1:8443", address, "https://hooks.example.com/vigil", receiver,
		"arn:aws:iam::123456789012:role/vigil", account.RoleArn+" --external-id "+account.ExternalID, "123456789012", account.ID,
	).Replace(blocks.String())
	// Messages are sent every five seconds, after the evaluation.
	script = "trap 'kill ${!:-} 2>/dev/null; wait' EXIT\n" + script + "\nuntil vigil notifications deliveries --state delivered -o csv | sed 1d | grep -q .; do sleep 0.5; done\n"
	key, secret := cloud.Identity()
	return script, append(environWithout("VIGIL_", "AWS_"), "HOME="+dir, "VIGIL_PROFILES="+filepath.Join(dir, "profiles.yaml"), "VIGIL_POSTURE_LISTEN="+address, "VIGIL_POSTURE_NOTIFY_PRIVATE=true",
		"VIGIL_POSTURE_CLOUD_GATEWAY="+g.Address(), "VIGIL_POSTURE_CLOUD_GATEWAY_CA="+authority, "AWS_ACCESS_KEY_ID="+key, "AWS_SECRET_ACCESS_KEY="+secret)
}
