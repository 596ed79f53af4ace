package resource

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// GoogleForms are the forms of the names of a Google Cloud type. Calls use the first
// form, provided that it has the same parts as the form that matched.
type GoogleForms []GoogleForm

// A GoogleForm is the form of a name after the API and its version:
//
//	cloudkms/v1/projects/{project}/locations/{location}/keyRings/{name}/cryptoKeys/{name}{/*}
//
// {place} stands for global, regions/{location} and zones/{location}. {name*} is a
// name that may contain slashes, as those of log metrics do. {/*} allows references
// to have a suffix, such as the version of a key.
type GoogleForm struct {
	Service string // "cloudkms"
	Version string // "v1"

	segments []string
	slashes  bool // the name may contain slashes
	open     bool // references may have a suffix
	group    int  // index of the declared form
	variant  int  // index of the expansion of {place}
}

// A GoogleName is the parsed name of a resource.
type GoogleName struct {
	Account  posture.AccountID
	Location string // posture.Global when it has no location
	Name     string // parts of a nested name joined by slashes
	Short    string // the last part of Name; all of it if its form has {name*}
	Path     string // the name in calls: "projects/p/zones/z/instances/vm"
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (fs *GoogleForms) UnmarshalYAML(node *yaml.Node) error {
	var all Strings
	if err := node.Decode(&all); err != nil {
		return err
	}
	for i, text := range all {
		for variant, location := range []string{"global", "regions/{location}", "zones/{location}"} {
			form, err := newGoogleForm(strings.Replace(text, "{place}", location, 1))
			if err != nil {
				return withLine(node, err)
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
		return f, fmt.Errorf("google %q must be an API, its version and the form of a name in a project", text)
	}
	if strings.Contains(text, "$") {
		return f, fmt.Errorf("google %q cannot contain variables", text)
	}
	for _, p := range parts {
		if strings.HasPrefix(p, "{") && !slices.Contains([]string{"{project}", "{location}", "{name}"}, p) {
			return f, fmt.Errorf("google %q has the unknown part %s: the parts are {project}, {place}, {location} and {name}", text, p)
		}
	}
	f.Service, f.Version, f.segments = parts[0], parts[1], parts[2:]
	return f, nil
}

// Host returns the host of the API.
func (f *GoogleForm) Host() string { return f.Service + ".googleapis.com" }

// Collection returns the collection of the resource, the segment before the name:
// "cryptoKeys".
func (f *GoogleForm) Collection() string {
	for i := len(f.segments) - 1; i >= 0; i-- {
		if !strings.HasPrefix(f.segments[i], "{") && f.segments[i] != posture.Global {
			return f.segments[i]
		}
	}
	return ""
}

// Path returns the form without the API and its version.
func (f *GoogleForm) Path() string { return strings.Join(f.segments, "/") }

// Wildcards returns the form with * in place of its parts.
func (f *GoogleForm) Wildcards() string {
	return strings.NewReplacer("{project}", "*", "{location}", "*", "{name}", "*").Replace(f.Path())
}

// Parent returns the path of the collection in a project, with the location "-",
// which means all locations.
func (f *GoogleForm) Parent() string {
	last := len(f.segments) - 1
	return strings.NewReplacer("{project}", "$project", "{location}", "-").Replace(strings.Join(f.segments[:last], "/"))
}

// has reports whether the form contains a part.
func (f *GoogleForm) has(part string) bool { return slices.Contains(f.segments, part) }

func (f *GoogleForm) count(part string) (n int) {
	for _, s := range f.segments {
		if s == part {
			n++
		}
	}
	return n
}

// relativeName removes the host and the version from a name. The result begins with
// the project if the name contains one.
func relativeName(name string) string {
	if strings.HasPrefix(name, "projects/") {
		return name
	}
	if _, rest, ok := strings.Cut(name, "/projects/"); ok {
		return "projects/" + rest
	}
	return name
}

// IsGoogleName reports whether a text is a name that includes its project.
func IsGoogleName(text string) bool { return strings.HasPrefix(relativeName(text), "projects/") }

// Match parses a name or link that has one of the forms. If part is true, the name may have
// further segments after the form: it is then that of something below the resource.
func (fs GoogleForms) Match(v Vars, name string, part bool) (GoogleName, bool) {
	for i := range fs {
		if found, ok := fs[i].match(v, name, part); ok {
			return fs.canonical(&fs[i], v, found), true
		}
	}
	return GoogleName{}, false
}

// Ref parses a reference. It may have a suffix if the form allows one.
func (fs GoogleForms) Ref(v Vars, name string) (GoogleName, bool) {
	for i := range fs {
		if found, ok := fs[i].match(v, name, fs[i].open); ok {
			return fs.canonical(&fs[i], v, found), true
		}
	}
	return GoogleName{}, false
}

// canonical completes a name that was found in the form f. Its path becomes that of the first
// form with the same parts, if such a form is declared before f.
func (fs GoogleForms) canonical(f *GoogleForm, v Vars, found GoogleName) GoogleName {
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
	if len(segments) < len(f.segments) || len(segments) > len(f.segments) && !part {
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
			// Some responses have the project number in place of the id. Names
			// of buckets have neither.
			if segment == v.Number || segment == "_" || segment == "-" {
				segment = string(v.Account)
			}
			segments[i], found.Account = segment, posture.AccountID(segment)
		case "{location}":
			found.Location = segment
		case "{name}":
			unescaped, err := url.PathUnescape(segment)
			if err != nil {
				return GoogleName{}, false
			}
			if found.Name != "" {
				found.Name += "/"
			}
			found.Name += unescaped
		case segment:
		default:
			return GoogleName{}, false
		}
	}
	if found.Name == "" { // the resource is the project itself
		found.Name = string(found.Account)
	}
	found.Short = found.Name
	if !f.slashes {
		found.Short = found.Name[strings.LastIndexByte(found.Name, '/')+1:]
	}
	found.Path = strings.Join(segments, "/")
	return found, true
}

// ParseBare parses a name without a project, of a resource that has no location.
func (fs GoogleForms) ParseBare(v Vars, name string) (GoogleName, bool) {
	const local = false
	return fs.bare(v, posture.Global, name, local)
}

// BareNamesHaveSlashes reports whether bare names of the type may contain slashes. Such names
// cannot be distinguished from paths.
func (fs GoogleForms) BareNamesHaveSlashes() bool {
	return slices.ContainsFunc(fs, func(f GoogleForm) bool { return f.slashes })
}

// ParseBareAt parses a name without a project, of a resource at a location or, for
// posture.Global, in the whole project. It tries forms of that kind first and then
// the other forms.
func (fs GoogleForms) ParseBareAt(v Vars, location, name string) (GoogleName, bool) {
	local := location != posture.Global
	if found, ok := fs.bare(v, location, name, local); ok {
		return found, true
	}
	return fs.bare(v, location, name, !local)
}

// bare parses a bare name by the forms with a location if local is true, otherwise
// by the forms without one.
func (fs GoogleForms) bare(v Vars, location, name string, local bool) (GoogleName, bool) {
	for i := range fs {
		if fs[i].has("{location}") != local {
			continue
		}
		if full, ok := fs[i].spell(string(v.Account), location, name); ok {
			const part = false // full has all segments of the form and no more
			return fs[i].match(v, full, part)
		}
	}
	return GoogleName{}, false
}

// spell returns the path of an entity in this form. It returns false if the name has more or
// fewer parts than the form.
func (f *GoogleForm) spell(project, location, name string) (string, bool) {
	parts := strings.Split(name, "/")
	if f.slashes {
		parts = []string{url.PathEscape(name)}
	}
	if !f.has("{name}") && name == project { // the resource is the project itself
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
