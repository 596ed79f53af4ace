package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vigil/internal/audit"
	"vigil/internal/config"
	desktop "vigil/internal/desktop/store"
	"vigil/internal/instance"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

// checked is an output that calls check when a command writes a message that contains a text.
type checked struct {
	strings.Builder
	text  string
	check func()
}

func (c *checked) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.text) {
		c.check()
	}
	return c.Builder.Write(p)
}

// TestKeyChangesAreRecordedWithTheChange looks at the audit log when the command says what it changed, which is before it
// ends: a crash then leaves no change without a record.
func TestKeyChangesAreRecordedWithTheChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf := config.Config{DataDir: dir}
	conf.Complete()
	server, err := instance.OpenOrInit(t.Context(), conf, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	rewrapped := filepath.Join(dir, "new.key")
	if _, err := secret.MasterFromFile(rewrapped, true); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		operation, message string
		env, args          []string
	}{
		{"keys.rotate-signing", "is published", nil, []string{"rotate-signing"}},
		{"keys.rewrap", "are encrypted with the new master key", []string{"VIGIL_MASTER_KEY=file:" + rewrapped}, []string{"rewrap", "--from", conf.MasterKey}},
	} {
		args := append([]string{"admin", "keys"}, tt.args...)
		parser, err := newParser(args, append(tt.env, "VIGIL_DATA_DIR="+dir), io.Discard, io.Discard, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.Parse(args)
		if err != nil {
			t.Fatal(err)
		}
		records := func() int {
			all, err := server.Audit.Page(t.Context(), audit.Filter{Operation: tt.operation, Limit: 10})
			if err != nil {
				t.Error(err)
			}
			return len(all)
		}
		before := -1
		out := checked{text: tt.message, check: func() { before = records() }}
		if err := parsed.Run(&environment{ctx: t.Context(), stdout: &out}); err != nil {
			t.Fatalf("%s: %v", tt.operation, err)
		}
		if after := records(); before != 1 || after != 1 {
			t.Errorf("%s: %d audit records when the change was made, and %d at the end; want 1 and 1\n%s", tt.operation, before, after, &out)
		}
	}
	if _, err := instance.Open(t.Context(), conf, time.Now); err == nil {
		t.Error("the installation still opens with the previous master key")
	}
}

// watched is an output that calls onWait when a command says that it waits, and onDone when it says that
// everything is encrypted.
type watched struct {
	strings.Builder
	onWait, onDone func()
}

func (w *watched) Write(p []byte) (int, error) {
	switch {
	case strings.Contains(string(p), "waiting"):
		w.onWait()
	case strings.Contains(string(p), "are encrypted"):
		w.onDone()
	}
	return w.Builder.Write(p)
}

// TestRotationOfSecretsWaitsAndContinues rotates the key for secrets while a server runs that does
// not know the new key yet. Each run has an audit record with its first change, so that a crash leaves no change without one,
// and a run that fails has a second one.
func TestRotationOfSecretsWaitsAndContinues(t *testing.T) {
	t.Parallel()
	conf := config.Config{DataDir: t.TempDir()}
	conf.Complete()
	start := time.Now()
	server, err := instance.OpenOrInit(t.Context(), conf, func() time.Time { return start }) // its keyset never expires
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	if err := desktop.Migrate(t.Context(), server.DB); err != nil {
		t.Fatal(err)
	}
	vault := desktop.New(server.DB, server.Box, time.Now)
	wantRecords := 0
	recorded := func() {
		records, err := server.Audit.Page(t.Context(), audit.Filter{Operation: "keys.rotate-secrets", Limit: 10})
		if err != nil || len(records) != wantRecords {
			t.Errorf("%d audit records, %v; want %d", len(records), err, wantRecords)
		}
	}
	rotate := func(ctx context.Context, wait string, onWait func()) (string, error) {
		t.Helper()
		wantRecords++
		args := []string{"admin", "keys", "rotate-secrets", "--wait", wait}
		parser, err := newParser(args, []string{"VIGIL_DATA_DIR=" + conf.DataDir}, io.Discard, io.Discard, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.Parse(args)
		if err != nil {
			t.Fatal(err)
		}
		out := watched{onWait: onWait, onDone: recorded}
		err = parsed.Run(&environment{ctx: ctx, stdout: &out})
		return out.String(), err
	}
	generation := func() int64 {
		t.Helper()
		w, err := server.Keyring.Keyset(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return w.Generation
	}
	// keyID returns the prefix of a sealed value, which contains the id of its key.
	keyID := func(sealed []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return sealed[:5]
	}
	before := generation()

	interrupted, interrupt := context.WithCancel(t.Context())
	out, err := rotate(interrupted, "24h", func() { recorded(); interrupt() })
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "run the command again to continue") || strings.Contains(out, "are encrypted") {
		t.Fatalf("the interruption gave %v\n%s", err, out)
	}
	failures, err := server.Audit.Page(t.Context(), audit.Filter{Operation: "keys.rotate-secrets", Outcome: audit.Failure, Limit: 10})
	if err != nil || len(failures) != 1 {
		t.Errorf("%d records of failures, %v; want 1", len(failures), err)
	}
	wantRecords++ // the interrupted run has two records
	out, err = rotate(t.Context(), "1ms", func() {
		if err := vault.SetEntry(t.Context(), "vcenter", secret.NewText("hunter2")); err != nil {
			t.Error(err)
		}
	})
	if err != nil || !strings.Contains(out, "no new key is created") || !strings.Contains(out, "secrets are encrypted with the new key") {
		t.Fatalf("the second run gave %v\n%s", err, out)
	}
	var stored []byte
	err = server.DB.Read(t.Context(), func(tx *sqldb.Tx) error {
		return tx.QueryRow(`SELECT sealed FROM desktop_vault`).Scan(&stored)
	})
	current, openErr := instance.Open(t.Context(), conf, time.Now)
	if openErr != nil {
		t.Fatal(openErr)
	}
	t.Cleanup(func() { _ = current.Close() })
	if got, want := keyID(stored, err), keyID(current.Box.Seal(t.Context(), secret.Cell{}, nil)); !bytes.Equal(got, want) {
		t.Errorf("what the server stored during the wait is encrypted with key %x, want %x", got, want)
	}
	if got := generation(); got != before+1 {
		t.Errorf("generation %d of the keyset, want %d: one key is added", got, before+1)
	}
	if out, err = rotate(t.Context(), "0s", nil); err != nil || strings.Contains(out, "continuing") || generation() != before+2 {
		t.Errorf("after a complete rotation: generation %d, want %d, %v\n%s", generation(), before+2, err, out)
	}
}
