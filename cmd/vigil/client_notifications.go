package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"vigil/internal/client"
	"vigil/internal/fault"
)

type notificationsCmd struct {
	Channel    notifyChannelCmd    `cmd:"" help:"Manage receivers: webhooks, chats, mailboxes, incident and log systems."`
	Rule       notifyRuleCmd       `cmd:"" help:"Manage rules: which events are sent to which channels."`
	Deliveries notifyDeliveriesCmd `cmd:"" help:"List messages that wait, were delivered or were given up."`
}

type notifyChannelCmd struct {
	List   channelListCmd   `cmd:"" help:"List channels."`
	Show   channelShowCmd   `cmd:"" help:"Show a channel with its settings, without secrets."`
	Add    channelAddCmd    `cmd:"" help:"Add a channel."`
	Test   channelTestCmd   `cmd:"" help:"Send a test message and report whether the receiver accepted it."`
	Retry  channelRetryCmd  `cmd:"" help:"Retry the messages that were given up."`
	Delete channelDeleteCmd `cmd:"" help:"Delete a channel that no rule sends to."`
}

const (
	channelsPath    = "/v1/notification-channels"
	notifyRulesPath = "/v1/notification-rules"
)

type channelListCmd struct{ listFlags }

// Run implements the command.
func (c *channelListCmd) Run(e *environment) error {
	return c.get(e, http.MethodGet, channelsPath, "results", "ID=id NAME=name TYPE=type ENABLED=enabled FAILURES=consecutiveFailures NEXT=nextAttemptTime", nil)
}

type channelShowCmd struct {
	channelFlags
	Output string `short:"o" enum:"yaml,json" default:"yaml" help:"Output format: yaml or json."`
}

// Run implements the command.
func (c *channelShowCmd) Run(e *environment) error {
	return listFlags{c.profileFlags, c.Output}.get(e, http.MethodGet, c.path(), "", "", nil)
}

type notifyRuleShowCmd struct {
	profileFlags
	ID     string `arg:"" completes:"notification-rules" help:"Id of the rule; see vigil notifications rule list."`
	Output string `short:"o" enum:"yaml,json" default:"yaml" help:"Output format: yaml or json."`
}

// Run implements the command.
func (c *notifyRuleShowCmd) Run(e *environment) error {
	return listFlags{c.profileFlags, c.Output}.get(e, http.MethodGet, notifyRulesPath+"/"+url.PathEscape(c.ID), "", "", nil)
}

type channelAddCmd struct {
	profileFlags
	Name      string   `arg:"" help:"Name of the channel."`
	Type      string   `required:"" enum:"webhook,slack,teams,email,pagerduty,jira,splunk,syslog,securityhub" help:"${enum}; docs/notifications.md lists the settings of each."`
	Set       []string `placeholder:"NAME=VALUE" help:"A setting, such as server=mail.example:587. NAME=@FILE reads a secret from a file."`
	PerMinute int      `placeholder:"N" help:"Maximum number of messages per minute. Default: 30."`
}

// Run implements the command.
func (c *channelAddCmd) Run(e *environment) error {
	settings, err := channelSettings(c.Set)
	if err != nil {
		return err
	}
	in := client.Record{"name": c.Name, "type": c.Type, "settings": settings}
	if c.PerMinute != 0 {
		in["perMinute"] = c.PerMinute
	}
	created, err := c.call(e, http.MethodPost, channelsPath, in)
	if err != nil {
		return err
	}
	id := client.Text(created, "id")
	fmt.Fprintf(e.stdout, "channel %s is added; vigil notifications channel test %s sends a message to it\n", id, id)
	return nil
}

// channelSettings parses settings. Secrets can be read from files, because other users
// of the machine can see the command line.
func channelSettings(set []string) (map[string]string, error) {
	settings := map[string]string{}
	for _, s := range set {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fault.New(fault.Invalid, "--set is NAME=VALUE or NAME=@FILE, not %q", s)
		}
		if file, isFile := strings.CutPrefix(value, "@"); isFile {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read the setting %s: %w", name, err)
			}
			value = strings.TrimRight(string(text), "\r\n")
		}
		settings[name] = value
	}
	return settings, nil
}

type channelTestCmd struct{ channelFlags }

// Run implements the command.
func (c *channelTestCmd) Run(e *environment) error {
	answer, err := c.call(e, http.MethodPost, c.path()+"/test", client.Record{})
	if err != nil {
		return err
	}
	if delivered, _ := answer["delivered"].(bool); !delivered {
		return fmt.Errorf("the message was not accepted: %s", client.Text(answer, "error"))
	}
	fmt.Fprintln(e.stdout, "the receiver accepted the message")
	return nil
}

type channelRetryCmd struct{ channelFlags }

// Run implements the command.
func (c *channelRetryCmd) Run(e *environment) error {
	answer, err := c.call(e, http.MethodPost, c.path()+"/retry", client.Record{})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s messages will be sent again\n", client.Text(answer, "retriedCount"))
	return nil
}

type channelDeleteCmd struct{ channelFlags }

