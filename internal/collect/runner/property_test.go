package runner

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/protocol"
)

// journey is a random run. Its messages are numbered in the order of sending: a record's key and a cursor's n are the
// number of their message.
type journey struct {
	legacy  []int // places of records of the stream without slices
	lines   []string
	records []int          // places of the records
	last    map[string]int // place of the newest cursor, by stream and mode
	waits   int            // place of the first cursor of threads that must wait; 0 without one
	lost    []string       // keys that slices left open
	closed  bool           // the lane ends with every key accounted for
}

func (j *journey) place() int { return len(j.lines) + 1 }

func (j *journey) record(stream string) {
	j.records = append(j.records, j.place())
	j.lines = append(j.lines, rec(stream, strconv.Itoa(j.place())))
}

func (j *journey) state(stream, mode string, more ...string) {
	if mode != "" {
		more = append(more, catchUp)
		stream += "@catch_up"
	}
	j.last[stream] = j.place()
	name, _, _ := strings.Cut(stream, "@")
	j.lines = append(j.lines, state(name, j.place(), more...))
}

func drawJourney(t *rapid.T) *journey {
	j := &journey{last: map[string]int{}}
	for range rapid.IntRange(0, 40).Draw(t, "messages") {
		mode := rapid.SampledFrom([]string{"", "", "catch_up"}).Draw(t, "mode")
		switch rapid.IntRange(0, 9).Draw(t, "message") {
		case 0, 1:
			j.record("notes")
		case 2:
			j.state("notes", mode)
		case 3:
			j.legacy = append(j.legacy, j.place())
			j.record("legacy")
		case 4:
			j.state("legacy", mode)
		case 5:
			j.record("threads")
		case 6:
			key := "g" + strconv.Itoa(j.place())
			j.lines = append(j.lines, gapOf("messages", "threads", key))
			j.state("threads", mode, accounted("", key, ""))
		case 7:
			j.state("threads", mode, accounted("h"+strconv.Itoa(j.place()), "", ""))
		case 8:
			key := "lost" + strconv.Itoa(j.place())
			j.lost = append(j.lost, key)
			j.wait()
			j.state("threads", mode, accounted("", key, ""))
		case 9:
			j.wait()
			j.state("threads", mode)
		}
	}
	lost := strings.Join(j.lost, " ")
	switch rapid.IntRange(0, 2).Draw(t, "coverage") {
	case 0:
		j.closed = true
		j.lines = append(j.lines, coverage("messages", "threads", "", lost, "", ""))
	case 1:
		j.lines = append(j.lines, coverage("messages", "threads", lost+" never", "", "", ""))
	}
	return j
}

func (j *journey) wait() {
	if j.waits == 0 {
		j.waits = j.place()
	}
}

// tell sends everything, split into random writes, and ends as requested.
func (j *journey) tell(c *connector, cuts []bool, end string) int {
	c.start()
	var write []string
	for i, l := range j.lines {
		write = append(write, l)
		if cuts[i] {
			c.line(strings.Join(write, "\n"))
			write = nil
		}
	}
	if len(write) > 0 {
		c.line(strings.Join(write, "\n"))
	}
	switch end {
	case "succeeds":
		return c.done(protocol.DoneSucceeded)
	case "fails":
		return c.done(protocol.DoneFailed)
	case "lies":
		c.line(doneLine("succeeded", len(j.records)+1))
	}
	return 1
}

// Whatever a connector sends and however it or the sink fails, a committed cursor never precedes the messages before
// it.
func TestCursorNeverOutrunsItsRecords(t *testing.T) {
	t.Attr("spec", "PB-08")
	t.Attr("spec", "PB-A07")
	rapid.Check(t, func(rt *rapid.T) {
		j := drawJourney(rt)
		cuts := rapid.SliceOfN(rapid.Bool(), len(j.lines), len(j.lines)).Draw(rt, "cuts")
		end := rapid.SampledFrom([]string{"succeeds", "succeeds", "fails", "dies", "lies"}).Draw(rt, "end")
		d := newDialogue(t, "notes", "legacy", "threads", "messages")
		d.failAt = rapid.SampledFrom([]int{0, 0, 1, 2, 3, 7}).Draw(rt, "commit that fails")
		d.opts = Options{
			BatchRecords: rapid.IntRange(1, 5).Draw(rt, "batch records"),
			MaxOpenBytes: rapid.SampledFrom([]int{1, 700, 1 << 20}).Draw(rt, "open bytes"),
		}
		o := d.play(context.Background(), func(c *connector) int { return j.tell(c, cuts, end) })
		if (o.Status == Succeeded) != (end == "succeeds" && o.Failure == nil) {
			rt.Fatalf("run ended as %s: %v", o.Status, o.Failure)
		}
		if err := j.check(d, o); err != nil {
			rt.Fatalf("%v\ncommits:\n%s", err, strings.Join(d.log(), "\n"))
		}
	})
}

func (j *journey) check(d *dialogue, o Outcome) error {
	// records so far, the cursors, and the last record with and without slices
	durable, at, last := map[int]bool{}, map[string]int{}, map[bool]int{}
	for _, s := range d.slices {
		for _, r := range s.Records {
			n, _ := strconv.Atoi(r.Key)
			if sliced := r.Stream != "legacy"; n <= last[sliced] {
				return fmt.Errorf("record %s is out of order", r.Key)
			} else {
				last[sliced] = n
			}
			durable[n] = true
		}
		for _, c := range s.Cursors {
			var n int
			if _, err := fmt.Sscanf(string(c.Cursor), `{"n":%d}`, &n); err != nil {
				return err
			}
			name := c.Stream
			if c.Mode == protocol.CatchUp {
				name += "@catch_up"
			}
			for _, place := range j.records {
				if place < n && !durable[place] {
					return fmt.Errorf("cursor %s=%d is durable and record %d is not", name, n, place)
				}
			}
			switch {
			case n <= at[name]:
				return fmt.Errorf("cursor %s goes back from %d to %d", name, at[name], n)
			case c.Stream == "legacy" && o.Status != Succeeded && o.Failure.Reason != ReasonStorage:
				return fmt.Errorf("a failed run moved the cursor of a run-checkpoint stream")
			case c.Stream == "threads" && j.waits > 0 && n >= j.waits &&
				(!j.closed || o.Status != Succeeded && o.Failure.Reason != ReasonStorage):
				return fmt.Errorf("cursor %s=%d passes the one at %d that waits", name, n, j.waits)
			}
			at[name] = n
		}
	}
	if int64(len(durable)) != o.Checkpoint.RecordsFlushed || int64(len(j.records)) < o.RecordsEmitted {
		return fmt.Errorf("%d records are durable, the run claims %+v", len(durable), o.Checkpoint)
	}
	for _, place := range j.legacy {
		if stored := o.Failure == nil || o.Failure.Reason != ReasonStorage; stored && !durable[place] {
			return fmt.Errorf("record %d of a stream without slices is lost", place)
		}
	}
	if o.Status != Succeeded {
		return nil
	}
	if len(durable) != len(j.records) {
		return fmt.Errorf("a successful run lost %d records", len(j.records)-len(durable))
	}
	for name, n := range j.last {
		if withheld := strings.HasPrefix(name, "threads") && j.waits > 0 && !j.closed; !withheld && at[name] != n {
			return fmt.Errorf("a successful run left cursor %s at %d, not %d", name, at[name], n)
		}
	}
	return nil
}
