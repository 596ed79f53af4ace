package terminal

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// HideTyping disables the echo of a terminal, for typing a secret, and returns
// a function that restores it. It does nothing if r is not a terminal.
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
