package secret_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"vigil/internal/secret"
)

// newMaster returns a new master key.
func newMaster(t *testing.T) secret.Master {
	t.Helper()
	m, err := secret.MasterFromFile(filepath.Join(t.TempDir(), "master"), true)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMasterFileIsCreatedOnceAndPrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	if _, err := secret.MasterFromFile(path, false); err == nil {
		t.Fatal("a missing file is no error")
	}
	var (
		wg    sync.WaitGroup
		names [8]string
	)
	for i := range names {
		wg.Go(func() {
			m, err := secret.MasterFromFile(path, true)
			if err != nil {
				t.Error(err)
				return
			}
			names[i] = m.Name()
		})
	}
	wg.Wait()
	for _, n := range names {
		if n != names[0] {
			t.Fatalf("processes that start together got keys %v", names)
		}
	}
	if info, err := os.Stat(path); err != nil {
		t.Error(err)
	} else if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	if remaining, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".master-*")); len(remaining) > 0 {
		t.Errorf("temporary files are left behind: %v", remaining)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.MasterFromFile(path, true); err == nil || !strings.Contains(err.Error(), "0640") {
		t.Errorf("a file others may read gave %v", err)
	}
}

func TestMasterIsParsedInEveryFormat(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte{0xfb}, 32) // has the characters in which standard and URL base64 differ
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		t.Fatal(err)
	}
	var tinkJSON bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&tinkJSON)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text, wantName string
		wantErr              bool
	}{
		{"standard base64", base64.StdEncoding.EncodeToString(key), "local:", false},
		{"raw url base64 with a newline", base64.RawURLEncoding.EncodeToString(key) + "\n", "local:", false},
		{"tink keyset", tinkJSON.String(), "tink:", false},
		{"short key", base64.StdEncoding.EncodeToString(key[:31]), "", true},
		{"not base64", "hunter2!", "", true},
		{"empty", "", "", true},
		{"broken keyset", `{"primaryKeyId": 1}`, "", true},
	} {
		m, err := secret.ParseMaster(secret.NewText(tt.text))
		if (err != nil) != tt.wantErr {
			t.Errorf("%s: error %v, want an error: %t", tt.name, err, tt.wantErr)
			continue
		}
		if err != nil {
			if tt.text != "" && strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: the error shows the key: %v", tt.name, err)
			}
			continue
		}
		if !strings.HasPrefix(m.Name(), tt.wantName) {
			t.Errorf("%s: name %q, want the prefix %q", tt.name, m.Name(), tt.wantName)
		}
		sealed, err := m.EncryptWithContext(t.Context(), []byte("x"), []byte("a"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.DecryptWithContext(t.Context(), sealed, []byte("b")); err == nil {
			t.Errorf("%s: opened with other associated data", tt.name)
		}
		if got, err := m.DecryptWithContext(t.Context(), sealed, []byte("a")); err != nil || string(got) != "x" {
			t.Errorf("%s: opened as %q, %v", tt.name, got, err)
		}
	}
}

func TestMasterIsReadFromTheEnvironment(t *testing.T) {
	t.Setenv("VIGIL_TEST_MASTER", base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if _, err := secret.MasterFromEnv("VIGIL_TEST_MASTER"); err != nil {
		t.Error(err)
	}
	if _, err := secret.MasterFromEnv("VIGIL_TEST_MASTER_ABSENT"); err == nil {
		t.Error("an absent variable is no error")
	}
}

func TestSystemdCredentialMayHaveAGroupBit(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	path := filepath.Join(dir, "master")
	// systemd protects credentials by an access list, which shows as a group bit of the mode: 0440.
	if err := os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o440); err != nil {
		t.Fatal(err)
	}
	if _, err := secret.MasterFromFile(path, false); err != nil {
		t.Error(err)
	}
}
