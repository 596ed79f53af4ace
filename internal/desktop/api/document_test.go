package api_test

import (
	"testing"

	"vigil/internal/apidoc/apitest"
	"vigil/internal/desktop/api"
)

func TestRoutesAndDocumentNameTheSameOperations(t *testing.T) {
	t.Parallel()
	apitest.Load(t, api.Document).CheckRoutes(t, api.New(api.Options{}).Routes())
}
