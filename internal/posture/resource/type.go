package resource

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// Scope says how often a type is read per account.
type Scope string

// The scopes.
const (
	PerAccount Scope = "account" // once
	PerRegion  Scope = "region"  // once in every enabled region
)

// A Type is the declaration of one resource type.
type Type struct {
	Type  posture.EntityType `yaml:"type"`
	Doc   string             `yaml:"doc"` // one sentence
	Scope Scope              `yaml:"scope"`

	// List are the stages that list the resources; each runs for every item of the
	// previous one. Get reads one resource by name; without it the list is searched.
	List []Stage `yaml:"list"`
	Get  *Stage  `yaml:"get"`

	// Name is the last part of the entity's id, unique among resources of the type
	// in one account and place. Display is the name that the user interface shows,
	// Name when empty. Display and XID may use the responses of calls.
	Name    Exprs `yaml:"name"`
	Display Exprs `yaml:"display"`
	// XID is the cloud's full name. For AWS it follows from ARN when empty.
	XID Exprs    `yaml:"xid"`
	ARN Patterns `yaml:"arn"`
	// Place is the place in the entity's id when that is not the region in which it
	// was read: "global", for types whose references contain no region.
	Place string `yaml:"place"`

	// Region locates the region of the entity when that is neither the region in
	// which it was read nor, for Azure and GCP, its location.
	Region Expr `yaml:"region"`

	// AzureResource declares a type of Azure Resource Manager.
	AzureResource `yaml:",inline"`

	// GoogleResource declares a type of Google Cloud.
	GoogleResource `yaml:",inline"`

	// Deleted are the error codes of any call that mean that the resource itself
	// no longer exists.
	Deleted []string `yaml:"deleted"`
	// None is the name of an entity that represents the absence of resources, so
	// that rules can distinguish "there are none" from "unknown".
	None string `yaml:"none"`
	// Gathered says that an entity is made from several resources: a principal is
	// made from its role assignments. Events name one of those resources, so
	// reading one reads all resources that get, or the list, returns.
	Gathered bool `yaml:"gathered"`
	// Derived says that the entities are not resources of the cloud but are named by
	// others, as address ranges are named by security groups. An event reaches them
	// over the edges of the resource that it names.
	Derived bool `yaml:"derived"`
	// Sensitive says that the resource holds data that attackers want.
	Sensitive bool `yaml:"sensitive"`

	Answer `yaml:",inline"`
	Calls  []Call `yaml:"calls"`

	// Events are the names, by source, of the cloud's log entries that report a
	// possible change of a resource. NamedInEvents locates the name of the resource in an
	// entry. After the entries named in ReadAllAfter, all resources of the type are read,
	// because a member of NamedInEvents has another meaning in them.
	Events        Events  `yaml:"events"`
	NamedInEvents string  `yaml:"namedInEvents"`
	ReadAllAfter  Strings `yaml:"readAllAfter"`

	file  string // path below its root
	where string // path in error messages
	root  int
	lines map[string]int // line numbers of members and elements: "doc", "calls[1]"
}

// File returns the path of the file that declares the type, below the loaded root.
func (t *Type) File() string { return t.file }

// Where returns the path of the file that declares the type, for error messages.
func (t *Type) Where() string { return t.where }

// Root returns the index of the loaded root that contains the file.
func (t *Type) Root() int { return t.root }

// An Answer declares what one response contributes to an entity.
type Answer struct {
	Properties Properties `yaml:"properties"`
	Edges      Edges      `yaml:"edges"`
	Tags       Exprs      `yaml:"tags"`
	Derive     []Derived  `yaml:"derive"`
}

// A Request names a call and its input.
type Request struct {
	// Call is the name of an AWS operation, or a template of the address of an
	// Azure or Google method.
	Call  string `yaml:"call"`
	Input Input  `yaml:"input"`
	// Permission is the permission that the credential needs when it does not
	// follow from the call.
	Permission string `yaml:"permission"`
	// Rate is the limit that AWS publishes for this call alone, in calls per second.
	// Calls without it share the limit of their service; see collect.Rates.
	Rate float64 `yaml:"rate"`

	// Path is the template of the whole address of an Azure call that is relative
	// to a resource. Call is used when it is empty.
	Path string `yaml:"-"`
	// Shared says that several types use the response. Load sets it.
	Shared bool `yaml:"-"`
}

