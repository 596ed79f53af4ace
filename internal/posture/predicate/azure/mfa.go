package azure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
)

// EmergencyAccounts is the number of users that a policy may exclude and still
// count as applying to everybody: Microsoft recommends excluding two emergency
// access accounts.
// https://learn.microsoft.com/entra/identity/role-based-access-control/security-emergency-access
const EmergencyAccounts = 2

// Members returns the number of users in a directory group, transitively. known
// is false when the group could not be read.
type Members func(group string) (count int, known bool)

// MFAForAll decides whether the conditional access policies of a tenant, as
// Microsoft Graph lists them, require multifactor authentication of everybody
// for every sign-in. members may be nil when groups are unknown.
func MFAForAll(policies gjson.Result, members Members) predicate.Answer {
	all := policies.Array()
	answers := []predicate.Answer{predicate.Of(false, "")}
	for _, p := range all {
		answers = append(answers, mfaForAll(p, all, members))
	}
	return predicate.Or(answers...)
}

// EnforcesMFA decides whether a policy by itself requires multifactor authentication of
// everybody for every sign-in.
func EnforcesMFA(policy gjson.Result, members Members) predicate.Answer {
	return mfaForAll(policy, []gjson.Result{policy}, members)
}

// RequiresMFA decides whether a policy grants access only after a second factor.
func RequiresMFA(policy gjson.Result) predicate.Answer {
	return grantsByMFA(policy.Get("grantControls"))
}

// EverySignIn decides whether a policy applies to every sign-in of its users to its
// applications with a modern client, not only to risky ones or those from certain devices,
// platforms or places.
func EverySignIn(policy gjson.Result) predicate.Answer {
	kinds := texts(policy.Get("conditions.clientAppTypes"))
	everyModern := len(kinds) == 0 || has(kinds, "all") || has(kinds, modern[0]) && has(kinds, modern[1])
	return predicate.And(predicate.Of(everyModern, ""), everySignIn(policy))
}

// mfaForAll decides whether a policy applies to everybody, except those whom other policies cover.
func mfaForAll(p gjson.Result, all []gjson.Result, members Members) predicate.Answer {
	return predicate.And(
		predicate.Of(has(texts(p.Get("conditions.users.includeUsers")), "All"), "policy "+p.Get("displayName").String()+" is for all users"),
		asksForMFA(p, all),
		excludesOnlyCovered(p, all, members),
	)
}

// asksForMFA decides whether a policy requires a second factor at every sign-in of its users.
func asksForMFA(p gjson.Result, all []gjson.Result) predicate.Answer {
	return predicate.And(enabled(p), everyApp(p), everySignIn(p), everyClient(p, all), grantsByMFA(p.Get("grantControls")))
}

// enabled decides whether a policy is enabled. Report-only policies are not.
func enabled(p gjson.Result) predicate.Answer {
	switch state := p.Get("state").String(); state {
	case "enabled":
		return predicate.Of(true, "")
	case "disabled", "enabledForReportingButNotEnforced":
		return predicate.Of(false, "")
	default:
		return predicate.NotKnown(fmt.Sprintf("policy %s has the unknown state %q", p.Get("displayName"), state))
	}
}

// everyApp decides whether a policy applies to all cloud apps.
func everyApp(p gjson.Result) predicate.Answer {
	apps := p.Get("conditions.applications")
	return predicate.Of(has(texts(apps.Get("includeApplications")), "All") && !hasAny(apps.Get("excludeApplications")) &&
		!hasAny(apps.Get("applicationFilter")) && !hasAny(apps.Get("includeUserActions")) && !hasAny(apps.Get("includeAuthenticationContextClassReferences")), "")
}

// narrowing are the conditions that limit a policy to some sign-ins.
var narrowing = []string{
	"signInRiskLevels", "userRiskLevels", "insiderRiskLevels", "servicePrincipalRiskLevels", "agentIdRiskLevels", "devices.deviceFilter", "devices.includeDevices",
	"devices.excludeDevices", "deviceStates", "clientApplications", "authenticationFlows", "platforms.excludePlatforms", "locations.excludeLocations", "times",
}

// understood are the names of the supported members of conditions.
var understood = func() map[string]bool {
	all := map[string]bool{"users": true, "applications": true, "clientAppTypes": true}
	for _, path := range narrowing {
		top, _, _ := strings.Cut(path, ".")
		all[top] = true
	}
	return all
}()

