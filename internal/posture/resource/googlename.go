package resource

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// GoogleForms are the forms that the names of a type of Google Cloud have. The
// first is the one that calls use, where another has the same parts.
type GoogleForms []GoogleForm

// A GoogleForm is one form of a name, after the API and its version:
//
//	cloudkms/v1/projects/{project}/locations/{location}/keyRings/{name}/cryptoKeys/{name}{/*}
//
// {place} stands for global, regions/{location} and zones/{location}. {name*} is a
// name that may have slashes in it, as log metrics do. {/*} is an end that
// references may have: of a key, its version.
type GoogleForm struct {
	Service string // "cloudkms"
	Version string // "v1"

	segments []string
	slashes  bool // of its name
	open     bool // more may follow in references
	group    int  // which declared form it is made from
	variant  int  // which place it is for
}

// A GoogleName is the name of a resource, taken apart.
type GoogleName struct {
	Account  posture.AccountID
	Location string // posture.Global for none
	Name     string // parts of a nested name are joined by slashes
	Short    string // the last part
	Path     string // as calls take it: "projects/p/zones/z/instances/vm"
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (fs *GoogleForms) UnmarshalYAML(node *yaml.Node) error {
	var all Strings
	if err := node.Decode(&all); err != nil {
		return err
	}
	for i, text := range all {
		for variant, place := range []string{"global", "regions/{location}", "zones/{location}"} {
			form, err := newGoogleForm(strings.Replace(text, "{place}", place, 1))
			if err != nil {
				return at(node, err)
			}
			form.group, form.variant = i, variant
			*fs = append(*fs, form)
			if !strings.Contains(text, "{place}") {
				break
			}
		}
	}
	return nil
}

func newGoogleForm(text string) (f GoogleForm, err error) {
	text, f.open = strings.CutSuffix(text, "{/*}")
	f.slashes = strings.Contains(text, "{name*}")
	parts := strings.Split(strings.Replace(text, "{name*}", "{name}", 1), "/")
	if len(parts) < 4 || parts[2] != "projects" || slices.Contains(parts, "") {
		return f, fmt.Errorf("%q is not an API, its version and the form of a name in a project", text)
	}
	for _, p := range parts {
		if strings.HasPrefix(p, "{") && !slices.Contains([]string{"{project}", "{location}", "{name}"}, p) {
			return f, fmt.Errorf("%q has %s: the parts of a form are {project}, {place}, {location} and {name}", text, p)
		}
	}
	f.Service, f.Version, f.segments = parts[0], parts[1], parts[2:]
	return f, nil
}

// Host returns the host of the API.
func (f *GoogleForm) Host() string { return f.Service + ".googleapis.com" }

// Collection returns what precedes the name: "cryptoKeys".
func (f *GoogleForm) Collection() string {
	for i := len(f.segments) - 1; i >= 0; i-- {
		if !strings.HasPrefix(f.segments[i], "{") && f.segments[i] != posture.Global {
			return f.segments[i]
		}
	}
	return ""
}

// Path returns the form after the API and its version.
func (f *GoogleForm) Path() string { return strings.Join(f.segments, "/") }

// Wildcards returns the form with * for its parts.
func (f *GoogleForm) Wildcards() string {
	return strings.NewReplacer("{project}", "*", "{location}", "*", "{name}", "*").Replace(f.Path())
}

// Parent returns the path of the collection for a project, with the location "-"
// for all of them.
func (f *GoogleForm) Parent() string {
	last := len(f.segments) - 1
	return strings.NewReplacer("{project}", "$project", "{location}", "-").Replace(strings.Join(f.segments[:last], "/"))
}

// has reports whether a part is in the form.
func (f *GoogleForm) has(part string) bool { return slices.Contains(f.segments, part) }

func (f *GoogleForm) count(part string) (n int) {
	for _, s := range f.segments {
		if s == part {
			n++
		}
	}
	return n
}

// relativeName takes host and version off a name: what is left begins with the
// project, where there is one.
func relativeName(name string) string {
	if strings.HasPrefix(name, "projects/") {
		return name
	}
	if _, rest, ok := strings.Cut(name, "/projects/"); ok {
		return "projects/" + rest
	}
	return name
}

// IsGoogleName reports whether a text names its project.
func IsGoogleName(text string) bool { return strings.HasPrefix(relativeName(text), "projects/") }

// Match reads a name or link that has one of the forms. With part it may be the
// name of something in the resource.
func (fs GoogleForms) Match(v Vars, name string, part bool) (GoogleName, bool) {
	for i := range fs {
		if found, ok := fs[i].match(v, name, part); ok {
			return fs.usual(&fs[i], v, found), true
		}
	}
	return GoogleName{}, false
}

// Ref is Match for references, which may go on where the form says so.
func (fs GoogleForms) Ref(v Vars, name string) (GoogleName, bool) {
	for i := range fs {
		if found, ok := fs[i].match(v, name, fs[i].open); ok {
			return fs.usual(&fs[i], v, found), true
		}
	}
	return GoogleName{}, false
}

// usual returns a name in the first form, where that has the same parts.
func (fs GoogleForms) usual(f *GoogleForm, v Vars, found GoogleName) GoogleName {
	for i := range fs {
		first := &fs[i]
		if first.group >= f.group {
			break
		}
		if first.variant == f.variant && first.has("{location}") == f.has("{location}") && first.count("{name}") == f.count("{name}") {
			if spelled, ok := first.spell(string(found.Account), found.Location, found.Name); ok {
				found.Path = spelled
			}
			break
		}
	}
	return found
}

func (f *GoogleForm) match(v Vars, name string, part bool) (GoogleName, bool) {
	segments := strings.Split(relativeName(name), "/")
	if len(segments) != len(f.segments) && (!part || len(segments) < len(f.segments)) {
		return GoogleName{}, false
	}
	segments = segments[:len(f.segments)]
	found := GoogleName{Account: v.Account, Location: posture.Global}
	for i, segment := range segments {
		if segment == "" {
			return GoogleName{}, false
		}
		switch f.segments[i] {
		case "{project}":
			// Some answers have the number in place of the id. Buckets have neither.
			if segment == v.Number || segment == "_" || segment == "-" {
				segment = string(v.Account)
			}
			segments[i], found.Account = segment, posture.AccountID(segment)
		case "{location}":
			found.Location = segment
		case "{name}":
			plain, err := url.PathUnescape(segment)
			if err != nil {
				return GoogleName{}, false
			}
			if found.Name != "" {
				found.Name += "/"
			}
			found.Name += plain
		case segment:
		default:
			return GoogleName{}, false
		}
	}
	if found.Name == "" { // a project has no other name
		found.Name = string(found.Account)
	}
	if found.Short = found.Name; !f.slashes {
		found.Short = found.Name[strings.LastIndexByte(found.Name, '/')+1:]
	}
	found.Path = strings.Join(segments, "/")
	return found, true
}

// Bare reads a name that does not say its project, of a resource that is in no
// location.
func (fs GoogleForms) Bare(v Vars, name string) (GoogleName, bool) {
	return fs.bare(v, posture.Global, name, false)
}

// AnyBare reports whether bare names of the type may have slashes, so that they
// cannot be told from paths.
func (fs GoogleForms) AnyBare() bool {
	return slices.ContainsFunc(fs, func(f GoogleForm) bool { return f.slashes })
}

// BareAt reads a name that does not say its project, of a resource at a location
// or, when that is posture.Global, in the whole project. Forms of the other kind
// come last.
func (fs GoogleForms) BareAt(v Vars, location, name string) (GoogleName, bool) {
	local := location != posture.Global
	if found, ok := fs.bare(v, location, name, local); ok {
		return found, true
	}
	return fs.bare(v, location, name, !local)
}

// bare reads a bare name by the forms that have a location, or by those that have
// none.
func (fs GoogleForms) bare(v Vars, location, name string, local bool) (GoogleName, bool) {
	for i := range fs {
		if fs[i].has("{location}") != local {
			continue
		}
		if full, ok := fs[i].spell(string(v.Account), location, name); ok {
			return fs[i].match(v, full, false)
		}
	}
	return GoogleName{}, false
}

// spell writes the name of an entity as the service has it.
func (f *GoogleForm) spell(project, location, name string) (string, bool) {
	parts := strings.Split(name, "/")
	if f.slashes {
		parts = []string{url.PathEscape(name)}
	}
	if !f.has("{name}") && name == project {
		parts = nil
	}
	segments := make([]string, len(f.segments))
	for i, segment := range f.segments {
		switch segment {
		case "{project}":
			segment = project
		case "{location}":
			segment = location
		case "{name}":
			if len(parts) == 0 {
				return "", false
			}
			segment, parts = parts[0], parts[1:]
		}
		segments[i] = segment
	}
	return strings.Join(segments, "/"), len(parts) == 0
}
