package gcp_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
)

// cloud is a simulated cloud with a client that uses no SDK.
type cloud struct {
	*gcp.Cloud
	faults *gateway.Faults
	token  string
}

var today = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)

func serve(t *testing.T, o gcp.Options) *cloud {
	t.Helper()
	if o.Today.IsZero() {
		o.Today = today
	}
	o.Shares.Default = 0.5 // half of the resources violate a rule, so that answers have all variants
	faults := gateway.NewFaults()
	c := &cloud{Cloud: gcp.New(o, faults), faults: faults}
	status, answer := c.signIn(t, c.Reader(), claims{})
	if status != http.StatusOK {
		t.Fatalf("sign in: %d %v", status, answer)
	}
	c.token, _ = answer["access_token"].(string)
	return c
}

// claims are the claims of an assertion. signIn fills in those that are zero.
type claims struct {
	Iss   string `json:"iss"`
	Aud   string `json:"aud"`
	Scope string `json:"scope"`
	Iat   int64  `json:"iat"`
	Exp   int64  `json:"exp"`
}

type keyFile struct {
	ClientEmail  string `json:"client_email"`
	PrivateKeyID string `json:"private_key_id"`
	PrivateKey   string `json:"private_key"`
	TokenURI     string `json:"token_uri"`
}

