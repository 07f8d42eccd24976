package runner

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// sieve is a Sink that keeps nothing but counts, and the largest heap it saw.
type sieve struct {
	memory
	records, gaps, commits atomic.Int64
	largest, heap          atomic.Uint64
}

func (s *sieve) CommitSlice(_ context.Context, c *slice.Slice) error {
	var size uint64
	for i := range c.Records {
		size += uint64(len(c.Records[i].Data))
	}
	s.records.Add(int64(len(c.Records)))
	s.gaps.Add(int64(len(c.Gaps)))
	s.commits.Add(1)
	s.largest.Store(max(s.largest.Load(), size))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.heap.Store(max(s.heap.Load(), m.HeapAlloc))
	return nil
}

// A connector that never closes a slice is committed in parts and costs no more
// memory than the bounds allow, whatever it floods with.
func TestFloodIsBounded(t *testing.T) {
	const open = 256 << 10
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // independent of GOGC
	for role, size := range map[string]int64{"floods stdout": 1000, "floods with tombstones": 0, "floods with gaps": 0} {
		t.Run(role, func(t *testing.T) {
			d := newDialogue(t, "notes")
			d.opts.MaxOpenBytes = open
			d.spec.Command = self(role)
			s := &sieve{}
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			o := Run(t.Context(), d.spec, s, nil, nil, d.opts)
			mustSucceed(t, o)
			if got := s.records.Load() + s.gaps.Load(); got != floodRecords {
				t.Errorf("%d of %d became durable", got, floodRecords)
			}
			if s.commits.Load() < floodRecords*(recordOverhead+size)/open {
				t.Errorf("only %d commits: the open slice is not bounded", s.commits.Load())
			}
			if s.largest.Load() > open+2000 {
				t.Errorf("a commit of %d bytes of data", s.largest.Load())
			}
			if grown := int64(s.heap.Load()) - int64(before.HeapAlloc); grown > 8<<20 {
				t.Errorf("the heap grew by %d bytes", grown)
			}
		})
	}
}

func TestStderrFlood(t *testing.T) {
	d := newDialogue(t, "notes")
	const secret = "hunter2-very-secret"
	d.spec.Command.Secrets = []string{secret}
	o := act(t, d, t.Context(), "floods stderr", "SAMPLE_TOKEN="+secret)
	mustSucceed(t, o)
	if len(o.StderrTail) > childprocess.MaxStderrTail || !strings.HasSuffix(o.StderrTail, "\nlast words: [redacted]\n") {
		t.Errorf("tail of %d bytes ends with %q", len(o.StderrTail), o.StderrTail[max(0, len(o.StderrTail)-60):])
	}
}

func TestMalformedOutput(t *testing.T) {
	mustViolate(t, act(t, newDialogue(t, "notes"), t.Context(), "writes garbage"), protocol.MalformedJSON)
	mustViolate(t, act(t, newDialogue(t, "notes"), t.Context(), "writes a long line"), protocol.LineTooLong)
}

func TestClosedStdin(t *testing.T) {
	t.Run("before START is read", func(t *testing.T) {
		d := newDialogue(t, "notes")
		// A START larger than a pipe can only be written while the child reads it.
		d.spec.State = map[string]jsontext.Value{"notes": jsontext.Value(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`)}
		o := act(t, d, t.Context(), "reads nothing")
		mustFail(t, o, ReasonStdinClosed)
		if o.Failure.Phase != "start" || o.Failure.Origin != OriginTransport || o.ExitCode != 0 {
			t.Errorf("failure = %+v", o.Failure)
		}
	})
	t.Run("before the next page", func(t *testing.T) {
		o := act(t, newDialogue(t, "threads", "messages"), t.Context(), "closes stdin")
		mustFail(t, o, ReasonStdinClosed)
		if o.Failure.Phase != "detail_gaps_page_response" {
			t.Errorf("failure = %+v", o.Failure)
		}
	})
}

// A descendant in the group ends with the run; one that has left the group
// cannot hold the run back, whether it is silent or goes on talking.
func TestDescendants(t *testing.T) {
	t.Run("in the group", func(t *testing.T) {
		holding := fifo(t, "hold")
		gone := ended(holding)
		d := newDialogue(t, "notes")
		d.spec.Command = self("leaves a child", "HOLD="+holding, "AWAIT="+fifo(t, "await"))
		mustSucceed(t, Run(t.Context(), d.spec, d, d, nil, Options{}))
		<-gone // only a signal ends it
	})
	t.Run("escaped", func(t *testing.T) {
		holding, awaiting := fifo(t, "hold"), fifo(t, "await")
		gone := ended(holding)
		d := newDialogue(t, "notes")
		d.spec.Command = self("lets a child escape", "HOLD="+holding, "AWAIT="+awaiting)
		mustSucceed(t, Run(t.Context(), d.spec, d, d, nil, Options{}))
		release(t, awaiting) // it lives and has outlasted the run, which did not wait for it
		<-gone
	})
	t.Run("escaped and talking", func(t *testing.T) {
		holding := fifo(t, "hold")
		gone := ended(holding)
		d := newDialogue(t, "notes")
		d.spec.Command = self("lets a talker escape", "HOLD="+holding)
		mustFail(t, Run(t.Context(), d.spec, d, d, nil, Options{}), ReasonExitWithoutDone)
		<-gone // its output has nowhere to go
	})
}
