package resource

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// Scope says how often a type is read for one account.
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

	// List are the calls that list the resources, each made for every item of the
	// one before it. Get reads one by its name; without it the list is searched.
	List []Stage `yaml:"list"`
	Get  *Stage  `yaml:"get"`

	// Name is the last part of the entity's id: what tells resources of the type
	// apart in one place. Display is what people call it, Name when empty. Display
	// and XID may look into the answers of calls.
	Name    Exprs `yaml:"name"`
	Display Exprs `yaml:"display"`
	// XID is the cloud's own long name. Of AWS it follows from ARN when empty.
	XID Exprs    `yaml:"xid"`
	ARN Patterns `yaml:"arn"`
	// Place is the place in the entity's id where that is not the region that it
	// was read in: "global", for types whose references name no region.
	Place string `yaml:"place"`

	// Region is where the region is that the entity is in, when that is neither
	// the one it was read in nor, of Azure and GCP, its location.
	Region Expr `yaml:"region"`

	// AzureResource is for what Azure Resource Manager lists.
	AzureResource `yaml:",inline"`

	// GoogleResource is for what Google Cloud has.
	GoogleResource `yaml:",inline"`

	// Vanished are the error codes that say that the resource itself is gone, in
	// whatever call they come.
	Vanished []string `yaml:"vanished"`
	// None is the name of the entity that stands for there being no resource, so
	// that rules can tell that from not knowing.
	None string `yaml:"none"`
	// Gathered says that an entity is made from several resources, as those who
	// have roles are made from role assignments. Events name one of those, so
	// reading one reads all that get, or the list, finds.
	Gathered bool `yaml:"gathered"`
	// Derived says that the entities are no resources of the cloud: others name them,
	// as security groups name address ranges. An event reaches them over the edges of
	// what it names.
	Derived bool `yaml:"derived"`
	// Sensitive says that attackers are after what the resource holds.
	Sensitive bool `yaml:"sensitive"`

	Answer `yaml:",inline"`
	Calls  []Call `yaml:"calls"`

	// Events are the names of the cloud's own log entries that say that a resource
	// may have changed, by source. Named says where an entry names the resource.
	Events Events `yaml:"events"`
	Named  string `yaml:"named"`

	file  string // below its root
	where string // for people
	root  int
	lines map[string]int // of members and their elements: "doc", "calls[1]"
}

// File returns the path of the file that declares the type, below its root.
func (t *Type) File() string { return t.file }

// Where returns the path of the file that declares the type, for people.
func (t *Type) Where() string { return t.where }

// Root returns the position of the root that has the file, among those that were
// loaded.
func (t *Type) Root() int { return t.root }

// An Answer says what one answer tells of a resource.
type Answer struct {
	Properties Properties `yaml:"properties"`
	Edges      Edges      `yaml:"edges"`
	Tags       Exprs      `yaml:"tags"`
	Derive     []Derived  `yaml:"derive"`
}

// A Request names a call and its input.
type Request struct {
	// Call is the name of an operation of AWS, or a template of the address of a
	// method of Azure or Google.
	Call  string `yaml:"call"`
	Input Input  `yaml:"input"`
	// Permission is what the credential must grant, where that does not follow
	// from the call.
	Permission string `yaml:"permission"`
	// Rate is how many of these calls the cloud allows in a second, where that is
	// less than for other calls of the service.
	Rate float64 `yaml:"rate"`

	// Path is, of Azure, the template of the whole address, where the call is
	// relative to a resource. Call when empty.
	Path string `yaml:"-"`
	// Shared says that several types need the answer. Load sets it.
	Shared bool `yaml:"-"`
}

// A Stage is one step of listing: it turns each item of the stage before it into
// the items of a call's answers.
type Stage struct {
	Request `yaml:",inline"`
	// Items is where the items are in an answer; the answer itself when empty. A
	// stage with items and without a call takes them out of the item before it.
	Items Exprs `yaml:"items"`
	// When says for which items of the stage before it the call is made.
	When Conditions `yaml:"when"`
	// Where keeps only the items whose paths have one of the values.
	Where Conditions `yaml:"where"`
	// Batch makes one call for several items: of their values at a path, so many
	// at a time. The input has them as $batch.
	Batch *Batch `yaml:"batch"`
	// From begins with the items of another type's list instead of a call.
	From posture.EntityType `yaml:"from"`
	// One begins with a single empty item: an account or a region has exactly one.
	// Of get it is an item with the member name.
	One bool `yaml:"one"`
	// Function turns items into others by code; see [ListFunction].
	Function string `yaml:"function"`
}

// A Batch gathers items for one call.
type Batch struct {
	Of   Expr `yaml:"of"`
	Size int  `yaml:"size"`
}

