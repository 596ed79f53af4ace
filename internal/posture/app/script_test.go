package app_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/sim/cli"
	simgcp "vigil/internal/sim/gcp"
	"vigil/internal/sqldb/dbtest"
)

// A scriptFixture is a server with simulated clouds, and a shell with their command-line tools
// and an API token.
type scriptFixture struct {
	*cloudFixture
	*cli.Server
	dir   string
	token string
	url   string // if not "", scripts call this address instead of the one they were downloaded from
	wait  int    // how often scripts poll before they give up
}

func newScriptFixture(t *testing.T) *scriptFixture {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	d := &scriptFixture{cloudFixture: newCloudFixtureOf(t, dbtest.SQLite(t), 2), dir: t.TempDir(), wait: 200}
	var err error
	d.Server, err = cli.Open(cli.Options{Dir: d.dir, AWS: d.aws, Azure: d.azure, GCP: d.gcp, Publisher: d.publisher})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	d.token = d.want(201, "POST", "/v1/api-tokens", object{"name": "shell", "role": "admin"}).member("token")
	return d
}

// bash runs a script that the server serves, and returns its output.
func (d *scriptFixture) bash(p posture.Provider, script string, arguments ...string) (printed string, err error) {
	d.t.Helper()
	res, err := http.Get(d.base + "/scripts/" + string(p) + "/" + script)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	c := exec.CommandContext(d.t.Context(), "bash", append([]string{"-s", "--"}, arguments...)...)
	c.Stdin = res.Body
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.Env = append(os.Environ(), "PATH="+d.dir+string(filepath.ListSeparator)+os.Getenv("PATH"), "VIGIL_API_TOKEN="+d.token, "VIGIL_PAUSE=0.1", fmt.Sprint("VIGIL_WAIT=", d.wait),
		"VIGIL_URL="+d.url, "NO_PROXY=*", "no_proxy=*", "AWS_SESSION_TOKEN=", "TMPDIR="+d.t.TempDir())
	err = c.Run()
	// The keys of simulated Azure applications begin with sim8Q~.
	if strings.Contains(out.String(), d.token) || strings.Contains(out.String(), "sim8Q~") || strings.Contains(out.String(), "PRIVATE KEY") {
		d.t.Errorf("%s %s prints a secret:\n%s", p, script, &out)
	}
	return out.String(), err
}

// mustRun runs a script that must succeed, and returns the commands that changed
// something.
func (d *scriptFixture) mustRun(p posture.Provider, script string, arguments ...string) []string {
	d.t.Helper()
	d.Calls() // forget the earlier calls
	printed, err := d.bash(p, script, arguments...)
	if err != nil {
		d.t.Fatalf("%s %s %v: %v\n%s", p, script, arguments, err, printed)
	}
	var changes []string
	for _, c := range d.Calls() {
		if !isReadOnly(c) {
			changes = append(changes, c.String())
			if !strings.Contains(printed, "+ "+c.String()) {
				d.t.Errorf("%s %s does not announce %s:\n%s", p, script, c, printed)
			}
		}
	}
	return changes
}

// isReadOnly reports whether a command is read-only.
func isReadOnly(c cli.Call) bool {
	return slices.ContainsFunc(c.Words, func(word string) bool {
		return slices.ContainsFunc([]string{"describe", "get-", "list", "show", "assume-role", "rest"}, func(verb string) bool { return strings.HasPrefix(word, verb) })
	})
}

// status returns one of the statuses of an account.
func (d *scriptFixture) status(id, name string) string {
	d.t.Helper()
	s, _ := d.want(200, "GET", "/v1/cloud-accounts/"+id, nil).body[name].(object)
	value, _ := s["value"].(string)
	return value
}

// customers returns the accounts of each provider.
func (d *scriptFixture) customers() map[posture.Provider][]string {
	var subscriptions, projects []string
	for _, s := range d.azure.Subscriptions() {
		subscriptions = append(subscriptions, s.ID)
	}
	for _, p := range d.gcp.Projects() {
		projects = append(projects, p.ID)
	}
	return map[posture.Provider][]string{posture.AWS: {d.aws.Account(0).ID, d.aws.Account(1).ID}, posture.Azure: subscriptions, posture.GCP: projects}
}

// TestScriptsLinkAndStream links accounts with only the role that the product requests,
// sets up their event streams, and removes everything.
func TestScriptsLinkAndStream(t *testing.T) {
	t.Parallel()
	for p, variants := range map[posture.Provider][][2]string{ // options of link.sh and of setup.sh
		posture.AWS:   {{"--organization", ""}, {"--cloudformation", "--cloudformation"}, {"", "--api-destination"}},
		posture.Azure: {{"", ""}, {"--role Reader", "--alert"}, {"--management-group platform", ""}},
		posture.GCP:   {{"--organization " + simgcp.Organization, ""}},
	} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			d := newScriptFixture(t)
			for i, variant := range variants { // the first variant runs for all accounts, and twice
				ids := d.customers()[p]
				if i > 0 && !strings.Contains(variant[0], "group") {
					ids = ids[1:]
				}
				d.linkAndStream(p, ids, max(2-i, 1), strings.Fields(variant[0]), strings.Fields(variant[1]))
			}
		})
	}
}

