// Package storetest contains the tests that every store of the desktop server
// must pass. Each backend's own test file calls Run.
package storetest

import (
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/session"
	"vigil/internal/fault"
)

// Store is the combined interface of the desktop server's store.
type Store interface {
	desktop.AccountStore
	desktop.HistoryStore
	desktop.SampleStore
	session.Store
	heartbeat.Store
	alert.Store
}

// Run runs every test with its own empty store.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for name, test := range map[string]func(*testing.T, Store){
		"AccountsAreUniqueByNameInTheirDomain":     accountsAreUnique,
		"AccountsKeepTheirSealedPassword":          accountsKeepPasswords,
		"ChangesComeNewestFirstInPages":            changesInPages,
		"ChangesAreFiltered":                       changesFiltered,
		"TheNewestChangesAreNotForgotten":          changesForgotten,
		"ChangesAreSearched":                       changesSearched,
		"ChangesAreGroupedByCause":                 changesGrouped,
		"SamplesComeInOrder":                       samplesInOrder,
		"SamplesOfOneMomentAreMerged":              samplesMerged,
		"SessionsEndOnce":                          sessionsEndOnce,
		"FailuresCountWithinTheirWindow":           failuresCount,
		"ConcurrentFailuresAreAllCounted":          failuresExact,
		"LoginNetworksAreStored":                   loginNetworks,
		"KeysAreFoundByHash":                       keysByHash,
		"OnlyTheFirstCAIsStored":                   authorityIsKept,
		"ATokenIsRedeemedOnceByConcurrentCallers":  tokenIsRedeemedOnce,
		"HeartbeatsNeedIncreasingSequenceNumbers":  beatSequenceIncreases,
		"BeatsOfRevokedCertificatesAreRefused":     revokedCertificatesSendNoBeats,
		"RevokedCertificatesAreNotRenewed":         revokedCertificatesAreNotRenewed,
		"ConcurrentEqualHeartbeatsAreAcceptedOnce": beatIsAcceptedOnce,
		"RulesKeepTheirSecrets":                    rulesKeepSecrets,
		"RulesAreReplacedByVersion":                rulesByVersion,
		"AlertsAndTheirNoticesAreKeptTogether":     alertsWithNotices,
		"StaleTransitionsAreIgnored":               alertsStale,
		"NotesOfGroupsOfAlerts":                    notesOfGroups,
		"DeliveriesAreClaimedOnce":                 deliveriesClaimed,
		"DeliveriesOfAGroupKeepTheirOrder":         deliveriesOrdered,
		"RetriesDoNotOvertakeOtherDeliveries":      deliveriesFair,
		"OneReceiverDoesNotTakeTheWholeCapacity":   deliveriesShared,
		"DeliveriesFollowACorrectedChannel":        deliveriesRetargeted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// now is a time with the stored precision: in UTC, to the millisecond.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(offset time.Duration) time.Time { return now.Add(offset) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("error %v, want one of kind %d", err, kind)
	}
}

// concurrently calls f concurrently from n goroutines and returns the results.
func concurrently[T any](n int, f func(i int) T) []T {
	out := make([]T, n)
	begin, done := make(chan struct{}), make(chan int)
	for i := range n {
		go func() {
			<-begin
			out[i] = f(i)
			done <- i
		}()
	}
	close(begin)
	for range n {
		<-done
	}
	return out
}
