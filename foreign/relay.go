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

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// DigestField holds the key of a record in a stream without its own key.
const DigestField = "_record_sha256"

// defaultRound is the minimum time between two stored states of the whole tap.
const defaultRound = 10 * time.Second

// tapRelay translates a tap's events to messages for the runner.
type tapRelay struct {
	a       *Adapter
	m       *manifest.Manifest
	f       *connectorkit.Push
	log     *slog.Logger
	dir     string
	every   time.Duration
	traffic func() Traffic
	config  map[string]any // current configuration of the tap

	streams map[string]*sourceStream // selected streams by name
	state   streamBookmark           // the newest state of the whole tap
	number  int64
	pending bool // something was sent since the last round
	rounded time.Time
	frozen  bool
	unasked map[string]bool
	trouble error // the tap's report of its own failure
	where   requestLocator
}

// sourceStream is one selected stream.
type sourceStream struct {
	Stream
	key      []string
	begun    bool
	status   string
	counted  int64 // records since its last state
	sent     int64 // records of the run
	versions *tableVersions
	schema   *jsonschema.Schema
	wrong    int // records that do not match the tap's own schema
	visits   []streamVisit
	last     streamBookmark
}

func newTapRelay(
	a *Adapter,
	m *manifest.Manifest,
	f *connectorkit.Push,
	log *slog.Logger,
	dir string,
) (*tapRelay, []streamBookmark) {
	r := &tapRelay{
		a:       a,
		m:       m,
		f:       f,
		log:     log,
		dir:     dir,
		every:   defaultRound,
		streams: map[string]*sourceStream{},
		unasked: map[string]bool{},
	}
	var marks []streamBookmark
	for _, name := range f.Selected() {
		s, _ := a.named(name)
		declared, _ := m.Stream(name)
		mark := bookmarkOf(f.Stored(name))
		r.streams[name] = &sourceStream{Stream: s, key: declared.PrimaryKey, versions: mark.Versions.load(), last: mark}
		r.number = max(r.number, mark.Number)
		marks = append(marks, mark)
	}
	if m, ok := oldestState(marks); ok {
		r.state = m
	}
	return r, marks
}

// follow processes events until the tap's output ends.
func (r *tapRelay) follow(ctx context.Context, events <-chan tapEvent) error {
	r.rounded = r.f.Now().Add(-r.every) // the first state is stored at once
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
			if err := r.storeRound(ctx, false); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *tapRelay) handle(ctx context.Context, e tapEvent) error {
	switch e.kind {
	case eventNote:
		r.log.Info("tap: " + e.text)
		return nil
	case eventControl:
		return r.storeRotated(ctx, e.data)
	case eventTrouble:
		return r.recordFailure(e)
	case eventState:
		return r.checkpoint(ctx, e)
	}
	s := r.streamCalled(e.stream)
	if s == nil {
		return nil
	}
	switch e.kind {
	case eventSchema:
		s.begun = true
		s.schema = compileSchema(e.data)
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
			r.f.Fail(s.Name, &connectorkit.Error{Class: connectorkit.Malformed, Err: err, OwnerMessage: errBatch.Error()})
			return nil
		}
		return err
	case eventStatus:
		return r.status(ctx, s, e)
	}
	return nil
}

// streamCalled returns the selected stream with a name of the tap, or nil if it is not selected.
func (r *tapRelay) streamCalled(called string) *sourceStream {
	known, ok := r.a.stream(called)
	if !ok && !r.unasked[called] {
		r.unasked[called] = true
		r.log.Warn("the tap sends a stream that was not there when it was wrapped; wrap it again to get it", "stream", called)
	}
	return r.streams[known.Name]
}

func compileSchema(schema jsontext.Value) *jsonschema.Schema {
	const name = "stream"
	m := manifest.Manifest{Streams: []manifest.Stream{{Name: name, Schema: []byte(schema)}}}
	all, err := m.CompileSchemas()
	if err != nil {
		return nil // nothing is counted then
	}
	return all[name]
}

