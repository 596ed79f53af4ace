package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The limits of IAM. It does not count white space in policies.
const (
	maxInline   = 10240 // characters of the inline policies of a role
	maxManaged  = 6144  // characters of a managed policy
	maxVersions = 5     // of a managed policy
	maxAttached = 10    // managed policies of a role
)

var errNoSuchEntity = refuse("An error occurred (NoSuchEntity)")

// readPolicy returns the actions that a policy allows. It fails if the policy is
// malformed or has more characters than permitted.
func readPolicy(document string, permitted int) (allowed []string, err error) {
	var policy struct {
		Statement []struct {
			Effect string
			Action any
		}
	}
	if err := json.Unmarshal([]byte(document), &policy); err != nil {
		return nil, refuse("An error occurred (MalformedPolicyDocument): %v", err)
	}
	var counted bytes.Buffer
	if err := json.Compact(&counted, []byte(document)); err != nil || counted.Len() > permitted {
		return nil, refuse("An error occurred (LimitExceeded): %v, %d characters", err, counted.Len())
	}
	for _, statement := range policy.Statement {
		if actions, ok := statement.Action.([]any); ok && statement.Effect == "Allow" {
			for _, a := range actions {
				allowed = append(allowed, a.(string))
			}
		}
	}
	return allowed, nil
}

// document returns the policy document of a call, which can be in a file.
func (c Call) document() (string, error) {
	document := c.one("policy-document")
	name, inFile := strings.CutPrefix(document, "file://")
	if !inFile {
		return document, nil
	}
	text, err := os.ReadFile(name) // #nosec G304 -- the script wrote it
	return string(text), err
}

// allow sets the actions of a role to those of its inline and attached policies.
func (s *Server) allow(c Call, path string) error {
	inline, ok := s.get(path, "inline")
	if !ok {
		return errNoSuchEntity
	}
	r, _ := s.o.AWS.Role(s.account(c), last(path, "/"))
	r.Account, r.Name, r.Actions = s.account(c), last(path, "/"), nil
	if inline != "" {
		allowed, err := readPolicy(inline, maxInline)
		if err != nil {
			return err
		}
		r.Actions = allowed
	}
	attached, _ := s.get(path, "attached")
	for arn := range strings.FieldsSeq(attached) {
		version, _ := s.get(s.policyPath(c, arn), "default")
		document, _ := s.get(s.policyPath(c, arn), version)
		allowed, err := readPolicy(document, maxManaged)
		if err != nil {
			return err
		}
		r.Actions = append(r.Actions, allowed...)
	}
	s.o.AWS.PutRole(r)
	return nil
}

func (s *Server) putRolePolicy(_ context.Context, c Call) (string, error) {
	document, err := c.document()
	if err != nil {
		return "", err
	}
	if _, ok := s.get(s.rolePath(c), ""); !ok {
		return "", errNoSuchEntity
	}
	s.put(s.rolePath(c), "inline", document)
	return "", s.allow(c, s.rolePath(c))
}

func (s *Server) getRolePolicy(_ context.Context, c Call) (string, error) {
	document, _ := s.get(s.rolePath(c), "inline")
	if document == "" {
		return "", errNoSuchEntity
	}
	return document, nil
}

func (s *Server) deleteRolePolicy(_ context.Context, c Call) (string, error) {
	if document, _ := s.get(s.rolePath(c), "inline"); document == "" {
		return "", errNoSuchEntity
	}
	s.put(s.rolePath(c), "inline", "")
	return "", s.allow(c, s.rolePath(c))
}

// policyPath returns the path of a managed policy. Its object has the document of each
// version by the id of the version, and the id of the default version.
func (s *Server) policyPath(c Call, arn string) string {
	return "aws/" + s.account(c) + "//policy/" + last(arn, "/")
}

// newestVersion returns the number of the newest version of a managed policy, 0 if there is no
// policy. The newest version is the default one, which cannot be deleted.
func (s *Server) newestVersion(path string) int {
	version, _ := s.get(path, "default")
	n, _ := strconv.Atoi(strings.TrimPrefix(version, "v")) // 0 if there is none
	return n
}

// versionID returns the id of the version with a number, from 1.
func versionID(n int) string { return "v" + strconv.Itoa(n) }

// versions returns the versions of a managed policy, the oldest first.
func (s *Server) versions(path string) (all []string) {
	for i := range s.newestVersion(path) {
		if document, _ := s.get(path, versionID(i+1)); document != "" {
			all = append(all, versionID(i+1))
		}
	}
	return all
}

func (s *Server) listPolicies(_ context.Context, c Call) (string, error) {
	// The query is Policies[?starts_with(PolicyName,'PREFIX')].Arn.
	_, prefix, _ := strings.Cut(c.one("query"), "'")
	prefix, _, _ = strings.Cut(prefix, "'")
	var arns []string
	for _, path := range s.withPrefix("aws/" + s.account(c) + "//policy/" + prefix) {
		arns = append(arns, "arn:aws:iam::"+s.account(c)+":policy/"+last(path, "/"))
	}
	return strings.Join(arns, "\t"), nil
}

