package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/posture"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/cli"
)

// refuse makes the server refuse a script's requests whose method and path begin with the given text.
func (d *scriptFixture) refuse(request string) {
	d.t.Helper()
	server, err := url.Parse(d.base)
	if err != nil {
		d.t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) }}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Method+" "+r.URL.Path, request) {
			w.WriteHeader(http.StatusForbidden) // curl does not repeat it
			fmt.Fprint(w, `{"message":"refused","statusCode":403}`)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	d.t.Cleanup(proxy.Close)
	d.url = proxy.URL
}

// override replaces a simulated program: if the arguments of a call begin with the given words, it runs the bash
// code instead. With the code exec "$0-simulated" "$@", the call reaches the simulated program again.
func (d *scriptFixture) override(program, words, code string) {
	d.t.Helper()
	name := filepath.Join(d.dir, program)
	if _, err := os.Stat(name + "-simulated"); err != nil {
		if err := os.Rename(name, name+"-simulated"); err != nil {
			d.t.Fatal(err)
		}
	}
	text := fmt.Sprintf("#!/usr/bin/env bash\nif [[ \"$*\" == '%s'* ]]; then\n%s\nexit\nfi\nexec \"$0-simulated\" \"$@\"\n", words, code)
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		d.t.Fatal(err)
	}
}

// removesAccess reports whether a command removes what other accounts may use.
func removesAccess(c cli.Call) bool {
	return slices.ContainsFunc([]string{"aws iam delete-role", "az ad app delete", "gcloud iam service-accounts delete"}, func(start string) bool {
		return strings.HasPrefix(c.String(), start)
	})
}

// TestScriptsStopWhenTheServerRefuses checks that a script fails if the server refuses a
// request. It must not conclude from the missing answer that nothing uses the credential.
func TestScriptsStopWhenTheServerRefuses(t *testing.T) {
	t.Parallel()
	for _, p := range posture.Providers {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			d := newScriptFixture(t)
			ids := d.customers()[p]
			d.mustRun(p, "link.sh", ids...)
			credentials := d.credentials()
			for _, c := range []struct {
				request, script string
				arguments       []string
				message         string
			}{
				{"POST /v1/cloud-credentials/query", "unlink.sh", ids[:1], ""},
				{"PUT /v1/providers/", "link.sh", append([]string{"--renew"}, ids...), ""},
				{"GET /v1/cloud-accounts/" + ids[0] + "/event-stream", "teardown.sh", ids[:1], "not done for: " + ids[0]},
				{"DELETE /v1/providers/" + string(p) + "/" + ids[0] + "_", "unlink.sh", ids[:1], "not done for: " + ids[0]},
				{"POST /v1/cloud-accounts/query", "unlink.sh", ids[:1], "keeping the credential"},
			} {
				if p == posture.AWS && slices.Contains(c.arguments, "--renew") {
					c.arguments = ids // there is no --renew for AWS: roles have no secret, and every run saves them
				}
				d.refuse(c.request)
				d.Calls() // forget the earlier calls
				printed, err := d.bash(p, c.script, c.arguments...)
				if err == nil || !strings.Contains(printed, ": refused\n") || !strings.Contains(printed, c.message) {
					t.Errorf("%s without %s: %v\n%s", c.script, c.request, err, printed)
				}
				if slices.ContainsFunc(d.Calls(), removesAccess) || d.credentials() != credentials {
					t.Errorf("%s without %s removes what others use: credentials %s\n%s", c.script, c.request, d.credentials(), printed)
				}
			}
		})
	}
}

// TestScriptsStopWhenACloudRefuses checks that a script fails if a command of a cloud does,
// and does not continue with the next one.
func TestScriptsStopWhenACloudRefuses(t *testing.T) {
	t.Parallel()
	d := newScriptFixture(t)
	for _, c := range []struct {
		p              posture.Provider
		script         string
		program, words string // what is refused
		next           string // the command that must not run
	}{
		{posture.AWS, "setup.sh", "aws", "sns set-topic-attributes", "aws sns subscribe"},
		{posture.Azure, "unlink.sh", "az", "role definition list", "az ad app delete"},
	} {
		ids := d.customers()[c.p]
		d.mustRun(c.p, "link.sh", ids...)
		d.override(c.program, c.words, "echo refused >&2; exit 254")
		d.Calls() // forget the earlier calls
		printed, err := d.bash(c.p, c.script, ids...)
		if err == nil || slices.ContainsFunc(d.Calls(), func(call cli.Call) bool { return strings.HasPrefix(call.String()+" ", c.next+" ") }) {
			t.Errorf("%s without %s: %v\n%s", c.script, c.words, err, printed)
		}
	}
}