func (d *scriptFixture) linkAndStream(p posture.Provider, ids []string, times int, linking, streaming []string) {
	t, before := d.t, d.Objects()
	link := slices.Concat(linking, ids)
	if slices.Contains(linking, "--management-group") || p == posture.AWS && slices.Contains(linking, "--organization") {
		link = linking // the cloud determines the account
	}
	d.mustRun(p, "link.sh", link...)
	for _, id := range ids {
		if got := d.status(id, "accountStatus"); got != "active" {
			t.Errorf("%s is %s", id, got)
		}
		// The permissions of the role suffice to read everything.
		if run := d.collect(id); run["status"] != "Completed" {
			t.Errorf("the run of %s is %v", id, run)
		}
	}
	linked, credentials := d.Objects(), d.credentials()
	for range times - 1 {
		second := d.mustRun(p, "link.sh", link...) // creates nothing; a repeated role assignment changes nothing
		if slices.ContainsFunc(second, func(c string) bool { return strings.Contains(c, "create") && !strings.Contains(c, "assignment") }) {
			t.Errorf("the second link changes %v", second)
		}
		if diff := cmp.Diff(linked, d.Objects()); diff != "" || d.credentials() != credentials {
			t.Errorf("linked again (-once +twice):\n%s%s %s", diff, credentials, d.credentials())
		}
	}
	d.checkStream(p, ids, times, streaming)
	d.checkUnlink(p, ids, times, linking, before)
}

// checkStream sets up streams and removes them.
func (d *scriptFixture) checkStream(p posture.Provider, ids []string, times int, options []string) {
	t, before := d.t, d.Objects()
	var afterFirst []string
	for i := range times {
		d.mustRun(p, "setup.sh", slices.Concat(options, ids)...)
		for _, id := range ids {
			if got := d.status(id, "eventStreamStatus"); got != "connected" {
				t.Errorf("the stream of %s is %s", id, got)
			}
		}
		if i == 0 {
			afterFirst = d.Objects()
		}
		if diff := cmp.Diff(afterFirst, d.Objects()); diff != "" {
			t.Errorf("set up again (-once +twice):\n%s", diff)
		}
	}
	for range times {
		d.mustRun(p, "teardown.sh", ids...)
		if diff := cmp.Diff(before, d.Objects()); diff != "" {
			t.Errorf("torn down (-before +after):\n%s", diff)
		}
	}
	if got := d.status(ids[0], "eventStreamStatus"); got != "disconnected" {
		t.Errorf("the stream is %s", got)
	}
}

// checkUnlink removes accounts.
func (d *scriptFixture) checkUnlink(p posture.Provider, ids []string, times int, options, before []string) {
	t := d.t
	// Of these options, unlink.sh has only --management-group of Azure and --organization of Google Cloud.
	if !slices.Contains(options, "--management-group") && p != posture.GCP {
		options = nil
	}
	for range times {
		d.mustRun(p, "unlink.sh", slices.Concat(options, ids)...)
		if diff := cmp.Diff(before, d.Objects()); diff != "" {
			t.Errorf("unlinked (-before +after):\n%s", diff)
		}
	}
	if got := d.status(ids[0], "accountStatus"); got != "draft" || d.credentials() != "" {
		t.Errorf("after unlinking, the account is %s, and the credentials are %q", got, d.credentials())
	}
}

