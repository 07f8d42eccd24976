package audited

import "io"

// counter counts the records of an export as they pass.
type counter struct {
	w      io.Writer
	csv    bool
	quoted bool
	lines  int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	for _, char := range b[:n] {
		switch {
		case char == '"' && c.csv: // a quote within a value is written twice
			c.quoted = !c.quoted
		case char == '\n' && !c.quoted:
			c.lines++
		}
	}
	return n, err
}

// records leaves out the heading of a table.
func (c *counter) records() int64 {
	if c.csv && c.lines > 0 {
		return c.lines - 1
	}
	return c.lines
}
