// Package accountgen generates cloud accounts for measuring queries: resources
// with the types, properties and edges of a mid-sized company's AWS account. The
// same size and seed always give the same account.
package accountgen

import (
	"fmt"
	"math/rand/v2"

	"vigil/graph"
)

// Account is the id of the generated account.
const Account = "123456789012"

// shares are the numbers of resources per thousand by type.
var shares = []struct {
	label string
	share int
	fill  func(*generator, *resource)
}{
	{"AWS.Account", 0, (*generator).account},
	{"AWS.EC2.VPC", 3, (*generator).vpc},
	{"AWS.EC2.Subnet", 12, (*generator).subnet},
	{"AWS.EC2.SecurityGroup", 50, (*generator).securityGroup},
	{"AWS.EC2.SecurityGroupRule", 125, (*generator).rule},
	{"AWS.KMS.Key", 15, (*generator).key},
	{"AWS.IAM.Policy", 50, (*generator).policy},
	{"AWS.IAM.Role", 65, (*generator).role},
	{"AWS.IAM.User", 25, (*generator).user},
	{"AWS.S3.Bucket", 45, (*generator).bucket},
	{"AWS.EC2.Volume", 170, (*generator).volume},
	{"AWS.EC2.Snapshot", 150, (*generator).snapshot},
	{"AWS.EC2.Instance", 120, (*generator).instance},
	{"AWS.EC2.NetworkInterface", 100, (*generator).networkInterface},
	{"AWS.Lambda.Function", 40, (*generator).function},
	{"AWS.RDS.DBInstance", 20, (*generator).database},
	{"AWS.ELB.LoadBalancer", 10, (*generator).loadBalancer},
}

// generator generates resources one by one.
type generator struct {
	r     *rand.Rand
	count map[string]int
}

// resource is the resource being generated.
type resource struct {
	graph.Record
	i int // its number among the resources of its type
}

// Generate generates an account of about n resources and calls emit for each, until emit fails.
func Generate(n int, seed uint64, emit func(graph.Record) error) error {
	m := &generator{r: rand.New(rand.NewPCG(seed, uint64(n))), count: map[string]int{}}
	for _, s := range shares {
		m.count[s.label] = max(1, n*s.share/1000)
	}
	for _, s := range shares {
		for i := range m.count[s.label] {
			res := &resource{Record: graph.Record{ID: id(s.label, i), Label: s.label}, i: i}
			if s.label != "AWS.Account" {
				m.common(res)
				res.to("account", "AWS.Account", 0)
			}
			s.fill(m, res)
			if err := emit(res.Record); err != nil {
				return err
			}
		}
	}
	return nil
}

// id returns the id of the i-th resource of a type.
func id(label string, i int) graph.Value {
	return graph.String(fmt.Sprintf("arn:aws:%s:%s:%s/%08x", label[4:], Account, label[len(label)-3:], i))
}

var (
	regions      = []string{"eu-west-1", "us-east-1", "us-west-2", "ap-southeast-2"}
	environments = []string{"prod", "prod", "staging", "dev", "test"}
	teams        = []string{"payments", "search", "platform", "data", "mobile", "risk", "growth", "identity"}
)

// common sets the common properties of all resources.
func (m *generator) common(r *resource) {
	r.set("name", fmt.Sprintf("%s-%d", shortName(r.Label), r.i))
	r.set("region", m.pick(regions))
	r.set("createdAt", 1_500_000_000_000+m.r.Int64N(250_000_000_000))
	if m.chance(85) {
		r.set("tag.Environment", m.pick(environments))
	}
	if m.chance(70) {
		r.set("tag.Owner", m.pick(teams))
	}
	if m.chance(2) {
		r.set(fmt.Sprintf("tag.custom%d", m.r.IntN(50)), "yes")
	}
}

// shortName returns the last part of a label in lower case.
func shortName(label string) string {
	for i := len(label) - 1; ; i-- {
		if label[i] == '.' {
			b := []byte(label[i+1:])
			for j := range b {
				if b[j] >= 'A' && b[j] <= 'Z' {
					b[j] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
}

// set sets a property of the resource and replaces an existing value.
func (r *resource) set(key string, v any) {
	p := graph.PropertyRecord{Key: key}
	switch v := v.(type) {
	case string:
		p.Value = graph.String(v)
	case bool:
		p.Value = graph.Bool(v)
	case int:
		p.Value = graph.Int(int32(v))
	case int64:
		p.Value = graph.Long(v)
	}
	for i := range r.Properties {
		if r.Properties[i].Key == key {
			r.Properties[i] = p
			return
		}
	}
	r.Properties = append(r.Properties, p)
}

// link adds an edge to a random resource of a type. Resources with low numbers
// are chosen more often, so that there are hubs.
func (m *generator) link(r *resource, edge, label string) {
	n := m.count[label]
	i := min(m.r.IntN(n), m.r.IntN(n))
	r.to(edge, label, i)
}

// to adds an edge to one resource, unless it exists.
func (r *resource) to(edge, label string, i int) {
	to := id(label, i)
	for _, e := range r.Out {
		if e.Label == edge && e.To.Equal(to) {
			return
		}
	}
	r.Out = append(r.Out, graph.EdgeRecord{Label: edge, To: to})
}

func (m *generator) pick(values []string) string { return values[m.r.IntN(len(values))] }

// chance returns true with a probability in percent.
func (m *generator) chance(percent int) bool { return m.r.IntN(100) < percent }
