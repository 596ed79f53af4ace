package probe

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"vigil/internal/desktop"
)

// roundTrips is how many are measured on one warm connection; the middle one
// counts.
const roundTrips = 3

// podPath is what an endpoint of a pod is asked for: a list that every
// connection server has, and that it refuses to callers it does not know.
const podPath = "/rest/monitor/connection-servers"

// podEndpoint makes the target of an endpoint of a remote pod. It is asked
// without credentials: the token of our peers is for our peers only.
func (e Estate) podEndpoint(p desktop.PodEndpoint) Target {
	server := &web{address: p.URL, trust: p.Trust, now: e.Now}
	return Target{
		Ref: desktop.Ref{Kind: desktop.KindPodEndpoint, ID: p.ID, Name: p.Name}, Spec: p,
		Careful: true, Close: server.close,
		Look: func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			var certificate *desktop.Certificate
			times := make([]time.Duration, 0, roundTrips)
			for range 1 + roundTrips { // the first one connects
				began := e.Now()
				status, _, shown, err := server.get(ctx, p.URL+podPath, http.Header{"Accept": {"application/json"}})
				if certificate = shown; err != nil {
					return nil, certificate, err
				}
				if !served(status) {
					return nil, certificate, &desktop.Failure{Cause: desktop.Broken, Reason: fmt.Sprintf("%s is no connection server: it answers with status %d", p.URL, status)}
				}
				times = append(times, e.Now().Sub(began))
			}
			warm := times[1:]
			slices.Sort(warm)
			return desktop.PodReading{RoundTrip: warm[len(warm)/2]}, certificate, nil
		},
	}
}
