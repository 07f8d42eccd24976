package conformance

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/protocol"
)

// Limits of the tool, in line with those of docs/protocol.md.
const (
	defaultPatience = time.Minute
	exitGrace       = 10 * time.Second
	stopGrace       = 3 * time.Second // a runner kills after 250 ms; a machine under test may be slow
)

// kit is one connector under test, and what the checks have learned of it.
type kit struct {
	ctx context.Context
	*Target
	first *outcome // of a first run that succeeded
	held  *outcome // of the run under the owner's cap
	ends  []Fault  // about the ends of runs
	told  []Fault  // secrets that were told
	runs  int
}

// outcome is a run with the end of its process.
type outcome struct {
	*Transcript
	exit     string
	code     int
	inTime   bool
	ownEnd   bool // it was left to end by itself
	lastWord string
	after    int64 // bytes that came after the signal, from a slow reader
}

// request is one run that a check wants.
type request struct {
	scope    []protocol.StreamScope
	state    *outcome // whose bookmarks and gaps are given; nil means none
	recovery bool     // recover those gaps and do nothing else
	env      map[string]string
	answer   func(protocol.Interaction) protocol.InteractionResponse
	stopAt   func(m protocol.Message, t *Transcript) bool
	signal   syscall.Signal // sent when stopAt says so; zero is SIGKILL
	slow     bool
	shared   bool // allowances are understood
}

// run makes one run of the connector.
func (k *kit) run(req request) (*outcome, error) {
	if err := k.ctx.Err(); err != nil {
		return nil, err
	}
	k.runs++
	p, err := k.start(req.env, req.slow)
	if err != nil {
		return nil, fmt.Errorf("start the connector: %w", err)
	}
	defer p.close()
	unhook := context.AfterFunc(k.ctx, func() { p.signal(syscall.SIGKILL) })
	defer unhook()
	d := k.dialogue(req)
	stopped, heard := false, int64(0)
	slow := &slowReader{r: p.stdout}
	if req.stopAt != nil {
		d.Hear = func(m protocol.Message, t *Transcript) bool {
			if stopped || !req.stopAt(m, t) {
				return false
			}
			stopped, heard = true, slow.read.Load()
			if req.signal != 0 {
				p.signal(req.signal)
				return false // it may say how it ends
			}
			p.signal(syscall.SIGKILL)
			return true
		}
	}
	var out io.Reader = p.stdout
	if req.slow {
		out = slow
	}
	t, err := d.Hold(p.stdin, out)
	if err != nil {
		p.signal(syscall.SIGKILL)
		p.wait(exitGrace)
		return nil, err
	}
	if t.cut {
		p.signal(syscall.SIGKILL) // nobody listens any more
	}
	o := &outcome{Transcript: t, ownEnd: !t.cut && !stopped}
	grace := exitGrace
	if stopped {
		grace = stopGrace
	}
	o.inTime = p.wait(grace)
	o.exit, o.code, o.lastWord, o.after = p.exit(), p.code(), p.stderr.last(), slow.read.Load()-heard
	k.judgeEnd(o)
	k.listen(p.stderr.String())
	return o, k.ctx.Err()
}

func (k *kit) dialogue(req request) *Dialogue {
	d := &Dialogue{
		Manifest: k.Manifest, Answer: req.answer, Patience: k.Patience,
		Start: protocol.Start{
			RunID: "run_conformance", CollectionMode: protocol.Incremental, State: protocol.Cursors{}, RecoveryOnly: req.recovery, Allowances: req.shared,
			Bindings: map[string]jsontext.Value{}, Scope: protocol.Scope{Streams: req.scope},
		},
	}
	for _, name := range []string{"network", "filesystem", "browser", "local_device"} {
		d.Start.Bindings[name] = jsontext.Value("{}")
	}
	if req.answer != nil {
		d.Start.Bindings["interactive"] = jsontext.Value("{}")
	}
	if req.state != nil {
		d.Start.State, d.Start.CatchUpState = req.state.State, req.state.CatchUp
		_, gaps := req.state.kept()
		page := entries(gaps)
		d.Start.DetailGaps, d.More = page[:min(1, len(page))], page[min(1, len(page)):]
	}
	return d
}

// judgeEnd holds the process's end against its DONE.
func (k *kit) judgeEnd(o *outcome) {
	add := func(rule protocol.Subtype, format string, args ...any) {
		o.fault(Fault{Text: fmt.Sprintf(format, args...), Mend: mends[rule], rule: rule})
	}
	switch {
	case o.ownEnd && o.Done == nil && len(o.Faults) == 0:
		add(noDone, "it ended without DONE (%s)%s", o.exit, said(o.lastWord))
	case !o.ownEnd || o.Done == nil:
	case !o.inTime:
		add(staysAlive, "it was still running %v after DONE and the end of stdin", exitGrace)
	case (o.Done.Status == protocol.DoneSucceeded) != (o.code == 0):
		add(protocol.ExitCodeMismatch, "DONE says %s, and the process ended with %s", o.Done.Status, o.exit)
	}
	kept := o.Faults[:0:0]
	for _, f := range o.Faults {
		if ending[f.rule] {
			k.ends = append(k.ends, f)
		} else {
			kept = append(kept, f)
		}
	}
	o.Faults = kept
}

func said(lastWord string) string {
	if lastWord == "" {
		return ""
	}
	return "; its last word on stderr: " + lastWord
}

// listen looks for secrets in what is written for people.
func (k *kit) listen(stderr string) {
	for _, name := range k.Manifest.SecretEnv() {
		if v, _ := k.lookup(name); len(v) >= 4 && strings.Contains(stderr, v) {
			k.told = append(k.told, Fault{Text: "the value of " + name + " is written to stderr", Mend: "Leave credentials out of logs and error texts."})
		}
	}
}

// slowReader takes little at a time, and late.
type slowReader struct {
	r    io.Reader
	read atomic.Int64
}

func (s *slowReader) Read(b []byte) (int, error) {
	const sip, slowFor = 512, 64 << 10
	if s.read.Load() < slowFor {
		time.Sleep(2 * time.Millisecond)
		b = b[:min(len(b), sip)]
	}
	n, err := s.r.Read(b)
	s.read.Add(int64(n))
	return n, err
}
