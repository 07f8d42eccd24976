package runs

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/cli/schedule"
)

// addSkipped records a connection that is not due.
func (d *dueRunsPass) addSkipped(row schedule.ConnectionSchedule) {
	d.result.Skipped = append(d.result.Skipped, row)
	if !d.verbose || d.JSON {
		return
	}
	next := ""
	if row.NextAt != nil {
		next = "; next attempt " + output.FormatTime(*row.NextAt)
	}
	output.Printf(d.Out, "%s: skipped, %s%s\n", row.ConnectionID, row.Explanation, next)
}

// addError records a due connection that could not be run.
func (d *dueRunsPass) addError(id string, err error) {
	e := failure.Describe(err)
	d.exits = append(d.exits, e.Exit)
	d.result.Errors = append(d.result.Errors, dueConnectionError{id, e})
	if !d.JSON {
		d.ReportError(failure.WithSubject(id, e))
	}
}

// addRun records and prints a run that ended. Its error names the connection, because standard error has no other
// context.
func (d *dueRunsPass) addRun(s runSummary) {
	d.result.Runs = append(d.result.Runs, s)
	if s.exit != failure.ExitOK {
		d.exits = append(d.exits, s.exit)
	}
	if d.JSON {
		return
	}
	if s.Error != nil {
		s.Error = failure.WithSubject(s.ConnectionID, s.Error)
	}
	printSummary(d.Invocation, s)
}

// printNothingDue prints that nothing was due, and what is next.
func (d *dueRunsPass) printNothingDue() {
	var first *time.Time
	id := ""
	for _, row := range d.result.Skipped {
		if row.NextAt != nil && (first == nil || row.NextAt.Before(*first)) {
			first, id = row.NextAt, row.ConnectionID
		}
	}
	if first == nil {
		output.Printf(d.Out, "Nothing is due. See why: pdpp schedule list\n")
		return
	}
	output.Printf(d.Out, "Nothing is due. The next is %s at %s.\n", id, output.FormatTime(*first))
}

// combineExitCodes returns the common exit code of several failures, or ExitFailed if they differ.
func combineExitCodes(codes []int) int {
	if len(codes) == 0 {
		return failure.ExitOK
	}
	for _, c := range codes[1:] {
		if c != codes[0] {
			return failure.ExitFailed
		}
	}
	return codes[0]
}
