// Command vigil monitors cloud accounts and virtual desktops.
//
// It parses flags, environment and settings file, and calls the packages that implement
// the commands. See "vigil --help".
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"vigil/internal/config"
	"vigil/internal/fault"
	"vigil/internal/gctune"
	"vigil/internal/posture/export"
	"vigil/internal/processors"
)

func main() {
	gctune.Tune()
	processors.Spread()
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// cli is the command line. Each command is a field.
type cli struct {
	ConfigFile string `name:"config" short:"c" type:"existingfile" env:"VIGIL_CONFIG" help:"File (YAML) with settings."`

	Init          initCmd          `cmd:"" help:"Create an installation: data folder, master key and database. No other command creates one."`
	Serve         serveCmd         `cmd:"" help:"Run the servers that the settings enable."`
	Scan          scanCmd          `cmd:"" help:"Scan a cloud account with your own credentials and print the findings. Needs no server."`
	Login         loginCmd         `cmd:"" group:"client" help:"Log in to a server and save a profile."`
	Logout        logoutCmd        `cmd:"" group:"client" help:"Delete a profile."`
	Profiles      profilesCmd      `cmd:"" group:"client" help:"List profiles, or select the current one."`
	Accounts      accountsCmd      `cmd:"" group:"client" help:"List cloud accounts, and set when and where they are read."`
	Collect       collectCmd       `cmd:"" group:"client" help:"Collect a cloud account now."`
	Findings      findingsCmd      `cmd:"" group:"client" help:"List findings, those with the highest risk first."`
	Suppress      suppressCmd      `cmd:"" group:"client" help:"Suppress findings."`
	Mute          muteCmd          `cmd:"" group:"client" help:"Suppress findings by rule, account, tag or resource."`
	Notifications notificationsCmd `cmd:"" group:"client" help:"Send notifications of findings, failed collections and silent streams."`
	Rules         rulesCmd         `cmd:"" group:"client" help:"List rules, and set their parameters."`
	Compliance    complianceCmd    `cmd:"" group:"client" help:"List frameworks, or the results of the controls of one."`
	Entities      entitiesCmd      `cmd:"" group:"client" help:"List the resources of cloud accounts."`
	Query         queryCmd         `cmd:"" group:"client" help:"Run a Gremlin query over the graph of an account."`
	Users         usersCmd         `cmd:"" group:"client" help:"List, add and change users."`
	Tokens        tokensCmd        `cmd:"" group:"client" help:"List, create and revoke API tokens."`
	Audit         auditCmd         `cmd:"" group:"client" help:"List the audit log of a server; verify that of an installation."`
	Export        exportCmd        `cmd:"" group:"client" help:"Write findings, resources or compliance to a file."`
	API           apiCmd           `cmd:"" name:"api" group:"client" help:"Call any operation of the API."`
	Demo          demoCmd          `cmd:"" help:"Run everything in a temporary folder, with simulated clouds."`
	Agent         agentCmd         `cmd:"" help:"Report load, sessions and state of this machine to a desktop server."`
	Desktop       desktopCmd       `cmd:"" group:"client" help:"Monitor a desktop server: its components, alerts and sessions. Check the environment and manage its secrets."`
	Org           orgCmd           `cmd:"" hidden:"" help:"Add and list organisations."`
	Token         tokenCmd         `cmd:"" hidden:"" help:"Create, list and revoke API tokens."`
	Entity        entityCmd        `cmd:"" hidden:"" help:"Find the resources of cloud accounts."`
	Catalog       catalogCmd       `cmd:"" help:"Check resource types, and list the operations of clouds."`
	Keys          keysCmd          `cmd:"" hidden:"" help:"Rotate the keys that sign tokens and encrypt secrets."`
	Backup        backupCmd        `cmd:"" hidden:"" help:"Write a copy of the SQLite database to a file; servers may be running."`
	Store         storeCmd         `cmd:"" hidden:"" help:"Copy the database to another engine, distribute it over a cluster, and list its tables."`
	Admin         adminCmd         `cmd:"" help:"Work on the installation of this machine: organisations, tokens, keys, audit log, backup and database."`
	Doctor        doctorCmd        `cmd:"" help:"Check settings, keys, database, disk, certificates and servers, and print advice. Changes nothing."`
	Config        configCmd        `cmd:"" help:"Check and print the effective settings."`
	Version       versionCmd       `cmd:"" help:"Print the version."`
	Man           manCmd           `cmd:"" help:"Print the manual page."`
	Completion    completionCmd    `cmd:"" help:"Print a completion script for a shell."`
	Names         namesCmd         `cmd:"" hidden:"" help:"Print names from a server, for completion."`
}

// environment holds the parts of the process that commands use.
type environment struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
}

// untilStopped returns the error of a command that runs until it is interrupted; the
// interruption itself is not an error.
func (e *environment) untilStopped(err error) error {
	if e.ctx.Err() != nil {
		return withoutInterruption(err)
	}
	return err
}

