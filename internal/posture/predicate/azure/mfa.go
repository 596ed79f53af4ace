package azure

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
)

// EmergencyAccounts is how many users a policy may leave out and still count as
// being for everybody: Microsoft tells to leave out two emergency access accounts.
// https://learn.microsoft.com/entra/identity/role-based-access-control/security-emergency-access
const EmergencyAccounts = 2

// Members says how many people are in a group of the directory, transitively.
// Known is false when that could not be read.
type Members func(group string) (count int, known bool)

// MFAForAll answers whether the conditional access policies of a tenant, as
// Microsoft Graph lists them, ask everybody for multifactor authentication whatever
// they sign in to. members may be nil when nothing is known of groups.
func MFAForAll(policies gjson.Result, members Members) predicate.Answer {
	all := policies.Array()
	answers := []predicate.Answer{predicate.Of(false, "")}
	for _, p := range all {
		answers = append(answers, mfaForAll(p, all, members))
	}
	return predicate.Or(answers...)
}

// EnforcesMFA answers the same of one policy alone.
func EnforcesMFA(policy gjson.Result, members Members) predicate.Answer {
	return mfaForAll(policy, []gjson.Result{policy}, members)
}

// mfaForAll answers whether a policy asks everybody, where what it leaves out is
// asked for by others.
func mfaForAll(p gjson.Result, all []gjson.Result, members Members) predicate.Answer {
	return predicate.And(
		predicate.Of(has(texts(p.Get("conditions.users.includeUsers")), "All"), "policy "+p.Get("displayName").String()+" is for all users"),
		asksForMFA(p, all),
		leavesOut(p, all, members),
	)
}

// asksForMFA answers whether those whom a policy is for are asked for a second
// factor whenever they sign in.
func asksForMFA(p gjson.Result, all []gjson.Result) predicate.Answer {
	return predicate.And(enabled(p), everyApp(p), everySignIn(p), everyClient(p, all), grantsByMFA(p.Get("grantControls")))
}

// enabled answers whether a policy is in force. Report-only policies are not.
func enabled(p gjson.Result) predicate.Answer {
	switch state := p.Get("state").String(); state {
	case "enabled":
		return predicate.Of(true, "")
	case "disabled", "enabledForReportingButNotEnforced":
		return predicate.Of(false, "")
	default:
		return predicate.NotKnown(fmt.Sprintf("the state %q of policy %s is not known", state, p.Get("displayName")))
	}
}

// everyApp answers whether a policy is about all cloud apps.
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

// understood are the conditions that are looked at, by their first member.
var understood = func() map[string]bool {
	all := map[string]bool{"users": true, "applications": true, "clientAppTypes": true}
	for _, path := range narrowing {
		top, _, _ := strings.Cut(path, ".")
		all[top] = true
	}
	return all
}()

// everySignIn answers whether a policy has no condition that limits it to some
// sign-ins: risky ones, some devices, platforms or places.
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
	strange := ""
	conditions.ForEach(func(name, value gjson.Result) bool {
		if !understood[name.String()] && hasAny(value) {
			strange = name.String()
		}
		return strange == ""
	})
	if strange != "" {
		return predicate.NotKnown(fmt.Sprintf("the condition %s of policy %s is not known", strange, p.Get("displayName")))
	}
	return predicate.Of(true, "")
}

// modern and legacy are the kinds of clients. Legacy ones cannot do a second
// factor: what they are not refused by is open to a password.
var (
	modern = []string{"browser", "mobileAppsAndDesktopClients"}
	legacy = []string{"exchangeActiveSync", "other"}
)

// everyClient answers whether a policy is about every kind of client, where
// another policy may refuse the legacy ones.
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
		blocked := predicate.Of(has(kinds, kind), "")
		for _, other := range all {
			blocked = predicate.Or(blocked, blocks(other, kind))
		}
		if blocked.Truth != predicate.Yes {
			return blocked
		}
	}
	return predicate.Of(true, "")
}

// blocks answers whether a policy refuses a kind of client to everybody.
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

