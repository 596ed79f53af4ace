package httpapi

import (
	"net"
	"time"
)

// SetSleep replaces how the server waits while it drains.
func (s *Server) SetSleep(sleep func(time.Duration)) { s.sleep = sleep }

// SetListener replaces Listen.
func (s *Server) SetListener(l net.Listener) { s.listener = l }

// LimitConns limits the connections of a listener as a server does.
var LimitConns = limitConns
