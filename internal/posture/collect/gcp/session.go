package gcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/api/cloudresourcemanager/v1"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// A session reads one project.
type session struct {
	account posture.AccountID
	project string // its id
	number  string // which some answers use in place of the id
	about   *cloudresourcemanager.Project
	key     posture.ServiceAccountKey
	line    *line
	services
}

// A scope is a session at the time of one collection or event, at a location.
type scope struct {
	*session
	location string // where a name that does not say so is; posture.Global for none
	shared   *shared
}

func (src *Source) newSession(project posture.AccountID, key posture.ServiceAccountKey) (*session, error) {
	tokens, err := newTokens(key, &http.Client{Transport: &line{src: src, account: project}})
	if err != nil {
		return nil, err
	}
	s := &session{account: project, project: string(project), key: key, line: &line{src: src, account: project, tokens: tokens}}
	if s.services, err = newServices(&http.Client{Transport: s.line}); err != nil {
		return nil, fmt.Errorf("prepare calls: %w", err)
	}
	return s, nil
}

// Units implements [collect.Session]. Google lists most things for all locations
// at once, so a type is read once per project.
func (s *session) Units(context.Context) ([]collect.Unit, error) {
	here := &scope{session: s, location: posture.Global, shared: new(shared)}
	units := make([]collect.Unit, len(collectors))
	for i, c := range collectors {
		units[i] = collect.Bind(c, here, posture.Global)
	}
	return units, nil
}

// Unit implements [collect.Session]. Its Get takes the name as the audit log has
// it (projects/p/zones/z/instances/i), or an entity's own name together with the
// region here.
func (s *session) Unit(t posture.EntityType, region string) (collect.Unit, bool) {
	i := slices.IndexFunc(collectors, func(c collector) bool { return c.Type == t })
	if i < 0 {
		return collect.Unit{}, false
	}
	return collect.Bind(collectors[i], &scope{session: s, location: region, shared: new(shared)}, posture.Global), true
}

// Close implements [collect.Session].
func (*session) Close() {}

// sorted puts what went wrong into its class. That a service is off says nothing
// about the project when Google asked another: the one the key is from.
func (s *session) sorted(err error, permission string) error {
	err = sorted(err, permission)
	off, ok := errors.AsType[*offError](err)
	if !ok {
		return err
	}
	consumer := strings.TrimPrefix(off.consumer, "projects/")
	if consumer == s.project || consumer == s.number || consumer == "" && s.key.ProjectID == s.project {
		return off
	}
	return &homeOffError{off}
}
