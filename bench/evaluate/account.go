package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/catalog/rulecases"
	"vigil/internal/posture/collect"
	builtin "vigil/internal/posture/collect/declared"
)

// shares are the numbers of entities per thousand by type. Other types share the rest.
var shares = map[posture.EntityType]int{
	"AWS.EC2.NetworkInterface": 120, "AWS.EC2.Volume": 120, "AWS.EC2.Snapshot": 120, "AWS.EC2.Instance": 90, "AWS.Logs.LogGroup": 70,
	"AWS.EC2.SecurityGroup": 60, "AWS.Lambda.Function": 50, "AWS.IAM.Role": 50, "AWS.IAM.Policy": 30, "AWS.CloudWatch.Alarm": 10,
	"AWS.IAM.User": 20, "AWS.S3.Bucket": 20, "AWS.SQS.Queue": 15, "AWS.SNS.Topic": 10, "AWS.DynamoDB.Table": 10, "AWS.EC2.Subnet": 15,
	"AWS.RDS.DBInstance": 10, "AWS.SecretsManager.Secret": 10, "AWS.KMS.Key": 30, "AWS.EC2.Vpc": 3, "AWS.EC2.CidrRange": 5,
}

// single are the types with one entity per account or region.
var single = []posture.EntityType{
	"AWS.IAM.AccountSummary", "AWS.IAM.AccountPasswordPolicy", "AWS.S3.AccountPublicAccessBlock", "AWS.Account.Account", "AWS.Account.Region",
}

var regions = []string{"eu-west-1", "eu-central-1", "us-east-1", "us-west-2"}

const account = posture.AccountID("123456789012")

// A generator generates entities that match the declarations of collectors. Values
// of properties are taken from the cases of rules, mostly from cases that pass.
type generator struct {
	declared []collect.Declaration
	passing  map[key][]any            // values in cases that pass
	all      map[key][]any            // values in all cases
	edges    map[key][]map[string]any // properties of edges in all cases
	rnd      *rand.Rand
}

// A key is a property of a type, or an edge.
type key struct {
	entityType posture.EntityType
	name       string
}

func newGenerator(declared []collect.Declaration, entries []catalog.Entry) (*generator, error) {
	m := &generator{
		declared: declared, passing: map[key][]any{}, all: map[key][]any{}, edges: map[key][]map[string]any{}, rnd: rand.New(rand.NewPCG(1, 2)),
	}
	cases := rulecases.New(builtin.Catalog(), declared)
	for _, e := range entries {
		if e.Provider != posture.AWS {
			continue
		}
		for _, c := range e.Cases {
			passes := len(c.Violates)+len(c.Unknown) == 0
			_, entities, _, err := cases.Build(context.Background(), e, c)
			if err != nil {
				return nil, err
			}
			for i := range entities {
				m.learn(&entities[i], passes)
			}
		}
	}
	return m, nil
}

// learn adds the values of an entity of a case to the values that entities may have.
func (m *generator) learn(e *posture.Entity, passes bool) {
	for name, v := range values(e.Properties) {
		k := key{e.Type, name}
		m.all[k] = append(m.all[k], v)
		if passes {
			m.passing[k] = append(m.passing[k], v)
		}
	}
	for _, edge := range e.Edges {
		k := key{e.Type, edge.Label}
		m.edges[k] = append(m.edges[k], values(edge.Properties))
	}
}

// values returns the list of known values of each property, by name.
func values(properties []posture.Property) map[string]any {
	all := map[string]any{}
	for _, p := range properties {
		list, _ := all[p.Name].([]any)
		switch p.Type {
		case posture.StringProperty:
			all[p.Name] = append(list, p.String)
		case posture.BoolProperty:
			all[p.Name] = append(list, p.Bool)
		case posture.LongProperty:
			all[p.Name] = append(list, int(p.Long))
		}
	}
	return all
}

// count returns the number of entities of a type in an account with size entities.
func (m *generator) count(t posture.EntityType, size int) int {
	if slices.Contains(single, t) {
		return 1
	}
	if share, ok := shares[t]; ok {
		return max(1, size*share/1000)
	}
	remaining := 1000
	for _, share := range shares {
		remaining -= share
	}
	return max(1, size*remaining/1000/(len(m.declared)-len(shares)-len(single)))
}

