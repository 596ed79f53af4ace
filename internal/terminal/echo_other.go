//go:build !linux

package terminal

import "io"

// HideTyping does nothing on this system.
func HideTyping(io.Reader) (restore func()) { return func() {} }
