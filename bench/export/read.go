package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"

	"vigil/internal/posture/export"
)

// readers count the findings of a file, by format. They fail if the file is not
// well-formed CSV, JSON, XML or HTML.
var readers = map[export.Format]func(io.Reader) (int, error){
	export.CSV:   readCSV,
	export.Lines: readLines,
	export.OCSF:  func(r io.Reader) (int, error) { return readArray(r) },
	export.ASFF:  func(r io.Reader) (int, error) { return readArray(r) },
	export.SARIF: func(r io.Reader) (int, error) { return readArray(r, "runs", "0", "results") },
	export.JUnit: readJUnit,
	export.HTML:  readHTML,
}

// maxFindings is the number of findings that a file may have, by format.
var maxFindings = map[export.Format]int{
	export.CSV: math.MaxInt, export.Lines: math.MaxInt, export.OCSF: math.MaxInt, export.ASFF: math.MaxInt, export.SARIF: math.MaxInt, export.JUnit: math.MaxInt, export.HTML: 5000,
}

// checkWithPython reads a file with readers.py, which uses a common library for each
// format, and checks the number of findings.
func checkWithPython(ctx context.Context, python string, f export.Format, name string, want int) error {
	c := exec.CommandContext(ctx, python, "bench/export/readers.py", string(f), name)
	var stderr strings.Builder
	c.Stderr = &stderr
	text, err := c.Output()
	if err != nil {
		return fmt.Errorf("readers.py: %w\n%s", err, stderr.String())
	}
	if got := strings.TrimSpace(string(text)); got != strconv.Itoa(want) {
		return fmt.Errorf("readers.py found %s findings, want %d", got, want)
	}
	return nil
}

func readCSV(r io.Reader) (n int, err error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	for n = -1; ; n++ { // the first record is the header
		if _, err := c.Read(); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

func readLines(r io.Reader) (n int, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for ; s.Scan(); n++ {
		if !json.Valid(s.Bytes()) {
			return n, fmt.Errorf("line %d is not JSON", n+1)
		}
	}
	return n, s.Err()
}

// readArray counts the elements of the array at a path of member names and indexes. It
// decodes the whole file.
func readArray(r io.Reader, path ...string) (int, error) {
	d := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	n, err := countAt(d, path)
	if err != nil {
		return n, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("data after the end: %v", err)
	}
	return n, nil
}

// countAt reads an array or object to its end, and counts the elements of the array at
// the path in it, or its own elements if the path is empty.
func countAt(d *json.Decoder, path []string) (n int, err error) {
	start, err := d.Token()
	if err != nil {
		return 0, err
	}
	for i := 0; d.More(); i++ {
		key := fmt.Sprint(i)
		if start == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return n, err
			}
			key = name.(string)
		}
		if len(path) > 0 && key == path[0] {
			found, err := countAt(d, path[1:])
			if n += found; err != nil {
				return n, err
			}
			continue
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return n, err
		}
		if len(path) == 0 {
			n++
		}
	}
	_, err = d.Token() // the closing bracket
	return n, err
}

// readJUnit counts the failures of test cases.
func readJUnit(r io.Reader) (n int, err error) {
	for d := xml.NewDecoder(bufio.NewReaderSize(r, 1<<20)); ; {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "failure" {
			n++
		}
	}
}

// readHTML counts the rows of the table of findings, which is the last one and has the
// column Account.
func readHTML(r io.Reader) (n int, err error) {
	d := xml.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	inTable := false // after the heading of the column Account
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		switch t := t.(type) {
		case xml.CharData:
			inTable = inTable || string(t) == "Account"
		case xml.StartElement:
			if inTable && t.Name.Local == "tr" {
				n++
			}
		}
	}
}
