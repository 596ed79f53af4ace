package eventdb

import (
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

var postgres = dialect{
	open: func(spec desktop.EventDatabase, password string, config *tls.Config, dialer reach.WatchedDialer) (*sql.DB, error) {
		// Without the placeholders, ParseConfig would take values from environment
		// variables such as PGHOST.
		c, err := pgx.ParseConfig("host=placeholder port=1 user=placeholder database=placeholder sslmode=disable")
		if err != nil {
			return nil, err
		}
		c.Host, c.Port, c.Database = spec.Server, uint16(spec.Port), spec.Database
		c.User, c.Password = spec.User, password
		c.TLSConfig, c.Fallbacks = config, nil
		c.DialFunc = dialer.DialContext
		c.RuntimeParams = map[string]string{"application_name": "vigil", "timezone": "UTC"}
		return stdlib.OpenDB(*c), nil
	},
	// PostgreSQL folds unquoted names to lower case.
	prefixSpellings: func(prefix string) []string { return []string{prefix, strings.ToLower(prefix)} },
	quote:           quoteIdentifier,
	bind:            func(n int) string { return fmt.Sprintf("$%d", n) },
	create: func(table, columns string) string {
		return "CREATE TABLE IF NOT EXISTS " + table + " (" + columns + ")"
	},
	lock: func(table string) string { return "LOCK TABLE " + table + " IN EXCLUSIVE MODE" },
	explain: func(err error) explanation {
		var e *pgconn.PgError
		if !errors.As(err, &e) {
			return explanation{}
		}
		switch e.Code {
		case "28P01", "28000":
			return wrongLogin
		case "3D000":
			return noDatabase
		case "42P01":
			return noTable
		case "42501":
			return noRight
		case "57P01", "57P02", "57P03", "53300":
			return explanation{desktop.Unreachable, "is shutting down, starting or full"}
		}
		return explanation{desktop.Broken, "answers with the error " + e.Code}
	},
	number: "INTEGER", text: "VARCHAR(512)", timestamp: "TIMESTAMP",
	length: countCharacters,
}
