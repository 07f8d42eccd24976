package sqlite

import (
	"container/list"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// maxCachedStatements is how many prepared statements each connection caches. The store, the job engine and a console
// page together have fewer frequent ones.
const maxCachedStatements = 128

// openPool opens a pool of connections with a cache of recent statements: SQLite takes longer to prepare a short
// statement than to run it.
func openPool(name string) (*sql.DB, error) {
	plain, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	driver := plain.Driver()
	if err := plain.Close(); err != nil { // no connection was opened
		return nil, err
	}
	return sql.OpenDB(cachingConnector{driver, name}), nil
}

type cachingConnector struct {
	driver driver.Driver
	name   string
}

func (c cachingConnector) Driver() driver.Driver { return c.driver }

func (c cachingConnector) Connect(context.Context) (driver.Conn, error) {
	made, err := c.driver.Open(c.name)
	if err != nil {
		return nil, err
	}
	whole, ok := made.(driverConnection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's connection %T lacks a part", made), made.Close())
	}
	return &statementCache{driverConnection: whole, kept: map[string]*list.Element{}}, nil
}

// driverConnection is the interface of the driver's connections.
type driverConnection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// driverStatement is the interface of the driver's statements.
type driverStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// statementCache is a connection that caches statements. Like every connection of a pool, it serves one call at a
// time.
type statementCache struct {
	driverConnection
	kept  map[string]*list.Element
	order list.List // of idle statements, most recently used first
}

// idleStatement is a statement that waits for its next use. A statement in use is not in the cache, because its text
// may run again before its rows are read.
type idleStatement struct {
	query string
	driverStatement
}

func (c *statementCache) ExecContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Result, error) {
	s, err := c.takeStatement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.driverConnection.ExecContext(ctx, query, args)
	}
	result, err := s.ExecContext(ctx, args)
	return result, c.returnStatement(query, s, err)
}

func (c *statementCache) QueryContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Rows, error) {
	s, err := c.takeStatement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.driverConnection.QueryContext(ctx, query, args)
	}
	found, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, c.returnStatement(query, s, err)
	}
	return &cachedRows{found, func(err error) error { return c.returnStatement(query, s, err) }}, nil
}

// takeStatement returns the statement for a text, or nil for a text that is not cached.
func (c *statementCache) takeStatement(ctx context.Context, query string) (driverStatement, error) {
	if at, ok := c.kept[query]; ok {
		delete(c.kept, query)
		return c.order.Remove(at).(idleStatement).driverStatement, nil
	}
	if !isCacheable(query) {
		return nil, nil
	}
	made, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s, ok := made.(driverStatement)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's statement %T lacks a part", made), made.Close())
	}
	return s, nil
}

// isCacheable reports whether a text reads or writes rows; only such texts repeat.
func isCacheable(query string) bool {
	query = strings.TrimLeft(query, " \t\n\r(")
	for _, word := range []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"} {
		if len(query) > len(word) && strings.EqualFold(query[:len(word)], word) {
			return true
		}
	}
	return false
}

// returnStatement returns a statement to the cache after its use, or closes it if it failed.
func (c *statementCache) returnStatement(query string, s driverStatement, used error) error {
	if _, twice := c.kept[query]; used != nil || twice {
		return errors.Join(used, s.Close())
	}
	c.kept[query] = c.order.PushFront(idleStatement{query, s})
	if c.order.Len() <= maxCachedStatements {
		return nil
	}
	oldest := c.order.Remove(c.order.Back()).(idleStatement)
	delete(c.kept, oldest.query)
	return oldest.Close()
}

// Close closes the cached statements first, because they hold the file open.
func (c *statementCache) Close() error {
	var errs []error
	for at := c.order.Front(); at != nil; at = at.Next() {
		errs = append(errs, at.Value.(idleStatement).Close())
	}
	clear(c.kept)
	c.order.Init()
	return errors.Join(append(errs, c.driverConnection.Close())...)
}

// cachedRows return their statement to the cache when they are closed.
type cachedRows struct {
	driver.Rows
	end func(error) error
}

func (r *cachedRows) Close() error {
	end := r.end
	if end == nil {
		return nil
	}
	r.end = nil
	return end(r.Rows.Close())
}