// TestLinkUpdatesPolicies links an account whose role has the policies of earlier
// versions: an inline policy, a managed policy with other permissions and as many versions
// as IAM permits, and more managed policies than this version needs.
func TestLinkUpdatesPolicies(t *testing.T) {
	t.Parallel()
	d := newScriptFixture(t)
	id := d.customers()[posture.AWS][0]
	before := d.Objects()
	aws := func(arguments ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), filepath.Join(d.dir, "aws"), append([]string{"iam"}, arguments...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, out)
		}
	}
	d.mustRun(posture.AWS, "link.sh", id)
	linked, first, surplus := d.Objects(), "arn:aws:iam::"+id+":policy/vigil-reader-1", "arn:aws:iam::"+id+":policy/vigil-reader-9"
	const old = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:DescribeVpcs"],"Resource":"*"}]}`
	aws("put-role-policy", "--role-name", "vigil-reader", "--policy-name", "read-configuration", "--policy-document", old)
	aws("create-policy", "--policy-name", "vigil-reader-9", "--policy-document", old)
	aws("attach-role-policy", "--role-name", "vigil-reader", "--policy-arn", surplus)
	aws("create-policy", "--policy-name", "vigil-reader-of-others", "--policy-document", old)
	for range 4 {
		aws("create-policy-version", "--policy-arn", first, "--policy-document", old, "--set-as-default")
	}
	d.mustRun(posture.AWS, "link.sh", id)
	if got := strings.Join(d.Objects(), "\n"); strings.Contains(got, "vigil-reader-9") || strings.Contains(got, "inline={") || !strings.Contains(got, "default=v6") || !strings.Contains(got, "vigil-reader-of-others") {
		t.Errorf("after the second link:\n%s\nafter the first:\n%s", got, strings.Join(linked, "\n"))
	}
	if run := d.collect(id); run["status"] != "Completed" {
		t.Errorf("the run is %v", run)
	}
	d.mustRun(posture.AWS, "unlink.sh", id)
	aws("delete-policy", "--policy-arn", "arn:aws:iam::"+id+":policy/vigil-reader-of-others")
	if diff := cmp.Diff(before, d.Objects()); diff != "" {
		t.Errorf("unlinked (-before +after):\n%s", diff)
	}
}

// collect collects an account and returns the ended run.
func (d *scriptFixture) collect(id string) object {
	d.t.Helper()
	d.waitRun(id)
	d.want(202, "POST", "/v1/cloud-accounts/"+id+"/collections", nil)
	return d.waitRun(id)
}

// credentials lists the credentials of the server.
func (d *scriptFixture) credentials() string {
	d.t.Helper()
	var ids []string
	all, _ := d.want(200, "POST", "/v1/cloud-credentials/query", object{}).body["credentials"].([]any)
	for _, c := range all {
		ids = append(ids, fmt.Sprint(c.(object)["credentialId"]))
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// TestDryRun checks that a dry run changes nothing in a cloud or on the server.
func TestDryRun(t *testing.T) {
	t.Parallel()
	d := newScriptFixture(t)
	for p, ids := range d.customers() {
		for _, script := range []string{"link.sh", "setup.sh", "teardown.sh", "unlink.sh"} {
			printed, err := d.bash(p, script, append([]string{"--dry-run"}, ids...)...)
			if err != nil || !strings.Contains(printed, "+ ") {
				t.Errorf("%s %s: %v\n%s", p, script, err, printed)
			}
		}
	}
	for _, c := range d.Calls() {
		if !isReadOnly(c) {
			t.Errorf("a dry run runs %s", c)
		}
	}
	if all := d.Objects(); len(all) > 0 || d.credentials() != "" {
		t.Errorf("a dry run created %v, or credentials %q", all, d.credentials())
	}
}

// TestScriptErrors checks that scripts reject invalid arguments, and continue with
// other accounts if one fails.
func TestScriptErrors(t *testing.T) {
	t.Parallel()
	d := newScriptFixture(t)
	tooMany := make([]string, 101)
	for i := range tooMany {
		tooMany[i] = fmt.Sprintf("%012d", i)
	}
	for _, c := range []struct {
		arguments []string
		message   string
	}{
		{tooMany, "101 accounts given, but one run handles at most 100"},
		{[]string{"12"}, "12 is not an account id"},
		{[]string{"$(id)"}, "is not an account id"},
		{nil, "no accounts given"},
		{[]string{"--what", tooMany[0]}, "unknown option --what"},
		{[]string{"--file", "none.txt", tooMany[0]}, "cannot read none.txt"},
		{[]string{"--file", d.dir, tooMany[0]}, "cannot read " + d.dir},
		{[]string{"--file", "/dev/null", tooMany[0]}, "/dev/null names no accounts"},
	} {
		for _, script := range []string{"link.sh", "setup.sh", "teardown.sh", "unlink.sh"} {
			printed, err := d.bash(posture.AWS, script, c.arguments...)
			if err == nil || !strings.Contains(printed, c.message) {
				t.Errorf("%s %.40v: %v\n%s", script, c.arguments, err, printed)
			}
		}
	}
	if calls := d.Calls(); len(calls) > 0 {
		t.Errorf("scripts with invalid arguments called %v", calls)
	}
	valid := d.customers()[posture.AWS][0]
	printed, err := d.bash(posture.AWS, "link.sh", "999999999999", valid)
	if err == nil || !strings.Contains(printed, "not done for: 999999999999\n") || d.status(valid, "accountStatus") != "active" {
		t.Errorf("one of two: %v\n%s", err, printed)
	}
	d.token = "wrong"
	if printed, err := d.bash(posture.AWS, "link.sh", valid); err == nil || !strings.Contains(printed, "the server refuses the API token") {
		t.Errorf("with a wrong token: %v\n%s", err, printed)
	}
}
