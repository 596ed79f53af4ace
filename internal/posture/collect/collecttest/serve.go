package collecttest

import (
	"net/http"
	"testing"
	"time"

	"vigil/internal/posture/collect/egress"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/gateway/gatewaytest"
)

// Serve serves a simulated cloud under its host names, through a gateway, until the test
// ends. It returns the transport of the product, which calls the cloud over real TLS. The
// timeout of the transport is long, because the machine may be busy.
func Serve(t testing.TB, g *gateway.Gateway, hosts []string, cloud http.Handler) *egress.Transport {
	t.Helper()
	for _, host := range hosts {
		g.Handle(host, cloud)
	}
	gatewaytest.Serve(t, g)
	transport, err := egress.New(egress.Options{Gateway: &egress.Gateway{Address: g.Address(), CA: g.CA()}, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.Close)
	return transport
}
