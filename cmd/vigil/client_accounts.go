package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vigil/internal/client"
	"vigil/internal/fault"
	"vigil/internal/posture"
)

type accountsCmd struct {
	List     accountsListCmd     `cmd:"" default:"withargs" help:"List cloud accounts. The default of vigil accounts."`
	Link     accountsLinkCmd     `cmd:"" help:"Add an AWS account, Azure subscription or Google Cloud project with the identity that Vigil reads it with."`
	Schedule accountsScheduleCmd `cmd:"" help:"Show or set how often accounts are collected."`
	Set      accountsSetCmd      `cmd:"" help:"Set which regions of an account are read."`
}

type accountsListCmd struct {
	listFlags
	Provider []string `enum:"aws,azure,gcp" placeholder:"CLOUD" help:"Only accounts of this cloud: aws, azure or gcp."`
	Limit    int      `default:"1000" help:"Maximum number of accounts."`
}

// Run implements the command.
func (c *accountsListCmd) Run(e *environment) error {
	query := client.Record{}
	if len(c.Provider) > 0 {
		query["filters"] = client.Record{"providers": c.Provider}
	}
	_, err := c.list(e, "/v1/cloud-accounts/query", "cloudAccounts",
		"ID=cloudAccountId NAME=cloudAccountName CLOUD=provider STATUS=accountStatus.value HEALTH=rollupStatus.value COLLECTED=lastCollection.endTime NEXT=nextCollectionTime", query, c.Limit)
	return err
}

type accountsScheduleCmd struct {
	profileFlags
	Account string `arg:"" optional:"" completes:"accounts" help:"Id of the cloud account; see vigil accounts. Default: the plan of the organisation."`
	Every   string `placeholder:"TIME" help:"Time between two collections, in hours or days: 6h or 2d, at most 7d."`
	Pause   bool   `xor:"pause" help:"Start no collections automatically."`
	Resume  bool   `xor:"pause" help:"Start collections automatically again."`
	Default bool   `help:"Let the account follow the plan of the organisation again."`
}

// Run implements the command. Without flags it prints the schedule.
func (c *accountsScheduleCmd) Run(e *environment) error {
	path := "/v1/collection-plan"
	if c.Account != "" {
		path = collectionSettingsPath(c.Account)
	} else if c.Default {
		return fault.New(fault.Invalid, "--default needs an account")
	}
	settings, err := c.call(e, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if c.Every != "" || c.Pause || c.Resume || c.Default {
		if settings, err = c.change(e, path, settings); err != nil {
			return err
		}
	}
	printSchedule(e, c.Account, settings)
	return nil
}

// change applies the flags to settings and saves them.
func (c *accountsScheduleCmd) change(e *environment, path string, settings client.Record) (client.Record, error) {
	in := client.Record{"everyHours": settings["everyHours"], "paused": settings["paused"]}
	if c.Account != "" {
		in["regions"] = settings["regions"]
	}
	if c.Default {
		in["everyHours"], in["paused"] = nil, nil
	}
	if c.Every != "" {
		hours, err := parseHours(c.Every)
		if err != nil {
			return nil, err
		}
		in["everyHours"] = hours
	}
	if c.Pause || c.Resume {
		in["paused"] = c.Pause
	}
	return c.call(e, http.MethodPut, path, in)
}

// parseHours parses a time in hours or days: 6h, 2d.
func parseHours(text string) (int, error) {
	number, hoursPerUnit := strings.TrimSuffix(text, "h"), 1
	if days, ok := strings.CutSuffix(text, "d"); ok {
		number, hoursPerUnit = days, 24
	} else if number == text {
		number = "" // the text has no unit: let Atoi fail
	}
	n, err := strconv.Atoi(number)
	// n is limited before the multiplication, which could overflow.
	if err != nil || n < 1 || n > posture.MaxEveryHours || n*hoursPerUnit > posture.MaxEveryHours {
		return 0, fault.New(fault.Invalid, "%q is not a time from 1h to 7d, such as 6h or 2d", text)
	}
	return n * hoursPerUnit, nil
}

// printSchedule prints the plan of an organisation, or the settings of an account.
func printSchedule(e *environment, account string, settings client.Record) {
	if account == "" {
		fmt.Fprintf(e.stdout, "accounts are collected %s\n", planText(settings, ""))
		return
	}
	from := ""
	if settings["everyHours"] == nil && settings["paused"] == nil {
		from = ", as the plan of the organisation says"
	}
	fmt.Fprintf(e.stdout, "account %s is collected %s%s\n", account, planText(settings, "effective."), from)
	if next := client.Text(settings, "nextCollectionTime"); next != "" {
		fmt.Fprintf(e.stdout, "next collection: %s\n", next)
	}
	printRegions(e, settings)
}

// planText says when accounts are collected. The prefix is the path to the members of the plan: "effective." in the settings of an
// account, "" in the plan of the organisation.
func planText(r client.Record, prefix string) string {
	if client.Text(r, prefix+"paused") == "true" {
		return "only on request (paused)"
	}
	return "every " + client.Text(r, prefix+"everyHours") + " hours"
}

func printRegions(e *environment, settings client.Record) {
	regions := "all"
	if list, _ := settings["regions"].([]any); len(list) > 0 {
		regions = strings.Trim(fmt.Sprint(list), "[]")
	}
	fmt.Fprintf(e.stdout, "regions: %s\n", regions)
}

type accountsSetCmd struct {
	profileFlags
	Account    string   `arg:"" completes:"accounts" help:"Id of the cloud account; see vigil accounts."`
	Regions    []string `xor:"regions" placeholder:"NAME" help:"Regions to read, such as eu-west-1,eu-central-1. Resources without a region are always read."`
	AllRegions bool     `xor:"regions" help:"Read all regions."`
}

// Run implements the command.
func (c *accountsSetCmd) Run(e *environment) error {
	if len(c.Regions) == 0 && !c.AllRegions {
		return fault.New(fault.Invalid, "give --regions or --all-regions")
	}
	path := collectionSettingsPath(c.Account)
	settings, err := c.call(e, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	settings, err = c.call(e, http.MethodPut, path, client.Record{
		"everyHours": settings["everyHours"], "paused": settings["paused"], "regions": append([]string{}, c.Regions...),
	})
	if err != nil {
		return err
	}
	printRegions(e, settings)
	fmt.Fprintf(e.stdout, "the next collection reads them; vigil collect %s starts one now\n", c.Account)
	return nil
}

func collectionSettingsPath(account string) string {
	return "/v1/cloud-accounts/" + url.PathEscape(account) + "/collection-settings"
}
