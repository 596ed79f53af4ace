package gcp_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/collecttest"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/collect/gcp"
	"vigil/internal/sim/gateway"
	simgcp "vigil/internal/sim/gcp"
)

// keyOf returns a credential's key file with changed members.
func keyOf(t *testing.T, c simgcp.Credential, changes map[string]string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(c.Key)
	if err != nil {
		t.Fatal(err)
	}
	file := map[string]string{}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for name, value := range changes {
		file[name] = value
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(text)
}

// member returns a member of a key file.
func member(t *testing.T, c simgcp.Credential, name string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(c.Key)
	if err != nil {
		t.Fatal(err)
	}
	file := map[string]string{}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file[name]
}

func TestValidate(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Projects: 2})
	reader := c.Reader()
	with := func(changes map[string]string) posture.Access {
		a := c.access(0)
		a.Secrets = posture.Secrets{posture.PropServiceAccountKey: keyOf(t, reader, changes)}
		return a
	}
	elsewhere := c.access(0)
	elsewhere.Account.ID = "no-such-project-1"
	renamed := c.access(0)
	renamed.Credential.Properties = []posture.Property{posture.Text(posture.PropServiceAccountEmail, "other@example.com")}
	other := member(t, c.Limited("other"), "private_key")
	for name, tt := range map[string]struct {
		access posture.Access
		want   posture.AccountStatus
		reason string
	}{
		"all is well":              {c.access(0), posture.AccountActive, ""},
		"another project":          {c.access(1), posture.AccountActive, ""},
		"denied":                   {c.Projects()[0].Access("org", c.Denied()), posture.AccountDenyAccess, "roles/viewer"},
		"may only see the project": {c.Projects()[0].Access("org", c.Limited("blind", "resourcemanager.projects.get")), posture.AccountDenyAccess, "compute.instances.list"},
		"no such project":          {elsewhere, posture.AccountDenyAccess, "no-such-project-1"},
		"another email in the key": {with(map[string]string{"client_email": reader.Email + ".example.com"}), posture.AccountValidationFailed, "not to"},
		"another account's key":    {with(map[string]string{"private_key": other}), posture.AccountValidationFailed, "make a new key"},
		"a key that was deleted":   {with(map[string]string{"private_key_id": strings.Repeat("0", 40)}), posture.AccountValidationFailed, "make a new key"},
		"a key that is no key":     {with(map[string]string{"private_key": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}), posture.AccountValidationFailed, "private_key"},
		"tokens from elsewhere":    {with(map[string]string{"token_uri": "https://evil.example.com/token"}), posture.AccountValidationFailed, "token_uri"},
		"tokens from another path": {with(map[string]string{"token_uri": "https://oauth2.googleapis.com/token?x="}), posture.AccountValidationFailed, "token_uri"},
		"another kind of key":      {with(map[string]string{"type": "external_account"}), posture.AccountValidationFailed, "service account"},
		"another email configured": {renamed, posture.AccountValidationFailed, "other@example.com"},
	} {
		status, reason, err := c.source().Validate(t.Context(), tt.access)
		if err != nil || status != tt.want || !strings.Contains(reason, tt.reason) || (reason == "") != (tt.want == posture.AccountActive) {
			t.Errorf("%s: %q, %q, %v; want %s, %q", name, status, reason, err, tt.want, tt.reason)
		}
		if strings.Contains(reason, "PRIVATE KEY") {
			t.Errorf("%s: the key is shown: %s", name, reason)
		}
	}
	unknown := c.access(0)
	unknown.Credential.Properties = nil
	unknown.Secrets = posture.Secrets{posture.PropServiceAccountKey: keyOf(t, reader, map[string]string{"client_email": "nobody@example.com"})}
	if status, reason, err := c.source().Validate(t.Context(), unknown); status != posture.AccountValidationFailed || !strings.Contains(reason, "does not exist") || err != nil {
		t.Errorf("an unknown account: %q, %q, %v", status, reason, err)
	}
}

