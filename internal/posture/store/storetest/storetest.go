// Package storetest is the conformance test suite for the stores of package posture.
// The tests of each backend call Run, RunEntities and RunStreams.
package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
)

// Store has the interfaces of all stores.
type Store interface {
	posture.OnboardingStore
	posture.RunStore
	posture.PlanStore
	posture.RuleStore
	posture.FrameworkStore
	posture.AssessmentStore
	posture.FindingStore
	posture.ViewStore
	posture.MuteStore
	notify.Store
	notify.Outbox
}

// A Fixture is an empty store under test. Enqueued returns the jobs that the store enqueued, each
// as a text: the id of the account for a validation, the id of the run for a collection, and
// "remove " with the id of the account for a removal.
type Fixture struct {
	Store    Store
	Enqueued func() []string
}

// Run runs all tests, each on a new store that open returns.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*testing.T, Fixture){
		"AccountRoundTrips":                 accountRoundTrips,
		"AccountOfAnotherOrgDoesNotExist":   accountOfAnotherOrgDoesNotExist,
		"SecondAccountConflicts":            secondAccountConflicts,
		"FailedTransactionLeavesNothing":    failedTransactionLeavesNothing,
		"FiltersAndTotals":                  filtersAndTotals,
		"PagesCoverAllOnce":                 pagesCoverAllOnce,
		"SecretsAreOnlyInAccess":            secretsAreOnlyInAccess,
		"SecretsAreReplaced":                secretsAreReplaced,
		"ExternalIDsHaveOneOwner":           externalIDsHaveOneOwner,
		"LinksGoWithAccountOrCredential":    linksGoWithAccountOrCredential,
		"NewestLinkGivesAccess":             newestLinkGivesAccess,
		"MembersAreCounted":                 membersAreCounted,
		"ValidationCommitsWithItsChange":    validationCommitsWithItsChange,
		"ConcurrentWritersSeeEachOther":     concurrentWritersSeeEachOther,
		"UnicodeTextRoundTrips":             unicodeTextRoundTrips,
		"RunRoundTrips":                     runRoundTrips,
		"OneRunAtATime":                     oneRunAtATime,
		"RunEndsOnce":                       runEndsOnce,
		"RunsArePagedNewestFirst":           runsArePagedNewestFirst,
		"ExpiredRunsAreFound":               expiredRunsAreFound,
		"StopRequestIsReturned":             stopRequestIsReturned,
		"DueAccountsAreSorted":              dueAccountsAreSorted,
		"PlansSetTheNextRun":                plansSetTheNextRun,
		"UnreadRegionsAreTheReason":         unreadRegionsAreTheReason,
		"OldRunsAreDeleted":                 oldRunsAreDeleted,
		"FindingRoundTrips":                 findingRoundTrips,
		"FindingIsResolvedAndReopened":      findingIsResolvedAndReopened,
		"UnknownResultsDoNotResolve":        unknownResultsDoNotResolve,
		"OlderJudgementsAreStale":           olderJudgementsAreStale,
		"JudgementsByOldRulesAreStale":      judgementsByOldRulesAreStale,
		"RemovedAccountResolvesItsFindings": removedAccountResolvesItsFindings,
		"FindingFilters":                    findingFilters,
		"EverySubstringIsFound":             everySubstringIsFound,
		"FindingsArePagedInAnyOrder":        findingsArePagedInAnyOrder,
		"FindingsAreAggregated":             findingsAreAggregated,
		"CountsAgreeWithARecount":           countsAgreeWithARecount,
		"Trends":                            trendsFollowWhatHappened,
		"ViewsAreOwnOrShared":               viewsAreOwnOrShared,
		"TrendsAreGrouped":                  trendsAreGrouped,
		"ManyAreSuppressedAtOnce":           manyAreSuppressedAtOnce,
		"MuteRulesSuppress":                 muteRulesSuppress,
		"MutedFindingsAreReleased":          mutedFindingsAreReleased,
		"MutesFollowTags":                   mutesFollowTags,
		"LongestMuteRuleSuppresses":         longestMuteRuleSuppresses,
		"RepeatedMuteRuleKeepsSuppressions": repeatedMuteRuleKeepsSuppressions,
		"ChannelsKeepTheirSecrets":          channelsKeepTheirSecrets,
		"FindingEventsBecomeMessages":       findingEventsBecomeMessages,
		"DeliveriesAreRetriedAndExpire":     deliveriesAreRetriedAndExpire,
		"DeliveriesOfChannels":              deliveriesOfChannels,
		"PostureCountsVerdicts":             postureCountsVerdicts,
		"RulesKeepTheirVersions":            rulesKeepTheirVersions,
		"FrameworkRoundTrips":               frameworkRoundTrips,
		"AssessmentRoundTrips":              assessmentRoundTrips,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

const org, other = posture.OrgID("org-1"), posture.OrgID("org-2")

var begin = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// newAccount returns an AWS account with every member set except the settings of its
// collection.
func newAccount(id posture.AccountID, change ...func(*posture.Account)) posture.Account {
	env := "production"
	a := posture.Account{
		ID: id, Name: "account " + string(id), CSPProjectID: "default", Provider: posture.AWS, Environment: &env,
		Owner:      &posture.Owner{Name: "Ada", Email: "ada@example.com"},
		Status:     posture.Stamped[posture.AccountStatus]{Value: posture.AccountDraft, Since: begin},
		Stream:     posture.Stamped[posture.StreamStatus]{Value: posture.StreamDisconnected, Since: begin.Add(time.Second)},
		Rollup:     posture.Stamped[posture.RollupStatus]{Value: posture.RollupDraft, Since: begin.Add(2 * time.Second)},
		Properties: []posture.Property{posture.Text("AccountID", string(id)), posture.Flag("IsRoot", true), posture.Number("n", -7)},
		Tags:       map[string]string{"team": "blue"}, ETag: "v1", Created: begin, Updated: begin.Add(time.Minute),
		Reason: "because", LastRun: posture.RunCompleted, StreamSeen: true,
	}
	for _, f := range change {
		f(&a)
	}
	return a
}

func newCredential(id posture.CredentialID) posture.Credential {
	return posture.Credential{
		ID: id, Provider: posture.AWS, Properties: []posture.Property{posture.Text("RoleArn", "arn")},
		ETag: "v1", Created: begin, Updated: begin,
	}
}

func newLink(a posture.AccountID, c posture.CredentialID, created time.Time) posture.Link {
	return posture.Link{Account: a, Credential: c, Provider: posture.AWS, ETag: "v1", Created: created, Updated: created}
}

// change runs f in a transaction, which must succeed.
func change(t *testing.T, s posture.OnboardingStore, f func(tx posture.OnboardingTx) error) {
	t.Helper()
	if err := s.Onboard(t.Context(), org, f); err != nil {
		t.Fatal(err)
	}
}

// all returns the first error.
func all(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func wantKind(t *testing.T, what string, err error, k fault.Kind) {
	t.Helper()
	if !fault.Is(err, k) {
		t.Errorf("%s: %v, of fault kind %d, want %d", what, err, fault.KindOf(err), k)
	}
}

func wantSame(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