func decodeKeyFile(t *testing.T, credential gcp.Credential) (file keyFile) {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(credential.Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// signIn requests a token like a client with a key file.
func (c *cloud) signIn(t *testing.T, credential gcp.Credential, claimed claims) (int, map[string]any) {
	t.Helper()
	file := decodeKeyFile(t, credential)
	block, _ := pem.Decode([]byte(file.PrivateKey))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	if claimed.Iss == "" {
		claimed.Iss = file.ClientEmail
	}
	if claimed.Aud == "" {
		claimed.Aud = file.TokenURI
	}
	if claimed.Scope == "" {
		claimed.Scope = "https://www.googleapis.com/auth/cloud-platform"
	}
	if claimed.Iat == 0 {
		claimed.Iat, claimed.Exp = now, now+3600
	}
	return c.post(t, assertion(t, key.(*rsa.PrivateKey), file.PrivateKeyID, claimed))
}

func assertion(t *testing.T, key *rsa.PrivateKey, id string, claimed claims) string {
	t.Helper()
	header, _ := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": id})
	body, _ := json.Marshal(claimed)
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(body)
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func (c *cloud) post(t *testing.T, assertion string) (int, map[string]any) {
	t.Helper()
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
	r := httptest.NewRequest(http.MethodPost, "https://oauth2.googleapis.com/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return c.do(t, r)
}

func (c *cloud) do(t *testing.T, r *http.Request) (int, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	var answer map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s %s: %v in %s", r.Method, r.URL, err, w.Body)
	}
	return w.Code, answer
}

// send sends one call. Its body is for the calls that test permissions.
func (c *cloud) send(t *testing.T, verb, address string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(verb, address, bytes.NewReader([]byte(`{"permissions":["compute.instances.list"]}`)))
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return c.do(t, r)
}

func TestTokensNeedTheServiceAccountKey(t *testing.T) {
	t.Parallel()
	c := serve(t, gcp.Options{})
	now := time.Now().Unix()
	for name, tt := range map[string]struct {
		claimed claims
		want    string
	}{
		"another account":  {claims{Iss: "eve@example.com"}, "Invalid grant: account not found"},
		"another audience": {claims{Aud: "https://example.com/token"}, "Invalid JWT: Failed audience check. The right audience is https://oauth2.googleapis.com/token"},
		"too long":         {claims{Iat: now, Exp: now + 7200}, "reasonable timeframe"},
		"ended":            {claims{Iat: now - 7200, Exp: now - 3600}, "reasonable timeframe"},
		"not yet":          {claims{Iat: now + 1200, Exp: now + 2400}, "reasonable timeframe"},
		"valid claims":     {claims{}, ""},
	} {
		status, answer := c.signIn(t, c.Reader(), tt.claimed)
		description, _ := answer["error_description"].(string)
		if (status == http.StatusOK) != (tt.want == "") || !strings.Contains(description, tt.want) {
			t.Errorf("%s: %d %v, want the error %q", name, status, answer, tt.want)
		}
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	forged := assertion(t, other, decodeKeyFile(t, c.Reader()).PrivateKeyID, claims{Iss: c.Reader().Email, Aud: "https://oauth2.googleapis.com/token", Scope: "x", Iat: now, Exp: now + 60})
	if status, answer := c.post(t, forged); status != http.StatusBadRequest || answer["error_description"] != "Invalid JWT Signature." {
		t.Errorf("a forged assertion: %d %v", status, answer)
	}
	for _, text := range []string{"", "a.b", "a.b.c", "e30.e30.e30"} { // e30 is {} in base64
		if status, answer := c.post(t, text); status != http.StatusBadRequest {
			t.Errorf("assertion %q: %d %v", text, status, answer)
		}
	}
}

func TestCallsNeedAToken(t *testing.T) {
	t.Parallel()
	c := serve(t, gcp.Options{})
	address := "https://compute.googleapis.com/compute/v1/projects/" + c.Projects()[0].ID + "/global/networks"
	for name, token := range map[string]string{"none": "", "unknown": "ya29.abc", "changed": c.token + "xx"} {
		valid := c.token
		c.token = token
		if status, answer := c.send(t, http.MethodGet, address); status != http.StatusUnauthorized {
			t.Errorf("token %s: %d %v, want 401", name, status, answer)
		}
		c.token = valid
	}
	if status, _ := c.send(t, http.MethodGet, address); status != http.StatusOK {
		t.Errorf("with a token: %d", status)
	}
	if status, answer := c.send(t, http.MethodGet, strings.Replace(address, c.Projects()[0].ID, "no-such-project", 1)); status != http.StatusForbidden {
		t.Errorf("an unknown project: %d %v", status, answer)
	}
	if status, answer := c.send(t, http.MethodGet, address+"?pageToken=nonsense"); status != http.StatusBadRequest {
		t.Errorf("an unknown page: %d %v", status, answer)
	}
}

// everyAnswer calls every method, with the names of samples and singleNames, and returns the
// responses. It omits keys.get of service accounts, because the names of keys are random.
func (c *cloud) everyAnswer(t *testing.T) map[string][]any {
	t.Helper()
	all := map[string][]any{}
	p := c.Projects()[0]
	for id, request := range gcp.Routes() {
		verb, address, _ := strings.Cut(request, " ")
		address = strings.ReplaceAll(address, "{project}", p.ID)
		if strings.Contains(address, "/storage/v1/b") && !strings.Contains(address, "{bucket}") {
			address += "?project=" + p.ID
		}
		if strings.HasSuffix(address, "/firewallPolicies/getEffectiveFirewalls") {
			address += "?network=" + url.QueryEscape("https://www.googleapis.com/compute/v1/projects/"+p.ID+"/global/networks/vpc-00001")
		}
		for _, filled := range fill(address, p) {
			status, answer := c.send(t, verb, filled)
			if status != http.StatusOK {
				t.Errorf("%s: %s: %d %v", id, filled, status, answer)
			}
			all[id] = append(all[id], answer)
		}
	}
	return all
}

// samples returns names of resources that exist in a collection, such as topics.
func samples(collection string, p gcp.Project) []string {
	numbered := func(prefix string) []string {
		return []string{prefix + "00000", prefix + "00001"}
	}
	switch collection {
	case "serviceAccounts":
		return []string{"svc-00000@" + p.ID + ".iam.gserviceaccount.com", p.Number + "-compute@developer.gserviceaccount.com"}
	case "roles":
		return []string{"deployer", "auditor"}
	case "folders":
		return []string{"8" + p.Number}
	case "networks":
		return []string{"vpc-00001", "vpc-00002"}
	case "workloadIdentityPools":
		return []string{"github"}
	case "sinks":
		return []string{"_Default", "archive"}
	case "metrics":
		return []string{"errors", "web%252Fslow"} // web/slow: clients escape the slash in the name, and then the name in the path
	case "notificationChannels":
		return []string{"20000000"}
	case "buckets":
		return []string{"_Default"}
	}
	prefixes := map[string]string{
		"b": p.ID + "-data-", "instances": "sql-", "datasets": "dataset_", "keyRings": "ring-", "cryptoKeys": "key-", "secrets": "secret-", "keys": "apikey-", "functions": "fn-",
		"repositories": "repo-", "topics": "topic-", "subscriptions": "sub-", "alertPolicies": "100", "managedZones": "zone-", "policies": "dns-",
		"clusters": "gke-",
	}
	return numbered(prefixes[collection])
}

// singleNames are the names of resources of which a project has only one, by API and collection.
var singleNames = map[string]string{
	"alloydb clusters": "alloy-00000", "alloydb instances": "primary-00000", "bigtableadmin instances": "bigtable-00000", "cloudscheduler jobs": "cron-00000", "datafusion instances": "fusion-00000",
	"dataproc clusters": "spark-00000", "firestore databases": "store-00000", "iam providers": "github-00000", "memcache instances": "memcache-00000", "notebooks instances": "notebook-00000",
	"pubsub schemas": "schema-00000", "pubsub snapshots": "snap-00000", "redis clusters": "cache-00000", "compute regions": "us-central1", "run jobs": "job-00000", "spanner databases": "db-00000", "spanner instances": "spanner-00000",
	"workflows workflows": "workflow-00000",
}

// fill replaces the parameters of an address by names and returns one address per
// combination. The location is always "global" or "us-central1".
func fill(address string, p gcp.Project) []string {
	start := strings.IndexByte(address, '{')
	if start < 0 {
		return []string{address}
	}
	end := strings.IndexByte(address, '}')
	name, path := address[start+1:end], address[:start-1]
	collection := path[strings.LastIndexByte(path, '/')+1:] // the segment before the parameter
	api, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), ".")
	var values []string
	switch {
	case name == "location" && (strings.Contains(address, "apikeys") || strings.Contains(address, "workloadIdentity") || strings.Contains(address, "logging")):
		values = []string{"global"}
	case name == "location":
		values = []string{"us-central1"}
	case singleNames[api+" "+collection] != "":
		values = []string{singleNames[api+" "+collection]}
	case collection == "instances" && strings.Contains(address, "redis."):
		values = []string{"redis-00000"}
	case collection == "instances" && strings.Contains(address, "file."):
		values = []string{"files-00000"}
	case collection == "services" && strings.Contains(address, "serviceusage."):
		values = []string{"compute.googleapis.com"}
	case collection == "services":
		values = []string{"fn-00000"}
	case collection == "nodePools":
		values = []string{"pool-0", "pool-1"}
	case strings.Contains(address, "us-central1"): // resources with even numbers are in us-central1, so only the first sample exists there
		values = samples(collection, p)[:1]
		if collection == "cryptoKeys" { // keys are in the location of their key ring
			values = samples(collection, p)
		}
	case collection == "keys" && strings.Contains(address, "serviceAccounts"):
		return nil // their names are random; lists cover them
	default:
		values = samples(collection, p)
	}
	var all []string
	for _, v := range values {
		all = append(all, fill(address[:start]+v+address[end+1:], p)...)
	}
	return all
}

func TestPagesContainEverythingOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, gcp.Options{Size: 200})
	p := c.Projects()[0]
	for name, tt := range map[string]struct{ address, sizeParameter, small string }{
		"items":   {"https://compute.googleapis.com/compute/v1/projects/" + p.ID + "/global/firewalls", "maxResults", "5"},
		"topics":  {"https://pubsub.googleapis.com/v1/projects/" + p.ID + "/topics", "pageSize", "2"},
		"metrics": {"https://logging.googleapis.com/v2/projects/" + p.ID + "/metrics", "pageSize", "1"},
	} {
		// read reads all pages of a size. It returns the names of all items, and the number of pages.
		read := func(size string) (names []string, pages int) {
			for token := ""; pages == 0 || token != ""; pages++ {
				status, answer := c.send(t, http.MethodGet, tt.address+"?"+tt.sizeParameter+"="+size+"&pageToken="+url.QueryEscape(token))
				if status != http.StatusOK {
					t.Fatalf("%s: status %d", name, status)
				}
				items, _ := answer[name].([]any)
				for _, item := range items {
					names = append(names, fmt.Sprint(item.(map[string]any)["name"]))
				}
				token, _ = answer["nextPageToken"].(string)
			}
			slices.Sort(names)
			return names, pages
		}
		all, pages := read("1000")
		if pages != 1 || len(all) < 2 || len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("%s: %d pages of up to 1000 with %v", name, pages, all)
		}
		if got, pages := read(tt.small); pages < 2 || !slices.Equal(got, all) {
			t.Errorf("%s: %v on %d pages, want %v on several", name, got, pages, all)
		}
	}
}

