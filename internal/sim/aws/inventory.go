package aws

import (
	"fmt"
	"strconv"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sim/world"
)

// services register the operations of the simulated services.
var services = []func(*Cloud){
	stsService, ec2Service, iamService, s3Service, vaultService, dataService, monitoringService, workloadService, webService, messageService,
}

// An inventory contains the kinds of resources, one field per kind. A resource refers
// to another by its number in the kind, so that every relation has a target.
type inventory struct {
	*Cloud
	kinds map[posture.EntityType]*world.Kind

	network
	compute
	storage
	identity
	vault
	data
	monitoring
	workload
	web
	messages
	buckets, blocks *world.Kind
}

func newInventory(c *Cloud) *inventory {
	e := &inventory{Cloud: c, kinds: map[posture.EntityType]*world.Kind{}}
	e.makeNetwork()
	e.makeCompute()
	e.makeStorage()
	e.makeIdentity()
	e.makeBuckets()
	e.makeVault()
	e.makeData()
	e.makeMonitoring()
	e.makeWorkload()
	e.makeWeb()
	e.makeMessages()
	return e
}

// add registers a kind.
func (e *inventory) add(k *world.Kind) *world.Kind {
	e.kinds[k.Type] = k
	return k
}

// counter returns the number of resources of a kind in a place.
type counter func(p world.Place) int

// share returns a counter: parts per thousand of the place's size, but not less than
// minimum.
func (e *inventory) share(parts, minimum int) counter {
	return func(p world.Place) int {
		size := e.options.Size
		if p.Region != "" {
			size /= len(e.options.Regions)
		}
		return max(minimum, size*parts/1000)
	}
}

// constantCount returns a counter with a fixed result.
func constantCount(n int) counter { return func(world.Place) int { return n } }

// maker generates the i-th resource of a place with the given name.
type maker func(p world.Place, i int, name string) world.Object

// hexNamed returns a kind whose names are a prefix and hexadecimal digits, like
// those of EC2.
func (e *inventory) hexNamed(t posture.EntityType, prefix string, digits int, n counter, make maker) *world.Kind {
	seed := func(p world.Place) world.Seed { return e.seed(p).With(prefix) }
	k := &world.Kind{
		Type:  t,
		Count: n,
		Name:  func(p world.Place, i int) string { return prefix + seed(p).Numbered(i, digits) },
		Index: func(p world.Place, name string) (int, bool) {
			code, ok := strings.CutPrefix(name, prefix)
			if !ok || len(code) != digits {
				return 0, false
			}
			return seed(p).Number(code)
		},
	}
	k.Make = func(p world.Place, i int) world.Object { return make(p, i, k.Name(p, i)) }
	return e.add(k)
}

// wordNamed returns a kind whose names are a word and a number.
func (e *inventory) wordNamed(t posture.EntityType, word string, n counter, make maker) *world.Kind {
	return e.numberNamed(t, func(_ world.Place, i int) string { return fmt.Sprintf("%s-%04d", word, i) }, n, make)
}

// numberNamed returns a kind whose names end in their number.
func (e *inventory) numberNamed(t posture.EntityType, name func(p world.Place, i int) string, n counter, make maker) *world.Kind {
	k := &world.Kind{
		Type:  t,
		Count: n,
		Name:  name,
		Index: func(_ world.Place, name string) (int, bool) {
			end := strings.LastIndexFunc(name, func(r rune) bool { return r < '0' || r > '9' })
			i, err := strconv.Atoi(name[end+1:])
			return i, err == nil
		},
	}
	k.Make = func(p world.Place, i int) world.Object { return make(p, i, k.Name(p, i)) }
	return e.add(k)
}

// uuidNamed returns a kind whose names are UUIDs.
func (e *inventory) uuidNamed(t posture.EntityType, n counter, make maker) *world.Kind {
	seed := func(p world.Place) world.Seed { return e.seed(p).With(string(t)) }
	k := &world.Kind{
		Type:  t,
		Count: n,
		Name:  func(p world.Place, i int) string { return seed(p).UUID(i) },
		Index: func(p world.Place, name string) (int, bool) { return seed(p).UUIDNumber(name) },
	}
	k.Make = func(p world.Place, i int) world.Object { return make(p, i, k.Name(p, i)) }
	return e.add(k)
}

