package wire

import (
	"bytes"
	"errors"
	"strconv"
)

// An object is a JSON object that is being written for a structure. Services send
// a member once; should one come twice, lists are joined, maps are merged, and of
// anything else the last counts.
type object struct {
	start   int // of the object in the output
	member  int // of the member that is being written
	entries int
	seen    [maxMembers / 64]uint64 // a bit for each member that was written
}

// maxMembers is how many members a structure can have at most.
const maxMembers = 640

func openObject(out *[]byte) object {
	o := object{start: len(*out)}
	*out = append(*out, '{')
	return o
}

func (o *object) close(out *[]byte) { *out = append(*out, '}') }

// begin writes the name of a member and reports whether it was written before.
// If so, settle must follow its value.
func (o *object) begin(out *[]byte, f *field) (repeated bool) {
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

// settle joins the member that was written last with its earlier occurrence.
func (o *object) settle(out *[]byte, f *field) {
	b := *out
	last := bytes.Clone(b[o.member+len(f.key):])
	b = b[:o.member-1] // and the comma
	o.entries--
	scan := &jsonScanner{b: b, i: o.start + 1}
	for {
		if scan.i < len(b) && b[scan.i] == ',' {
			scan.i++
		}
		same := bytes.HasPrefix(b[scan.i:], f.key)
		_, _ = scan.str()
		scan.i++ // the colon
		from := scan.i
		_ = scan.skip()
		if !same {
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

// joinLists returns the items of two JSON arrays as one.
func joinLists(a, b []byte) []byte {
	switch {
	case len(a) == 2:
		return b
	case len(b) == 2:
		return bytes.Clone(a)
	}
	joined := append(bytes.Clone(a[:len(a)-1]), ',')
	return append(joined, b[1:]...)
}

// mergeMaps returns the entries of two JSON objects as one.
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
			keys.settle(&out)
		}
	}
	keys.close(&out)
	return out
}

// A keyed is a JSON object that is being written for a map. Of a key that comes
// twice the last value counts.
type keyed struct {
	start   int
	entry   int // where the entry that is being written begins, with its comma
	keyEnd  int
	entries int
	few     [manyKeys]span      // where the first keys are
	many    map[string]struct{} // all keys, once there are many
}

// manyKeys is from how many keys on an index is worth making.
const manyKeys = 16

func openKeys(out *[]byte) keyed {
	k := keyed{start: len(*out)}
	*out = append(*out, '{')
	return k
}

func (k *keyed) close(out *[]byte) { *out = append(*out, '}') }

// begin writes a key. settle must follow its value.
func (k *keyed) begin(out *[]byte, key []byte) {
	k.comma(out)
	*out = appendString(*out, key)
	k.keyEnd = len(*out)
	*out = append(*out, ':')
}

// beginJSON writes a key that is a JSON string already. Only one way to write a
// string makes keys comparable, so escapes are written anew.
func (k *keyed) beginJSON(out *[]byte, key []byte) {
	if bytes.IndexByte(key, '\\') >= 0 {
		if plain, err := unquote(key); err == nil {
			k.begin(out, []byte(plain))
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

// settle removes an earlier entry with the key that was written last.
func (k *keyed) settle(out *[]byte) {
	b := *out
	from := k.entry
	if k.entries > 1 {
		from++
	}
	key := b[from:k.keyEnd]
	if !k.known(b, key) {
		k.note(b, from)
		return
	}
	k.each(b, func(other []byte, start, end int) bool {
		if !bytes.Equal(other, key) {
			return true
		}
		rest := bytes.Clone(b[end:]) // begins with a comma
		if start == k.start+1 {
			rest = rest[1:]
		} else {
			start--
		}
		*out = append(b[:start], rest...)
		return false
	})
	// Everything behind it has moved.
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

// known reports whether an earlier entry has a key.
func (k *keyed) known(b, key []byte) bool {
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

// note remembers the key of the entry that was written last.
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

// each calls f with the entries before the one that was written last.
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
