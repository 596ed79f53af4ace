// Package eventdatabase simulates the PostgreSQL server of an event database. It
// implements as much of the protocol as the product uses: TLS, a password,
// transactions, and the statements that create the event tables, count events and
// write them. It stores how many events there are, not the events.
package eventdatabase

import (
	"context"
	"crypto/tls"
	"net"
	"sync"

	"vigil/internal/sim/flakylistener"
)

// Options configure a server.
type Options struct {
	Database    string
	User        string
	Password    string
	Certificate tls.Certificate
	Prefix      string // of the event tables
	Events      int64  // number of events in the tables at the start; if 0, there are no tables
}

// Server is one simulated server. It is safe for concurrent use.
type Server struct {
	options  Options
	listener *flakylistener.Listener
	work     sync.WaitGroup

	mu     sync.Mutex
	tables map[string]*table
}

// table is what the server knows of a table.
type table struct {
	types   map[string]uint32 // of columns, by name in lower case; nil if the table exists from the start
	rows    int64
	highest int64 // the highest event number
}

// New returns a server that is not started.
func New(o Options) *Server {
	s := &Server{options: o, tables: map[string]*table{}}
	if o.Events > 0 {
		for _, name := range []string{"event", "event_historical"} {
			s.tables[o.Prefix+name] = &table{rows: o.Events, highest: o.Events}
		}
	}
	return s
}

// Start listens on a free port of loopback and serves until Stop.
func (s *Server) Start(context.Context) error {
	var err error
	if s.listener, err = flakylistener.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	s.work.Go(s.accept)
	return nil
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.work.Go(func() { s.serve(c) })
	}
}

// serve serves one connection until the client leaves or breaks the protocol.
func (s *Server) serve(c net.Conn) {
	defer c.Close()
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{s.options.Certificate}}
	if x, ok := s.logIn(c, config); ok {
		x.run()
	}
}

// Stop stops the server and waits for it.
func (s *Server) Stop() error {
	if s.listener == nil {
		return nil
	}
	err := s.listener.Close()
	s.work.Wait()
	return err
}

// Listener returns the listener, whose connections can be broken.
func (s *Server) Listener() *flakylistener.Listener { return s.listener }

// Events returns how many events are in the table of recent events.
func (s *Server) Events() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tables[s.options.Prefix+"event"]; t != nil {
		return t.rows
	}
	return 0
}
