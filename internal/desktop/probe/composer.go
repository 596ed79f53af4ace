package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"vigil/internal/desktop"
)

// composer returns the target of a composer. Its probe checks that the address
// is valid, the certificate is accepted, and the address has content. The
// version is read if the response is JSON.
func (f TargetFactory) composer(c desktop.Composer) Target {
	server := &web{address: c.URL, trust: c.Trust, now: f.Now}
	return Target{
		Ref: desktop.Ref{Kind: desktop.KindComposer, ID: c.ID, Name: c.Name}, Spec: c, Close: server.close,
		Probe: func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			status, body, certificate, err := server.get(ctx, c.URL, http.Header{"Accept": {"application/json, */*;q=0.5"}})
			if err != nil {
				return nil, certificate, err
			}
			if !pathExists(status) {
				return nil, certificate, &desktop.Failure{Cause: desktop.Broken, Reason: fmt.Sprintf("%s answers with status %d", c.URL, status)}
			}
			var response struct {
				Version       string `json:"version"`
				Build         string `json:"build"`
				APIVersion    string `json:"api_version"`
				MinVCVersion  string `json:"min_vc_version"`
				MinESXVersion string `json:"min_esx_version"`
			}
			_ = json.Unmarshal(body, &response) // most composers do not report a version
			return desktop.ComposerReading(response), certificate, nil
		},
	}
}
