package secret

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// A Master key encrypts the keyset. It is not used for the stored values
// themselves.
type Master interface {
	// Name identifies the master key and reveals nothing of it. It is stored with
	// the wrapped keyset.
	Name() string

	tink.AEADWithContext
}

// masterSize is the length of a plain master key in bytes.
const masterSize = 32

// localMaster is a master key in the memory of this process.
type localMaster struct {
	name string
	aead tink.AEAD
}

func (m localMaster) Name() string { return m.name }

func (m localMaster) EncryptWithContext(_ context.Context, plaintext, associated []byte) ([]byte, error) {
	return m.aead.Encrypt(plaintext, associated)
}

func (m localMaster) DecryptWithContext(_ context.Context, sealed, associated []byte) ([]byte, error) {
	return m.aead.Decrypt(sealed, associated)
}

// ParseMaster parses a master key: 32 bytes in standard or URL base64, or a
// Tink keyset in JSON.
func ParseMaster(text Text) (Master, error) {
	s := strings.TrimSpace(text.Reveal())
	if strings.HasPrefix(s, "{") {
		return parseTinkMaster(s)
	}
	key, err := decodeBase64(s)
	if err != nil || len(key) != masterSize {
		return nil, fmt.Errorf("a master key must be %d bytes in base64 or a Tink keyset in JSON", masterSize)
	}
	return newLocalMaster(key)
}

func decodeBase64(s string) ([]byte, error) {
	s = strings.TrimRight(s, "=")
	if strings.ContainsAny(s, "-_") {
		return base64.RawURLEncoding.DecodeString(s)
	}
	return base64.RawStdEncoding.DecodeString(s)
}

func newLocalMaster(key []byte) (Master, error) {
	cipher, err := subtle.NewXChaCha20Poly1305(key)
	if err != nil {
		return nil, fmt.Errorf("use master key: %w", err)
	}
	// The name is derived from the key, not from its path or variable: the same key
	// moved from a file to an environment variable keeps its name.
	id, err := hkdf.Key(sha256.New, key, nil, "vigil/master-name/1", 8)
	if err != nil {
		return nil, fmt.Errorf("name master key: %w", err)
	}
	return localMaster{name: "local:" + hex.EncodeToString(id), aead: cipher}, nil
}

func parseTinkMaster(s string) (Master, error) {
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(strings.NewReader(s)))
	if err != nil {
		return nil, errors.New("the master key is not a Tink keyset in JSON")
	}
	cipher, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("use master keyset: %w", err)
	}
	primary, err := handle.Primary()
	if err != nil {
		return nil, fmt.Errorf("use master keyset: %w", err)
	}
	return localMaster{name: fmt.Sprintf("tink:%08x", primary.KeyID()), aead: cipher}, nil
}

// MasterFromEnv reads the master key from an environment variable.
func MasterFromEnv(name string) (Master, error) {
	value, ok := os.LookupEnv(name)
	if !ok || value == "" {
		return nil, fmt.Errorf("environment variable %s is empty or not set; it must contain the master key", name)
	}
	m, err := ParseMaster(NewText(value))
	if err != nil {
		return nil, fmt.Errorf("environment variable %s: %w", name, err)
	}
	return m, nil
}

// MasterFromFile reads the master key from a file that only its owner may read.
// If create is set and the file does not exist, it creates one with a new key.
func MasterFromFile(path string, create bool) (Master, error) {
	data, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err := createMasterFile(path); err != nil {
			return nil, err
		}
		data, err = readPrivate(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read master key: %w", err)
	}
	m, err := ParseMaster(NewText(string(data)))
	if err != nil {
		return nil, fmt.Errorf("master key file %s: %w", path, err)
	}
	return m, nil
}

// readPrivate reads a file. It fails if others may read it.
func readPrivate(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && !isProtected(path) {
		return nil, fmt.Errorf("%s has mode %04o and may be read by others; set it to 0600", path, mode)
	}
	var buf bytes.Buffer
	// A keyset is far smaller; the limit only prevents a wrong path from filling
	// the memory.
	const limit = 1 << 20
	if info.Size() > limit {
		return nil, fmt.Errorf("%s is too large for a key", path)
	}
	if _, err := buf.ReadFrom(f); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// isProtected reports whether the file is private regardless of its mode bits:
// systemd credentials have a group bit that represents an access list, and
// Windows has no mode bits.
func isProtected(path string) bool {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	return runtime.GOOS == "windows" || dir != "" && filepath.Dir(path) == filepath.Clean(dir)
}

// createMasterFile writes a new key atomically. If another process creates the
// file at the same time, it leaves that file as it is.
func createMasterFile(path string) error {
	key := make([]byte, masterSize)
	_, _ = rand.Read(key)
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, ".master-*")
	if err != nil {
		return fmt.Errorf("create master key: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err == nil {
		err = tmp.Sync()
	}
	if err := errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("write master key: %w", err)
	}
	// Link fails if the name exists, where rename would overwrite it.
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create master key: %w", err)
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows cannot sync a folder
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("create master key: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
