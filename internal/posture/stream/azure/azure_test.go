package azure_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/stream/azure"
	"vigil/internal/posture/stream/change"
	"vigil/internal/posture/stream/refusal"
	"vigil/internal/posture/stream/streamtest"
	"vigil/internal/sim/events"
)

const (
	subscription = "6f9619ff-8b86-4011-b42d-00c04fc964ff"
	other        = "11111111-8b86-4011-b42d-00c04fc964ff"
	group        = "/subscriptions/" + subscription + "/resourceGroups/Shop"
	nsg          = group + "/providers/Microsoft.Network/networkSecurityGroups/web"
	rule         = nsg + "/securityRules/ssh"
	secret       = posture.StreamSecret("the-secret-of-this-subscription")
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

func declare(t posture.EntityType, sources ...string) collect.Declaration {
	d := collect.Declaration{Type: t, Declared: declared.Catalog().Type(t)}
	for _, s := range sources {
		d.Events = append(d.Events, collect.Event{Source: s, Names: []string{"write", "delete"}})
	}
	return d
}

var index = change.NewIndex([]collect.Declaration{
	declare("Azure.Network.NetworkSecurityGroup", "Microsoft.Network/networkSecurityGroups", "Microsoft.Network/networkSecurityGroups/securityRules"),
	declare("Azure.Network.CidrRange", "Microsoft.Network/networkSecurityGroups"),
	declare("Azure.Subscription.Subscription", "Microsoft.Resources/subscriptions", "Microsoft.Insights/diagnosticSettings"),
	declare("Azure.KeyVault.Vault", "Microsoft.KeyVault/vaults", "Microsoft.Insights/diagnosticSettings"),
	declare("Azure.Storage.StorageAccount", "Microsoft.Storage/storageAccounts"),
	declare("Azure.Authorization.RoleAssignment", "Microsoft.Authorization/roleAssignments"),
	declare("Azure.Authorization.Principal", "Microsoft.Authorization/roleAssignments"),
})

func newVerifier() *azure.Verifier {
	return azure.NewVerifier(streamtest.Streams{
		secret:  {Org: "org", Account: subscription, Provider: posture.Azure, Handle: "h1"},
		"other": {Org: "org", Account: other, Provider: posture.Azure, Handle: "h2"},
		"aws":   {Org: "org", Account: "123456789012", Provider: posture.AWS, Handle: "h3"},
	}, index, clock)
}

func write() events.Operation {
	return events.NewOperation(subscription, rule, "Microsoft.Network/networkSecurityGroups/securityRules/write", now)
}

func TestAllFormatsAreAccepted(t *testing.T) {
	t.Parallel()
	verifier := newVerifier()
	binary := func(o events.Operation) (http.Header, []byte) { return o.Binary() }
	withoutHeader := func(f func(events.Operation) []byte) func(events.Operation) (http.Header, []byte) {
		return func(o events.Operation) (http.Header, []byte) { return http.Header{}, f(o) }
	}
	for name, form := range map[string]func(events.Operation) (http.Header, []byte){
		"classic":     withoutHeader(events.Operation.Classic),
		"common":      withoutHeader(events.Operation.Common),
		"grid":        withoutHeader(func(o events.Operation) []byte { return events.GridBatch(o) }),
		"cloud event": withoutHeader(events.Operation.CloudEvent),
		"binary":      binary,
		"batch of cloud events": withoutHeader(func(o events.Operation) []byte {
			return []byte("[" + string(o.CloudEvent()) + "]")
		}),
	} {
		o := write()
		h, body := form(o)
		got, err := verifier.Verify(t.Context(), secret, h, body)
		if err != nil || len(got.Messages) != 1 {
			t.Errorf("%s: %v, %v; want one message", name, got, err)
			continue
		}
		m := got.Messages[0]
		want := []posture.Target{
			{Type: "Azure.Network.NetworkSecurityGroup", Region: "global", Name: rule},
			{Type: "Azure.Network.NetworkSecurityGroup", Region: "global", Name: nsg},
			{Type: "Azure.Network.CidrRange", Region: "global", Name: nsg},
		}
		if diff := cmp.Diff(want, m.Target); diff != "" || m.ID != "azure "+o.ID || !m.Time.Equal(now) || m.Signal != posture.SignalEvent || m.ChangeOrigin != (posture.ChangeOrigin{Actor: "operator@example.com", Operation: o.Name}) {
			t.Errorf("%s: %+v (-want +got):\n%s", name, m, diff)
		}
	}
}

func TestAllEventsOfABatchAreRead(t *testing.T) {
	t.Parallel()
	var operations []events.Operation
	for i := range 50 {
		operations = append(operations, events.NewOperation(subscription, fmt.Sprintf("%s%d", nsg, i), "Microsoft.Network/networkSecurityGroups/write", now))
	}
	got, err := newVerifier().Verify(t.Context(), secret, http.Header{"Aeg-Event-Type": {"Notification"}}, events.GridBatch(operations...))
	if err != nil || len(got.Messages) != 50 {
		t.Errorf("%d messages, %v", len(got.Messages), err)
	}
}

// TestStaleEventsOfABatchAreSkipped checks that fresh events are read from a batch with
// stale ones: Event Grid retries for a day, and sends together what it has.
func TestStaleEventsOfABatchAreSkipped(t *testing.T) {
	t.Parallel()
	const stale = time.Hour + time.Second
	for name, tt := range map[string]struct {
		ages  []time.Duration // of the events
		fresh []int           // indexes of the events that are read
	}{
		"the first is stale":          {[]time.Duration{stale, 0, time.Hour}, []int{1, 2}},
		"the last is stale":           {[]time.Duration{0, 24 * time.Hour}, []int{0}},
		"most are stale":              {[]time.Duration{stale, stale, time.Minute, stale}, []int{2}},
		"the last is from the future": {[]time.Duration{0, -stale}, []int{0}},
		"none is stale":               {[]time.Duration{0, time.Hour, -time.Hour}, []int{0, 1, 2}},
	} {
		var batch []events.Operation
		for i, age := range tt.ages {
			batch = append(batch, operation(subscription, fmt.Sprintf("%s%d", nsg, i), now.Add(-age)))
		}
		var want, got []string
		for _, i := range tt.fresh {
			want = append(want, "azure "+batch[i].ID)
		}
		verified, err := newVerifier().Verify(t.Context(), secret, nil, events.GridBatch(batch...))
		for _, m := range verified.Messages {
			got = append(got, m.ID)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" || verified.Stale != len(tt.ages)-len(tt.fresh) {
			t.Errorf("%s: %d stale, %v (-want +got):\n%s", name, verified.Stale, err, diff)
		}
	}
}

// TestEveryStaleEventIsCounted has a batch of stale events only: the error counts as one of them.
func TestEveryStaleEventIsCounted(t *testing.T) {
	t.Parallel()
	old := operation(subscription, nsg, now.Add(-2*time.Hour))
	got, err := newVerifier().Verify(t.Context(), secret, nil, events.GridBatch(old, old, old))
	if refusal.ReasonOf(err) != refusal.Stale || got.Stale != 2 {
		t.Errorf("%d stale events without the one of the error, %v; want 2 and that the message is stale", got.Stale, err)
	}
}

// TestStaleValidationOfABatchIsSkipped checks that an old validation has no answer.
func TestStaleValidationOfABatchIsSkipped(t *testing.T) {
	t.Parallel()
	old, fresh := validation(subscription, now.Add(-2*time.Hour)), events.GridBatch(write())
	body := "[" + strings.Trim(string(old), "[]") + "," + strings.Trim(string(fresh), "[]") + "]"
	got, err := newVerifier().Verify(t.Context(), secret, nil, []byte(body))
	if err != nil || got.Validation != "" || len(got.Messages) != 1 || got.Stale != 1 {
		t.Errorf("Verify = %+v, %v; want one message, and one that is stale", got, err)
	}
}

func TestMessagesAboutTheStreamItself(t *testing.T) {
	t.Parallel()
	verifier := newVerifier()
	h, validation := events.Validation(subscription, "code-1", now)
	for _, tt := range []struct {
		name   string
		h      http.Header
		body   []byte
		signal posture.StreamSignal
		code   string
	}{
		{"validation", h, validation, posture.SignalConnected, "code-1"},
		{"deleted", nil, events.Deleted(subscription, now), posture.SignalDisconnected, ""},
		{"ready", nil, events.NewOperation(subscription, "", azure.OperationReady, now).Classic(), posture.SignalConnected, ""},
		{"not ready", nil, events.NewOperation(subscription, "", azure.OperationNotReady, now).Classic(), posture.SignalDisconnected, ""},
		{"ready in the common schema", nil, events.NewOperation(subscription, "", azure.OperationReady, now).Common(), posture.SignalConnected, ""},
	} {
		got, err := verifier.Verify(t.Context(), secret, tt.h, tt.body)
		if err != nil || len(got.Messages) != 1 || got.Messages[0].Signal != tt.signal || got.Validation != tt.code || len(got.Messages[0].Target) != 0 {
			t.Errorf("%s: %+v, %v; want one message with the signal %v and the code %q", tt.name, got, err, tt.signal, tt.code)
		}
	}
}

// TestValidationWithoutACodeIsRefused checks that the error names the missing code, not the schema, which is known.
func TestValidationWithoutACodeIsRefused(t *testing.T) {
	t.Parallel()
	h, body := events.Validation(subscription, "", now)
	_, err := newVerifier().Verify(t.Context(), secret, h, body)
	if refusal.ReasonOf(err) != refusal.Malformed || !strings.Contains(err.Error(), "without a validation code") {
		t.Errorf("the error is %v", err)
	}
}

func TestOperationsNameTheirResources(t *testing.T) {
	t.Parallel()
	verifier := newVerifier()
	vault := group + "/providers/Microsoft.KeyVault/vaults/v"
	account := group + "/providers/Microsoft.Storage/storageAccounts/a"
	assignment := "/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleAssignments/r"
	for _, tt := range []struct {
		resource, operation string
		want                []posture.Target
	}{
		{nsg, "Microsoft.Network/networkSecurityGroups/delete", []posture.Target{
			{Type: "Azure.Network.NetworkSecurityGroup", Region: "global", Name: nsg}, {Type: "Azure.Network.CidrRange", Region: "global", Name: nsg},
		}},
		// The subscription is read too: its declaration names diagnostic settings, and it is a parent of these.
		{strings.ToLower(vault) + "/providers/microsoft.insights/diagnosticSettings/d", "microsoft.insights/diagnosticSettings/write", []posture.Target{
			{Type: "Azure.Subscription.Subscription", Region: "global", Name: strings.ToLower(vault) + "/providers/microsoft.insights/diagnosticSettings/d"},
			{Type: "Azure.KeyVault.Vault", Region: "global", Name: strings.ToLower(vault) + "/providers/microsoft.insights/diagnosticSettings/d"},
			{Type: "Azure.KeyVault.Vault", Region: "global", Name: strings.ToLower(vault)},
		}},
		{account + "/blobServices/default/containers/c", "Microsoft.Storage/storageAccounts/blobServices/containers/write", []posture.Target{
			{Type: "Azure.Storage.StorageAccount", Region: "global", Name: account},
		}},
		{account, "Microsoft.Storage/storageAccounts/regenerateKey/action", []posture.Target{
			{Type: "Azure.Storage.StorageAccount", Region: "global", Name: account},
		}},
		{assignment, "Microsoft.Authorization/roleAssignments/delete", []posture.Target{
			{Type: "Azure.Authorization.RoleAssignment", Region: "global", Name: assignment}, {Type: "Azure.Authorization.Principal", Region: "global"},
		}},
		{group + "/providers/Microsoft.Nothing/things/t", "Microsoft.Nothing/things/write", nil},
	} {
		got, err := verifier.Verify(t.Context(), secret, nil, events.NewOperation(subscription, tt.resource, tt.operation, now).Classic())
		if err != nil {
			t.Errorf("%s: %v", tt.operation, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got.Messages[0].Target); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.operation, diff)
		}
	}
}

