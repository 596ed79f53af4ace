package httpapi

import "time"

// SetSleep replaces how the server waits while it drains.
func (s *Server) SetSleep(sleep func(time.Duration)) { s.sleep = sleep }