// grantsByMFA answers whether access is granted after a second factor only. With
// the operator OR, every way in has to be one.
func grantsByMFA(grant gjson.Result) predicate.Answer {
	var ways []predicate.Answer
	for _, control := range texts(grant.Get("builtInControls")) {
		switch strings.ToLower(control) {
		case "mfa":
			ways = append(ways, predicate.Of(true, ""))
		case "block":
			return predicate.Of(false, "") // nobody signs in by such a policy: it asks for nothing
		case "compliantdevice", "domainjoineddevice", "approvedapplication", "compliantapplication", "passwordchange", "riskremediation":
			ways = append(ways, predicate.Of(false, ""))
		default:
			ways = append(ways, predicate.NotKnown(fmt.Sprintf("the grant control %q is not known", control)))
		}
	}
	for range texts(grant.Get("[customAuthenticationFactors,termsOfUse]")) {
		ways = append(ways, predicate.Of(false, ""))
	}
	if strength := grant.Get("authenticationStrength"); hasAny(strength) {
		ways = append(ways, byStrength(strength))
	}
	if len(ways) == 0 {
		return predicate.Of(false, "")
	}
	if strings.EqualFold(grant.Get("operator").String(), "AND") || len(ways) == 1 {
		return predicate.Or(ways...)
	}
	return predicate.And(ways...)
}

// byStrength answers whether an authentication strength is multifactor.
func byStrength(strength gjson.Result) predicate.Answer {
	switch satisfied := strength.Get("requirementsSatisfied").String(); {
	case satisfied == "mfa" || satisfied == "" && has(strengths, strength.Get("id").String()):
		return predicate.Of(true, "")
	case satisfied == "none":
		return predicate.Of(false, "")
	}
	return predicate.NotKnown(fmt.Sprintf("what the authentication strength %s asks for is not known", strength.Get("id")))
}

// leavesOut answers whether a policy for all users leaves out nobody but emergency
// accounts, and those whom another policy asks.
func leavesOut(p gjson.Result, all []gjson.Result, members Members) predicate.Answer {
	users := p.Get("conditions.users")
	people := len(texts(users.Get("excludeUsers")))
	if has(texts(users.Get("excludeUsers")), "GuestsOrExternalUsers") {
		people--
	}
	var answers []predicate.Answer
	for _, group := range texts(users.Get("excludeGroups")) {
		covered := includedElsewhere(p, all, "Groups", group)
		if covered.Truth == predicate.Yes {
			continue
		}
		count, ok := 0, false
		if members != nil {
			count, ok = members(group)
		}
		if !ok {
			answers = append(answers, predicate.Or(covered, predicate.NotKnown(fmt.Sprintf(
				"policy %s leaves out group %s, whose members could not be read (Directory.Read.All)", p.Get("displayName"), group))))
			continue
		}
		people += count
	}
	answers = append(answers, predicate.Of(people <= EmergencyAccounts, ""))
	for _, role := range texts(users.Get("excludeRoles")) {
		answers = append(answers, includedElsewhere(p, all, "Roles", role))
	}
	if hasAny(users.Get("excludeGuestsOrExternalUsers")) || has(texts(users.Get("excludeUsers")), "GuestsOrExternalUsers") {
		answers = append(answers, guestsElsewhere(p, all))
	}
	return predicate.And(answers...)
}

// includedElsewhere answers whether another policy asks a group or role, and
// leaves out nobody.
func includedElsewhere(p gjson.Result, all []gjson.Result, what, id string) predicate.Answer {
	return elsewhere(p, all, func(users gjson.Result) bool { return has(texts(users.Get("include"+what)), id) })
}

// guestsElsewhere answers whether another policy asks guests.
func guestsElsewhere(p gjson.Result, all []gjson.Result) predicate.Answer {
	return elsewhere(p, all, func(users gjson.Result) bool {
		return hasAny(users.Get("includeGuestsOrExternalUsers")) || has(texts(users.Get("includeUsers")), "GuestsOrExternalUsers")
	})
}

func elsewhere(p gjson.Result, all []gjson.Result, includes func(users gjson.Result) bool) predicate.Answer {
	answers := []predicate.Answer{predicate.Of(false, "")}
	for _, other := range all {
		users := other.Get("conditions.users")
		if other.Raw == p.Raw || !includes(users) {
			continue
		}
		nobody := !hasAny(users.Get("excludeUsers")) && !hasAny(users.Get("excludeGroups")) && !hasAny(users.Get("excludeRoles")) && !hasAny(users.Get("excludeGuestsOrExternalUsers"))
		answers = append(answers, predicate.And(predicate.Of(nobody, ""), asksForMFA(other, all)))
	}
	return predicate.Or(answers...)
}
