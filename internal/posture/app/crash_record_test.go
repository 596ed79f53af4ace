package app_test

import (
	"vigil/internal/audit"
	"vigil/internal/install"
	"vigil/internal/sqldb"
)

// An attempt is a request to add accounts, whether it was answered or not.
type attempt struct {
	request string
	ids     []string
}

// checkRecords holds the audit log against the accounts: no change without its
// record, and no record of a success without its change, whenever the server
// died.
func (r *recorder) checkRecords(in *install.Installation) {
	r.t.Helper()
	recorded, removed := r.successes(in)
	there := map[string]bool{}
	err := in.DB.Read(r.t.Context(), func(tx *sqldb.Tx) error {
		ids, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT id FROM account`)
		for _, id := range ids {
			there[id] = true
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	changes := 0
	for _, a := range r.attempts {
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
func (r *recorder) successes(in *install.Installation) (recorded, removed map[string]bool) {
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