func TestValidateUnreachableCloud(t *testing.T) {
	t.Parallel()
	for _, kind := range []gateway.Kind{gateway.Fail, gateway.Reset, gateway.Garbage, gateway.Half, gateway.Throttle} {
		for _, method := range []string{"oauth2.token", "cloudresourcemanager.projects.get"} {
			c := start(t, simgcp.Options{})
			c.fault(t, method, gateway.Fault{Kind: kind})
			if status, reason, err := c.source().Validate(t.Context(), c.access(0)); err == nil || status != "" {
				t.Errorf("%s of %s: %q, %q, %v; want an error and no status", kind, method, status, reason, err)
			}
		}
	}
	c := start(t, simgcp.Options{})
	c.fault(t, "cloudresourcemanager.*", gateway.Fault{Kind: gateway.Off})
	status, reason, err := c.source().Validate(t.Context(), c.access(0))
	if status != posture.AccountDenyAccess || !strings.Contains(reason, "Cloud Resource Manager API is not enabled") || err != nil {
		t.Errorf("the API is off: %q, %q, %v", status, reason, err)
	}
	if strings.Contains(reason, "Grant") || !strings.Contains(reason, "Enable the API") {
		t.Errorf("the API is off, and the advice is: %s", reason)
	}
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Projects: 7, Page: 3})
	parse := func(text string) posture.ServiceAccountKey {
		key, problem := posture.ParseServiceAccountKey(text)
		if problem != "" {
			t.Fatal(problem)
		}
		return key
	}
	projects, err := c.source().Discover(t.Context(), parse(c.Reader().Key))
	if err != nil || len(projects) != 7 {
		t.Fatalf("%d projects, %v", len(projects), err)
	}
	for i, p := range projects {
		want := c.Projects()[i]
		got := posture.Project{ID: p.ID, Number: p.Number, Name: p.Name, State: p.State}
		if diff := cmp.Diff(posture.Project{ID: want.ID, Number: want.Number, Name: want.Name, State: "ACTIVE"}, got); diff != "" {
			t.Error(diff)
		}
		if p.Labels["env"] == "" || p.Created.IsZero() || p.Created.Location() != time.UTC {
			t.Errorf("labels %v, created %v", p.Labels, p.Created)
		}
	}
	if projects, err := c.source().Discover(t.Context(), parse(c.Denied().Key)); err != nil || len(projects) != 0 || projects == nil {
		t.Errorf("an account without projects: %v, %v", projects, err)
	}
	for name, key := range map[string]string{
		"unknown":   keyOf(t, c.Reader(), map[string]string{"client_email": "nobody@example.com", "private_key_id": strings.Repeat("0", 40)}),
		"elsewhere": keyOf(t, c.Reader(), map[string]string{"token_uri": "https://example.com"}),
	} {
		if projects, err := c.source().Discover(t.Context(), parse(key)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, %v; want an invalid key", name, projects, err)
		}
	}
	c.fault(t, "cloudresourcemanager.projects.list", gateway.Fault{Kind: gateway.Fail})
	if _, err := c.source().Discover(t.Context(), parse(c.Reader().Key)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Discover while the list fails: %v, want an error of the kind Unavailable", err)
	}
}

// TestRoleIsMinimal reads with exactly the role that customers grant and checks that every
// permission of the role is needed by some call that was made or that a type declares.
func TestRoleIsMinimal(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 5, Size: 60})
	want := collecttest.All(t, c.source(), c.access(0))
	got := collecttest.All(t, c.source(), c.Projects()[0].Access("org", c.Limited("exact", gcp.Permissions()...)))
	if diff := cmp.Diff(want.Entities, got.Entities); diff != "" || len(got.Failures) > 0 || len(got.Problems) > 0 {
		t.Errorf("with the role (-all +role):\n%s\n%v %v", diff, got.Failures, got.Problems)
	}
	needed, permissions := map[string]bool{}, simgcp.Methods()
	for call := range c.faults.Calls() {
		needed[permissions[call.Service+"."+call.Action]] = true
	}
	for _, typ := range declared.Catalog().Of(posture.GCP) {
		for r := range declared.Catalog().Requests(typ) {
			if r.Call != "" {
				needed[permissions[methodOf(typ, r.Call)]] = true
			}
		}
	}
	variants := []string{"compute.global", "compute.region"} // the simulated cloud does not distinguish these
	for _, p := range gcp.Permissions() {
		if !needed[p] && !slices.ContainsFunc(variants, func(v string) bool { return strings.HasPrefix(p, v) }) {
			t.Errorf("no call needs %s", p)
		}
	}
}

