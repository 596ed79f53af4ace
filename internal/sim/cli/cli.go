// Package cli stands in for the command lines of the clouds: programs called aws,
// az and gcloud that do to the simulated clouds what the real ones do to the real
// ones, as far as the product's scripts go, and that record every call.
//
// They know no more commands and options than the scripts use, and refuse all
// others, so that a misspelt one does not pass.
package cli

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"vigil/internal/sim/aws"
	"vigil/internal/sim/azure"
	"vigil/internal/sim/events"
	"vigil/internal/sim/gcp"
)

// Options are what the programs work on.
type Options struct {
	Dir     string // where the programs are put, for PATH
	AWS     *aws.Cloud
	Azure   *azure.Cloud
	GCP     *gcp.Cloud
	Courier *events.Courier
}

// A Desk is where the programs' calls arrive.
type Desk struct {
	o      Options
	server *httptest.Server

	mu     sync.Mutex
	calls  []Call
	things map[string]map[string]string // what was made, by its path
}

// A Call is one run of a program.
type Call struct {
	Program string
	Words   []string            // before the options: {"sns", "create-topic"}
	Options map[string][]string // by name without dashes
	Session string              // token of the session, of aws alone
}

// String returns the command line without its options.
func (c Call) String() string { return c.Program + " " + strings.Join(c.Words, " ") }

// one returns the value of an option.
func (c Call) one(name string) string { return strings.Join(c.Options[name], " ") }

// A refusal is a call that ends badly.
type refusal struct {
	code    int
	message string
}

func (r *refusal) Error() string { return r.message }

func refuse(format string, args ...any) error { return &refusal{254, fmt.Sprintf(format, args...)} }

// A command is something a program can do.
type command struct {
	options string // that it takes, apart by spaces
	run     func(d *Desk, ctx context.Context, c Call) (string, error)
}

// A program has commands by their first words. Words that follow are arguments.
type program map[string]command

var programs = map[string]program{"aws": awsProgram, "az": azProgram, "gcloud": gcloudProgram}

// Open puts the programs in place.
func Open(o Options) (*Desk, error) {
	d := &Desk{o: o, things: map[string]map[string]string{}}
	d.server = httptest.NewServer(d)
	for name := range programs {
		text := strings.NewReplacer("@program@", name, "@server@", d.server.URL).Replace(standIn)
		if err := os.WriteFile(filepath.Join(o.Dir, name), []byte(text), 0o755); err != nil { // #nosec G306 -- a program must be executable
			d.Close()
			return nil, err
		}
	}
	return d, nil
}

// standIn is the program. The first line of an answer is its exit code.
const standIn = `#!/usr/bin/env bash
words=()
for word in "$@"; do
	words+=(--data-urlencode "word=$word")
done
answer=$(curl --silent --show-error --noproxy '*' --data-urlencode "session=${AWS_SESSION_TOKEN:-}" "${words[@]}" @server@/@program@ && echo .)
answer=${answer%.} # which keeps the last line break
code=${answer%%$'\n'*}
answer=${answer#*$'\n'}
if [[ $code != 0 ]]; then
	printf '%s' "$answer" >&2
	exit "${code:-1}"
fi
printf '%s' "$answer"
`

// Close ends the desk.
func (d *Desk) Close() { d.server.Close() }

// Calls returns what was called since it was last asked, and forgets it.
func (d *Desk) Calls() []Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.calls
	d.calls = nil
	return all
}

// Things lists what there is, by its path, in order.
func (d *Desk) Things() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := []string{}
	for path, values := range d.things {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			path += " " + name + "=" + values[name]
		}
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

// ServeHTTP implements [http.Handler].
func (d *Desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c := parse(strings.Trim(r.URL.Path, "/"), r.PostForm["word"])
	c.Session = r.PostForm.Get("session")
	d.mu.Lock()
	d.calls = append(d.calls, c)
	d.mu.Unlock()
	text, err := d.run(r.Context(), c)
	code := 0
	if err != nil {
		code, text = 2, err.Error()
		if no, ok := err.(*refusal); ok { //nolint:errorlint // it is never wrapped
			code = no.code
		}
	}
	if text != "" {
		text += "\n"
	}
	fmt.Fprintf(w, "%d\n%s", code, text)
}

// parse takes a command line apart.
func parse(name string, words []string) Call {
	c := Call{Program: name, Options: map[string][]string{}}
	option := ""
	for _, word := range words {
		rest, isOption := strings.CutPrefix(word, "--")
		switch {
		case isOption:
			at, value, has := strings.Cut(rest, "=")
			option = at
			c.Options[at] = append(c.Options[at], []string{}...)
			if has {
				c.Options[at], option = append(c.Options[at], value), ""
			}
		case option != "":
			c.Options[option] = append(c.Options[option], word)
		default:
			c.Words = append(c.Words, word)
		}
	}
	return c
}

func (d *Desk) run(ctx context.Context, c Call) (string, error) {
	commands := programs[c.Program]
	for n := len(c.Words); n > 0; n-- {
		found, ok := commands[strings.Join(c.Words[:n], " ")]
		if !ok {
			continue
		}
		takes := strings.Fields(found.options)
		for name := range c.Options {
			if !slices.Contains(takes, name) && !slices.Contains(everywhere[c.Program], name) {
				return "", fmt.Errorf("%s: unrecognized arguments: --%s", c, name)
			}
		}
		c.Words = c.Words[n:]
		return found.run(d, ctx, c)
	}
	return "", fmt.Errorf("%s: no such command", c)
}

// everywhere are the options that all commands of a program take.
var everywhere = map[string][]string{
	"aws": {"region", "query", "output"}, "az": {"query", "output", "only-show-errors"}, "gcloud": {"project", "format", "quiet"},
}

// put makes a thing or adds to it.
func (d *Desk) put(path string, pairs ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.things[path] == nil {
		d.things[path] = map[string]string{}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		d.things[path][pairs[i]] = pairs[i+1]
	}
}

// get returns a value of a thing, and whether the thing is there.
func (d *Desk) get(path, name string) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, ok := d.things[path]
	return t[name], ok
}

// drop removes a thing and reports whether it was there.
func (d *Desk) drop(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.things[path]
	delete(d.things, path)
	return ok
}

// below lists the things whose path begins like this.
func (d *Desk) below(prefix string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for path := range d.things {
		if strings.HasPrefix(path, prefix) {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return all
}

// answer returns what a query asks for. Every query that scripts ask is known.
func (c Call) answer(known map[string]string) (string, error) {
	if c.one("output") == "none" || c.one("query") == "" {
		return known[""], nil
	}
	if text, ok := known[c.one("query")]; ok {
		return text, nil
	}
	return "", fmt.Errorf("%s: nobody knows what %s is", c, c.one("query"))
}
