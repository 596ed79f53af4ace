package main

import (
	"context"
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
		Computed: true, Description: "The id that the server gave it.",
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
		Description: "Values by the name of the tag: each of these tags must have one of its values.",
	}
}

// textOrNull returns null for an empty text, as the state of an attribute that was not set.
func textOrNull(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// textsOf returns the elements of a set.
func textsOf(ctx context.Context, set types.Set) []string {
	all := []string{} // the server refuses null
	if !set.IsNull() {
		set.ElementsAs(ctx, &all, false)
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

// tagFilterOf returns the values of a tag filter.
func tagFilterOf(ctx context.Context, filter types.Map) map[string][]string {
	all := map[string][]string{} // the server refuses null
	if !filter.IsNull() {
		filter.ElementsAs(ctx, &all, false)
	}
	return all
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

// sameTime returns the known notation of a time if it is the same moment as that
// of the server, so that another notation is no difference.
func sameTime(known types.String, fromServer string) types.String {
	a, err := time.Parse(time.RFC3339, known.ValueString())
	b, err2 := time.Parse(time.RFC3339, fromServer)
	if err == nil && err2 == nil && a.Equal(b) {
		return known
	}
	return textOrNull(fromServer)
}
