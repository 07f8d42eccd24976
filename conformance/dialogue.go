package conformance

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/gate"
	"github.com/pdpp-go/pdpp/protocol"
)

// Dialogue is the runner's side of one run: its requests to the connector and its replies.
type Dialogue struct {
	Manifest *manifest.Manifest
	// Start is the first message. An empty scope means everything that can be collected.
	Start protocol.Start
	// More are gaps for the pages after START's own.
	More []protocol.GapEntry
	// Answer answers questions. Nil means that no owner is available.
	Answer func(protocol.Interaction) protocol.InteractionResponse
	// OnMessage is called with every valid message. It returns true to stop reading.
	OnMessage func(m protocol.Message, t *Transcript) (stop bool)
	// Patience is how long the connector may be silent. Zero means no limit.
	Patience time.Duration

	gates    map[string]*gate.Stream
	staged   map[bookmark]jsontext.Value
	coverage map[[2]string]*protocol.DetailCoverage
	served   map[string]*servedGap
	helped   map[string]bool
	t        *Transcript
}

type bookmark struct {
	stream string
	mode   protocol.CursorMode
}

type servedGap struct {
	protocol.GapEntry
	attempted, settled bool
}

// quietPeriod is how long the connector is watched for output between question and answer.
const quietPeriod = 100 * time.Millisecond

// Hold sends START, reads until DONE, and closes in, which confirms the receipt. The error concerns the request,
// not the connector.
func (d *Dialogue) Hold(in io.WriteCloser, out io.Reader) (*Transcript, error) {
	if err := d.prepare(); err != nil {
		return nil, err
	}
	lines, stop := make(chan decodedLine), make(chan struct{})
	defer close(stop)
	go readLines(out, lines, stop)
	if err := say(in, &d.Start); err != nil {
		d.t.fault(
			Fault{Text: "stdin was closed before START could be sent", Fix: "Read START from stdin first.", Rule: noDone},
		)
	}
	d.listen(in, lines)
	_ = in.Close() // there is nothing more to send, even without a DONE
	if d.t.succeeded() {
		d.settle()
	}
	return d.t, nil
}

func (d *Dialogue) prepare() (err error) {
	streams, err := gate.Resolve(d.Manifest, d.Start.Scope.Streams)
	if err == nil {
		err = gate.EnforceSchemas(streams)
	}
	if err != nil {
		return err
	}
	d.gates, d.staged = map[string]*gate.Stream{}, map[bookmark]jsontext.Value{}
	d.coverage, d.served, d.helped = map[[2]string]*protocol.DetailCoverage{}, map[string]*servedGap{}, map[string]bool{}
	d.Start.Scope.Streams = nil
	for _, s := range streams {
		d.gates[s.Decl.Name] = s
		d.Start.Scope.Streams = append(d.Start.Scope.Streams, s.Scope)
	}
	if d.Start.DetailGaps == nil {
		d.Start.DetailGaps = []protocol.GapEntry{}
	}
	d.serve(d.Start.DetailGaps)
	d.t = &Transcript{State: protocol.Cursors{}, CatchUp: protocol.Cursors{}}
	for name, c := range d.Start.State {
		d.t.State[name] = c
	}
	for name, c := range d.Start.CatchUpState {
		d.t.CatchUp[name] = c
	}
	return nil
}

func (d *Dialogue) serve(gaps []protocol.GapEntry) {
	for _, g := range gaps {
		d.served[g.GapID] = &servedGap{GapEntry: g}
	}
}

// decodedLine is a message, or the reason why the line is invalid.
type decodedLine struct {
	line []byte
	err  error
}

