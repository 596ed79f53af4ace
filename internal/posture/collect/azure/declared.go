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

// grammar derives facts from a call of Azure. It implements [collect.Grammar].
type grammar struct{}

// Permission implements [collect.Grammar]. The catalog has already set it.
func (grammar) Permission(r *resource.Request) string { return r.Permission }

// Service implements [collect.Grammar].
func (grammar) Service(r *resource.Request) string {
	if strings.HasPrefix(r.Call, graphCall) {
		return graphService
	}
	return armService
}

// EventSource implements [collect.Grammar].
func (grammar) EventSource(source string) string { return source }

// declarations returns the declared facts about the types of a catalog.
func declarations(c *resource.Catalog) []collect.Declaration {
	var all []collect.Declaration
	for _, t := range inOrder(c) {
		all = append(all, collect.DeclarationOf(c, t, grammar{}))
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
