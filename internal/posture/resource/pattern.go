package resource

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// IDPrefix returns the prefix of the ids of an EC2 type, such as "vpc-", or "" for
// other types.
func (t *Type) IDPrefix() string {
	prefix, ok := strings.CutSuffix(t.NamedInEvents, "-*")
	if !ok {
		return ""
	}
	return prefix + "-"
}

// Patterns are the forms of the ARNs of a type. The first one builds the external id
// of an entity whose responses do not contain it.
type Patterns []Pattern

// A Pattern is the form of an ARN:
//
//	arn:aws:lambda:{region}:{account}:function:{name}{:*}
//
// {name} is the name of the entity. If the form contains it several times, the name is the
// matched texts, joined by slashes. {*/} is an optional path, {:*} and {/*} are optional
// suffixes, {*} is any text without slash or colon. The part after => is the name of the
// entity: "... => aws/{name}".
type Pattern struct {
	source                   string
	service, region, account string // "{region}", "" for none, or a literal
	resource                 string
	prefix                   string         // text before the name, when only the name varies
	match                    *regexp.Regexp // used when more than the name varies
	name                     string         // "{name}" or the part after =>
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (ps *Patterns) UnmarshalYAML(node *yaml.Node) error {
	var all Strings
	if err := node.Decode(&all); err != nil {
		return err
	}
	for _, text := range all {
		p, err := newPattern(text)
		if err != nil {
			return withLine(node, err)
		}
		*ps = append(*ps, p)
	}
	return nil
}

var wildcards = strings.NewReplacer(
	`\{name\}`, `(.+?)`, `\{\*/\}`, `(?:.*/)?`, `\{:\*\}`, `(?::.*)?`, `\{/\*\}`, `(?:/.*)?`, `\{\*\}`, `[^/:]*`,
)

func newPattern(text string) (Pattern, error) {
	p := Pattern{source: text, name: "{name}"}
	form, name, renamed := strings.Cut(text, " => ")
	if renamed {
		p.name = name
	}
	part := strings.SplitN(form, ":", 6)
	if len(part) != 6 || part[0] != "arn" || part[1] != "aws" || !strings.Contains(part[5], "{name}") || strings.Contains(part[5], "{name}{name}") {
		return p, fmt.Errorf("%q must be the form of an ARN with a {name}", text)
	}
	p.service, p.region, p.account, p.resource = part[2], part[3], part[4], part[5]
	if before, after, _ := strings.Cut(p.resource, "{name}"); after == "" && !strings.Contains(before, "{") {
		p.prefix = before
		return p, nil
	}
	p.match = regexp.MustCompile("^" + wildcards.Replace(regexp.QuoteMeta(p.resource)) + "$")
	return p, nil
}

// An ARN is a parsed Amazon Resource Name.
type ARN struct {
	Partition, Service, Region, Account, Resource string
}

// ParseARN parses an ARN and reports whether it is one.
func ParseARN(text string) (ARN, bool) {
	part := strings.SplitN(text, ":", 6)
	if len(part) != 6 || part[0] != "arn" {
		return ARN{}, false
	}
	return ARN{part[1], part[2], part[3], part[4], part[5]}, true
}

// Match returns the name of the entity that an ARN denotes.
func (ps Patterns) Match(a ARN) (name string, ok bool) {
	return ps.firstMatch(a.Resource, func(p *Pattern) bool {
		return p.service == a.Service && (p.account == "{account}" || p.account == a.Account)
	})
}

// MatchResource is Match for the last part of an ARN: "alias/web". It uses only the
// patterns in which only the name varies and a literal text precedes it; the others
// could match any text.
func (ps Patterns) MatchResource(resource string) (name string, ok bool) {
	return ps.firstMatch(resource, func(p *Pattern) bool { return p.prefix != "" })
}

// MatchLastPart is MatchResource for a text that is certainly the last part of an ARN:
// "table/orders". It uses all patterns.
func (ps Patterns) MatchLastPart(text string) (name string, ok bool) {
	return ps.firstMatch(text, func(*Pattern) bool { return true })
}

// firstMatch returns the name of the entity by the last part of its ARN. It takes the first
// matching pattern of those for which use returns true.
func (ps Patterns) firstMatch(resource string, use func(*Pattern) bool) (name string, ok bool) {
	for i := range ps {
		p := &ps[i]
		if !use(p) {
			continue
		}
		if name, ok := p.matchResource(resource); ok {
			return name, true
		}
	}
	return "", false
}

func (p *Pattern) matchResource(resource string) (string, bool) {
	name := ""
	if p.match == nil {
		rest, ok := strings.CutPrefix(resource, p.prefix)
		if !ok {
			return "", false
		}
		name = rest
	} else if found := p.match.FindStringSubmatch(resource); found != nil {
		name = strings.Join(found[1:], "/")
	}
	return strings.Replace(p.name, "{name}", name, 1), name != ""
}

var optional = strings.NewReplacer("{*/}", "", "{:*}", "", "{/*}", "")

// Format returns the ARN of the entity with a name.
func (p *Pattern) Format(v Vars, name string) string {
	region := v.Region
	if p.region != "{region}" {
		region = p.region
	}
	account := string(v.Account)
	if p.account != "{account}" {
		account = p.account
	}
	resource := optional.Replace(p.resource)
	// Every {name} but the last gets one part of the name; the last gets the rest.
	for n := strings.Count(resource, "{name}"); n > 1; n-- {
		var part string
		part, name, _ = strings.Cut(name, "/")
		resource = strings.Replace(resource, "{name}", part, 1)
	}
	resource = strings.Replace(resource, "{name}", name, 1)
	return "arn:" + v.Partition + ":" + p.service + ":" + region + ":" + account + ":" + resource
}