// readLines sends decoded lines until the end of the output or until stop is closed.
func readLines(out io.Reader, lines chan<- decodedLine, stop <-chan struct{}) {
	defer close(lines)
	r := protocol.NewLineReader(out, 0)
	for {
		line, err := r.Next()
		if _, broken := protocol.AsViolation(err); err != nil && !broken {
			return // the connector has ended
		}
		select {
		case lines <- decodedLine{slices.Clone(line), err}:
		case <-stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// listen processes lines until the connector ends, violates the protocol, or is silent for too long.
func (d *Dialogue) listen(in io.WriteCloser, lines <-chan decodedLine) {
	dec := protocol.NewDecoder(protocol.FromConnector)
	for n := 1; ; n++ {
		next, ok := d.next(lines)
		if !ok {
			return
		}
		var m protocol.Message
		err := next.err
		if err == nil {
			m, err = dec.Decode(next.line)
		}
		if err == nil && d.t.Done != nil {
			err = &protocol.Violation{
				Subtype:     protocol.MessageAfterDone,
				MessageType: m.Type(),
				Expected:    []string{"nothing after DONE"},
			}
		}
		if err == nil {
			err = d.handle(in, lines, m)
		}
		if v, is := protocol.AsViolation(err); is {
			f := violationFault(v)
			f.Text = fmt.Sprintf("line %d: %s", n, f.Text)
			d.t.fault(f)
			if !v.Subtype.OfRecord() {
				d.t.cut = true
				return
			}
		} else if err != nil {
			err = nil // it closed its input or has exited; the rest of its output decides
		}
		if d.OnMessage != nil && err == nil && d.OnMessage(m, d.t) {
			d.t.cut = true
			return
		}
		if d.t.Done != nil {
			_ = in.Close() // confirms the receipt
		}
	}
}

func (d *Dialogue) next(lines <-chan decodedLine) (decodedLine, bool) {
	var limit <-chan time.Time
	if d.Patience > 0 {
		timer := time.NewTimer(d.Patience)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case line, ok := <-lines:
		return line, ok
	case <-limit:
		if d.t.Done == nil {
			d.t.fault(
				Fault{
					Text: fmt.Sprintf("it sent nothing for %v, neither a message nor DONE", d.Patience),
					Fix:  ruleFixes[noDone],
					Rule: noDone,
				},
			)
		}
		d.t.cut = true
		return decodedLine{}, false
	}
}

// handle checks one message against the rules that need context.
func (d *Dialogue) handle(in io.Writer, lines <-chan decodedLine, m protocol.Message) error {
	switch m := m.(type) {
	case *protocol.Record:
		return d.record(m)
	case *protocol.State:
		return d.state(m)
	case *protocol.Progress:
		return d.known(protocol.UndeclaredProgress, m.Type(), m.Stream)
	case *protocol.Interaction:
		return d.ask(in, lines, m)
	case *protocol.SkipResult:
		d.t.Skips = append(d.t.Skips, *m)
		return d.known(protocol.UndeclaredStream, m.Type(), m.Stream)
	case *protocol.DetailGap:
		return d.gap(m)
	case *protocol.DetailCoverage:
		return d.cover(m)
	case *protocol.DetailGapsPageRequest:
		page := append([]protocol.GapEntry{}, d.More...)
		d.More = nil
		d.serve(page)
		return say(in, &protocol.DetailGapsPageResponse{RequestID: m.RequestID, ReferenceOnly: true, DetailGaps: page})
	case *protocol.CredentialRequest:
		return say(in, &protocol.CredentialResponse{RequestID: m.RequestID, Status: protocol.CredentialStored})
	case *protocol.Allowance:
		return d.share(in, m)
	case *protocol.DetailGapAttempted:
		g, err := d.leased(m.Type(), m.Stream, m.GapID, m.LeaseID)
		if err == nil {
			g.attempted = true
		}
		return err
	case *protocol.DetailGapRecovered:
		return d.recovered(m)
	case *protocol.Assistance:
		d.helped[m.RequestID] = true
	case *protocol.AssistanceStatus:
		if !d.helped[m.RequestID] {
			return &protocol.Violation{Subtype: protocol.UnknownAssistance, MessageType: m.Type()}
		}
	case *protocol.Done:
		return d.done(m)
	}
	return nil
}

// share grants the whole quota, and announces that another run joined and left.
func (d *Dialogue) share(in io.Writer, m *protocol.Allowance) error {
	known := d.t.senders[m.Sender]
	if !d.Start.Allowances || known != (m.RequestID == "") {
		return &protocol.Violation{Subtype: protocol.InvalidField, MessageType: m.Type(),
			Expected: []string{"one ALLOWANCE with a request_id of each sender, if START has allowances, and news after it"}}
	}
	if known {
		return nil
	}
	if d.t.senders == nil {
		d.t.senders = map[string]bool{}
	}
	d.t.senders[m.Sender] = true
	for _, s := range []protocol.AllowanceShare{{RequestID: m.RequestID, Runs: 1}, {Runs: 2, Place: 1}, {Runs: 1}} {
		s.Sender = m.Sender
		if err := say(in, &s); err != nil {
			return err
		}
	}
	return nil
}

// known rejects a stream outside the scope. An empty name is accepted.
func (d *Dialogue) known(sub protocol.Subtype, t protocol.MessageType, stream string) error {
	if stream == "" || d.gates[stream] != nil {
		return nil
	}
	return &protocol.Violation{Subtype: sub, MessageType: t, Stream: stream, Received: "a stream outside the scope"}
}

func (d *Dialogue) record(m *protocol.Record) error {
	if err := d.known(protocol.UndeclaredStream, m.Type(), m.Stream); err != nil {
		return err
	}
	g := d.gates[m.Stream]
	r := Record{
		Stream:   m.Stream,
		Key:      m.Key,
		Resource: m.Key,
		Deleted:  m.Op == protocol.OpDelete,
		Sum:      sha256.Sum256(m.Data),
	}
	for _, f := range m.Fields() {
		r.Fields = append(r.Fields, f.Name)
		if f.Name == g.Decl.ConsentTimeField && f.Value.Kind() == '"' {
			_ = json.Unmarshal(f.Value, &r.Time) // the decoder has validated it
		}
		if sel := g.Decl.Selection; sel != nil && f.Name == sel.ResourceField && f.Value.Kind() == '"' {
			_ = json.Unmarshal(f.Value, &r.Resource)
		}
	}
	d.t.Records = append(d.t.Records, r)
	if _, v := g.Record(m); v != nil {
		return v
	}
	return nil
}

func (d *Dialogue) state(m *protocol.State) error {
	if err := d.known(protocol.UndeclaredState, m.Type(), m.Stream); err != nil {
		return err
	}
	waits := d.gates[m.Stream].Decl.Commit() != manifest.CheckpointSlice
	for b := range d.staged {
		waits = waits || b.stream == m.Stream
	}
	if details := d.details(m.Stream); len(details) > 0 {
		waits = waits || m.Accounted == nil || len(d.unaccounted(details, m.Stream, m.Accounted)) > 0
	}
	at := bookmark{m.Stream, m.Mode}
	if waits {
		d.staged[at] = slices.Clone(m.Cursor)
		return nil
	}
	d.move(at, slices.Clone(m.Cursor))
	d.t.durable, d.t.durableGaps = len(d.t.Records), len(d.t.Gaps)
	return nil
}

func (d *Dialogue) move(at bookmark, cursor jsontext.Value) {
	marks := d.t.State
	if at.mode == protocol.CatchUp {
		marks = d.t.CatchUp
	}
	if marks[at.stream] = cursor; cursor.Kind() == 'n' {
		delete(marks, at.stream)
	}
}

func (d *Dialogue) ask(in io.Writer, lines <-chan decodedLine, m *protocol.Interaction) error {
	d.t.Questions = append(d.t.Questions, *m)
	if d.Answer == nil {
		return &protocol.Violation{Subtype: protocol.NoInteractiveBinding, MessageType: m.Type()}
	}
	timer := time.NewTimer(quietPeriod)
	defer timer.Stop()
	select {
	case _, ok := <-lines:
		if ok {
			return &protocol.Violation{
				Subtype:  protocol.OutputWhileAsking,
				Expected: []string{"silence until INTERACTION_RESPONSE"},
			}
		}
		return io.EOF
	case <-timer.C:
	}
	answer := d.Answer(*m)
	answer.RequestID = m.RequestID
	return say(in, &answer)
}

func (d *Dialogue) done(m *protocol.Done) error {
	d.t.Done = m
	if m.RecordsEmitted != int64(len(d.t.Records)) {
		return &protocol.Violation{
			Subtype:     protocol.RecordCountMismatch,
			MessageType: m.Type(),
			Expected: []string{
				fmt.Sprintf("records_emitted %d, as counted", len(d.t.Records)),
			},
			Received: fmt.Sprint(m.RecordsEmitted),
		}
	}
	return nil
}

func say(w io.Writer, m protocol.Message) error {
	line, err := protocol.AppendLine(nil, m)
	if err == nil {
		_, err = w.Write(line)
	}
	return err
}
