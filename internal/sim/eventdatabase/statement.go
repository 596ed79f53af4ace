package eventdatabase

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// kind is what a statement does.
type kind int

const (
	empty kind = iota
	begin
	commit
	rollback
	create
	lock
	checkTable // checks that a table exists
	count
	highest // reads the highest event number
	insert
)

// statement is a parsed statement.
type statement struct {
	kind  kind
	table string
	list  string // the columns of create and insert
}

// insertion is a row that a transaction inserts.
type insertion struct {
	table string
	event int64
}

// result is the result of a statement.
type result struct {
	tag   string
	value *int64 // of the only row and column
	oid   uint32
}

// The object ids of the types of columns and results. typeText is varchar.
const (
	typeInt8, typeInt4, typeText, typeTimestamp = 20, 23, 1043, 1114
)

// patterns are the statements of the product, by kind. The first group is the table, the
// second the columns.
var patterns = map[kind]*regexp.Regexp{
	create:     regexp.MustCompile(`^CREATE TABLE IF NOT EXISTS "(\w+)" \((.*)\)$`),
	lock:       regexp.MustCompile(`^LOCK TABLE "(\w+)" IN EXCLUSIVE MODE$`),
	checkTable: regexp.MustCompile(`^SELECT 1 FROM "(\w+)" WHERE 1 = 0$`),
	count:      regexp.MustCompile(`^SELECT COUNT\(\*\) FROM "(\w+)"$`),
	highest:    regexp.MustCompile(`^SELECT COALESCE\(MAX\(EventID\), 0\) FROM "(\w+)"$`),
	insert:     regexp.MustCompile(`^INSERT INTO "(\w+)" \(([\w, ]+)\) VALUES \([$\d, ]+\)$`),
}

func parse(text string) (statement, error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	if text == "" || strings.HasPrefix(text, "--") { // the driver pings with a comment
		return statement{}, nil
	}
	word, _, _ := strings.Cut(strings.ToLower(text), " ")
	if k, ok := map[string]kind{"begin": begin, "commit": commit, "rollback": rollback}[word]; ok {
		return statement{kind: k}, nil
	}
	for k, p := range patterns {
		if m := p.FindStringSubmatch(text); m != nil {
			s := statement{kind: k, table: m[1]}
			if len(m) > 2 {
				s.list = m[2]
			}
			return s, nil
		}
	}
	return statement{}, &refusal{"0A000", "the simulated server does not know the statement " + text}
}

// row describes the rows of the result, or returns nil if the statement returns no rows.
func (s statement) row(formats []int16) *pgproto3.RowDescription {
	oid, size := uint32(typeInt4), int16(4)
	switch s.kind {
	case count:
		oid, size = typeInt8, 8
	case highest, checkTable:
	default:
		return nil
	}
	return &pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{
		{Name: []byte("value"), DataTypeOID: oid, DataTypeSize: size, TypeModifier: -1, Format: formatOf(formats, 0)},
	}}
}

// columnTypes returns the types of the columns in a CREATE TABLE statement.
func columnTypes(list string) map[string]uint32 {
	oids := map[string]uint32{"INTEGER": typeInt4, "TIMESTAMP": typeTimestamp}
	types := map[string]uint32{}
	for _, column := range strings.Split(list, ", ") {
		words := strings.Fields(column)
		if len(words) < 2 {
			continue // "Name)", the end of PRIMARY KEY (EventID, Name)
		}
		oid, ok := oids[words[1]]
		if !ok {
			oid = typeText
		}
		types[strings.ToLower(words[0])] = oid
	}
	return types
}

func names(list string) []string { return strings.Split(strings.ToLower(list), ", ") }

