package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Router maps a method and a path to a value. The zero value is empty and
// ready to use.
//
// It differs from [http.ServeMux] where the API documents require it: it never
// redirects, ignores a trailing slash, distinguishes an unknown path from an
// unknown method of a known path, and allows two wildcards in one segment
// ("{account}_{credential}"). As in http.ServeMux, a wildcard matches one whole
// segment, which is unescaped after the path is split, so that its value may
// contain slashes. "{name...}" at the end matches the rest of the path, which
// may be empty.
//
// The most specific path wins, regardless of its methods: literal text before a
// mixed segment, a mixed segment before a wildcard, a wildcard before a tail.
type Router[T any] struct {
	root node[T]
}

type node[T any] struct {
	text  map[string]*node[T] // next node by literal segment
	mixed []mixed[T]          // next nodes after segments such as "{a}_{b}"
	any   *node[T]            // next node after a segment that is one wildcard
	tail  *leaf[T]            // of patterns that end with "{name...}" here
	leaf  leaf[T]             // of patterns that end here
}

// mixed is an edge for segments such as "{a}_{b}": literals[i] follows wildcard
// i.
type mixed[T any] struct {
	prefix   string
	literals []string
	next     *node[T]
}

type leaf[T any] struct {
	methods map[string]target[T]
}

type target[T any] struct {
	value T
	names []string
}

// A Found is the result of a lookup.
type Found[T any] struct {
	Value  T
	Names  []string // of the wildcards, in path order
	Values []string
	Allow  []string // the methods of the path, when the requested one is not among them
}

// Add adds a value under a pattern such as "GET /v1/rules/{id}".
func (t *Router[T]) Add(pattern string, value T) error {
	method, path, ok := strings.Cut(pattern, " ")
	if !ok || method == "" || !strings.HasPrefix(path, "/") {
		return fmt.Errorf("pattern %q is not a method and a path", pattern)
	}
	n, names := &t.root, []string(nil)
	end := &n.leaf
	segments := split(path)
	for i, s := range segments {
		literals, found, err := parseSegment(s)
		if err != nil {
			return fmt.Errorf("pattern %q: %w", pattern, err)
		}
		names = append(names, found...)
		if len(found) == 1 && strings.HasSuffix(found[0], "...") {
			if i != len(segments)-1 {
				return fmt.Errorf("pattern %q: a tail must be the last segment", pattern)
			}
			names[len(names)-1] = strings.TrimSuffix(found[0], "...")
			if n.tail == nil {
				n.tail = new(leaf[T])
			}
			end = n.tail
			break
		}
		n = n.child(literals)
		end = &n.leaf
	}
	if _, exists := end.methods[method]; exists {
		return fmt.Errorf("pattern %q was added twice", pattern)
	}
	if end.methods == nil {
		end.methods = make(map[string]target[T])
	}
	end.methods[method] = target[T]{value, names}
	return nil
}

// parseSegment splits "{a}_{b}" into its literals ("", "_", "") and names.
func parseSegment(s string) (literals, names []string, err error) {
	for {
		before, rest, ok := strings.Cut(s, "{")
		literals = append(literals, before)
		if !ok {
			return literals, names, nil
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok || name == "" || len(names) > 0 && before == "" { // two wildcards need text between them
			return nil, nil, fmt.Errorf("bad wildcard in %q", s)
		}
		names = append(names, name)
		s = after
	}
}

// child returns the node below n for a segment with the given literals.
func (n *node[T]) child(literals []string) *node[T] {
	if len(literals) == 1 {
		if n.text == nil {
			n.text = make(map[string]*node[T])
		}
		if n.text[literals[0]] == nil {
			n.text[literals[0]] = new(node[T])
		}
		return n.text[literals[0]]
	}
	if len(literals) == 2 && literals[0] == "" && literals[1] == "" { // one wildcard and nothing else
		if n.any == nil {
			n.any = new(node[T])
		}
		return n.any
	}
	for _, m := range n.mixed {
		if m.prefix == literals[0] && slices.Equal(m.literals, literals[1:]) {
			return m.next
		}
	}
	m := mixed[T]{literals[0], literals[1:], new(node[T])}
	n.mixed = append(n.mixed, m)
	return m.next
}

// Find looks up a method and an escaped path. It returns false for an unknown
// path. For a known path without the method it returns true, with the path's
// methods in Allow.
func (t *Router[T]) Find(method, escapedPath string) (Found[T], bool) {
	segments := split(escapedPath)
	for i, s := range segments {
		text, err := url.PathUnescape(s)
		if err != nil || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return Found[T]{}, false // no pattern matches such a name
		}
		segments[i] = text
	}
	found, values := t.root.find(segments, nil)
	if found == nil {
		return Found[T]{}, false
	}
	to, ok := found.methods[method]
	if !ok && method == http.MethodHead {
		to, ok = found.methods[http.MethodGet]
	}
	if !ok {
		return Found[T]{Allow: found.allow()}, true
	}
	return Found[T]{Value: to.value, Names: to.names, Values: values}, true
}

func (n *node[T]) find(segments, values []string) (*leaf[T], []string) {
	if len(segments) == 0 {
		if n.leaf.methods != nil {
			return &n.leaf, values
		}
		if n.tail != nil {
			return n.tail, append(values, "")
		}
		return nil, nil
	}
	head, rest := segments[0], segments[1:]
	if next := n.text[head]; next != nil {
		if found, vs := next.find(rest, values); found != nil {
			return found, vs
		}
	}
	for _, m := range n.mixed {
		if got := m.match(head); got != nil {
			if found, vs := m.next.find(rest, append(values, got...)); found != nil {
				return found, vs
			}
		}
	}
	if n.any != nil && head != "" {
		if found, vs := n.any.find(rest, append(values, head)); found != nil {
			return found, vs
		}
	}
	if n.tail != nil {
		return n.tail, append(values, strings.Join(segments, "/"))
	}
	return nil, nil
}

// match returns the values of the wildcards in a mixed segment, or nil. Each
// value is as short as possible but not empty.
func (m mixed[T]) match(s string) []string {
	s, ok := strings.CutPrefix(s, m.prefix)
	if !ok {
		return nil
	}
	values := make([]string, 0, len(m.literals))
	last := len(m.literals) - 1
	for _, literal := range m.literals[:last] {
		if s == "" {
			return nil
		}
		i := strings.Index(s[1:], literal)
		if i < 0 {
			return nil
		}
		values = append(values, s[:i+1])
		s = s[i+1+len(literal):]
	}
	s, ok = strings.CutSuffix(s, m.literals[last])
	if !ok || s == "" {
		return nil
	}
	return append(values, s)
}

// allow returns the methods for an Allow header.
func (l *leaf[T]) allow() []string {
	all := []string{http.MethodOptions}
	for method := range l.methods {
		all = append(all, method)
		if method == http.MethodGet {
			all = append(all, http.MethodHead)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// split splits a path into segments, without the first slash and one trailing
// slash.
func split(path string) []string {
	if path == "" || path == "/" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
}
