package main

import (
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// idAttribute is the id that the server gives a resource.
func idAttribute() schema.StringAttribute {
	return schema.StringAttribute{
		Computed: true, Description: "The id that the server gave the resource.",
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

// fixedText is a required text; another value replaces the resource.
func fixedText(description string) schema.StringAttribute {
	return schema.StringAttribute{
		Required: true, Description: description + " Another value replaces the resource.",
		PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
	}
}

func requiredText(description string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, Description: description}
}

func optionalText(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, Description: description}
}

func secretText(description string) schema.StringAttribute {
	return schema.StringAttribute{Required: true, Sensitive: true, Description: description}
}

func optionalTexts(description string) schema.SetAttribute {
	return schema.SetAttribute{Optional: true, ElementType: types.StringType, Description: description}
}

// tagFilterAttribute selects resources by the values of their tags.
func tagFilterAttribute() schema.MapAttribute {
	return schema.MapAttribute{
		Optional: true, ElementType: types.SetType{ElemType: types.StringType},
		Description: "Lists of values by the name of the tag: a resource matches if each of these tags has one of the values in its list.",
	}
}

// A converter converts sets and maps of attributes to Go values. It keeps the first error. A null element
// is an error, because a filter without it would match more than the configuration says.
type converter struct{ err error }

func (e *converter) refuse(format string, attribute string) {
	if e.err == nil {
		e.err = fmt.Errorf(format+"; give it a value or leave it out", attribute)
	}
}

// texts returns the elements of a set.
func (e *converter) texts(attribute string, set types.Set) []string {
	all := []string{} // the server refuses null
	for _, element := range set.Elements() {
		text, _ := element.(types.String)
		if text.IsNull() {
			e.refuse("%s has a null element", attribute)
		}
		all = append(all, text.ValueString())
	}
	return all
}

// tags returns the elements of a map.
func (e *converter) tags(attribute string, tags types.Map) map[string]string {
	all := map[string]string{}
	for name, element := range tags.Elements() {
		text, _ := element.(types.String)
		if text.IsNull() {
			e.refuse("%s is null", fmt.Sprintf("%s[%q]", attribute, name))
		}
		all[name] = text.ValueString()
	}
	return all
}

// tagFilter returns the values of a tag filter.
func (e *converter) tagFilter(attribute string, filter types.Map) map[string][]string {
	all := map[string][]string{} // the server refuses null
	for name, element := range filter.Elements() {
		tag := fmt.Sprintf("%s[%q]", attribute, name)
		values, _ := element.(types.Set)
		if values.IsNull() {
			e.refuse("%s is null", tag)
		}
		all[name] = e.texts(tag, values)
	}
	return all
}

// setOf returns a set of texts.
func setOf(texts []string) types.Set {
	var all []attr.Value
	for _, t := range texts {
		all = append(all, types.StringValue(t))
	}
	return types.SetValueMust(types.StringType, all)
}

// The server does not distinguish an attribute that is empty from one that is not set. If it
// returns an empty value, the following functions return the known value, that of the state, when
// that is empty or null: if an attribute that is set to "", [] or {} became null, Terraform would
// plan a change.

// readText returns the value of an optional text.
func readText(known types.String, fromServer string) types.String {
	switch {
	case fromServer != "":
		return types.StringValue(fromServer)
	case known.ValueString() == "":
		return known
	}
	return types.StringNull()
}

// readSet returns the value of an optional set of texts.
func readSet(known types.Set, fromServer []string) types.Set {
	switch {
	case len(fromServer) > 0:
		return setOf(fromServer)
	case len(known.Elements()) == 0:
		return known
	}
	return types.SetNull(types.StringType)
}

// readTags returns the value of optional tags.
func readTags(known types.Map, fromServer map[string]string) types.Map {
	all := map[string]attr.Value{}
	for name, value := range fromServer {
		all[name] = types.StringValue(value)
	}
	return readMap(known, types.StringType, all)
}

// readTagFilter returns the value of an optional tag filter.
func readTagFilter(known types.Map, fromServer map[string][]string) types.Map {
	all := map[string]attr.Value{}
	for name, values := range fromServer {
		all[name] = setOf(values)
	}
	return readMap(known, types.SetType{ElemType: types.StringType}, all)
}

func readMap(known types.Map, element attr.Type, fromServer map[string]attr.Value) types.Map {
	switch {
	case len(fromServer) > 0:
		return types.MapValueMust(element, fromServer)
	case len(known.Elements()) == 0:
		return known
	}
	return types.MapNull(element)
}

// sameTime returns the known time if the server's time is the same moment, even in another
// notation, so that Terraform does not plan a change.
func sameTime(known types.String, fromServer string) types.String {
	a, err := time.Parse(time.RFC3339, known.ValueString())
	b, err2 := time.Parse(time.RFC3339, fromServer)
	if err == nil && err2 == nil && a.Equal(b) {
		return known
	}
	return readText(known, fromServer)
}