// TestChangesNameTheirResources checks the names of resources in events of changes. A name contains
// the location: a created resource has it in its description, and that of a generated one depends
// on its number.
func TestChangesNameTheirResources(t *testing.T) {
	t.Parallel()
	c := serve(t, gcp.Options{Size: 50})
	project := c.Projects()[0].ID
	var got string
	c.Changes.Watch = func(change world.Change) {
		_, got = c.Resource(gcp.Change{Type: change.Ref.Type, Project: change.Ref.Place.Account, Parent: change.Ref.Place.Region, Name: change.Ref.Name, Make: change.Make})
	}
	link := func(path string) world.Object {
		return world.Obj("selfLink", "https://www.googleapis.com/compute/v1/"+path)
	}
	named := func(path string) world.Object { return world.Obj("name", path) }
	steps := []struct {
		kind         posture.EntityType
		parent, name string
		verbs        string                    // which changes: create, patch, delete
		path         string                    // below the project
		made         func(string) world.Object // returns the description of a created resource with a path
	}{
		{"GCP.Compute.Instance", "", "vm-00000", "patch delete", "zones/us-central1-a/instances/vm-00000", nil},
		{"GCP.Compute.Instance", "", "web", "create patch delete", "zones/us-central1-b/instances/web", link},
		{"GCP.Compute.Instance", "", "web", "create patch delete", "zones/europe-west1-c/instances/web", link},
		{"GCP.Compute.Instance", "", "vm-90000", "create patch delete", "zones/us-central1-b/instances/vm-90000", link},  // named like a generated one
		{"GCP.Compute.Instance", "", "vm-00000", "create patch delete", "zones/europe-west1-b/instances/vm-00000", link}, // the generated one was deleted above
		{"GCP.Compute.Subnetwork", "", "inner", "create patch delete", "regions/europe-west1/subnetworks/inner", link},
		{"GCP.Compute.Firewall", "", "web", "create patch delete", "global/firewalls/web", link},
		{"GCP.KMS.CryptoKey", "ring-00001", "key-00000", "patch", "locations/europe-west1/keyRings/ring-00001/cryptoKeys/key-00000", nil},
		{"GCP.KMS.KeyRing", "", "own", "create patch", "locations/europe-west1/keyRings/own", named},
		{"GCP.KMS.CryptoKey", "own", "data", "create patch delete", "locations/europe-west1/keyRings/own/cryptoKeys/data", named},
		{"GCP.KMS.KeyRing", "", "own", "delete", "locations/europe-west1/keyRings/own", nil},
	}
	for _, step := range steps {
		want := "projects/" + project + "/" + step.path
		for _, verb := range strings.Fields(step.verbs) {
			change := gcp.Change{Type: step.kind, Project: project, Parent: step.parent, Name: step.name}
			switch verb {
			case "create":
				change.Make = step.made(want)
			case "patch":
				change.Patch = world.Obj("description", "changed")
			case "delete":
				change.Gone = true
			}
			if err := c.Change(change); err != nil {
				t.Fatalf("%s %s: %v", verb, want, err)
			}
			if got != want {
				t.Errorf("the event of a %s names %s, want %s", verb, got, want)
			}
		}
	}
}

