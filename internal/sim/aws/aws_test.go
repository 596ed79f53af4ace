package aws

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gateway/gatewaytest"
	"vigil/internal/sim/world"
)

// serve runs a cloud behind a gateway and returns a client that connects to it.
func serve(t *testing.T, o Options) (*Cloud, *http.Client) {
	t.Helper()
	g := gatewaytest.Listen(t)
	c := New(o, g.Faults)
	for _, host := range Hosts {
		g.Handle(host, c)
	}
	c.Administer(g.Admin)
	gatewaytest.Serve(t, g)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(g.CA())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, g.Address())
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return c, &http.Client{Transport: transport}
}

// send sends a call in the query protocol.
func send(t *testing.T, client *http.Client, service, key, token string, form url.Values) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+service+".us-east-1.amazonaws.com/", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Amz-Security-Token", token)
	if key != "" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/20261115/us-east-1/"+service+"/aws4_request, SignedHeaders=host, Signature=x")
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestCallsNeedAValidSession(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c, client := serve(t, Options{Seed: 1, Now: func() time.Time { return now }})
	identity, _ := c.Identity()
	a := c.Account(0)
	assume := url.Values{"Action": {"AssumeRole"}, "RoleArn": {a.RoleArn}, "ExternalId": {a.ExternalID}, "RoleSessionName": {"x"}, "DurationSeconds": {"900"}}
	status, body := send(t, client, "sts", identity, "", assume)
	if status != http.StatusOK {
		t.Fatal(body)
	}
	between := func(name string) string {
		_, after, _ := strings.Cut(body, "<"+name+">")
		value, _, _ := strings.Cut(after, "</"+name+">")
		return value
	}
	key, token := between("AccessKeyId"), between("SessionToken")
	forged := token[:len(token)-1] + "0"
	if forged == token {
		forged = token[:len(token)-1] + "1"
	}
	regions := url.Values{"Action": {"DescribeRegions"}}
	for name, test := range map[string]struct {
		key, token, want string // want: a part of the body
		status           int
	}{
		"the session": {key, token, "regionName", http.StatusOK},
		"no key":      {"", "", "MissingAuthenticationToken", http.StatusForbidden},
		"our own identity, which may call only STS": {identity, "", "AuthFailure", http.StatusUnauthorized},
		"a forged token":    {key, forged, "AuthFailure", http.StatusUnauthorized},
		"another key":       {"ASIAOTHER", token, "AuthFailure", http.StatusUnauthorized},
		"a malformed token": {key, "x", "AuthFailure", http.StatusUnauthorized},
	} {
		if status, body := send(t, client, "ec2", test.key, test.token, regions); status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	now = now.Add(16 * time.Minute)
	if _, body := send(t, client, "ec2", key, token, regions); !strings.Contains(body, "RequestExpired") {
		t.Errorf("after it expired: %s", body)
	}
	for name, form := range map[string]url.Values{
		"no external id":      {"Action": {"AssumeRole"}, "RoleArn": {a.RoleArn}},
		"another external id": {"Action": {"AssumeRole"}, "RoleArn": {a.RoleArn}, "ExternalId": {"guess"}},
		"an unknown account":  {"Action": {"AssumeRole"}, "RoleArn": {"arn:aws:iam::999999999999:role/vigil"}, "ExternalId": {a.ExternalID}},
	} {
		if status, body := send(t, client, "sts", identity, "", form); status != http.StatusForbidden || !strings.Contains(body, "AccessDenied") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

func TestResourcesDependOnTheSeed(t *testing.T) {
	t.Parallel()
	o := Options{Seed: 5, Size: 300, Shares: world.Shares{Default: 0.2}, Today: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}
	one, two := New(o, gateway.NewFaults()), New(o, gateway.NewFaults())
	if diff := cmp.Diff(one.Findings(one.Account(0).ID), two.Findings(two.Account(0).ID)); diff != "" {
		t.Error(diff)
	}
	o.Seed = 6
	other := New(o, gateway.NewFaults())
	if cmp.Equal(one.Findings(one.Account(0).ID), other.Findings(other.Account(0).ID)) {
		t.Error("another seed generates the same resources")
	}
}

func TestEveryResourceIsFoundByName(t *testing.T) {
	t.Parallel()
	c := New(Options{Seed: 9, Size: 2000}, gateway.NewFaults())
	account := c.Account(0).ID
	for _, kind := range c.inventory.kinds {
		for _, p := range []world.Place{{Account: account}, {Account: account, Region: "us-east-1"}, {Account: account, Region: "eu-west-1"}} {
			c.List(kind, p, 0, -1, func(name string, o world.Object) bool {
				second, ok := c.Get(kind, p, name)
				if !ok || !cmp.Equal(second, o, cmp.AllowUnexported(element{})) {
					t.Errorf("%s %s was not found again", kind.Type, name)
				}
				return true
			})
		}
	}
}

// TestMonitoringIsConsistent compares the ARNs of rules with their event buses, and the counts of metric
// filters with the filters.
func TestMonitoringIsConsistent(t *testing.T) {
	t.Parallel()
	c := New(Options{Seed: 1}, gateway.NewFaults())
	e, p := c.inventory, world.Place{Account: c.Account(0).ID, Region: "us-east-1"}
	for i := range e.eventRules.Count(p) {
		o := e.eventRules.Make(p, i)
		name := strings.TrimPrefix(o.Text("EventBusName")+"/", "default/") + o.Text("Name") // the ARN does not name the default bus
		if got, want := o.Text("Arn"), "arn:aws:events:us-east-1:"+p.Account+":rule/"+name; got != want {
			t.Errorf("the ARN of a rule is %s, want %s", got, want)
		}
	}
	filters := map[string]int64{}
	for i := range e.metricFilters.Count(p) {
		filters[e.metricFilters.Make(p, i).Text("logGroupName")]++
	}
	for i := range e.logGroups.Count(p) {
		o := e.logGroups.Make(p, i)
		if got, want := o.Number("metricFilterCount"), filters[o.Text("logGroupName")]; got != want {
			t.Errorf("%s has %d metric filters by its count, and %d in the list", o.Text("logGroupName"), got, want)
		}
	}
}

func TestCBORRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := world.Obj(
			"text", rapid.String().Draw(t, "text"), "number", rapid.Int64Range(-1<<53, 1<<53).Draw(t, "number"), "flag", rapid.Bool().Draw(t, "flag"),
			"list", world.Items(rapid.SliceOfN(rapid.String(), 0, 300).Draw(t, "list")...), "inner", world.Obj("a", int64(1)),
		)
		var b bytes.Buffer
		writeCBOR(&b, o)
		if diff := cmp.Diff(o, readCBOR(b.Bytes())); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestXMLIsEscapedAndNested(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	writeElement(&b, "Root", world.Obj("a", `<&">`, "none", nil, "list", world.Items("x", "y"), "own", listOf("Thing", world.Items(world.Obj("n", 1))),
		"unnamed", world.List{Of: world.Items(1)}, "flat", flatList(world.Items("p", "q")), "when", time.Unix(0, 0)), "member")
	want := `<Root><a>&lt;&amp;&#34;&gt;</a><list><member>x</member><member>y</member></list><own><Thing><n>1</n></Thing></own>` +
		`<unnamed><member>1</member></unnamed><flat>p</flat><flat>q</flat><when>1970-01-01T00:00:00Z</when></Root>`
	if b.String() != want {
		t.Errorf("got  %s\nwant %s", b.String(), want)
	}
}

func TestResourcesAreChangedOverHTTP(t *testing.T) {
	t.Parallel()
	c, client := serve(t, Options{Seed: 1}) // without Shares, no generated resource violates a rule
	account := c.Account(0).ID
	name, _, _ := c.Resource("AWS.EC2.Volume", world.Place{Account: account, Region: "us-east-1"}, 0)
	const admin = "https://" + gateway.AdminHost
	post := func(body string) int {
		answer, err := client.Post(admin+"/aws/changes", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if status := post(`{"type":"AWS.EC2.Volume","account":"` + account + `","region":"us-east-1","name":"` + name + `","patch":{"encrypted":false}}`); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	for _, body := range []string{
		`{"type":"AWS.EC2.Nothing","account":"` + account + `","name":"x","gone":true}`,
		`{"type":"AWS.EC2.Volume","account":"` + account + `","region":"us-east-1","name":"vol-unknown","gone":true}`,
		`{"type":"AWS.EC2.Volume","account":"` + account + `","region":"us-east-1","name":"` + name + `","make":{}}`,
		`nonsense`,
	} {
		if status := post(body); status != http.StatusBadRequest {
			t.Errorf("%s: status %d", body, status)
		}
	}
	for bucket, want := range map[string]int{
		"logs":                                http.StatusBadRequest,
		"logs-" + account + "-eu-west-1-9000": http.StatusBadRequest, // not the region of the bucket
		"logs-" + account + "-us-east-1-x":    http.StatusOK,         // only the place must be in the name
	} {
		if status := post(`{"type":"AWS.S3.Bucket","account":"` + account + `","region":"us-east-1","name":"` + bucket + `","make":{"Name":"` + bucket + `"}}`); status != want {
			t.Errorf("create bucket %s: status %d, want %d", bucket, status, want)
		}
	}
	if status := post(`{"type":"AWS.S3.Bucket","account":"` + account + `","region":"us-east-1","name":"logs-` + account + `-us-east-1-x","gone":true}`); status != http.StatusOK {
		t.Errorf("delete a bucket: status %d", status)
	}
	answer, err := client.Get(admin + "/aws/findings?account=" + account)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var findings []world.Finding
	if err := json.NewDecoder(answer.Body).Decode(&findings); err != nil {
		t.Fatal(err)
	}
	want := []world.Finding{{Rule: "aws-ec2-ebs-encrypted", Entity: entityID("AWS.EC2.Volume", world.Place{Account: account, Region: "us-east-1"}, name)}}
	if diff := cmp.Diff(want, findings); diff != "" {
		t.Error(diff)
	}
}
