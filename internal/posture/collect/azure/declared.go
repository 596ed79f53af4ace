package azure

import (
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
)

// Names of services in rate limits.
const (
	armService   = "arm"
	graphService = "graph"
)

// graphCall is the prefix of calls of Microsoft Graph.
const graphCall = "graph:"

// conventions are those of Azure. They implement [collect.Conventions].
type conventions struct{}

// Permission implements [collect.Conventions]. The catalog has already set it.
func (conventions) Permission(r *resource.Request) string { return r.Permission }

// Service implements [collect.Conventions].
func (conventions) Service(r *resource.Request) string {
	if strings.HasPrefix(r.Call, graphCall) {
		return graphService
	}
	return armService
}

// EventSource implements [collect.Conventions].
func (conventions) EventSource(source string) string { return source }

// declarations returns the declared facts about the types of a catalog.
func declarations(c *resource.Catalog) []collect.Declaration {
	var all []collect.Declaration
	for _, t := range inOrder(c) {
		all = append(all, collect.DeclarationOf(c, t, conventions{}))
	}
	return all
}

// inOrder returns the types of Azure, ordered so that types that need the same lists are
// adjacent and find them in the cache.
func inOrder(c *resource.Catalog) []*resource.Type {
	all := c.Of(posture.Azure)
	slices.SortStableFunc(all, func(a, b *resource.Type) int { return strings.Compare(listedFirst(c, a), listedFirst(c, b)) })
	return all
}

// listedFirst returns the first call of a type's list.
func listedFirst(c *resource.Catalog, t *resource.Type) string {
	for r := range c.Requests(t) {
		return r.Call
	}
	return ""
}
