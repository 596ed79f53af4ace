package agent

import (
	"crypto"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vigil/internal/atomicfile"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/fault"
)

// credentialStore stores the credential in one file that only its owner may read. Key
// and certificate are replaced atomically.
type credentialStore struct{ dir string }

type credentialFile struct {
	Key       []byte              `json:"key"` // PKCS #8
	Enrolment heartbeat.Enrolment `json:"enrolment"`
}

func (s credentialStore) path() string { return filepath.Join(s.dir, "credential.json") }

// Load implements [heartbeat.CredentialStore].
func (s credentialStore) Load() (heartbeat.Credential, error) {
	var c heartbeat.Credential
	text, err := os.ReadFile(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		return c, fault.Wrap(fault.NotFound, err, "this machine is not enrolled")
	}
	if err != nil {
		return c, err
	}
	var f credentialFile
	if err := json.Unmarshal(text, &f); err != nil {
		return c, fmt.Errorf("read %s: %w", s.path(), err)
	}
	key, err := x509.ParsePKCS8PrivateKey(f.Key)
	if err != nil {
		return c, fmt.Errorf("read %s: %w", s.path(), err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return c, fmt.Errorf("read %s: the key cannot sign", s.path())
	}
	return heartbeat.Credential{Key: signer, Enrolment: f.Enrolment}, nil
}

// Save implements [heartbeat.CredentialStore].
func (s credentialStore) Save(c heartbeat.Credential) error {
	key, err := x509.MarshalPKCS8PrivateKey(c.Key)
	if err != nil {
		return err
	}
	text, err := json.Marshal(credentialFile{Key: key, Enrolment: c.Enrolment})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return atomicfile.WriteBytes(s.path(), 0o600, text)
}
