// Package atomicfile replaces files atomically.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces a file with the output of a function. The content is synced to
// disk before the file is renamed. If the function fails, the file does not
// change. A device or a named pipe is written to, not replaced.
func Write(name string, mode fs.FileMode, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		device, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(device), device.Close())
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".vigil-*")
	if err != nil {
		return err
	}
	err = errors.Join(temp.Chmod(mode), write(temp), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

// WriteBytes is [Write] with a given content.
func WriteBytes(name string, mode fs.FileMode, content []byte) error {
	return Write(name, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
