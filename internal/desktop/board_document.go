package desktop

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// A Document is the encoded records of one kind: an array, or one object for
// the event database.
type Document struct {
	JSON []byte
	ETag string // changes with the content

	gzipped *gzipped
}

// gzipped is the compressed document, created on first use.
type gzipped struct {
	once sync.Once
	gzip []byte
}

// newDocument returns a document whose ETag is derived from a revision.
func newDocument(encoded []byte, revision uint64) *Document {
	return &Document{JSON: encoded, ETag: strconv.Quote(strconv.FormatUint(revision, 36)), gzipped: new(gzipped)}
}

// minGzip is the smallest document that is worth compressing.
const minGzip = 1 << 10

// Gzip returns the compressed document, or nil when it is too small. It is
// compressed once.
func (d Document) Gzip() []byte {
	if d.gzipped == nil || len(d.JSON) < minGzip {
		return nil
	}
	d.gzipped.once.Do(func() {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
		if err == nil {
			_, err = w.Write(d.JSON)
		}
		if err == nil && w.Close() == nil {
			d.gzipped.gzip = out.Bytes()
		}
	})
	return d.gzipped.gzip
}

// Document returns the encoded records of a kind. The encoding is cached until
// a record changes.
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

// Record returns the record of one component and its encoding. It returns false
// if there is none.
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

// put replaces a record and adds the changes of its statuses to the pending
// changes.
func (b *Board) put(k Kind, id ID, r Record) {
	l := b.lists[k]
	if changes := l.track(b.now(), r); len(changes) > 0 {
		b.pending = append(b.pending, changes...)
		b.pulse.Statuses = MillisOf(b.now())
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("desktop: a record of kind %s does not encode: %v", k, err))
	}
	before, existed := l.entries[id]
	if existed && bytes.Equal(before.json, encoded) {
		l.entries[id] = entry{r, before.json} // r may differ in fields that are not encoded
		return
	}
	l.entries[id] = entry{r, encoded}
	b.touch(l)
}

// order sets the components of the list and removes all others.
func (l *list) order(ids []ID) {
	l.ids = slices.Clone(ids)
	entries := make(map[ID]entry, len(ids))
	for _, id := range ids {
		if e, ok := l.entries[id]; ok {
			entries[id] = e
		}
	}
	l.entries = entries
	maps.DeleteFunc(l.tracked, func(id ID, _ map[string]tracked) bool { return !slices.Contains(ids, id) })
	l.revision++
	l.document.Store(nil)
}

// touch invalidates the encodings that contain a changed record.
func (b *Board) touch(l *list) {
	l.revision++
	l.document.Store(nil)
	b.revision++
	b.overview.Store(nil)
	b.pulse.Records = MillisOf(b.now())
}

// Matching returns the records of a kind for which match is true, encoded as an
// array.
func (b *Board) Matching(k Kind, match func(Record) bool) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lists[k]
	return l.join(slices.DeleteFunc(slices.Clone(l.ids), func(id ID) bool { return !match(l.entries[id].record) }))
}

func (l *list) encode() *Document {
	if l.single {
		return newDocument(l.entries[l.ids[0]].json, l.revision)
	}
	return newDocument(l.join(l.ids), l.revision)
}

// join returns the encoded records of some components as an array.
func (l *list) join(ids []ID) []byte {
	size := 2
	for _, id := range ids {
		size += len(l.entries[id].json) + 1
	}
	out := append(make([]byte, 0, size), '[')
	for i, id := range ids {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, l.entries[id].json...)
	}
	return append(out, ']')
}
