package app_test

import (
	"slices"
	"testing"

	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/gcp"
	"vigil/internal/sqldb/dbtest"
)

// TestSchemaNamesTheRulesThatReadIt adds rules in both query languages.
func TestSchemaNamesTheRulesThatReadIt(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0, aws.New(aws.Options{}), gcp.New(gcp.Options{}))
	add := func(name, query string) string {
		return i.want(201, "POST", "/v1/rules", object{"name": name, "displayName": name, "provider": "aws", "level": "Low", "query": query}).member("id")
	}
	search := func(text string) string { return `{"inventoryQueryType":"Search","queryString":"` + text + `"}` }
	walked := add("walked", graphQuery("g.V().hasLabel('AWS.EC2.Subnet').where(out('IN_VPC').has('isDefault', true))"))
	found := add("found", search("entitytype = aws.ec2.vpc AND property.ISDEFAULT = true"))
	anywhere := add("anywhere", search("property.isDefault = true"))

	readers := map[string][]any{}
	for _, each := range i.want(200, "GET", entities+"/schema", nil).body["types"].([]any) {
		kind := each.(object)
		name := kind["entityType"].(string)
		readers[name] = kind["rules"].([]any)
		for _, what := range []string{"properties", "edges"} {
			for _, p := range kind[what].([]any) {
				property, _ := p.(object)["name"].(string) // only properties have a name, only edges a label
				label, _ := p.(object)["label"].(string)
				readers[name+" "+property+label] = p.(object)["rules"].([]any)
			}
		}
	}
	for what, want := range map[string]map[string]bool{
		"AWS.EC2.Vpc":           {walked: true, found: true, anywhere: true},
		"AWS.EC2.Vpc isDefault": {walked: true, found: true, anywhere: true},
		"AWS.EC2.Vpc cidrBlock": {walked: false, found: false, anywhere: false},
		"AWS.EC2.Subnet":        {walked: true, found: false, anywhere: true},
		"AWS.EC2.Subnet IN_VPC": {walked: true, found: false, anywhere: false},
		"AWS.S3.Bucket":         {walked: false, found: false, anywhere: true},
		"GCP.Storage.Bucket":    {walked: false, found: false, anywhere: false},
	} {
		if readers[what] == nil {
			t.Errorf("the schema lacks %s", what)
		}
		for id, reads := range want {
			if slices.Contains(readers[what], any(id)) != reads {
				t.Errorf("%s is read by %v; want %v for %s", what, readers[what], reads, id)
			}
		}
	}
}
