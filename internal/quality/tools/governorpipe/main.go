// Command governorpipe lets a benchmark of rate controllers drive the shipped governor: its pace,
// its retries, its circuit breaker, and the response handling in governhttp. It exchanges JSON
// lines on stdin and stdout, one object per line. Its only clock is the time in each line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "governorpipe:", err)
		os.Exit(1)
	}
}

// maxLine bounds one line of the harness.
const maxLine = 1 << 20

// message is one line of the harness. Times are nanoseconds since its beginning.
type message struct {
	Op  string `json:"op"`
	Now int64  `json:"now"`

	// init
	Ceiling   int64     `json:"owner_min_interval_ns"`
	Discovery int64     `json:"initial_interval_ns"`
	InFlight  int       `json:"max_in_flight"`
	Seed      uint64    `json:"seed"`
	EpochUnix int64     `json:"epoch_unix"`
	Restored  *snapshot `json:"restored"`

	// observe
	ID      int64             `json:"id"`
	SentAt  int64             `json:"sent_at"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
}

// decision answers next: send now, or ask again after the wait. A wait of zero
// without sending means after the next answer.
type decision struct {
	Wait int64 `json:"wait"`
	Send bool  `json:"send"`
}

// snapshot answers snapshot, and comes back with the init of a later run.
type snapshot struct {
	Interval int64              `json:"interval_ns"`
	Extra    map[string]float64 `json:"extra,omitempty"`
}

// serve answers the lines of in until quit or the end.
func serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	reply := json.NewEncoder(out)
	var c *collector
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("read a line: %w", err)
		}
		if c == nil && m.Op != "init" && m.Op != "quit" {
			return fmt.Errorf("%q before init", m.Op)
		}
		var err error
		switch m.Op {
		case "init":
			c = newCollector(m)
		case "next":
			err = reply.Encode(c.next(m.Now))
		case "observe":
			err = c.observe(m)
		case "snapshot":
			err = reply.Encode(c.snapshot(m.Now))
		case "quit":
			return nil
		default:
			err = fmt.Errorf("unknown op %q", m.Op)
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}
