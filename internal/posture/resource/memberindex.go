package resource

import (
	"strings"

	"github.com/tidwall/gjson"
)

// A memberIndex holds the top-level members of a JSON object. A declaration reads up to fifty
// values of an item, and gjson scans the text of the item for each.
type memberIndex []indexedMember

type indexedMember struct{ name, raw string }

// indexed returns a copy of the item with an index. It is a copy because other goroutines may
// read the item, and because a page of items would keep many indexes in memory.
func (i *Item) indexed() *Item {
	if !i.IsObject() {
		return i
	}
	indexed := *i
	indexed.members = make(memberIndex, 0, 32)
	i.ForEach(func(name, value gjson.Result) bool {
		indexed.members = append(indexed.members, indexedMember{name.Str, value.Raw})
		return true
	})
	return &indexed
}

// raw returns the text of a member, "" if there is none.
func (x memberIndex) raw(name string) string {
	for _, m := range x {
		if m.name == name {
			return m.raw
		}
	}
	return ""
}

// get returns the value at the path in an item.
func (p itemPath) get(item *Item) gjson.Result {
	switch {
	case p.text == "@this":
		return item.Result
	case item.members == nil, p.member == "":
		return item.Get(p.text)
	}
	switch raw := item.members.raw(p.member); {
	case p.rest == "":
		return gjson.Parse(raw)
	case strings.HasPrefix(raw, "{"), strings.HasPrefix(raw, "["):
		return gjson.Get(raw, p.rest)
	}
	return item.Get(p.text) // the rest can have modifiers, which also apply to scalars and to absent values
}

// splitMember splits a path into a top-level member and the path in its value. The member is ""
// for a path that cannot be split: one that does not begin with a plain name, or that continues
// with a literal (!). gjson accepts a literal only at the beginning of a path, so splitting would
// make an invalid path valid.
func splitMember(path string) (member, rest string) {
	member, rest, more := strings.Cut(path, ".")
	if !isPlain(member) || more && (rest == "" || rest[0] == '!') {
		return "", ""
	}
	return member, rest
}

// isPlain reports whether a path is a plain name.
func isPlain(path string) bool {
	return strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