// A Call completes one item: it reads more of the resource.
type Call struct {
	Request `yaml:",inline"`
	Answer  `yaml:",inline"`
	// As is the name by which conditions and inputs of later calls look into the
	// answer: as: key, when: {key>KeyState: Enabled}.
	As string `yaml:"as"`
	// Function makes the answer by code instead of a call; see [AnswerFunction].
	Function string `yaml:"function"`
	// At is where in the answer the paths of its properties begin.
	At Expr `yaml:"at"`
	// Where keeps only the elements of the list at At whose paths have one of the
	// values. Find keeps the first such element alone; that there is none means the
	// same as the cloud's answer that there is no such thing.
	Where Conditions `yaml:"where"`
	Find  Conditions `yaml:"find"`
	// When says of which items it is asked at all. Of others its properties are
	// left out, as if they were not declared.
	When Conditions `yaml:"when"`
	// Needs is another call of the type. Where that found nothing, this one is not
	// made and finds nothing either.
	Needs string `yaml:"needs"`
	// Gone, NotEnabled and NotOffered say what it means when the cloud answers that
	// there is no such thing, that the account does not use the service, or that
	// the region does not have it. "absent" means that every property has the value
	// it has when it is absent, "vanished" that there is no such resource any more.
	// Without them the properties are unknown.
	Gone       Meaning `yaml:"gone"`
	NotEnabled Meaning `yaml:"notEnabled"`
	NotOffered Meaning `yaml:"notOffered"`
}

// Key is the name of the call or function.
func (c *Call) Key() string {
	if c.Function != "" {
		return c.Function
	}
	return c.Call
}

// Static reports whether the answer is the same for all items, so that it is
// enough to ask once.
func (c *Call) Static() bool {
	path := c.Call
	if c.Path != "" {
		path = c.Path
	}
	address, err := TemplateExpr(path)
	return err == nil && c.Call != "" && !address.dependsOnItem() && c.Input.static()
}

// LooksInto returns the names of the earlier calls whose answers the call needs.
func (c *Call) LooksInto() []string {
	names := append(c.When.Answers(), c.Input.answers()...)
	for _, p := range c.Properties {
		names = append(names, p.At.answers()...)
	}
	for _, e := range c.Edges {
		names = append(names, e.Ref.answers()...)
	}
	for _, d := range c.Derive {
		names = append(names, d.At.answers()...)
	}
	return names
}

// A Meaning is what a kind of refusal means.
type Meaning string

// The meanings.
const (
	MeansUnknown  Meaning = ""
	MeansAbsent   Meaning = "absent"   // nothing is configured
	MeansVanished Meaning = "vanished" // the resource itself is gone
)

// Names returns the names of the properties, the labels of the edges and, for
// tags, [posture.TagsUnread]: what is unknown when the answer cannot be had.
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

// An Event names entries of one source: "s3" of AWS stands for s3.amazonaws.com.
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

// Conditions hold when every one of them does.
type Conditions []Condition

// A Condition is that the value of an expression is, or with Not is none, of the
// values, whose case does not count. An absent value is the empty string; "*" is
// any value that is there, and "*word*" one that has the word in it.
type Condition struct {
	At     Expr
	Values []string
	Not    bool
}

// UnmarshalYAML implements [yaml.Unmarshaler]: a map from expression to value or
// values. A value list that begins with "!" means none of them.
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

// Answers returns the names of the calls whose answers the conditions look into.
func (cs Conditions) Answers() (names []string) {
	for _, c := range cs {
		names = append(names, c.At.answers()...)
	}
	return names
}

// Lookup returns the path and value of conditions that are one alone, that a value
// is a variable's: {ResourceId: $name}.
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
		met := slices.ContainsFunc(c.Values, func(want string) bool {
			if want != "" && want[0] == '$' {
				value, _ := v.value(want[1:])
				return text == value.String()
			}
			return matches(want, text)
		})
		if met == c.Not {
			return false
		}
	}
	return true
}

// matches compares a text with a value of a declaration without regard to case.
// A star at the beginning or end of the value stands for anything.
func matches(want, text string) bool {
	if want == "*" {
		return text != ""
	}
	want, text = strings.ToLower(want), strings.ToLower(text)
	begin, cutEnd := strings.CutSuffix(want, "*")
	end, cutBegin := strings.CutPrefix(want, "*")
	switch {
	case cutBegin && cutEnd:
		return strings.Contains(text, want[1:len(want)-1])
	case cutBegin:
		return strings.HasSuffix(text, end)
	case cutEnd:
		return strings.HasPrefix(text, begin)
	}
	return text == want
}

// eachMember passes on the members of a mapping in the order of the file.
func eachMember(node *yaml.Node, f func(name string, value *yaml.Node) error) error {
	if node.Kind != yaml.MappingNode {
		return at(node, fmt.Errorf("an object is expected here"))
	}
	for i := 0; i < len(node.Content); i += 2 {
		if err := f(node.Content[i].Value, node.Content[i+1]); err != nil {
			return at(node.Content[i], err)
		}
	}
	return nil
}
