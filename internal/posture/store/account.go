package store

import (
	"context"
	"fmt"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

const accountColumns = `id, provider, name, csp_project_id, environment, owner, properties, tags,
	status, status_since, reason, stream, stream_since, stream_seen, rollup, rollup_since, last_run, etag, created, updated,
	every_hours, paused, regions`

func scanAccount(r sqldb.Row) (posture.Account, error) {
	var (
		a                                     posture.Account
		owner                                 *string
		properties, tags                      string
		regions                               string
		statusSince, streamSince, rollupSince int64
		created, updated                      int64
	)
	err := r.Scan(&a.ID, &a.Provider, &a.Name, &a.CSPProjectID, &a.Environment, &owner, &properties, &tags,
		&a.Status.Value, &statusSince, &a.Reason, &a.Stream.Value, &streamSince, &a.StreamSeen, &a.Rollup.Value, &rollupSince, &a.LastRun,
		&a.ETag, &created, &updated, &a.Collection.EveryHours, &a.Collection.Paused, &regions)
	if err != nil {
		return a, err
	}
	a.Status.Since, a.Stream.Since, a.Rollup.Since = sqldb.Time(statusSince), sqldb.Time(streamSince), sqldb.Time(rollupSince)
	a.Created, a.Updated = sqldb.Time(created), sqldb.Time(updated)
	if owner != nil {
		a.Owner = new(posture.Owner)
		if err := fromJSON(*owner, a.Owner); err != nil {
			return a, err
		}
	}
	if err := fromJSON(properties, &a.Properties); err != nil {
		return a, err
	}
	if regions != "[]" { // no regions are nil, not an empty list
		if err := fromJSON(regions, &a.Collection.Regions); err != nil {
			return a, err
		}
	}
	err = fromJSON(tags, &a.Tags)
	return a, err
}

// accountValues returns the parameters of the statements in AddAccount and SaveAccount,
// beginning with org.
func accountValues(org posture.OrgID, a posture.Account) []any {
	var owner *string
	if a.Owner != nil {
		text := toJSON(a.Owner)
		owner = &text
	}
	return []any{
		org, a.ID, a.Provider, a.Name, a.CSPProjectID, a.Environment, owner, toJSON(a.Properties), toJSON(a.Tags), a.Root(),
		a.Status.Value, sqldb.Millis(a.Status.Since), a.Reason, a.Stream.Value, sqldb.Millis(a.Stream.Since), a.StreamSeen,
		a.Rollup.Value, sqldb.Millis(a.Rollup.Since), a.LastRun, a.ETag, sqldb.Millis(a.Created), sqldb.Millis(a.Updated),
		a.Collection.EveryHours, a.Collection.Paused, regionsColumn(a.Collection.Regions),
	}
}

// regionsColumn returns the column value of a list of regions, [] for none.
func regionsColumn(regions []string) string {
	if len(regions) == 0 {
		return "[]"
	}
	return toJSON(regions)
}

// Account implements [posture.OnboardingStore].
func (s *Store) Account(ctx context.Context, org posture.OrgID, id posture.AccountID) (a posture.Account, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		a, err = account(tx, org, id)
		return err
	})
	return a, err
}

func account(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) (posture.Account, error) {
	a, err := sqldb.QueryOne(tx, scanAccount, `
		SELECT `+accountColumns+`
		FROM account
		WHERE org = $1 AND id = $2`, org, id)
	return a, notFoundIfMissing(err, "cloud account %q was not found", id)
}

