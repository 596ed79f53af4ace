package sqldb

import (
	"container/list"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// maxPrepared is how many statements a connection remembers.
const maxPrepared = 200

// prepared opens connections that remember statements by their text.
//
// SQLite reads the text of a statement each time it is run, which takes longer
// than running most of them. A text that comes a second time is kept in its
// prepared form, until others push it out.
type prepared struct{ driver.Connector }

func (p prepared) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(sqliteConn)
	if !ok {
		return nil, fmt.Errorf("the SQLite driver's connection %T lacks a method", c)
	}
	return &preparedConn{sqliteConn: conn, kept: map[string]*list.Element{}, order: list.New()}, nil
}

// preparedConn is used by one goroutine at a time, as database/sql promises.
type preparedConn struct {
	sqliteConn
	kept  map[string]*list.Element
	order *list.List // of *remembered, the last used first
}

// A remembered is a text that was seen, and its prepared form once it was seen
// twice.
type remembered struct {
	text string
	stmt sqliteStmt
	busy bool // somebody uses it
}

// take returns the prepared form of a text for the use of one, or nil if there
// is none to be had.
func (c *preparedConn) take(ctx context.Context, text string) (*remembered, error) {
	if strings.Contains(text, ";") { // more than one statement, for all we know
		return nil, nil
	}
	at, ok := c.kept[text]
	if !ok {
		c.kept[text] = c.order.PushFront(&remembered{text: text})
		return nil, c.shrink()
	}
	c.order.MoveToFront(at)
	r := at.Value.(*remembered)
	if r.busy {
		return nil, nil
	}
	if r.stmt == nil {
		s, err := c.sqliteConn.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		stmt, ok := s.(sqliteStmt)
		if !ok {
			return nil, errors.Join(s.Close(), fmt.Errorf("the SQLite driver's statement %T lacks a method", s))
		}
		r.stmt = stmt
	}
	r.busy = true
	return r, nil
}

// shrink forgets the statements that were not used for the longest time.
func (c *preparedConn) shrink() error {
	var errs []error
	for at := c.order.Back(); at != nil && c.order.Len() > maxPrepared; {
		before := at.Prev()
		if r := at.Value.(*remembered); !r.busy {
			errs = append(errs, c.forget(at))
		}
		at = before
	}
	return errors.Join(errs...)
}

func (c *preparedConn) forget(at *list.Element) error {
	r := at.Value.(*remembered)
	c.order.Remove(at)
	delete(c.kept, r.text)
	if r.stmt == nil {
		return nil
	}
	return r.stmt.Close()
}

// Close closes the statements, without which SQLite does not close.
func (c *preparedConn) Close() error {
	var errs []error
	for c.order.Len() > 0 {
		errs = append(errs, c.forget(c.order.Front()))
	}
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

func (c *preparedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	r, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return c.sqliteConn.ExecContext(ctx, text, args)
	}
	defer func() { r.busy = false }()
	return r.stmt.ExecContext(ctx, args)
}

func (c *preparedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	r, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return c.sqliteConn.QueryContext(ctx, text, args)
	}
	rows, err := r.stmt.QueryContext(ctx, args)
	if err != nil {
		r.busy = false
		return nil, err
	}
	return &preparedRows{rows, r}, nil
}

func (c *preparedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	r, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return c.sqliteConn.PrepareContext(ctx, text)
	}
	return preparedStmt{r.stmt, r}, nil
}

// preparedRows give their statement back when they are closed.
type preparedRows struct {
	driver.Rows
	of *remembered
}

func (r *preparedRows) Close() error {
	err := r.Rows.Close()
	r.of.busy = false
	return err
}

// preparedStmt is given back rather than closed.
type preparedStmt struct {
	sqliteStmt
	of *remembered
}

func (s preparedStmt) Close() error {
	s.of.busy = false
	return nil
}
