package clouds

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes sure that no goroutine is left: of calls that hung, of sessions,
// of connections.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
