package httpapi

import (
	"net"
	"time"
)

// SetSleep replaces how the server waits while it drains.
func (s *Server) SetSleep(sleep func(time.Duration)) { s.sleep = sleep }

// SetListener replaces Listen.
func (s *Server) SetListener(l net.Listener) { s.listener = l }

// LimitConns is the listener of a server.
var LimitConns = limitConns
