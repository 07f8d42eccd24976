// Package exportcount counts the records of an export while it is written.
package exportcount

import (
	"bytes"
	"errors"
	"io"
)

// ExportCounter counts the records of an export that pass through it, and distinguishes write errors from read
// errors.
type ExportCounter struct {
	To     io.Writer
	Format string

	quoted bool // within a cell of a table that may hold line breaks
	lines  int64
	failed error
}

func (c *ExportCounter) Write(b []byte) (int, error) {
	if !c.table() {
		c.lines += int64(bytes.Count(b, []byte{'\n'}))
	}
	for i := 0; c.table() && i < len(b); i++ {
		switch {
		case b[i] == '"':
			c.quoted = !c.quoted
		case b[i] == '\n' && !c.quoted:
			c.lines++
		}
	}
	n, err := c.To.Write(b)
	c.failed = errors.Join(c.failed, err)
	return n, err
}

func (c *ExportCounter) table() bool { return c.Format == "csv" }

// Records leaves out the heading of a table.
func (c *ExportCounter) Records() int64 {
	if c.table() {
		return max(0, c.lines-1)
	}
	return c.lines
}

// Failed is what went wrong while writing.
func (c *ExportCounter) Failed() error { return c.failed }
