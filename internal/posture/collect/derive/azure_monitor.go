package derive

import (
	"errors"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/resource"
)

// azureAlertConditions adds the conditions of an activity log alert.
var azureAlertConditions = textsFunction("conditions", "Its conditions, such as operationName = Microsoft.Sql/servers/write.", func(alert gjson.Result) (all []string) {
	for _, c := range azureConditions(alert) {
		for _, value := range append(texts(c.Get("equals")), texts(c.Get("containsAny"))...) {
			all = append(all, c.Get("field").String()+" = "+value)
		}
	}
	return all
})

// azureConditions returns the conditions of an alert as one list: those that must all be met,
// and those of which one suffices.
func azureConditions(alert gjson.Result) (all []gjson.Result) {
	for _, c := range alert.Get("properties.condition.allOf").Array() {
		all = append(all, c.Get("anyOf").Array()...)
		if c.Get("field").String() != "" {
			all = append(all, c)
		}
	}
	return all
}

// azureActivityLog are the categories of a subscription's activity log.
var azureActivityLog = []string{"Administrative", "Alert", "Autoscale", "Policy", "Recommendation", "ResourceHealth", "Security", "ServiceHealth"}

// allLogs is the group of all log categories of a resource.
const allLogs = "allLogs"

// azureLogs adds the log categories, and groups of categories, that one diagnostic setting
// or a list of them exports. If one exports the group allLogs, it also adds the given
// categories, which should be all that the group contains.
func azureLogs(categories ...string) resource.Function {
	return textsFunction("logs", "The log categories, or groups of them, that diagnostic settings export.", func(settings gjson.Result) (all []string) {
		for _, s := range settings.Array() { // a single setting is treated as a list of one
			for _, log := range s.Get("properties.logs").Array() {
				if log.Get("enabled").Bool() {
					// A log has a category or a group.
					name := strings.TrimSpace(log.Get("category").String() + log.Get("categoryGroup").String())
					if strings.EqualFold(name, allLogs) {
						name = allLogs // Azure does not keep to one spelling
					}
					all = append(all, name)
				}
			}
		}
		if slices.Contains(all, allLogs) {
			all = append(all, categories...)
		}
		return all
	})
}

// azureStorageLogging returns a function that adds whether diagnostic settings export the requests to
// a service of a storage account: those that read, write and delete.
func azureStorageLogging(name, what string) resource.Function {
	return resource.Function{
		Properties: []resource.Property{{Name: name, Kind: resource.Flag, Doc: "Requests that read, write and delete " + what + " are logged; absent if the account has no such service."}},
		Apply: func(in resource.FunctionInput, b *resource.Builder) error {
			var logged []string
			for _, setting := range in.Value.Array() {
				for _, log := range setting.Get("properties.logs").Array() {
					if log.Get("enabled").Bool() {
						logged = append(logged, strings.ToLower(log.Get("category").String()+log.Get("categoryGroup").String()))
					}
				}
			}
			missing := slices.DeleteFunc([]string{"storageread", "storagewrite", "storagedelete"}, func(category string) bool { return slices.Contains(logged, category) })
			isComplete := len(missing) == 0 || slices.Contains(logged, "alllogs")
			if !isComplete && slices.Contains(logged, "audit") {
				b.Unread(errors.New("the group audit does not say which requests it contains"), name)
				return nil
			}
			b.Flag(name, isComplete)
			return nil
		},
	}
}

// azureFlowLogRetention adds the retention of a flow log, which is unlimited when its retention
// policy is disabled.
var azureFlowLogRetention = resource.Function{
	Properties: []resource.Property{{Name: "retentionDays", Kind: resource.Long, Doc: "Number of days to retain flow log records; 0 keeps them for ever."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		days := int64(0)
		if in.Value.Get("enabled").Bool() {
			days = in.Value.Get("days").Int()
		}
		b.Number("retentionDays", days)
		return nil
	},
	Absent: func(b *resource.Builder) { b.Number("retentionDays", 0) },
}

// azureEmails adds the addresses of a security contact, which the API returns as one string.
var azureEmails = textsFunction("emails", "The email addresses that get notifications of Microsoft Defender for Cloud; absent when there is none.", func(text gjson.Result) []string {
	return strings.FieldsFunc(text.String(), func(r rune) bool { return r == ';' || r == ',' || r == ' ' })
})

// textsFunction returns a function that adds one list of strings.
func textsFunction(name, doc string, read func(gjson.Result) []string) resource.Function {
	return resource.Function{
		Properties: []resource.Property{{Name: name, Kind: resource.Texts, Doc: doc}},
		Apply: func(in resource.FunctionInput, b *resource.Builder) error {
			b.Set(name, read(in.Value))
			return nil
		},
	}
}

// azureCountIn adds the number of resources of a type that the subscription has in a location.
func azureCountIn(property string, counted posture.EntityType, doc string) resource.Function {
	normalize := func(location string) string { return strings.ToLower(strings.ReplaceAll(location, " ", "")) }
	return resource.Function{
		Properties: []resource.Property{{Name: property, Kind: resource.Long, Doc: doc}},
		Reads:      []posture.EntityType{counted},
		Apply: func(in resource.FunctionInput, b *resource.Builder) error {
			counts, err := in.Caller.Once("count "+string(counted), func() (any, error) {
				counts := map[string]int64{}
				err := in.Caller.Each(in.Ctx, counted, func(item *resource.Item) error {
					counts[normalize(item.Get("location").String())]++
					return nil
				})
				return counts, err
			})
			if err != nil {
				return err
			}
			b.Number(property, counts.(map[string]int64)[normalize(in.Value.String())])
			return nil
		},
	}
}
