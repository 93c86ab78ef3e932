package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

// database is a database whose every statement takes so long, behind the standard
// library's pool of so many connections: who finds none waits until his context ends.
func database(o *opened, each time.Duration, pool int) *sql.DB {
	db := sql.OpenDB(connector{each})
	db.SetMaxOpenConns(pool)
	db.SetMaxIdleConns(pool)
	o.onClose(db.Close)
	return db
}

// connector implements driver.Connector.
type connector struct{ each time.Duration }

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) { return &conn{c.each}, nil }

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return nil }

// conn is a connection that does nothing but take its time.
type conn struct{ each time.Duration }

var errNotServed = errors.New("the database only executes statements")

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Result, error) {
	timer := time.NewTimer(c.each)
	defer timer.Stop()
	select {
	case <-timer.C:
		return driver.RowsAffected(1), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Prepare implements driver.Conn.
func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errNotServed }

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) { return nil, errNotServed }

// Close implements driver.Conn.
func (c *conn) Close() error { return nil }
