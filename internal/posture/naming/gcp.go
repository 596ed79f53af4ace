package naming

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// GCP maps between Google Cloud's names of resources and entities, using the path
// formats of the declarations, and members of IAM policies. It implements
// [resource.Cloud].
type GCP struct{ Catalog *resource.Catalog }

// Types with special names in IAM policies.
const (
	gcpServiceAccount posture.EntityType = "GCP.IAM.ServiceAccount"
	gcpPrincipal      posture.EntityType = "GCP.IAM.Principal"
)

// Whether a name that [resource.GoogleForms.Match] parses may continue below the resource.
const (
	wholeName = false
	orBelow   = true
)

// Identify implements [resource.Cloud].
func (n GCP) Identify(t *resource.Type, item *resource.Item, v resource.Vars) (resource.Identity, error) {
	text := t.Name.Text(item, v)
	if text == "" {
		return resource.Identity{}, fmt.Errorf("Google lists a %s without %s: %.100s", t.Type, t.Name, item.Raw) //nolint:staticcheck // a name
	}
	if len(t.Google) == 0 {
		return resource.Identity{ID: t.Type.ID(v.Account, posture.Global, text), Name: text, Display: text, Region: posture.Global, XID: t.XID.Text(item, v)}, nil
	}
	parsed, ok := t.Google.Match(v, text, wholeName)
	if !ok && !resource.IsGoogleName(text) {
		parsed, ok = t.Google.ParseBare(v, text)
	}
	if !ok {
		return resource.Identity{}, fmt.Errorf("Google lists a %s whose name does not have a declared format: %.300q", t.Type, text) //nolint:staticcheck // a name
	}
	identity := resource.Identity{
		ID: t.Type.ID(parsed.Account, parsed.Location, parsed.Name), Name: parsed.Name, Region: parsed.Location,
		Display: parsed.Short, XID: t.XID.Text(item, v),
	}
	if !t.Region.IsZero() {
		identity.Region = strings.ToLower(t.Region.Text(item, v))
	}
	if identity.XID == "" && strings.HasPrefix(text, "https://") {
		identity.XID = text
	}
	identity.XID = cmp.Or(identity.XID, "//"+t.Google[0].Host()+"/"+parsed.Path)
	return identity, nil
}

// Ref implements [resource.Cloud]. The value is a resource name or link, the email
// address of a service account, a member of an IAM policy, or the bare name of a
// resource whose type has no locations.
func (n GCP) Ref(v resource.Vars, to []posture.EntityType, value string) posture.EntityID {
	host, rest, ok := strings.Cut(value, "/")
	if ok && strings.HasSuffix(host, ".googleapis.com") { // the destination of a log sink
		value = rest
	} else {
		host = ""
	}
	for _, name := range to {
		t := n.Catalog.Type(name)
		switch {
		case value == "" || t == nil:
		case (name == gcpServiceAccount || name == gcpPrincipal) && isMember(value):
			return member(v, value)
		case len(t.Google) == 0:
			return name.ID(v.Account, posture.Global, value)
		default:
			if id := ref(t, v, host, value); id != "" {
				return id
			}
		}
	}
	return ""
}

// ref returns the entity id of a name or link if it is of the type, or "".
func ref(t *resource.Type, v resource.Vars, host, value string) posture.EntityID {
	if parsed, ok := t.Google.Ref(v, value); ok {
		return t.Type.ID(parsed.Account, parsed.Location, parsed.Name)
	}
	if resource.IsGoogleName(value) || host != "" && host != t.Google[0].Host() {
		return ""
	}
	parsed, ok := t.Google.ParseBare(v, value)
	if !ok {
		return ""
	}
	return t.Type.ID(parsed.Account, parsed.Location, parsed.Name)
}

// isMember reports whether a value is the email address of a service account or a
// member of an IAM policy, such as user:ada@example.com or allUsers. A text that begins with
// principal:// or principalSet:// is a member too, although it looks like a resource name.
func isMember(value string) bool {
	return !resource.IsGoogleName(value) || strings.HasPrefix(value, "principal")
}

// member returns the entity id of a policy member: a service account of the project, or
// another principal.
func member(v resource.Vars, value string) posture.EntityID {
	email, hasPrefix := strings.CutPrefix(value, "serviceAccount:")
	if value == "default" {
		email = DefaultServiceAccount(v)
	}
	switch {
	case OwnsServiceAccount(v, email):
		return gcpServiceAccount.ID(v.Account, posture.Global, email)
	case !hasPrefix && strings.Contains(value, "@") && !strings.Contains(value, ":"): // the address of a service account of another project
		value = "serviceAccount:" + value
	}
	return gcpPrincipal.ID(v.Account, posture.Global, value)
}

// OwnsServiceAccount reports whether a service account belongs to the project. Google's
// service agents do not.
func OwnsServiceAccount(v resource.Vars, email string) bool {
	return UserManaged(v, email) || email == DefaultServiceAccount(v) || email == string(v.Account)+"@appspot.gserviceaccount.com"
}

// UserManaged reports whether a service account of the project was created by a user.
// The service accounts of the project example.com:p are in p.example.com.
func UserManaged(v resource.Vars, email string) bool {
	project := string(v.Account)
	if domain, name, ok := strings.Cut(project, ":"); ok {
		project = name + "." + domain
	}
	return strings.HasSuffix(email, "@"+project+".iam.gserviceaccount.com")
}

// DefaultServiceAccount returns the service account that instances use by default.
func DefaultServiceAccount(v resource.Vars) string {
	return v.Number + "-compute@developer.gserviceaccount.com"
}

// simpleName matches names that can be put into the filter of a list call.
var simpleName = regexp.MustCompile(`^[a-z0-9_.-]+$`)

// RequestName implements [resource.Cloud]. The name is that of a resource, of a child
// resource, or a bare name, which is in v.Region. Some services omit the project in
// their logs.
func (n GCP) RequestName(t *resource.Type, v resource.Vars, name string) string {
	if len(t.Google) == 0 {
		return name
	}
	parsed, ok := t.Google.Match(v, name, orBelow)
	if !ok && !t.Google.BareNamesHaveSlashes() {
		parsed, ok = t.Google.Match(v, "projects/"+string(v.Account)+"/"+strings.TrimPrefix(name, "/"), orBelow)
	}
	if !ok && !resource.IsGoogleName(name) {
		parsed, ok = t.Google.ParseBareAt(v, v.Region, name)
	}
	if !ok || parsed.Account != v.Account {
		return ""
	}
	// Resources of Compute Engine are read by a list call with the name in its filter; the
	// project itself is not.
	isProject := parsed.Name == string(parsed.Account)
	if t.Google[0].Service == "compute" && !isProject && !simpleName.MatchString(parsed.Name) {
		return ""
	}
	return parsed.Path
}
