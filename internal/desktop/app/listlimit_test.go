package app_test

import (
	"net/http"
	"testing"

	"vigil/internal/apidoc/apitest"
	"vigil/internal/desktop/api"
)

// TestListsAreBoundedAsTheDocumentSays holds every list of every request body
// to the limit that the document states for it. Agents show certificates, which
// this client does not have; package heartbeat tests their lists.
func TestListsAreBoundedAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	w := start(t, options{size: tiny()})
	token := w.login().Access
	apitest.Load(t, api.Document).CheckListLimits(t, w.client, w.url, func(h http.Header) {
		h.Set("Authorization", "Bearer "+token)
	}, "reportGateway", "reportRDSServer")
}
