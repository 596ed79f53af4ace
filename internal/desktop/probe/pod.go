package probe

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"vigil/internal/desktop"
)

// roundTrips is the number of round trips measured on one open connection; the
// median counts.
const roundTrips = 3

// podPath is the path that is requested from a pod's endpoint: a list that
// every connection server has and refuses to unauthenticated callers.
const podPath = "/rest/monitor/connection-servers"

// podEndpoint returns the target of an endpoint of a remote pod. The probe sends no
// credentials: the peer token is only for connection servers of our own pod.
func (f TargetFactory) podEndpoint(p desktop.PodEndpoint) Target {
	server := &web{address: p.URL, trust: p.Trust, now: f.Now}
	return Target{
		Ref: desktop.Ref{Kind: desktop.KindPodEndpoint, ID: p.ID, Name: p.Name}, Spec: p,
		Careful: true, Close: server.close,
		Probe: func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			var certificate *desktop.Certificate
			times := make([]time.Duration, 0, roundTrips)
			for range 1 + roundTrips { // the first one opens the connection
				start := f.Now()
				status, _, peerCert, err := server.get(ctx, p.URL+podPath, http.Header{"Accept": {"application/json"}})
				certificate = peerCert
				if err != nil {
					return nil, certificate, err
				}
				if !pathExists(status) {
					return nil, certificate, &desktop.Failure{Cause: desktop.Broken, Reason: fmt.Sprintf("%s is not a connection server: it answers with status %d", p.URL, status)}
				}
				times = append(times, f.Now().Sub(start))
			}
			warm := times[1:]
			slices.Sort(warm)
			return desktop.PodReading{RoundTrip: warm[len(warm)/2]}, certificate, nil
		},
	}
}
