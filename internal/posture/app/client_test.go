package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"vigil/internal/apidoc/apitest"
	"vigil/internal/auth"
	"vigil/internal/instance"
	"vigil/internal/posture/api"
	"vigil/internal/posture/app"
)

// document is the OpenAPI document that every response in the tests of this package is
// validated against.
var document = func() *apitest.Document {
	d, err := apitest.New(api.Document)
	if err != nil {
		panic(err)
	}
	return d
}()

// A client calls the server under test as one user.
type client struct {
	t     testing.TB
	base  string
	token string
	http  *http.Client
}

// serve serves a server on the loopback interface.
func serve(t *testing.T, a *app.App) string {
	s := httptest.NewServer(a.Handler())
	t.Cleanup(s.Close)
	return s.URL
}

// newOrg adds an organisation and returns a client for its admin.
func newOrg(t *testing.T, in *instance.Installation, base, name string) (*client, auth.Org, auth.User) {
	t.Helper()
	org, admin, err := in.Registry.CreateOrg(t.Context(), name, "admin")
	if err != nil {
		t.Fatal(err)
	}
	return newClient(t, in, base, admin, auth.Admin), org, admin
}

// newClient returns a client with a token of a user with a role.
func newClient(t testing.TB, in *instance.Installation, base string, u auth.User, r auth.Role) *client {
	t.Helper()
	_, text, err := in.Registry.IssueToken(t.Context(), auth.Operator(u.Org), auth.TokenEdit{Name: "test", User: u.ID, Role: r})
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, base: base, http: document.Client(t, nil)}
	c.token = c.exchange(text.Reveal())
	return c
}

// exchange exchanges an API token for an access token.
func (c *client) exchange(apiToken string) string {
	c.t.Helper()
	res, err := c.http.PostForm(c.base+"/csp/gateway/am/api/auth/api-tokens/authorize", url.Values{"refresh_token": {apiToken}})
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	var body struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil || res.StatusCode != http.StatusOK {
		c.t.Fatalf("exchange: %d, %v", res.StatusCode, err)
	}
	return body.AccessToken
}

// An answer is a response.
type answer struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// request creates a request with a JSON body, or without a body if it is nil.
func (c *client) request(method, path string, body any, headers ...string) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, reader)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r, nil
}

// do sends a request, and reads and decodes the response.
func (c *client) do(method, path string, body any, headers ...string) answer {
	c.t.Helper()
	a := c.text(method, path, body, headers...)
	_ = json.Unmarshal([]byte(a.text), &a.body) // body stays nil if it is not an object
	return a
}

// text is like do, without decoding the body: for tests that compare the text of many large responses.
func (c *client) text(method, path string, body any, headers ...string) answer {
	c.t.Helper()
	r, err := c.request(method, path, body, headers...)
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{status: res.StatusCode, header: res.Header, text: string(data)}
}

// want is like do, and fails the test unless the response has the given status.
func (c *client) want(status int, method, path string, body any, headers ...string) answer {
	c.t.Helper()
	a := c.do(method, path, body, headers...)
	if a.status != status {
		c.t.Fatalf("%s %s = %d %s, want %d", method, path, a.status, a.text, status)
	}
	return a
}

// member returns a string member of a response.
func (a answer) member(name string) string {
	s, _ := a.body[name].(string)
	return s
}

type object = map[string]any

func textProperty(name, value string) object {
	return object{"name": name, "type": "string", "stringV": value}
}

func awsAccount(id string) object {
	return object{"cloudAccountName": "account " + id, "properties": []object{textProperty("accountId", id)}}
}

func awsCredential() object {
	return object{"credentialType": "collection", "properties": []object{
		textProperty("RoleArn", "arn:aws:iam::111111111111:role/vigil"), textProperty("ExternalId", "external"),
	}}
}

// azureCredential returns a credential with a secret.
func azureCredential(secret string) object {
	const id = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	return object{"credentialType": "collection", "properties": []object{
		textProperty("ApplicationId", id), textProperty("DirectoryId", id), textProperty("ApplicationKey", secret),
	}}
}

const (
	accounts      = "/v1/providers/aws/cloud-accounts"
	credentials   = "/v1/providers/aws/cloud-credentials"
	relationships = "/v1/providers/aws/account-credential-relationship"
)

// accountID returns the i-th account id.
func accountID(i int) string { return fmt.Sprintf("%012d", i) }

// fill replaces the wildcards of a route's pattern by values.
func fill(pattern string, values map[string]string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	for name, value := range values {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	return method, path
}
