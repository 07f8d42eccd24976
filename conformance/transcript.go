package conformance

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/protocol"
)

// Transcript is what a connector said in one run, and what a runner would have kept of it.
type Transcript struct {
	Records   []Record
	Gaps      []protocol.DetailGap // that this run reported or put off
	Recovered []string             // gap ids
	Skips     []protocol.SkipResult
	Questions []protocol.Interaction
	Done      *protocol.Done
	Faults    []Fault

	// State and CatchUp are the bookmarks that are kept: those of finished slices, and
	// after a success all of them.
	State, CatchUp protocol.Cursors
	durable        int // of Records, with finished slices
	durableGaps    int
	senders        map[string]bool // that draw on an allowance
	cut            bool            // the listener stopped before the connector did
}

// Record is a record without its content.
type Record struct {
	Stream, Key string
	Deleted     bool
	Time        string   // its consent time, as it was written
	Resource    string   // by which it is selected: its key, or the value of the declared field
	Fields      []string // members of data
	Sum         [32]byte // of data
}

// Of gives the records of a stream that exist at the end, by key.
func (t *Transcript) Of(stream string) map[string]Record { return existing(t.Records, stream) }

func existing(records []Record, stream string) map[string]Record {
	out := map[string]Record{}
	for _, r := range records {
		switch {
		case r.Stream != stream:
		case r.Deleted:
			delete(out, r.Key)
		default:
			out[r.Key] = r
		}
	}
	return out
}

// kept is what a runner has after the run: everything when it succeeded, the finished
// slices when it was cut off.
func (t *Transcript) kept() ([]Record, []protocol.DetailGap) {
	if t.succeeded() {
		return t.Records, t.Gaps
	}
	return t.Records[:t.durable], t.Gaps[:t.durableGaps]
}

func (t *Transcript) succeeded() bool {
	return t.Done != nil && t.Done.Status == protocol.DoneSucceeded && !t.cut
}

// fault adds a fault, or counts one that is there already.
func (t *Transcript) fault(f Fault) {
	same := func(have Fault) bool { return have.rule != "" && have.rule == f.rule && have.Mend == f.Mend }
	f.Times = max(f.Times, 1)
	if i := slices.IndexFunc(t.Faults, same); i >= 0 {
		t.Faults[i].Times += f.Times
		return
	}
	t.Faults = append(t.Faults, f)
}

// place is a cursor without what rides on it about the pace.
func place(cursor jsontext.Value) string {
	p, _ := protocol.SplitPace(bytes.Clone(cursor))
	if p.Compact() != nil || p.Kind() == 'n' {
		return ""
	}
	return string(p)
}

// entries hands gaps to a run, each under a lease of its own.
func entries(gaps []protocol.DetailGap) []protocol.GapEntry {
	out := []protocol.GapEntry{}
	for i, g := range gaps {
		if g.GapID != "" || !g.Retryable {
			continue // an older one put off, or one that nobody tries again
		}
		id := fmt.Sprintf("gap_%d", i+1)
		out = append(out, protocol.GapEntry{
			GapID: id, LeaseID: "page-1:" + id, Stream: g.Stream, ParentStream: g.ParentStream, RecordKey: g.RecordKey,
			DetailLocator: g.DetailLocator, Status: protocol.GapPending, ReferenceOnly: true,
		})
	}
	return out
}