// withoutInterruption returns the errors that are joined with that of an interruption, such
// as one of closing the database, or nil if there are none.
func withoutInterruption(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var others []error
		for _, each := range joined.Unwrap() {
			others = append(others, withoutInterruption(each))
		}
		return errors.Join(others...)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// reserved are environment variables with the prefix VIGIL_ that are not settings. The Terraform provider reads
// VIGIL_SERVER, and the onboarding scripts of all clouds read VIGIL_API_TOKEN.
var reserved = []string{"VIGIL_CONFIG", "VIGIL_TEST_POSTGRES", "VIGIL_TEST_POSTGRES_REQUIRED", "VIGIL_PROFILE", "VIGIL_PROFILES", "VIGIL_URL", "VIGIL_TOKEN", "VIGIL_CA",
	"VIGIL_DESKTOP_PROFILE", "VIGIL_DESKTOP_URL", "VIGIL_DESKTOP_KEY", "VIGIL_SERVER", "VIGIL_API_TOKEN"}

// run executes a command line and returns the exit code of the process. Tests call it
// instead of main.
func run(args, environ []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit := -1
	parser, err := newParser(args, environ, stdout, stderr, func(code int) { exit = code })
	if err != nil {
		fmt.Fprintln(stderr, "vigil:", err)
		return 1
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"} // the error of the parser would name only five of the commands
	case args[0] == "--version":
		args = []string{"version"}
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 { // --help has been printed
		return exit
	}
	if invalid, ok := errors.AsType[*settingsError](err); ok {
		fmt.Fprintln(stderr, "vigil:", invalid)
		return exitFailed
	}
	if err != nil {
		fmt.Fprintln(stderr, "vigil:", err)
		if command := commandOf(err); command != "" {
			fmt.Fprintf(stderr, "vigil %s --help explains the command\n", command)
		}
		return exitUsage
	}
	err = parsed.Run(&environment{ctx, os.Stdin, stdout, stderr})
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		fmt.Fprintln(stderr, "vigil: interrupted")
		if other := withoutInterruption(err); other != nil {
			fmt.Fprintln(stderr, "vigil:", other)
		}
		return exitFailed
	}
	if err != nil {
		fmt.Fprintln(stderr, "vigil:", err)
		return exitCode(err)
	}
	return 0
}

// commandOf returns the command whose flags or arguments are wrong, "" if there is none.
func commandOf(err error) string {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok {
		return ""
	}
	var names []string
	for _, p := range parse.Context.Path {
		if p.Command != nil {
			names = append(names, p.Command.Name)
		}
	}
	return strings.Join(names, " ")
}

// The exit codes, as docs/cli.md lists them.
const (
	exitFailed   = 1 // the command failed, or was interrupted before its end
	exitUsage    = 2 // the command or its input is invalid
	exitFindings = 3 // there are findings of the --fail-on level or a higher one
	exitUnknown  = 4 // there are none, but not everything could be read
)

// An exitError has its own exit code.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }

func exitCode(err error) int {
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if fault.Is(err, fault.Invalid) {
		return exitUsage
	}
	return exitFailed
}

// newParser returns a parser whose flags default to the environment, then to the
// settings file that the command line or the environment names.
func newParser(args, environ []string, stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	settings := &settingsReader{environ: environ}
	return kong.New(commandLine(args),
		kong.Name("vigil"),
		kong.Description("Watches over cloud accounts and virtual desktops."),
		kong.UsageOnError(),
		kong.Writers(stdout, stderr),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.WithBeforeResolve(settings.read),
		kong.Resolvers(kong.ResolverFunc(settings.resolve)),
		kong.ExplicitGroups([]kong.Group{
			{Key: "client", Title: "Commands that call a server:"},
			{Key: "installation", Title: "Commands that work on the installation of this machine:"},
		}),
		kong.Vars{"export_formats": export.List()},
	)
}

// commandLine returns the struct that kong fills. If the first argument is a command, the
// struct has only that command, because building the parser of all commands takes a tenth
// of a second. Otherwise it is a cli.
func commandLine(args []string) any {
	all := reflect.TypeFor[cli]()
	configFlag, _ := all.FieldByName("ConfigFile")
	for field := range all.Fields() {
		if _, isCommand := field.Tag.Lookup("cmd"); isCommand && len(args) > 0 && args[0] == strings.ToLower(field.Name) {
			return reflect.New(reflect.StructOf([]reflect.StructField{configFlag, field})).Interface()
		}
	}
	return new(cli)
}

// allCommands returns the model of the whole command line.
func allCommands() (*kong.Application, error) {
	parser, err := newParser(nil, nil, io.Discard, io.Discard, func(int) {})
	if err != nil {
		return nil, err
	}
	return parser.Model, nil
}

// A settingsReader reads the settings file and the environment when the flags are parsed:
// only the parser knows which of the arguments names the file.
type settingsReader struct {
	environ []string
	source  *config.Source
}

// A settingsError is an error in the settings file or in the environment.
type settingsError struct{ error }

// read reads the settings once. The parser calls it for every part of the command line,
// before resolve.
func (s *settingsReader) read(c *kong.Context) error {
	if s.source != nil {
		return nil
	}
	source, err := config.Read(s.file(c), s.environ, reserved...)
	if err != nil {
		return &settingsError{err}
	}
	s.source = source
	return nil
}

// file returns the path of the settings file, or "" if none is named. A flag takes precedence
// over the environment.
func (s *settingsReader) file(c *kong.Context) string {
	for _, part := range c.Path {
		if part.Flag != nil && part.Flag.Name == "config" {
			return c.Value(part).String()
		}
	}
	for _, entry := range s.environ {
		if path, ok := strings.CutPrefix(entry, "VIGIL_CONFIG="); ok {
			return path
		}
	}
	return ""
}

// resolve implements [kong.ResolverFunc].
func (s *settingsReader) resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if value, _, ok := s.source.Lookup(flag.Name); ok {
		return value, nil
	}
	return nil, nil
}
