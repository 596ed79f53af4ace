package eventdb

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/sim/flakylistener"
)

// tds is a simulated SQL Server that implements as much of the TDS protocol as
// the driver needs to log in, run transactions and execute statements. No real
// one is available for tests.
type tds struct {
	listener *flakylistener.Listener

	mu         sync.Mutex
	loginError uint32          // error number of the login; 0 for success
	countError uint32          // error number of queries on tables
	missing    map[string]bool // tables that do not exist
	logins     int
	events     uint64
	statements []string
}

const (
	// Types of packets.
	packetReply, packetAttention, packetTransaction, packetLogin, packetPrelogin = 4, 6, 14, 16, 18

	// Tokens in a reply.
	tokenColumns, tokenError, tokenLoginAck, tokenRow, tokenEnvChange, tokenDone = 0x81, 0xaa, 0xad, 0xd1, 0xe3, 0xfd

	// Status bits of tokenDone.
	doneError, doneCount, doneAttention = 2, 16, 32

	// Error numbers of SQL Server.
	noError, noSuchTable, noPermission, noSuchDatabase, loginFailed = 0, 208, 229, 4060, 18456
)

func startTDS(t *testing.T) *tds {
	t.Helper()
	s := &tds{events: 4711}
	s.listener = listen(t, s.serve)
	return s
}

// listen calls serve for every connection while the listener is up.
func listen(t *testing.T, serve func(net.Conn)) *flakylistener.Listener {
	t.Helper()
	l, err := flakylistener.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l
}

func (s *tds) serve(c net.Conn) {
	for {
		kind, body, err := readPacket(c)
		if err != nil {
			return
		}
		reply := s.answer(kind, body)
		header := []byte{packetReply, 1, 0, 0, 0, 0, 1, 0}
		binary.BigEndian.PutUint16(header[2:], uint16(len(header)+len(reply)))
		if _, err := c.Write(append(header, reply...)); err != nil {
			return
		}
	}
}

// readPacket reads a message, which may consist of several packets.
func readPacket(c net.Conn) (kind byte, body []byte, err error) {
	header := make([]byte, 8)
	for {
		if _, err := io.ReadFull(c, header); err != nil {
			return 0, nil, err
		}
		part := make([]byte, binary.BigEndian.Uint16(header[2:])-8)
		if _, err := io.ReadFull(c, part); err != nil {
			return 0, nil, err
		}
		body = append(body, part...)
		if header[1]&1 != 0 {
			return header[0], body, nil
		}
	}
}

func (s *tds) answer(kind byte, body []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kind {
	case packetPrelogin:
		// Version at 11, encryption at 17; encryption is not supported.
		return []byte{0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0, 0, 0, 0, 2}
	case packetLogin:
		s.logins++
		if s.loginError != 0 {
			return errorReply(s.loginError)
		}
		// The interface, version 7.4 of TDS, and the name and version of the server.
		ack := append([]byte{1, 0x74, 0, 0, 4}, varchar("stub")...)
		ack = append(ack, 16, 0, 0, 0)
		return append(token(tokenLoginAck, ack), done(0, 0)...)
	case packetAttention: // the driver cancels the request
		return done(doneAttention, 0)
	case packetTransaction:
		request := binary.LittleEndian.Uint16(body[binary.LittleEndian.Uint32(body):])
		if request == 5 { // begin: return the id of the new transaction
			return append(token(tokenEnvChange, []byte{8, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0}), done(0, 0)...)
		}
		// Commit (7) or rollback (8): return the id of the ended transaction. The types of these tokens are 9 and 10.
		return append(token(tokenEnvChange, []byte{byte(request + 2), 0, 8, 1, 2, 3, 4, 5, 6, 7, 8}), done(0, 0)...)
	}
	// The other messages are batches and calls. They begin with headers, followed by
	// the text of the batch or the arguments of the call in UTF-16.
	text := decodeUTF16(body[min(binary.LittleEndian.Uint32(body), uint32(len(body))):])
	s.statements = append(s.statements, text)
	for name := range s.missing {
		switch {
		case strings.Contains(text, "CREATE TABLE ["+name+"]"):
			delete(s.missing, name)
		case strings.Contains(text, "FROM ["+name+"]"):
			return errorReply(noSuchTable)
		}
	}
	switch {
	case s.countError != 0 && strings.Contains(text, "FROM ["):
		return errorReply(s.countError)
	case strings.Contains(text, "COUNT(*)"):
		return number(s.events)
	case strings.Contains(text, "MAX(EventID)"):
		return number(41)
	}
	return done(0, 0)
}