// A Stage is one step of listing. It makes a call for each item of the previous
// stage and extracts the items of the responses.
type Stage struct {
	Request `yaml:",inline"`
	// Items locates the items in a response; the response itself is the item when
	// it is empty. A stage with items and without a call extracts them from the
	// item of the previous stage.
	Items Exprs `yaml:"items"`
	// When selects the items of the previous stage that the stage applies to.
	When Conditions `yaml:"when"`
	// Where keeps only the items that meet the conditions.
	Where Conditions `yaml:"where"`
	// Batch makes one call for several items of the previous stage. The input has
	// their values as $batch.
	Batch *Batch `yaml:"batch"`
	// From starts with the items of another type's list instead of a call.
	From posture.EntityType `yaml:"from"`
	// Single makes no call: the list has one empty item, because an account or a region has
	// exactly one resource.
	Single bool `yaml:"single"`
	// NameOnly makes no call: the item of get has only the member name.
	NameOnly bool `yaml:"nameOnly"`
	// Function converts items by code; see [ListFunction].
	Function string `yaml:"function"`
}

// A Batch declares how many items share one call, and which of their values it takes.
type Batch struct {
	Of   Expr `yaml:"of"`
	Size int  `yaml:"size"`
}

// A Call completes one item: it reads more of the resource.
type Call struct {
	Request `yaml:",inline"`
	Answer  `yaml:",inline"`
	// As is the name under which conditions and inputs of later calls use the
	// response: as: key, when: {key>KeyState: Enabled}.
	As string `yaml:"as"`
	// Function produces the response by code instead of a call; see
	// [AnswerFunction].
	Function string `yaml:"function"`
	// At is the base of the paths of the properties in the response.
	At Expr `yaml:"at"`
	// Where keeps only the elements of the list at At that meet the conditions. Find,
	// which replaces Where, keeps only the first element that meets its conditions.
	// When there is none, the meaning of NotFound applies.
	Where Conditions `yaml:"where"`
	Find  Conditions `yaml:"find"`
	// When selects the items for which the call is made. Other items do not have
	// its properties, as if they were not declared.
	When Conditions `yaml:"when"`
	// Needs is another call of the type. When that call found nothing, this one is
	// not made and counts as having found nothing.
	Needs string `yaml:"needs"`
	// NotFound, NotEnabled and NotOffered are the meanings of errors: there is no
	// such thing, the account does not use the service, the region does not offer it.
	// "absent" gives every property its absent value; "deleted" means that the
	// resource no longer exists. Without a meaning the properties are unknown.
	NotFound   Meaning `yaml:"notFound"`
	NotEnabled Meaning `yaml:"notEnabled"`
	NotOffered Meaning `yaml:"notOffered"`
	// NotEnabledMessage is a text in the message of a refusal that means NotEnabled,
	// for services that report it with the code of a missing permission.
	NotEnabledMessage string `yaml:"notEnabledMessage"`
	// Unchanged compares an item with an earlier response of the call. While they agree,
	// the response is used again and the call is not made.
	Unchanged Versions `yaml:"unchanged"`
}

// Key is the name of the call or function.
func (c *Call) Key() string {
	if c.Function != "" {
		return c.Function
	}
	return c.Call
}

// Static reports whether the response is the same for all items, so that one call
// is enough.
func (c *Call) Static() bool {
	path := c.Call
	if c.Path != "" {
		path = c.Path
	}
	address, err := TemplateExpr(path)
	return err == nil && c.Call != "" && !address.dependsOnItem() && c.Input.isStatic()
}

// UsesAnswersOf returns the names of the earlier calls whose responses the call uses.
func (c *Call) UsesAnswersOf() []string {
	names := append(c.When.Answers(), c.Input.usedCalls()...)
	for _, p := range c.Properties {
		names = append(names, p.At.usedCalls()...)
	}
	for _, e := range c.Edges {
		names = append(names, e.Ref.usedCalls()...)
	}
	for _, d := range c.Derive {
		names = append(names, d.At.usedCalls()...)
	}
	return names
}

// A Meaning is the meaning of an error of the cloud.
type Meaning string

// The meanings.
const (
	MeansUnknown Meaning = ""
	MeansAbsent  Meaning = "absent"  // nothing is configured
	MeansDeleted Meaning = "deleted" // the resource itself no longer exists
)

