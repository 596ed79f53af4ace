package eventdb

import (
	"crypto/tls"
	"database/sql"
	"fmt"
	"strings"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// A dialect is what differs between database servers.
type dialect struct {
	// open prepares connections, over TLS unless the configuration is nil.
	open func(spec desktop.EventDatabase, password string, config *tls.Config, dialer reach.WatchedDialer) (*sql.DB, error)

	// spellings lists how a table prefix may be spelt in the database; the last
	// is how we spell it ourselves.
	spellings func(prefix string) []string

	// quote makes an identifier of a name that is known to be harmless.
	quote func(name string) string

	// bind is the n-th parameter, from 1.
	bind func(n int) string

	// create makes a table unless it is there.
	create func(table, columns string) string

	// lock keeps other writers out until the transaction ends.
	lock func(table string) string

	// explain says what an error of the server means.
	explain func(error) explanation

	number, text, timestamp string // column types
}

// missingTable is a cause we mend ourselves.
const missingTable desktop.Cause = "MISSING_TABLE"

// explanation is what an error means; its zero value that we do not know.
type explanation struct {
	cause desktop.Cause
	words string
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

// numbered returns the first n parameters, separated by commas.
func (d dialect) numbered(n int) string {
	parameters := make([]string, n)
	for i := range parameters {
		parameters[i] = d.bind(i + 1)
	}
	return strings.Join(parameters, ", ")
}

// doubled quotes a name with double quotes.
func doubled(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// eventColumns are those of the tables of events.
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

// dataColumns are those of the tables of what belongs to an event.
func (d dialect) dataColumns() string {
	return fmt.Sprintf("EventID %s NOT NULL, Name %s NOT NULL, Type %[1]s, IntValue %[1]s, StrValue %[2]s, TimeValue %[3]s, BooleanValue %[1]s, PRIMARY KEY (EventID, Name)",
		d.number, d.text, d.timestamp)
}
