package collect

import (
	"errors"
	"fmt"
	"sync"
)

// Failures remembers what could not be read of several resources. What cannot be
// read of one does not keep the rest from being read.
type Failures struct {
	mu    sync.Mutex
	first error
	count int
}

// tooMany failures are reason enough to stop: a permission that is missing here
// is missing everywhere.
const tooMany = 20

// Note returns an error when there is no use in going on. What was removed
// meanwhile, or cannot have any, is no failure.
func (f *Failures) Note(err error) error {
	switch {
	case err == nil, Over(err):
		return err
	case errors.Is(err, ErrGone), errors.Is(err, ErrOff):
		return nil
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

// Err returns what went wrong.
func (f *Failures) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count > 1 {
		return fmt.Errorf("%w (and %d more)", f.first, f.count-1)
	}
	return f.first
}
