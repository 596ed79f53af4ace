package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"vigil/internal/atomicfile"
	"vigil/internal/auth"
	"vigil/internal/auth/authapi"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

// metricsTokenFile is the file in the data folder with the bearer token for Prometheus,
// which needs a token that does not expire.
const metricsTokenFile = "metrics.token"

// guard authenticates callers by access token or browser session, and for the metrics
// also by the token in the data folder.
func (a *App) guard(gate *auth.Authenticator) (httpapi.Guard, error) {
	token, err := metricsToken(filepath.Join(a.o.Install.Config.DataDir, metricsTokenFile))
	if err != nil {
		return nil, err
	}
	userGuard := authapi.Guard(gate, a.sessions)
	return func(r *http.Request, need string) (context.Context, error) {
		if r.URL.Path == "/metrics" {
			if got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && secret.NewText(got).Equal(token) {
				httpapi.SetCaller(r.Context(), httpapi.Caller{ID: "metrics", Name: "metrics"})
				return r.Context(), nil
			}
		}
		return userGuard(r, need)
	}, nil
}

// metricsToken reads the token, creating it if there is none.
func metricsToken(path string) (secret.Text, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(rand.Text() + "\n")
		err = atomicfile.WriteBytes(path, 0o600, text)
	}
	if err != nil {
		return secret.Text{}, fmt.Errorf("read or create the token for metrics: %w", err)
	}
	if len(strings.TrimSpace(string(text))) < 16 {
		return secret.Text{}, fmt.Errorf("the token for metrics in %s is too short; delete the file to create a new one", path)
	}
	return secret.NewText(strings.TrimSpace(string(text))), nil
}
