// Package gatewaytest runs gateways of simulated clouds in tests.
package gatewaytest

import (
	"context"
	"log/slog"
	"testing"

	"vigil/internal/sim/gateway"
)

// Listen returns a gateway on a free port of the loopback address. It serves
// nothing until [Serve] is called.
func Listen(t testing.TB) *gateway.Gateway {
	t.Helper()
	g, err := gateway.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Serve serves the calls of a gateway until the test ends. Its clouds must be
// registered with [gateway.Gateway.Handle] before. A t.Cleanup that is registered
// after this call, for example to close a client, runs before the gateway stops.
func Serve(t testing.TB, g *gateway.Gateway) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
