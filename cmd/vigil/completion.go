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
func (c *completionCmd) Run(e *environment, k *kong.Kong) error {
	words := map[string][]string{} // what may follow each command, by its path
	gather(k.Model.Node, "", words)
	write := map[string]func(io.Writer, map[string][]string){"bash": bash, "zsh": zsh, "fish": fish}[c.Shell]
	write(e.stdout, words)
	return nil
}

// gather finds the commands and flags that may follow a node.
func gather(n *kong.Node, path string, words map[string][]string) {
	var next []string
	for _, child := range n.Children {
		if child.Hidden {
			continue
		}
		next = append(next, child.Name)
		gather(child, strings.TrimSpace(path+" "+child.Name), words)
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			next = append(next, "--"+f.Name)
		}
	}
	words[path] = next
}

// bash writes a function that walks the words typed so far and offers what may
// follow them.
func bash(w io.Writer, words map[string][]string) {
	fmt.Fprint(w, "_vigil() {\n  local path=\"\" word\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"+
		"    case \"$word\" in -*) ;; *) path=\"${path:+$path }$word\" ;; esac\n  done\n  case \"$path\" in\n")
	for _, path := range sortedKeys(words) {
		fmt.Fprintf(w, "    %q) mapfile -t COMPREPLY < <(compgen -W %q -- \"${COMP_WORDS[COMP_CWORD]}\") ;;\n", path, strings.Join(words[path], " "))
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
			if flag, ok := strings.CutPrefix(word, "--"); ok {
				fmt.Fprintf(w, "complete -c vigil -n %q -l %s\n", condition, flag)
			} else {
				fmt.Fprintf(w, "complete -c vigil -f -n %q -a %s\n", condition, word)
			}
		}
	}
}

func sortedKeys(words map[string][]string) []string { return slices.Sorted(maps.Keys(words)) }
