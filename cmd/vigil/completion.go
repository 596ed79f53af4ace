package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"vigil/internal/client"
	"vigil/internal/terminal"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell to complete for: bash, zsh or fish."`
}

// Run implements the command.
func (c *completionCmd) Run(e *environment, k *kong.Kong) error {
	words := map[string][]string{} // words that may follow each command, by its path
	gather(k.Model.Node, "", words)
	write := map[string]func(io.Writer, map[string][]string){"bash": bash, "zsh": zsh, "fish": fish}[c.Shell]
	write(e.stdout, words)
	return nil
}

// gather collects the commands and flags that may follow a node. The flags of a default
// subcommand may also follow its parent.
func gather(n *kong.Node, path string, words map[string][]string) {
	var next []string
	for _, child := range n.Children {
		if child.Hidden {
			continue
		}
		next = append(next, child.Name)
		gather(child, strings.TrimSpace(path+" "+child.Name), words)
	}
	flags := n.Flags
	if n.DefaultCmd != nil {
		flags = slices.Concat(flags, n.DefaultCmd.Flags)
	}
	for _, f := range flags {
		if !f.Hidden {
			next = append(next, "--"+f.Name)
		}
	}
	words[path] = next
}

// liveFlags maps flags to the kind of names that are their values; "vigil names" prints
// the names, from a server or the profiles.
var liveFlags = map[string]string{"--account": "accounts", "--rule": "rules", "--framework": "frameworks", "--farm": "farms", "--profile": "profiles", "--use": "profiles"}

// liveArguments maps commands to the kind of names that are their arguments.
var liveArguments = map[string]string{"accounts schedule": "accounts", "accounts set": "accounts", "collect": "accounts", "query": "accounts", "compliance": "frameworks"}

// bash writes a function that walks the typed words and offers those that may follow.
// Words that are not commands are values of flags and arguments.
func bash(w io.Writer, words map[string][]string) {
	var commands []string
	for _, path := range sortedKeys(words) {
		if path != "" {
			commands = append(commands, fmt.Sprintf("%q", path))
		}
	}
	fmt.Fprint(w, "_vigil() {\n  local path=\"\" word live=\"\" current=\"${COMP_WORDS[COMP_CWORD]}\"\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"+
		"    case \"${path:+$path }$word\" in\n      "+strings.Join(commands, "|")+") path=\"${path:+$path }$word\" ;;\n    esac\n  done\n")
	fmt.Fprint(w, "  case \"$path:$current\" in\n    *:-*) ;;\n")
	for _, path := range slices.Sorted(maps.Keys(liveArguments)) {
		fmt.Fprintf(w, "    %q:*) live=%s ;;\n", path, liveArguments[path])
	}
	fmt.Fprint(w, "  esac\n  case \"${COMP_WORDS[COMP_CWORD-1]}\" in\n")
	for _, flag := range slices.Sorted(maps.Keys(liveFlags)) {
		fmt.Fprintf(w, "    %s) live=%s ;;\n", flag, liveFlags[flag])
	}
	fmt.Fprint(w, "  esac\n  if [ -n \"$live\" ]; then\n    mapfile -t COMPREPLY < <(compgen -W \"$(vigil names \"$live\" 2>/dev/null)\" -- \"$current\")\n    return\n  fi\n  case \"$path\" in\n")
	for _, path := range sortedKeys(words) {
		fmt.Fprintf(w, "    %q) mapfile -t COMPREPLY < <(compgen -W %q -- \"$current\") ;;\n", path, strings.Join(words[path], " "))
	}
	fmt.Fprint(w, "  esac\n}\ncomplete -o default -F _vigil vigil\n")
}

func zsh(w io.Writer, words map[string][]string) {
	fmt.Fprintln(w, "#compdef vigil\nautoload -U +X bashcompinit && bashcompinit")
	bash(w, words)
}

func fish(w io.Writer, words map[string][]string) {
	for _, path := range sortedKeys(words) {
		condition := "__fish_use_subcommand"
		if path != "" {
			parts := strings.Fields(path)
			condition = "__fish_seen_subcommand_from " + parts[len(parts)-1]
		}
		for _, word := range words[path] {
			flag, ok := strings.CutPrefix(word, "--")
			switch live := liveFlags[word]; {
			case live != "":
				fmt.Fprintf(w, "complete -c vigil -n %q -l %s -x -a '(vigil names %s 2>/dev/null)'\n", condition, flag, live)
			case ok:
				fmt.Fprintf(w, "complete -c vigil -n %q -l %s\n", condition, flag)
			default:
				fmt.Fprintf(w, "complete -c vigil -f -n %q -a %s\n", condition, word)
			}
		}
		if live := liveArguments[path]; live != "" {
			fmt.Fprintf(w, "complete -c vigil -f -n %q -a '(vigil names %s 2>/dev/null)'\n", condition, live)
		}
	}
}

func sortedKeys(words map[string][]string) []string { return slices.Sorted(maps.Keys(words)) }

type namesCmd struct {
	Profiles string `env:"VIGIL_PROFILES" help:"File with the profiles."`
	Kind     string `arg:"" enum:"accounts,rules,frameworks,farms,profiles" help:"Kind of names: accounts, rules, frameworks, farms or profiles."`
}

// namesWithin is the time limit of a completion.
const namesWithin = 5 * time.Second

// mostNames is the maximum number of completions.
const mostNames = 2000

// Run implements the command. It prints one name per line, for completion.
func (c *namesCmd) Run(e *environment) error {
	if c.Kind == "profiles" {
		profiles, err := profileFlags{Profiles: c.Profiles}.file()
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(profiles.All)) {
			fmt.Fprintln(e.stdout, name)
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(e.ctx, namesWithin)
	defer cancel()
	limited := *e
	limited.ctx = ctx
	all, member, err := c.records(&limited)
	for _, r := range all {
		fmt.Fprintln(e.stdout, terminal.OneLine(client.Text(r, member)))
	}
	return err
}

// records returns the records to name, and the member that holds their names.
func (c *namesCmd) records(e *environment) (all []client.Record, member string, err error) {
	if c.Kind == "farms" {
		all, err = desktopFlags{Profiles: c.Profiles}.records(e, "/rest/monitor/farms", nil)
		return all, "name", err
	}
	to, err := profileFlags{Profiles: c.Profiles}.client()
	if err != nil {
		return nil, "", err
	}
	switch c.Kind {
	case "accounts":
		all, _, err = to.List(e.ctx, "/v1/cloud-accounts/query", "cloudAccounts", nil, mostNames)
		return all, "cloudAccountId", err
	case "rules":
		all, _, err = to.List(e.ctx, "/v1/rules/query", "results", nil, mostNames)
		return all, "id", err
	}
	var frameworks client.Record
	err = to.Call(e.ctx, http.MethodGet, "/v1/compliance-frameworks", nil, &frameworks)
	return client.Records(frameworks, "results"), "id", err
}
