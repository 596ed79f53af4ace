package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"vigil/internal/config"
	"vigil/internal/demo"
	"vigil/internal/fault"
	"vigil/internal/instance"
	"vigil/internal/posture"
	"vigil/internal/posture/clouds"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/resource"
	"vigil/internal/posture/store"
)

type catalogTryCmd struct {
	settingsFlags
	File    string `arg:"" type:"existingfile" help:"File of the resource type."`
	Account string `help:"Id of the cloud account to read it from; default with --demo: the first simulated one."`
	Org     string `help:"Name or id of the organisation that has the account."`
	Region  string `help:"Region to read it in. Default: the first enabled one."`
	Demo    bool   `help:"Read it from the simulated clouds of the demo, without an installation."`
	Calls   int    `default:"20" help:"Maximum number of calls to print with their responses."`
}

// Run reads the type from an account and prints the calls, the responses and the
// entities. It stores nothing.
func (c *catalogTryCmd) Run(env *environment) error {
	conf, err := c.effective()
	if c.Demo {
		conf, err = config.Config{}, nil // the demo has no installation, so errors in the settings do not matter
	}
	if err != nil {
		return err
	}
	catalog, t, err := declared.LoadReplacing(c.File, config.Folders(conf.Posture.ResourceDirs)...)
	if err != nil {
		return fault.New(fault.Invalid, "%s", err)
	}
	if c.Demo {
		sandbox, err := demo.NewSandbox(catalog, slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		defer sandbox.Close()
		access, err := sandbox.Access(t.Type.Provider(), c.Account)
		if err != nil {
			return err
		}
		return c.try(env, sandbox.Sources(), access, t)
	}
	if c.Account == "" || c.Org == "" {
		return fault.New(fault.Invalid, "give the account with --account and --org, or use --demo")
	}
	return c.withInstallation(env.ctx, func(in *instance.Installation) error {
		caller, err := orgFlag{c.Org}.operator(env, in)
		if err != nil {
			return err
		}
		access, err := store.New(in.DB, in.Box, nil).Access(env.ctx, posture.OrgID(caller.Org), posture.AccountID(c.Account))
		if err != nil {
			return err
		}
		gateway, err := cloudGateway(conf.Posture.CloudGateway, conf.Posture.CloudGatewayCA)
		if err != nil {
			return err
		}
		proxy, authorities, err := cloudProxy(conf.Posture)
		if err != nil {
			return err
		}
		all, err := clouds.New(clouds.Options{Catalog: catalog, Proxy: proxy, CA: authorities, Gateway: gateway})
		if err != nil {
			return err
		}
		defer all.Close()
		return c.try(env, all.Sources(), access, t)
	})
}

// try reads a type of an account in one region.
func (c *catalogTryCmd) try(env *environment, sources []collect.Source, access posture.Access, t *resource.Type) error {
	if access.Account.Provider != t.Type.Provider() {
		return fault.New(fault.Invalid, "account %s belongs to %s, but the type to %s", access.Account.ID, access.Account.Provider, t.Type.Provider())
	}
	i := slices.IndexFunc(sources, func(s collect.Source) bool { return s.Provider() == t.Type.Provider() })
	session, err := sources[i].Open(env.ctx, access)
	if err != nil {
		return err
	}
	defer session.Close()
	units, err := session.Units(env.ctx)
	if err != nil {
		return err
	}
	i = slices.IndexFunc(units, func(u collect.Unit) bool {
		return u.Type == t.Type && (c.Region == "" || u.Region == c.Region || u.Region == posture.Global)
	})
	if i < 0 {
		return fault.New(fault.Invalid, "%s is not read in region %q of account %s", t.Type, c.Region, access.Account.ID)
	}
	fmt.Fprintf(env.stdout, "%s of account %s, region %s\n", t.Type, access.Account.ID, units[i].Region)
	return c.read(env, units[i])
}

// read reads a unit and prints the calls and entities.
func (c *catalogTryCmd) read(env *environment, u collect.Unit) error {
	var mu sync.Mutex
	calls := 0
	ctx := collect.WithTrace(env.ctx, func(call collect.TracedCall) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		if calls <= c.Calls {
			printCall(env.stdout, call)
		}
	})
	var read []posture.Entity
	err := u.List(ctx, func(r *collect.Resource) error {
		r.Normalize()
		read = append(read, r.Entity)
		return nil
	})
	if calls > c.Calls {
		fmt.Fprintf(env.stdout, "... and %d further calls, see --calls\n", calls-c.Calls)
	}
	slices.SortFunc(read, func(a, b posture.Entity) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range read {
		if err := printEntity(env.stdout, e); err != nil {
			return err
		}
	}
	fmt.Fprintf(env.stdout, "\n%d calls, %d entities, nothing was saved\n", calls, len(read))
	switch {
	case errors.Is(err, collect.ErrNotOffered):
		fmt.Fprintln(env.stdout, "The region does not offer the service.")
		return nil
	case errors.Is(err, collect.ErrOff):
		fmt.Fprintln(env.stdout, "The account does not use the service.")
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return fmt.Errorf("the list fails, so no entity would be removed: %w", err)
	}
	return nil
}

func printCall(w io.Writer, call collect.TracedCall) {
	fmt.Fprintf(w, "\ncall %s %s\n", call.Call, call.Input)
	if call.Address != call.Call {
		fmt.Fprintf(w, "  at %s\n", call.Address)
	}
	for _, page := range call.Pages {
		fmt.Fprintln(w, indent(page.Raw))
	}
	if call.Err != nil {
		fmt.Fprintf(w, "  refused: %s\n", oneLine(call.Err.Error()))
	}
}

// indent returns JSON with line breaks and indentation.
func indent(text string) string {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return "  " + oneLine(text)
	}
	lines, err := json.MarshalIndent(value, "  ", "  ")
	if err != nil {
		return "  " + oneLine(text)
	}
	return "  " + string(lines)
}

// printEntity prints an entity in the format of test cases, to be copied into one.
func printEntity(w io.Writer, e posture.Entity) error {
	text, err := yaml.Marshal(cases.Describe(e))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nentity %s\n  %s\n", e.ID, strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  "))
	return err
}