// TestUnsimulatedCallsAreCheckedFirst sends calls that the cloud does not simulate: only accounts
// with all permissions get an answer, and injected faults come first.
func TestUnsimulatedCallsAreCheckedFirst(t *testing.T) {
	t.Parallel()
	c := serve(t, gcp.Options{Unsimulated: func(w http.ResponseWriter, r *http.Request, _ gcp.Project) bool {
		if !strings.HasSuffix(r.URL.Path, "/models") {
			return false
		}
		_, _ = w.Write([]byte(`{"models":[]}`))
		return true
	}})
	base := "https://aiplatform.googleapis.com/v1/projects/" + c.Projects()[0].ID
	check := func(what, address string, want int) {
		t.Helper()
		if status, answer := c.send(t, http.MethodGet, address); status != want {
			t.Errorf("%s: %d %v, want %d", what, status, answer, want)
		}
	}
	check("a reader", base+"/models", http.StatusOK)
	check("nothing to read", base+"/nothing", http.StatusNotFound)
	check("no project", "https://aiplatform.googleapis.com/v1/models", http.StatusNotFound)
	id, err := c.faults.Add(gateway.Fault{Match: gateway.Call{Service: "aiplatform", Account: c.Projects()[0].ID}, Kind: gateway.Fail})
	if err != nil {
		t.Fatal(err)
	}
	check("a fault", base+"/models", http.StatusServiceUnavailable)
	c.faults.Remove(id)
	for name, credential := range map[string]gcp.Credential{"a denied account": c.Denied(), "an account with one permission": c.Limited("some", "compute.instances.list")} {
		_, answer := c.signIn(t, credential, claims{})
		c.token, _ = answer["access_token"].(string)
		check(name, base+"/models", http.StatusForbidden)
	}
	c.token = ""
	check("no token", base+"/models", http.StatusUnauthorized)
}

