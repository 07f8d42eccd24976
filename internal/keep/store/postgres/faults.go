package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Classify reads the server's SQLSTATE, and takes what is wrong with the
// connection itself for an unreachable server.
func (d *dialect) Classify(err error) error {
	var known *store.FaultError
	var server *pgconn.PgError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &server):
		return d.classifyServer(server.Code, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case lost(err):
		return d.fault(store.FaultUnreachable, err)
	}
	return err
}

func (d *dialect) classifyServer(code string, err error) error {
	switch code {
	case "23505": // unique_violation
		return fmt.Errorf("%w: %w", store.ErrExists, err)
	case "23503": // foreign_key_violation
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	if fault, ok := faults[code]; ok {
		return d.fault(fault, err)
	}
	if fault, ok := faults[code[:2]]; ok {
		return d.fault(fault, err)
	}
	return err
}

func (d *dialect) fault(f store.Fault, err error) error {
	return &store.FaultError{Fault: f, Where: d.where, Err: err}
}

// lost tells an error of the connection from one of the statement.
func lost(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn)
}

// faults are the states, or classes of states, that the owner can act on.
var faults = map[string]store.Fault{
	"08":    store.FaultUnreachable, // connection exceptions
	"28":    store.FaultUnreachable, // the server refuses the user or the password
	"3D000": store.FaultUnreachable, // no such database
	"53300": store.FaultUnreachable, // too many connections
	"57P01": store.FaultUnreachable, // the server stops
	"57P02": store.FaultUnreachable, // the server crashed
	"57P03": store.FaultUnreachable, // the server starts
	"25006": store.FaultReadOnly,    // read-only transaction
	"42501": store.FaultReadOnly,    // no privilege
	"53100": store.FaultFull,        // disk full
	"40P01": store.FaultLocked,      // deadlock
	"55P03": store.FaultLocked,      // lock not available
	"XX001": store.FaultCorrupt,     // data corrupted
	"XX002": store.FaultCorrupt,     // index corrupted
}
