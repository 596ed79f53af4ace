package azure

import (
	"cmp"
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

const (
	tenantType            = "Azure.Entra.Tenant"
	userType              = "Azure.Entra.User"
	groupType             = "Azure.Entra.Group"
	servicePrincipalType  = "Azure.Entra.ServicePrincipal"
	applicationType       = "Azure.Entra.Application"
	directoryRoleType     = "Azure.Entra.DirectoryRole"
	conditionalAccessType = "Azure.Entra.ConditionalAccessPolicy"
)

// Permissions of Microsoft Graph.
const (
	readDirectory = "Directory.Read.All"
	readPolicies  = "Policy.Read.All"
	readReports   = "AuditLog.Read.All"
)

// An object is a type of directory object. Every subscription that trusts a
// directory has its objects in its own graph.
type object struct {
	typ        entityType
	doc        string
	path       string // of the list, without what to select
	fields     string // to select; "" for all
	permission string
	takes      []string // more permissions
	rows       []row
	links      []link
	events     []string // names in the directory's audit log

	// prepare reads what several objects need, and returns what adds it to each.
	prepare   func(ctx context.Context, s *session) (func(j gjson.Result, r *resource), error)
	moreRows  []collect.Property
	moreLinks []collect.Edge
}

// entraAudit is the source of events of the directory.
const entraAudit = "entra audit"

func (o *object) collector() collector {
	d := collect.Declaration{
		Type: o.typ, Scope: collect.PerAccount, Service: graphService, Doc: o.doc,
		Permissions: append([]string{o.permission}, o.takes...), Properties: o.moreRows,
		Edges: append([]collect.Edge{{Label: "IN", To: []entityType{tenantType}, Doc: "The directory."}}, o.moreLinks...),
	}
	for _, r := range o.rows {
		d.Properties = append(d.Properties, r.Property)
	}
	for _, l := range o.links {
		d.Edges = append(d.Edges, l.Edge)
	}
	if len(o.events) > 0 {
		d.Events = []collect.Event{{Source: entraAudit, Names: o.events}}
	}
	return collector{Declaration: d, List: o.list, Get: o.get}
}

func (o *object) list(ctx context.Context, s *session, emit collect.Emit) error {
	more, err := o.prepared(ctx, s)
	if err != nil {
		return err
	}
	address := s.graph + o.path
	if o.fields != "" {
		address += "?$select=" + o.fields + "&$top=999"
	}
	return s.pages(ctx, address, o.permission, false, func(page gjson.Result) error {
		for _, j := range page.Get("value").Array() {
			if err := emit(o.entity(s, j, more)); err != nil {
				return err
			}
		}
		return nil
	})
}

// get emits the object of an id.
func (o *object) get(ctx context.Context, s *session, name string, emit collect.Emit) error {
	address := s.graph + o.path + "/" + strings.ToLower(name)
	if o.fields != "" {
		address += "?$select=" + o.fields
	}
	j, err := s.get(ctx, address, o.permission)
	if err != nil {
		return err
	}
	more, err := o.prepared(ctx, s)
	if err != nil {
		return err
	}
	return emit(o.entity(s, j, more))
}

func (o *object) prepared(ctx context.Context, s *session) (func(gjson.Result, *resource), error) {
	if o.prepare == nil {
		return func(gjson.Result, *resource) {}, nil
	}
	return o.prepare(ctx, s)
}

func (o *object) entity(s *session, j gjson.Result, more func(gjson.Result, *resource)) *resource {
	id := strings.ToLower(j.Get("id").String())
	r := collect.NewResource(o.typ, s.account, posture.Global, id)
	r.XID = id
	r.Name = cmp.Or(j.Get("userPrincipalName").String(), j.Get("displayName").String(), id)
	r.Edge("IN", s.global(tenantType, s.tenant))
	for _, row := range o.rows {
		row.put(r, j)
	}
	for _, l := range o.links {
		l.put(s, r, j)
	}
	more(j, r)
	return r
}