// TestServiceAccountsHaveSeveralKeys adds a key to a service account: the old and the new key are
// valid. A new key does not change the permissions, and new permissions do not change the keys.
func TestServiceAccountsHaveSeveralKeys(t *testing.T) {
	t.Parallel()
	c := serve(t, gcp.Options{})
	old := c.Limited("renewed", "compute.instances.list")
	renewed := c.NewKey("renewed")
	if renewed.Email != old.Email || renewed.Key == old.Key {
		t.Fatalf("the account of the new key is %s; same key: %v", renewed.Email, renewed.Key == old.Key)
	}
	instances := "https://compute.googleapis.com/compute/v1/projects/" + c.Projects()[0].ID + "/aggregated/instances"
	for name, credential := range map[string]gcp.Credential{"old": old, "new": renewed} {
		status, answer := c.signIn(t, credential, claims{})
		if status != http.StatusOK {
			t.Errorf("the %s key: %d %v", name, status, answer)
		}
		c.token, _ = answer["access_token"].(string)
		if status, answer := c.send(t, http.MethodGet, instances); status != http.StatusOK {
			t.Errorf("a permitted call with the %s key: %d %v", name, status, answer)
		}
	}
	if again := c.Limited("renewed"); again != renewed { // now without permissions
		t.Error("another key after the permissions changed")
	}
	if status, answer := c.send(t, http.MethodGet, instances); status != http.StatusForbidden {
		t.Errorf("without permissions: %d %v", status, answer)
	}
}

// TestDeletedServiceAccountsCannotSignIn deletes a service account and creates it again.
func TestDeletedServiceAccountsCannotSignIn(t *testing.T) {
	t.Parallel()
	c := serve(t, gcp.Options{})
	instances := "https://compute.googleapis.com/compute/v1/projects/" + c.Projects()[0].ID + "/aggregated/instances"
	check := func(what string, credential gcp.Credential, want int) {
		t.Helper()
		if status, answer := c.signIn(t, credential, claims{}); status != want {
			t.Errorf("%s: %d %v, want %d", what, status, answer, want)
		}
	}
	old := c.Limited("fleeting", "compute.instances.list")
	_, answer := c.signIn(t, old, claims{})
	c.token, _ = answer["access_token"].(string)
	c.DeleteAccount(old.Email)
	check("a key of a deleted account", old, http.StatusBadRequest)
	if status, answer := c.send(t, http.MethodGet, instances); status != http.StatusUnauthorized {
		t.Errorf("a token of a deleted account: %d %v", status, answer)
	}
	again := c.Limited("fleeting", "compute.instances.list")
	check("a key of the earlier account", old, http.StatusBadRequest)
	check("a key of the new account", again, http.StatusOK)
	c.DeleteAccount("nobody@example.com") // does nothing
}