// record sends a record unchanged. A record that does not match the tap's own schema is counted and sent anyway.
func (r *tapRelay) record(ctx context.Context, s *sourceStream, data jsontext.Value, version *int64) error {
	s.counted++
	s.sent++
	if s.schema != nil {
		if tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(data)); err == nil && s.schema.Validate(tree) != nil {
			s.wrong++
		}
	}
	if s.Keyless {
		var err error
		if data, err = withDigest(data); err != nil {
			return r.f.Record(ctx, s.Name, connectorkit.Unreadable("", err))
		}
	}
	if version != nil {
		s.versioned(*version)
		s.versions.addKey(recordKey(data, s.key))
	}
	r.pending = true
	return r.f.Record(ctx, s.Name, connectorkit.Upsert(data))
}

func (s *sourceStream) versioned(version int64) {
	if s.versions == nil {
		s.versions = (&tableVersions{Current: version}).load()
	}
	s.versions.begin(version)
}

// withDigest adds the digest of the canonical record to the record.
func withDigest(data jsontext.Value) (jsontext.Value, error) {
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

// recordKey returns the key that the runner will read from the record, or "".
func recordKey(data jsontext.Value, fields []string) string {
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

// recordFailure records the tap's report of its own failure. A failure of one stream ends that stream.
func (r *tapRelay) recordFailure(e tapEvent) error {
	r.log.Error("tap: "+e.text, "class", e.class)
	err := failureClass(e.class)
	if s := r.streamCalled(e.stream); e.stream != "" && s != nil && e.class != "config_error" {
		r.f.Fail(s.Name, err)
		return nil
	}
	r.trouble = err
	return nil
}

// checkpoint processes a state. A state of the whole tap waits for the next round. A state of a single stream
// closes its slice at once, if the tap counted its records.
func (r *tapRelay) checkpoint(ctx context.Context, e tapEvent) error {
	if e.form == formStream {
		s := r.streamCalled(e.stream)
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
	if !r.trustsStates() || e.data.Kind() != '{' {
		return nil
	}
	r.number++
	r.state, r.pending = streamBookmark{Number: r.number, Form: e.form, State: e.data}, true
	return r.storeRound(ctx, false)
}

func (r *tapRelay) countedAll() (n int64) {
	for _, s := range r.streams {
		n += s.counted
	}
	return n
}

func (r *tapRelay) miscounted(s *sourceStream, reported, came int64) {
	r.f.Fail(
		s.Name,
		&connectorkit.Error{Class: connectorkit.Malformed, OwnerMessage: "the source counted other records than it sent",
			Err: fmt.Errorf("it shows %d, and %d came", reported, came)},
	)
}

// trustsStates reports whether states still count. After a transient refusal they would skip what was refused, so the
// next run starts before it.
func (r *tapRelay) trustsStates() bool {
	r.frozen = r.frozen || r.traffic().hasTransient()
	return !r.frozen
}

func (r *tapRelay) stateOf(ctx context.Context, s *sourceStream, e tapEvent) error {
	came := s.counted
	s.counted = 0
	if e.counted != nil && *e.counted != came {
		r.miscounted(s, *e.counted, came)
	}
	if r.f.Failed(s.Name) || !r.trustsStates() {
		return nil
	}
	s.last = streamBookmark{Form: formStream, State: e.data, Brought: s.brought()}
	return r.f.State(ctx, s.Name, s.last)
}

// storeRound stores the newest state of the whole tap as the cursor of every stream, which makes everything before it
// durable. Without a newer state it repeats the position, so that a kill loses little of a tap without usable
// states.
func (r *tapRelay) storeRound(ctx context.Context, last bool) error {
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
		mark.Versions, mark.Brought = s.versions.forBookmark(), s.brought()
		s.last = mark
		if err := r.f.State(ctx, name, mark); err != nil {
			return err
		}
	}
	return nil
}

// status records the progress of a stream, and reports that it waits for its provider.
func (r *tapRelay) status(ctx context.Context, s *sourceStream, e tapEvent) error {
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
	return r.f.SendProgress(ctx, protocol.Progress{
		Stream:  s.Name,
		Message: "the source waits for its provider's limit",
		ProviderWait: &protocol.ProviderWait{
			Sender: r.m.Key(),
			WaitMS: float64(e.wait.Milliseconds()),
			Reason: protocol.WaitRetryAfter,
		},
	})
}
