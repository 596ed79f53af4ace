package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"vigil/frameworks"
	"vigil/internal/atomicfile"
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/egress"
	"vigil/internal/posture/export"
	"vigil/internal/posture/scan"
	"vigil/internal/terminal"
	"vigil/rules"
)

type scanCmd struct {
	AWS   scanAWSCmd   `cmd:"" name:"aws" help:"Scan the AWS account that the credentials of the environment belong to."`
	Azure scanAzureCmd `cmd:"" help:"Scan Azure subscriptions with the credentials of the environment."`
	GCP   scanGCPCmd   `cmd:"" name:"gcp" help:"Scan a Google Cloud project with the application default credentials."`
}

// scanFlags are the flags of all scan commands.
type scanFlags struct {
	Framework []string `completes:"built-in-frameworks" placeholder:"ID" help:"Evaluate only the rules of this framework, such as cis-aws-3.0. May be repeated."`
	Rule      []string `completes:"built-in-rules" placeholder:"ID" help:"Evaluate only this rule. May be repeated."`
	Parameter []string `sep:"none" placeholder:"RULE.NAME=VALUE" help:"Set a parameter of a rule, such as aws-iam-access-key-age-90.days=60; separate the values of a list with commas. May be repeated."`
	FailOn    string   `enum:"none,low,medium,high" default:"none" help:"Exit with 3 if there is a finding of this level or a higher one: low, medium or high."`
	Unknown   string   `enum:"fail,ignore" default:"fail" help:"With --fail-on, exit with 4 (fail) or 0 (ignore) if rules of the level have an unknown result because something could not be read."`
	Output    []string `short:"o" sep:"none" placeholder:"FILE" help:"Write the findings to this file, or - for standard output. May be repeated."`
	Format    string   `placeholder:"FORMAT" help:"Format of the output: ${export_formats}. Default: the format of the file name's suffix."`
	List      int      `default:"5" help:"Number of resources to list per rule; 0 for all."`
	Quiet     bool     `short:"q" help:"Print no report."`
	Parallel  int      `default:"32" help:"Number of concurrent reads."`
	AllTypes  bool     `help:"Read every resource type, not only those that the rules use."`
	Verbose   bool     `short:"v" help:"Log read errors as they occur."`

	// For development: a gateway that replaces all clouds.
	CloudGateway   string `hidden:"" name:"gateway"`
	CloudGatewayCA string `hidden:"" name:"gateway-ca" type:"existingfile"`
}

type scanAWSCmd struct {
	scanFlags
	Region     []string `placeholder:"REGION" help:"Read only this region and global resources. May be repeated. Default: every enabled region."`
	Profile    string   `env:"AWS_PROFILE" help:"Profile of the AWS configuration files."`
	RoleARN    string   `name:"role-arn" placeholder:"ARN" help:"Assume this role first, and scan its account."`
	ExternalID string   `placeholder:"ID" help:"External id that the role requires."`
	Endpoint   string   `env:"AWS_ENDPOINT_URL" placeholder:"URL" help:"Endpoint that replaces all of AWS, such as that of moto."`
}

// Run implements the command.
func (c *scanAWSCmd) Run(e *environment) error {
	gateway, err := c.gateway()
	if err != nil {
		return err
	}
	return c.scan(e, scan.AWS{Profile: c.Profile, RoleARN: c.RoleARN, ExternalID: c.ExternalID, Endpoint: c.Endpoint, Gateway: gateway}.Targets, c.Region)
}

type scanAzureCmd struct {
	scanFlags
	Subscription []string `env:"AZURE_SUBSCRIPTION_ID" placeholder:"ID" help:"Scan this subscription. May be repeated. Default: all that the identity can access."`
}

// Run implements the command.
func (c *scanAzureCmd) Run(e *environment) error {
	gateway, err := c.gateway()
	if err != nil {
		return err
	}
	return c.scan(e, scan.Azure{Subscriptions: c.Subscription, Gateway: gateway}.Targets, nil)
}

type scanGCPCmd struct {
	scanFlags
	Project []string `placeholder:"ID" help:"Scan this project. May be repeated. Default: GOOGLE_CLOUD_PROJECT, or the project of the credentials."`
}

// Run implements the command.
func (c *scanGCPCmd) Run(e *environment) error {
	gateway, err := c.gateway()
	if err != nil {
		return err
	}
	return c.scan(e, scan.GCP{Projects: c.Project, Gateway: gateway}.Targets, nil)
}

func (c *scanFlags) gateway() (*egress.Gateway, error) {
	return cloudGateway(c.CloudGateway, c.CloudGatewayCA)
}

