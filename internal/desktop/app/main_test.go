package app_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(coverageChecked{m}) }

// coverageChecked runs the tests and then checks that each enumeration value of the
// document occurred in a monitor record in at least one test.
type coverageChecked struct{ *testing.M }

// Run implements [goleak.TestingM].
func (c coverageChecked) Run() int {
	code := c.M.Run()
	if os.Getenv("VIGIL_TEST_VALUES") != "" {
		fmt.Print(coverage.table())
	}
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return code // only some of the tests ran
		}
	}
	missing := coverage.missingValues()
	if code != 0 || len(missing) == 0 {
		return code
	}
	fmt.Fprintf(os.Stderr, "values of the API document that no test covers:\n\t%s\n", strings.Join(missing, "\n\t"))
	return 1
}
