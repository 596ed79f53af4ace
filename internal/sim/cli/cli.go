// Package cli simulates the command lines of the clouds: programs named aws, az
// and gcloud that change the simulated clouds like the real ones, as far as the
// product's scripts need it, and that record every call.
//
// The programs implement exactly the commands and options that the scripts use and
// refuse all others, so that misspelt ones fail.
package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// Options configure the simulated programs.
type Options struct {
	Dir       string // folder of the programs, for PATH
	AWS       *aws.Cloud
	Azure     *azure.Cloud
	GCP       *gcp.Cloud
	Publisher *events.Publisher
}

// A Server receives the calls of the programs.
type Server struct {
	o      Options
	server *httptest.Server

	mu      sync.Mutex
	calls   []Call
	objects map[string]map[string]string // created objects by path
}

// A Call is one execution of a program.
type Call struct {
	Program string
	Words   []string            // before the options: {"sns", "create-topic"}
	Options map[string][]string // by name without dashes
	Session string              // token of the session, of aws alone
}

// String returns the command line without its options.
func (c Call) String() string { return c.Program + " " + strings.Join(c.Words, " ") }

// one returns the values of an option as one text, separated by spaces.
func (c Call) one(name string) string { return strings.Join(c.Options[name], " ") }

// A refusal is an error with an exit code.
type refusal struct {
	code    int
	message string
}

func (r *refusal) Error() string { return r.message }

// refuse returns the error of a command that the cloud refuses. 254 is the exit code of aws for it.
func refuse(format string, args ...any) error { return &refusal{254, fmt.Sprintf(format, args...)} }

// A command is a command of a program.
type command struct {
	options string // supported options, separated by spaces
	run     func(d *Server, ctx context.Context, c Call) (string, error)
}

// A program has its commands by their words, such as "iam roles describe". Words of a
// command line after these are arguments.
type program map[string]command

var programs = map[string]program{"aws": awsProgram, "az": azProgram, "gcloud": gcloudProgram}

// Open writes the programs and starts the server that they call.
func Open(o Options) (*Server, error) {
	d := &Server{o: o, objects: map[string]map[string]string{}}
	d.server = httptest.NewServer(d)
	address := strings.Replace(d.server.Listener.Addr().String(), ":", "/", 1) // bash opens a socket as /dev/tcp/HOST/PORT
	for name := range programs {
		text := strings.NewReplacer("@program@", name, "@address@", address).Replace(script)
		if err := os.WriteFile(filepath.Join(o.Dir, name), []byte(text), 0o755); err != nil { // #nosec G306 -- a program must be executable
			d.Close()
			return nil, err
		}
	}
	return d, nil
}

// script is the text of each program. A program sends its words, each ended by a zero byte,
// through a socket of bash, because starting curl takes longer than all else. The first line
// of the body of a response is the exit code.
const script = `#!/usr/bin/env bash
LC_ALL=C # lengths are numbers of bytes
length=0
for word in "$@"; do
	((length += ${#word} + 1))
done
exec 3<>/dev/tcp/@address@ || exit 1
printf 'POST /@program@ HTTP/1.0\r\nSession: %s\r\nContent-Length: %d\r\n\r\n' "${AWS_SESSION_TOKEN:-}" "$length" >&3
printf '%s\0' "$@" >&3
while read -r header <&3 && [[ $header != $'\r' ]]; do
	:
done
read -r code <&3
if [[ $code != 0 ]]; then
	cat <&3 >&2
	exit "${code:-1}"
fi
cat <&3
`

// Close stops the server.
func (s *Server) Close() { s.server.Close() }

// Calls returns the calls since the last call of Calls.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.calls
	s.calls = nil
	return all
}

// Objects returns the created objects, sorted: the path of each, followed by its values as
// NAME=VALUE.
func (s *Server) Objects() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []string{}
	for path, values := range s.objects {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			path += " " + name + "=" + values[name]
		}
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c := parse(strings.Trim(r.URL.Path, "/"), strings.Split(strings.TrimSuffix(string(body), "\x00"), "\x00"))
	c.Session = r.Header.Get("Session")
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	text, err := s.run(r.Context(), c)
	code := 0
	if err != nil {
		code, text = 2, err.Error()
		if refused, ok := err.(*refusal); ok { //nolint:errorlint // it is never wrapped
			code = refused.code
		}
	}
	if text != "" {
		text += "\n"
	}
	fmt.Fprintf(w, "%d\n%s", code, text)
}

// parse parses a command line.
func parse(program string, words []string) Call {
	c := Call{Program: program, Options: map[string][]string{}}
	option := ""
	for _, word := range words {
		rest, isOption := strings.CutPrefix(word, "--")
		switch {
		case isOption:
			name, value, hasValue := strings.Cut(rest, "=")
			values := c.Options[name]
			option = name
			if hasValue {
				values, option = append(values, value), ""
			}
			c.Options[name] = values // also without a value: then the following words are its values, if any
		case option != "":
			c.Options[option] = append(c.Options[option], word)
		default:
			c.Words = append(c.Words, word)
		}
	}
	return c
}

func (s *Server) run(ctx context.Context, c Call) (string, error) {
	commands := programs[c.Program]
	for n := len(c.Words); n > 0; n-- {
		found, ok := commands[strings.Join(c.Words[:n], " ")]
		if !ok {
			continue
		}
		options := strings.Fields(found.options)
		for name := range c.Options {
			if !slices.Contains(options, name) && !slices.Contains(commonOptions[c.Program], name) {
				return "", fmt.Errorf("%s: unrecognized arguments: --%s", c, name)
			}
		}
		c.Words = c.Words[n:]
		return found.run(s, ctx, c)
	}
	return "", fmt.Errorf("%s: no such command", c)
}

// commonOptions are the options that all commands of a program accept.
var commonOptions = map[string][]string{
	"aws": {"region", "query", "output"}, "az": {"query", "output", "only-show-errors"}, "gcloud": {"project", "format", "quiet"},
}

// put creates an object or adds values to it.
func (s *Server) put(path string, pairs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[path] == nil {
		s.objects[path] = map[string]string{}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		s.objects[path][pairs[i]] = pairs[i+1]
	}
}

// get returns a value of an object. It returns false if the object does not
// exist.
func (s *Server) get(path, name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.objects[path]
	return t[name], ok
}

// drop removes an object and reports whether it existed.
func (s *Server) drop(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.objects[path]
	delete(s.objects, path)
	return ok
}

// withPrefix returns the paths of the objects whose path has a prefix.
func (s *Server) withPrefix(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for path := range s.objects {
		if strings.HasPrefix(path, prefix) {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return all
}

// readJSON decodes a file that a script has written for a command.
func readJSON(file string, into any) error {
	text, err := os.ReadFile(file) // #nosec G304 -- the script wrote it
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// answer returns the result for the call's --query. known maps each supported query, in JMESPath,
// to its result, and "" to the result without a query or output.
func (c Call) answer(known map[string]string) (string, error) {
	if c.one("output") == "none" || c.one("query") == "" {
		return known[""], nil
	}
	if text, ok := known[c.one("query")]; ok {
		return text, nil
	}
	return "", fmt.Errorf("%s: unknown query %s", c, c.one("query"))
}