// scan finds the accounts, scans them one after another, and reports them together.
func (c *scanFlags) scan(e *environment, targets func(context.Context) ([]scan.Target, error), regions []string) error {
	outputs, err := c.outputs()
	if err != nil {
		return err
	}
	known, err := catalog.Load(rules.Files, frameworks.Files)
	if err != nil {
		return err
	}
	chosen, err := c.rules(known)
	if err != nil {
		return err
	}
	found, err := targets(e.ctx)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	if c.Verbose {
		log = slog.New(slog.NewTextHandler(e.stderr, nil))
	}
	report := &scanReport{flags: c, catalog: known}
	for _, t := range found {
		progress := terminal.NewProgress(e.stderr)
		result, err := scan.Run(e.ctx, scan.Options{
			Source: t.Source, Access: t.Access, Rules: chosen, Regions: regions, AllTypes: c.AllTypes, Parallel: c.Parallel, Log: log, Now: time.Now,
			Progress: func(p collect.Progress) {
				progress.Say("%s  %s  %d of %d reads, %d resources", t.Access.Account.ID, terminal.Bar(p.Done, p.Units, 30), p.Done, p.Units, p.Entities)
			},
		})
		progress.Clear()
		if err != nil {
			return err
		}
		report.add(t, result)
	}
	for _, o := range outputs {
		if err := report.write(e.stdout, o); err != nil {
			return err
		}
	}
	if !c.Quiet {
		screen := e.stdout
		if slices.ContainsFunc(outputs, func(o scanOutput) bool { return o.file == "-" }) {
			screen = e.stderr
		}
		report.print(screen)
	}
	return report.exit()
}

// rules returns the rules that the flags select.
func (c *scanFlags) rules(known *catalog.Catalog) ([]posture.Rule, error) {
	for _, id := range c.Framework {
		if !slices.ContainsFunc(known.Frameworks, func(f posture.Framework) bool { return strings.EqualFold(f.ID, id) }) {
			names := make([]string, len(known.Frameworks))
			for i, f := range known.Frameworks {
				names[i] = f.ID
			}
			return nil, fault.New(fault.Invalid, "there is no framework %q; there are %s", id, strings.Join(names, ", "))
		}
	}
	filter := posture.RuleFilter{Frameworks: c.Framework}
	for _, id := range c.Rule {
		if !slices.ContainsFunc(known.Rules, func(r catalog.Entry) bool { return strings.EqualFold(string(r.ID), id) }) {
			return nil, fault.New(fault.Invalid, "there is no rule %q", id)
		}
		filter.IDs = append(filter.IDs, posture.RuleID(id))
	}
	settings, err := c.settings(known)
	if err != nil {
		return nil, err
	}
	var chosen []posture.Rule
	for _, r := range known.Rules {
		if !filter.Matches(r.Rule) {
			continue
		}
		changed, err := r.WithValues(settings[r.ID])
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, r.With(changed.Values))
	}
	return chosen, nil
}

// settings returns the values of --parameter by rule and name.
func (c *scanFlags) settings(known *catalog.Catalog) (map[posture.RuleID]map[string]any, error) {
	all := map[posture.RuleID]map[string]any{}
	for _, pair := range c.Parameter {
		name, text, assigned := strings.Cut(pair, "=")
		rule, name, dotted := strings.Cut(name, ".")
		i := slices.IndexFunc(known.Rules, func(r catalog.Entry) bool { return strings.EqualFold(string(r.ID), rule) })
		if !assigned || !dotted {
			return nil, fault.New(fault.Invalid, "--parameter %s: give RULE.NAME=VALUE, such as aws-iam-access-key-age-90.days=60", pair)
		}
		if i < 0 {
			return nil, fault.New(fault.Invalid, "--parameter %s: there is no rule %q", pair, rule)
		}
		r := known.Rules[i].Rule
		p, exists := r.Parameter(name)
		var value any
		if exists { // otherwise WithValues names the parameters of the rule
			var err error
			if value, err = parameterValue(p.Type, text); err != nil {
				return nil, fmt.Errorf("--parameter %s: %w", pair, err)
			}
		}
		if _, err := r.WithValues(map[string]any{name: value}); err != nil {
			return nil, fmt.Errorf("--parameter %s: %w", pair, err)
		}
		if all[r.ID] == nil {
			all[r.ID] = map[string]any{}
		}
		all[r.ID][name] = value
	}
	return all, nil
}

// A scanOutput is a file and its format.
type scanOutput struct {
	file   string
	format export.Format
}

// outputs returns the files to write and their formats. It is called before the scan,
// to report errors early.
func (c *scanFlags) outputs() ([]scanOutput, error) {
	if len(c.Output) == 0 && c.Format != "" {
		c.Output = []string{"-"}
	}
	var all []scanOutput
	for _, file := range c.Output {
		format := export.Format(strings.ToLower(c.Format))
		switch {
		case c.Format != "" && !slices.Contains(export.Formats, format):
			return nil, fault.New(fault.Invalid, "--format %s is not one of %s", c.Format, export.List())
		case c.Format == "":
			var ok bool
			format, ok = export.FormatOf(file)
			if !ok {
				return nil, fault.New(fault.Invalid, "%s: the file name has no known suffix; give --format: one of %s", file, export.List())
			}
		}
		all = append(all, scanOutput{file, format})
	}
	return all, nil
}

// write writes the findings to one output. It creates a file atomically.
func (r *scanReport) write(stdout io.Writer, o scanOutput) error {
	if o.file == "-" {
		return r.export(stdout, o.format)
	}
	if err := atomicfile.Write(o.file, 0o600, func(w io.Writer) error { return r.export(w, o.format) }); err != nil {
		return fmt.Errorf("write %s: %w", o.file, err)
	}
	return nil
}

func (r *scanReport) export(to io.Writer, f export.Format) error {
	buffered := bufio.NewWriterSize(to, 64<<10)
	w, err := export.New(buffered, f, r.exportReport())
	if err != nil {
		return err
	}
	for _, finding := range r.findings {
		if err := w.Put(finding); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), buffered.Flush())
}
