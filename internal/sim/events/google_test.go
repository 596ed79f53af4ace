package events_test

import (
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"vigil/internal/sim/events"
)

// TestSignaturesAreValid verifies a token of each algorithm that the documentation of Sign lists. The
// tests of verifiers rely on valid signatures: a verifier that refuses such a token does so because of
// the algorithm.
func TestSignaturesAreValid(t *testing.T) {
	t.Parallel()
	g, err := events.NewGoogle(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512} {
		token, err := jwt.ParseSigned(g.Sign(map[string]any{"alg": string(algorithm)}, map[string]any{}), []jose.SignatureAlgorithm{algorithm})
		if err == nil {
			err = token.Claims(g.Public())
		}
		if err != nil {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
}
