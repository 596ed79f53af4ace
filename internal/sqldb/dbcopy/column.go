package dbcopy

import (
	"bytes"
	"encoding/json"
	"fmt"

	"vigil/internal/sqldb"
)

// A column is a column of a table. Its values are int64, string, []byte, bool, float64
// or nil, the same for both databases.
type column struct {
	name     string
	required bool // never null
	kind     kind
	enum     string // the udt_name of PostgreSQL, used if kind is enum
}

// A kind says how the databases store the values of a column.
type kind uint8

const (
	number kind = iota + 1
	real
	boolean
	text
	bytea

	// The tables of the job queue use the following kinds. These are not simple, see isSimple.
	timestamp // SQLite: text in UTC with milliseconds
	document  // jsonb; SQLite: text
	texts     // text[]; SQLite: JSON
	documents // jsonb[]; SQLite: JSON
	bits      // bit(8); SQLite: a number
	enum      // SQLite: text
)

// kindOf returns the kind of a PostgreSQL type, given by the data_type and udt_name of its
// column. The udt_name tells the type of the elements of an array.
func kindOf(typ, udt string) (kind, error) {
	switch typ {
	case "bigint", "integer", "smallint":
		return number, nil
	case "double precision":
		return real, nil
	case "boolean":
		return boolean, nil
	case "text", "character varying":
		return text, nil
	case "bytea":
		return bytea, nil
	case "timestamp with time zone":
		return timestamp, nil
	case "jsonb":
		return document, nil
	case "bit":
		return bits, nil
	case "USER-DEFINED":
		return enum, nil
	case "ARRAY":
		switch udt {
		case "_text", "_varchar":
			return texts, nil
		case "_jsonb":
			return documents, nil
		}
	}
	return 0, fmt.Errorf("unknown type %s %s", typ, udt)
}

// read returns the SQL expression that reads a value.
func (c column) read(d sqldb.Dialect) string {
	name := quote(c.name)
	if d == sqldb.SQLite {
		switch c.kind {
		case timestamp:
			return `CAST(round(unixepoch(` + name + `, 'subsec') * 1000) AS INTEGER)`
		case document, texts, documents:
			return `CAST(` + name + ` AS TEXT)`
		}
		return name
	}
	switch c.kind {
	case timestamp:
		return `CAST(round(extract(epoch FROM ` + name + `) * 1000) AS BIGINT)`
	case document:
		return name + `::text`
	case texts, documents:
		return `to_jsonb(` + name + `)::text`
	case bits:
		return name + `::integer`
	case enum:
		return name + `::text`
	}
	return name
}

// write returns the SQL expression for a value that is passed as a parameter.
func (c column) write(d sqldb.Dialect, parameter string) string {
	if d == sqldb.SQLite {
		switch c.kind {
		case timestamp:
			// Use the format of River's driver, because River's queries compare these texts.
			return `rtrim(rtrim(strftime('%Y-%m-%d %H:%M:%f', ` + parameter + ` / 1000.0, 'unixepoch'), '0'), '.')`
		case document, texts, documents:
			return `json(` + parameter + `)`
		}
		return parameter
	}
	switch c.kind {
	case timestamp:
		return `to_timestamp(` + parameter + `::bigint / 1000.0)`
	case document:
		return parameter + `::text::jsonb`
	case texts:
		return `CASE WHEN ` + parameter + `::text IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(` + parameter + `::text::jsonb)) END`
	case documents:
		return `CASE WHEN ` + parameter + `::text IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements(` + parameter + `::text::jsonb)) END`
	case bits:
		return parameter + `::integer::bit(8)`
	case enum:
		return parameter + `::text::` + quote(c.enum)
	}
	return parameter
}

// isSimple reports whether values need no conversion when they are written.
func (c column) isSimple() bool { return c.kind <= bytea }

// value converts a value that a driver returned.
func (c column) value(v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch c.kind {
	case number, timestamp, bits:
		if n, ok := v.(int64); ok {
			return n, nil
		}
	case real:
		switch v := v.(type) {
		case float64:
			return v, nil
		case int64:
			return float64(v), nil
		}
	case boolean:
		switch v := v.(type) {
		case bool:
			return v, nil
		case int64:
			return v != 0, nil
		}
	case bytea:
		switch v := v.(type) {
		case []byte:
			return append([]byte{}, v...), nil // SQLite's driver returns a nil slice for an empty BLOB
		case string:
			return []byte(v), nil
		}
	default: // text and enum, and the kinds whose values are JSON
		s, ok := v.(string)
		if b, isBytes := v.([]byte); isBytes {
			s, ok = string(b), true
		}
		if ok && c.kind != text && c.kind != enum {
			return canonicalJSON(s)
		}
		if ok {
			return s, nil
		}
	}
	return nil, fmt.Errorf("column %s has a value of type %T", c.name, v)
}

// canonicalJSON returns JSON with sorted names and without spaces, because PostgreSQL
// does not preserve the text.
func canonicalJSON(s string) (string, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	out, err := json.Marshal(v)
	return string(out), err
}
