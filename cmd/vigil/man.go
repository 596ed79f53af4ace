package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"vigil/internal/config"
)

type manCmd struct{}

// Run implements the command.
func (c *manCmd) Run(e *environment) error {
	app, err := allCommands()
	if err != nil {
		return err
	}
	return writeMan(e.stdout, app)
}

// writeMan writes the manual page of all commands in troff with the macros of man(7).
// It has no date, so that the output is reproducible.
func writeMan(w io.Writer, app *kong.Application) error {
	m := &manual{Writer: bufio.NewWriter(w), settings: map[string]bool{}}
	for _, name := range config.Names() {
		m.settings[config.Flag(name)] = true
	}
	m.macro(".TH VIGIL 1 \"\" %s \"User Commands\"", quote("vigil "+version))
	m.section("NAME")
	m.text("vigil - " + strings.ToLower(app.Help[:1]) + strings.TrimSuffix(app.Help[1:], "."))
	m.section("SYNOPSIS")
	m.macro(".B vigil")
	m.text("COMMAND [ARGUMENT...] [FLAG...]")
	m.section("DESCRIPTION")
	m.text(app.Help)
	m.text("Commands either call a running server, for which vigil login keeps a profile, or work on the installation of this machine, which the settings describe.")
	m.section("OPTIONS")
	m.flags(app.Flags)
	m.section("COMMANDS")
	for _, leaf := range app.Leaves(true) {
		m.command(leaf)
	}
	m.section("SETTINGS")
	m.text("Commands that work on an installation take every setting as a flag, as a variable of the environment, or from the file that --config names. A flag takes precedence over a variable, and a variable over the file.")
	m.settingFlags(app)
	m.section("ENVIRONMENT")
	for _, v := range [][2]string{
		{"VIGIL_CONFIG", "File with settings, as --config."},
		{"VIGIL_PROFILES", "File that profiles are kept in. Default: vigil/profiles.yaml in the user's configuration folder."},
		{"VIGIL_PROFILE, VIGIL_DESKTOP_PROFILE", "Profile of the posture server and of the desktop server."},
		{"VIGIL_URL, VIGIL_TOKEN", "Posture server and API token, in place of a profile."},
		{"VIGIL_DESKTOP_URL, VIGIL_DESKTOP_KEY", "Desktop server and read-only key, in place of a profile."},
		{"VIGIL_CA", "File with the certificate authority (PEM) of these servers, if the machine does not trust it."},
		{"NO_COLOR", "When set, nothing is coloured."},
	} {
		m.item(v[0], v[1])
	}
	m.section("EXIT STATUS")
	for _, code := range [][2]string{
		{"0", "The command succeeded, or it is a command that runs until it is interrupted, and was interrupted."},
		{"1", "The command failed, or was interrupted before its end."},
		{"2", "The command or its input is invalid."},
		{"3", "There are findings of the level that --fail-on names or of a higher one, or components of a desktop server with the status that --fail-on names or a worse one."},
		{"4", "A scan with --fail-on found no findings of that level or a higher one, but could not read everything."},
	} {
		m.item(code[0], code[1])
	}
	return m.Flush()
}

// manual writes the parts of a manual page.
type manual struct {
	*bufio.Writer
	settings map[string]bool // flags that are settings
}

func (m *manual) macro(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *manual) section(name string) { m.macro(".SH %s", name) }

// text writes a paragraph.
func (m *manual) text(text string) {
	fmt.Fprintln(m, escape(text))
}

// item writes a term and its description.
func (m *manual) item(term, text string) {
	m.macro(".TP\n.B %s", quote(term))
	m.text(text)
}

// command writes the synopsis of a command, its description, and its own flags.
func (m *manual) command(n *kong.Node) {
	m.macro(".SS %s", quote(n.FullPath()))
	m.text(n.Help)
	m.macro(".PP")
	var usage strings.Builder
	for _, p := range n.Positional {
		usage.WriteString(" " + p.Summary())
	}
	m.macro(".B %s", quote(n.FullPath()))
	m.text(strings.TrimSpace(usage.String() + " [FLAG...]"))
	for _, p := range n.Positional {
		m.item(p.Summary(), p.Help)
	}
	m.flags(n.Flags)
	for _, f := range n.Flags {
		if m.settings[f.Name] {
			m.macro(".PP")
			m.text("It also takes the flags of SETTINGS.")
			break
		}
	}
}

// flags writes the flags that are not settings.
func (m *manual) flags(flags []*kong.Flag) {
	for _, f := range flags {
		if !f.Hidden && !m.settings[f.Name] {
			m.flag(f, f.Envs...)
		}
	}
}

func (m *manual) flag(f *kong.Flag, variables ...string) {
	term := "--" + f.Name
	if f.Short != 0 {
		term = "-" + string(f.Short) + ", " + term
	}
	if !f.IsBool() {
		term += "=" + f.FormatPlaceHolder()
	}
	text := f.Help
	if len(variables) > 0 {
		text += " Variable: " + strings.Join(variables, ", ") + "."
	}
	m.item(term, text)
}

// settingFlags writes the flags of all settings once, using the first command that has
// them.
func (m *manual) settingFlags(app *kong.Application) {
	for _, leaf := range app.Leaves(true) {
		found := false
		for _, f := range leaf.Flags {
			if m.settings[f.Name] && !f.Hidden {
				found = true
				m.flag(f, config.EnvName(f.Name))
			}
		}
		if found {
			return
		}
	}
}

// escape escapes text for troff.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// quote quotes text as one argument of a macro.
func quote(text string) string { return `"` + strings.ReplaceAll(escape(text), `"`, `""`) + `"` }
