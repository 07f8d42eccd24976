package connectorkit

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit/answers"
	"pdpp/manifest"
)

// Connector is one source. New builds it from a manifest with validation wired.
type Connector struct {
	Manifest *manifest.Manifest
	// Open prepares a run: it reads the environment through the setup, makes
	// clients, and returns what to collect, in order.
	Open func(ctx context.Context, s *Setup) ([]Collector, error)
	// Validate judges every record before it is emitted. Nil emits unjudged,
	// which a built-in connector may do only from the schemaless list.
	Validate Validator
	// Answers is the sheet of what the connector knows of its provider's answers, by which a
	// run notices that they differ; empty compares none. See package answers.
	Answers string
	// Learned, if not nil, gets what a run reads of files, in place of any comparison: the test of a
	// connector writes its sheet so.
	Learned *answers.Sheet

	wired Validator                      // what New has wired
	quick func() map[string]*quickSchema // read when the first run begins
}

// New reads the manifest and wires validation against its schemas.
func New(manifestJSON []byte, open func(context.Context, *Setup) ([]Collector, error)) (Connector, error) {
	m, err := manifest.Parse(manifestJSON)
	if err != nil {
		return Connector{}, fmt.Errorf("read connector manifest: %w", err)
	}
	validate := lateSchemas(m) // Parse has seen that they are good, and most runs need none of them
	return Connector{Manifest: m, Open: open, Validate: validate, wired: validate, quick: sync.OnceValue(func() map[string]*quickSchema { return quickSchemas(m) })}, nil
}

// MustNew is New for a manifest that is compiled in; it panics on a faulty one.
func MustNew(manifestJSON []byte, open func(context.Context, *Setup) ([]Collector, error)) Connector {
	c, err := New(manifestJSON, open)
	if err != nil {
		panic(err)
	}
	return c
}

// Collector collects one stream or a pair of them. Flat, Lane and
// Inventory are the kinds.
type Collector interface {
	// begin makes the collector's working state for one run.
	begin(r *run) worker
}

// worker is a collector at work.
type worker interface {
	// streams names what the worker can emit.
	streams() []string
	// list names the stream whose pages the worker reads.
	list() string
	// forward collects what is new. Its error ends this worker, not the run,
	// unless the run is over or the credential was refused.
	forward(ctx context.Context) error
	// cut declares, after such an error, that the list was cut short, and where a
	// later run reads on.
	cut(ctx context.Context, d deferral) error
	// conclude says what became of everything considered. It is called once,
	// after the worker's last record.
	conclude(ctx context.Context) error
}

// Cursor is a flat stream's bookmark. Empty means from the beginning.
type Cursor map[string]string

func (c Cursor) encode() (jsontext.Value, error) {
	if c == nil {
		return jsontext.Value("{}"), nil
	}
	b, err := json.Marshal(c, json.Deterministic(true))
	if err != nil {
		return nil, Fail(Malformed, err)
	}
	return b, nil
}

// cursorOf reads a stored bookmark. One that is not ours reads as empty: the
// stream then starts over, which loses nothing.
func cursorOf(v jsontext.Value) Cursor {
	var c Cursor
	if len(v) == 0 || json.Unmarshal(v, &c) != nil {
		return nil
	}
	return c
}
