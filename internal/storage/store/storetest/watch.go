package storetest

import (
	"context"
	"database/sql/driver"
	"sync/atomic"
)

// Watch wraps a database's connector and counts the statements that read, and those that may write.
type Watch struct {
	driver.Connector
	queries atomic.Int64
	writes  atomic.Int64                                 // transactions, and statements without rows
	before  func(query int64)                            // called with the number of each query, from 1; may be nil
	refuse  func(query int64) error                      // the error that each query fails with; may be nil
	begin   func()                                       // called before each transaction; may be nil
	seen    func(query string, args []driver.NamedValue) // called with each query; may be nil
}

// Connect returns a watched connection.
func (w *Watch) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.Connector.Connect(ctx)
	return &watchedConn{conn, w}, err
}

// DSNConnector connects by the name of a data source, for drivers without a connector.
type DSNConnector struct {
	Via driver.Driver
	DSN string
}

func (c DSNConnector) Connect(context.Context) (driver.Conn, error) { return c.Via.Open(c.DSN) }
func (c DSNConnector) Driver() driver.Driver                        { return c.Via }

type watchedConn struct {
	driver.Conn
	watch *Watch
}

func (c *watchedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	n := c.watch.queries.Add(1)
	if c.watch.before != nil {
		c.watch.before(n)
	}
	if c.watch.seen != nil {
		c.watch.seen(query, args)
	}
	if c.watch.refuse != nil {
		if err := c.watch.refuse(n); err != nil {
			return nil, err
		}
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c *watchedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.watch.writes.Add(1)
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *watchedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.watch.writes.Add(1)
	if c.watch.begin != nil {
		c.watch.begin()
	}
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

// CheckNamedValue allows a driver its own kinds of values.
func (c *watchedConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, own := c.Conn.(driver.NamedValueChecker); own {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}
