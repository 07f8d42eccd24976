package conformance

import (
	"fmt"
	"io"
	"strings"
)

// Result is the result of one check.
type Result string

const (
	Passed       Result = "passed"
	Failed       Result = "failed"
	NotTried     Result = "not_tried"      // the author can provide what is missing
	DoesNotApply Result = "does_not_apply" // the connector has nothing that the check applies to
)

// Report is the result of all checks.
type Report struct {
	Connector string  `json:"connector"`
	Version   string  `json:"version"`
	Checks    []Check `json:"checks"`
	Runs      int     `json:"runs"`
	Seconds   float64 `json:"seconds"`
}

// Check is one row of a report.
type Check struct {
	Name   string  `json:"name"`
	About  string  `json:"about"`
	Result Result  `json:"result"`
	Why    string  `json:"why,omitempty"` // why the check was not made
	Faults []Fault `json:"faults,omitempty"`
}

// Result returns Failed if any check failed, and NotTried if any could not be made.
func (r Report) Result() Result {
	whole := Passed
	for _, c := range r.Checks {
		switch {
		case c.Result == Failed:
			return Failed
		case c.Result == NotTried:
			whole = NotTried
		}
	}
	return whole
}

// Print writes the report as a table, with each fault and its fix below its row.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d runs in %.1f s\n\n", r.Connector, r.Version, r.Runs, r.Seconds)
	for _, c := range r.Checks {
		word := strings.ReplaceAll(string(c.Result), "_", " ")
		text := c.About
		if c.Why != "" {
			text = c.Why
		}
		fmt.Fprintf(&b, "%-19s  %-14s  %s\n", c.Name, word, text)
		for _, f := range c.Faults {
			fmt.Fprintf(&b, "    wrong: %s\n    fix:   %s\n", f, f.Fix)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
