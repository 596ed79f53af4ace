package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"vigil/internal/atomicfile"
)

func TestWriteReplacesTheFileOrKeepsIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	if err := atomicfile.WriteBytes(name, 0o640, []byte("first")); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	err := atomicfile.Write(name, 0o640, func(w io.Writer) error {
		_, err := io.WriteString(w, "half of the sec")
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Errorf("got %v, want %v", err, failed)
	}
	text, err := os.ReadFile(name)
	if err != nil || string(text) != "first" {
		t.Errorf("after a failure: %q, %v; want first", text, err)
	}
	if err := atomicfile.WriteBytes(name, 0o600, []byte("second")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	text, _ = os.ReadFile(name)
	if string(text) != "second" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q with mode %o, want second with 600", text, info.Mode().Perm())
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%d files are left, %v; want 1", len(all), err)
	}
}

func TestWriteDoesNotReplaceANamedPipe(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(name, os.O_RDWR, 0) // both ends, so that neither blocks
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := atomicfile.WriteBytes(name, 0o600, []byte("text")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(reader, got); err != nil || string(got) != "text" {
		t.Errorf("read %q, %v; want text", got, err)
	}
}
