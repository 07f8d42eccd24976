package store

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

var (
	ErrNotFound  = errors.New("not found")
	ErrExists    = errors.New("already exists")
	ErrLeaseLost = errors.New("the run no longer holds its connection")
	// ErrRunActive matches an *ActiveRunError.
	ErrRunActive = errors.New("run_already_active")
	// ErrWaiting matches a *WaitError.
	ErrWaiting = errors.New("provider_wait")
	// ErrGrantOver means that the grant is over that a run was asked for by.
	ErrGrantOver = errors.New("the grant is over")
	// ErrStale means that what is to be saved was changed by somebody else since it was read.
	ErrStale = errors.New("changed meanwhile")
	// ErrRefreshing matches a *RefreshingError.
	ErrRefreshing = errors.New("somebody else refreshes the credential")
	// ErrGapLease means that a gap is not leased to this run under this token.
	ErrGapLease = errors.New("gap is not leased to this run")
	// ErrUnknownStream means a write for a stream that the run did not declare.
	ErrUnknownStream = errors.New("stream was not declared by the run")
	// ErrCodeUsed means that a code of enrolment has been used or was taken back.
	ErrCodeUsed = errors.New("the code has been used")
	// ErrCodeExpired means that a code of enrolment came too late.
	ErrCodeExpired = errors.New("the code has expired")
	// ErrDeviceLimit means that there are as many devices or sources as there may be.
	ErrDeviceLimit = errors.New("there are too many devices or sources")
	// ErrUploaderGone means that a source of a device may no longer write: it, its device or
	// its token was revoked, another took its connection over, or the owner stopped that.
	ErrUploaderGone = errors.New("the source no longer collects for the connection")
	// ErrAhead means a cursor that would pass a batch which has not been received.
	ErrAhead = errors.New("the cursor is ahead of what was received")
	// ErrNoClock means that the database lives by the clock of whoever opens it.
	ErrNoClock = errors.New("the database has no clock of its own")
	// ErrBlobMissing means that a record names a file that is not kept. Nothing was written.
	ErrBlobMissing = errors.New("a file that a record names is not kept")
	// ErrTooLong means that summing up took longer than it may.
	ErrTooLong = errors.New("took longer than it may")
	// ErrTooLate means that a deletion can no longer be undone, or was undone already.
	ErrTooLate = errors.New("too late for that")
)

var answers = []error{ErrNotFound, ErrExists, ErrLeaseLost, ErrRunActive, ErrWaiting, ErrGrantOver, ErrStale, ErrRefreshing, ErrGapLease, ErrUnknownStream, ErrCodeUsed, ErrCodeExpired, ErrDeviceLimit,
	ErrUploaderGone, ErrAhead, ErrNoClock, ErrTooLong, ErrBlobMissing, ErrTooLate}

// IsAnswer reports whether err is an answer of the store, one of the errors
// above: it would be the same at a second try. Everything else is trouble with
// the storage, which may pass.
func IsAnswer(err error) bool {
	return slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) })
}

// ActiveRunError tells which run holds the connection.
type ActiveRunError struct {
	ConnectionID string
	RunID        string
	Holder       string
	ExpiresAt    time.Time
}

func (e *ActiveRunError) Error() string {
	return fmt.Sprintf("run_already_active: run %s holds connection %s", e.RunID, e.ConnectionID)
}

// Is makes errors.Is(err, ErrRunActive) hold.
func (e *ActiveRunError) Is(target error) bool { return target == ErrRunActive }

// Fault classifies what is wrong with the storage itself.
type Fault string

const (
	FaultCorrupt     Fault = "storage_corrupt"
	FaultLocked      Fault = "storage_locked"
	FaultReadOnly    Fault = "storage_read_only"
	FaultFull        Fault = "storage_full"
	FaultUnreachable Fault = "storage_unreachable"
	FaultTooOld      Fault = "storage_schema_too_old"
	FaultTooNew      Fault = "storage_schema_too_new"
	FaultNotADB      Fault = "storage_not_a_database"
)

// FaultError is a storage fault that the owner can act on. Nothing of the
// operation that met it has been written.
type FaultError struct {
	Fault Fault
	Where string // a file name or a host and database, never a password
	Err   error
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("%s: %s: %v", e.Fault, e.Where, e.Err)
}

func (e *FaultError) Unwrap() error { return e.Err }

// NextStep says what the owner can do about the fault.
func (e *FaultError) NextStep() string {
	switch e.Fault {
	case FaultCorrupt:
		return "Stop PDPP, keep a copy of the file, and restore the newest backup. Nothing was written by the failed operation."
	case FaultLocked:
		return "Another program holds the database. Close it, or wait and try again."
	case FaultReadOnly:
		return "Make the file and its folder writable for the user that runs PDPP, then try again."
	case FaultFull:
		return "Free some disk space, then try again. Finished slices are safe."
	case FaultUnreachable:
		return "Start the database server, or correct PDPP_DATABASE_URL, then try again."
	case FaultTooOld:
		return "An earlier PDPP wrote the database, and this one cannot upgrade it. Export your records with that program " +
			"(pdpp export) and keep a backup of it, then start this one with an empty folder or database. Nothing was changed."
	case FaultTooNew:
		return "The database was written by a newer PDPP. Upgrade this program."
	case FaultNotADB:
		return "The path names a file that is not a PDPP database. Point PDPP_HOME at another folder."
	default:
		return "See docs/faults.md."
	}
}
