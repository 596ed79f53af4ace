package eventdb

import (
	"crypto/tls"
	"database/sql"
	"fmt"
	"strings"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// A dialect contains the differences between database servers.
type dialect struct {
	// open opens a connection pool, with TLS unless the configuration is nil.
	open func(spec desktop.EventDatabase, password string, config *tls.Config, dialer reach.WatchedDialer) (*sql.DB, error)

	// prefixSpellings returns the spellings that a table prefix may have in the database, because some
	// servers change the case of names. The last one is used to create tables.
	prefixSpellings func(prefix string) []string

	// quote quotes an identifier that is known to be safe.
	quote func(name string) string

	// bind returns the n-th parameter, from 1.
	bind func(n int) string

	// create returns a statement that creates a table unless it exists.
	create func(table, columns string) string

	// lock returns a statement that locks out other writers until the transaction
	// ends.
	lock func(table string) string

	// explain classifies an error of the server.
	explain func(error) explanation

	number, text, timestamp string // column types

	// length returns what a character adds to the length of a text in a column.
	length func(r rune) int
}

// countCharacters counts every character as one.
func countCharacters(rune) int { return 1 }

// missingTable is a cause that open resolves by creating the tables.
const missingTable desktop.Cause = "MISSING_TABLE"

// explanation is a classified error; its zero value means unknown.
type explanation struct {
	cause     desktop.Cause
	predicate string // the rest of a sentence that begins with the server's name
}

// The usual explanations.
var (
	wrongLogin = explanation{desktop.Refused, "does not accept the user name and password"}
	noDatabase = explanation{desktop.Broken, "has no such database, or does not open it for us"}
	noTable    = explanation{missingTable, "has no event tables"}
	noRight    = explanation{desktop.Denied, "does not let the user read or write the event tables"}
)

var dialects = map[desktop.DatabaseType]dialect{
	desktop.PostgreSQL: postgres,
	desktop.SQLServer:  sqlServer,
	desktop.Oracle:     oracle,
}

// table returns the quoted name of one of the event tables.
func (d *Database) table(name string) string { return d.dialect.quote(d.prefix + name) }

// parameters returns the placeholders of the first n parameters, separated by commas.
func (d dialect) parameters(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = d.bind(i + 1)
	}
	return strings.Join(all, ", ")
}

// quoteIdentifier quotes a name with double quotes.
func quoteIdentifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// eventColumns returns the columns of the event tables.
func (d dialect) eventColumns() string {
	columns := []string{
		"EventID " + d.number + " NOT NULL PRIMARY KEY",
		"Time " + d.timestamp + " NOT NULL",
		"Acknowledged " + d.number + " NOT NULL",
	}
	for _, name := range []string{
		"EventType", "Severity", "Module", "ModuleAndEventText", "Node", "Source", "UserSID", "DesktopId", "MachineId",
		"FolderPath", "GroupId", "LUNId", "ApplicationId", "EndpointId", "ThinAppId", "UserDiskPathId", "SessionType",
	} {
		columns = append(columns, name+" "+d.text)
	}
	return strings.Join(columns, ", ")
}

// dataColumns returns the columns of the event data tables.
func (d dialect) dataColumns() string {
	return fmt.Sprintf("EventID %s NOT NULL, Name %s NOT NULL, Type %[1]s, IntValue %[1]s, StrValue %[2]s, TimeValue %[3]s, BooleanValue %[1]s, PRIMARY KEY (EventID, Name)",
		d.number, d.text, d.timestamp)
}
