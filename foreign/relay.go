package foreign

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"pdpp/connectorkit"
	"pdpp/manifest"
	"pdpp/protocol"
)

// DigestField holds the key of a record whose stream has none of its own.
const DigestField = "_record_sha256"

// defaultRound is how often a state of the whole tap is written down at most.
const defaultRound = 10 * time.Second

// relay passes what a tap says on to the runner.
type relay struct {
	a       *Adapter
	m       *manifest.Manifest
	f       *connectorkit.Feeding
	log     *slog.Logger
	dir     string
	every   time.Duration
	traffic func() Traffic
	config  map[string]any // as the tap has it

	streams map[string]*source // by name, the selected ones
	state   bookmark           // the newest state of the whole tap
	number  int64
	pending bool // something was sent since the last round
	rounded time.Time
	frozen  bool
	unasked map[string]bool
	trouble error // what the tap said of its own failure
	where   whereabouts
}

// source is one selected stream.
type source struct {
	Stream
	key      []string
	begun    bool
	status   string
	counted  int64 // records since its last state
	sent     int64 // records of the run
	versions *versions
	schema   *jsonschema.Schema
	wrong    int // records that do not match the tap's own schema
	visits   []visit
	last     bookmark
}

func newRelay(a *Adapter, m *manifest.Manifest, f *connectorkit.Feeding, log *slog.Logger, dir string) (*relay, []bookmark) {
	r := &relay{a: a, m: m, f: f, log: log, dir: dir, every: defaultRound, streams: map[string]*source{}, unasked: map[string]bool{}}
	var marks []bookmark
	for _, name := range f.Selected() {
		s, _ := a.named(name)
		declared, _ := m.Stream(name)
		mark := bookmarkOf(f.Stored(name))
		r.streams[name] = &source{Stream: s, key: declared.PrimaryKey, versions: mark.Versions.load(), last: mark}
		r.number = max(r.number, mark.Number)
		marks = append(marks, mark)
	}
	if m, ok := oldest(marks); ok {
		r.state = m
	}
	return r, marks
}

// follow passes events on until the tap's output ends.
func (r *relay) follow(ctx context.Context, events <-chan event) error {
	r.rounded = r.f.Now().Add(-r.every) // the first state is written down at once
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return nil
			}
			if err := r.handle(ctx, e); err != nil {
				return err
			}
		case <-tick.C:
			if err := r.round(ctx, false); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *relay) handle(ctx context.Context, e event) error {
	switch e.kind {
	case eventNote:
		r.log.Info("tap: " + e.text)
		return nil
	case eventControl:
		return r.rotate(ctx, e.data)
	case eventTrouble:
		return r.troubled(e)
	case eventState:
		return r.checkpoint(ctx, e)
	}
	s := r.find(e.stream)
	if s == nil {
		return nil
	}
	switch e.kind {
	case eventSchema:
		s.begun = true
		s.schema = compile(e.data)
		r.where.begin(s, e.at)
	case eventRecord:
		r.where.record(s, e.at)
		return r.record(ctx, s, e.data, e.version)
	case eventActivate:
		if e.version != nil {
			s.versioned(*e.version)
			s.versions.Activated = true
		}
	case eventBatch:
		r.where.record(s, e.at)
		err := e.batch.each(r.dir, func(data jsontext.Value) error { return r.record(ctx, s, data, e.version) })
		if errors.Is(err, errBatch) {
			r.f.Fail(s.Name, &connectorkit.Error{Class: connectorkit.Malformed, Err: err, Words: errBatch.Error()})
			return nil
		}
		return err
	case eventStatus:
		return r.status(ctx, s, e)
	}
	return nil
}

// find gives the selected stream that the tap means; nil when this run does not ask for it.
func (r *relay) find(called string) *source {
	known, ok := r.a.stream(called)
	if !ok && !r.unasked[called] {
		r.unasked[called] = true
		r.log.Warn("the tap sends a stream that was not there when it was wrapped; wrap it again to get it", "stream", called)
	}
	return r.streams[known.Name]
}

func compile(schema jsontext.Value) *jsonschema.Schema {
	const name = "stream"
	m := manifest.Manifest{Streams: []manifest.Stream{{Name: name, Schema: []byte(schema)}}}
	all, err := m.CompileSchemas()
	if err != nil {
		return nil // then nothing is counted
	}
	return all[name]
}