// generate generates an account with about size entities.
func (m *generator) generate(size int) []posture.Entity {
	counts := map[posture.EntityType]int{}
	for _, d := range m.declared {
		counts[d.Type] = m.count(d.Type, size)
	}
	var all []posture.Entity
	for i := range m.declared {
		for n := range counts[m.declared[i].Type] {
			all = append(all, m.entity(&m.declared[i], n, counts))
		}
	}
	return all
}

// id returns the id of the n-th entity of a type, so that entities can refer to
// each other by number.
func (m *generator) id(t posture.EntityType, n int) (id posture.EntityID, region, name string) {
	region, name = posture.Global, fmt.Sprintf("%s-%06d", t[len("AWS."):], n)
	i := slices.IndexFunc(m.declared, func(d collect.Declaration) bool { return d.Type == t })
	if i >= 0 && m.declared[i].Scope == collect.PerRegion {
		region = regions[n%len(regions)]
	}
	return t.ID(account, region, name), region, name
}

func (m *generator) entity(d *collect.Declaration, n int, counts map[posture.EntityType]int) posture.Entity {
	id, region, name := m.id(d.Type, n)
	e := posture.Entity{
		ID: id, Type: d.Type, Name: name, XID: "arn:aws:" + name, Account: account, Provider: posture.AWS, Region: region, Service: d.Type.Service(),
		Tags: map[string]string{"env": []string{"prod", "test", "dev"}[n%3], "team": fmt.Sprint("team-", n%17)},
	}
	for _, p := range d.Properties {
		m.property(&e, p)
	}
	for _, edge := range d.Edges {
		m.edge(&e, edge, n, counts)
	}
	e.Normalize()
	return e
}

// property adds a property: sometimes an unusual value, rarely an unknown one.
func (m *generator) property(e *posture.Entity, p collect.Property) {
	k := key{e.Type, p.Name}
	pool := m.passing[k]
	if len(pool) == 0 || m.rnd.IntN(5) == 0 {
		pool = m.all[k]
	}
	switch {
	case len(pool) > 0 && m.rnd.IntN(400) == 0:
		e.Properties = append(e.Properties, posture.Unknown(p.Name, "access denied"))
	case len(pool) > 0:
		m.value(e, p.Name, pool[m.rnd.IntN(len(pool))])
	case m.rnd.IntN(4) == 0: // often absent
	case p.Kind == posture.BoolProperty:
		e.Properties = append(e.Properties, posture.Flag(p.Name, m.rnd.IntN(2) == 0))
	case p.Kind == posture.LongProperty:
		e.Properties = append(e.Properties, posture.Number(p.Name, int64(m.rnd.IntN(1000))))
	case strings.HasPrefix(p.Doc, "When "):
		created := catalog.CaseTime.AddDate(0, 0, -m.rnd.IntN(400)).Format(time.RFC3339)
		e.Properties = append(e.Properties, posture.Text(p.Name, created))
	default:
		e.Properties = append(e.Properties, posture.Text(p.Name, fmt.Sprintf("%s-%d", p.Name, m.rnd.IntN(1000))))
	}
}

func (m *generator) value(e *posture.Entity, name string, v any) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		switch v := v.(type) {
		case string:
			e.Properties = append(e.Properties, posture.Text(name, v))
		case bool:
			e.Properties = append(e.Properties, posture.Flag(name, v))
		case int:
			e.Properties = append(e.Properties, posture.Number(name, int64(v)))
		}
	}
}

// edge adds up to two edges. It prefers entities of the same region, which id derives from
// the number of the entity modulo len(regions).
func (m *generator) edge(e *posture.Entity, d collect.Edge, n int, counts map[posture.EntityType]int) {
	for range 1 + m.rnd.IntN(2) {
		to := d.To[m.rnd.IntN(len(d.To))]
		total := counts[to]
		if total == 0 || m.rnd.IntN(5) == 0 {
			continue
		}
		other := m.rnd.IntN(total)
		if candidate := other - other%len(regions) + n%len(regions); candidate < total {
			other = candidate
		}
		id, _, _ := m.id(to, other)
		edge := posture.Edge{Label: d.Label, To: id}
		if pool := m.edges[key{e.Type, d.Label}]; len(pool) > 0 {
			var carrier posture.Entity
			for name, v := range pool[m.rnd.IntN(len(pool))] {
				m.value(&carrier, name, v)
			}
			edge.Properties = carrier.Properties
		}
		e.Edges = append(e.Edges, edge)
	}
}
