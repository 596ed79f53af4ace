package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"vigil/frameworks"
	"vigil/internal/client"
	"vigil/internal/fault"
	"vigil/internal/posture/catalog"
	"vigil/internal/terminal"
	"vigil/rules"
)

// namesCmd prints names for completion, one per line.
type namesCmd struct {
	Profile        string `env:"VIGIL_PROFILE" help:"Profile of the posture server."`
	DesktopProfile string `env:"VIGIL_DESKTOP_PROFILE" help:"Profile of the desktop server."`
	Profiles       string `env:"VIGIL_PROFILES" help:"File with the profiles."`
	Kind           string `arg:"" help:"Kind of names, such as accounts."`
}

// namesWithin is the time limit of a completion.
const namesWithin = 5 * time.Second

// mostNames is the maximum number of completions.
const mostNames = 2000

// Run implements the command.
func (c *namesCmd) Run(e *environment) error {
	ctx, cancel := context.WithTimeout(e.ctx, namesWithin)
	defer cancel()
	limited := *e
	limited.ctx = ctx
	names, err := c.names(&limited)
	for _, name := range names {
		fmt.Fprintln(e.stdout, terminal.OneLine(name))
	}
	return err
}

func (c *namesCmd) names(e *environment) ([]string, error) {
	switch c.Kind {
	case "profiles":
		return c.profiles(client.Posture)
	case "desktop-profiles":
		return c.profiles(client.Desktop)
	case "all-profiles":
		return c.profiles(client.Posture, client.Desktop)
	case "built-in-rules", "built-in-frameworks":
		return builtInNames(c.Kind)
	case "farms":
		farms, err := desktopFlags{Profile: c.DesktopProfile, Profiles: c.Profiles}.records(e, "/rest/monitor/farms", nil)
		return texts(farms, "name"), err
	}
	of, ok := namesOf[c.Kind]
	if !ok {
		return nil, fault.New(fault.Invalid, "%q is not a kind of names", c.Kind)
	}
	to, err := profileFlags{Profile: c.Profile, Profiles: c.Profiles}.client()
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(of.path, "/query") {
		all, _, err := to.List(e.ctx, of.path, of.list, nil, mostNames)
		return texts(all, of.member), err
	}
	var answer client.Record
	err = to.Call(e.ctx, http.MethodGet, of.path, nil, &answer)
	return texts(client.Records(answer, of.list), of.member), err
}

// profiles returns the names of the profiles of the given kinds of servers.
func (c *namesCmd) profiles(servers ...string) ([]string, error) {
	file, err := profileFlags{Profiles: c.Profiles}.file()
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(file.All))
	return slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(servers, file.All[name].Server) }), nil
}

// namesOf states, for each kind of names that a posture server knows, the list that has
// them and the member that holds the name.
var namesOf = map[string]struct{ path, list, member string }{
	"accounts":           {"/v1/cloud-accounts/query", "cloudAccounts", "cloudAccountId"},
	"channels":           {channelsPath, "results", "id"},
	"frameworks":         {"/v1/compliance-frameworks", "results", "id"},
	"mute-rules":         {muteRulesPath, "results", "id"},
	"notification-rules": {notifyRulesPath, "results", "id"},
	"rules":              {"/v1/rules/query", "results", "id"},
	"tokens":             {"/v1/api-tokens", "results", "id"},
	"users":              {"/v1/users", "results", "name"},
}

// builtInNames returns the ids of the rules or frameworks of this binary, which "vigil
// scan" uses.
func builtInNames(kind string) ([]string, error) {
	known, err := catalog.Load(rules.Files, frameworks.Files)
	if err != nil {
		return nil, err
	}
	var names []string
	if kind == "built-in-frameworks" {
		for _, f := range known.Frameworks {
			names = append(names, f.ID)
		}
		return names, nil
	}
	for _, r := range known.Rules {
		names = append(names, string(r.ID))
	}
	return names, nil
}

// texts returns a member of each record.
func texts(all []client.Record, member string) []string {
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = client.Text(r, member)
	}
	return names
}
