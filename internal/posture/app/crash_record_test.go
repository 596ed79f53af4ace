package app_test

import (
	"vigil/internal/audit"
	"vigil/internal/instance"
	"vigil/internal/sqldb"
)

// An attempt is a request to change accounts, whether it was answered or not.
type attempt struct {
	request string
	ids     []string // of the accounts that it adds
	name    string   // that it gives to an account
	acked   bool
}

// checkRecords holds the audit log against the accounts: no change without its
// record, and no record of a success without its change, whenever the server
// died.
func (r *recorder) checkRecords(in *instance.Installation) {
	r.t.Helper()
	recorded, removed := r.successes(in)
	there, named := map[string]bool{}, map[string]bool{}
	err := in.DB.Read(r.t.Context(), func(tx *sqldb.Tx) error {
		ids, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT id FROM account`)
		if err != nil {
			return err
		}
		for _, id := range ids {
			there[id] = true
		}
		names, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT name FROM account`)
		for _, name := range names {
			named[name] = true
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	changes := 0
	for _, a := range r.attempts {
		if a.acked && !recorded[a.request] {
			r.t.Errorf("%s was acknowledged and is not on record", a.request)
		}
		if a.name != "" && named[a.name] {
			changes++
			if !recorded[a.request] {
				r.t.Errorf("%s: there is an account %q and no record of the renaming", a.request, a.name)
			}
		}
		for _, id := range a.ids {
			changed := there[id] || removed[id]
			if changed {
				changes++
			}
			if changed != recorded[a.request] {
				r.t.Errorf("%s: account %s was added: %t; there is a record of it: %t", a.request, id, changed, recorded[a.request])
			}
		}
	}
	if changes == 0 {
		r.t.Error("no change was compared with its record")
	}
}

// successes returns the requests that are on record as successful, and the
// accounts that some of them removed.
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
