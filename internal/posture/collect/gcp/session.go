package gcp

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/naming"
	"vigil/internal/posture/resource"
)

// A session reads one project. It implements [collect.Transport].
type session struct {
	account posture.AccountID
	number  string // project number, which some responses have in place of the id
	key     posture.ServiceAccountKey
	catalog *resource.Catalog
	client  *client
}

func (src *Source) newSession(project posture.AccountID, key posture.ServiceAccountKey) (*session, error) {
	tokens := &tokens{source: src.options.Tokens}
	if src.options.Tokens == nil {
		var err error
		if tokens, err = newTokens(key, &http.Client{Transport: &client{src: src, account: project}}); err != nil {
			return nil, err
		}
	}
	return &session{account: project, key: key, catalog: src.options.Catalog, client: &client{src: src, account: project, tokens: tokens}}, nil
}

// reader returns the reader of declared types. A name without a location refers to a resource in
// the region.
func (s *session) reader(region string, answers *collect.Answers) *collect.Reader {
	return &collect.Reader{Catalog: s.catalog, Transport: s, Answers: answers, Context: resource.Context{
		Vars: resource.Vars{Account: s.account, Number: s.number, Region: region}, Cloud: naming.Of(posture.GCP, s.catalog),
	}}
}

// Units implements [collect.Session]. Google lists most types across all
// locations, so each type is read once per project.
func (s *session) Units(context.Context) ([]collect.Unit, error) {
	reader := s.reader(posture.Global, collect.NewAnswers())
	var units []collect.Unit
	for _, t := range collect.InOrderOfCalls(s.catalog, posture.GCP) {
		units = append(units, reader.Unit(t, collect.ServiceOf(s.catalog, t, conventions{})))
	}
	return units, nil
}

// Unit implements [collect.Session]. The Get of the unit accepts a name as in the audit log
// (projects/p/zones/z/instances/i), or an entity's own name in the given region.
func (s *session) Unit(name posture.EntityType, region string) (collect.Unit, bool) {
	t := s.catalog.Type(name)
	if t == nil || name.Provider() != posture.GCP {
		return collect.Unit{}, false
	}
	unit := s.reader(region, collect.NewAnswers()).Unit(t, collect.ServiceOf(s.catalog, t, conventions{}))
	unit.Region = posture.Global // as in Units: each type is read once per project
	return unit, true
}

// Close implements [collect.Session].
func (*session) Close() {}

// classify completes the classification of an error of an API. A disabled API means that there
// are no resources only if it is disabled in the project being read, not in another project that
// the key belongs to. The API that returns the project and its policy is an exception: these
// always exist.
func (s *session) classify(api string, err error) error {
	off, ok := errors.AsType[*offError](err)
	if !ok {
		return err
	}
	disabledIn := strings.TrimPrefix(off.consumer, "projects/")
	if disabledIn == "" {
		disabledIn = s.key.ProjectID
	}
	disabledHere := disabledIn == string(s.account) || disabledIn == s.number
	switch {
	case !disabledHere:
		off = &offError{off.service, "projects/" + disabledIn, off.err} // Google's error may not name the project
		return &undecidedOffError{off, ", which the service account belongs to: enable it there"}
	case api == resourceManager:
		return &undecidedOffError{off, ": enable it"}
	}
	return off
}

// resourceManager is the API that returns projects and their policies.
const resourceManager = "cloudresourcemanager"