// nth returns the name of the i-th resource of a kind, modulo their number.
func nth(k *world.Kind, p world.Place, i int) string {
	n := k.Count(p)
	if n == 0 {
		return ""
	}
	return k.Name(p, i%n)
}

// arn returns a resource name.
func arn(service string, p world.Place, resource string) string {
	return "arn:aws:" + service + ":" + p.Region + ":" + p.Account + ":" + resource
}

// everywhere returns the place of the global resources of p's account.
func everywhere(p world.Place) world.Place { return world.Place{Account: p.Account} }

// tags returns the tags of the i-th resource of a kind, as name and value
// pairs.
func (e *inventory) tags(p world.Place, kind string, i int) [][2]string {
	s := e.seed(p).With(kind).Nth(i)
	return [][2]string{
		{"Name", world.PickOne(s.With("app"), "orders", "billing", "search", "reports", "portal") + "-" + kind + "-" + strconv.Itoa(i)},
		{"Environment", world.PickOne(s.With("environment"), "production", "staging", "development")},
		{"Owner", world.PickOne(s.With("owner"), "platform", "payments", "data", "web")},
	}
}

// tagList returns tags with the member names of a service.
func (e *inventory) tagList(p world.Place, kind string, i int, key, value string) []any {
	var list []any
	for _, t := range e.tags(p, kind, i) {
		list = append(list, world.Obj(key, t[0], value, t[1]))
	}
	return list
}

// tagSet returns tags in EC2's form.
func (e *inventory) tagSet(p world.Place, kind string, i int) []any {
	return e.tagList(p, kind, i, "key", "value")
}

// list executes a list call.
func (c *call) list(cloud *Cloud, l listing) (answer, error) {
	p := c.place()
	if l.global {
		p = c.global()
	}
	shape := l.shape
	if shape == nil {
		shape = func(_ string, o world.Object) any { return o.Visible() }
	}
	var items []any
	if names := c.texts(l.names); l.names != "" && len(names) > 0 {
		for _, name := range names {
			o, ok := cloud.Get(l.kind, p, name)
			if !ok && l.missing != "" {
				return answer{}, &failure{400, l.missing, "'" + name + "' does not exist"}
			}
			if ok && (l.only == nil || l.only(name, o)) {
				items = append(items, shape(name, o))
			}
		}
		return answer{Object: world.Obj(l.field, l.wrap(items))}, nil
	}
	from, size := c.number(l.token, 0), c.number(l.max, l.page)
	if size <= 0 || size > l.page {
		size = l.page
	}
	// A page can need several reads, because l.only leaves out resources.
	for from >= 0 && len(items) < size {
		from = cloud.List(l.kind, p, from, size-len(items), func(name string, o world.Object) bool {
			if l.only == nil || l.only(name, o) {
				items = append(items, shape(name, o))
			}
			return true
		})
	}
	out := world.Obj(l.field, l.wrap(items))
	if from >= 0 {
		out = append(out, world.Obj(l.next, strconv.Itoa(from))...)
	}
	if l.truncated != "" {
		out = append(out, world.Obj(l.truncated, from >= 0)...)
	}
	return answer{Object: out, root: l.root}, nil
}

// A listing describes a list call.
type listing struct {
	kind      *world.Kind
	global    bool                                   // the kind has no region
	field     string                                 // member of the response that contains the resources
	item      string                                 // name of their XML element, where the protocol needs one
	root      string                                 // the outermost element, for restXML
	names     string                                 // parameter with the names of requested resources
	missing   string                                 // error code when one of them does not exist; "" to leave it out
	token     string                                 // parameter with the page token
	next      string                                 // member of the response with the next token
	max       string                                 // parameter with the page size
	truncated string                                 // member of the response that reports further pages
	page      int                                    // the largest page
	only      func(name string, o world.Object) bool // whether to list a resource; nil for all
	shape     func(name string, o world.Object) any  // the form of a resource in the list; nil for its visible fields
}

// wrap returns items with the name of their XML element, if there is one, else a list
// that is not nil.
func (l listing) wrap(items []any) any {
	if l.item != "" {
		return listOf(l.item, items)
	}
	if items == nil {
		items = []any{}
	}
	return items
}
