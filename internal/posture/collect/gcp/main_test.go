package gcp_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no goroutine of a hanging call, a session or a connection remains.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
