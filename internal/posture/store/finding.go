package store

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// findingColumns are the columns that scanFinding reads. put_aside is the suppression
// as JSON. Other columns of the table: n is the primary key, aside_till the end of the
// suppression, and mute_rule the mute rule that set it.
const findingColumns = `id, rule, account, provider, object, type, xid, name, service, region, level, risk, parts, status, tags,
	put_aside, parameters, created, updated, resolved`

func scanFinding(row sqldb.Row) (posture.Finding, error) {
	var f posture.Finding
	err := scanFindingInto(row, &f)
	return f, err
}

// scanStored reads the columns findingColumns and n.
func scanStored(row sqldb.Row) (k storedFinding, err error) {
	err = scanFindingInto(row, &k.finding, &k.n)
	return k, err
}

// scanStoredWithDigest reads the columns findingColumns, n and digest.
func scanStoredWithDigest(row sqldb.Row) (k storedFinding, err error) {
	err = scanFindingInto(row, &k.finding, &k.n, &k.digest)
	return k, err
}

// scanFindingInto scans the columns of a finding, and further columns into extra.
func scanFindingInto(row sqldb.Row, f *posture.Finding, extra ...any) error {
	var (
		parts                         string
		tags, suppression, parameters *string
		created, updated, resolved    int64
	)
	err := row.Scan(append([]any{&f.ID, &f.Rule, &f.Account, &f.Provider, &f.Object, &f.Type, &f.XID, &f.Name, &f.Service, &f.Region, &f.Level,
		&f.Risk.Score, &parts, &f.Status, &tags, &suppression, &parameters, &created, &updated, &resolved}, extra...)...)
	if err != nil {
		return err
	}
	f.Created, f.Updated = sqldb.Time(created), sqldb.Time(updated)
	if resolved != 0 {
		f.Resolved = sqldb.Time(resolved)
	}
	if err := fromJSON(parts, &f.Risk.Parts); err != nil {
		return err
	}
	if tags != nil {
		if err := fromJSON(*tags, &f.Tags); err != nil {
			return err
		}
	}
	if parameters != nil {
		if err := fromJSON(*parameters, &f.Parameters); err != nil {
			return err
		}
	}
	if suppression != nil {
		f.Suppression = new(posture.Suppression)
		return fromJSON(*suppression, f.Suppression)
	}
	return nil
}

// findingDigest returns a hash of the members of a finding. Observe updates a finding
// only if the hash differs.
func findingDigest(f posture.Finding) int64 {
	h := fnv.New64a()
	parts := []string{string(f.Type), f.XID, f.Name, f.Service, f.Region, string(f.Level), toJSON(f.Risk), toJSON(f.Tags)}
	if f.Parameters != nil {
		parts = append(parts, toJSON(f.Parameters))
	}
	for _, part := range parts {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		_, _ = h.Write([]byte(part))
	}
	return int64(h.Sum64())
}

// searchText returns the text in which substrings of a finding are searched. It omits
// members that are contained in others.
func searchText(f posture.Finding) string {
	all := ""
	for _, part := range []string{
		f.XID, string(f.Object), string(f.Rule), string(f.ID), f.Name, f.Service, f.Region, string(f.Account), string(f.Level),
	} {
		part = strings.ToLower(part)
		if !strings.Contains(all, part) {
			all += part + "\n"
		}
	}
	return all
}

// Finding implements [posture.FindingStore].
func (s *Store) Finding(ctx context.Context, org posture.OrgID, id posture.FindingID) (f posture.Finding, blob string, err error) {
	var packed []byte
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		f, err = sqldb.QueryOne(tx, func(row sqldb.Row) (f posture.Finding, err error) {
			err = scanFindingInto(row, &f, &packed)
			return f, err
		}, `
			SELECT `+findingColumns+`, b.blob
			FROM finding
			JOIN finding_blob b USING (n)
			WHERE org = $1 AND id = $2`, org, id)
		if sqldb.Missing(err) {
			return posture.FindingNotFound(id)
		}
		return err
	})
	if err != nil {
		return f, "", err
	}
	text, err := unpack(packed)
	return f, text, err
}

// Blobs are written once, read rarely, and repetitive, so they are compressed.
var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
)

func pack(text string) []byte { return packer.EncodeAll([]byte(text), nil) }

func unpack(data []byte) (string, error) {
	text, err := unpacker.DecodeAll(data, nil)
	return string(text), err
}

