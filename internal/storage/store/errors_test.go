package store

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"
)

func TestActiveRunError(t *testing.T) {
	err := fmt.Errorf("start: %w", &ActiveRunError{ConnectionID: "c", RunID: "r", ExpiresAt: time.Time{}})
	if !errors.Is(err, ErrRunActive) || errors.Is(err, ErrLeaseLost) {
		t.Errorf("%v does not match ErrRunActive alone", err)
	}
	if want := "start: run_already_active: run r holds connection c"; err.Error() != want {
		t.Errorf("error reads %q, want %q", err, want)
	}
}

// TestFaultNextSteps checks that every fault has its own advice.
func TestFaultNextSteps(t *testing.T) {
	seen := map[string]StorageFault{}
	faults := []StorageFault{
		FaultCorrupt,
		FaultLocked,
		FaultReadOnly,
		FaultFull,
		FaultUnreachable,
		FaultTooOld,
		FaultTooNew,
		FaultNotADB,
		"something new",
	}
	for _, f := range faults {
		err := &FaultError{Fault: f, Where: "pdpp.db", Err: io.EOF}
		if other, twice := seen[err.NextStep()]; twice || err.NextStep() == "" {
			t.Errorf("%s and %s give the advice %q", f, other, err.NextStep())
		}
		seen[err.NextStep()] = f
		if !errors.Is(err, io.EOF) || err.Error() != string(f)+": pdpp.db: EOF" {
			t.Errorf("error reads %q", err)
		}
	}
}

func TestAnswers(t *testing.T) {
	for _, err := range append(permanentErrors, &ActiveRunError{RunID: "r"}) {
		if !IsPermanentError(fmt.Errorf("start: %w", err)) {
			t.Errorf("%v is no answer", err)
		}
	}
	for _, err := range []error{nil, io.EOF, &FaultError{Fault: FaultLocked, Err: io.EOF}} {
		if IsPermanentError(err) {
			t.Errorf("%v is an answer", err)
		}
	}
}