// TestOrganizationWithoutMembers links an organisation that has only its management
// account.
func TestOrganizationWithoutMembers(t *testing.T) {
	t.Parallel()
	d := newScriptFixture(t)
	id := d.customers()[posture.AWS][0]
	d.override("aws", "organizations list-accounts", "echo "+id)
	d.mustRun(posture.AWS, "link.sh", "--organization")
	if got := d.status(id, "accountStatus"); got != "active" {
		t.Errorf("%s is %s", id, got)
	}
}

// TestLinkWaitsForARole links an account whose role Vigil cannot assume at the first
// attempt, as if the role had not propagated yet.
func TestLinkWaitsForARole(t *testing.T) {
	t.Parallel()
	d := newScriptFixture(t)
	id := d.customers()[posture.AWS][0]
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() {
		if printed, err := d.bash(posture.AWS, "link.sh", "--trust", "arn:aws:iam::111111111111:user/other", id); err != nil {
			t.Errorf("%v\n%s", err, printed)
		}
	})
	for !strings.Contains(d.do("GET", "/v1/cloud-accounts/"+id, nil).text, `"value":"validation-failed"`) {
		if t.Context().Err() != nil {
			t.Fatal("the role was not tried")
		}
		time.Sleep(10 * time.Millisecond)
	}
	role, _ := d.aws.Role(id, "vigil-reader")
	role.Trusts = simaws.Collector
	d.aws.PutRole(role)
}

// TestTeardownOfOtherRegions removes a stream that calls Vigil from another region than the
// first one of the account.
func TestTeardownOfOtherRegions(t *testing.T) {
	t.Parallel()
	d := newScriptFixture(t)
	id := d.customers()[posture.AWS][0]
	d.mustRun(posture.AWS, "link.sh", id)
	before := d.Objects()
	d.mustRun(posture.AWS, "setup.sh", "--api-destination", "--regions", "eu-west-1", id)
	d.mustRun(posture.AWS, "teardown.sh", id)
	if after := d.Objects(); !slices.Equal(before, after) {
		t.Errorf("torn down: %s\nbefore: %s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
}

// TestTeardownContinuesWithOtherRegions denies the access to one region. The script removes the
// stream from the other region, names the denied one, and removes the rest when it is run again.
func TestTeardownContinuesWithOtherRegions(t *testing.T) {
	t.Parallel()
	for words, refusal := range map[string]string{
		"cloudformation describe-stacks --region us-east-1": "An error occurred (AccessDenied) when calling the DescribeStacks operation: explicit deny in a service control policy",
		"sns delete-topic --region us-east-1":               "An error occurred (AuthorizationError) when calling the DeleteTopic operation",
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			d := newScriptFixture(t)
			id := d.customers()[posture.AWS][0]
			d.mustRun(posture.AWS, "link.sh", id)
			before := d.Objects()
			d.mustRun(posture.AWS, "setup.sh", id)
			d.override("aws", words, fmt.Sprintf("echo %q >&2; exit 254", refusal))
			printed, err := d.bash(posture.AWS, "teardown.sh", id)
			if err == nil || !strings.Contains(printed, id+": not removed in: us-east-1; ") || !strings.Contains(printed, "not done for: "+id) {
				t.Errorf("%v\n%s", err, printed)
			}
			left := strings.Join(d.Objects(), "\n")
			if strings.Contains(left, "/eu-west-1/") || !strings.Contains(left, "/us-east-1/topic/") || d.status(id, "eventStreamStatus") != "connected" {
				t.Errorf("left are\n%s", left)
			}
			d.override("aws", words, "exec \"$0-simulated\" \"$@\"")
			d.mustRun(posture.AWS, "teardown.sh", id)
			if after := d.Objects(); !slices.Equal(before, after) {
				t.Errorf("torn down: %s\nbefore: %s", strings.Join(after, "\n"), strings.Join(before, "\n"))
			}
		})
	}
}