func decodeUTF16(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

func encodeUTF16(s string) (out []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}

func varchar(s string) []byte { return append([]byte{byte(len(s))}, encodeUTF16(s)...) }

func token(kind byte, body []byte) []byte {
	return append(binary.LittleEndian.AppendUint16([]byte{kind}, uint16(len(body))), body...)
}

func done(status uint16, rows uint64) []byte {
	out := binary.LittleEndian.AppendUint16([]byte{tokenDone}, status)
	out = binary.LittleEndian.AppendUint16(out, 0)
	return binary.LittleEndian.AppendUint64(out, rows)
}

func errorReply(code uint32) []byte {
	body := binary.LittleEndian.AppendUint32(nil, code)
	body = append(body, 1, 16) // state and severity
	body = append(binary.LittleEndian.AppendUint16(body, 2), encodeUTF16("no")...)
	body = append(body, 0, 0)                        // no names of a server and a procedure
	body = binary.LittleEndian.AppendUint32(body, 1) // line number
	return append(token(tokenError, body), done(doneError, 0)...)
}

// number is the response to a query for one number.
func number(n uint64) []byte {
	out := []byte{tokenColumns, 1, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0, tokenRow} // one column of type BIGINT (0x7f), without a name
	out = binary.LittleEndian.AppendUint64(out, n)
	return append(out, done(doneCount, 1)...)
}

func TestSQLServerProbe(t *testing.T) {
	t.Parallel()
	s := startTDS(t)
	f := newFixture(t, desktop.EventDatabase{
		Type: desktop.SQLServer, Server: "127.0.0.1", Port: s.listener.Port(), Database: "events", User: "vigil", Prefix: "vdi_", Plain: true,
	}, "p:a@s/s?w&ord")
	set := func(login, query uint32) {
		s.mu.Lock()
		s.loginError, s.countError = login, query
		s.mu.Unlock()
		f.configure(f.spec)
	}
	s.missing = map[string]bool{"vdi_event": true, "vdi_event_historical": true, "vdi_event_data": true, "vdi_event_data_historical": true}
	m := f.probe(1)
	f.requireStatus("it answers", m, desktop.EventDatabaseConnected)
	if len(s.missing) > 0 {
		t.Errorf("the tables %v were not created", s.missing)
	}
	if *m.EventCount != 4711 {
		t.Errorf("events = %d, want 4711", *m.EventCount)
	}
	if err := f.db.Write(t.Context(), someEvents); err != nil {
		t.Errorf("Write = %v", err)
	}
	set(loginFailed, noError)
	f.requireStatus("it refuses our password", f.probe(1), desktop.EventDatabaseError)
	set(noSuchDatabase, noError)
	f.requireStatus("it has no such database", f.probe(1), desktop.EventDatabaseError)
	set(noError, noPermission)
	f.requireStatus("the user may not read", f.probe(1), desktop.EventDatabaseError)
	set(noError, noError)
	f.requireStatus("it recovers", f.probe(1), desktop.EventDatabaseConnected)
	s.listener.Set(flakylistener.Down)
	f.requireStatus("it is lost", f.probe(1), desktop.EventDatabaseReconnecting)
	s.listener.Set(flakylistener.Up)
	f.requireStatus("it is back", f.probe(1), desktop.EventDatabaseConnected)

	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Join(s.statements, "\n")
	for _, want := range []string{
		"IF OBJECT_ID(N'[vdi_event]', N'U') IS NULL CREATE TABLE [vdi_event] (EventID INT NOT NULL PRIMARY KEY",
		"SELECT TOP 0 EventID FROM [vdi_event_historical] WITH (TABLOCKX, HOLDLOCK)",
		"INSERT INTO [vdi_event] (EventID, Time, Acknowledged", "INSERT INTO [vdi_event_data_historical]",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the server never saw %s", want)
		}
	}
}

// TestWritesDoNotRepeatARefusedLogin checks that a write is not retried: with every retry the
// server would count another wrong password, and lock the account.
func TestWritesDoNotRepeatARefusedLogin(t *testing.T) {
	t.Parallel()
	s := startTDS(t)
	f := newFixture(t, desktop.EventDatabase{
		Type: desktop.SQLServer, Server: "127.0.0.1", Port: s.listener.Port(), Database: "events", User: "vigil", Prefix: "vdi_", Plain: true,
	}, "wrong")
	accept := func(ok bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.loginError = 0
		if !ok {
			s.loginError = loginFailed
		}
	}
	write := func() error { return f.db.Write(t.Context(), someEvents) }
	probe := func() error { _, _, err := f.db.Probe(t.Context()); return err }
	idle := func() error { // closes the connections, as a long time without events does: the next use logs in
		f.db.disconnect()
		return nil
	}
	for _, step := range []struct {
		name   string
		accept bool
		do     func() error
		times  int
		want   desktop.Cause
		logins int
	}{
		{"writes with a wrong password", false, write, 5, desktop.Refused, 1},
		{"a probe tries again", false, probe, 1, desktop.Refused, 1},
		{"writes after the probe", false, write, 5, desktop.Refused, 0},
		{"the secret is changed", false, func() error { f.password.Store("wrong too"); return write() }, 5, desktop.Refused, 1},
		{"the secret is corrected", true, func() error { f.password.Store("right"); return write() }, 2, "", 1},
		{"the connection ends", false, idle, 1, "", 0},
		{"the account is locked", false, write, 5, desktop.Refused, 1},
		{"the account is unlocked", true, write, 2, desktop.Refused, 0},
		{"a probe notices it", true, probe, 1, "", 1},
		{"writes after the probe", true, write, 2, "", 0},
	} {
		accept(step.accept)
		s.mu.Lock()
		before := s.logins
		s.mu.Unlock()
		for range step.times {
			var cause desktop.Cause
			if err := step.do(); err != nil {
				cause = desktop.FailureOf(err).Cause
			}
			if cause != step.want {
				t.Errorf("%s: cause %q, want %q", step.name, cause, step.want)
			}
		}
		s.mu.Lock()
		if logins := s.logins - before; logins != step.logins {
			t.Errorf("%s: %d logins, want %d", step.name, logins, step.logins)
		}
		s.mu.Unlock()
	}
}

