package collect

import (
	"errors"
	"fmt"
	"sync"
)

// Failures collects the errors of several resources. An error of one resource does not prevent
// the others from being read.
type Failures struct {
	mu    sync.Mutex
	first error
	count int
}

// tooMany is the number of failures after which to stop: a permission that is missing for so
// many is missing for all.
const tooMany = 20

// Note records an error. It returns an error when continuing is pointless. ErrGone and ErrOff
// are not failures.
func (f *Failures) Note(err error) error {
	switch {
	case err == nil, IsFatal(err):
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

// Err returns the first error and the number of further ones, or nil.
func (f *Failures) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count > 1 {
		return fmt.Errorf("%w (and %d more)", f.first, f.count-1)
	}
	return f.first
}
