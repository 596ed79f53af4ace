package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"vigil/frameworks"
	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/store"
	"vigil/internal/sqldb"
	"vigil/rules"
)

const (
	perAccount = 1000   // findings of an account
	base       = 20_000 // findings that are raised; the others are copies of their rows
)

// load creates an installation with an organisation that has n open findings of the
// rules for AWS, and returns an API token. If an earlier run has created the installation
// with as many findings, load only reads its token.
func load(ctx context.Context, dir string, n int) (token string, err error) {
	if n < 1 || n > base && n%base != 0 {
		return "", fmt.Errorf("-findings must be between 1 and %d, or a multiple of %[1]d", base)
	}
	conf := config.Config{DataDir: dir}
	conf.Complete()
	tokenFile := filepath.Join(dir, "bench-token")
	if text, err := os.ReadFile(tokenFile); err == nil {
		count, token, _ := strings.Cut(string(text), " ")
		if count != strconv.Itoa(n) {
			return "", fmt.Errorf("%s was filled with another number of findings than %d; remove it or choose another folder", dir, n)
		}
		return token, nil
	}
	in, err := instance.OpenOrInit(ctx, conf, time.Now)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	org, user, err := in.Registry.CreateOrg(ctx, "bench", "admin")
	if err != nil {
		return "", err
	}
	_, text, err := in.Registry.IssueToken(ctx, auth.Operator(org.ID), auth.TokenEdit{Name: "bench", User: user.ID})
	if err != nil {
		return "", err
	}
	if err := store.Migrate(ctx, in.DB); err != nil {
		return "", err
	}
	all, err := awsRules()
	if err != nil {
		return "", err
	}
	db, err := sqldb.Open(ctx, conf.Database, sqldb.Options{WriteTimeout: time.Hour, MustExist: true})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	findings := store.New(db, in.Box, nil)
	first := min(n, base)
	for a := range (first + perAccount - 1) / perAccount {
		j := posture.Judgement{Account: posture.AccountID(fmt.Sprintf("%012d", 100000000000+a*7919)), Generation: 1, RulesAt: posture.AnyRules, At: time.Now()}
		by := map[posture.RuleID][]posture.Raised{}
		for i := a * perAccount; i < min((a+1)*perAccount, first); i++ {
			f := finding(i, j.Account, all[i%len(all)])
			by[f.Rule] = append(by[f.Rule], posture.Raised{Finding: f, Blob: func() string { return `{}` }})
		}
		for rule, raised := range by {
			j.Rules = append(j.Rules, posture.RuleJudgement{Rule: rule, Violating: raised})
		}
		if _, err := findings.Observe(ctx, posture.OrgID(org.ID), j); err != nil {
			return "", err
		}
	}
	if err := db.Write(ctx, func(tx *sqldb.Tx) error { return addCopies(tx, n/first) }); err != nil {
		return "", err
	}
	return text.Reveal(), os.WriteFile(tokenFile, fmt.Appendf(nil, "%d %s", n, text.Reveal()), 0o600)
}

// addCopies adds k-1 copies of each finding, and multiplies the counters of lists and reports
// by k, because raising every finding would take longer than all exports. The copies are
// not in the text index, which exports do not use.
func addCopies(tx *sqldb.Tx, k int) error {
	columns, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT name FROM pragma_table_info('finding')`)
	if err != nil {
		return err
	}
	values := slices.Clone(columns)
	for i, name := range columns {
		switch name {
		case "n":
			values[i] = "n + $1 * 1000000"
		case "id":
			values[i] = "substr(id, 1, 27) || 'x' || printf('%04x', $1)"
		case "object", "name", "local_id":
			values[i] = name + " || '-' || $1"
		}
	}
	text := "INSERT INTO finding (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(values, ", ") + " FROM finding WHERE n < 1000000"
	for i := 1; i < k; i++ {
		if _, err := tx.Exec(text, i); err != nil {
			return err
		}
	}
	for _, table := range []string{"finding_place", "finding_kind", "finding_spot", "finding_duty", "finding_cell"} {
		if _, err := tx.Exec("UPDATE "+table+" SET total = total * $1", k); err != nil {
			return err
		}
	}
	return nil
}

// awsRules returns the rules for AWS that come with Vigil.
func awsRules() (some []posture.Rule, err error) {
	c, err := catalog.Load(rules.Files, frameworks.Files)
	if err != nil {
		return nil, err
	}
	for _, r := range c.Rules {
		if r.Provider == posture.AWS {
			some = append(some, r.Rule)
		}
	}
	return some, nil
}

// finding returns the i-th finding.
func finding(i int, account posture.AccountID, r posture.Rule) posture.Finding {
	region := []string{"us-east-1", "us-west-2", "eu-west-1", "eu-central-1"}[i%4]
	name := fmt.Sprintf("%s-%07d", []string{"payroll", "search <b>", "billing & co", "=web"}[i/7%4], i)
	kind := posture.EntityType("AWS.EC2.Instance")
	return posture.Finding{
		Rule: r.ID, Provider: posture.AWS, Object: kind.ID(account, region, name), Type: kind, Name: name, Service: "EC2", Region: region, Level: r.Level.FindingLevel(),
		XID:  fmt.Sprintf("arn:aws:ec2:%s:%s:instance/%s", region, account, strings.ReplaceAll(name, " ", "-")),
		Risk: posture.Risk{Score: i % 101, Parts: []posture.RiskPart{{Name: "level", Points: 40, Why: "the level of the rule"}}}, Tags: map[string]string{"team": name[:3]},
	}
}