// parameterTypes returns the types of a statement's parameters.
func (s *Server) parameterTypes(stmt statement) ([]uint32, error) {
	if stmt.kind != insert {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.find(stmt.table)
	if err != nil {
		return nil, err
	}
	var types []uint32
	for _, name := range names(stmt.list) {
		types = append(types, t.types[name])
	}
	return types, nil
}

func (s *Server) find(name string) (*table, error) {
	if t, ok := s.tables[name]; ok {
		return t, nil
	}
	return nil, &refusal{"42P01", fmt.Sprintf("relation %q does not exist", name)}
}

// execute executes a statement. Insertions take effect when their transaction is
// committed.
func (x *session) execute(p portal) (result, error) {
	s := x.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.status == 'E' && p.kind != commit && p.kind != rollback {
		return result{}, &refusal{"25P02", "the transaction has failed"}
	}
	switch p.kind {
	case empty:
		return result{}, nil
	case begin:
		x.status = 'T'
		return result{tag: "BEGIN"}, nil
	case commit, rollback:
		return x.end(p.kind == commit), nil
	case create:
		t, ok := s.tables[p.table]
		if !ok {
			t = &table{}
			s.tables[p.table] = t
		}
		t.types = columnTypes(p.list)
		return result{tag: "CREATE TABLE"}, nil
	}
	t, err := s.find(p.table)
	if err != nil {
		return result{}, err
	}
	switch p.kind {
	case count:
		return result{tag: "SELECT 1", value: new(t.rows), oid: typeInt8}, nil
	case highest:
		return result{tag: "SELECT 1", value: new(t.highest), oid: typeInt4}, nil
	case checkTable:
		return result{tag: "SELECT 0"}, nil
	case lock:
		return result{tag: "LOCK TABLE"}, nil
	default:
		event, err := p.event()
		if err != nil {
			return result{}, err
		}
		x.pending = append(x.pending, insertion{p.table, event})
		if x.status == 'I' { // no transaction: commit at once
			x.end(true)
		}
		return result{tag: "INSERT 0 1"}, nil
	}
}

// end commits or rolls back the transaction. A failed transaction is always rolled back.
func (x *session) end(commits bool) result {
	commits = commits && x.status != 'E'
	if commits {
		for _, i := range x.pending {
			t := x.server.tables[i.table]
			t.rows++
			t.highest = max(t.highest, i.event)
		}
	}
	x.status, x.pending = 'I', nil
	if commits {
		return result{tag: "COMMIT"}
	}
	return result{tag: "ROLLBACK"}
}

// event returns the event number among the parameters of an insertion.
func (p portal) event() (int64, error) {
	i := slices.Index(names(p.list), "eventid")
	if i < 0 || i >= len(p.parameters) {
		return 0, &refusal{"23502", "an event needs a number"}
	}
	value := p.parameters[i]
	if formatOf(p.formats, i) == pgproto3.BinaryFormat {
		if len(value) != 4 {
			return 0, &refusal{"22P03", "the event number is not an integer"}
		}
		return int64(int32(binary.BigEndian.Uint32(value))), nil //nolint:gosec // the bits of an int4
	}
	n, err := strconv.ParseInt(string(value), 10, 32)
	if err != nil {
		return 0, &refusal{"22P02", "the event number is not an integer"}
	}
	return n, nil
}

// formatOf returns the format of the i-th parameter or result. If no formats are given, all
// are text. If one is given, all have it.
func formatOf(formats []int16, i int) int16 {
	switch {
	case len(formats) == 1:
		return formats[0]
	case i < len(formats):
		return formats[i]
	}
	return pgproto3.TextFormat
}

func encode(value int64, oid uint32, formats []int16) []byte {
	switch {
	case formatOf(formats, 0) == pgproto3.TextFormat:
		return strconv.AppendInt(nil, value, 10)
	case oid == typeInt8:
		return binary.BigEndian.AppendUint64(nil, uint64(value)) //nolint:gosec // counts are not negative
	}
	return binary.BigEndian.AppendUint32(nil, uint32(value)) //nolint:gosec // event numbers are int4
}
