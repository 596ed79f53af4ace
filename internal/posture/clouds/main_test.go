package clouds

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails if goroutines leak from hanging calls, sessions or connections.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
