package eventdatabase

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"
)

// session is the state of one connection after its login.
type session struct {
	server     *Server
	backend    *pgproto3.Backend
	statements map[string]statement
	portals    map[string]portal
	status     byte        // of the transaction: I for none, T for open, E for failed
	pending    []insertion // of the open transaction
	skipping   bool        // a message failed: the rest until Sync is ignored
}

// portal is a statement with its parameters.
type portal struct {
	statement
	parameters [][]byte
	formats    []int16 // of the parameters
	results    []int16 // formats of the results
}

// refusal is an error that the server reports.
type refusal struct{ code, message string }

func (r *refusal) Error() string { return r.message }

// logIn negotiates TLS, if the client wants it, and checks the password.
func (s *Server) logIn(c net.Conn, config *tls.Config) (*session, bool) {
	x := &session{server: s, backend: pgproto3.NewBackend(c, c), statements: map[string]statement{}, portals: map[string]portal{}, status: 'I'}
	start, err := x.backend.ReceiveStartupMessage()
	if _, ok := start.(*pgproto3.SSLRequest); ok && err == nil {
		if _, err := c.Write([]byte{'S'}); err != nil {
			return nil, false
		}
		secure := tls.Server(c, config)
		x.backend = pgproto3.NewBackend(secure, secure)
		start, err = x.backend.ReceiveStartupMessage()
	}
	hello, ok := start.(*pgproto3.StartupMessage)
	if err != nil || !ok {
		return nil, false
	}
	user, database := hello.Parameters["user"], hello.Parameters["database"]
	x.backend.Send(&pgproto3.AuthenticationCleartextPassword{})
	if x.backend.SetAuthType(pgproto3.AuthTypeCleartextPassword) != nil || x.backend.Flush() != nil {
		return nil, false
	}
	m, err := x.backend.Receive()
	answer, ok := m.(*pgproto3.PasswordMessage)
	if err != nil || !ok {
		return nil, false
	}
	switch {
	case user != s.options.User || answer.Password != s.options.Password:
		x.fail("FATAL", &refusal{"28P01", "password authentication failed"})
	case database != s.options.Database:
		x.fail("FATAL", &refusal{"3D000", "the database does not exist"})
	default:
		x.backend.Send(&pgproto3.AuthenticationOk{})
		for _, p := range [][2]string{{"server_version", "17.0"}, {"client_encoding", "UTF8"}, {"standard_conforming_strings", "on"}} {
			x.backend.Send(&pgproto3.ParameterStatus{Name: p[0], Value: p[1]})
		}
		x.backend.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
		return x, x.ready() == nil
	}
	_ = x.backend.Flush() // the connection ends in any case
	return nil, false
}

func (x *session) ready() error {
	x.backend.Send(&pgproto3.ReadyForQuery{TxStatus: x.status})
	return x.backend.Flush()
}

func (x *session) fail(severity string, err error) {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		r = &refusal{"XX000", err.Error()}
	}
	x.backend.Send(&pgproto3.ErrorResponse{Severity: severity, Code: r.code, Message: r.message})
	if x.status == 'T' {
		x.status, x.pending = 'E', nil
	}
}

func (x *session) run() {
	for {
		m, err := x.backend.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pgproto3.Terminate:
			return
		case *pgproto3.Flush:
			err = x.backend.Flush()
		case *pgproto3.Sync:
			x.skipping = false
			err = x.ready()
		case *pgproto3.Query:
			if statementErr := x.simple(m.String); statementErr != nil {
				x.fail("ERROR", statementErr)
			}
			err = x.ready()
		default:
			if x.skipping {
				continue
			}
			if statementErr := x.extended(m); statementErr != nil {
				x.fail("ERROR", statementErr)
				x.skipping = true
			}
		}
		if err != nil {
			return
		}
	}
}

// simple executes the statement of a Query message, which has no parameters.
func (x *session) simple(text string) error {
	s, err := parse(text)
	if err != nil {
		return err
	}
	result, err := x.execute(portal{statement: s})
	if err != nil {
		return err
	}
	if d := s.row(nil); d != nil { // without formats, values are sent as text
		x.backend.Send(d)
	}
	x.send(result, nil)
	return nil
}

// extended handles a message of the extended protocol.
func (x *session) extended(m pgproto3.FrontendMessage) error {
	switch m := m.(type) {
	case *pgproto3.Parse:
		s, err := parse(m.Query)
		if err != nil {
			return err
		}
		x.statements[m.Name] = s
		x.backend.Send(&pgproto3.ParseComplete{})
	case *pgproto3.Describe:
		return x.describe(m)
	case *pgproto3.Bind:
		s, ok := x.statements[m.PreparedStatement]
		if !ok {
			return &refusal{"26000", "there is no such prepared statement"}
		}
		p := portal{statement: s, formats: slices.Clone(m.ParameterFormatCodes), results: slices.Clone(m.ResultFormatCodes)}
		for _, value := range m.Parameters {
			p.parameters = append(p.parameters, bytes.Clone(value)) // the buffer is used again
		}
		x.portals[m.DestinationPortal] = p
		x.backend.Send(&pgproto3.BindComplete{})
	case *pgproto3.Execute:
		p, ok := x.portals[m.Portal]
		if !ok {
			return &refusal{"34000", "there is no such portal"}
		}
		result, err := x.execute(p)
		if err != nil {
			return err
		}
		x.send(result, p.results)
	case *pgproto3.Close:
		if m.ObjectType == 'S' {
			delete(x.statements, m.Name)
		} else {
			delete(x.portals, m.Name)
		}
		x.backend.Send(&pgproto3.CloseComplete{})
	default:
		return &refusal{"08P01", "the message is not supported"}
	}
	return nil
}

func (x *session) describe(m *pgproto3.Describe) error {
	s, formats := x.statements[m.Name], []int16(nil)
	if m.ObjectType == 'P' { // a portal, not a prepared statement
		p := x.portals[m.Name]
		s, formats = p.statement, p.results
	} else {
		types, err := x.server.parameterTypes(s)
		if err != nil {
			return err
		}
		x.backend.Send(&pgproto3.ParameterDescription{ParameterOIDs: types})
	}
	if d := s.row(formats); d != nil {
		x.backend.Send(d)
	} else {
		x.backend.Send(&pgproto3.NoData{})
	}
	return nil
}

// send sends the row of a result, if there is one, and then the end of the result. Only the
// result of an empty statement has no tag.
func (x *session) send(r result, formats []int16) {
	if r.tag == "" {
		x.backend.Send(&pgproto3.EmptyQueryResponse{})
		return
	}
	if r.value != nil {
		x.backend.Send(&pgproto3.DataRow{Values: [][]byte{encode(*r.value, r.oid, formats)}})
	}
	x.backend.Send(&pgproto3.CommandComplete{CommandTag: []byte(r.tag)})
}