func TestIDsAreThoseOfTheCollector(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		t    posture.Target
		want posture.EntityID
	}{
		{posture.Target{Type: "Azure.Network.NetworkSecurityGroup", Name: rule}, "Azure.Network." + subscription + ".shop.NetworkSecurityGroup.web"},
		{posture.Target{Type: "Azure.Subscription.Subscription", Name: nsg}, "Azure.Subscription." + subscription + ".global.Subscription." + subscription},
		{posture.Target{Type: "Azure.Authorization.RoleAssignment", Name: "/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleAssignments/R"},
			"Azure.Authorization." + subscription + ".global.RoleAssignment.r"},
	} {
		got := azure.IDs(index, subscription, tt.t)
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("%v = %v, want %s", tt.t, got, tt.want)
		}
	}
}

// edit decodes a body, changes it and encodes it again.
func edit(body []byte, f func(m map[string]any)) []byte {
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		panic(err)
	}
	f(m)
	out, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return out
}

func activity(m map[string]any) map[string]any {
	return m["data"].(map[string]any)["context"].(map[string]any)["activityLog"].(map[string]any)
}

func operation(sub, resource string, at time.Time) events.Operation {
	return events.NewOperation(sub, resource, "Microsoft.Network/networkSecurityGroups/write", at)
}