// everySignIn decides whether a policy has no condition that limits it to some
// sign-ins, such as risky ones or those from certain devices, platforms or
// places.
func everySignIn(p gjson.Result) predicate.Answer {
	conditions := p.Get("conditions")
	for _, path := range narrowing {
		if hasAny(conditions.Get(path)) {
			return predicate.Of(false, "")
		}
	}
	if platforms := texts(conditions.Get("platforms.includePlatforms")); len(platforms) > 0 && !has(platforms, "all") {
		return predicate.Of(false, "")
	}
	if places := texts(conditions.Get("locations.includeLocations")); len(places) > 0 && !has(places, "All") {
		return predicate.Of(false, "")
	}
	unsupported := ""
	conditions.ForEach(func(name, value gjson.Result) bool {
		if !understood[name.String()] && hasAny(value) {
			unsupported = name.String()
		}
		return unsupported == ""
	})
	if unsupported != "" {
		return predicate.NotKnown(fmt.Sprintf("the condition %s of policy %s is not supported", unsupported, p.Get("displayName")))
	}
	return predicate.Of(true, "")
}

// modern and legacy are the kinds of clients. Legacy clients do not support a
// second factor: unless a policy applies to them, a password suffices.
var (
	modern = []string{"browser", "mobileAppsAndDesktopClients"}
	legacy = []string{"exchangeActiveSync", "other"}
)

// everyClient decides whether a policy applies to every kind of client. Another
// policy may block legacy clients.
func everyClient(p gjson.Result, all []gjson.Result) predicate.Answer {
	kinds := texts(p.Get("conditions.clientAppTypes"))
	if len(kinds) == 0 || has(kinds, "all") {
		return predicate.Of(true, "")
	}
	for _, kind := range modern {
		if !has(kinds, kind) {
			return predicate.Of(false, "")
		}
	}
	for _, kind := range legacy {
		covered := predicate.Of(has(kinds, kind), "")
		for _, other := range all {
			covered = predicate.Or(covered, blocks(other, kind))
		}
		if covered.Truth != predicate.Yes {
			return covered
		}
	}
	return predicate.Of(true, "")
}

// blocks decides whether a policy blocks a kind of client for everybody.
func blocks(p gjson.Result, kind string) predicate.Answer {
	kinds := texts(p.Get("conditions.clientAppTypes"))
	users := p.Get("conditions.users")
	return predicate.And(
		predicate.Of(has(kinds, kind) || has(kinds, "all"), ""),
		predicate.Of(has(texts(p.Get("grantControls.builtInControls")), "block"), ""),
		predicate.Of(has(texts(users.Get("includeUsers")), "All") && len(texts(users.Get("excludeUsers"))) <= EmergencyAccounts &&
			!hasAny(users.Get("excludeGroups")) && !hasAny(users.Get("excludeRoles")) && !hasAny(users.Get("excludeGuestsOrExternalUsers")), ""),
		enabled(p), everyApp(p), everySignIn(p))
}

// strengths are the built-in authentication strengths: multifactor, passwordless
// multifactor and phishing-resistant multifactor.
var strengths = []string{"00000000-0000-0000-0000-000000000002", "00000000-0000-0000-0000-000000000003", "00000000-0000-0000-0000-000000000004"}

// grantsByMFA decides whether access is granted only after a second factor. With
// the operator OR, every alternative must require one.
func grantsByMFA(grant gjson.Result) predicate.Answer {
	var ways []predicate.Answer
	for _, control := range texts(grant.Get("builtInControls")) {
		switch strings.ToLower(control) {
		case "mfa":
			ways = append(ways, predicate.Of(true, ""))
		case "block":
			return predicate.Of(false, "") // a policy that blocks access requires no second factor
		case "compliantdevice", "domainjoineddevice", "approvedapplication", "compliantapplication", "passwordchange", "riskremediation":
			ways = append(ways, predicate.Of(false, ""))
		default:
			ways = append(ways, predicate.NotKnown(fmt.Sprintf("the grant control %q is not supported", control)))
		}
	}
	for range texts(grant.Get("[customAuthenticationFactors,termsOfUse]")) {
		ways = append(ways, predicate.Of(false, "")) // neither counts as a second factor
	}
	if strength := grant.Get("authenticationStrength"); hasAny(strength) {
		ways = append(ways, byStrength(strength))
	}
	if len(ways) == 0 {
		return predicate.Of(false, "")
	}
	if strings.EqualFold(grant.Get("operator").String(), "AND") || len(ways) == 1 {
		return predicate.Or(ways...) // the user must satisfy all controls, so one that requires a second factor is enough
	}
	return predicate.And(ways...) // the user may choose any control
}

// byStrength decides whether an authentication strength is multifactor.
func byStrength(strength gjson.Result) predicate.Answer {
	switch satisfied := strength.Get("requirementsSatisfied").String(); {
	case satisfied == "mfa" || satisfied == "" && has(strengths, strength.Get("id").String()):
		return predicate.Of(true, "")
	case satisfied == "none":
		return predicate.Of(false, "")
	}
	return predicate.NotKnown(fmt.Sprintf("the requirements of the authentication strength %s are unknown", strength.Get("id")))
}

