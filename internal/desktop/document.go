package desktop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// A Document is the records of one kind as the API serves them: an array, or
// one object for the event database.
type Document struct {
	JSON []byte
	ETag string // changes with the content
}

// Document returns the records of a kind, encoded. It is cheap: the encoding
// is kept until a record changes.
func (b *Board) Document(k Kind) Document {
	l := b.lists[k]
	if l == nil {
		return Document{JSON: []byte("[]"), ETag: `"0"`}
	}
	if d := l.document.Load(); d != nil {
		return *d
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := l.document.Load(); d != nil {
		return *d
	}
	d := l.encode()
	l.document.Store(d)
	return *d
}

// Records returns the records of a kind, in the order of the inventory.
func (b *Board) Records(k Kind) []Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lists[k]
	if l == nil {
		return nil
	}
	out := make([]Record, 0, len(l.ids))
	for _, id := range l.ids {
		out = append(out, l.entries[id].record)
	}
	return out
}

// Record returns the record of one component, and its encoding.
func (b *Board) Record(k Kind, id ID) (Record, []byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lists[k]
	if l == nil {
		return nil, nil, false
	}
	e, ok := l.entries[id]
	return e.record, e.json, ok
}

// put replaces a record and notes how its statuses changed.
func (b *Board) put(k Kind, id ID, r Record) {
	l := b.lists[k]
	encoded, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("desktop: a record of kind %s does not encode: %v", k, err))
	}
	before, existed := l.entries[id]
	if existed && bytes.Equal(before.json, encoded) {
		l.entries[id] = entry{r, before.json}
		return
	}
	l.entries[id] = entry{r, encoded}
	l.touch()
	if existed {
		b.pending = append(b.pending, changesOf(b.now(), before.record, r)...)
	}
}

// order sets which components the list has, and forgets the others.
func (l *list) order(ids []ID) {
	l.ids = slices.Clone(ids)
	kept := make(map[ID]entry, len(ids))
	for _, id := range ids {
		if e, ok := l.entries[id]; ok {
			kept[id] = e
		}
	}
	l.entries = kept
	l.touch()
}

func (l *list) touch() {
	l.revision++
	l.document.Store(nil)
}

func (l *list) encode() *Document {
	d := &Document{ETag: strconv.Quote(strconv.FormatUint(l.revision, 36))}
	if l.single {
		d.JSON = l.entries[l.ids[0]].json
		return d
	}
	size := 2
	for _, id := range l.ids {
		size += len(l.entries[id].json) + 1
	}
	out := append(make([]byte, 0, size), '[')
	for i, id := range l.ids {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, l.entries[id].json...)
	}
	d.JSON = append(out, ']')
	return d
}
