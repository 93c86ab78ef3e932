package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"net/rpc"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
)

// fakeDB is a driver for database/sql that answers every query after a while with a name.
type fakeDB struct{ latency time.Duration }

func (d fakeDB) Connect(context.Context) (driver.Conn, error) { return fakeConn{d}, nil }
func (d fakeDB) Driver() driver.Driver                        { return nil }

type fakeConn struct{ db fakeDB }

func (fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not here") }
func (fakeConn) Begin() (driver.Tx, error)           { return nil, errors.New("not here") }
func (fakeConn) Close() error                        { return nil }

func (c fakeConn) QueryContext(ctx context.Context, _ string, _ []driver.NamedValue) (driver.Rows, error) {
	t := time.NewTimer(c.db.latency)
	defer t.Stop()
	select {
	case <-t.C:
		return &oneName{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// oneName is a result of one row.
type oneName struct{ read bool }

func (*oneName) Columns() []string { return []string{"name"} }
func (*oneName) Close() error      { return nil }

func (r *oneName) Next(row []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, row[0] = true, "Ada"
	return nil
}

// Echo is the RPC service: it answers with what it was asked, unless it is to fail.
type Echo struct{ failures atomic.Int64 }

// Say is the one method, in the form that net/rpc wants.
func (e *Echo) Say(text string, answer *string) error {
	if e.failures.Add(-1) >= 0 {
		return errors.New("overloaded")
	}
	*answer = text
	return nil
}

// echoClient is a client of the service, over a pipe.
type echoClient struct {
	server *Echo
	client *rpc.Client
}

func dialEcho() (*echoClient, error) {
	server := rpc.NewServer()
	echo := &Echo{}
	if err := server.Register(echo); err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	go server.ServeConn(theirs) // ends when the client closes the pipe
	return &echoClient{server: echo, client: rpc.NewClient(ours)}, nil
}

func (c *echoClient) close()           { _ = c.client.Close() }
func (c *echoClient) failNext(n int64) { c.server.failures.Store(n) }

// echo calls the service. net/rpc knows no contexts: the call is given up, and its class
// tells the primitives what kind of failure it was.
func (c *echoClient) echo(ctx context.Context, text string) (string, error) {
	var answer string
	call := c.client.Go("Echo.Say", text, &answer, make(chan *rpc.Call, 1))
	select {
	case <-call.Done:
		if failed, ok := errors.AsType[rpc.ServerError](call.Error); ok { // others are the connection's
			return "", overloaded{failed}
		}
		return answer, call.Error
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// overloaded gives an error of the service its class, by which retry and limiter go.
type overloaded struct{ error }

func (overloaded) Outcome() spillway.Outcome { return spillway.OutcomeOverload }
