package main

import (
	"strings"
	"testing"

	"vigil/internal/fault"
)

// TestLongSecretIsRefused enters secrets that exceed the read limit: a truncated secret must not be stored.
func TestLongSecretIsRefused(t *testing.T) {
	t.Parallel()
	input := strings.Repeat("x", 64<<10) + "rest\n"
	if _, err := runDesktop(t, &vaultSetCmd{Name: "key"}, input); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "64 KiB") {
		t.Errorf("vigil desktop vault set: %v", err)
	}
	if _, err := runDesktop(t, &loginCmd{URL: "https://vigil.example"}, input); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "64 KiB") {
		t.Errorf("vigil login: %v", err)
	}
}
