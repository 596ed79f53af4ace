package entitydb

import (
	"encoding/binary"
	"fmt"
	"os"
)

// A baselineEntry is an entity that was stored when the recording began.
type baselineEntry struct {
	entry
	rowID int64
}

const baselineEntrySize = 2*len(digest{}) + 8

// baselineMemory is how many entries are kept in memory. A longer list is spilled to
// a temporary file, of which baselineWindow entries are read at a time.
const (
	baselineMemory = 2048
	baselineWindow = 64
)

// baseline is the list of stored entities that a recording compares with. It is
// written once, then read mostly in its order, because clouds list resources in the
// same order each time.
type baseline struct {
	count  int
	limit  int      // of entries in memory
	seen   []uint64 // bitmap
	unseen int

	buf   []byte   // the whole list, or a window of the file
	from  int      // position of the first entry of buf
	file  *os.File // nil if the list is in memory
	index []uint64 // open-addressing hash table of positions by id; built on demand
}

// add appends an entry.
func (l *baseline) add(k baselineEntry) error {
	l.buf = append(l.buf, k.id[:]...)
	l.buf = append(l.buf, k.hash[:]...)
	l.buf = binary.LittleEndian.AppendUint64(l.buf, uint64(k.rowID))
	l.count++
	if len(l.buf) < l.limit*baselineEntrySize {
		return nil
	}
	return l.spill()
}

// spill moves the buffer to the file.
func (l *baseline) spill() (err error) {
	if l.file == nil {
		if l.file, err = unlinkedTempFile(); err != nil {
			return err
		}
	}
	_, err = l.file.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}

// ready ends writing and begins reading.
func (l *baseline) ready() error {
	l.seen, l.unseen = make([]uint64, (l.count+63)/64), l.count
	if l.file == nil {
		return nil
	}
	err := l.spill()
	l.buf, l.from = nil, l.count // no window is loaded
	return err
}

// entryAt returns the entry at a position.
func (l *baseline) entryAt(index int) (k baselineEntry, err error) {
	if index < l.from || index >= l.from+len(l.buf)/baselineEntrySize {
		if err := l.read(index); err != nil {
			return k, err
		}
	}
	b := l.buf[(index-l.from)*baselineEntrySize:]
	copy(k.id[:], b)
	copy(k.hash[:], b[len(k.id):])
	k.rowID = int64(binary.LittleEndian.Uint64(b[len(k.id)+len(k.hash):]))
	return k, nil
}

// read loads the window that begins at a position.
func (l *baseline) read(index int) error {
	n := min(baselineWindow, l.count-index)
	if cap(l.buf) == 0 {
		l.buf = make([]byte, baselineWindow*baselineEntrySize)
	}
	l.buf, l.from = l.buf[:n*baselineEntrySize], index
	if _, err := l.file.ReadAt(l.buf, int64(index)*int64(baselineEntrySize)); err != nil {
		l.buf = l.buf[:0]
		return fmt.Errorf("read the baseline of a recording: %w", err)
	}
	return nil
}

// all calls f for each entry, in order.
func (l *baseline) all(f func(k baselineEntry, seen bool)) error {
	for i := range l.count {
		k, err := l.entryAt(i)
		if err != nil {
			return err
		}
		f(k, l.wasSeen(i))
	}
	return nil
}

func (l *baseline) wasSeen(index int) bool { return l.seen[index/64]>>(index%64)&1 == 1 }

func (l *baseline) markSeen(index int) {
	if !l.wasSeen(index) {
		l.seen[index/64] |= 1 << (index % 64)
		l.unseen--
	}
}

// find returns the position of an id.
func (l *baseline) find(id digest) (position int, ok bool, err error) {
	if l.index == nil {
		if err := l.makeIndex(); err != nil {
			return 0, false, err
		}
	}
	slot, tag := l.slot(id)
	for ; l.index[slot] != 0; slot = (slot + 1) % len(l.index) {
		if l.index[slot]>>32 != tag {
			continue
		}
		position = int(l.index[slot]&(1<<32-1)) - 1
		k, err := l.entryAt(position)
		if err != nil || k.id == id {
			return position, true, err
		}
	}
	return 0, false, nil
}

// makeIndex builds the hash table, half of which stays empty. A slot holds a tag in its upper
// 32 bits and the position plus one in its lower ones; it is 0 if empty.
func (l *baseline) makeIndex() error {
	l.index = make([]uint64, 2*l.count+1)
	for i := range l.count {
		k, err := l.entryAt(i)
		if err != nil {
			return err
		}
		slot, tag := l.slot(k.id)
		for l.index[slot] != 0 {
			slot = (slot + 1) % len(l.index)
		}
		l.index[slot] = tag<<32 | uint64(i+1)
	}
	return nil
}

// slot returns the slot at which the search for an id begins, and the tag: 32 bits of the id.
func (l *baseline) slot(id digest) (slot int, tag uint64) {
	return int(binary.LittleEndian.Uint64(id[:8]) % uint64(len(l.index))), uint64(binary.LittleEndian.Uint32(id[8:]))
}

// close releases the memory and the file.
func (l *baseline) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
	*l = baseline{}
}