var foreign = strings.Replace(nsg, subscription, other, 1)

// header returns the headers of a binary cloud event, one of them changed.
func header(name, value string) http.Header {
	h, _ := write().Binary()
	h.Set(name, value)
	return h
}

func validation(sub string, at time.Time) []byte {
	_, body := events.Validation(sub, "code", at)
	return body
}

// data returns the body of a binary cloud event.
func data() []byte {
	_, body := write().Binary()
	return body
}

var forgeries = []struct {
	name   string
	secret posture.StreamSecret
	reason refusal.Reason
	h      http.Header
	body   []byte
}{
	{"no secret", "", refusal.Unsigned, nil, write().Classic()},
	{"a made-up secret", "made-up", refusal.Unknown, nil, write().Classic()},
	{"the secret in other case", posture.StreamSecret(strings.ToUpper(secret.Reveal())), refusal.Unknown, nil, write().Classic()},
	{"the secret with a space", secret + " ", refusal.Unknown, nil, write().Classic()},
	{"part of the secret", secret[:10], refusal.Unknown, nil, write().Classic()},
	{"the hash of the secret", func() posture.StreamSecret { d := secret.Digest(); return posture.StreamSecret(d[:]) }(), refusal.Unknown, nil, write().Classic()},
	{"a secret of an AWS stream", "aws", refusal.Unknown, nil, write().Classic()},
	{"the subscription's id as a secret", subscription, refusal.Unknown, nil, write().Classic()},
	{"another subscription's secret, classic", "other", refusal.Foreign, nil, write().Classic()},
	{"another subscription's secret, common", "other", refusal.Foreign, nil, write().Common()},
	{"another subscription's secret, grid", "other", refusal.Foreign, nil, events.GridBatch(write())},
	{"another subscription's secret, cloud event", "other", refusal.Foreign, nil, write().CloudEvent()},
	// The changed Ce-Id has no effect: header must change some header.
	{"another subscription's secret, binary", "other", refusal.Foreign, header("Ce-Id", "1"), data()},
	{"another subscription's secret, validation", "other", refusal.Foreign, nil, validation(subscription, now)},
	{"another subscription's secret, deletion", "other", refusal.Foreign, nil, events.Deleted(subscription, now)},
	{"another subscription's secret, ready", "other", refusal.Foreign, nil, events.NewOperation(subscription, "", azure.OperationReady, now).Classic()},
	{"resource of another subscription", secret, refusal.Foreign, nil, operation(subscription, foreign, now).Classic()},
	{"topic of another subscription", secret, refusal.Foreign, nil, []byte("[" + string(edit(write().CloudEvent(), func(m map[string]any) {
		m["source"] = "/subscriptions/" + other
	})) + "]")},
	{"a batch with an event of another subscription", secret, refusal.Foreign, nil, events.GridBatch(write(), operation(other, foreign, now))},
	{"without a subscription", secret, refusal.Foreign, nil, edit(write().Classic(), func(m map[string]any) {
		a := activity(m)
		delete(a, "subscriptionId")
		delete(a, "resourceId")
		delete(a, "authorization")
	})},
	{"an invalid resource id", secret, refusal.Foreign, nil, operation("", "subscriptions", now).Classic()},
	{"an hour and a second old, classic", secret, refusal.Stale, nil, operation(subscription, nsg, now.Add(-time.Hour-time.Second)).Classic()},
	{"an hour and a second old, common", secret, refusal.Stale, nil, operation(subscription, nsg, now.Add(-time.Hour-time.Second)).Common()},
	{"an hour and a second old, grid", secret, refusal.Stale, nil, events.GridBatch(operation(subscription, nsg, now.Add(-time.Hour-time.Second)))},
	{"a batch of old events only", secret, refusal.Stale, nil, events.GridBatch(operation(subscription, nsg, now.Add(-3*time.Hour)), operation(subscription, nsg, now.Add(-2*time.Hour)))},
	{"a batch with an old event of another subscription", secret, refusal.Foreign, nil, events.GridBatch(write(), operation(other, foreign, now.Add(-2*time.Hour)))},
	{"a batch with an old event, with a made-up secret", "made-up", refusal.Unknown, nil, events.GridBatch(write(), operation(subscription, nsg, now.Add(-2*time.Hour)))},
	{"sent in the future", secret, refusal.Stale, nil, operation(subscription, nsg, now.Add(2*time.Hour)).CloudEvent()},
	{"old validation", secret, refusal.Stale, nil, validation(subscription, now.Add(-2*time.Hour))},
	{"old deletion", secret, refusal.Stale, nil, events.Deleted(subscription, now.Add(-2*time.Hour))},
	{"without a time", secret, refusal.Stale, nil, edit(write().Classic(), func(m map[string]any) { delete(activity(m), "eventTimestamp") })},
	{"an invalid time", secret, refusal.Malformed, nil, edit(write().Classic(), func(m map[string]any) { activity(m)["eventTimestamp"] = "yesterday" })},
	{"without an id", secret, refusal.Malformed, nil, edit(write().Classic(), func(m map[string]any) { delete(activity(m), "eventDataId") })},
	{"with a very long id", secret, refusal.Malformed, nil, edit(write().Classic(), func(m map[string]any) { activity(m)["eventDataId"] = strings.Repeat("x", 600) })},
	{"validation without a code", secret, refusal.Malformed, nil, []byte(strings.Replace(string(validation(subscription, now)), `"code"`, `""`, 1))},
	{"binary without a time", secret, refusal.Malformed, header("Ce-Time", ""), data()},
	{"binary without an id", secret, refusal.Malformed, header("Ce-Id", ""), data()},
	{"binary of another source", secret, refusal.Foreign, header("Ce-Source", "/subscriptions/"+other), data()},
	{"another schema", secret, refusal.Malformed, nil, []byte(`{"schemaId":"AzureMonitorMetricAlert","data":{}}`)},
	// Unlike the classic schema, the common schema requires no member: the message is well-formed, but about no subscription.
	{"common schema and nothing in it", secret, refusal.Foreign, nil, []byte(`{"schemaId":"azureMonitorCommonAlertSchema","data":{"essentials":{},"alertContext":{}}}`)},
	{"classic schema and nothing in it", secret, refusal.Malformed, nil, []byte(`{"schemaId":"Microsoft.Insights/activityLogs","data":{}}`)},
	{"an empty list", secret, refusal.Malformed, nil, []byte(`[]`)},
	{"a list of lists", secret, refusal.Malformed, nil, []byte(`[[]]`)},
	{"an empty object", secret, refusal.Malformed, nil, []byte(`{}`)},
	{"a number", secret, refusal.Malformed, nil, []byte(`1`)},
	{"garbage", secret, refusal.Malformed, nil, []byte("garbage")},
	{"nothing", secret, refusal.Malformed, nil, nil},
	{"a message of AWS", secret, refusal.Malformed, nil, []byte(`{"Type":"Notification","TopicArn":"arn:aws:sns:us-east-1:123456789012:x"}`)},
}

