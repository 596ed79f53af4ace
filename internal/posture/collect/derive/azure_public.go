package derive

import (
	"net/netip"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/azure"
	"vigil/internal/posture/predicate/ipset"
	"vigil/internal/posture/resource"
)

// azureOpen returns a function that adds whether the public endpoint of a resource is reachable
// from the whole internet, which predicateOf decides from the resource's properties.
func azureOpen(predicateOf func(properties gjson.Result) predicate.Answer) resource.Function {
	return resource.Function{
		Properties: []resource.Property{{
			Name: "openToInternet", Kind: resource.Flag,
			Doc: "The internet at large reaches its public endpoint: it is on, and network rules do not deny by default or let in most of the internet.",
		}},
		Apply: func(in resource.FunctionInput, b *resource.Builder) error {
			putAnswer(b, "openToInternet", predicateOf(in.Value))
			return nil
		},
		Absent: func(b *resource.Builder) { putAnswer(b, "openToInternet", predicateOf(gjson.Result{})) },
	}
}

// azureFirewallRange adds whether a firewall rule of a database server allows the whole
// internet.
var azureFirewallRange = resource.Function{
	Properties: []resource.Property{{Name: "isInternet", Kind: resource.Flag, Doc: "It lets in the internet at large: more public addresses than a /8 has."}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		from, err := netip.ParseAddr(in.Value.Get("startIpAddress").String())
		to, err2 := netip.ParseAddr(in.Value.Get("endIpAddress").String())
		if err != nil || err2 != nil {
			putAnswer(b, "isInternet", predicate.NotKnown("its addresses are not known"))
			return nil
		}
		set, err := ipset.Range(from, to)
		if err != nil {
			putAnswer(b, "isInternet", predicate.NotKnown(err.Error()))
			return nil
		}
		b.Flag("isInternet", set.IsInternet())
		return nil
	},
	Absent: func(b *resource.Builder) {
		putAnswer(b, "isInternet", predicate.NotKnown("its addresses are not known"))
	},
}

// azureFirewallRules returns a function that adds whether the firewall rules of a database server,
// taken together, allow the whole internet.
func azureFirewallRules(property, rules string) resource.Function {
	return resource.Function{
		Properties: []resource.Property{{Name: property, Kind: resource.Flag, Doc: "Its " + rules + ", taken together, let in the internet at large: more public addresses than a /8 of IPv4 or a /32 of IPv6 has."}},
		Apply: func(in resource.FunctionInput, b *resource.Builder) error {
			putAnswer(b, property, azure.OpenRules(in.Value))
			return nil
		},
		Absent: func(b *resource.Builder) { b.Flag(property, false) },
	}
}

// azureAlertedOperations adds the operations that activity log alerts of a list watch in the
// whole subscription. Only alerts that are enabled, have an action group and have no further
// conditions count.
var azureAlertedOperations = resource.Function{
	Properties: []resource.Property{{
		Name: "alertedOperations", Kind: resource.Texts,
		Doc: "The operations, in lower case, that activity log alerts watch in the whole subscription: alerts that are enabled, have an action group, and leave no event of the operation out; * for all operations.",
	}},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		var all []string
		for _, alert := range in.Value.Array() {
			all = append(all, azureWatches(alert, string(in.Account))...)
		}
		b.Set("alertedOperations", all)
		return nil
	},
}

// azureWatches returns the operations that an alert watches in a whole subscription.
func azureWatches(alert gjson.Result, subscription string) (operations []string) {
	p := alert.Get("properties")
	disabled := p.Get("enabled").Exists() && !p.Get("enabled").Bool()
	if disabled || len(p.Get("actions.actionGroups").Array()) == 0 {
		return nil
	}
	coversSubscription := false
	for _, scope := range p.Get("scopes").Array() {
		coversSubscription = coversSubscription || strings.EqualFold(strings.Trim(scope.String(), "/"), "subscriptions/"+subscription)
	}
	if !coversSubscription {
		return nil
	}
	everyOperation := false
	for _, c := range p.Get("condition.allOf").Array() {
		field, equals := strings.ToLower(c.Get("field").String()), strings.ToLower(c.Get("equals").String())
		switch {
		case field == "operationname" && len(operations) == 0 && azureHasOnlyOperations(c):
			operations = azureOperations(c)
		case field == "category" && equals == "administrative":
			everyOperation = true
		case field == "" && azureHasOnlyOperations(c.Get("anyOf")) && len(operations) == 0:
			for _, alternative := range c.Get("anyOf").Array() {
				operations = append(operations, azureOperations(alternative)...)
			}
		default:
			return nil // a second condition on the operation, or one on level, status, caller or resource, excludes events
		}
	}
	if len(operations) == 0 && everyOperation {
		return []string{azureEveryOperation}
	}
	return operations
}

// azureEveryOperation stands for all operations of the control plane, which an alert on the
// category alone watches.
const azureEveryOperation = "*"

// azureOperations returns the operations that a condition names, in lower case.
func azureOperations(condition gjson.Result) (all []string) {
	for _, operation := range append(texts(condition.Get("equals")), texts(condition.Get("containsAny"))...) {
		if operation != "" {
			all = append(all, strings.ToLower(operation))
		}
	}
	return all
}

// azureHasOnlyOperations reports whether a condition, or all conditions of a list, are about the
// operation.
func azureHasOnlyOperations(list gjson.Result) bool {
	for _, c := range list.Array() {
		if !strings.EqualFold(c.Get("field").String(), "operationName") || len(azureOperations(c)) == 0 {
			return false
		}
	}
	return len(list.Array()) > 0
}
