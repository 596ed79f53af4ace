package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// fakeServer returns a server that accepts the API token and answers all other requests
// with a status and a body.
func fakeServer(t *testing.T, status int, body string) *server {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/authorize") {
			_, _ = w.Write([]byte(`{"access_token": "access", "expires_in": 3600}`))
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(h.Close)
	return newServer(h.URL, "token")
}

func TestNotFoundNamesThePathAndTheMessage(t *testing.T) {
	t.Parallel()
	s := fakeServer(t, http.StatusNotFound, `{"message": "unknown channel c-1"}`)
	err := s.call(t.Context(), http.MethodPost, "/v1/notification-rules", map[string]any{}, nil)
	if !errors.Is(err, errNotFound) || !strings.Contains(err.Error(), "POST /v1/notification-rules") || !strings.Contains(err.Error(), "unknown channel c-1") {
		t.Errorf("got %v", err)
	}
}

func TestImportedCredentialHasItsBlock(t *testing.T) {
	t.Parallel()
	for cloud, c := range map[string]struct {
		property string
		value    func(*credentialModel) types.String
	}{
		"aws":   {"RoleArn", func(m *credentialModel) types.String { return m.AWS.RoleARN }},
		"azure": {"DirectoryId", func(m *credentialModel) types.String { return m.Azure.DirectoryID }},
		"gcp":   {"ServiceAccountEmail", func(m *credentialModel) types.String { return m.GCP.ServiceAccountEmail }},
	} {
		s := fakeServer(t, http.StatusOK, `{"credentialId": "c", "properties": [{"name": "`+c.property+`", "type": "string", "stringV": "value"}]}`)
		m := credentialModel{ID: types.StringValue("c"), Cloud: types.StringValue(cloud)}
		if err := credential.read(t.Context(), s, &m); err != nil {
			t.Fatal(err)
		}
		if m.properties() == nil {
			t.Errorf("%s: the credential has no block", cloud)
		} else if got := c.value(&m).ValueString(); got != "value" {
			t.Errorf("%s: %s is %q", cloud, c.property, got)
		}
	}
}
