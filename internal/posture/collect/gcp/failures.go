package gcp

import (
	"errors"
	"fmt"
	"sync"

	"vigil/internal/posture/collect"
)

// failures remembers what could not be read of several resources. What cannot be
// read of one does not keep the rest from being read.
type failures struct {
	mu    sync.Mutex
	first error
	count int
}

// tooMany failures are reason enough to stop: a permission that is missing here
// is missing everywhere.
const tooMany = 20

// note returns an error when there is no use in going on.
func (f *failures) note(err error) error {
	switch {
	case err == nil, collect.Over(err):
		return err
	case errors.Is(err, collect.ErrGone), errors.Is(err, collect.ErrOff):
		return nil // it was removed meanwhile, or cannot have any
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if f.first == nil {
		f.first = err
	}
	if f.count >= tooMany {
		return f.first
	}
	return nil
}

// err returns what went wrong.
func (f *failures) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count > 1 {
		return fmt.Errorf("%w (and %d more)", f.first, f.count-1)
	}
	return f.first
}
