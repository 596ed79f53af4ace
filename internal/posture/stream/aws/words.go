package aws

import (
	"strings"

	"vigil/internal/posture/resource"
)

// maxDepth bounds how deep parameters are looked into.
const maxDepth = 32

// words are the texts of a call's parameters and answer, by the member that
// holds them.
type words struct {
	all []word
}

type word struct {
	above string // the member that holds the member
	name  string
	top   bool // the member stands at the top
	text  string
}

func newWords(trees ...any) *words {
	w := new(words)
	for _, tree := range trees {
		w.read("", "", tree, 0)
	}
	return w
}

func (w *words) read(above, name string, tree any, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := tree.(type) {
	case string:
		if v != "" && len(v) <= 2048 {
			w.all = append(w.all, word{above, name, depth <= 1, v})
		}
	case []any:
		for _, each := range v {
			w.read(above, name, each, depth)
		}
	case map[string]any:
		for member, each := range v {
			w.read(name, member, each, depth+1)
		}
	}
}

// named returns the names of resources of a type, which its declaration says where
// to find.
func (w *words) named(t *resource.Type) []string {
	var names []string
	if prefix := t.IDPrefix(); prefix != "" {
		for _, each := range w.all {
			if isID(each.text, prefix) {
				names = append(names, each.text)
			}
		}
		return names
	}
	for _, choice := range strings.Fields(t.Named) {
		if name, ok := strings.CutPrefix(choice, "="); ok {
			return []string{name}
		}
		if parts := strings.Split(choice, "+"); len(parts) > 1 {
			if name, ok := w.joined(parts); ok {
				names = append(names, name)
			}
			continue
		}
		member, form, _ := strings.Cut(choice, "|")
		for _, text := range w.at(member) {
			if name, ok := nameOf(t, member, form, text); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// isID reports whether a text is an id of EC2: a prefix and hexadecimal digits.
func isID(text, prefix string) bool {
	code, ok := strings.CutPrefix(text, prefix)
	if !ok || len(code) < 8 || len(code) > 32 {
		return false
	}
	return strings.Trim(code, "0123456789abcdef") == ""
}

// at returns the texts of a member.
func (w *words) at(member string) []string {
	name, top := strings.CutPrefix(member, ".")
	above, last, nested := strings.Cut(name, ".")
	if !nested {
		last = name
	}
	var texts []string
	for _, each := range w.all {
		if strings.EqualFold(each.name, last) && (!top || each.top) && (!nested || strings.EqualFold(each.above, above)) {
			texts = append(texts, each.text)
		}
	}
	return texts
}

// joined returns a name of several parts.
func (w *words) joined(parts []string) (string, bool) {
	texts := make([]string, len(parts))
	for i, part := range parts {
		member, otherwise, _ := strings.Cut(part, "=")
		found := w.at(member)
		if len(found) == 0 {
			found = []string{otherwise}
		}
		if texts[i] = found[0]; texts[i] == "" {
			return "", false
		}
		if strings.HasPrefix(texts[i], "arn:") {
			texts[i] = texts[i][strings.LastIndexAny(texts[i], "/:")+1:]
		}
	}
	return strings.Join(texts, "/"), true
}

// nameOf returns the name of a resource as its entity has it. A member whose name
// ends in ARN, or whose form is arn, tells it by a whole ARN alone. Other forms cut
// a name out of the text: "/" what follows the last slash, ":" what precedes the
// first colon. Form id takes no text with a slash.
func nameOf(t *resource.Type, member, form, text string) (string, bool) {
	if strings.HasPrefix(text, "arn:") {
		return fromARN(t, text)
	}
	member = strings.ToLower(member)
	if form == "arn" || strings.HasSuffix(member, "arn") || strings.HasSuffix(member, "arns") {
		return "", false
	}
	if name, ok := t.ARN.MatchResource(text); ok {
		return name, true
	}
	switch {
	case form == "id" && strings.Contains(text, "/"): // an alias of a KMS key, which is no id
		return "", false
	case form == "/":
		text = text[strings.LastIndex(text, "/")+1:]
	case form == ":":
		text, _, _ = strings.Cut(text, ":")
	}
	return text, text != ""
}

// fromARN returns the name of the entity that an ARN is of, when it is of the
// type.
func fromARN(t *resource.Type, text string) (string, bool) {
	a, ok := resource.ParseARN(text)
	if !ok {
		return "", false
	}
	return t.ARN.Match(a)
}