func (s *Server) createPolicy(_ context.Context, c Call) (string, error) {
	path := s.policyPath(c, c.one("policy-name"))
	if _, ok := s.get(path, ""); ok {
		return "", refuse("An error occurred (EntityAlreadyExists) when calling the CreatePolicy operation")
	}
	return "", s.putVersion(c, path, "v1")
}

// putVersion adds a default version to a policy.
func (s *Server) putVersion(c Call, path, version string) error {
	document, err := c.document()
	if err != nil {
		return err
	}
	if _, err := readPolicy(document, maxManaged); err != nil {
		return err
	}
	s.put(path, version, document, "default", version)
	return nil
}

func (s *Server) getPolicy(_ context.Context, c Call) (string, error) {
	version, ok := s.get(s.policyPath(c, c.one("policy-arn")), "default")
	if !ok {
		return "", errNoSuchEntity
	}
	return c.answer(map[string]string{"Policy.DefaultVersionId": version})
}

func (s *Server) getPolicyVersion(_ context.Context, c Call) (string, error) {
	document, _ := s.get(s.policyPath(c, c.one("policy-arn")), c.one("version-id"))
	if document == "" {
		return "", errNoSuchEntity
	}
	return c.answer(map[string]string{"PolicyVersion.Document": document})
}

func (s *Server) listPolicyVersions(_ context.Context, c Call) (string, error) {
	path := s.policyPath(c, c.one("policy-arn"))
	defaultVersion, ok := s.get(path, "default")
	if !ok {
		return "", errNoSuchEntity
	}
	others := slices.DeleteFunc(s.versions(path), func(version string) bool { return version == defaultVersion })
	slices.Reverse(others) // IAM lists the newest first
	return c.answer(map[string]string{"Versions[?!IsDefaultVersion].VersionId": strings.Join(others, "\t")})
}

func (s *Server) createPolicyVersion(_ context.Context, c Call) (string, error) {
	path := s.policyPath(c, c.one("policy-arn"))
	versions := s.versions(path)
	switch {
	case len(versions) == 0:
		return "", errNoSuchEntity
	case len(versions) == maxVersions:
		return "", refuse("An error occurred (LimitExceeded): a managed policy can have up to %d versions", maxVersions)
	}
	if err := s.putVersion(c, path, versionID(s.newestVersion(path)+1)); err != nil {
		return "", err
	}
	// Roles to which the policy is attached have other actions now.
	for _, role := range s.withPrefix("aws/" + s.account(c) + "//role/") {
		if err := s.allow(c, role); err != nil {
			return "", err
		}
	}
	return "", nil
}

func (s *Server) deletePolicyVersion(_ context.Context, c Call) (string, error) {
	path, version := s.policyPath(c, c.one("policy-arn")), c.one("version-id")
	defaultVersion, _ := s.get(path, "default")
	switch document, _ := s.get(path, version); {
	case document == "":
		return "", errNoSuchEntity
	case version == defaultVersion:
		return "", refuse("An error occurred (DeleteConflict): Cannot delete the default version of a policy.")
	}
	s.put(path, version, "")
	return "", nil
}

func (s *Server) deletePolicy(_ context.Context, c Call) (string, error) {
	path := s.policyPath(c, c.one("policy-arn"))
	for _, role := range s.withPrefix("aws/" + s.account(c) + "//role/") {
		if attached, _ := s.get(role, "attached"); slices.Contains(strings.Fields(attached), c.one("policy-arn")) {
			return "", refuse("An error occurred (DeleteConflict): Cannot delete a policy attached to entities.")
		}
	}
	if len(s.versions(path)) > 1 {
		return "", refuse("An error occurred (DeleteConflict): This policy has more than one version.")
	}
	if !s.drop(path) {
		return "", errNoSuchEntity
	}
	return "", nil
}

func (s *Server) attachPolicy(_ context.Context, c Call) (string, error) {
	return "", s.attach(c, s.rolePath(c), c.one("policy-arn"))
}

// attach attaches a managed policy to a role, unless it is attached.
func (s *Server) attach(c Call, role, arn string) error {
	attached, isRole := s.get(role, "attached")
	if _, isPolicy := s.get(s.policyPath(c, arn), ""); !isRole || !isPolicy {
		return errNoSuchEntity
	}
	arns := strings.Fields(attached)
	if !slices.Contains(arns, arn) {
		arns = append(arns, arn)
	}
	if len(arns) > maxAttached {
		return refuse("An error occurred (LimitExceeded): Cannot exceed quota for PoliciesPerRole: %d", maxAttached)
	}
	s.put(role, "attached", strings.Join(arns, " "))
	return s.allow(c, role)
}

func (s *Server) detachPolicy(_ context.Context, c Call) (string, error) {
	attached, _ := s.get(s.rolePath(c), "attached")
	arns := strings.Fields(attached)
	i := slices.Index(arns, c.one("policy-arn"))
	if i < 0 {
		return "", errNoSuchEntity
	}
	s.put(s.rolePath(c), "attached", strings.Join(slices.Delete(arns, i, i+1), " "))
	return "", s.allow(c, s.rolePath(c))
}
