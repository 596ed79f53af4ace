package eventdb

import (
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	ora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/network"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

var oracle = dialect{
	open: func(spec desktop.EventDatabase, password string, config *tls.Config, dialer reach.WatchedDialer) (*sql.DB, error) {
		options := map[string]string{}
		if config != nil {
			options["SSL"], options["SSL VERIFY"] = "true", "true"
		}
		connector, ok := ora.NewConnector(ora.BuildUrl(spec.Server, spec.Port, spec.Database, spec.User, password, options)).(*ora.OracleConnector)
		if !ok {
			return nil, errors.New("the Oracle driver's connector has an unexpected type")
		}
		connector.Dialer(cancellableDialer{dialer})
		if config != nil {
			connector.WithTLSConfig(config)
		}
		return sql.OpenDB(cancellable{connector}), nil
	},
	// Oracle folds unquoted names to upper case.
	prefixSpellings: func(prefix string) []string { return []string{strings.ToUpper(prefix)} },
	quote:           func(name string) string { return quoteIdentifier(strings.ToUpper(name)) },
	bind:            func(n int) string { return fmt.Sprintf(":%d", n) },
	create: func(table, columns string) string {
		// -955: the name is in use already.
		return fmt.Sprintf("BEGIN EXECUTE IMMEDIATE 'CREATE TABLE %s (%s)'; EXCEPTION WHEN OTHERS THEN IF SQLCODE != -955 THEN RAISE; END IF; END;", table, columns)
	},
	lock: func(table string) string { return "LOCK TABLE " + table + " IN EXCLUSIVE MODE" },
	explain: func(err error) explanation {
		var e *network.OracleError
		if !errors.As(err, &e) {
			return explanation{}
		}
		switch e.ErrCode {
		case 1017, 28000, 28001:
			return wrongLogin
		case 12505, 12514, 12504:
			return noDatabase
		case 942:
			return noTable
		case 1031, 1950:
			return noRight
		case 1033, 1034, 1089, 12528, 12541:
			return explanation{desktop.Unreachable, "is shutting down or starting"}
		}
		return explanation{desktop.Broken, fmt.Sprintf("answers with the error ORA-%05d", e.ErrCode)}
	},
	number: "NUMBER(10)", text: "VARCHAR2(512 CHAR)", timestamp: "TIMESTAMP",
	// With the character set AL32UTF8, Oracle counts characters. With the older UTF8, and in NVARCHAR2
	// columns, it counts UTF-16 code units. Another product may have created such tables.
	length: utf16.RuneLen,
}
