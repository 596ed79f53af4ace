package agent

import (
	"context"
	"io/fs"
	"net"
	"time"

	"vigil/internal/desktop"
)

// operatingSystem returns the operating system named by the os-release file,
// which only Linux machines have.
func operatingSystem(root fs.FS) desktop.OperatingSystem {
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		text, err := fs.ReadFile(root, name)
		if err == nil && assignments(string(text))["ID"] != "" {
			return desktop.OSLinuxOther
		}
	}
	return desktop.OSUnknown
}

// state returns whether the host accepts sessions, and its problems.
func (h *host) state(ctx context.Context) (desktop.RDSState, []string) {
	var problems []string
	if exists(h.root, "run/reboot-required") || exists(h.root, "var/run/reboot-required") {
		problems = append(problems, "the machine needs a reboot")
	}
	if h.rdp != "" && !isReachable(ctx, h.rdp) {
		return desktop.RDSProtocolFailure, append(problems, "the RDP listener on "+h.rdp+" does not answer")
	}
	if exists(h.root, "run/nologin") || exists(h.root, "etc/nologin") {
		return desktop.RDSDrainMode, append(problems, "logins are disabled by the file nologin")
	}
	return desktop.RDSAvailable, problems
}

func exists(root fs.FS, name string) bool {
	_, err := fs.Stat(root, name)
	return err == nil
}

func isReachable(ctx context.Context, address string) bool {
	dialer := net.Dialer{Timeout: 2 * time.Second}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = c.Close() // only whether it answers matters
	return true
}
