package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell to complete for: bash, zsh or fish."`
}

// Run implements the command.
func (c *completionCmd) Run(e *environment) error {
	app, err := allCommands()
	if err != nil {
		return err
	}
	all := map[string]completions{}
	gather(app.Node, "", all)
	write := map[string]func(io.Writer, map[string]completions){"bash": bash, "zsh": zsh, "fish": fish}[c.Shell]
	write(e.stdout, all)
	return nil
}

// completions are the words that may follow a command.
type completions struct {
	commands []string
	flags    []*kong.Flag
	argument values // of the first argument
}

// values are the completions of a flag or argument: the permitted words, or names of a
// kind that "vigil names" prints, from a server or the profiles.
type values struct{ words, kind string }

// valuesOf returns the completions that the tags of a flag or argument state.
func valuesOf(v *kong.Value) values {
	return values{words: strings.TrimSpace(strings.Join(v.EnumSlice(), " ")), kind: v.Tag.Get("completes")}
}

// gather collects the completions of a command and its subcommands by their paths. The
// flags and the argument of a default subcommand may also follow its parent.
func gather(n *kong.Node, path string, all map[string]completions) {
	var found completions
	for _, child := range n.Children {
		if child.Hidden {
			continue
		}
		found.commands = append(found.commands, child.Name)
		gather(child, strings.TrimSpace(path+" "+child.Name), all)
	}
	for _, from := range []*kong.Node{n, n.DefaultCmd} {
		if from == nil {
			continue
		}
		for _, f := range from.Flags {
			if !f.Hidden {
				found.flags = append(found.flags, f)
			}
		}
		if len(from.Positional) > 0 {
			found.argument = valuesOf(from.Positional[0])
		}
	}
	all[path] = found
}

// bash writes a function that walks the typed words and offers those that may follow.
// Words that are not commands are values of flags and arguments. zsh runs the function too,
// so it must not have variables called path or words, which are special in zsh.
func bash(w io.Writer, all map[string]completions) {
	var commands, flags, next []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		c := all[path]
		if path != "" {
			commands = append(commands, fmt.Sprintf("%q", path))
		}
		var names []string
		for _, f := range c.flags {
			names = append(names, "--"+f.Name)
			if f.IsBool() {
				continue
			}
			pattern, v := fmt.Sprintf("%q", path+" --"+f.Name), valuesOf(f.Value)
			if f.Short != 0 {
				pattern += fmt.Sprintf("|%q", path+" -"+string(f.Short))
			}
			flags = append(flags, fmt.Sprintf("    %s) kind=%q offered=%q ;;", pattern, v.kind, v.words))
		}
		next = append(next, fmt.Sprintf("      %q:-*) offered=%q ;;", path, strings.Join(names, " ")))
		switch {
		case c.argument != values{} && len(c.commands) == 0:
			next = append(next, fmt.Sprintf("      %q:*) kind=%q offered=%q ;;", path, c.argument.kind, c.argument.words))
		default:
			next = append(next, fmt.Sprintf("      %q:*) offered=%q ;;", path, strings.Join(slices.Concat(c.commands, names), " ")))
		}
	}
	// The script has three lists: the paths of all commands; by path and flag, the values of the flag; by path and the beginning of the
	// current word, the words that may follow.
	fmt.Fprintf(w, `_vigil() {
  local command="" word kind="" offered="" current="${COMP_WORDS[$COMP_CWORD]}" before="${COMP_WORDS[$((COMP_CWORD - 1))]}"
  for word in "${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "${command:+$command }$word" in
      %s) command="${command:+$command }$word" ;;
    esac
  done
  case "$command $before" in
%s
    *) case "$command:$current" in
%s
    esac ;;
  esac
  local IFS=$'\n'
  if [ -n "$kind" ]; then
    offered=$(vigil names "$kind" 2>/dev/null)
  else
    offered=${offered// /$'\n'}
  fi
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$(printf '%%q' "$word")")
  done < <(compgen -W "$offered" -- "$current")
}
complete -o default -F _vigil vigil
`, strings.Join(commands, "|"), strings.Join(flags, "\n"), strings.Join(next, "\n"))
}

func zsh(w io.Writer, all map[string]completions) {
	fmt.Fprintln(w, "#compdef vigil\nautoload -U +X bashcompinit && bashcompinit")
	bash(w, all)
}

func fish(w io.Writer, all map[string]completions) {
	for _, path := range slices.Sorted(maps.Keys(all)) {
		c := all[path]
		var conditions []string
		for _, command := range strings.Fields(path) {
			conditions = append(conditions, "__fish_seen_subcommand_from "+command)
		}
		if len(c.commands) > 0 {
			conditions = append(conditions, "not __fish_seen_subcommand_from "+strings.Join(c.commands, " "))
		}
		start := fmt.Sprintf("complete -c vigil -n %q", strings.Join(conditions, "; and "))
		for _, command := range c.commands {
			fmt.Fprintln(w, start, "-f -a", command)
		}
		for _, f := range c.flags {
			option := "-l " + f.Name
			if f.Short != 0 {
				option += " -s " + string(f.Short)
			}
			switch v := valuesOf(f.Value); {
			case v != values{}:
				option += " -x -a " + v.fish()
			case !f.IsBool():
				option += " -r"
			}
			fmt.Fprintln(w, start, option)
		}
		if c.argument != (values{}) {
			fmt.Fprintln(w, start, "-f -a", c.argument.fish())
		}
	}
}

// fish returns the completions as a quoted argument of fish's command complete.
func (v values) fish() string {
	if v.kind != "" {
		return "'(vigil names " + v.kind + " 2>/dev/null)'"
	}
	return "'" + v.words + "'"
}
