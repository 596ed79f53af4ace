package app_test

import (
	"github.com/google/go-cmp/cmp"

	"vigil/internal/audit"
	"vigil/internal/instance"
	"vigil/internal/sqldb"
)

// An attempt is a request that changes accounts, whether or not it got a response.
type attempt struct {
	request string
	ids     []string // of the accounts to add
	renamed string   // id of the account that gets a new name
	name    string   // the new name
	acked   bool
}

// checkRecords compares the audit log with the accounts: every change must have a
// record, and every record of a success must have its change, whenever the server crashed.
func (r *recorder) checkRecords(in *instance.Installation) {
	r.t.Helper()
	recorded, removed := r.successes(in)
	existing := map[string]string{} // name by id
	err := in.DB.Read(r.t.Context(), func(tx *sqldb.Tx) error {
		_, err := sqldb.Query(tx, func(row sqldb.Row) (id string, err error) {
			var name string
			err = row.Scan(&id, &name)
			existing[id] = name
			return id, err
		}, `SELECT id, name FROM account`)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	want := map[string]string{} // names of the accounts according to the audit log
	// The changes of one account were made in the order of the attempts: no two requests change it at the same time.
	for _, a := range r.attempts {
		if a.acked && !recorded[a.request] {
			r.t.Errorf("%s was acknowledged and has no audit record", a.request)
		}
		if !recorded[a.request] {
			continue
		}
		for _, id := range a.ids {
			want[id] = "account " + id
		}
		if a.renamed != "" {
			want[a.renamed] = a.name
		}
	}
	for id := range removed {
		if want[id] == "" {
			r.t.Errorf("the audit log has the removal of account %s, but not its addition", id)
		}
		delete(want, id)
	}
	if len(want) == 0 {
		r.t.Error("the audit log has no account")
	}
	if diff := cmp.Diff(want, existing); diff != "" {
		r.t.Errorf("names of accounts (-audit log +stored):\n%.4000s", diff)
	}
}

// successes returns the requests that the audit log records as successful, and the accounts
// that they removed.
func (r *recorder) successes(in *instance.Installation) (recorded, removed map[string]bool) {
	r.t.Helper()
	recorded, removed = map[string]bool{}, map[string]bool{}
	for before := int64(0); ; {
		page, err := in.Audit.Page(r.t.Context(), audit.Filter{Org: string(r.org), Outcome: audit.Success, Before: before, Limit: 1000})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, rec := range page {
			if recorded[rec.Request] {
				r.t.Errorf("request %s has two records of success", rec.Request)
			}
			recorded[rec.Request] = true
			if rec.Operation == "deleteCloudAccount" {
				removed[rec.Targets["cloud_account_id"]] = true
			}
		}
		if len(page) < 1000 {
			return recorded, removed
		}
		before = page[len(page)-1].Number
	}
}
