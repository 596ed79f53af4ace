package sqldb

import (
	"container/list"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// maxPrepared is the size of a connection's statement cache.
const maxPrepared = 200

// prepared opens connections with a cache of prepared statements.
//
// SQLite takes longer to parse most statements than to run them. A statement is prepared
// when its text is seen for the second time. The cache evicts the least recently used
// statement.
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
	return &preparedConn{sqliteConn: conn, cache: map[string]*list.Element{}, order: list.New()}, nil
}

// preparedConn is used by one goroutine at a time, as database/sql guarantees.
type preparedConn struct {
	sqliteConn
	cache map[string]*list.Element // by text
	order *list.List               // of *cachedStmt, the most recently used first
}

// A cachedStmt is a cache entry. stmt is nil until the text was seen twice.
type cachedStmt struct {
	text string
	stmt sqliteStmt
	busy bool // in use
}

// take reserves the cached statement of a text, which it prepares when it sees the text
// for the second time. It returns nil if the text was not seen before, if its statement is
// in use, or if it may be several statements: the caller then uses the connection itself.
func (c *preparedConn) take(ctx context.Context, text string) (*cachedStmt, error) {
	if strings.Contains(text, ";") { // possibly more than one statement
		return nil, nil
	}
	element, ok := c.cache[text]
	if !ok {
		c.cache[text] = c.order.PushFront(&cachedStmt{text: text})
		return nil, c.evict()
	}
	c.order.MoveToFront(element)
	entry := element.Value.(*cachedStmt)
	if entry.busy {
		return nil, nil
	}
	if entry.stmt == nil {
		s, err := c.sqliteConn.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		stmt, ok := s.(sqliteStmt)
		if !ok {
			return nil, errors.Join(s.Close(), fmt.Errorf("the SQLite driver's statement %T lacks a method", s))
		}
		entry.stmt = stmt
	}
	entry.busy = true
	return entry, nil
}

// evict removes the least recently used statements until the cache has its size.
func (c *preparedConn) evict() error {
	var errs []error
	for element := c.order.Back(); element != nil && c.order.Len() > maxPrepared; {
		before := element.Prev()
		if entry := element.Value.(*cachedStmt); !entry.busy {
			errs = append(errs, c.remove(element))
		}
		element = before
	}
	return errors.Join(errs...)
}

func (c *preparedConn) remove(element *list.Element) error {
	entry := element.Value.(*cachedStmt)
	c.order.Remove(element)
	delete(c.cache, entry.text)
	if entry.stmt == nil {
		return nil
	}
	return entry.stmt.Close()
}

// Close closes the statements first: SQLite does not close with open ones.
func (c *preparedConn) Close() error {
	var errs []error
	for c.order.Len() > 0 {
		errs = append(errs, c.remove(c.order.Front()))
	}
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

func (c *preparedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	entry, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return c.sqliteConn.ExecContext(ctx, text, args)
	}
	defer func() { entry.busy = false }()
	return entry.stmt.ExecContext(ctx, args)
}

func (c *preparedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	entry, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return c.sqliteConn.QueryContext(ctx, text, args)
	}
	rows, err := entry.stmt.QueryContext(ctx, args)
	if err != nil {
		entry.busy = false
		return nil, err
	}
	return &preparedRows{rows, entry}, nil
}

func (c *preparedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	entry, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return c.sqliteConn.PrepareContext(ctx, text)
	}
	return preparedStmt{entry.stmt, entry}, nil
}

// preparedRows release their statement when they are closed.
type preparedRows struct {
	driver.Rows
	stmt *cachedStmt
}

func (r *preparedRows) Close() error {
	err := r.Rows.Close()
	r.stmt.busy = false
	return err
}

// preparedStmt is released instead of closed.
type preparedStmt struct {
	sqliteStmt
	stmt *cachedStmt
}

func (s preparedStmt) Close() error {
	s.stmt.busy = false
	return nil
}
