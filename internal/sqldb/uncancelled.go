package sqldb

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// uncancelled opens connections whose statements ignore the cancellation of their
// context.
//
// The SQLite driver interrupts a statement when its context ends. It may then report a
// committed write as failed. And a connection that is closed with open statements keeps
// its lock on the file, after which every write fails. Statements on a local disk are
// short, so the writer does not need cancellation: database/sql still checks the
// context before each statement, and rolls back if the context has ended.
type uncancelled struct{ driver.Connector }

// sqliteConn and sqliteStmt are the interfaces of database/sql that the SQLite driver
// implements.
type (
	sqliteConn interface {
		driver.Conn
		driver.ConnBeginTx
		driver.ConnPrepareContext
		driver.ExecerContext
		driver.QueryerContext
		driver.Pinger
		driver.SessionResetter
		driver.Validator
	}
	sqliteStmt interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
)

func (u uncancelled) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := u.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(sqliteConn)
	if !ok {
		return nil, fmt.Errorf("the SQLite driver's connection %T lacks a method", c)
	}
	return uncancelledConn{conn}, nil
}

type uncancelledConn struct{ sqliteConn }

func (c uncancelledConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return c.sqliteConn.BeginTx(context.WithoutCancel(ctx), opts)
}

func (c uncancelledConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.sqliteConn.ExecContext(context.WithoutCancel(ctx), query, args)
}

func (c uncancelledConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.sqliteConn.QueryContext(context.WithoutCancel(ctx), query, args)
}

func (c uncancelledConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.sqliteConn.PrepareContext(context.WithoutCancel(ctx), query)
	if err != nil {
		return nil, err
	}
	stmt, ok := s.(sqliteStmt)
	if !ok {
		return nil, fmt.Errorf("the SQLite driver's statement %T lacks a method", s)
	}
	return uncancelledStmt{stmt}, nil
}

type uncancelledStmt struct{ sqliteStmt }

func (s uncancelledStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.sqliteStmt.ExecContext(context.WithoutCancel(ctx), args)
}

func (s uncancelledStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.sqliteStmt.QueryContext(context.WithoutCancel(ctx), args)
}
