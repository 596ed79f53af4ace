package terminal

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// HideTyping switches off the echo of a terminal, for a secret that is typed, and
// returns what switches it on again. It does nothing where nobody types.
func HideTyping(r io.Reader) (restore func()) {
	f, ok := r.(*os.File)
	if !ok {
		return func() {}
	}
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(fd, unix.TCSETS, &hidden) != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) }
}
