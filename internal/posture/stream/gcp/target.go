package gcp

import (
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/stream/change"
)

// targets returns the resources to read because of the entry.
func (e entry) targets(x *change.Index) []posture.Target {
	if !e.isFinished() {
		return nil
	}
	name := e.resource()
	if len(name) > 2048 {
		return nil
	}
	declared := x.Of(e.Payload.ServiceName, version.ReplaceAllString(e.Payload.MethodName, ""))
	var found []posture.Target
	for _, d := range declared {
		t := posture.Target{Type: d.Type, Region: posture.Global, Name: name}
		gathered := d.Declared != nil && d.Declared.Gathered
		if name == "" || gathered || !isNamed(d.Forms, name) {
			t.Name = "" // all of the type
		}
		found = append(found, t)
	}
	return found
}

// isNamed reports whether a name is that of a resource with one of the forms, or of a
// part of such a resource: an entry about a node pool also names its cluster. Types
// without forms, such as the members of a policy, are never named.
func isNamed(forms []string, name string) bool {
	return slices.ContainsFunc(forms, func(form string) bool {
		want, segments := strings.Split(form, "/"), strings.Split(strings.TrimPrefix(name, "/"), "/")
		if segments[0] != "projects" {
			want = want[2:] // some services leave out the projects/* with which all forms begin
		}
		return len(want) > 0 && len(segments) >= len(want) && slices.EqualFunc(want, segments[:len(want)], func(w, s string) bool {
			return w == s || w == "*" && s != ""
		})
	})
}

// resource returns the name of the resource that the entry is about. Some services
// name only the collection when a resource is created; the name of the resource is
// then taken from the response or the request.
func (e entry) resource() string {
	p := e.Payload
	name := strings.TrimPrefix(p.ResourceName, "//"+p.ServiceName+"/")
	if i := strings.LastIndex(name, "/projects/"); i >= 0 && strings.HasPrefix(name, "https://") {
		name = name[i+1:]
	}
	// IAM names service accounts by number; their entities are named by e-mail address.
	if email := e.Resource.Labels["email_id"]; email != "" && strings.Contains(name, "/serviceAccounts/") {
		before, after, _ := strings.Cut(name, "/serviceAccounts/")
		_, rest, more := strings.Cut(after, "/")
		name = before + "/serviceAccounts/" + email
		if more {
			name += "/" + rest
		}
	}
	if !isCollection(name) {
		return name
	}
	if link := p.Response.TargetLink; strings.Contains(link, "/projects/") {
		return "projects/" + link[strings.Index(link, "/projects/")+len("/projects/"):]
	}
	for _, candidate := range []string{p.Response.Name, p.Request.Name} {
		switch {
		case strings.Contains(candidate, "/"):
			return candidate
		case candidate != "":
			return name + "/" + candidate
		}
	}
	return ""
}

// isCollection reports whether a name is that of a collection: names of resources are
// pairs of collection and id. "global" is the id of a location in locations/global, and
// otherwise belongs to no pair.
func isCollection(name string) bool {
	if name == "" {
		return true
	}
	n, before := 0, ""
	for part := range strings.SplitSeq(name, "/") {
		if part != "" && (part != "global" || before == "locations") {
			n++
		}
		before = part
	}
	return n%2 == 1
}

// IDs returns the ids that the entity of a target may have, one for each location that it
// may be in.
func IDs(account posture.AccountID, t posture.Target) []posture.EntityID {
	parts := strings.Split(t.Name, "/")
	var locations, rest []string
	for i := 0; i < len(parts); i++ {
		switch part := parts[i]; {
		case part == "global", part == "":
		case i+1 >= len(parts):
			rest = append(rest, part)
		case part == "projects":
			i++
			if len(parts) == 2 { // the project itself
				rest = append(rest, parts[i])
			}
		case part == "zones", part == "regions", part == "locations":
			i++
			locations = append(locations, parts[i])
		default:
			i++
			rest = append(rest, parts[i])
		}
	}
	name := strings.Join(rest, "/")
	if name == "" {
		return nil
	}
	var ids []posture.EntityID
	for _, location := range append(locations, posture.Global, t.Region) {
		ids = append(ids, t.Type.ID(account, location, name))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
