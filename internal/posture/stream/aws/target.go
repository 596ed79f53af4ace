package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/stream/change"
)

// maxNames is how many resources of a type one event may name. If it names more, all
// of the type are read.
const maxNames = 100

// targets returns the resources to read because of the event. If it names no
// resource of a type that it may have changed, all of the type are read, unless it
// changes the tags or the scaling of resources of other types.
func (e event) targets(x *change.Index) []posture.Target {
	d := e.Detail
	if d.ReadOnly || d.ErrorCode != "" {
		return nil
	}
	if d.EventSource == "signin.amazonaws.com" && d.UserIdentity.Type != "Root" {
		return nil // only logins of the root user change a collected resource: the account summary
	}
	params := newParameters(d.RequestParameters, d.ResponseElements)
	var found []posture.Target
	for _, decl := range x.Of(d.EventSource, d.EventName) {
		region := posture.Global
		if decl.Scope == collect.PerRegion {
			region = d.AWSRegion
			if region == "" {
				region = e.Region
			}
		}
		if decl.Declared == nil {
			continue
		}
		var names []string
		if !slices.Contains(decl.Declared.ReadAllAfter, d.EventName) {
			names = params.names(decl.Declared)
		}
		for _, r := range d.Resources {
			if name, ok := fromARN(decl.Declared, r.ARN); ok {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		switch {
		case len(names) == 0 && decl.Declared.Derived:
			continue // read as a neighbour of the resource that contains it
		case len(names) == 0 && d.isForAllTypes() && params.nameOthers(decl.Declared):
			continue
		case len(names) == 0 || len(names) > maxNames:
			found = append(found, posture.Target{Type: decl.Type, Region: region})
			continue
		}
		for _, name := range names {
			found = append(found, posture.Target{Type: decl.Type, Region: region, Name: name})
		}
	}
	return found
}

// tagCalls are the beginnings of the names of calls that change tags. One call of a service
// tags resources of all its types.
var tagCalls = []string{"Tag", "Untag", "AddTags", "RemoveTags", "CreateTags", "DeleteTags", "CreateOrUpdateTags"}

// scalingCalls are the calls that change which resources, of any service, Application Auto Scaling
// adjusts.
var scalingCalls = []string{"RegisterScalableTarget", "DeregisterScalableTarget"}

// isForAllTypes reports whether the call is for resources of many types.
func (d detail) isForAllTypes() bool {
	return d.changesTags() || slices.Contains(scalingCalls, d.EventName)
}

// changesTags reports whether the call changes tags.
func (d detail) changesTags() bool {
	return slices.ContainsFunc(tagCalls, func(begin string) bool { return strings.HasPrefix(d.EventName, begin) })
}
