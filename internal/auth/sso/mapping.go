package sso

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vigil/internal/auth"
)

// A Mapping is the list of groups that give access. The first entry whose group
// the user belongs to counts.
type Mapping []Entry

// An Entry gives the members of a group a role in an organisation.
type Entry struct {
	Group        string `yaml:"group"`
	Organization string `yaml:"organization"` // name or id
	Role         Role   `yaml:"role"`
	// The cloud accounts that the members are limited to, by id or tag; all if both
	// are missing.
	Accounts    []string            `yaml:"accounts"`
	AccountTags map[string][]string `yaml:"account_tags"`
}

// Limit returns the accounts that the members are limited to.
func (e Entry) Limit() (auth.AccountLimit, error) {
	if e.Accounts == nil && e.AccountTags == nil {
		return auth.AccountLimit{}, nil
	}
	if e.Role.Role == auth.Admin {
		return auth.AccountLimit{}, errors.New("the role admin cannot be limited to accounts")
	}
	return auth.NewAccountLimit(e.Accounts, e.AccountTags)
}

// A Role is an [auth.Role] in YAML.
type Role struct{ auth.Role }

// UnmarshalYAML implements [yaml.Unmarshaler].
func (r *Role) UnmarshalYAML(n *yaml.Node) error {
	role, err := auth.ParseRole(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: role %w", n.Line, err)
	}
	r.Role = role
	return nil
}

// maxMapping limits the size of the file.
const maxMapping = 1 << 20

// ReadMapping reads a mapping from a YAML file and checks it.
func ReadMapping(path string) (Mapping, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the mapping of groups: %w", err)
	}
	m, err := parseMapping(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func parseMapping(text []byte) (m Mapping, err error) {
	if len(text) > maxMapping {
		return nil, errors.New("the file is larger than 1 MiB")
	}
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&m); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(m) == 0 {
		return nil, errors.New("the file maps no group")
	}
	for i, e := range m {
		switch {
		case strings.TrimSpace(e.Group) == "":
			return nil, fmt.Errorf("entry %d: group is missing", i+1)
		case strings.TrimSpace(e.Organization) == "":
			return nil, fmt.Errorf("entry %d (group %s): organization is missing", i+1, e.Group)
		case e.Role.Role == auth.NoRole:
			return nil, fmt.Errorf("entry %d (group %s): role is missing", i+1, e.Group)
		}
		if _, err := e.Limit(); err != nil {
			return nil, fmt.Errorf("entry %d (group %s): %w", i+1, e.Group, err)
		}
	}
	return m, nil
}

// Find returns the first entry for one of the groups. Groups are compared
// exactly. It fails with a [Failure] when there is none.
func (m Mapping) Find(groups []string) (Entry, error) {
	for _, e := range m {
		if slices.Contains(groups, e.Group) {
			return e, nil
		}
	}
	return Entry{}, fail(NoGroup, fmt.Errorf("none of the %d groups of the user is mapped", len(groups)))
}
