package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
)

// countSessions counts the user sessions on the machine: those of the login
// manager, else those in utmp, else the running display servers.
func countSessions(root fs.FS) (int, error) {
	for _, count := range []func(fs.FS) (int, error){logindSessions, utmpSessions, displaySessions} {
		n, err := count(root)
		if !errors.Is(err, fs.ErrNotExist) {
			return n, err
		}
	}
	return 0, errors.New("count sessions: this machine has neither a login manager, nor utmp, nor /proc")
}

// logindSessions counts the sessions in systemd-logind's run-time folder.
func logindSessions(root fs.FS) (int, error) {
	const dir = "run/systemd/sessions"
	entries, err := fs.ReadDir(root, dir)
	if err != nil {
		return 0, fmt.Errorf("count sessions: %w", err)
	}
	n := 0
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue // the folder also has a pipe per session
		}
		text, err := fs.ReadFile(root, dir+"/"+e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // the session ended meanwhile
		}
		if err != nil {
			return 0, fmt.Errorf("count sessions: %w", err)
		}
		values := assignments(string(text))
		if values["CLASS"] == "user" && values["STATE"] != "closing" {
			n++
		}
	}
	return n, nil
}

// utmpSessions counts the logins in utmp.
func utmpSessions(root fs.FS) (int, error) {
	data, err := fs.ReadFile(root, "run/utmp")
	if err != nil {
		return 0, fmt.Errorf("count sessions: %w", err)
	}
	return countLogins(data, utmpRecordSize(runtime.GOARCH)), nil
}

// utmpRecordSize returns the size of a record of utmp. The session and the time in it have 32 bits, so that 32-bit
// programs can read it, except on arm64: there they have 64 bits.
func utmpRecordSize(arch string) int {
	if arch == "arm64" {
		return 400
	}
	return 384
}

const userProcess = 7 // the ut_type of a login

// countLogins counts the logins in utmp, whose records have the given size.
func countLogins(utmp []byte, size int) int {
	n := 0
	for record := range slices.Chunk(utmp, size) {
		if len(record) == size && binary.NativeEndian.Uint16(record) == userProcess {
			n++
		}
	}
	return n
}

// displayServers are programs of which one runs per graphical session.
var displayServers = []string{"Xorg", "Xvnc", "Xwayland", "X"}

// displaySessions counts the running display servers.
func displaySessions(root fs.FS) (int, error) {
	entries, err := fs.ReadDir(root, "proc")
	if err != nil {
		return 0, fmt.Errorf("count sessions: %w", err)
	}
	n := 0
	for _, e := range entries {
		if !e.IsDir() || strings.Trim(e.Name(), "0123456789") != "" {
			continue
		}
		// A process may end between the listing and the read.
		name, err := fs.ReadFile(root, "proc/"+e.Name()+"/comm")
		if err == nil && slices.Contains(displayServers, strings.TrimSpace(string(name))) {
			n++
		}
	}
	return n, nil
}

// assignments parses lines of NAME=value, with or without quotes.
func assignments(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(name, "#") {
			values[name] = strings.Trim(value, `"'`)
		}
	}
	return values
}
