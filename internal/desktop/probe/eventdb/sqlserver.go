package eventdb

import (
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

var sqlServer = dialect{
	open: func(spec desktop.EventDatabase, password string, config *tls.Config, dialer reach.WatchedDialer) (*sql.DB, error) {
		options := url.Values{"database": {spec.Database}, "app name": {"vigil"}, "encrypt": {"true"}}
		if config == nil {
			options.Set("encrypt", "disable")
		}
		u := url.URL{
			Scheme: "sqlserver", User: url.UserPassword(spec.User, password),
			Host: net.JoinHostPort(spec.Server, strconv.Itoa(spec.Port)), RawQuery: options.Encode(),
		}
		c, err := msdsn.Parse(u.String())
		if err != nil {
			return nil, errors.New("the address of the event database is malformed") // the driver's error may contain the password
		}
		c.TLSConfig = config
		connector := mssql.NewConnectorConfig(c)
		connector.Dialer = dialer
		return sql.OpenDB(connector), nil
	},
	prefixSpellings: func(prefix string) []string { return []string{prefix} },
	quote:           func(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" },
	bind:            func(n int) string { return fmt.Sprintf("@p%d", n) },
	create: func(table, columns string) string {
		return fmt.Sprintf("IF OBJECT_ID(N'%s', N'U') IS NULL CREATE TABLE %[1]s (%s)", table, columns)
	},
	// A query that reads nothing but takes the lock.
	lock: func(table string) string {
		return "SELECT TOP 0 EventID FROM " + table + " WITH (TABLOCKX, HOLDLOCK)"
	},
	explain: func(err error) explanation {
		var e mssql.Error
		if !errors.As(err, &e) {
			return explanation{}
		}
		switch e.Number {
		case 18456, 18452, 18470, 18486, 18487, 18488:
			return wrongLogin
		case 4060, 911:
			return noDatabase
		case 208:
			return noTable
		case 229, 230, 262, 2760:
			return noRight
		case 233, 6005, 17142, 17187:
			return explanation{desktop.Unreachable, "is shutting down or starting"}
		}
		return explanation{desktop.Broken, fmt.Sprintf("answers with the error %d", e.Number)}
	},
	number: "INT", text: "NVARCHAR(512)", timestamp: "DATETIME2",
	length: utf16.RuneLen, // the length of NVARCHAR is in byte pairs
}
