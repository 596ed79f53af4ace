package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vigil/frameworks"
	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/instance"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/store"
	"vigil/rules"
)

const accounts = 50

// load creates an installation with an organisation that has n open findings of the
// rules for AWS, and returns an API token. It uses an installation that an earlier run
// has created.
func load(ctx context.Context, dir string, n int) (token string, err error) {
	conf := config.Config{DataDir: dir}
	conf.Complete()
	tokenFile := filepath.Join(dir, "bench-token")
	if text, err := os.ReadFile(tokenFile); err == nil {
		return string(text), nil
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
	findings := store.New(in.DB, in.Box, nil)
	for a := range accounts {
		j := posture.Judgement{Account: posture.AccountID(fmt.Sprintf("%012d", 100000000000+a*7919)), Generation: 1, RulesAt: posture.AnyRules, At: time.Now()}
		by := map[posture.RuleID][]posture.Raised{}
		for i := a * n / accounts; i < (a+1)*n/accounts; i++ {
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
	return text.Reveal(), os.WriteFile(tokenFile, []byte(text.Reveal()), 0o600)
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