// TestTeardownWhereAPIDestinationsAreNotOffered removes a stream that uses a region without API destinations.
func TestTeardownWhereAPIDestinationsAreNotOffered(t *testing.T) {
	t.Parallel()
	d := newScriptFixture(t)
	id := d.customers()[posture.AWS][0]
	d.mustRun(posture.AWS, "link.sh", id)
	before := d.Objects()
	d.mustRun(posture.AWS, "setup.sh", id)
	d.override("aws", "events delete-api-destination --region us-east-1", "echo 'An error occurred (UnknownOperationException) when calling the DeleteApiDestination operation: Operation is disabled in this region.' >&2; exit 254")
	d.mustRun(posture.AWS, "teardown.sh", id)
	if after := d.Objects(); !slices.Equal(before, after) {
		t.Errorf("torn down: %s\nbefore: %s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
}

// deniedByGoogle is what gcloud prints when the caller may not read an object.
const deniedByGoogle = "ERROR: (gcloud) PERMISSION_DENIED: Permission 'get' denied on resource (or it may not exist)."

// TestRemovalFailsWhenObjectsCannotBeRead checks that scripts that remove something fail if a cloud
// does not tell them whether it exists. They continue only if it does not exist.
func TestRemovalFailsWhenObjectsCannotBeRead(t *testing.T) {
	t.Parallel()
	const denied = "An error occurred (AccessDenied)"
	for _, c := range []struct {
		p              posture.Provider
		script         string
		program, words string // what is refused
		next           string // the command that must not run
		refusal        string
	}{
		{posture.AWS, "teardown.sh", "aws", "cloudformation describe-stacks", "aws sns delete-topic", denied},
		{posture.AWS, "unlink.sh", "aws", "cloudformation describe-stacks", "aws iam delete-role", denied},
		{posture.Azure, "teardown.sh", "az", "resource show", "az group delete", denied},
		{posture.Azure, "teardown.sh", "az", "resource list", "az group delete", denied},
		// The caller may not read the subscription, or az is logged in elsewhere.
		{posture.Azure, "teardown.sh", "az", "resource", "az group delete", "(SubscriptionNotFound) The subscription '1' could not be found."},
		{posture.Azure, "teardown.sh", "az", "resource", "az group delete", "Subscription '1' not found. Check the spelling and casing and try again."},
		{posture.Azure, "teardown.sh", "az", "resource", "az group delete", "The subscription of '1' doesn't exist in cloud 'AzureCloud'."},
		{posture.Azure, "unlink.sh", "az", "role assignment delete", "az ad app delete", "(SubscriptionNotFound) The subscription '1' could not be found."},
		{posture.GCP, "teardown.sh", "gcloud", "pubsub topics delete", "gcloud iam service-accounts delete", deniedByGoogle},
	} {
		t.Run(c.words+" in "+c.script+" "+c.refusal, func(t *testing.T) {
			t.Parallel()
			d := newScriptFixture(t)
			id := d.customers()[c.p][0]
			d.mustRun(c.p, "link.sh", id)
			d.mustRun(c.p, "setup.sh", id)
			d.override(c.program, c.words, fmt.Sprintf("echo %q >&2; exit 254", c.refusal))
			d.Calls() // forget the earlier calls
			printed, err := d.bash(c.p, c.script, id)
			if err == nil || !strings.Contains(printed, c.refusal) || !strings.Contains(printed, "not done for: "+id) {
				t.Errorf("%v\n%s", err, printed)
			}
			hint := c.script == "teardown.sh" && strings.Contains(strings.ToLower(c.refusal), "subscription")
			if strings.Contains(printed, "if the subscription was deleted") != hint {
				t.Errorf("the script must say what to do if the subscription was deleted, but only after an error about the subscription:\n%s", printed)
			}
			if slices.ContainsFunc(d.Calls(), func(call cli.Call) bool { return strings.HasPrefix(call.String()+" ", c.next+" ") }) {
				t.Errorf("%s runs\n%s", c.next, printed)
			}
			if c.script == "teardown.sh" && d.status(id, "eventStreamStatus") != "connected" {
				t.Errorf("the server has no stream any more\n%s", printed)
			}
			d.override(c.program, c.words, "exec \"$0-simulated\" \"$@\"")
			d.mustRun(c.p, c.script, id)
		})
	}
}

// TestLinkingFailsWhenObjectsCannotBeRead checks that link.sh fails if a cloud does not tell it what
// exists already, and works again when the cloud does.
func TestLinkingFailsWhenObjectsCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p              posture.Provider
		program, words string // what is refused; "--" tells get-role from get-role-policy, and get-policy from get-policy-version
		arguments      []string
		changes        bool // whether link.sh may change something before the refused command
	}{
		{posture.AWS, "aws", "iam get-role --", nil, false},
		{posture.AWS, "aws", "iam get-role --", []string{"--cloudformation"}, false},
		{posture.AWS, "aws", "iam get-role-policy", nil, true},
		{posture.AWS, "aws", "iam get-policy --", nil, true},
		{posture.Azure, "az", "ad sp show", nil, false},
		{posture.Azure, "az", "ad app permission list", nil, false},
		{posture.GCP, "gcloud", "iam service-accounts describe", nil, true},
		{posture.GCP, "gcloud", "iam roles describe", nil, true},
	} {
		t.Run(strings.Join(append([]string{c.words}, c.arguments...), " "), func(t *testing.T) {
			t.Parallel()
			d := newScriptFixture(t)
			id := d.customers()[c.p][0]
			refusal := "An error occurred (AccessDenied)"
			if c.p == posture.GCP {
				refusal = deniedByGoogle
			}
			d.mustRun(c.p, "link.sh", append(c.arguments, id)...)
			d.override(c.program, c.words, fmt.Sprintf("echo %q >&2; exit 254", refusal))
			d.Calls() // forget the earlier calls
			printed, err := d.bash(c.p, "link.sh", append(c.arguments, id)...)
			if err == nil || !strings.Contains(printed, refusal) {
				t.Errorf("%v\n%s", err, printed)
			}
			if !c.changes {
				for _, call := range d.Calls() {
					if !isReadOnly(call) {
						t.Errorf("%s runs\n%s", call, printed)
					}
				}
			}
			d.override(c.program, c.words, "exec \"$0-simulated\" \"$@\"")
			d.mustRun(c.p, "link.sh", append(c.arguments, id)...)
		})
	}
}

