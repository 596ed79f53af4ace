package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"vigil/internal/auth"
	"vigil/internal/fault"
	"vigil/internal/instance"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create an API token and print it. It cannot be shown again."`
	List   tokenListCmd   `cmd:"" help:"List API tokens."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke an API token."`
}

// orgFlag selects the organisation that a command works on.
type orgFlag struct {
	Org string `required:"" help:"Name or id of the organisation."`
}

// operator returns the caller that represents the command line in the organisation.
func (f orgFlag) operator(e *environment, in *instance.Installation) (auth.Caller, error) {
	orgs, err := in.Registry.Orgs(e.ctx)
	if err != nil {
		return auth.Caller{}, err
	}
	i := slices.IndexFunc(orgs, func(o auth.Org) bool { return string(o.ID) == f.Org || strings.EqualFold(o.Name, f.Org) })
	if i < 0 {
		return auth.Caller{}, fault.New(fault.NotFound, "there is no organisation %q; see vigil admin org list", f.Org)
	}
	return auth.Operator(orgs[i].ID), nil
}

type tokenCreateCmd struct {
	settingsFlags
	orgFlag
	tokenFlags
	Name string `arg:"" help:"Name of the token."`
	User string `default:"admin" help:"Name of the user it belongs to."`
}

// tokenFlags say what a new API token may do, and how long.
type tokenFlags struct {
	accountLimitFlags
	Role    string         `enum:"viewer,analyst,admin" default:"viewer" help:"Role of the token: viewer, analyst or admin."`
	Expires *time.Duration `placeholder:"DURATION" help:"How long it is valid, such as 720h. Default: token_life of the server, 90 days unless set."`
	Scope   []string       `help:"Parts of the API that it is limited to: accounts, administration, console, entities, findings, rules."`
	Address []string       `help:"Addresses and networks that it may be used from, such as 192.0.2.0/24."`
}

// accountLimitFlags limit a user or token to some cloud accounts.
type accountLimitFlags struct {
	Account    []string `completes:"accounts" placeholder:"ID" help:"Limit to this cloud account; not for the role admin."`
	AccountTag []string `placeholder:"NAME=VALUE" help:"Limit to cloud accounts with this tag; not for the role admin."`
}

func (f accountLimitFlags) tags() (map[string][]string, error) {
	return tagValues("--account-tag", f.AccountTag)
}

// tokenEdit holds the members of a new token.
type tokenEdit struct {
	name    string
	role    auth.Role
	expires time.Time // zero for the default
	limits  auth.TokenLimits

	accounts auth.AccountLimit
}

// Run implements the command.
func (c *tokenCreateCmd) Run(e *environment) error {
	expires, err := endAfter("--expires", c.Expires)
	if err != nil {
		return err
	}
	return c.operate(e, "token.create", func(o *operation) error {
		caller, err := c.operator(e, o.Installation)
		if err != nil {
			return err
		}
		o.setOrg(caller)
		o.target("name", c.Name)
		users, err := o.Registry.Users(e.ctx, caller)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(users, func(u auth.User) bool { return strings.EqualFold(u.Name, c.User) })
		if i < 0 {
			return fault.New(fault.NotFound, "the organisation has no user %q", c.User)
		}
		role, err := auth.ParseRole(c.Role)
		if err != nil {
			return err
		}
		limits, err := auth.NewTokenLimits(c.Scope, c.Address)
		if err != nil {
			return err
		}
		accounts, err := c.accountLimit()
		if err != nil {
			return err
		}
		return issueToken(e, o, users[i], tokenEdit{c.Name, role, expires, limits, accounts})
	})
}

// accountLimit returns the accounts that the flags limit the token to.
func (c *tokenCreateCmd) accountLimit() (auth.AccountLimit, error) {
	if len(c.Account)+len(c.AccountTag) == 0 {
		return auth.AccountLimit{}, nil
	}
	tags, err := c.tags()
	if err != nil {
		return auth.AccountLimit{}, err
	}
	return auth.NewAccountLimit(c.Account, tags)
}

// issueToken creates an API token for a user and prints it.
func issueToken(e *environment, in *operation, u auth.User, t tokenEdit) error {
	edit := auth.TokenEdit{Name: t.name, User: u.ID, Role: t.role, ExpiresAt: t.expires, Limits: t.limits, Accounts: t.accounts}
	_, text, err := in.Registry.IssueToken(in.ctx, auth.Operator(u.Org), edit)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, text.Reveal())
	return nil
}

type tokenListCmd struct {
	settingsFlags
	orgFlag
}

// Run implements the command.
func (c *tokenListCmd) Run(e *environment) error {
	return c.withInstallation(e.ctx, func(in *instance.Installation) error {
		caller, err := c.operator(e, in)
		if err != nil {
			return err
		}
		tokens, err := in.Registry.Tokens(e.ctx, caller)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tNAME\tROLE\tBEGINS\tCREATED\tEXPIRES\tLAST USED\tFROM\tLIMITED TO")
		for _, t := range tokens {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, t.Role, t.Hint, day(t.CreatedAt), day(t.ExpiresAt), day(t.LastUsedAt), t.LastAddress,
				strings.Join(strings.Fields(t.Limits.Scopes+" "+t.Limits.Addresses+" "+t.Accounts.IDs+" "+t.Accounts.Tags), " "))
		}
		return w.Flush()
	})
}

// day formats a date, or says that there is none.
func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.DateOnly)
}

type tokenRevokeCmd struct {
	settingsFlags
	orgFlag
	ID string `arg:"" help:"Id of the token; see vigil admin token list."`
}

// Run implements the command.
func (c *tokenRevokeCmd) Run(e *environment) error {
	return c.operate(e, "token.revoke", func(o *operation) error {
		caller, err := c.operator(e, o.Installation)
		if err != nil {
			return err
		}
		o.setOrg(caller)
		o.target("token", c.ID)
		t, err := o.Registry.RevokeToken(o.ctx, caller, auth.TokenID(c.ID))
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "token %q is revoked\n", t.Name)
		return nil
	})
}
