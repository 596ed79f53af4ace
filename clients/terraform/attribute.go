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

// textOrNull returns null for an empty text, as the state of an attribute that was not set.
func textOrNull(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
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

// setOrNull returns a set of texts, or null if there are none.
func setOrNull(texts []string) types.Set {
	if len(texts) == 0 {
		return types.SetNull(types.StringType)
	}
	return setOf(texts)
}

func setOf(texts []string) types.Set {
	var all []attr.Value
	for _, t := range texts {
		all = append(all, types.StringValue(t))
	}
	return types.SetValueMust(types.StringType, all)
}

// tagFilterOrNull returns a tag filter, or null if it is empty.
func tagFilterOrNull(filter map[string][]string) types.Map {
	element := types.SetType{ElemType: types.StringType}
	if len(filter) == 0 {
		return types.MapNull(element)
	}
	all := map[string]attr.Value{}
	for name, values := range filter {
		all[name] = setOf(values)
	}
	return types.MapValueMust(element, all)
}

// sameTime returns the known time if the server's time is the same moment, even in another
// notation, so that Terraform does not plan a change.
func sameTime(known types.String, fromServer string) types.String {
	a, err := time.Parse(time.RFC3339, known.ValueString())
	b, err2 := time.Parse(time.RFC3339, fromServer)
	if err == nil && err2 == nil && a.Equal(b) {
		return known
	}
	return textOrNull(fromServer)
}