// Names returns what is unknown when the response is unavailable: the names of the
// properties, the labels of the edges and, for tags, [posture.TagsUnread].
func (a *Answer) Names() []string {
	var names []string
	for _, p := range a.Properties {
		names = append(names, p.Name)
	}
	for _, e := range a.Edges {
		names = append(names, e.Label)
	}
	for _, d := range a.Derive {
		names = append(names, d.function.names()...)
	}
	if len(a.Tags) > 0 {
		names = append(names, posture.TagsUnread)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Events are names of log entries by source.
type Events []Event

// An Event lists log entries of one source; for AWS, "s3" is s3.amazonaws.com.
type Event struct {
	Source string
	Names  []string
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (es *Events) UnmarshalYAML(node *yaml.Node) error {
	return eachMember(node, func(name string, value *yaml.Node) error {
		e := Event{Source: name}
		if err := value.Decode(&e.Names); err != nil {
			return err
		}
		*es = append(*es, e)
		return nil
	})
}

// Conditions are met when every one of them is met.
type Conditions []Condition

// A Condition requires that the value of an expression is one of the values or, with
// Not, none of them. Case is ignored, except when comparing with a $variable. A
// missing value is the empty string. "*" matches any value that exists, and "*word*" a
// value that contains the word.
type Condition struct {
	At     Expr
	Values []string
	Not    bool
}

// UnmarshalYAML implements [yaml.Unmarshaler]: a map from expression to value or
// values. A list of values that begins with "!" excludes them.
func (cs *Conditions) UnmarshalYAML(node *yaml.Node) error {
	return eachMember(node, func(name string, value *yaml.Node) error {
		e, err := PathExpr(name)
		if err != nil {
			return err
		}
		c := Condition{At: e}
		if value.Kind == yaml.SequenceNode {
			err = value.Decode(&c.Values)
		} else {
			c.Values = []string{value.Value}
		}
		if err != nil {
			return err
		}
		if len(c.Values) > 0 && c.Values[0] == "!" {
			c.Not, c.Values = true, c.Values[1:]
		}
		*cs = append(*cs, c)
		return nil
	})
}

// Answers returns the names of the calls whose responses the conditions use.
func (cs Conditions) Answers() (names []string) {
	for _, c := range cs {
		names = append(names, c.At.usedCalls()...)
	}
	return names
}

// Lookup returns the path and value of a single condition that compares a value with
// a variable: {ResourceId: $name}. Otherwise ok is false.
func (cs Conditions) Lookup(v Vars) (path Expr, value string, ok bool) {
	if len(cs) != 1 || cs[0].Not || len(cs[0].Values) != 1 || !strings.HasPrefix(cs[0].Values[0], "$") {
		return Expr{}, "", false
	}
	variable, _ := v.value(cs[0].Values[0][1:])
	return cs[0].At, variable.String(), true
}

// Hold reports whether every condition is met.
func (cs Conditions) Hold(item *Item, v Vars) bool {
	for _, c := range cs {
		text := c.At.Text(item, v)
		met := slices.ContainsFunc(c.Values, func(want string) bool { return v.matches(want, text) })
		if met == c.Not {
			return false
		}
	}
	return true
}

// matches compares a text with a declared value, which may be a variable: $account.
func (v Vars) matches(want, text string) bool {
	if want != "" && want[0] == '$' {
		value, _ := v.value(want[1:])
		return text == value.String()
	}
	return matches(want, text)
}

// matches compares a text with a declared value, ignoring case. A star at the
// beginning or end of the value matches any text.
func matches(want, text string) bool {
	if want == "*" {
		return text != ""
	}
	want, text = strings.ToLower(want), strings.ToLower(text)
	prefix, starAtEnd := strings.CutSuffix(want, "*")
	suffix, starAtBegin := strings.CutPrefix(want, "*")
	switch {
	case starAtBegin && starAtEnd:
		return strings.Contains(text, strings.TrimSuffix(suffix, "*"))
	case starAtBegin:
		return strings.HasSuffix(text, suffix)
	case starAtEnd:
		return strings.HasPrefix(text, prefix)
	}
	return text == want
}

// eachMember calls f for the members of a mapping in the order of the file. No two members
// may have the same name.
func eachMember(node *yaml.Node, f func(name string, value *yaml.Node) error) error {
	if node.Kind != yaml.MappingNode {
		return withLine(node, fmt.Errorf("an object is expected here"))
	}
	lines := map[string]int{}
	for i := 0; i < len(node.Content); i += 2 {
		name := node.Content[i]
		if line, exists := lines[name.Value]; exists {
			return withLine(name, fmt.Errorf("%s is declared twice, first in line %d", name.Value, line))
		}
		lines[name.Value] = name.Line
		if err := f(name.Value, node.Content[i+1]); err != nil {
			return withLine(name, err)
		}
	}
	return nil
}
