package conformance

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// Transcript records the messages of one run, and what a runner would have stored.
type Transcript struct {
	Records   []Record
	Gaps      []protocol.DetailGap // reported or postponed by this run
	Recovered []string             // gap ids
	Skips     []protocol.SkipResult
	Questions []protocol.Interaction
	Done      *protocol.Done
	Faults    []Fault

	// State and CatchUp are the stored cursors: those of finished slices and, after a success, all of them.
	State, CatchUp protocol.Cursors
	durable        int // number of Records in finished slices
	durableGaps    int
	senders        map[string]bool // senders that use a shared quota
	cut            bool            // reading stopped before the connector did
}

// Record is a record without its content.
type Record struct {
	Stream, Key string
	Deleted     bool
	Time        string   // its consent time as text
	Resource    string   // what selects it: its key, or the value of the declared field
	Fields      []string // members of data
	Sum         [32]byte // of data
}

// Of returns the records of a stream that exist at the end, by key.
func (t *Transcript) Of(stream string) map[string]Record { return existingRecords(t.Records, stream) }

func existingRecords(records []Record, stream string) map[string]Record {
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

// kept returns what a runner has stored after the run: everything if it succeeded, otherwise the finished slices.
func (t *Transcript) kept() ([]Record, []protocol.DetailGap) {
	if t.succeeded() {
		return t.Records, t.Gaps
	}
	return t.Records[:t.durable], t.Gaps[:t.durableGaps]
}

func (t *Transcript) succeeded() bool {
	return t.Done != nil && t.Done.Status == protocol.DoneSucceeded && !t.cut
}

// fault adds a fault, or counts an equal one.
func (t *Transcript) fault(f Fault) {
	same := func(have Fault) bool { return have.Rule != "" && have.Rule == f.Rule && have.Fix == f.Fix }
	f.Times = max(f.Times, 1)
	if i := slices.IndexFunc(t.Faults, same); i >= 0 {
		t.Faults[i].Times += f.Times
		return
	}
	t.Faults = append(t.Faults, f)
}

// position returns a cursor without its pace.
func position(cursor jsontext.Value) string {
	p, _ := protocol.SplitPace(bytes.Clone(cursor))
	if p.Compact() != nil || p.Kind() == 'n' {
		return ""
	}
	return string(p)
}

// gapEntries returns the gaps for a run, each with its own lease.
func gapEntries(gaps []protocol.DetailGap) []protocol.GapEntry {
	out := []protocol.GapEntry{}
	for i, g := range gaps {
		if g.GapID != "" || !g.Retryable {
			continue // an older postponed gap, or one that is never retried
		}
		id := fmt.Sprintf("gap_%d", i+1)
		out = append(out, protocol.GapEntry{
			GapID: id, LeaseID: "page-1:" + id, Stream: g.Stream, ParentStream: g.ParentStream, RecordKey: g.RecordKey,
			DetailLocator: g.DetailLocator, Status: protocol.GapPending, ReferenceOnly: true,
		})
	}
	return out
}
