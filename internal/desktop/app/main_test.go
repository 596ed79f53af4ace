package app_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(counted{m}) }

// counted runs the tests and then counts: every value that the document has for
// a monitor record must have been seen by one of them.
type counted struct{ *testing.M }

// Run implements [goleak.TestingM].
func (c counted) Run() int {
	code := c.M.Run()
	if os.Getenv("VIGIL_TEST_VALUES") != "" {
		fmt.Print(values.table())
	}
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return code // some of the tests only
		}
	}
	missing := values.missing()
	if code != 0 || len(missing) == 0 {
		return code
	}
	fmt.Fprintf(os.Stderr, "values of the API document that no test reached:\n\t%s\n", strings.Join(missing, "\n\t"))
	return 1
}
