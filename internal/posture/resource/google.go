package resource

import (
	"fmt"
	"slices"
	"strings"

	"vigil/internal/posture"
)

// GoogleResource holds the members that only declarations of Google Cloud types
// have. Load expands them into stages, calls and permissions.
type GoogleResource struct {
	// Google are the forms of the resource's name.
	Google GoogleForms `yaml:"google"`
	// Granted is the prefix of the permissions when that is not the API and the
	// collection: "cloudsql.instances".
	Granted string `yaml:"granted"`
	// EachLocation is the version of the API that lists locations. It is set for an
	// API that cannot list across locations: locations are then listed first.
	EachLocation string `yaml:"eachLocation"`
	// Policy says that the resources have their own IAM policies.
	Policy bool `yaml:"policy"`
}

// computePage is the maximum page size of Compute Engine.
const computePage = "500"

// expandGoogle adds the parts of a Google Cloud declaration that follow from the
// form of its name.
func (c *Catalog) expandGoogle(t *Type) error {
	if t.Type.Provider() != posture.GCP {
		return nil
	}
	t.Events.joinPrefixes()
	if len(t.Google) > 0 {
		t.nameGoogle()
		if len(t.List) == 0 {
			t.listGoogle()
		}
		if t.Get == nil && t.Google[0].has("{name}") && t.List[0].Function == "" {
			t.getGoogle()
		}
	}
	if t.Policy {
		call := t.policyCall()
		if err := call.bind(c.functions); err != nil {
			return err
		}
		t.Calls = append(t.Calls, call)
	}
	for i := range t.List {
		if err := t.List[i].addressGoogle(t, i == len(t.List)-1); err != nil {
			return err
		}
	}
	if t.Get != nil {
		if err := t.Get.addressGoogle(t, true); err != nil {
			return err
		}
	}
	for i := range t.Calls {
		if err := t.Calls[i].addressGoogle(t, false); err != nil {
			return err
		}
	}
	return nil
}

// nameGoogle sets the paths of the name and the labels unless they are declared.
func (t *Type) nameGoogle() {
	if len(t.Name) == 0 {
		t.Name = Exprs{mustPath("name")}
		if t.Google[0].Service == "compute" {
			t.Name = Exprs{mustPath("selfLink")}
		}
	}
	if len(t.Tags) == 0 {
		t.Tags = Exprs{mustPath("labels")}
	}
}

// listGoogle adds the call that lists a type. For Compute Engine the call covers all
// locations, and the get call is the same call with a filter by name.
func (t *Type) listGoogle() {
	f := &t.Google[0]
	base := f.Service + "/" + f.Version + "/"
	s := Stage{Request: Request{Input: t.Query}}
	switch {
	case f.Service == "compute":
		s.Call = base + "projects/$project/global/" + f.Collection()
		s.Items = Exprs{mustPath("items")}
		if slices.ContainsFunc(t.Google, func(f GoogleForm) bool { return f.has("{location}") }) {
			s.Call = base + "projects/$project/aggregated/" + f.Collection()
			s.Items = Exprs{mustPath("items.@values.#." + f.Collection())}
		}
		s.Input.add("maxResults", computePage)
		if t.Get == nil {
			get := s
			get.Input = Input{members: slices.Clone(s.Input.members)}
			get.Input.add("filter", `name="$last"`)
			t.Get = &get
		}
	case t.EachLocation != "":
		t.List = []Stage{{Request: Request{Call: f.Service + "/" + t.EachLocation + "/projects/$project/locations"}, Items: Exprs{mustPath("locations")}}}
		s.Call = base + strings.Replace(f.Parent(), "/locations/-/", "/locations/${locationId}/", 1)
		s.Items = Exprs{mustPath(f.Collection())}
	default:
		s.Call = base + f.Parent()
		s.Items = Exprs{mustPath(f.Collection())}
	}
	t.List = append(t.List, s)
}

// getGoogle adds the call that reads one resource.
func (t *Type) getGoogle() {
	f := &t.Google[0]
	t.Get = &Stage{Request: Request{Call: f.Service + "/" + f.Version + "/$name"}}
}

// policyCall returns the call that reads the IAM policy of a resource. It requests
// policy version 3, which includes conditions.
func (t *Type) policyCall() Call {
	f := &t.Google[0]
	call := Call{Request: Request{Call: f.Service + "/" + f.Version + "/${name}:getIamPolicy", Input: NewInput("options.requestedPolicyVersion", "3")}}
	call.Derive = []Derived{{Name: "gcp.policy"}}
	return call
}

// addressGoogle checks the address of a method and sets the permission that follows
// from it. With withTypePermissions, it adds the permissions that the type declares.
func (r *Request) addressGoogle(t *Type, withTypePermissions bool) error {
	if r.Call == "" {
		return nil
	}
	if strings.Count(r.Call, "/") < 2 {
		return fmt.Errorf("call %q must be an API, its version and the path of a method", r.Call)
	}
	if r.Permission == "" {
		r.Permission = googlePermission(r.Call, t)
		if withTypePermissions {
			r.Permission = strings.Join(append([]string{r.Permission}, t.Permissions...), " ")
		}
	}
	return nil
}

func (fs GoogleForms) collection() string {
	if len(fs) == 0 {
		return ""
	}
	return fs[0].Collection()
}

// GooglePermission returns the permission that a method needs, as far as it follows
// from the address.
func GooglePermission(call string) string { return googlePermission(call, new(Type)) }

// googlePermission returns the permission that a method needs. The permission is
// named after the collection in the address or, when that has none, after the type.
func googlePermission(call string, t *Type) string {
	address := strings.TrimPrefix(call, "POST ")
	service, path, _ := strings.Cut(address, "/")
	segments := strings.Split(path, "/")[1:]
	last, verb, custom := strings.Cut(segments[len(segments)-1], ":")
	collection := last
	if verb == "" {
		verb = "list"
	}
	if strings.HasPrefix(last, "$") {
		if !custom {
			verb = "get"
		}
		collection = ""
		if len(segments) > 1 {
			collection = segments[len(segments)-2]
		}
	}
	ownCollection := t.Google.collection()
	if collection == "" || collection == ownCollection {
		if t.Granted != "" {
			return t.Granted + "." + verb
		}
		collection = ownCollection
	}
	return permissionService(service) + "." + collection + "." + verb
}

// permissionService returns the prefix of the permissions of an API.
func permissionService(api string) string {
	switch api {
	case "sqladmin":
		return "cloudsql"
	case "cloudresourcemanager":
		return "resourcemanager"
	}
	return api
}

// joinPrefixes expands method names that are declared after a common prefix:
// "pubsub google.pubsub.v1.Publisher: [CreateTopic]".
func (es Events) joinPrefixes() {
	for i := range es {
		source, prefix, ok := strings.Cut(es[i].Source, " ")
		if !ok {
			continue
		}
		es[i].Source = source
		for j := range es[i].Names {
			es[i].Names[j] = prefix + "." + es[i].Names[j]
		}
	}
}
