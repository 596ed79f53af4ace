package entitydb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// stageMemory is how many bytes of changed entities a recording keeps in memory
// before it spills them to a temporary file.
const stageMemory = 512 << 10

// A stagedEntity is a new or changed entity that waits for the commit.
type stagedEntity struct {
	id     digest
	hash   digest
	rowID  int64 // of the stored entity, 0 if it is new
	region string
	doc    []byte
}

// A stage is a FIFO of entities to write.
type stage struct {
	count int
	buf   []byte
	file  *os.File
	limit int
}

// add appends a copy of an entity.
func (g *stage) add(s stagedEntity) error {
	g.count++
	g.buf = append(g.buf, s.id[:]...)
	g.buf = append(g.buf, s.hash[:]...)
	g.buf = binary.LittleEndian.AppendUint64(g.buf, uint64(s.rowID))
	g.buf = appendText(g.buf, s.region)
	g.buf = binary.AppendUvarint(g.buf, uint64(len(s.doc)))
	g.buf = append(g.buf, s.doc...)
	if len(g.buf) < g.limit {
		return nil
	}
	return g.spill()
}

// spill moves the buffer to the file.
func (g *stage) spill() error {
	if g.file == nil {
		f, err := unlinkedTempFile()
		if err != nil {
			return err
		}
		g.file = f
	}
	if _, err := g.file.Write(g.buf); err != nil {
		return fmt.Errorf("stage entities: %w", err)
	}
	g.buf = g.buf[:0]
	return nil
}

// unlinkedTempFile returns a temporary file that is already deleted, so that the
// system frees it even after a crash.
func unlinkedTempFile() (*os.File, error) {
	f, err := os.CreateTemp("", "vigil-entities-*")
	if err != nil {
		return nil, fmt.Errorf("stage entities: %w", err)
	}
	_ = os.Remove(f.Name())
	return f, nil
}

// all yields the entities in order. It may be called again.
func (g *stage) all() iter.Seq2[stagedEntity, error] {
	return func(yield func(stagedEntity, error) bool) {
		if g.file != nil {
			if err := g.spill(); err != nil {
				yield(stagedEntity{}, err)
				return
			}
			if _, err := g.file.Seek(0, io.SeekStart); err != nil {
				yield(stagedEntity{}, fmt.Errorf("read staged entities: %w", err))
				return
			}
			r := bufio.NewReaderSize(g.file, 1<<16)
			for {
				s, err := readStagedEntity(r)
				if errors.Is(err, io.EOF) {
					return
				}
				if err != nil {
					err = fmt.Errorf("read staged entities: %w", err)
				}
				if !yield(s, err) || err != nil {
					return
				}
			}
		}
		for rest := g.buf; len(rest) > 0; {
			var s stagedEntity
			s, rest = cutStagedEntity(rest)
			if !yield(s, nil) {
				return
			}
		}
	}
}

// cutStagedEntity decodes the first entity of a buffer.
func cutStagedEntity(b []byte) (s stagedEntity, rest []byte) {
	text := func() []byte {
		n, size := binary.Uvarint(b)
		part := b[size : size+int(n)]
		b = b[size+int(n):]
		return part
	}
	copy(s.id[:], b)
	copy(s.hash[:], b[len(s.id):])
	b = b[len(s.id)+len(s.hash):]
	s.rowID = int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	s.region = string(text())
	s.doc = text()
	return s, b
}

// readStagedEntity decodes one entity from the file.
func readStagedEntity(r *bufio.Reader) (s stagedEntity, err error) {
	if _, err := io.ReadFull(r, s.id[:]); err != nil {
		return s, err // io.EOF at the end
	}
	text := func() []byte { // reads nothing more after an error
		if err != nil {
			return nil
		}
		n, e := binary.ReadUvarint(r)
		if e == nil {
			b := make([]byte, n)
			if _, e = io.ReadFull(r, b); e == nil {
				return b
			}
		}
		err = cutShort(e)
		return nil
	}
	if _, e := io.ReadFull(r, s.hash[:]); e != nil {
		return s, cutShort(e)
	}
	var rowID [8]byte
	if _, e := io.ReadFull(r, rowID[:]); e != nil {
		return s, cutShort(e)
	}
	s.rowID = int64(binary.LittleEndian.Uint64(rowID[:]))
	s.region = string(text())
	s.doc = text()
	return s, err
}

// cutShort turns io.EOF inside a record into io.ErrUnexpectedEOF.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// close releases the buffer and the file.
func (g *stage) close() {
	if g.file != nil {
		_ = g.file.Close()
	}
	*g = stage{}
}