// excludesOnlyCovered decides whether a policy for all users excludes nobody except
// emergency accounts and users whom another policy covers.
func excludesOnlyCovered(p gjson.Result, all []gjson.Result, members Members) predicate.Answer {
	users := p.Get("conditions.users")
	people := len(texts(users.Get("excludeUsers")))
	if has(texts(users.Get("excludeUsers")), "GuestsOrExternalUsers") {
		people-- // it is not a user; guestsOf returns it
	}
	var answers []predicate.Answer
	for _, group := range texts(users.Get("excludeGroups")) {
		covered := coveredByOtherPolicy(p, all, "Groups", group)
		if covered.Truth == predicate.Yes {
			continue
		}
		count, ok := 0, false
		if members != nil {
			count, ok = members(group)
		}
		if !ok {
			answers = append(answers, predicate.Or(covered, predicate.NotKnown(fmt.Sprintf(
				"policy %s excludes group %s, whose members could not be read (Directory.Read.All)", p.Get("displayName"), group))))
			continue
		}
		people += count
	}
	answers = append(answers, predicate.Of(people <= EmergencyAccounts, ""))
	for _, role := range texts(users.Get("excludeRoles")) {
		answers = append(answers, coveredByOtherPolicy(p, all, "Roles", role))
	}
	for _, excluded := range guestsOf(users, "exclude") {
		answers = append(answers, guestsCoveredByOtherPolicy(p, all, excluded))
	}
	return predicate.And(answers...)
}

// coveredByOtherPolicy decides whether another policy covers the group or role with the id. The
// parameter what is the kind of the principal: "Groups" or "Roles".
func coveredByOtherPolicy(p gjson.Result, all []gjson.Result, what, id string) predicate.Answer {
	return coveredByOther(p, all, func(users gjson.Result) bool { return has(texts(users.Get("include"+what)), id) })
}

// guests are the guests or external users of one type. With a tenant, they are only those of
// that external tenant.
type guests struct{ kind, tenant string }

// guestKinds are the types of guests and external users.
var guestKinds = []string{"internalGuest", "b2bCollaborationGuest", "b2bCollaborationMember", "b2bDirectConnectUser", "otherExternalUser", "serviceProvider"}

// futureValue is what Graph returns in place of a value that was added later, unless the client asks for such
// values. guestsOf also uses it for a type or tenant that Graph did not return.
const futureValue = "unknownFutureValue"

// guestsOf returns the guests that the users of a policy include or exclude, as side says. A policy names them by
// their types, or all of them by the old name GuestsOrExternalUsers.
func guestsOf(users gjson.Result, side string) (all []guests) {
	if has(texts(users.Get(side+"Users")), "GuestsOrExternalUsers") {
		for _, kind := range guestKinds {
			all = append(all, guests{kind: kind})
		}
	}
	named := users.Get(side + "GuestsOrExternalUsers")
	tenants := []string{futureValue} // unless the policy names them in a supported way
	switch external := named.Get("externalTenants"); {
	case !hasAny(external), external.Get("membershipKind").String() == "all":
		tenants = []string{""} // every tenant
	case external.Get("membershipKind").String() == "enumerated" && hasAny(external.Get("members")):
		tenants = texts(external.Get("members"))
	}
	kinds := named.Get("guestOrExternalUserTypes").String()
	if kinds == "" && hasAny(named) {
		kinds = futureValue
	}
	for kind := range strings.SplitSeq(kinds, ",") {
		kind = strings.TrimSpace(kind)
		if kind == "" || kind == "none" {
			continue
		}
		for _, tenant := range tenants {
			all = append(all, guests{kind, tenant})
		}
	}
	return all
}

// guestsCoveredByOtherPolicy decides whether another policy covers guests.
func guestsCoveredByOtherPolicy(p gjson.Result, all []gjson.Result, excluded guests) predicate.Answer {
	if excluded.kind == futureValue || excluded.tenant == futureValue {
		return predicate.NotKnown(fmt.Sprintf("policy %s excludes guests of a type that is not supported", p.Get("displayName")))
	}
	return coveredByOther(p, all, func(users gjson.Result) bool {
		return slices.ContainsFunc(guestsOf(users, "include"), func(included guests) bool {
			return included.kind == excluded.kind && (included.tenant == "" || included.tenant == excluded.tenant)
		})
	})
}

// coveredByOther decides whether a policy other than p requires a second factor at every sign-in of the users for
// whom includes is true, and excludes nobody.
func coveredByOther(p gjson.Result, all []gjson.Result, includes func(users gjson.Result) bool) predicate.Answer {
	answers := []predicate.Answer{predicate.Of(false, "")}
	for _, other := range all {
		users := other.Get("conditions.users")
		if other.Raw == p.Raw || !includes(users) {
			continue
		}
		noExclusions := !hasAny(users.Get("excludeUsers")) && !hasAny(users.Get("excludeGroups")) && !hasAny(users.Get("excludeRoles")) && !hasAny(users.Get("excludeGuestsOrExternalUsers"))
		answers = append(answers, predicate.And(predicate.Of(noExclusions, ""), asksForMFA(other, all)))
	}
	return predicate.Or(answers...)
}