// Suppress implements [posture.FindingStore].
func (s *Store) Suppress(ctx context.Context, org posture.OrgID, id posture.FindingID, sup *posture.Suppression, by string, now time.Time) (f posture.Finding, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		var n int64
		f, err = sqldb.QueryOne(tx, func(row sqldb.Row) (f posture.Finding, err error) {
			err = scanFindingInto(row, &f, &n)
			return f, err
		}, `SELECT `+findingColumns+`, n FROM finding WHERE org = $1 AND id = $2`+tx.ForUpdate(), org, id)
		if sqldb.Missing(err) {
			return posture.FindingNotFound(id)
		}
		if err != nil {
			return err
		}
		if sup == nil && f.Suppression == nil {
			return nil
		}
		what := "released"
		var (
			suppression *string
			until       int64
		)
		if sup != nil {
			text := toJSON(sup)
			suppression, until, what = &text, suppressedUntil(*sup), "suppressed"
		}
		f.Suppression, f.Updated = sup, now
		_, err = tx.Exec(`UPDATE finding SET put_aside = $2, aside_till = $3, mute_rule = '', updated = $4 WHERE n = $1`, n, suppression, until, sqldb.Millis(now))
		if err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO finding_event (org, n, at, what, who) VALUES ($1, $2, $3, $4, $5)`, org, n, sqldb.Millis(now), what, by)
		return err
	})
	return f, err
}

// forever is the stored end of a suppression that does not end.
const forever = int64(1) << 60

// suppressedUntil returns the value of the column aside_till for a suppression.
func suppressedUntil(s posture.Suppression) int64 {
	if s.Until.IsZero() {
		return forever
	}
	return sqldb.Millis(s.Until)
}

// FindingHistory implements [posture.FindingStore].
func (s *Store) FindingHistory(ctx context.Context, org posture.OrgID, id posture.FindingID) (all []posture.FindingEvent, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		n, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT n FROM finding WHERE org = $1 AND id = $2`, org, id)
		if sqldb.Missing(err) {
			return posture.FindingNotFound(id)
		}
		if err != nil {
			return err
		}
		all, err = sqldb.Query(tx, func(row sqldb.Row) (e posture.FindingEvent, err error) {
			var at int64
			err = row.Scan(&at, &e.What, &e.By, &e.Reason)
			e.At = sqldb.Time(at)
			return e, err
		}, `SELECT at, what, who, reason FROM finding_event WHERE n = $1 ORDER BY at DESC, what DESC`, n) // "raised" is the oldest of events at the same time
		return err
	})
	return all, err
}

// Verdicts implements [posture.FindingStore].
func (s *Store) Verdicts(ctx context.Context, org posture.OrgID, rules []posture.RuleID, accounts []posture.AccountID) (all []posture.RuleVerdict, err error) {
	args, where := []any{org}, "org = $1"
	if len(rules) > 0 {
		where += " AND rule IN " + sqldb.List(&args, sqldb.Strings(rules))
	}
	if len(accounts) > 0 {
		where += " AND account IN " + sqldb.List(&args, sqldb.Strings(accounts))
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, func(row sqldb.Row) (v posture.RuleVerdict, err error) {
			err = row.Scan(&v.Rule, &v.Account, &v.Violating, &v.Passing, &v.Unknown, &v.NotApplicable)
			return v, err
		}, `SELECT rule, account, violating, passing, unknown, not_applicable FROM rule_verdict WHERE `+where+` ORDER BY rule, account`, args...)
		return err
	})
	return all, err
}

// Posture implements [posture.FindingStore].
func (s *Store) Posture(ctx context.Context, org posture.OrgID, rules []posture.RuleID) (counts map[posture.RuleID]posture.ControlPosture, err error) {
	counts = map[posture.RuleID]posture.ControlPosture{}
	args := []any{org}
	list := sqldb.List(&args, sqldb.Strings(rules))
	type row struct {
		rule posture.RuleID
		posture.ControlPosture
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		for r, err := range sqldb.Each(tx, func(in sqldb.Row) (r row, err error) {
			err = in.Scan(&r.rule, &r.Violating, &r.Passing, &r.Unknown, &r.NotApplicable)
			return r, err
		}, `
			SELECT rule, CAST(sum(violating) AS BIGINT), CAST(sum(passing) AS BIGINT), CAST(sum(unknown) AS BIGINT), CAST(sum(not_applicable) AS BIGINT)
			FROM rule_verdict
			WHERE org = $1 AND rule IN `+list+`
			GROUP BY rule`, args...) {
			if err != nil {
				return err
			}
			counts[r.rule] = r.ControlPosture
		}
		return nil
	})
	return counts, err
}
