package app_test

import (
	"fmt"
	"testing"
	"time"

	"vigil/internal/sqldb/dbtest"
)

// TestCollectionsSurviveCrashesOfPostgreSQL crashes the database server while two
// processes collect accounts. Every run must complete.
func TestCollectionsSurviveCrashesOfPostgreSQL(t *testing.T) {
	t.Parallel()
	// The variable also sets the stops of TestCrashesOfPostgreSQLLoseNothing. This test makes at most 10, because each takes longer.
	stops := min(crashes(t, "VIGIL_STOPS_POSTGRES", 0, 10), 10)
	if stops == 0 {
		t.Skip("needs its own database server: see make crash")
	}
	db := dbtest.NewServer(t)
	s := newEventLoad(t, time.Now().UTC().Truncate(time.Second), 6, 600) // 6 accounts of about 100 resources
	s.install(db.URL)
	c, _ := s.start()
	other, _ := s.start()
	for n := range stops {
		runs := map[string]string{} // by account
		for i, a := range s.accounts {
			from := []*client{c, other}[i%2]
			runs[a.ID] = from.want(202, "POST", "/v1/cloud-accounts/"+a.ID+"/collections", object{}).member("collectionId")
		}
		db.Crash()
		db.Start()
		for _, a := range s.accounts {
			s.wantCompleted(c, a.ID, runs[a.ID], n)
		}
	}
}

// wantCompleted waits until a run ends and fails the test unless it completed.
func (s *eventLoad) wantCompleted(c *client, account, run string, stop int) {
	s.t.Helper()
	last := ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		const path = "/v1/cloud-accounts/collection-status/query"
		body := object{"filters": object{"cloudAccountId": account}}
		if status, _, err := c.send("POST", path, body); err != nil || status != 200 {
			last = fmt.Sprintf("answer %d, %v", status, err)
			continue // the database is not available yet
		}
		answer := c.want(200, "POST", path, body).body
		newest, _ := answer["results"].([]any)[0].(object)
		last = fmt.Sprint(newest["status"])
		if last != "Started" {
			if last != "Completed" || newest["collectionId"] != run {
				s.t.Errorf("stop %d: the newest run of %s is %v, want that %s completed", stop, account, newest, run)
			}
			return
		}
	}
	s.t.Errorf("stop %d: the run %s of %s has not ended: %s", stop, run, account, last)
}
