package connectorkit

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/answers"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/gate"
)

// Connector is one source. New creates it from a manifest, with validation.
type Connector struct {
	Manifest *manifest.Manifest
	// Open prepares a run: it reads the environment through the setup, creates clients, and returns the
	// collectors in order.
	Open func(ctx context.Context, s *Setup) ([]Collector, error)
	// Validate checks every record before it is emitted. Nil means no validation, which a built-in connector may
	// use only if it is on the schemaless list.
	Validate Validator
	// Answers is the sheet of the provider's known response formats, which a run uses to detect differences.
	// Empty means no comparison. See package answers.
	Answers string
	// Learned, if not nil, gets what a run reads from files, instead of a comparison. A connector's test writes
	// its sheet this way.
	Learned *answers.Sheet

	wired Validator                      // set by New
	quick func() map[string]*gate.Schema // read when the first run begins
}

// New parses the manifest and sets up validation against its schemas.
func New(manifestJSON []byte, open func(context.Context, *Setup) ([]Collector, error)) (Connector, error) {
	m, err := manifest.Parse(manifestJSON)
	if err != nil {
		return Connector{}, fmt.Errorf("read connector manifest: %w", err)
	}
	validate := lazySchemaValidator(m) // Parse has validated them, and most runs need none
	return Connector{
		Manifest: m,
		Open:     open,
		Validate: validate,
		wired:    validate,
		quick:    sync.OnceValue(func() map[string]*gate.Schema { return compiledSchemas(m) }),
	}, nil
}

// MustNew is New for a built-in manifest. It panics if the manifest is invalid.
func MustNew(manifestJSON []byte, open func(context.Context, *Setup) ([]Collector, error)) Connector {
	c, err := New(manifestJSON, open)
	if err != nil {
		panic(err)
	}
	return c
}

// Collector collects one stream or a pair of streams. PagedStream, ListDetail, FullList, Partitioned and
// PushSource are the kinds.
type Collector interface {
	// beginRun returns the collector's state for one run.
	beginRun(r *runstate.Run) collectorRun
}

// collectorRun is a collector during a run.
type collectorRun interface {
	// StreamNames returns the streams that the worker can emit.
	StreamNames() []string
	// ListStream returns the stream of the pages that the worker reads.
	ListStream() string
	// CollectForward collects new records. Its error ends this worker, and the run only if the run is over or the
	// credential was refused.
	CollectForward(ctx context.Context) error
	// DeclareCutShort declares, after such an error, that the list was cut short, and where a later run continues.
	DeclareCutShort(ctx context.Context, d runstate.Postponement) error
	// ConcludeWork reports the outcome of everything considered. It is called once, after the worker's last record.
	ConcludeWork(ctx context.Context) error
}

// Cursor is the bookmark of a PagedStream. Empty means from the beginning.
type Cursor map[string]string

func (c Cursor) encodeCursor() (jsontext.Value, error) {
	if c == nil {
		return jsontext.Value("{}"), nil
	}
	b, err := json.Marshal(c, json.Deterministic(true))
	if err != nil {
		return nil, Fail(Malformed, err)
	}
	return b, nil
}

// readCursor parses a stored bookmark. An unknown format counts as empty: the stream then starts over, which loses
// nothing.
func readCursor(v jsontext.Value) Cursor {
	var c Cursor
	if len(v) == 0 || json.Unmarshal(v, &c) != nil {
		return nil
	}
	return c
}
