package posture

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"vigil/internal/fault"
)

// CredentialID identifies a credential. The server assigns it.
type CredentialID string

// CredentialCollection is the only type of credential.
const CredentialCollection = "collection"

// A Credential gives read access to accounts. It does not contain the secret values:
// they are passed to the store separately, and only OnboardingStore.Access returns
// them.
type Credential struct {
	ID         CredentialID
	Provider   Provider
	Properties []Property // without the secret ones
	ETag       string
	Created    time.Time
	Updated    time.Time
}

// Secrets are the secret values of a credential by property name. Never log or send
// them.
type Secrets map[string]string

// credentialProperty describes one property of a provider's credentials.
type credentialProperty struct {
	name             string
	required, secret bool
	check            func(string) string // returns an error message, or ""
}

// Names of credential properties, as stored and shown.
const (
	PropRoleArn             = "RoleArn"
	PropExternalID          = "ExternalId"
	PropApplicationID       = "ApplicationId"
	PropApplicationKey      = "ApplicationKey"
	PropDirectoryID         = "DirectoryId"
	PropServiceAccountEmail = "ServiceAccountEmail"
	PropServiceAccountKey   = "ServiceAccountKey"
)

var credentialForms = map[Provider][]credentialProperty{
	AWS: {
		{name: PropRoleArn, required: true, check: checkRoleArn},
		{name: PropExternalID, check: checkExternalID},
	},
	Azure: {
		{name: PropApplicationID, required: true, check: checkUUID},
		{name: PropApplicationKey, required: true, secret: true, check: checkApplicationKey},
		{name: PropDirectoryID, required: true, check: checkUUID},
	},
	GCP: {
		{name: PropServiceAccountEmail, required: true, check: checkEmail},
		{name: PropServiceAccountKey, required: true, secret: true, check: func(v string) string {
			_, problem := ParseServiceAccountKey(v)
			return problem
		}},
	},
}

// Property returns the value of a property, ignoring the case of its name.
func (c Credential) Property(name string) string {
	p, _ := lookup(c.Properties, name)
	return p.String
}

// ExternalIDProperty returns the index of the external id in the properties of a
// request, or -1.
func ExternalIDProperty(properties []Property) int {
	_, i := lookup(properties, PropExternalID)
	return i
}

// NewCredential returns the credential that the properties describe, and its secrets
// separately.
func NewCredential(id CredentialID, p Provider, properties []Property, now time.Time) (Credential, Secrets, error) {
	return Credential{ID: id, Provider: p, Created: now}.Changed(properties, nil, now)
}

// Changed returns the credential with new properties, and its secrets. A secret that
// the properties leave out keeps its stored value.
func (c Credential) Changed(properties []Property, stored Secrets, now time.Time) (Credential, Secrets, error) {
	bad := duplicates(properties)
	secrets := Secrets{}
	c.Properties = nil
	for _, form := range credentialForms[c.Provider] {
		p, i := lookup(properties, form.name)
		old, exists := stored[form.name]
		switch {
		case i < 0 && form.secret && exists:
			secrets[form.name] = old
			continue
		case i < 0 && form.required:
			bad = append(bad, fault.Detail{Path: "properties", Message: "must have the property " + form.name})
			continue
		case i < 0:
			continue
		}
		if p.Type != StringProperty {
			bad = append(bad, invalid(i, "type", "must be string"))
			continue
		}
		if problem := form.check(p.String); problem != "" {
			bad = append(bad, invalid(i, "stringV", "("+form.name+") "+problem))
			continue
		}
		if form.secret {
			secrets[form.name] = p.String
		} else {
			c.Properties = append(c.Properties, Text(form.name, p.String))
		}
	}
	bad = append(bad, foreignProperties(c.Provider, properties)...)
	if len(bad) > 0 {
		return Credential{}, nil, fault.Fields(bad...)
	}
	c.ETag, c.Updated = NewETag(), now
	return c, secrets, nil
}

// foreignProperties reports properties that credentials of the provider do not have.
// Without this check, a misspelt property would be dropped silently.
func foreignProperties(p Provider, properties []Property) []fault.Detail {
	var bad []fault.Detail
	for i, property := range properties {
		known := slices.ContainsFunc(credentialForms[p], func(f credentialProperty) bool { return strings.EqualFold(f.name, property.Name) })
		if !known {
			bad = append(bad, invalid(i, "name", "is not a property of "+string(p)+" credentials"))
		}
	}
	return bad
}

// SecretNames returns the names of a provider's secret credential properties.
func SecretNames(p Provider) []string {
	var names []string
	for _, f := range credentialForms[p] {
		if f.secret {
			names = append(names, f.name)
		}
	}
	return names
}

// CheckVersion fails with fault.Stale if the credential's ETag is not in required, a
// comma-separated list. "" and "*" accept every version.
func (c Credential) CheckVersion(required string) error { return checkVersion(c.ETag, required) }

var (
	roleArnPattern    = regexp.MustCompile(`^arn:(aws|aws-us-gov|aws-cn):iam::[0-9]{12}:role/[\w+=,.@/-]{1,512}$`)
	externalIDPattern = regexp.MustCompile(`^[\w+=,.@:/-]+$`)
	emailPattern      = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)
)

func checkRoleArn(v string) string {
	if !roleArnPattern.MatchString(v) {
		return "must be a role resource name such as arn:aws:iam::123456789012:role/vigil"
	}
	return ""
}

func checkExternalID(v string) string {
	if len(v) < 2 || len(v) > 1224 || !externalIDPattern.MatchString(v) {
		return "must have 2 to 1224 letters, digits and characters of +=,.@:/-_"
	}
	return ""
}

func checkUUID(v string) string {
	if !uuidPattern.MatchString(v) {
		return "must be a UUID"
	}
	return ""
}

func checkEmail(v string) string {
	if len(v) > 320 || !emailPattern.MatchString(v) {
		return "must be the email address of a service account"
	}
	return ""
}

// checkApplicationKey catches the most common onboarding mistake: the Azure portal
// shows the secret's identifier next to its value, and people copy the identifier.
func checkApplicationKey(v string) string {
	switch {
	case uuidPattern.MatchString(v):
		return "has the form of a secret's identifier (a UUID); send the secret's value"
	case strings.TrimSpace(v) == "":
		return "must not be empty"
	}
	return ""
}

// ServiceAccountKey holds the used members of a GCP service account key.
type ServiceAccountKey struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	PrivateKeyID string `json:"private_key_id"`
	PrivateKey   string `json:"private_key"`
	ClientEmail  string `json:"client_email"`
	TokenURI     string `json:"token_uri"`
}

// ParseServiceAccountKey parses a base64-encoded service account key. problem is an
// error message to put after the member's name, or "".
func ParseServiceAccountKey(v string) (key ServiceAccountKey, problem string) {
	const form = "must be a service account key in base64"
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(v))
	if err != nil || len(raw) == 0 {
		return key, form + ": it is not base64"
	}
	if err := json.Unmarshal(raw, &key); err != nil {
		return key, form + ": it does not hold a JSON object"
	}
	if key.Type != "service_account" || key.PrivateKey == "" || key.ClientEmail == "" {
		return key, form + ": type, client_email or private_key of a service account is missing"
	}
	return key, ""
}
