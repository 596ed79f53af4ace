package graph

import (
	"maps"
	"strings"
)

// symbols numbers the names of labels or keys in order of first use.
type symbols struct {
	names []string
	nums  map[string]uint32
}

func (s *symbols) find(name string) (uint32, bool) {
	n, ok := s.nums[name]
	return n, ok
}

func (s *symbols) intern(name string) uint32 {
	if n, ok := s.nums[name]; ok {
		return n
	}
	if s.nums == nil {
		s.nums = map[string]uint32{}
	}
	n := uint32(len(s.names))
	name = strings.Clone(name) // it may be part of a long string, which would stay in memory
	s.names = append(s.names, name)
	s.nums[name] = n
	return n
}

// clone returns an independent copy.
func (s *symbols) clone() symbols {
	return symbols{names: s.names[:len(s.names):len(s.names)], nums: maps.Clone(s.nums)}
}

// bytes returns the estimated memory: of each name the text, and 64 bytes for the rest of the
// entries in names and nums.
func (s *symbols) bytes() int64 {
	var n int64
	for _, name := range s.names {
		n += int64(len(name)) + 64
	}
	return n
}
