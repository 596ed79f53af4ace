package wire

import (
	"bytes"
	"errors"
	"strconv"
)

// An object writes the JSON object of a structure. Services send a member once. If one is
// repeated, lists are joined and maps are merged; for other types the last value is used.
type object struct {
	start   int // offset of the object in the output
	member  int // offset of the current member
	entries int
	seen    [maxMembers / 64]uint64 // bit set of the members written so far
}

// maxMembers is the maximum number of members of a structure.
const maxMembers = 640

func openObject(out *[]byte) object {
	o := object{start: len(*out)}
	*out = append(*out, '{')
	return o
}

func (o *object) close(out *[]byte) { *out = append(*out, '}') }

// beginMember writes the name of a member and reports whether the member was written before. If
// so, the caller must call merge after writing the value.
func (o *object) beginMember(out *[]byte, f *field) (repeated bool) {
	if o.entries > 0 {
		*out = append(*out, ',')
	}
	o.entries++
	o.member = len(*out)
	*out = append(*out, f.key...)
	word, bit := f.index/64, uint64(1)<<(f.index%64)
	repeated = o.seen[word]&bit != 0
	o.seen[word] |= bit
	return repeated
}

// merge joins the member that was written last with its earlier occurrence.
func (o *object) merge(out *[]byte, f *field) {
	b := *out
	last := bytes.Clone(b[o.member+len(f.key):])
	b = b[:o.member-1] // also drops the comma
	o.entries--
	scan := &jsonScanner{b: b, i: o.start + 1}
	for { // until the earlier occurrence, which exists
		if scan.i < len(b) && b[scan.i] == ',' {
			scan.i++
		}
		matches := bytes.HasPrefix(b[scan.i:], f.key)
		_, _ = scan.str()
		scan.i++ // skip the colon
		from := scan.i
		_ = scan.skip()
		if !matches {
			continue
		}
		earlier := b[from:scan.i]
		joined := last
		switch f.kind {
		case kindList:
			joined = joinLists(earlier, last)
		case kindMap:
			joined = mergeMaps(earlier, last)
		}
		rest := bytes.Clone(b[scan.i:])
		b = append(append(b[:from], joined...), rest...)
		*out = b
		return
	}
}

// joinLists returns one JSON array with the items of two.
func joinLists(a, b []byte) []byte {
	switch {
	case len(a) == 2: // []
		return b
	case len(b) == 2:
		return bytes.Clone(a)
	}
	joined := append(bytes.Clone(a[:len(a)-1]), ',')
	return append(joined, b[1:]...)
}

// mergeMaps returns one JSON object with the entries of two.
func mergeMaps(a, b []byte) []byte {
	var out []byte
	keys := openKeys(&out)
	for _, m := range [][]byte{a, b} {
		scan := &jsonScanner{b: m, i: 1}
		for m[scan.i] != '}' {
			if m[scan.i] == ',' {
				scan.i++
			}
			key, _ := scan.str()
			scan.i++
			from := scan.i
			_ = scan.skip()
			keys.beginJSON(&out, key)
			out = append(out, m[from:scan.i]...)
			keys.dedupe(&out)
		}
	}
	keys.close(&out)
	return out
}

// A keyed writes a map as a JSON object. For a repeated key, the last value is used.
type keyed struct {
	start   int
	entry   int // offset of the current entry, including its comma
	keyEnd  int
	entries int
	few     [manyKeys]span      // offsets of the first keys
	many    map[string]struct{} // all keys, when there are more than manyKeys
}

// manyKeys is the number of keys above which a map is used to find repeated keys.
const manyKeys = 16

func openKeys(out *[]byte) keyed {
	k := keyed{start: len(*out)}
	*out = append(*out, '{')
	return k
}

func (k *keyed) close(out *[]byte) { *out = append(*out, '}') }

// begin writes a key. The caller must call dedupe after writing its value.
func (k *keyed) begin(out *[]byte, key []byte) {
	k.comma(out)
	*out = appendString(*out, key)
	k.keyEnd = len(*out)
	*out = append(*out, ':')
}

// beginJSON writes a key that is a quoted JSON string. It normalises escapes, so that equal
// keys have equal bytes.
func (k *keyed) beginJSON(out *[]byte, key []byte) {
	if bytes.IndexByte(key, '\\') >= 0 {
		if unquoted, err := unquote(key); err == nil {
			k.begin(out, []byte(unquoted))
			return
		}
	}
	k.begin(out, key[1:len(key)-1])
}

func (k *keyed) comma(out *[]byte) {
	k.entry = len(*out)
	if k.entries > 0 {
		*out = append(*out, ',')
	}
	k.entries++
}

// dedupe removes an earlier entry with the key that was written last.
func (k *keyed) dedupe(out *[]byte) {
	b := *out
	from := k.entry
	if k.entries > 1 {
		from++
	}
	key := b[from:k.keyEnd]
	if !k.isKnown(b, key) {
		k.note(b, from)
		return
	}
	k.each(b, func(other []byte, start, end int) bool {
		if !bytes.Equal(other, key) {
			return true
		}
		rest := bytes.Clone(b[end:]) // starts with a comma
		if start == k.start+1 {
			rest = rest[1:] // the entry was the first, which has no comma before it
		} else {
			start--
		}
		*out = append(b[:start], rest...)
		return false
	})
	// All following entries have moved, so count the entries and note their keys again. Because each
	// stops at k.entry, set k.entry to the end first.
	k.entries, k.entry = 0, len(*out)
	k.each(*out, func(key []byte, start, end int) bool {
		k.entries++
		k.keyEnd = start + len(key)
		if k.many == nil {
			k.note(*out, start)
		}
		return true
	})
}

// isKnown reports whether an earlier entry has the key.
func (k *keyed) isKnown(b, key []byte) bool {
	if k.many != nil {
		_, ok := k.many[string(key)]
		return ok
	}
	for _, s := range k.few[:k.entries-1] {
		if bytes.Equal(b[s.from:s.to], key) {
			return true
		}
	}
	return false
}

// note records the key of the entry that was written last.
func (k *keyed) note(b []byte, from int) {
	if k.many == nil && k.entries <= manyKeys {
		k.few[k.entries-1] = span{from, k.keyEnd}
		return
	}
	if k.many == nil {
		k.many = make(map[string]struct{}, 4*manyKeys)
		for _, s := range k.few {
			k.many[string(b[s.from:s.to])] = struct{}{}
		}
	}
	k.many[string(b[from:k.keyEnd])] = struct{}{}
}

// each calls f with the entries before the offset k.entry until f returns false.
func (k *keyed) each(b []byte, f func(key []byte, start, end int) bool) {
	scan := &jsonScanner{b: b, i: k.start + 1}
	for scan.i < k.entry {
		if b[scan.i] == ',' {
			scan.i++
		}
		start := scan.i
		key, _ := scan.str()
		scan.i++
		_ = scan.skip()
		if !f(key, start, scan.i) {
			return
		}
	}
}

func appendBool(b, text []byte) ([]byte, error) {
	v, err := strconv.ParseBool(string(text))
	if err != nil {
		return b, errors.New("not a boolean")
	}
	return strconv.AppendBool(b, v), nil
}
