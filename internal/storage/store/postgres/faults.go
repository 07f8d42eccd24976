package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// ClassifyError uses the server's SQLSTATE, and treats errors of the connection as an unreachable server.
func (d *dialect) ClassifyError(err error) error {
	var known *store.FaultError
	var server *pgconn.PgError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &server):
		return d.classifyServer(server.Code, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case isConnectionError(err):
		return d.newFault(store.FaultUnreachable, err)
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
	if fault, ok := faultsByState[code]; ok {
		return d.newFault(fault, err)
	}
	if fault, ok := faultsByState[code[:2]]; ok {
		return d.newFault(fault, err)
	}
	return err
}

func (d *dialect) newFault(f store.StorageFault, err error) error {
	return &store.FaultError{Fault: f, Where: d.where, Err: err}
}

// isConnectionError reports whether the connection failed, not the statement.
func isConnectionError(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn)
}

// faultsByState are the states, or classes of states, that the owner can act on.
var faultsByState = map[string]store.StorageFault{
	"08":    store.FaultUnreachable, // connection exceptions
	"28":    store.FaultUnreachable, // wrong user or password
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
