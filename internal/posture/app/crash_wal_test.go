package app_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vigil/internal/audit"
	"vigil/internal/config"
	"vigil/internal/instance"
)

// TestDamagedWALIsDetected kills a server and changes eight bytes in the write-ahead
// log of its SQLite database. SQLite silently ignores the log from there on, so
// acknowledged accounts are lost. The server must refuse to start until an operator
// accepts the loss.
func TestDamagedWALIsDetected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := newHost(t, "sqlite:"+filepath.Join(dir, "vigil.db"))
	wal := filepath.Join(dir, "vigil.db-wal")
	c, kill := h.start()
	added := 0
	add := func(n int) {
		for range n {
			c.want(201, "POST", accounts, awsAccount(fmt.Sprintf("1%011d", added)))
			added++
		}
	}
	add(5)
	// Add five accounts whose frames follow the damaged place, so the damage loses them. If SQLite
	// restarted the log meanwhile, repeat this at the end of the new log.
	before, expected := readWAL(t, wal), added
	for add(5); !bytes.Equal(readWAL(t, wal).salts, before.salts); add(5) {
		before, expected = readWAL(t, wal), added
	}
	kill()
	before.damage(t, wal)

	conf := config.Config{DataDir: h.dir, Database: h.dsn}
	conf.Complete()
	if _, err := instance.Open(t.Context(), conf, time.Now); !errors.Is(err, audit.ErrTruncated) {
		t.Fatalf("open: %v, want %v", err, audit.ErrTruncated)
	}
	in, err := instance.OpenDespiteLoss(t.Context(), conf, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if lost, err := in.AcceptLoss(t.Context()); !lost || err != nil {
		t.Errorf("accept the loss: %t, %v", lost, err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	c, kill = h.start()
	defer kill()
	remaining, _ := c.do("POST", "/v1/cloud-accounts/query", object{}).body["cloudAccounts"].([]any)
	if len(remaining) != expected {
		t.Errorf("%d of %d accounts are left, want the %d from before the damage", len(remaining), added, expected)
	}
}

// walState is the extent of a write-ahead log.
type walState struct {
	salts []byte // SQLite changes them when it restarts the log
	end   int    // of the frames with these salts, in bytes
}

// readWAL reads a write-ahead log. Its header of 32 bytes has the page size at 8 and
// two salts at 16. Each frame is a header of 24 bytes, with the salts at 8, and a page.
func readWAL(t *testing.T, path string) walState {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w := walState{salts: text[16:24], end: 32}
	frame := 24 + int(binary.BigEndian.Uint32(text[8:]))
	for w.end+frame <= len(text) && bytes.Equal(text[w.end+8:w.end+16], w.salts) {
		w.end += frame
	}
	return w
}

// damage changes eight bytes in the first page after the extent.
func (w walState) damage(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const offset = 100 // any place in the page
	for i := range 8 {
		text[w.end+24+offset+i] ^= 0xff
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