// Run implements the command.
func (c *channelDeleteCmd) Run(e *environment) error {
	if _, err := c.call(e, http.MethodDelete, c.path(), nil); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "channel %s is deleted\n", c.ID)
	return nil
}

// channelFlags name a channel.
type channelFlags struct {
	profileFlags
	ID string `arg:"" completes:"channels" help:"Id of the channel; see vigil notifications channel list."`
}

func (f channelFlags) path() string { return channelsPath + "/" + url.PathEscape(f.ID) }

type notifyRuleCmd struct {
	List   notifyRuleListCmd   `cmd:"" help:"List notification rules."`
	Show   notifyRuleShowCmd   `cmd:"" help:"Show a notification rule."`
	Add    notifyRuleAddCmd    `cmd:"" help:"Add a notification rule. A filter that is not given selects all events."`
	Delete notifyRuleDeleteCmd `cmd:"" help:"Delete a notification rule."`
}

type notifyRuleListCmd struct{ listFlags }

// Run implements the command.
func (c *notifyRuleListCmd) Run(e *environment) error {
	return c.get(e, http.MethodGet, notifyRulesPath, "results", "ID=id NAME=name ENABLED=enabled EVENTS=events LEVELS=levels RISK=minRiskScore CHANNELS=channelIds", nil)
}

type notifyRuleAddCmd struct {
	profileFlags
	Name    string   `arg:"" help:"Name of the rule."`
	Channel []string `required:"" completes:"channels" placeholder:"ID" help:"Send to this channel: its id or its name."`
	Event   []string `placeholder:"EVENT" help:"FindingRaised, FindingResolved, SuppressionEnded, CollectionFailed or StreamSilent."`
	Level   []string `placeholder:"LEVEL" help:"Findings of this level: High, Medium or Low."`
	MinRisk int      `placeholder:"N" help:"Findings with this risk score or a higher one."`
	Rule    []string `completes:"rules" placeholder:"ID" help:"Findings of this rule."`
	Account []string `completes:"accounts" placeholder:"ID" help:"Events of this account."`
	Tag     []string `placeholder:"NAME=VALUE" help:"Findings on resources with this tag."`
}

// Run implements the command.
func (c *notifyRuleAddCmd) Run(e *environment) error {
	channels, err := c.channelIDs(e)
	if err != nil {
		return err
	}
	in := client.Record{"name": c.Name, "channelIds": channels}
	for name, values := range map[string][]string{"events": c.Event, "levels": c.Level, "ruleIds": c.Rule, "cloudAccountIds": c.Account} {
		if len(values) > 0 {
			in[name] = values
		}
	}
	if c.MinRisk != 0 {
		in["minRiskScore"] = c.MinRisk
	}
	tags, err := tagValues("--tag", c.Tag)
	if err != nil {
		return err
	}
	if len(tags) > 0 {
		in["cloudTags"] = tags
	}
	created, err := c.call(e, http.MethodPost, notifyRulesPath, in)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "notification rule %s is in force\n", client.Text(created, "id"))
	return nil
}

// channelIDs returns the ids of the channels that --channel gives by id or by name. It fails if several channels have the name. It
// does not change a text that is neither an id nor a name: the server refuses it.
func (c *notifyRuleAddCmd) channelIDs(e *environment) ([]string, error) {
	answer, err := c.call(e, http.MethodGet, channelsPath, nil)
	if err != nil {
		return nil, err
	}
	known := client.Records(answer, "results")
	ids := slices.Clone(c.Channel)
	for i, given := range ids {
		if slices.ContainsFunc(known, func(channel client.Record) bool { return client.Text(channel, "id") == given }) {
			continue
		}
		var named []string
		for _, channel := range known {
			if client.Text(channel, "name") == given {
				named = append(named, client.Text(channel, "id"))
			}
		}
		switch {
		case len(named) > 1:
			return nil, fault.New(fault.Invalid, "%d channels are called %q: give an id: %s", len(named), given, strings.Join(named, ", "))
		case len(named) == 1:
			ids[i] = named[0]
		}
	}
	return ids, nil
}

type notifyRuleDeleteCmd struct {
	profileFlags
	ID string `arg:"" completes:"notification-rules" help:"Id of the rule; see vigil notifications rule list."`
}

// Run implements the command.
func (c *notifyRuleDeleteCmd) Run(e *environment) error {
	if _, err := c.call(e, http.MethodDelete, notifyRulesPath+"/"+url.PathEscape(c.ID), nil); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "notification rule %s is deleted\n", c.ID)
	return nil
}

type notifyDeliveriesCmd struct {
	listFlags
	State string `enum:"waiting,delivered,dead,all" default:"all" help:"${enum}; dead ones were given up."`
}

// Run implements the command.
func (c *notifyDeliveriesCmd) Run(e *environment) error {
	path := "/v1/notification-deliveries"
	if c.State != "all" {
		path += "?state=" + strings.ToUpper(c.State[:1]) + c.State[1:]
	}
	return c.get(e, http.MethodGet, path, "results", "ID=id CHANNEL=channelId STATE=state EVENTS=eventCount ATTEMPTS=attempts TIME=creationTime TITLE=title ERROR=error", nil)
}
