package gcp

import (
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
)

// conventions are those of Google Cloud. They implement [collect.Conventions].
type conventions struct{}

// Permission implements [collect.Conventions]. The catalog has already set it, except for the calls of
// functions.
func (conventions) Permission(r *resource.Request) string {
	if r.Permission == "" && r.Call != "" {
		return resource.GooglePermission(r.Call)
	}
	return r.Permission
}

// Service implements [collect.Conventions].
func (conventions) Service(r *resource.Request) string { return limitOf(apiOf(r)) }

// EventSource implements [collect.Conventions].
func (conventions) EventSource(short string) string { return short + ".googleapis.com" }

// apiOf returns the API of a call.
func apiOf(r *resource.Request) string {
	api, _, _ := strings.Cut(strings.TrimPrefix(r.Call, postCall), "/")
	return api
}

// declarations returns the declared facts about the types of a catalog.
func declarations(c *resource.Catalog) []collect.Declaration {
	var all []collect.Declaration
	for _, t := range inOrder(c) {
		all = append(all, collect.DeclarationOf(c, t, conventions{}))
	}
	return all
}

// inOrder returns the types of Google Cloud, ordered so that types that make the
// same calls are adjacent and few responses are cached at a time.
func inOrder(c *resource.Catalog) []*resource.Type {
	all := c.Of(posture.GCP)
	slices.SortStableFunc(all, func(a, b *resource.Type) int { return strings.Compare(firstCall(c, a), firstCall(c, b)) })
	return all
}

func firstCall(c *resource.Catalog, t *resource.Type) string {
	for r := range c.Requests(t) {
		return r.Call
	}
	return ""
}
