package api

import (
	"context"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/posture"
	"vigil/internal/posture/scripts"
)

// Scripts serves the files that customers run in their own shell. curl can fetch them
// without a token, because they contain no secrets.
type Scripts struct {
	URL       func() string                         // URL of this server, without a path
	Principal func(context.Context) (string, error) // ARN of this server's AWS identity
}

// Routes returns the routes of scripts.
func (a *Scripts) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Pattern: "GET /scripts/{provider}/{script}", Need: httpapi.Public, Operation: "getScript", Handler: httpapi.JSON(a.getScript)},
	}
}

type scriptIn struct {
	providerPath
	Script  string   `path:"script"`
	Account []string `query:"account"`
}

func (a *Scripts) getScript(ctx context.Context, in scriptIn) (httpapi.Reply, error) {
	p, err := in.provider()
	if err != nil {
		return httpapi.Reply{}, err
	}
	accounts, err := givenAccounts(p, in.Account)
	if err != nil {
		return httpapi.Reply{}, err
	}
	v := scripts.Values{URL: a.URL(), Accounts: accounts}
	if p == posture.AWS && scripts.NamesPrincipal(in.Script) {
		// If the principal is unknown, the script asks the person who runs it.
		v.Principal, _ = a.Principal(ctx)
	}
	text, kind, ok := scripts.Fill(p, in.Script, v)
	if !ok {
		return httpapi.Reply{}, fault.New(fault.NotFound, "there is no script %q for %s", in.Script, p)
	}
	return httpapi.OK(text).With("Content-Type", kind), nil
}

// givenAccounts parses and checks the lists of account ids that a script is filled with.
func givenAccounts(p posture.Provider, ids []string) ([]string, error) {
	var all []string
	for _, list := range ids {
		for id := range strings.SplitSeq(list, ",") {
			id = strings.TrimSpace(id)
			if !posture.ValidAccountID(p, id) {
				return nil, fault.Field("account", "must be ids of accounts of %s", p)
			}
			all = append(all, id)
		}
	}
	if len(all) > scripts.MaxAccounts {
		return nil, fault.Field("account", "must be no more than %d", scripts.MaxAccounts)
	}
	return all, nil
}
