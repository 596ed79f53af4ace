package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"vigil/internal/desktop"
)

// roundTrips is how many are measured on one warm connection; the middle one
// counts.
const roundTrips = 3

// podEndpoint makes the target of an endpoint of a remote pod. Any answer that
// is no error of the server is a sign of life: other pods need not share our
// token. Whoever does share it tells its version too.
func (e Estate) podEndpoint(p desktop.PodEndpoint, token desktop.SecretRef) Target {
	type spec struct {
		Endpoint desktop.PodEndpoint
		Token    desktop.SecretRef
	}
	server := &web{address: p.URL, trust: p.Trust, now: e.Now}
	return Target{
		Ref: desktop.Ref{Kind: desktop.KindPodEndpoint, ID: p.ID, Name: p.Name}, Spec: spec{p, token},
		Careful: true, Close: server.close,
		Look: func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			header, err := e.bearer(ctx, token)
			if err != nil {
				return nil, nil, err
			}
			var reading desktop.PodReading
			var certificate *desktop.Certificate
			times := make([]time.Duration, 0, roundTrips)
			for range 1 + roundTrips { // the first one connects
				began := e.Now()
				status, body, shown, err := server.get(ctx, p.URL+desktop.HealthPath, header)
				if certificate = shown; err != nil {
					return nil, certificate, err
				}
				if status >= http.StatusInternalServerError {
					return nil, certificate, &desktop.Failure{Cause: desktop.Broken, Reason: fmt.Sprintf("%s answers with status %d", p.URL, status)}
				}
				times = append(times, e.Now().Sub(began))
				var health desktop.PeerHealth
				if status == http.StatusOK && json.Unmarshal(body, &health) == nil {
					reading.Version = health.Version
				}
			}
			warm := times[1:]
			slices.Sort(warm)
			reading.RoundTrip = warm[len(warm)/2]
			return reading, certificate, nil
		},
	}
}
