package inventory

import (
	"context"
	"fmt"
	"os"
	"strings"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// schemes are the prefixes of references to secrets.
var schemes = []string{"file", "env", "vault"}

// A Vault returns the secrets in the server's own encrypted store by name.
type Vault interface {
	Entry(ctx context.Context, name string) (string, error)
}

// Secrets resolves references to secrets. It does not cache, so that a changed
// secret is used at once. Its zero value has no vault.
type Secrets struct {
	Vault  Vault
	Getenv func(string) string // os.Getenv when nil
}

// Secret returns the secret that ref refers to. Its errors contain the
// reference, never the secret.
func (s Secrets) Secret(ctx context.Context, ref desktop.SecretRef) (string, error) {
	scheme, name, _ := strings.Cut(string(ref), ":")
	value, err := s.lookUp(ctx, scheme, name)
	if err != nil {
		return "", fmt.Errorf("resolve secret %s: %w", ref, err)
	}
	if value == "" {
		return "", fault.New(fault.Invalid, "the secret %s is empty", ref)
	}
	return value, nil
}

func (s Secrets) lookUp(ctx context.Context, scheme, name string) (string, error) {
	switch {
	case scheme == "file":
		text, err := os.ReadFile(name)
		return strings.TrimRight(string(text), "\r\n"), err
	case scheme == "env" && s.Getenv != nil:
		return s.Getenv(name), nil
	case scheme == "env":
		return os.Getenv(name), nil
	case scheme == "vault" && s.Vault != nil:
		return s.Vault.Entry(ctx, name)
	case scheme == "vault":
		return "", fault.New(fault.Invalid, "there is no vault")
	}
	return "", fault.New(fault.Invalid, "a reference to a secret must begin with file:, env: or vault:")
}
