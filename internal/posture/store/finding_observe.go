package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// storedFinding holds the data that Observe needs of an existing finding.
type storedFinding struct {
	n       int64
	finding posture.Finding
	digest  int64
}

// Observe implements [posture.FindingStore].
func (s *Store) Observe(ctx context.Context, org posture.OrgID, j posture.Judgement) (serial int64, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := sameRules(tx, org, j.RulesAt); err != nil {
			return err
		}
		if serial, err = recordJudgement(tx, org, j); err != nil {
			return err
		}
		known, err := knownFindings(tx, org, j)
		if err != nil {
			return err
		}
		o := &observation{tx: tx, org: org, account: j.Account, at: j.At, known: known}
		if err := tx.LockShared(muteLock(org)); err != nil {
			return err
		}
		if o.mutes, err = mutesInForce(tx, org, j.At); err != nil {
			return err
		}
		if o.open, err = openFindings(tx, org, j); err != nil {
			return err
		}
		for _, r := range j.Rules {
			o.compareRule(j.Account, r)
		}
		return o.save()
	})
	return serial, err
}

// sameRules fails with fault.Stale if the organisation's rules have changed since a
// generation. It locks the generation until the end of the transaction, so that a
// rule that is deleted concurrently cannot leave open findings.
func sameRules(tx *sqldb.Tx, org posture.OrgID, generation int64) error {
	if generation == posture.AnyRules {
		return nil
	}
	current, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT generation FROM rule_generation WHERE org = $1`+tx.ForUpdate(), org)
	if err != nil && !sqldb.Missing(err) {
		return err
	}
	if current != generation {
		return fault.New(fault.Stale, "the rules have changed in the meantime")
	}
	return nil
}

// recordJudgement records a judgement as the last one of its account and returns its number. It
// fails with fault.Stale if a later generation was judged before, or if the judgement is
// incremental to one that is not the last. Its row lock serialises the judgements of an account.
func recordJudgement(tx *sqldb.Tx, org posture.OrgID, j posture.Judgement) (int64, error) {
	serial, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `
		INSERT INTO judged (org, account, generation, serial)
		VALUES ($1, $2, $3, 1)
		ON CONFLICT (org, account) DO UPDATE
		SET generation = excluded.generation, serial = judged.serial + 1
		WHERE judged.generation <= excluded.generation
		RETURNING serial`, org, j.Account, j.Generation)
	if sqldb.Missing(err) {
		return 0, fault.New(fault.Stale, "a later generation of the account was evaluated already")
	}
	if err == nil && j.Since != 0 && j.Since != serial-1 {
		return 0, fault.New(fault.Stale, "the account was evaluated in the meantime")
	}
	return serial, err
}

// knownFindings returns the findings of the account that the judgement may change, by
// rule and object. Of a rule that was evaluated for some entities only, these are the
// findings of those entities; of any other rule, all findings.
func knownFindings(tx *sqldb.Tx, org posture.OrgID, j posture.Judgement) (map[posture.RuleID]map[posture.EntityID]storedFinding, error) {
	known := map[posture.RuleID]map[posture.EntityID]storedFinding{}
	var rules, ids []string
	for _, r := range j.Rules {
		known[r.Rule] = map[posture.EntityID]storedFinding{}
		if r.Only == nil {
			rules = append(rules, string(r.Rule))
		}
		for _, object := range r.Only {
			ids = append(ids, string(posture.NewFindingID(org, r.Rule, object)))
		}
	}
	read := func(where string, args []any) error {
		for k, err := range sqldb.Each(tx, scanStoredWithDigest, `SELECT `+findingColumns+`, n, digest FROM finding WHERE org = $1 AND `+where, args...) {
			if err != nil {
				return err
			}
			known[k.finding.Rule][k.finding.Object] = k
		}
		return nil
	}
	if len(rules) > 0 {
		args := []any{org, j.Account}
		if err := read("account = $2 AND rule IN "+sqldb.List(&args, rules), args); err != nil {
			return nil, err
		}
	}
	for chunk := range slices.Chunk(ids, 500) {
		// The ids belong to objects of the account. A condition on the account as well
		// would make SQLite read all findings of the account instead of these.
		args := []any{org}
		if err := read("id IN "+sqldb.List(&args, chunk), args); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// openFindings returns the numbers of open findings of rules that were evaluated for
// some entities only.
func openFindings(tx *sqldb.Tx, org posture.OrgID, j posture.Judgement) (map[posture.RuleID]int, error) {
	var rules []string
	for _, r := range j.Rules {
		if r.Only != nil {
			rules = append(rules, string(r.Rule))
		}
	}
	open := map[posture.RuleID]int{}
	if len(rules) == 0 {
		return open, nil
	}
	args := []any{org, j.Account}
	type count struct {
		rule posture.RuleID
		n    int
	}
	for c, err := range sqldb.Each(tx, func(row sqldb.Row) (c count, err error) {
		err = row.Scan(&c.rule, &c.n)
		return c, err
	}, `
		SELECT rule, count(*) FROM finding
		WHERE org = $1 AND account = $2 AND rule IN `+sqldb.List(&args, rules)+` AND status = 'Open'
		GROUP BY rule`, args...) {
		if err != nil {
			return nil, err
		}
		open[c.rule] = c.n
	}
	return open, nil
}

// An observation collects the changes of a judgement and saves them together.
type observation struct {
	tx      *sqldb.Tx
	org     posture.OrgID
	account posture.AccountID
	at      time.Time
	known   map[posture.RuleID]map[posture.EntityID]storedFinding
	open    map[posture.RuleID]int // of rules that were evaluated for some entities only
	mutes   []posture.MuteRule     // in force

	added    []addedFinding
	changed  []changedFinding // reopened or updated
	resolved []resolvedFinding
	verdicts [][]any
	counts   counts
}

type addedFinding struct {
	finding posture.Finding
	blob    func() string
}

type resolvedFinding struct {
	storedFinding
	reason string // see posture.FindingEvent
}

type changedFinding struct {
	storedFinding
	blob      func() string
	words     string // the search text
	reworded  bool   // the search text changed: it is indexed again
	reopened  bool
	muteEvent string // "suppressed" or "released" if a mute rule did so, otherwise empty
}

// compareRule compares the result of one rule with the stored findings.
func (o *observation) compareRule(account posture.AccountID, r posture.RuleJudgement) {
	known := o.known[r.Rule]
	seen := map[posture.EntityID]bool{}
	// open becomes the number of open findings of the rule. It starts from o.open if the rule was
	// evaluated for some entities only; otherwise the loop over known counts all findings.
	open := o.open[r.Rule]
	for _, v := range r.Violating {
		f := v.Finding
		f.ID, f.Rule, f.Account = posture.NewFindingID(o.org, r.Rule, f.Object), r.Rule, account
		seen[f.Object] = true
		if o.raise(f, v.Blob, known) {
			open++
		}
	}
	for _, id := range r.Unknown {
		seen[id] = true
	}
	for _, object := range slices.Sorted(maps.Keys(known)) {
		k := known[object]
		if k.finding.Status != posture.FindingOpen {
			continue
		}
		if r.Only == nil {
			open++
		}
		if r.Gone || !seen[object] && (r.Trusted == nil || r.Trusted(object)) {
			o.resolve(k)
			open--
		}
	}
	unknown := len(r.Unknown)
	if r.Gone {
		open, unknown, r.Passing, r.NotApplicable = 0, 0, 0, 0
	}
	o.verdicts = append(o.verdicts, []any{o.org, account, r.Rule, open, r.Passing, unknown, r.NotApplicable})
}

// raise adds, reopens or updates a finding, or leaves it unchanged. It returns true if
// the number of open findings grows.
func (o *observation) raise(f posture.Finding, blob func() string, known map[posture.EntityID]storedFinding) bool {
	f.Status = posture.FindingOpen
	k, ok := known[f.Object]
	if !ok {
		f.Created, f.Updated = o.at, o.at
		if m, ok := muteOf(o.mutes, f); ok {
			f.Suppression = m.Suppression(o.at)
		}
		o.added = append(o.added, addedFinding{f, blob})
		o.counts.add(f, 1)
		return true
	}
	sum := findingDigest(f)
	if k.finding.Status == posture.FindingOpen && sum == k.digest {
		return false
	}
	o.counts.add(k.finding, -1)
	f.Suppression, f.Created, f.Updated = k.finding.Suppression, k.finding.Created, o.at
	reopened := k.finding.Status == posture.FindingResolved
	if reopened {
		f.Created = o.at
	}
	muteEvent := ""
	if s := o.nextSuppression(k.finding, f); s != f.Suppression {
		muteEvent = "suppressed"
		if s == nil {
			muteEvent = "released"
		}
		f.Suppression = s
	}
	o.counts.add(f, 1)
	words := searchText(f)
	o.changed = append(o.changed, changedFinding{storedFinding{k.n, f, sum}, blob, words, words != searchText(k.finding), reopened, muteEvent})
	return reopened
}

// nextSuppression returns the suppression of a finding that is reopened or has changed: its
// tags may have moved it into or out of the scope of a mute rule. It keeps suppressions
// by people, and does not mute a finding again that a person released. The result is
// f.Suppression, the same pointer, unless a mute rule suppresses or releases the finding.
func (o *observation) nextSuppression(old, f posture.Finding) *posture.Suppression {
	s := f.Suppression
	muted := s != nil && s.MuteRule != ""
	if !muted && f.Suppressed(o.at) { // by a person
		return s
	}
	m, ok := muteOf(o.mutes, f)
	switch {
	case !ok && muted:
		return nil
	case !ok, muted && m.ID == s.MuteRule:
		return s
	case !muted && old.Status == posture.FindingOpen && m.Scope.Matches(old):
		return s // it was in the scope already, but a person released or suppressed it
	}
	return m.Suppression(o.at)
}

func (o *observation) resolve(k storedFinding) {
	o.counts.add(k.finding, -1)
	k.finding.Status, k.finding.Resolved, k.finding.Updated = posture.FindingResolved, o.at, o.at
	o.counts.add(k.finding, 1)
	o.resolved = append(o.resolved, resolvedFinding{storedFinding: k})
}

// save writes the collected changes.
func (o *observation) save() error {
	var events [][]any
	event := func(n int64, what, reason string) {
		events = append(events, []any{o.org, n, sqldb.Millis(o.at), what, "", reason})
	}
	next, err := takeNumbers(o.tx, len(o.added))
	if err != nil {
		return err
	}
	var rows, blobs, index [][]any
	for i, a := range o.added {
		n := next + int64(i)
		rows = append(rows, findingRow(n, o.org, a.finding))
		blobs = append(blobs, []any{n, pack(a.blob())})
		index = append(index, []any{n, searchText(a.finding)})
		event(n, "raised", "")
		if a.finding.Suppression != nil {
			event(n, "suppressed", "")
		}
	}
	if len(rows) > 0 {
		if _, err := o.tx.Load("finding", findingRowColumns, slices.Values(rows)); err != nil {
			return err
		}
		if _, err := o.tx.Load("finding_blob", []string{"n", "blob"}, slices.Values(blobs)); err != nil {
			return err
		}
		if err := indexGrams(o.tx, index); err != nil {
			return err
		}
	}
	if err := o.saveChanged(event); err != nil {
		return err
	}
	if err := o.saveResolved(event); err != nil {
		return err
	}
	if len(events) > 0 {
		if _, err := o.tx.Load("finding_event", []string{"org", "n", "at", "what", "who", "reason"}, slices.Values(events)); err != nil {
			return err
		}
	}
	if _, err := o.tx.ExecEach(`
		INSERT INTO rule_verdict (org, account, rule, violating, passing, unknown, not_applicable)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org, account, rule) DO UPDATE
		SET violating = excluded.violating, passing = excluded.passing, unknown = excluded.unknown, not_applicable = excluded.not_applicable
		WHERE rule_verdict.violating <> excluded.violating OR rule_verdict.passing <> excluded.passing OR rule_verdict.unknown <> excluded.unknown
			OR rule_verdict.not_applicable <> excluded.not_applicable`,
		slices.Values(o.verdicts)); err != nil {
		return err
	}
	if err := recordEvents(o.tx, o.org, o.notices()); err != nil {
		return err
	}
	return o.counts.save(o.tx, o.org)
}

func (o *observation) saveChanged(event func(n int64, what, reason string)) error {
	var rows, blobs, index [][]any
	for _, c := range o.changed {
		f := c.finding
		if c.reopened {
			event(c.n, "raised", "")
		}
		changesSuppression := c.muteEvent != ""
		if changesSuppression {
			event(c.n, c.muteEvent, "")
		}
		suppression, until, mute := suppressionColumns(f.Suppression)
		rows = append(rows, []any{
			c.n, f.Type, f.ObjectID(), f.XID, f.Name, f.Service, f.Region, f.Level, f.Risk.Score, toJSON(f.Risk.Parts), tagsColumn(f), sqldb.Millis(f.Created),
			sqldb.Millis(f.Updated), c.digest, c.words, suppression, until, mute, parametersColumn(f), changesSuppression,
		})
		blobs = append(blobs, []any{c.n, pack(c.blob())})
		if c.reworded {
			index = append(index, []any{c.n, c.words})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	// The columns of the suppression are written only if a mute rule changes it: a user may have
	// changed it since knownFindings, which does not lock the rows.
	if _, err := o.tx.ExecEach(`
		UPDATE finding
		SET type = $2, local_id = $3, xid = $4, name = $5, service = $6, region = $7, level = $8, risk = $9, parts = $10, tags = $11,
			status = 'Open', created = $12, updated = $13, resolved = 0, digest = $14, words = $15,
			put_aside = CASE WHEN $20 THEN CAST($16 AS TEXT) ELSE put_aside END, aside_till = CASE WHEN $20 THEN $17 ELSE aside_till END,
			mute_rule = CASE WHEN $20 THEN $18 ELSE mute_rule END, parameters = CAST($19 AS TEXT)
		WHERE n = $1`, slices.Values(rows)); err != nil {
		return err
	}
	if _, err := o.tx.ExecEach(`UPDATE finding_blob SET blob = $2 WHERE n = $1`, slices.Values(blobs)); err != nil {
		return err
	}
	return indexGrams(o.tx, index)
}

func (o *observation) saveResolved(event func(n int64, what, reason string)) error {
	if len(o.resolved) == 0 {
		return nil
	}
	// If there is no such account, or o.account is empty, a is zero: it reads every region.
	a, err := account(o.tx, o.org, o.account)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	var rows [][]any
	for i := range o.resolved {
		r := &o.resolved[i]
		rows = append(rows, []any{r.n, sqldb.Millis(o.at)})
		if !a.Reads(r.finding.Region) {
			r.reason = posture.RegionNotRead
		}
		event(r.n, "resolved", r.reason)
	}
	_, err = o.tx.ExecEach(`UPDATE finding SET status = 'Resolved', resolved = $2, updated = $2 WHERE n = $1`, slices.Values(rows))
	return err
}

var findingRowColumns = []string{
	"n", "org", "id", "rule", "account", "provider", "object", "type", "local_id", "xid", "name", "service", "region", "level", "risk", "parts", "status",
	"tags", "put_aside", "aside_till", "mute_rule", "created", "updated", "resolved", "digest", "words", "parameters",
}

func findingRow(n int64, org posture.OrgID, f posture.Finding) []any {
	suppression, until, mute := suppressionColumns(f.Suppression)
	return []any{
		n, string(org), string(f.ID), string(f.Rule), string(f.Account), string(f.Provider), string(f.Object), string(f.Type), f.ObjectID(), f.XID, f.Name, f.Service, f.Region,
		string(f.Level), int64(f.Risk.Score), toJSON(f.Risk.Parts), string(f.Status), tagsColumn(f), suppression, until, mute, sqldb.Millis(f.Created),
		sqldb.Millis(f.Updated), int64(0), findingDigest(f), searchText(f), parametersColumn(f),
	}
}

// suppressionColumns returns the values of put_aside, aside_till and mute_rule.
func suppressionColumns(s *posture.Suppression) (suppression any, until int64, mute string) {
	if s == nil {
		return nil, 0, ""
	}
	return toJSON(s), suppressedUntil(*s), string(s.MuteRule)
}

// tagsColumn returns NULL for a finding on a resource without tags.
func tagsColumn(f posture.Finding) any {
	if f.Tags == nil {
		return nil
	}
	return toJSON(f.Tags)
}

// parametersColumn returns NULL for a finding of a rule without parameters.
func parametersColumn(f posture.Finding) any {
	if f.Parameters == nil {
		return nil
	}
	return toJSON(f.Parameters)
}

// takeNumbers reserves numbers for new findings and returns the first.
func takeNumbers(tx *sqldb.Tx, count int) (int64, error) {
	if count == 0 {
		return 0, nil
	}
	next, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `UPDATE finding_number SET next = next + $1 WHERE one = 1 RETURNING next`, count)
	return next - int64(count), err
}

// resolveWhere resolves the open findings of an organisation that match a condition,
// and returns their number. The parameters of the condition start at $2; an ORDER BY and a
// LIMIT may follow it. resolveWhere locks the findings, so that concurrent calls resolve
// and count each only once.
func resolveWhere(tx *sqldb.Tx, org posture.OrgID, where string, at time.Time, args ...any) (int, error) {
	o := &observation{tx: tx, org: org, at: at}
	all, err := sqldb.Query(tx, scanStoredWithDigest, `SELECT `+findingColumns+`, n, digest FROM finding WHERE org = $1 AND status = 'Open' AND `+where+tx.ForUpdate(), append([]any{org}, args...)...)
	if err != nil {
		return 0, err
	}
	for _, k := range all {
		o.resolve(k)
	}
	return len(all), o.save()
}

// removeFindings resolves findings of a removed account, up to a limit. They are kept
// as history. It returns true if there may be more.
func removeFindings(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID, now time.Time, limit int) (more bool, err error) {
	if _, err := tx.Exec(`DELETE FROM rule_verdict WHERE org = $1 AND account = $2`, org, id); err != nil {
		return false, err
	}
	n, err := resolveWhere(tx, org, `account = $2 ORDER BY n LIMIT $3`, now, id, limit)
	return n == limit, err
}
