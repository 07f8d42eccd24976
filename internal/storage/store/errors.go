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
	// ErrGrantOver means that the grant of a run has ended.
	ErrGrantOver = errors.New("the grant has ended")
	// ErrStale means that the data was changed since it was read.
	ErrStale = errors.New("changed since it was read")
	// ErrRefreshActive matches a *RefreshActiveError.
	ErrRefreshActive = errors.New("the credential is being refreshed by another caller")
	// ErrGapLease means that a gap is not leased to this run under this token.
	ErrGapLease = errors.New("gap is not leased to this run")
	// ErrUnknownStream means a write for a stream that the run did not declare.
	ErrUnknownStream = errors.New("stream was not declared by the run")
	// ErrCodeUsed means that an enrolment code was used or cancelled.
	ErrCodeUsed = errors.New("the code has been used")
	// ErrCodeExpired means that an enrolment code has expired.
	ErrCodeExpired = errors.New("the code has expired")
	// ErrDeviceLimit means that the number of devices or sources is at its limit.
	ErrDeviceLimit = errors.New("there are too many devices or sources")
	// ErrUploaderGone means that a source of a device may no longer write: the source, its device or its token was
	// revoked, another source took its connection over, or the owner stopped the connection.
	ErrUploaderGone = errors.New("the source no longer collects for the connection")
	// ErrCursorAhead means a cursor beyond a batch that has not been received.
	ErrCursorAhead = errors.New("the cursor is ahead of what was received")
	// ErrNoClock means that the database has no clock independent of its clients.
	ErrNoClock = errors.New("the database has no clock of its own")
	// ErrBlobMissing means that a record refers to a file that is not stored. Nothing was written.
	ErrBlobMissing = errors.New("a file that a record names is not stored")
	// ErrTooLong means that a query exceeded its time limit.
	ErrTooLong = errors.New("exceeded the time limit")
	// ErrTooLate means that a deletion can no longer be undone, or was undone already.
	ErrTooLate = errors.New("too late for that")
)

var permanentErrors = []error{ErrNotFound, ErrExists, ErrLeaseLost, ErrRunActive, ErrWaiting, ErrGrantOver, ErrStale,
	ErrRefreshActive, ErrGapLease, ErrUnknownStream, ErrCodeUsed, ErrCodeExpired, ErrDeviceLimit,
	ErrUploaderGone, ErrCursorAhead, ErrNoClock, ErrTooLong, ErrBlobMissing, ErrTooLate}

// IsPermanentError reports whether err is one of the errors above, which a retry would return again. Any other error
// is a storage failure, which may pass.
func IsPermanentError(err error) bool {
	return slices.ContainsFunc(permanentErrors, func(answer error) bool { return errors.Is(err, answer) })
}

// ActiveRunError reports which run holds the connection.
type ActiveRunError struct {
	ConnectionID string
	RunID        string
	Holder       string
	ExpiresAt    time.Time
}

func (e *ActiveRunError) Error() string {
	return fmt.Sprintf("run_already_active: run %s holds connection %s", e.RunID, e.ConnectionID)
}

// Is reports whether target is ErrRunActive.
func (e *ActiveRunError) Is(target error) bool { return target == ErrRunActive }

// StorageFault classifies a failure of the storage itself.
type StorageFault string

const (
	FaultCorrupt     StorageFault = "storage_corrupt"
	FaultLocked      StorageFault = "storage_locked"
	FaultReadOnly    StorageFault = "storage_read_only"
	FaultFull        StorageFault = "storage_full"
	FaultUnreachable StorageFault = "storage_unreachable"
	FaultTooOld      StorageFault = "storage_schema_too_old"
	FaultTooNew      StorageFault = "storage_schema_too_new"
	FaultNotADB      StorageFault = "storage_not_a_database"
)

// FaultError is a storage failure that the owner can fix. The failed operation wrote nothing.
type FaultError struct {
	Fault StorageFault
	Where string // a file name or a host and database, never a password
	Err   error
	// Copy is the file from before the upgrade, when the schema is too new and there is one.
	Copy string
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("%s: %s: %v", e.Fault, e.Where, e.Err)
}

func (e *FaultError) Unwrap() error { return e.Err }

// NextStep returns what the owner can do about the fault.
func (e *FaultError) NextStep() string {
	switch e.Fault {
	case FaultCorrupt:
		return "Stop PDPP, keep a copy of the file, and restore the newest backup. " +
			"Nothing was written by the failed operation."
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
		if e.Copy != "" {
			return "The database was written by a newer PDPP. Upgrade this program, or stop the newer one and put the copy " +
				"from before its upgrade in place of the database: " + e.Copy + ". What was collected since is not in it."
		}
		return "The database was written by a newer PDPP. Upgrade this program."
	case FaultNotADB:
		return "The path names a file that is not a PDPP database. Point PDPP_HOME at another folder."
	default:
		return "See docs/operate/faults.md."
	}
}
