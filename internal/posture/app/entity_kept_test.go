package app_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/posture/app"
	"vigil/internal/posture/entitygen"
	"vigil/internal/sim/memcloud"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// startAnother starts a second server with job workers and changed options on the database
// of an inventory. The first one keeps running, with its own configuration.
func (i *inventory) startAnother(edit func(*app.Options)) string {
	i.t.Helper()
	in := *i.install
	o := app.Options{
		Install: &in, Cloud: new(memcloud.Cloud), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Now: time.Now,
	}
	edit(&o)
	a, err := app.New(i.t.Context(), o)
	if err != nil {
		i.t.Fatal(err)
	}
	base, err := a.Listen(i.t.Context())
	if err != nil {
		i.t.Fatal(err)
	}
	background(i.test, a.Serve)
	return base
}

func TestChangeLogsOutliveTheirAccounts(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 2, 30)
		account, entity := entitygen.New(0, 0).ID, i.all[0]
		path := "/v1/providers/aws/cloud-accounts/" + string(account)
		i.want(200, "DELETE", path, nil, "If-Match", i.want(200, "GET", path, nil).header.Get("ETag"))
		i.want(404, "GET", entityPath(string(entity.ID)), nil)
		i.want(404, "POST", entities+"/graph-query", object{"gremlin": "g.V()", "partitionKey": account})
		remaining := 0
		for _, e := range i.all {
			if e.Account != account {
				remaining++
			}
		}
		if got := i.find(object{}, 1, "").body["totalCount"]; got != float64(remaining) {
			t.Errorf("%v entities are left, want %d", got, remaining)
		}
		if got := i.find(object{"cloudAccountIds": []string{string(account)}}, 1, "").body["totalCount"]; got != 0.0 {
			t.Errorf("%v entities of the account are left", got)
		}
		log := entityPath(string(entity.ID)) + "/changelog"
		if got := i.want(200, "GET", log, nil).body["changeLog"].([]any); len(got) != 2 {
			t.Errorf("the log is %v, want an addition and a removal", got)
		}
	})
}

// TestLargeAccountsAreRemovedByAJob removes an account with too many entities for one
// transaction while no process does jobs, and then starts one.
func TestLargeAccountsAreRemovedByAJob(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 1, 2300)
	path := "/v1/providers/aws/cloud-accounts/" + string(entitygen.New(0, 0).ID)
	i.want(200, "DELETE", path, nil, "If-Match", i.want(200, "GET", path, nil).header.Get("ETag"))
	i.want(404, "GET", path, nil)
	if got := i.find(object{}, 1, "").body["totalCount"]; got != 0.0 {
		t.Errorf("%v entities are found", got)
	}
	rows := func() (n int64) {
		err := i.install.DB.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
			n, err = sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT (SELECT count(*) FROM entity) + (SELECT count(*) FROM entity_removal)`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if rows() < 2000 {
		t.Errorf("%d rows are left: they were removed in one transaction", rows())
	}
	i.startAnother(func(*app.Options) {})
	for deadline := time.Now().Add(5 * time.Minute); rows() > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the rows are still there after five minutes")
		}
	}
}

func TestOldChangeLogsAreDeleted(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		i := newInventory(t, dsn, 1, 30)
		path := "/v1/providers/aws/cloud-accounts/" + string(entitygen.New(0, 0).ID)
		i.want(200, "DELETE", path, nil, "If-Match", i.want(200, "GET", path, nil).header.Get("ETag"))
		log := entityPath(string(i.all[0].ID)) + "/changelog"
		i.want(200, "GET", log, nil)
		i.startAnother(func(o *app.Options) { o.Install.Config.Posture.ChangesKept = time.Nanosecond })
		for deadline := time.Now().Add(5 * time.Minute); i.do("GET", log, nil).status != 404; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the log still exists after five minutes")
			}
		}
	})
}

func TestConfiguredLimitsOfGraphQueries(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 1, 30)
	account := entitygen.New(0, 0).ID
	i.base = i.startAnother(func(o *app.Options) { o.Install.Config.Posture.Graph.Results = 3 })
	for n, status := range map[int]int{3: 200, 4: 400} {
		i.want(status, "POST", entities+"/graph-query", object{"gremlin": fmt.Sprintf("g.V().limit(%d)", n), "partitionKey": account})
	}
}