// TestDeclaredPermissionsSuffice reads each type with only its declared permissions.
func TestDeclaredPermissionsSuffice(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 5, Size: 60})
	for _, d := range c.source().Declarations() {
		credential := c.Limited("only", append([]string{"resourcemanager.projects.get"}, d.Permissions...)...)
		got := collecttest.All(t, c.source(), c.Projects()[0].Access("org", credential), d.Type)
		if len(got.Failures) > 0 || len(got.Problems) > 0 || len(got.Entities) == 0 {
			t.Errorf("%s with %v: %d read, %v %v", d.Type, d.Permissions, len(got.Entities), got.Failures, got.Problems)
		}
	}
}

// TestDeniedCallsLeavePropertiesUnknown removes one permission at a time. Values
// that need it must be unknown and name it. Nothing may become absent, and
// everything else must be unchanged.
func TestDeniedCallsLeavePropertiesUnknown(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 5, Size: 60})
	complete := collecttest.All(t, c.source(), c.access(0))
	simulated := map[string]bool{}
	for _, p := range simgcp.Methods() {
		simulated[p] = true
	}
	for _, missing := range gcp.Permissions() {
		if missing == "resourcemanager.projects.get" || !simulated[missing] {
			continue // the first is needed to open a project; the simulated cloud does not check the others
		}
		var types []posture.EntityType
		for _, d := range c.source().Declarations() {
			if slices.Contains(d.Permissions, missing) {
				types = append(types, d.Type)
			}
		}
		all := slices.DeleteFunc(gcp.Permissions(), func(p string) bool { return p == missing })
		got := collecttest.All(t, c.source(), c.Projects()[0].Access("org", c.Limited("nearly", all...)), types...)
		complaints := 0
		for _, kind := range types {
			problems := slices.Concat(got.Problems[kind], got.Failures[kind])
			for _, problem := range problems {
				if denied, ok := errors.AsType[*collect.DeniedError](problem); !ok || denied.Permission != missing || !errors.Is(problem, collect.ErrDenied) {
					t.Errorf("without %s: %s: %v", missing, kind, problem)
				}
			}
			complaints += len(problems)
			// Calls other than lists may be made for no resource of a type. Deny policies are
			// read only for resources that would otherwise be public or privileged.
			if len(problems) == 0 && strings.HasSuffix(missing, ".list") && missing != "iam.denypolicies.list" {
				t.Errorf("without %s: %s reports no error", missing, kind)
			}
			if got.Failures[kind] == nil {
				checkUnknown(t, missing, complete.EntitiesOf(kind), got)
			}
		}
		// Many permissions of single reads are needed only after an event.
		if complaints == 0 && !strings.HasSuffix(missing, ".get") {
			t.Errorf("no type reports an error without %s", missing)
		}
	}
}

// checkUnknown checks that entities are unchanged except for what could not be read.
func checkUnknown(t *testing.T, missing string, before []posture.Entity, got collecttest.Read) {
	t.Helper()
	for _, want := range before {
		e, ok := got.Entities[want.ID]
		if !ok {
			t.Errorf("without %s: %s is gone", missing, want.ID)
			continue
		}
		unknown := map[string]bool{}
		for _, p := range e.Properties {
			if p.Type == posture.UnknownProperty {
				unknown[p.Name] = true
				if !strings.Contains(p.Error, missing) {
					t.Errorf("without %s: %s of %s: %s", missing, p.Name, e.ID, p.Error)
				}
			}
		}
		knownProperties := func(all []posture.Property) []posture.Property {
			return slices.DeleteFunc(slices.Clone(all), func(p posture.Property) bool { return unknown[p.Name] })
		}
		if diff := cmp.Diff(knownProperties(want.Properties), knownProperties(e.Properties)); diff != "" {
			t.Errorf("without %s: %s (-before +now):\n%s", missing, e.ID, diff)
		}
		knownEdges := func(all []posture.Edge) []posture.Edge {
			return slices.DeleteFunc(slices.Clone(all), func(e posture.Edge) bool { return unknown[e.Label] })
		}
		if diff := cmp.Diff(knownEdges(want.Edges), knownEdges(e.Edges), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("without %s: edges of %s (-before +now):\n%s", missing, e.ID, diff)
		}
	}
}
