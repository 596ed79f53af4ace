package inventory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// maxSize limits the size of the file.
const maxSize = 8 << 20

// Options contain settings that are not in the file.
type Options struct {
	// Self is the name of the connection server that this process represents. If
	// empty, it is the one with self: true. A single server needs neither.
	Self string
}

// Load reads the inventory in a file.
func Load(path string, o Options) (desktop.Inventory, error) {
	f, err := os.Open(path)
	if err != nil {
		return desktop.Inventory{}, fmt.Errorf("open inventory: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return desktop.Inventory{}, fmt.Errorf("read inventory: %w", err)
	}
	return Parse(text, o)
}

// Parse parses an inventory. It fails with fault.TooLarge if the text is larger than
// maxSize, else with fault.Invalid: that error lists all problems, and its cause is a
// Problems.
func Parse(text []byte, o Options) (desktop.Inventory, error) {
	if len(text) > maxSize {
		return desktop.Inventory{}, fault.New(fault.TooLarge, "the inventory is larger than %d bytes", maxSize)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF), err == nil && len(doc.Content) == 0:
		return desktop.Inventory{}, Problems{{1, "", "the file is empty"}}.fault()
	case err != nil:
		return desktop.Inventory{}, Problems{syntaxProblem(err)}.fault()
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return desktop.Inventory{}, Problems{{max(more.Line, 1), "", "the file must contain one document"}}.fault()
	}
	r := &reader{lines: make(map[string]int), nulls: make(map[string]bool)}
	var f file
	r.read(doc.Content[0], reflect.ValueOf(&f).Elem(), "")
	b := &builder{reader: r, options: o, names: make(map[string]string), ids: make(map[desktop.ID]string)}
	inv := b.build(f)
	if err := r.problems.fault(); err != nil {
		return desktop.Inventory{}, err
	}
	return inv, nil
}

var lineOfError = regexp.MustCompile(`line (\d+): `)

// syntaxProblem converts an error of the YAML package to a problem with its
// line.
func syntaxProblem(err error) Problem {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	p := Problem{Line: 1, Message: "the file is not YAML: " + text}
	if m := lineOfError.FindStringSubmatchIndex(text); m != nil {
		p.Line, _ = strconv.Atoi(text[m[2]:m[3]])
		p.Message = "the file is not YAML: " + text[:m[0]] + text[m[1]:]
	}
	return p
}
