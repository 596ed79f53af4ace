package main

import (
	"io"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
)

// TestOneCommandIsParsedAsInTheWholeCommandLine compares the subcommands and flags in a parser
// of one command with those of this command in the parser of all commands.
func TestOneCommandIsParsedAsInTheWholeCommandLine(t *testing.T) {
	t.Parallel()
	app, err := allCommands()
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range app.Children {
		parser, err := newParser([]string{command.Name}, nil, io.Discard, io.Discard, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(parser.Model.Children); n != 1 {
			t.Errorf("%s: the parser has %d commands", command.Name, n)
		}
		if got, want := flagsOf(parser.Model.Children[0]), flagsOf(command); !slices.Equal(got, want) {
			t.Errorf("%s: the parser has the flags %q, want %q", command.Name, got, want)
		}
		if got, want := len(parser.Model.Flags), len(app.Flags); got != want {
			t.Errorf("%s: %d flags before the command, want %d", command.Name, got, want)
		}
	}
}

// TestOtherWordsAreNoCommands checks that words that are not commands are refused. One of them is the name of a field of cli.
func TestOtherWordsAreNoCommands(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"configfile", "nosuch"} {
		if code := run([]string{word}, nil, io.Discard, io.Discard); code != exitUsage {
			t.Errorf("vigil %s exits with %d, want %d", word, code, exitUsage)
		}
	}
}

// flagsOf returns the flags and arguments of a command and its subcommands, with their paths.
func flagsOf(n *kong.Node) (all []string) {
	all = append(all, n.FullPath()+" "+n.Help)
	for _, f := range n.Flags {
		all = append(all, n.FullPath()+" "+f.Summary()+" "+f.Help)
	}
	for _, p := range n.Positional {
		all = append(all, n.FullPath()+" "+p.Summary())
	}
	for _, child := range n.Children {
		all = append(all, flagsOf(child)...)
	}
	return all
}
