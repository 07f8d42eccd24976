package cli

import "time"

// skip notes a connection that is not due.
func (d *dueRun) skip(row scheduleRow) {
	d.result.Skipped = append(d.result.Skipped, row)
	if !d.verbose || d.json {
		return
	}
	next := ""
	if row.NextAt != nil {
		next = "; next attempt " + when(*row.NextAt)
	}
	printf(d.out, "%s: skipped, %s%s\n", row.ConnectionID, row.Words, next)
}

// fail notes a connection that was due, and whose run could not be started or recorded.
func (d *dueRun) fail(id string, err error) {
	e := describe(err)
	d.exits = append(d.exits, e.Exit)
	d.result.Errors = append(d.result.Errors, dueError{id, e})
	if !d.json {
		d.report(inConnection(id, e))
	}
}

// tell shows a run that ended. What goes to standard error names the connection,
// because there it stands alone.
func (d *dueRun) tell(s summary) {
	d.result.Runs = append(d.result.Runs, s)
	if s.exit != ExitOK {
		d.exits = append(d.exits, s.exit)
	}
	if d.json {
		return
	}
	if s.Error != nil {
		s.Error = inConnection(s.ConnectionID, s.Error)
	}
	d.printSummary(s)
}

// printNothing says that nothing was due, and what comes next.
func (d *dueRun) printNothing() {
	var first *time.Time
	id := ""
	for _, row := range d.result.Skipped {
		if row.NextAt != nil && (first == nil || row.NextAt.Before(*first)) {
			first, id = row.NextAt, row.ConnectionID
		}
	}
	if first == nil {
		printf(d.out, "Nothing is due. See why: pdpp schedule list\n")
		return
	}
	printf(d.out, "Nothing is due. The next is %s at %s.\n", id, when(*first))
}

// inConnection puts the connection before the message.
func inConnection(id string, e *Error) *Error {
	of := *e
	of.Message = id + ": " + of.Message
	return &of
}

// oneExit is the code for several failures: theirs when it is the same for all.
func oneExit(codes []int) int {
	if len(codes) == 0 {
		return ExitOK
	}
	for _, c := range codes[1:] {
		if c != codes[0] {
			return ExitFailed
		}
	}
	return codes[0]
}
