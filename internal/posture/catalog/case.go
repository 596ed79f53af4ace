package catalog

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vigil/internal/posture"
)

// A Case is an example of a rule: a few entities of one account and the expected
// verdicts. The entities are described as they are stored, or as raw responses of the
// cloud from which they are read.
type Case struct {
	Name     string   `yaml:"name"`
	Entities []Entity `yaml:"entities"`
	// Answers are responses of the cloud by call, in the format of the cases of
	// resource declarations. They are read according to the declarations of the types
	// that the rule reads, so that the case also tests these declarations.
	Answers map[string]any `yaml:"answers"`
	Unread  []Unread       `yaml:"unread"`
	// Parameters are values of the rule's parameters; the others have their defaults.
	Parameters map[string]any `yaml:"parameters"`
	// At is the time of the evaluation; the default is CaseTime.
	At time.Time `yaml:"at"`
	// Regions are regions in which types were read, in addition to those of the entities.
	Regions []string `yaml:"-"`
	// Violates and Unknown are the keys of entities. The key of an entity that was read
	// from Answers is its name, or its region and name.
	Violates []string `yaml:"violates"`
	Unknown  []string `yaml:"unknown"`
	// NotApplicable are the keys of the entities that the rule does not apply to. It is
	// empty when the rule applies to all of them.
	NotApplicable []string `yaml:"notApplicable"`
}

// Unread is a type that the last collection could not read, in one region or in all.
type Unread struct {
	Type   posture.EntityType `yaml:"type"`
	Region string             `yaml:"region"`
}

// An Entity is an entity as a case describes it. The region may be omitted where it
// does not matter.
type Entity struct {
	Key        string             `yaml:"key"` // name of the entity within the case
	Type       posture.EntityType `yaml:"type"`
	Name       string             `yaml:"name"` // the default is the key
	Region     string             `yaml:"region"`
	Elsewhere  bool               `yaml:"elsewhere"` // in another account: it may be the target of edges, but is not read
	Properties map[string]any     `yaml:"properties"`
	Unknown    []string           `yaml:"unknown"` // properties that could not be read
	Tags       map[string]string  `yaml:"tags"`
	Edges      []Edge             `yaml:"edges"`
}

// An Edge is an edge to another entity of the case, which is given by its key.
type Edge struct {
	Label      string         `yaml:"label"`
	To         string         `yaml:"to"`
	Properties map[string]any `yaml:"properties"`
}

// CaseTime is the time at which cases are evaluated, for rules that compare ages.
var CaseTime = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// caseAccounts are the accounts of the entities of cases, the same as in the cases of
// resource declarations.
var caseAccounts = map[posture.Provider]posture.AccountID{
	posture.AWS: "123456789012", posture.Azure: "11111111-2222-3333-4444-555555555555", posture.GCP: "acme-prod",
}

// Build returns the entities of a case as collectors would have read them, and their
// ids by key.
func (c Case) Build() ([]posture.Entity, map[string]posture.EntityID, error) {
	ids := map[string]posture.EntityID{}
	for _, e := range c.Entities {
		if _, exists := ids[e.Key]; exists || e.Key == "" {
			return nil, nil, fmt.Errorf("case %q: key %q is missing or used twice", c.Name, e.Key)
		}
		ids[e.Key] = e.id()
	}
	for _, key := range slices.Concat(c.Violates, c.Unknown, c.NotApplicable) {
		if _, ok := ids[key]; !ok && len(c.Answers) == 0 {
			return nil, nil, fmt.Errorf("case %q: there is no entity %q", c.Name, key)
		}
	}
	var all []posture.Entity
	for _, e := range c.Entities {
		built, err := e.build(ids)
		if err != nil {
			return nil, nil, fmt.Errorf("case %q: %s: %w", c.Name, e.Key, err)
		}
		if !e.Elsewhere {
			all = append(all, built)
		}
	}
	return all, ids, nil
}

func (e Entity) name() string {
	if e.Name != "" {
		return e.Name
	}
	return e.Key
}

func (e Entity) id() posture.EntityID {
	account := caseAccounts[e.Type.Provider()]
	if e.Elsewhere {
		account += "-elsewhere"
	}
	return e.Type.ID(account, e.Region, e.name())
}

func (e Entity) build(ids map[string]posture.EntityID) (posture.Entity, error) {
	out := posture.Entity{
		ID: ids[e.Key], Type: e.Type, Name: e.name(), XID: "xid:" + e.name(), Account: caseAccounts[e.Type.Provider()],
		Provider: e.Type.Provider(), Region: e.Region, Service: e.Type.Service(), Tags: e.Tags, Created: CaseTime, Updated: CaseTime,
	}
	if out.Region == "" {
		out.Region = posture.Global
	}
	var err error
	if out.Properties, err = properties(e.Properties); err != nil {
		return out, err
	}
	for _, name := range e.Unknown {
		out.Properties = append(out.Properties, posture.Unknown(name, "access denied"))
	}
	for _, edge := range e.Edges {
		to, ok := ids[edge.To]
		if !ok {
			return out, fmt.Errorf("edge %s leads to %q, which the case does not have", edge.Label, edge.To)
		}
		ps, err := properties(edge.Properties)
		if err != nil {
			return out, err
		}
		out.Edges = append(out.Edges, posture.Edge{Label: edge.Label, To: to, Properties: ps})
	}
	out.Normalize()
	return out, nil
}

// properties converts values of YAML to properties. A list becomes one property for
// each element.
func properties(values map[string]any) ([]posture.Property, error) {
	var all []posture.Property
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list, ok := values[name].([]any)
		if !ok {
			list = []any{values[name]}
		}
		for _, v := range list {
			switch v := v.(type) {
			case string:
				all = append(all, posture.Text(name, v))
			case bool:
				all = append(all, posture.Flag(name, v))
			case int:
				all = append(all, posture.Number(name, int64(v)))
			case time.Time:
				all = append(all, posture.Text(name, v.UTC().Format(time.RFC3339)))
			default:
				return nil, fmt.Errorf("property %s is a %T", name, v)
			}
		}
	}
	return all, nil
}

// Coverage returns when types were last read according to the case. global reports
// whether a type is read once per account, not once per region.
func (c Case) Coverage(all []posture.EntityType, global func(posture.EntityType) bool) []posture.Coverage {
	regions := map[string]bool{}
	for _, region := range c.Regions {
		regions[region] = true
	}
	for _, e := range c.Entities {
		if e.Region != "" {
			regions[e.Region] = true
		}
	}
	if len(regions) == 0 {
		regions["nowhere"] = true // without a scope, a regional type would count as not read
	}
	regional, worldwide := slices.Sorted(maps.Keys(regions)), []string{posture.Global}
	covered := make([]posture.Coverage, 0, len(all)*len(regional))
	for _, t := range all {
		places := regional
		if global(t) {
			places = worldwide
		}
		for _, name := range places {
			state := posture.Coverage{Type: t, Region: name, Succeeded: CaseTime}
			if slices.ContainsFunc(c.Unread, func(u Unread) bool { return u.Type == t && (u.Region == "" || u.Region == name) }) {
				state.Failed, state.Why = CaseTime.Add(time.Minute), "access denied" // later than Succeeded
			}
			covered = append(covered, state)
		}
	}
	return covered
}

// Account returns the account of the entities in cases of a provider.
func Account(p posture.Provider) posture.AccountID { return caseAccounts[p] }
