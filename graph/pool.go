package graph

import (
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrTooLarge is the error of a graph that would exceed a limit of the builder or of the format.
var ErrTooLarge = errors.New("graph: too large")

// A pool assigns a code to each distinct string. The strings of the base are in
// one memory block without pointers. Patches append further strings. A graph and
// all graphs patched from it share one pool, which only grows.
type pool struct {
	blob  string
	ends  []uint32 // ends[i] is the end of string i in blob
	table []uint32 // see hashTable

	addedStrings atomic.Pointer[[]string] // strings with codes from len(ends) on; append-only
	mu           sync.RWMutex             // guards the following fields and appending to addedStrings
	addedCodes   map[string]uint32
	addedBytes   int64
}

// count returns the number of codes.
func (p *pool) count() int { return len(p.ends) + len(p.patchStrings()) }

// patchStrings returns the strings that patches have added.
func (p *pool) patchStrings() []string {
	if l := p.addedStrings.Load(); l != nil {
		return *l
	}
	return nil
}

// str returns the string of a code.
func (p *pool) str(code uint32) string {
	if int(code) >= len(p.ends) {
		return p.patchStrings()[int(code)-len(p.ends)]
	}
	if code == 0 {
		return p.blob[:p.ends[0]]
	}
	return p.blob[p.ends[code-1]:p.ends[code]]
}

// code returns the code of s.
func (p *pool) code(s string) (uint32, bool) {
	if c, ok := probe(p.table, hashString(s), func(i uint32) bool { return p.str(i) == s }); ok {
		return c, true
	}
	if p.addedStrings.Load() == nil {
		return 0, false
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	c, ok := p.addedCodes[s]
	return c, ok
}

// intern returns the code of s and adds s if necessary.
func (p *pool) intern(s string) (uint32, error) {
	if c, ok := p.code(s); ok {
		return c, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.addedCodes[s]; ok {
		return c, nil
	}
	if p.count() >= math.MaxUint32-1 {
		return 0, ErrTooLarge
	}
	if p.addedCodes == nil {
		p.addedCodes = map[string]uint32{}
	}
	s = strings.Clone(s)
	code := uint32(p.count())
	grown := append(p.patchStrings(), s)
	p.addedStrings.Store(&grown)
	p.addedCodes[s] = code
	p.addedBytes += int64(len(s))
	return code, nil
}

// addedSize returns the memory of the strings that patches have added.
func (p *pool) addedSize() int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.addedBytes + 64*int64(len(p.addedCodes))
}

func (p *pool) bytes() int64 {
	return int64(len(p.blob)) + 4*int64(cap(p.ends)+cap(p.table)) + p.addedSize()
}

// A poolBuilder builds the base of a pool.
type poolBuilder struct {
	blob  []byte
	ends  []uint32
	table []uint32
}

func (b *poolBuilder) bytesOf(i uint32) []byte {
	if i == 0 {
		return b.blob[:b.ends[0]]
	}
	return b.blob[b.ends[i-1]:b.ends[i]]
}

// intern returns the code of s and adds s if necessary.
func (b *poolBuilder) intern(s string) (uint32, error) {
	h := hashString(s)
	if c, ok := probe(b.table, h, func(i uint32) bool { return string(b.bytesOf(i)) == s }); ok {
		return c, nil
	}
	if len(b.blob)+len(s) > math.MaxUint32 || len(b.ends) >= math.MaxUint32-1 {
		return 0, ErrTooLarge
	}
	if n := len(b.ends); !hasRoom(b.table, n) {
		b.table = hashTable(n, 2*n+8, func(i uint32) uint64 { return hashString(string(b.bytesOf(i))) })
	}
	code := uint32(len(b.ends))
	insert(b.table, h, code)
	b.blob = append(b.blob, s...)
	b.ends = append(b.ends, uint32(len(b.blob)))
	return code, nil
}

// pool returns the pool. The builder must not be used again.
func (b *poolBuilder) pool() *pool {
	return &pool{blob: string(b.blob), ends: fit(b.ends), table: b.table}
}
