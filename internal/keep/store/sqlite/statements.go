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

// keptStatements is how many statements each connection keeps prepared. The store, the job engine
// and a page of the console together have fewer that come often.
const keptStatements = 128

// openPool opens a pool of connections to the file that a data source name names. Each keeps the
// statements that it ran last: SQLite reads and plans a short one for longer than it runs.
func openPool(name string) (*sql.DB, error) {
	plain, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	driver := plain.Driver()
	if err := plain.Close(); err != nil { // no connection was made
		return nil, err
	}
	return sql.OpenDB(connector{driver, name}), nil
}

type connector struct {
	driver driver.Driver
	name   string
}

func (c connector) Driver() driver.Driver { return c.driver }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	made, err := c.driver.Open(c.name)
	if err != nil {
		return nil, err
	}
	whole, ok := made.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's connection %T lacks a part", made), made.Close())
	}
	return &keeping{connection: whole, kept: map[string]*list.Element{}}, nil
}

// connection is what the driver's connections can do.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// statement is what its statements can do.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// keeping is a connection that keeps statements. As with every connection of a pool, one call at a time
// is made of it.
type keeping struct {
	connection
	kept  map[string]*list.Element
	order list.List // of idle, the one that was used last in front
}

// idle is a statement that waits for its next use. One that is in use is not kept: the same text
// may be run again before its rows are read.
type idle struct {
	query string
	statement
}

func (c *keeping) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.connection.ExecContext(ctx, query, args)
	}
	result, err := s.ExecContext(ctx, args)
	return result, c.keep(query, s, err)
}

func (c *keeping) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.connection.QueryContext(ctx, query, args)
	}
	found, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, c.keep(query, s, err)
	}
	return &rows{found, func(err error) error { return c.keep(query, s, err) }}, nil
}

// take gives the statement of a text; none for a text that is better not kept.
func (c *keeping) take(ctx context.Context, query string) (statement, error) {
	if at, ok := c.kept[query]; ok {
		delete(c.kept, query)
		return c.order.Remove(at).(idle).statement, nil
	}
	if !repeats(query) {
		return nil, nil
	}
	made, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s, ok := made.(statement)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's statement %T lacks a part", made), made.Close())
	}
	return s, nil
}

// repeats reports whether a text reads or writes rows, as those do that come again.
func repeats(query string) bool {
	query = strings.TrimLeft(query, " \t\n\r(")
	for _, word := range []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"} {
		if len(query) > len(word) && strings.EqualFold(query[:len(word)], word) {
			return true
		}
	}
	return false
}

// keep takes a statement back after its use. One that failed goes.
func (c *keeping) keep(query string, s statement, used error) error {
	if _, twice := c.kept[query]; used != nil || twice {
		return errors.Join(used, s.Close())
	}
	c.kept[query] = c.order.PushFront(idle{query, s})
	if c.order.Len() <= keptStatements {
		return nil
	}
	oldest := c.order.Remove(c.order.Back()).(idle)
	delete(c.kept, oldest.query)
	return oldest.Close()
}

// Close lets go of the statements first, which the file is held by.
func (c *keeping) Close() error {
	var errs []error
	for at := c.order.Front(); at != nil; at = at.Next() {
		errs = append(errs, at.Value.(idle).Close())
	}
	clear(c.kept)
	c.order.Init()
	return errors.Join(append(errs, c.connection.Close())...)
}

// rows give their statement back when they are closed.
type rows struct {
	driver.Rows
	end func(error) error
}

func (r *rows) Close() error {
	end := r.end
	if end == nil {
		return nil
	}
	r.end = nil
	return end(r.Rows.Close())
}