// record passes a record on as it came. One that does not match the tap's own schema is counted
// and passed on all the same.
func (r *relay) record(ctx context.Context, s *source, data jsontext.Value, version *int64) error {
	s.counted++
	s.sent++
	if s.schema != nil {
		if tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(data)); err == nil && s.schema.Validate(tree) != nil {
			s.wrong++
		}
	}
	if s.Keyless {
		var err error
		if data, err = digested(data); err != nil {
			return r.f.Record(ctx, s.Name, connectorkit.Unreadable("", err))
		}
	}
	if version != nil {
		s.versioned(*version)
		s.versions.saw(keyOf(data, s.key))
	}
	r.pending = true
	return r.f.Record(ctx, s.Name, connectorkit.Upsert(data))
}

func (s *source) versioned(version int64) {
	if s.versions == nil {
		s.versions = (&versions{Current: version}).load()
	}
	s.versions.begin(version)
}

// digested adds the digest of the canonical record to it.
func digested(data jsontext.Value) (jsontext.Value, error) {
	canonical := data.Clone()
	if err := canonical.Canonicalize(); err != nil {
		return nil, err
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	if _, taken := members[DigestField]; taken {
		return nil, errors.New("the record has a member called " + DigestField)
	}
	sum := sha256.Sum256(canonical)
	out := bytes.TrimSpace(data.Clone())
	out = bytes.TrimSpace(out[:len(out)-1])
	if len(members) > 0 {
		out = append(out, ',')
	}
	return fmt.Appendf(out, `"%s":"%s"}`, DigestField, hex.EncodeToString(sum[:])), nil
}

// keyOf is the key that the runner will read from the record; empty when it has none.
func keyOf(data jsontext.Value, fields []string) string {
	var members map[string]jsontext.Value
	if json.Unmarshal(data, &members) != nil {
		return ""
	}
	parts := make([]string, len(fields))
	for i, name := range fields {
		switch v := members[name]; v.Kind() {
		case '"':
			if json.Unmarshal(v, &parts[i]) != nil {
				return ""
			}
		case '0':
			parts[i] = string(v)
		}
		if parts[i] == "" {
			return ""
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return protocol.CompoundKey(parts...)
}

// troubled notes what the tap says of its own failure. Of one stream it ends that stream.
func (r *relay) troubled(e event) error {
	r.log.Error("tap: "+e.text, "class", e.class)
	err := classOf(e.class)
	if s := r.find(e.stream); e.stream != "" && s != nil && e.class != "config_error" {
		r.f.Fail(s.Name, err)
		return nil
	}
	r.trouble = err
	return nil
}

// checkpoint takes a state over. One of the whole tap waits for the next round; one of a single
// stream closes its slice at once, if the tap counted what came.
func (r *relay) checkpoint(ctx context.Context, e event) error {
	if e.form == formStream {
		s := r.find(e.stream)
		if s == nil {
			return nil
		}
		return r.stateOf(ctx, s, e)
	}
	if e.counted != nil && *e.counted != r.countedAll() {
		for _, s := range r.streams {
			r.miscounted(s, *e.counted, r.countedAll())
		}
		return nil
	}
	for _, s := range r.streams {
		s.counted = 0
	}
	if !r.believed() || e.data.Kind() != '{' {
		return nil
	}
	r.number++
	r.state, r.pending = bookmark{Number: r.number, Form: e.form, State: e.data}, true
	return r.round(ctx, false)
}

func (r *relay) countedAll() (n int64) {
	for _, s := range r.streams {
		n += s.counted
	}
	return n
}

func (r *relay) miscounted(s *source, said, came int64) {
	r.f.Fail(s.Name, &connectorkit.Error{Class: connectorkit.Malformed, Words: "the source counted other records than it sent",
		Err: fmt.Errorf("it says %d, and %d came", said, came)})
}

// believed tells whether states still count. After a refusal that may pass they would lead past
// what was refused, so that the next run starts from before it.
func (r *relay) believed() bool {
	r.frozen = r.frozen || r.traffic().passing()
	return !r.frozen
}

func (r *relay) stateOf(ctx context.Context, s *source, e event) error {
	came := s.counted
	s.counted = 0
	if e.counted != nil && *e.counted != came {
		r.miscounted(s, *e.counted, came)
	}
	if r.f.Failed(s.Name) || !r.believed() {
		return nil
	}
	s.last = bookmark{Form: formStream, State: e.data, Brought: s.brought()}
	return r.f.State(ctx, s.Name, s.last)
}

// round writes the newest state of the whole tap down as the cursor of every stream, and with
// it makes everything durable that came before. Without a newer state it says the same place
// again, so that a tap which tells none, or none that is believed, loses little by a kill.
func (r *relay) round(ctx context.Context, last bool) error {
	now := r.f.Now()
	if !r.pending || !last && now.Sub(r.rounded) < r.every {
		return nil
	}
	r.pending, r.rounded = false, now
	for _, name := range r.f.Selected() {
		s := r.streams[name]
		mark := r.state
		if mark.Form == "" || s.last.Form == formStream {
			mark = s.last
		}
		mark.Versions, mark.Brought = s.versions.kept(), s.brought()
		s.last = mark
		if err := r.f.State(ctx, name, mark); err != nil {
			return err
		}
	}
	return nil
}

// status notes how far a stream is, and passes on that it waits for its provider.
func (r *relay) status(ctx context.Context, s *source, e event) error {
	s.begun, s.status = true, e.status
	switch e.status {
	case "STARTED":
		r.where.begin(s, e.at)
	case "COMPLETE", "INCOMPLETE":
		r.where.complete(s, e.at)
	}
	if e.wait <= 0 {
		return nil
	}
	return r.f.Say(ctx, protocol.Progress{
		Stream: s.Name, Message: "the source waits for its provider's limit",
		ProviderWait: &protocol.ProviderWait{Sender: r.m.Key(), WaitMS: float64(e.wait.Milliseconds()), Reason: protocol.WaitRetryAfter},
	})
}

// conclude says of every stream what may be said, after the tap has exited with 0.
func (r *relay) conclude(ctx context.Context) error {
	traffic := r.traffic()
	working, _ := r.where.at(r.a.Kind, traffic.Asked)
	claims, own := map[string]claim{}, map[string]Traffic{}
	for _, name := range r.f.Selected() {
		s := r.streams[name]
		own[name] = traffic.at(func(place int64) bool { return working(s, place) })
		e := evidence{kind: r.a.Kind, begun: s.begun, status: s.status, traffic: own[name]}
		claims[name] = e.claim()
		if r.f.Failed(name) {
			claims[name] = claimFailed
		}
		if claims[name] == claimFailed {
			r.f.Fail(name, e.failure())
		}
		if len(traffic.Refused) == 0 {
			if err := r.deletions(ctx, s, claims[name]); err != nil {
				return err
			}
		}
	}
	r.pending = true // a stream that is empty says so by its cursor
	if err := r.round(ctx, true); err != nil {
		return err
	}
	for _, name := range r.f.Selected() {
		if err := r.say(ctx, r.streams[name], claims[name], own[name]); err != nil {
			return err
		}
	}
	return nil
}

// deletions sends what an activated version did not bring. It waits for the end of a run that
// nothing was refused in: a version that lacks what exists would delete it.
func (r *relay) deletions(ctx context.Context, s *source, c claim) error {
	v := s.versions
	if v == nil || !v.Activated || c == claimFailed || c == claimGapped {
		return nil
	}
	if v.Full {
		return r.f.Say(ctx, protocol.Progress{Stream: s.Name,
			Message: fmt.Sprintf("%s: more than %d records, so that no deletion is inferred", s.Name, maxVersionKeys)})
	}
	declared, _ := r.m.Stream(s.Name)
	if declared.Semantics != manifest.MutableState {
		return nil
	}
	for _, key := range v.gone() {
		if err := r.f.Record(ctx, s.Name, connectorkit.Delete(key)); err != nil {
			return err
		}
	}
	v.settle()
	return nil
}

// brought reports whether the stream had a record, in this run or an earlier one.
func (s *source) brought() bool { return s.sent > 0 || s.last.Brought }

// refusal declares what the tap was refused of a stream. A stream that never brought anything and was only answered
// that there is none is one that the account does not have: no later run brings it.
func (r *relay) refusal(s *source, t Traffic) protocol.SkipResult {
	skip := t.skip(s.Name)
	if _, known := r.where.at(r.a.Kind, t.Asked); known && !s.brought() && t.absent() {
		skip.RecoveryHint = &protocol.RecoveryHint{Action: protocol.UnknownRecovery}
	}
	return skip
}

func (r *relay) say(ctx context.Context, s *source, c claim, t Traffic) error {
	text := s.Name + ": complete, " + manifest.AsFar
	switch c {
	case claimFailed:
		return nil
	case claimGapped:
		return r.f.Skip(ctx, r.refusal(s, t))
	case claimUnknown:
		text = s.Name + ": the tap ended well, but its traffic could not be seen, so that nobody can tell whether this is everything"
		if err := r.f.Unproven(ctx, s.Name); err != nil {
			return err
		}
	}
	if s.wrong > 0 {
		text += fmt.Sprintf("; %d records do not match the tap's own schema and are kept as they came", s.wrong)
	}
	return r.f.Say(ctx, protocol.Progress{Stream: s.Name, Message: text})
}
