package conformance

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// Limits of the tool, in line with those of docs/extend/protocol.
const (
	defaultPatience = time.Minute
	exitGrace       = 10 * time.Second
	leastStopGrace  = 3 * time.Second
)

// testKit is the connector under test, and the results that later checks use.
type testKit struct {
	ctx context.Context
	*Target
	first        *runOutcome // a successful first run
	held         *runOutcome // the run with the owner's cap
	ends         []Fault     // faults at the ends of runs
	secretsFound []Fault     // secrets in the output
	runs         int
	rotated      map[string]string // credentials that the connector exchanged for those of the account, by variable
}

// keepRotated lets later runs have the credentials that the connector exchanged, as a runner does.
func (k *testKit) keepRotated() {
	k.rotated = map[string]string{}
	own := k.Target.lookup
	target := *k.Target
	target.Lookup = func(name string) (string, bool) {
		if value, ok := k.rotated[name]; ok {
			return value, true
		}
		return own(name)
	}
	k.Target = &target
}

// stopGrace returns how long a connector may take to end after SIGTERM. A runner kills after 250 ms; a machine under
// test may be slow, and its user sets the patience.
func (k *testKit) stopGrace() time.Duration { return max(leastStopGrace, k.Patience/4) }

// runOutcome is a run including the end of its process.
type runOutcome struct {
	*Transcript
	exit     string
	code     int
	inTime   bool
	ownEnd   bool // it was not stopped by a check
	lastWord string
	after    int64 // bytes after the signal, with a slow reader
}

// runRequest describes one run of a check.
type runRequest struct {
	scope    []protocol.StreamScope
	state    *runOutcome // run with the cursors and gaps to start from; nil means none
	recovery bool        // only recover those gaps
	env      map[string]string
	answer   func(protocol.Interaction) protocol.InteractionResponse
	stopAt   func(m protocol.Message, t *Transcript) bool
	signal   syscall.Signal // sent when stopAt returns true; zero means SIGKILL
	slow     bool
	shared   bool // the runner supports shared quotas
}

// run makes one run of the connector.
func (k *testKit) run(req runRequest) (*runOutcome, error) {
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
	d.OnMessage = func(m protocol.Message, t *Transcript) bool {
		if c, ok := m.(*protocol.CredentialRequest); ok {
			maps.Copy(k.rotated, c.Values)
		}
		if req.stopAt == nil || stopped || !req.stopAt(m, t) {
			return false
		}
		stopped, heard = true, slow.read.Load()
		if req.signal != 0 {
			p.signal(req.signal)
			return false // it may still report how it ends
		}
		p.signal(syscall.SIGKILL)
		return true
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
		p.signal(syscall.SIGKILL) // nothing reads its output any more
	}
	o := &runOutcome{Transcript: t, ownEnd: !t.cut && !stopped}
	grace := exitGrace
	if stopped {
		grace = k.stopGrace()
	}
	o.inTime = p.wait(grace)
	o.exit, o.code, o.lastWord, o.after = p.exit(), p.code(), p.stderr.last(), slow.read.Load()-heard
	k.judgeEnd(o)
	k.findSecrets(p.stderr.String())
	return o, k.ctx.Err()
}

func (k *testKit) dialogue(req runRequest) *Dialogue {
	d := &Dialogue{
		Manifest: k.Manifest, Answer: req.answer, Patience: k.Patience,
		Start: protocol.Start{
			RunID:          "run_conformance",
			CollectionMode: protocol.Incremental,
			State:          protocol.Cursors{},
			RecoveryOnly:   req.recovery,
			Allowances:     req.shared,
			Bindings:       map[string]jsontext.Value{},
			Scope:          protocol.Scope{Streams: req.scope},
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
		page := gapEntries(gaps)
		d.Start.DetailGaps, d.More = page[:min(1, len(page))], page[min(1, len(page)):]
	}
	return d
}

// judgeEnd compares the end of the process with its DONE.
func (k *testKit) judgeEnd(o *runOutcome) {
	add := func(rule protocol.Subtype, format string, args ...any) {
		o.fault(Fault{Text: fmt.Sprintf(format, args...), Fix: ruleFixes[rule], Rule: rule})
	}
	switch {
	case o.ownEnd && o.Done == nil && len(o.Faults) == 0:
		add(noDone, "it ended without DONE (%s)%s", o.exit, quoteOutput(o.lastWord))
	case !o.ownEnd || o.Done == nil:
	case !o.inTime:
		add(staysAlive, "it was still running %v after DONE and the end of stdin", exitGrace)
	case (o.Done.Status == protocol.DoneSucceeded) != (o.code == 0):
		add(protocol.ExitCodeMismatch, "DONE says %s, and the process ended with %s", o.Done.Status, o.exit)
	}
	kept := o.Faults[:0:0]
	for _, f := range o.Faults {
		if endingRules[f.Rule] {
			k.ends = append(k.ends, f)
		} else {
			kept = append(kept, f)
		}
	}
	o.Faults = kept
}

func quoteOutput(lastWord string) string {
	if lastWord == "" {
		return ""
	}
	return "; its last word on stderr: " + lastWord
}

// findSecrets searches stderr for secrets.
func (k *testKit) findSecrets(stderr string) {
	for _, name := range k.Manifest.SecretEnv() {
		if v, _ := k.lookup(name); len(v) >= 4 && strings.Contains(stderr, v) {
			k.secretsFound = append(
				k.secretsFound,
				Fault{
					Text: "the value of " + name + " is written to stderr",
					Fix:  "Leave credentials out of logs and error texts.",
				},
			)
		}
	}
}

// slowReader reads little at a time, with delays.
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
