package aws

import (
	"maps"
	"slices"
	"strings"

	"vigil/internal/posture/resource"
)

// maxDepth bounds the depth of the searched parameters.
const maxDepth = 32

// parameters are the strings in the request and the response of an API call.
type parameters struct {
	all []parameter
}

// A parameter is one string and the member that holds it.
type parameter struct {
	parent string // name of the member that contains this one
	name   string
	top    bool // the member has no parent
	text   string
}

func newParameters(trees ...any) *parameters {
	p := new(parameters)
	for _, tree := range trees {
		p.add("", "", tree, 0)
	}
	return p
}

func (p *parameters) add(parent, name string, tree any, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := tree.(type) {
	case string:
		if v != "" && len(v) <= 2048 {
			p.all = append(p.all, parameter{parent: parent, name: name, top: depth <= 1, text: v})
		}
	case []any:
		for _, each := range v {
			p.add(parent, name, each, depth)
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) { // sorted, because joinParts takes the first match
			p.add(name, member, v[member], depth+1)
		}
	}
}

// names returns the names of resources of a type. The declaration of the type says how to
// find them: by the prefix of an id in any member, in named members, or a fixed name.
// docs/resource-types.md lists the forms of namedInEvents.
func (p *parameters) names(t *resource.Type) []string {
	var names []string
	if prefix := t.IDPrefix(); prefix != "" {
		for _, each := range p.all {
			if isID(each.text, prefix) {
				names = append(names, each.text)
			} else if name, ok := fromARN(t, each.text); ok {
				names = append(names, name)
			}
		}
		return names
	}
	for _, choice := range strings.Fields(t.NamedInEvents) {
		if name, ok := strings.CutPrefix(choice, "="); ok {
			return []string{name}
		}
		if parts := strings.Split(choice, "+"); len(parts) > 1 {
			if name, ok := p.joinParts(parts); ok {
				names = append(names, name)
			}
			continue
		}
		member, form, _ := strings.Cut(choice, "|")
		for _, text := range p.valuesOf(member) {
			if name, ok := nameOf(t, member, form, text); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// nameOthers reports whether the parameters name resources of other types than t: by a member
// resourceId or, if events name resources of t by ARN, by an ARN. The caller has found no
// resource of t in the parameters.
func (p *parameters) nameOthers(t *resource.Type) bool {
	return slices.ContainsFunc(p.all, func(each parameter) bool {
		if strings.EqualFold(each.name, "resourceId") {
			return true
		}
		isTag := strings.EqualFold(each.name, "key") || strings.EqualFold(each.name, "value")
		return !isTag && t.IDPrefix() == "" && len(t.ARN) > 0 && strings.HasPrefix(each.text, "arn:")
	})
}

// isID reports whether a text is an id of EC2: a prefix and hexadecimal digits.
func isID(text, prefix string) bool {
	code, ok := strings.CutPrefix(text, prefix)
	if !ok || len(code) < 8 || len(code) > 32 {
		return false
	}
	return strings.Trim(code, "0123456789abcdef") == ""
}

// valuesOf returns the strings of a member: "name", "parent.name", or ".name" at the top.
func (p *parameters) valuesOf(member string) []string {
	name, top := strings.CutPrefix(member, ".")
	parent, last, nested := strings.Cut(name, ".")
	if !nested {
		last = name
	}
	var texts []string
	for _, each := range p.all {
		if strings.EqualFold(each.name, last) && (!top || each.top) && (!nested || strings.EqualFold(each.parent, parent)) {
			texts = append(texts, each.text)
		}
	}
	return texts
}

// joinParts returns a name that is composed of several members, separated by slashes.
// A part is the name of a member, or "member=default".
func (p *parameters) joinParts(parts []string) (string, bool) {
	texts := make([]string, len(parts))
	for i, part := range parts {
		member, otherwise, _ := strings.Cut(part, "=")
		found := p.valuesOf(member)
		if len(found) == 0 {
			found = []string{otherwise}
		}
		texts[i] = found[0]
		if texts[i] == "" {
			return "", false
		}
		if strings.HasPrefix(texts[i], "arn:") {
			texts[i] = texts[i][strings.LastIndexAny(texts[i], "/:")+1:]
		}
	}
	return strings.Join(texts, "/"), true
}

// nameOf returns the name of a resource as its entity has it. A member whose name
// ends in ARN, or whose form is "arn", must hold a whole ARN. Form "/" takes the part
// after the last slash, form ":" the part before the first colon, form "id" rejects
// texts with a slash, and form "resource" accepts only the last part of an ARN.
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
	case form == "resource":
		return t.ARN.MatchLastPart(text)
	case form == "/":
		text = text[strings.LastIndex(text, "/")+1:]
	case form == ":":
		text, _, _ = strings.Cut(text, ":")
	}
	return text, text != ""
}

// fromARN returns the name of the entity of an ARN, if the ARN is one of the type.
func fromARN(t *resource.Type, text string) (string, bool) {
	a, ok := resource.ParseARN(text)
	if !ok {
		return "", false
	}
	return t.ARN.Match(a)
}