func TestOnlyMissingTablesAreCreated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		missing map[string]bool
		want    []string
	}{
		{"all are there", nil, nil},
		{"a data table is missing", map[string]bool{"vdi_event_data": true}, []string{"[vdi_event_data] "}},
		{"two tables are missing", map[string]bool{"vdi_event": true, "vdi_event_data_historical": true}, []string{"[vdi_event] ", "[vdi_event_data_historical] "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := startTDS(t)
			s.missing = tt.missing
			f := newFixture(t, desktop.EventDatabase{
				Type: desktop.SQLServer, Server: "127.0.0.1", Port: s.listener.Port(), Database: "events", User: "vigil", Prefix: "vdi_", Plain: true,
			}, "password")
			f.requireStatus("it answers", f.probe(1), desktop.EventDatabaseConnected)
			s.mu.Lock()
			defer s.mu.Unlock()
			var created []string
			for _, statement := range s.statements {
				if _, table, ok := strings.Cut(statement, "CREATE TABLE "); ok {
					created = append(created, table[:strings.Index(table, "(")])
				}
			}
			if diff := cmp.Diff(tt.want, created); diff != "" {
				t.Errorf("created tables (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidPrefixesAreRefused(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"1x", "a b", `x";DROP TABLE y;--`, "ü"} {
		if _, err := New(desktop.EventDatabase{Type: desktop.PostgreSQL, Prefix: prefix}, nil, nil); err == nil {
			t.Errorf("the prefix %q is accepted", prefix)
		}
	}
}

// TestTextsFitTheirColumns measures clipped texts as the databases do: all but PostgreSQL may
// count an emoji as two characters.
func TestTextsFitTheirColumns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		utf16      string // what fits if UTF-16 code units are counted
		characters string // what fits if characters are counted
	}{
		{"short", "ok", "ok", "ok"},
		{"not UTF-8", "a\xffb\x00c", "a\uFFFDbc", "a\uFFFDbc"},
		{"letters", strings.Repeat("ä", 513), strings.Repeat("ä", 511) + "…", strings.Repeat("ä", 511) + "…"},
		{"letters that fit", strings.Repeat("ä", 512), strings.Repeat("ä", 512), strings.Repeat("ä", 512)},
		{"emoji", strings.Repeat("😀", 600), strings.Repeat("😀", 255) + "…", strings.Repeat("😀", 511) + "…"},
		{"emoji that fit", strings.Repeat("😀", 256), strings.Repeat("😀", 256), strings.Repeat("😀", 256)},
		{"a surrogate pair at the limit", strings.Repeat("a", 510) + "😀b", strings.Repeat("a", 510) + "…", strings.Repeat("a", 510) + "😀b"},
	} {
		for kind, d := range dialects {
			want := tt.utf16
			if kind == desktop.PostgreSQL {
				want = tt.characters
			}
			if got := d.clip(tt.text); got != want {
				t.Errorf("%s, %s: %d bytes %q, want %d", kind, tt.name, len(got), got, len(want))
			}
		}
	}
}

func TestReadOnlyDatabaseCreatesNoTables(t *testing.T) {
	t.Parallel()
	s := startTDS(t)
	f := newFixture(t, desktop.EventDatabase{
		Type: desktop.SQLServer, Server: "127.0.0.1", Port: s.listener.Port(), Database: "events", User: "vigil", Prefix: "vdi_", Plain: true,
	}, "password")
	f.db.ReadOnly = true
	s.mu.Lock()
	s.countError = noSuchTable
	s.mu.Unlock()
	reading, _, err := f.db.Probe(t.Context())
	if want := (desktop.EventDatabaseReading{NoTables: true}); err != nil || reading != want {
		t.Errorf("without tables: %+v, %v, want %+v", reading, err, want)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, statement := range s.statements {
		if strings.Contains(statement, "CREATE") {
			t.Errorf("the server received %q", statement)
		}
	}
}
