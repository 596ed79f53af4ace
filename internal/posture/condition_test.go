package posture_test

import (
	"testing"

	"vigil/internal/posture"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	e := &posture.Entity{
		ID: "AWS.S3.1.global.Bucket.b", Type: "AWS.S3.Bucket", Name: "B", Account: "1", Provider: posture.AWS, Region: "eu-west-1", Service: "S3",
		Properties: []posture.Property{
			posture.Flag("encrypted", true), posture.Text("group", "a"), posture.Text("group", "b"), posture.Unknown("mixed", "denied"),
			posture.Text("mixed", "x"), posture.Number("size", -3), posture.Unknown("policy", "denied"),
		},
		Tags: map[string]string{"Env": "Prod", "ſize": "ΣΑΣ"}, // ſ folds to s; Σ, σ and ς fold to the same letter
	}
	property := func(name, value string) posture.Condition {
		return posture.Equal{Attribute: posture.Attribute{Kind: posture.PropertyAttribute, Name: name}, Value: value}
	}
	tag := func(name, value string) posture.Condition {
		return posture.Equal{Attribute: posture.Attribute{Kind: posture.TagAttribute, Name: name}, Value: value}
	}
	field := func(name, value string) posture.Condition {
		return posture.Equal{Attribute: posture.Attribute{Name: name}, Value: value}
	}
	exists := func(kind posture.AttributeKind, name string) posture.Condition {
		return posture.Exists{Attribute: posture.Attribute{Kind: kind, Name: name}}
	}
	not := func(c posture.Condition) posture.Condition { return posture.Not{Part: c} }
	yes, no, maybe := property("encrypted", "true"), property("encrypted", "false"), property("policy", "x")

	for what, c := range map[string]struct {
		condition posture.Condition
		want      posture.Truth
	}{
		"equal ignoring case":               {property("ENCRYPTED", "True"), posture.Yes},
		"other value":                       {no, posture.No},
		"number":                            {property("size", "-3"), posture.Yes},
		"one of a list":                     {property("group", "b"), posture.Yes},
		"negated, none of a list":           {not(property("group", "c")), posture.Yes},
		"negated, one of a list":            {not(property("group", "b")), posture.No},
		"absent":                            {property("none", "x"), posture.No},
		"negated and absent":                {not(property("none", "x")), posture.Yes},
		"unknown":                           {maybe, posture.Maybe},
		"negated and unknown":               {not(maybe), posture.Maybe},
		"known beside unknown":              {property("mixed", "x"), posture.Yes},
		"other beside unknown":              {property("mixed", "y"), posture.Maybe},
		"tag":                               {tag("env", "PROD"), posture.Yes},
		"tag with special case folding":     {tag("SIZE", "σας"), posture.Yes},
		"negated and absent tag":            {not(tag("none", "")), posture.Yes},
		"field":                             {field("region", "EU-WEST-1"), posture.Yes},
		"name":                              {field("entityName", "b"), posture.Yes},
		"provider":                          {field("provider", "gcp"), posture.No},
		"existing":                          {exists(posture.PropertyAttribute, "Group"), posture.Yes},
		"existing tag":                      {exists(posture.TagAttribute, "env"), posture.Yes},
		"missing":                           {exists(posture.PropertyAttribute, "none"), posture.No},
		"existence unknown":                 {exists(posture.PropertyAttribute, "policy"), posture.Maybe},
		"existing beside unknown":           {exists(posture.PropertyAttribute, "mixed"), posture.Yes},
		"all yes":                           {posture.AllOf{yes, yes}, posture.Yes},
		"all, one unknown":                  {posture.AllOf{yes, maybe}, posture.Maybe},
		"all, one no and one unknown":       {posture.AllOf{maybe, no}, posture.No},
		"any, one yes and one unknown":      {posture.AnyOf{maybe, yes}, posture.Yes},
		"any, one no and one unknown":       {posture.AnyOf{no, maybe}, posture.Maybe},
		"any no":                            {posture.AnyOf{no, no}, posture.No},
		"not of all with unknown":           {not(posture.AllOf{yes, maybe}), posture.Maybe},
		"not of any with unknown and a yes": {not(posture.AnyOf{yes, maybe}), posture.No},
	} {
		if got := c.condition.Of(e); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}
