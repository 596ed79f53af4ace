package demo

import (
	"net/http"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/cases"
	"vigil/internal/posture/collect/declared"
	simazure "vigil/internal/sim/azure"
	"vigil/internal/sim/canned"
	simgcp "vigil/internal/sim/gcp"
	"vigil/resources"
)

// defaultAnswers answer the calls that the simulated clouds do not simulate, so that one
// account of each cloud has resources of every type.
type defaultAnswers struct {
	clouds map[posture.Provider]*canned.Defaults

	// The accounts that have resources of every type.
	account      string
	subscription simazure.Subscription
	project      simgcp.Project
}

func newDefaultAnswers() (*defaultAnswers, error) {
	d := &defaultAnswers{clouds: map[posture.Provider]*canned.Defaults{}}
	for _, p := range posture.Providers {
		var err error
		if d.clouds[p], err = canned.NewDefaults(p, declared.Catalog(), resources.Files); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// aws answers a call if it can. The default answers are about the account of the test cases:
// its id is replaced. The functions for the other clouds do the same.
func (d *defaultAnswers) aws(w http.ResponseWriter, r *http.Request, account string) bool {
	replace := []string{string(cases.Vars[posture.AWS].Account), account}
	return account == d.account && d.clouds[posture.AWS].Serve(w, r, replace)
}

func (d *defaultAnswers) azure(w http.ResponseWriter, r *http.Request, account string) bool {
	vars := cases.Vars[posture.Azure]
	replace := []string{string(vars.Account), d.subscription.ID, vars.Tenant, d.subscription.Tenant}
	forGraph := account == "" // Microsoft Graph belongs to no subscription
	return (account == d.subscription.ID || forGraph) && d.clouds[posture.Azure].Serve(w, r, replace)
}

func (d *defaultAnswers) google(w http.ResponseWriter, r *http.Request, p simgcp.Project) bool {
	vars := cases.Vars[posture.GCP]
	replace := []string{string(vars.Account), p.ID, vars.Number, p.Number}
	return p == d.project && d.clouds[posture.GCP].Serve(w, r, replace)
}
