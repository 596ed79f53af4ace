package store

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// stageMemory is how much of what changed a recording keeps in memory. The rest
// waits in a file.
const stageMemory = 512 << 10

// A staged is an entity that was read and is not what is known.
type staged struct {
	id     digest
	hash   digest
	rid    int64 // of what is known, 0 if it is new
	region string
	doc    []byte
}

// A stage keeps what is to be written in the order in which it came.
type stage struct {
	count int
	buf   []byte
	file  *os.File
	limit int
}

// add takes an entity. It keeps copies.
func (g *stage) add(s staged) error {
	g.count++
	g.buf = append(g.buf, s.id[:]...)
	g.buf = append(g.buf, s.hash[:]...)
	g.buf = binary.LittleEndian.AppendUint64(g.buf, uint64(s.rid))
	g.buf = appendText(g.buf, s.region)
	g.buf = binary.AppendUvarint(g.buf, uint64(len(s.doc)))
	g.buf = append(g.buf, s.doc...)
	if len(g.buf) < g.limit {
		return nil
	}
	return g.spill()
}

// spill moves what is in memory into the file.
func (g *stage) spill() error {
	if g.file == nil {
		f, err := unnamed()
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

// unnamed makes a file without a name, so that nothing of it can be left behind.
func unnamed() (*os.File, error) {
	f, err := os.CreateTemp("", "vigil-entities-*")
	if err != nil {
		return nil, fmt.Errorf("stage entities: %w", err)
	}
	_ = os.Remove(f.Name())
	return f, nil
}

// all yields what was added. It may be called again.
func (g *stage) all() iter.Seq2[staged, error] {
	return func(yield func(staged, error) bool) {
		if g.file != nil {
			if err := g.spill(); err != nil {
				yield(staged{}, err)
				return
			}
			if _, err := g.file.Seek(0, io.SeekStart); err != nil {
				yield(staged{}, fmt.Errorf("read staged entities: %w", err))
				return
			}
			r := bufio.NewReaderSize(g.file, 1<<16)
			for {
				s, err := readStaged(r)
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
			var s staged
			s, rest = cutStaged(rest)
			if !yield(s, nil) {
				return
			}
		}
	}
}

// cutStaged takes the first entity off a buffer that add wrote.
func cutStaged(b []byte) (s staged, rest []byte) {
	text := func() []byte {
		n, size := binary.Uvarint(b)
		part := b[size : size+int(n)]
		b = b[size+int(n):]
		return part
	}
	copy(s.id[:], b)
	copy(s.hash[:], b[len(s.id):])
	b = b[len(s.id)+len(s.hash):]
	s.rid = int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	s.region = string(text())
	s.doc = text()
	return s, b
}

// readStaged reads one entity from the file.
func readStaged(r *bufio.Reader) (s staged, err error) {
	if _, err := io.ReadFull(r, s.id[:]); err != nil {
		return s, err // io.EOF at the end
	}
	text := func() []byte {
		n, e := binary.ReadUvarint(r)
		if e == nil && err == nil {
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
	var rid [8]byte
	if _, e := io.ReadFull(r, rid[:]); e != nil {
		return s, cutShort(e)
	}
	s.rid = int64(binary.LittleEndian.Uint64(rid[:]))
	s.region = string(text())
	s.doc = text()
	return s, err
}

// cutShort makes sure that a record that ends early is not taken for the end.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// close forgets everything.
func (g *stage) close() {
	if g.file != nil {
		_ = g.file.Close()
	}
	*g = stage{}
}