// Accounts implements [posture.OnboardingStore].
func (s *Store) Accounts(ctx context.Context, org posture.OrgID, f posture.AccountFilter, p posture.Page) (page []posture.Account, total int, err error) {
	where, args := accountWhere(s.db.Dialect(), org, f)
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		if len(f.Tags) > 0 { // SQL that works on both databases cannot query tags, which are JSON: filter them here
			page, total, err = s.taggedAccounts(tx, where, args, f, p)
			return err
		}
		total, err = sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM account WHERE `+where, args...)
		if err != nil {
			return err
		}
		text := pageOf(`SELECT `+accountColumns+` FROM account WHERE `+where, "id", &args, p)
		page, err = sqldb.Query(tx, scanAccount, text, args...)
		return err
	})
	return page, total, err
}

func (s *Store) taggedAccounts(tx *sqldb.Tx, where string, args []any, f posture.AccountFilter, p posture.Page) (page []posture.Account, total int, err error) {
	page = []posture.Account{}
	for a, err := range sqldb.Each(tx, scanAccount, `SELECT `+accountColumns+` FROM account WHERE `+where+` ORDER BY id`, args...) {
		if err != nil {
			return nil, 0, err
		}
		if !f.Matches(a) {
			continue
		}
		total++
		if string(a.ID) > p.After && (p.Size == 0 || len(page) < p.Size) {
			page = append(page, a)
		}
	}
	return page, total, nil
}

// accountWhere returns the SQL condition for the members of a filter that the database
// can evaluate.
func accountWhere(d sqldb.Dialect, org posture.OrgID, f posture.AccountFilter) (string, []any) {
	args := []any{org}
	terms := []string{"org = $1"}
	for _, in := range []struct {
		column string
		values []string
	}{
		{"provider", sqldb.Strings(f.Providers)},
		{"status", sqldb.Strings(f.Statuses)},
		{"rollup", sqldb.Strings(f.Rollups)},
		{"stream", sqldb.Strings(f.Streams)},
		{"lower(id)", sqldb.Lower(f.IDs)},
		{"lower(coalesce(environment, ''))", sqldb.Lower(f.Environments)},
	} {
		if len(in.values) > 0 {
			terms = append(terms, in.column+" IN "+d.TextList(&args, in.values))
		}
	}
	return strings.Join(terms, " AND "), args
}

// pageOf appends to a query the clauses that select one page in the order of key, and
// appends their parameters to args. The query must end in a WHERE condition.
func pageOf(text, key string, args *[]any, p posture.Page) string {
	if p.After != "" {
		*args = append(*args, p.After)
		text += fmt.Sprintf(" AND %s > $%d", key, len(*args))
	}
	text += " ORDER BY " + key
	if p.Size > 0 {
		*args = append(*args, p.Size)
		text += fmt.Sprintf(" LIMIT $%d", len(*args))
	}
	return text
}

// Account implements [posture.OnboardingTx].
func (t *onboardTx) Account(id posture.AccountID) (posture.Account, error) {
	return account(t.tx, t.org, id)
}

// Members implements [posture.OnboardingTx].
func (t *onboardTx) Members(root posture.AccountID) (int, error) {
	return sqldb.QueryOne(t.tx, sqldb.Scalar[int], `SELECT count(*) FROM account WHERE org = $1 AND root = $2`, t.org, root)
}

// CountAccounts implements [posture.OnboardingTx].
func (t *onboardTx) CountAccounts() (int, error) {
	return sqldb.QueryOne(t.tx, sqldb.Scalar[int], `SELECT count(*) FROM account WHERE org = $1`, t.org)
}

// AddAccount implements [posture.OnboardingTx].
func (t *onboardTx) AddAccount(a posture.Account) error {
	n, err := t.tx.Exec(`
		INSERT INTO account (org, id, provider, name, csp_project_id, environment, owner, properties, tags, root,
			status, status_since, reason, stream, stream_since, stream_seen, rollup, rollup_since, last_run, etag, created, updated,
			every_hours, paused, regions)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)
		ON CONFLICT DO NOTHING`, accountValues(t.org, a)...)
	if err == nil && n == 0 {
		return fault.New(fault.Conflict, "cloud account %q exists already", a.ID)
	}
	return err
}

// SaveAccount implements [posture.OnboardingTx].
func (t *onboardTx) SaveAccount(a posture.Account) error {
	n, err := t.tx.Exec(`
		UPDATE account
		SET provider = $3, name = $4, csp_project_id = $5, environment = $6, owner = $7, properties = $8, tags = $9, root = $10,
			status = $11, status_since = $12, reason = $13, stream = $14, stream_since = $15, stream_seen = $16,
			rollup = $17, rollup_since = $18, last_run = $19, etag = $20, created = $21, updated = $22,
			every_hours = $23, paused = $24, regions = $25
		WHERE org = $1 AND id = $2`, accountValues(t.org, a)...)
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "cloud account %q was not found", a.ID)
	}
	return err
}
