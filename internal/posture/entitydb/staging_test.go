package entitydb

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestStagedEntityReportsTheFirstError has the file fail once, before the region of an
// entity. That the document can be read afterwards must not hide the error.
func TestStagedEntityReportsTheFirstError(t *testing.T) {
	t.Parallel()
	const doc = "\x03doc" // the length and the text
	broken := errors.New("I/O error")
	var s stagedEntity
	fixed := strings.Repeat("x", len(s.id)+len(s.hash)+8) // id, hash and row id
	r := io.MultiReader(strings.NewReader(fixed), &failOnce{err: broken, then: strings.NewReader(doc)})
	if s, err := readStagedEntity(bufio.NewReader(iotest.OneByteReader(r))); !errors.Is(err, broken) {
		t.Errorf("readStagedEntity = %+v, %v; want the error %q", s, err, broken)
	}
}

type failOnce struct {
	err  error
	then io.Reader
}

func (f *failOnce) Read(p []byte) (int, error) {
	if err := f.err; err != nil {
		f.err = nil
		return 0, err
	}
	return f.then.Read(p)
}