func TestForgeriesAreRefused(t *testing.T) {
	t.Parallel()
	verifier := newVerifier()
	seen := map[string]bool{}
	for _, f := range forgeries {
		if seen[f.name] {
			t.Errorf("two forgeries have the name %s", f.name)
		}
		seen[f.name] = true
		o, err := verifier.Verify(t.Context(), f.secret, f.h, f.body)
		if err == nil {
			t.Errorf("%s: it was accepted: %+v", f.name, o)
			continue
		}
		streamtest.CheckRefusal(t, f.name, err, f.reason)
		if strings.Contains(err.Error(), secret.Reveal()) {
			t.Errorf("%s: the error contains the secret", f.name)
		}
	}
	if len(seen) < 30 {
		t.Errorf("only %d forgeries", len(seen))
	}
}

func FuzzVerify(f *testing.F) {
	for _, body := range [][]byte{
		write().Classic(), write().Common(), events.GridBatch(write(), write()), write().CloudEvent(), validation(subscription, now), events.Deleted(subscription, now),
	} {
		f.Add("", body)
	}
	f.Add("1.0", data())
	verifier := newVerifier()
	f.Fuzz(func(t *testing.T, version string, body []byte) {
		h, _ := write().Binary()
		h.Del("Ce-Specversion")
		if version != "" {
			h.Set("Ce-Specversion", version)
		}
		if _, err := verifier.Verify(t.Context(), "made-up", h, body); err == nil {
			t.Fatal("it was accepted without the secret")
		}
		o, err := verifier.Verify(t.Context(), secret, h, body)
		if err != nil {
			return
		}
		for _, m := range o.Messages {
			if m.ID == "" || m.Time.IsZero() {
				t.Fatalf("a message without an id or a time: %+v", m)
			}
		}
	})
}
