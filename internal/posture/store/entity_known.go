package store

import (
	"encoding/binary"
	"fmt"
	"os"
)

// A known is an entity that was there when the recording began.
type known struct {
	entry
	rid int64
}

const knownSize = 2*len(digest{}) + 8

// knownMemory is how many knowns are kept in memory. More wait in a file, of
// which knownWindow are read at a time.
const (
	knownMemory = 2048
	knownWindow = 64
)

// knowns is a list of what is known. It is made once, then read: mostly in its
// order, for clouds list things in the same order each time.
type knowns struct {
	count  int
	limit  int      // of what is kept in memory
	seen   []uint64 // a bit each
	unseen int

	buf   []byte   // all of it, or what was read of the file
	from  int      // which of the list buf begins with
	file  *os.File // nil if all of it is in memory
	index []uint64 // places by id, once it is needed
}

// add appends to the list.
func (l *knowns) add(k known) error {
	l.buf = append(l.buf, k.id[:]...)
	l.buf = append(l.buf, k.hash[:]...)
	l.buf = binary.LittleEndian.AppendUint64(l.buf, uint64(k.rid))
	l.count++
	if len(l.buf) < l.limit*knownSize {
		return nil
	}
	return l.spill()
}

// spill moves what is in memory into the file.
func (l *knowns) spill() (err error) {
	if l.file == nil {
		if l.file, err = unnamed(); err != nil {
			return err
		}
	}
	_, err = l.file.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}

// ready ends the list: from now on it is read.
func (l *knowns) ready() error {
	l.seen, l.unseen = make([]uint64, (l.count+63)/64), l.count
	if l.file == nil {
		return nil
	}
	err := l.spill()
	l.buf, l.from = nil, l.count
	return err
}

// at returns the known at a place.
func (l *knowns) at(place int) (k known, err error) {
	if place < l.from || place >= l.from+len(l.buf)/knownSize {
		if err := l.read(place); err != nil {
			return k, err
		}
	}
	b := l.buf[(place-l.from)*knownSize:]
	copy(k.id[:], b)
	copy(k.hash[:], b[len(k.id):])
	k.rid = int64(binary.LittleEndian.Uint64(b[2*len(k.id):]))
	return k, nil
}

// read reads what is at a place and after it.
func (l *knowns) read(place int) error {
	n := min(knownWindow, l.count-place)
	if cap(l.buf) == 0 {
		l.buf = make([]byte, knownWindow*knownSize)
	}
	l.buf, l.from = l.buf[:n*knownSize], place
	if _, err := l.file.ReadAt(l.buf, int64(place)*int64(knownSize)); err != nil {
		l.buf = l.buf[:0]
		return fmt.Errorf("read what is known: %w", err)
	}
	return nil
}

// all calls f for each, and whether it was seen.
func (l *knowns) all(f func(k known, seen bool)) error {
	for i := range l.count {
		k, err := l.at(i)
		if err != nil {
			return err
		}
		f(k, l.isSeen(i))
	}
	return nil
}

func (l *knowns) isSeen(place int) bool { return l.seen[place/64]>>(place%64)&1 == 1 }

func (l *knowns) see(place int) {
	if !l.isSeen(place) {
		l.seen[place/64] |= 1 << (place % 64)
		l.unseen--
	}
}

// find returns where an id is.
func (l *knowns) find(id digest) (place int, ok bool, err error) {
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
		place = int(l.index[slot]&(1<<32-1)) - 1
		k, err := l.at(place)
		if err != nil || k.id == id {
			return place, true, err
		}
	}
	return 0, false, nil
}

// makeIndex makes a table of places, half of it empty. A slot has a part of the
// id and the place, counted from one.
func (l *knowns) makeIndex() error {
	l.index = make([]uint64, 2*l.count+1)
	for i := range l.count {
		k, err := l.at(i)
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

// slot returns where in the index an id would be, and the part of it that is
// kept there.
func (l *knowns) slot(id digest) (slot int, tag uint64) {
	return int(binary.LittleEndian.Uint64(id[:8]) % uint64(len(l.index))), uint64(binary.LittleEndian.Uint32(id[8:]))
}

// close forgets everything.
func (l *knowns) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
	*l = knowns{}
}
