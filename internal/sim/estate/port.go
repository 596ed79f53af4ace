package estate

import (
	"context"
	"net"
	"sync"

	"vigil/internal/sim/flakylistener"
)

// Port is a TCP port that accepts connections and reads from them: a simulated
// secure gateway.
type Port struct {
	*flakylistener.Listener
	work sync.WaitGroup
}

// Start listens on a free port of loopback.
func (p *Port) Start(context.Context) error {
	var err error
	if p.Listener, err = flakylistener.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	p.work.Go(p.accept)
	return nil
}

func (p *Port) accept() {
	for {
		c, err := p.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { drain(c) })
	}
}

// drain reads and discards until the client disconnects.
func drain(c net.Conn) {
	defer c.Close()
	buffer := make([]byte, 512)
	for {
		if _, err := c.Read(buffer); err != nil {
			return
		}
	}
}

// Stop closes the port and waits for it.
func (p *Port) Stop() error {
	if p.Listener == nil {
		return nil
	}
	err := p.Close()
	p.work.Wait()
	return err
}