// TestSetupFailsWhenDestinationsCannotBeRead checks that setup.sh does not try to create what it may
// not read, and works again when it may.
func TestSetupFailsWhenDestinationsCannotBeRead(t *testing.T) {
	t.Parallel()
	const denied = "An error occurred (AccessDeniedException)"
	for words, next := range map[string]string{
		"events describe-connection": "events create-connection", "events describe-api-destination": "events create-api-destination",
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			d := newScriptFixture(t)
			id := d.customers()[posture.AWS][0]
			d.mustRun(posture.AWS, "link.sh", id)
			d.override("aws", words, fmt.Sprintf("echo %q >&2; exit 254", denied))
			printed, err := d.bash(posture.AWS, "setup.sh", "--api-destination", id)
			if err == nil || !strings.Contains(printed, denied) || strings.Contains(printed, "+ aws "+next) {
				t.Errorf("%v\n%s", err, printed)
			}
			d.override("aws", words, "exec \"$0-simulated\" \"$@\"")
			d.mustRun(posture.AWS, "setup.sh", "--api-destination", id)
		})
	}
}

// TestGoogleSetupFailsWhenObjectsCannotBeRead checks that setup.sh does not try to create what it
// may not read.
func TestGoogleSetupFailsWhenObjectsCannotBeRead(t *testing.T) {
	t.Parallel()
	for words, next := range map[string]string{
		"pubsub topics describe": "pubsub topics create", "logging sinks describe": "logging sinks create",
		"iam service-accounts describe": "iam service-accounts create", "pubsub subscriptions describe": "pubsub subscriptions create",
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			d := newScriptFixture(t)
			id := d.customers()[posture.GCP][0]
			d.mustRun(posture.GCP, "link.sh", id)
			d.override("gcloud", words, fmt.Sprintf("echo %q >&2; exit 1", deniedByGoogle))
			d.Calls()
			printed, err := d.bash(posture.GCP, "setup.sh", id)
			if err == nil || !strings.Contains(printed, deniedByGoogle) || strings.Contains(printed, "+ gcloud "+next) {
				t.Errorf("%v\n%s", err, printed)
			}
			d.override("gcloud", words, "exec \"$0-simulated\" \"$@\"")
			d.mustRun(posture.GCP, "setup.sh", id)
		})
	}
}

// TestGoogleDryRunWithDisabledService checks that a dry run of setup.sh prints what a run would
// create in a project whose services are not enabled yet.
func TestGoogleDryRunWithDisabledService(t *testing.T) {
	t.Parallel()
	d := newScriptFixture(t)
	id := d.customers()[posture.GCP][0]
	d.override("gcloud", "pubsub topics describe", "echo 'ERROR: (gcloud.pubsub.topics.describe) PERMISSION_DENIED: Cloud Pub/Sub API has not been used in project 1 before or it is disabled.' >&2; exit 1")
	printed, err := d.bash(posture.GCP, "setup.sh", "--dry-run", id)
	if err != nil || !strings.Contains(printed, "+ gcloud pubsub topics create") {
		t.Errorf("%v\n%s", err, printed)
	}
}

// TestGoogleServiceAccountIsCreated checks that setup.sh understands the error for a service account
// that does not exist. This error differs from those for other objects.
func TestGoogleServiceAccountIsCreated(t *testing.T) {
	t.Parallel()
	d := newScriptFixture(t)
	id := d.customers()[posture.GCP][0]
	d.override("gcloud", "iam service-accounts describe", "echo 'ERROR: (gcloud.iam.service-accounts.describe) NOT_FOUND: Unknown service account. This command is authenticated as admin.' >&2; exit 1")
	printed, err := d.bash(posture.GCP, "setup.sh", "--dry-run", id)
	if err != nil || !strings.Contains(printed, "+ gcloud iam service-accounts create") {
		t.Errorf("%v\n%s", err, printed)
	}
}
