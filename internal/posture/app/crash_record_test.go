package app_test

import (
	"vigil/internal/audit"
	"vigil/internal/instance"
	"vigil/internal/sqldb"
)

// An attempt is a request that changes accounts, whether or not it got a response.
type attempt struct {
	request string
	ids     []string // of the accounts to add
	name    string   // new name of an account
	acked   bool
}

// checkRecords compares the audit log with the accounts: every change must have a
// record, and every record of a success must have its change, whenever the server crashed.
func (r *recorder) checkRecords(in *instance.Installation) {
	r.t.Helper()
	recorded, removed := r.successes(in)
	existing, accountNames := map[string]bool{}, map[string]bool{}
	err := in.DB.Read(r.t.Context(), func(tx *sqldb.Tx) error {
		ids, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT id FROM account`)
		if err != nil {
			return err
		}
		for _, id := range ids {
			existing[id] = true
		}
		names, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT name FROM account`)
		for _, name := range names {
			accountNames[name] = true
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	changes := 0
	for _, a := range r.attempts {
		if a.acked && !recorded[a.request] {
			r.t.Errorf("%s was acknowledged and has no audit record", a.request)
		}
		if a.name != "" && accountNames[a.name] {
			changes++
			if !recorded[a.request] {
				r.t.Errorf("%s: account %q was renamed without an audit record", a.request, a.name)
			}
		}
		for _, id := range a.ids {
			changed := existing[id] || removed[id]
			if changed {
				changes++
			}
			if changed != recorded[a.request] {
				r.t.Errorf("%s: account %s was added: %t; it has an audit record: %t", a.request, id, changed, recorded[a.request])
			}
		}
	}
	if changes == 0 {
		r.t.Error("no change was compared with its record")
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
