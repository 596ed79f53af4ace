package app_test

import (
	"net/http"
	"strings"
	"testing"

	"vigil/internal/apidoc/apitest"
	"vigil/internal/desktop/api"
)

// TestListsAreBoundedAsTheDocumentSays compares the limit of every list in
// request bodies with the OpenAPI document. Agents' requests need client
// certificates, which this client does not have; package heartbeat tests their
// lists.
func TestListsAreBoundedAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	token := w.login().Access
	apitest.Load(t, api.Document).CheckListLimits(t, w.client, w.url, func(h http.Header) {
		h.Set("Authorization", "Bearer "+token)
	}, "reportGateway", "reportRDSServer")
}

// TestEveryListIsInEveryAnswer checks that the document requires every list in
// responses. It names two lists that are optional in requests, which use the same
// schema: a rule that is created without them still has them in responses.
func TestEveryListIsInEveryAnswer(t *testing.T) {
	t.Parallel()
	apitest.Load(t, api.Document).CheckListsAreRequired(t, "Condition.statuses", "Channel.to")
	w := start(t, options{size: tiny(), fewProbes: true})
	token := w.login().Access
	created := w.expect(201, "POST", "/rest/config/v1/alert-rules", token, object{
		"name": "ending", "condition": object{"type": "CERTIFICATE", "days": 10},
		"channels": []object{{"type": "WEBHOOK", "url": "https://hooks.example/x"}},
	})
	for what, a := range map[string]answer{"made": created, "listed": w.expect(200, "GET", "/rest/config/v1/alert-rules", token, nil)} {
		for _, list := range []string{`"statuses":[]`, `"to":[]`} {
			if !strings.Contains(string(a.body), list) {
				t.Errorf("%s: %s, want %s in it", what, a.body, list)
			}
		}
	}
}
