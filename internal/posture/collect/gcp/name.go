package gcp

import (
	"net/url"
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// A naming is how Google names the resources of a type.
type naming struct {
	host  string     // of the service
	paths [][]string // in segments, with {p}, {l} and {n} for project, location and name
}

// A spot is what a resource's name says.
type spot struct {
	account  posture.AccountID
	location string
	name     string // parts of a nested name are joined by slashes
	path     string // the name as the service takes it
}

// parts returns the parts of a nested name.
func (at spot) parts() []string { return strings.Split(at.name, "/") }

// at declares names by their paths.
func at(host string, paths ...string) naming {
	n := naming{host: host + ".googleapis.com"}
	for _, p := range paths {
		n.paths = append(n.paths, strings.Split(p, "/"))
	}
	return n
}

// Names of resources of Compute Engine.
func zonal(collection string) naming {
	return at("compute", "projects/{p}/zones/{l}/"+collection+"/{n}")
}
func regional(collection string) naming {
	return at("compute", "projects/{p}/regions/{l}/"+collection+"/{n}")
}
func global(collection string) naming { return at("compute", "projects/{p}/global/"+collection+"/{n}") }
func anywhere(collection string) naming {
	return at("compute", "projects/{p}/global/"+collection+"/{n}", "projects/{p}/regions/{l}/"+collection+"/{n}", "projects/{p}/zones/{l}/"+collection+"/{n}")
}

// local declares names below a location of a project.
func local(host, collection string) naming {
	return at(host, "projects/{p}/locations/{l}/"+collection)
}

// relative takes host and version off a name: what is left begins with the
// project, where there is one.
func relative(name string) string {
	if strings.HasPrefix(name, "projects/") {
		return name
	}
	if _, rest, ok := strings.Cut(name, "/projects/"); ok {
		return "projects/" + rest
	}
	if rest, ok := strings.CutPrefix(name, "//"); ok {
		_, rest, _ = strings.Cut(rest, "/")
		return rest
	}
	return name
}

// match reads a name that has the form of a path, or with more to follow one that
// begins so.
func (s *session) match(path []string, name string, more bool) (spot, bool) {
	segments := strings.Split(relative(name), "/")
	if len(segments) != len(path) && (!more || len(segments) < len(path)) {
		return spot{}, false
	}
	segments = segments[:len(path)]
	found := spot{account: s.account, location: posture.Global}
	for i, segment := range segments {
		if segment == "" {
			return spot{}, false
		}
		switch path[i] {
		case "{p}":
			if segment = s.projectID(segment); segment == "" {
				return spot{}, false
			}
			segments[i], found.account = segment, posture.AccountID(segment)
		case "{l}":
			found.location = segment
		case "{n}":
			plain, err := url.PathUnescape(segment)
			if err != nil {
				return spot{}, false
			}
			if found.name != "" {
				found.name += "/"
			}
			found.name += plain
		case segment:
		default:
			return spot{}, false
		}
	}
	found.path = strings.Join(segments, "/")
	return found, true
}

// projectID returns the id of a project that may be named by its number or, as
// buckets have it, not at all.
func (s *session) projectID(name string) string {
	if name == s.number || name == "_" || name == "-" {
		return s.project
	}
	return name
}

// locate reads the name of a resource of a type.
func (s *session) locate(t posture.EntityType, name string) (spot, bool) {
	for _, path := range namings[t].paths {
		if found, ok := s.match(path, name, false); ok {
			return found, true
		}
	}
	return spot{}, false
}

// find reads what an event or an entity's id names: a resource, something in it,
// or just the name, which is then at the scope's location.
func (s *scope) find(t posture.EntityType, name string) (spot, bool) {
	for _, path := range namings[t].paths {
		if found, ok := s.match(path, name, true); ok {
			return found, found.account == s.account
		}
		// Some services leave the project out in their logs.
		if found, ok := s.match(path, "projects/"+s.project+"/"+strings.TrimPrefix(name, "/"), true); ok {
			return found, true
		}
	}
	if strings.HasPrefix(relative(name), "projects/") {
		return spot{}, false
	}
	if t == logMetricType {
		name = url.PathEscape(name) // it alone may have slashes
	}
	paths := slices.Clone(namings[t].paths)
	slices.SortStableFunc(paths, func(a, b []string) int { return s.misfit(a) - s.misfit(b) })
	for _, path := range paths {
		if full, ok := s.spell(path, name); ok {
			return s.match(path, full, false)
		}
	}
	return spot{}, false
}

// misfit is 0 for paths with a location when the scope has one, and for those
// without when it has none.
func (s *scope) misfit(path []string) int {
	if slices.Contains(path, "{l}") == (s.location != posture.Global) {
		return 0
	}
	return 1
}

// spell writes an entity's own name as the service has it.
func (s *scope) spell(path []string, name string) (string, bool) {
	parts := strings.Split(name, "/")
	segments := make([]string, len(path))
	for i, segment := range path {
		switch segment {
		case "{p}":
			segment = s.project
		case "{l}":
			segment = s.location
		case "{n}":
			if len(parts) == 0 {
				return "", false
			}
			segment, parts = parts[0], parts[1:]
		}
		segments[i] = segment
	}
	return strings.Join(segments, "/"), len(parts) == 0
}

// begin starts the entity of a resource with the given name or self link. An
// entity whose name has no form that we know stays without an id.
func (s *scope) begin(t posture.EntityType, name string) *resource {
	found, ok := s.locate(t, name)
	if !ok {
		return &resource{Entity: posture.Entity{Type: t, Name: name}}
	}
	r := collect.NewResource(t, found.account, found.location, found.name)
	r.Properties, r.Edges = make([]posture.Property, 0, 24), make([]posture.Edge, 0, 8) // few have more
	r.Name = found.name[strings.LastIndexByte(found.name, '/')+1:]
	if r.XID = name; !strings.HasPrefix(name, "https://") {
		r.XID = "//" + namings[t].host + "/" + found.path
	}
	return r
}

// derive starts the entity of something that is no resource of Google's.
func (s *scope) derive(t posture.EntityType, name string) *resource {
	return collect.NewResource(t, s.account, posture.Global, name)
}

// ref returns the id of the entity that a name or link is of, when it is one of
// these types.
func (s *session) ref(name string, to ...posture.EntityType) posture.EntityID {
	if name == "" {
		return ""
	}
	for _, t := range to {
		if found, ok := s.locate(t, name); ok {
			return t.ID(found.account, found.location, found.name)
		}
	}
	return ""
}

// last returns the last part of a link: the name of a zone or machine type.
func last(link string) string { return link[strings.LastIndexByte(link, '/')+1:] }

// keyRef returns the id of the key that a key version, or a key, is of.
func (s *session) keyRef(name string) posture.EntityID {
	name, _, _ = strings.Cut(name, "/cryptoKeyVersions/")
	return s.ref(name, cryptoKeyType)
}
