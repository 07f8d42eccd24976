package runstate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/connectorkit/internal/recordcheck"
	"github.com/pdpp-go/pdpp/connectorkit/internal/runnerlink"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

var errTombstone = errors.New("connector deletes from an append_only stream")

// EmitRecord validates one record, filters it by the scope and sends it. It returns a fault for a record that must be
// Declared as missing instead. A record out of scope is ignored.
func (r *Run) EmitRecord(ctx context.Context, stream string, rec Record) (*failure.Fault, error) {
	scope := r.Scope[stream]
	if scope == nil || rec.isZeroRecord() {
		return nil, nil
	}
	if rec.Fault != nil {
		return rec.Fault, nil
	}
	out := protocol.Record{
		Stream:    stream,
		Key:       rec.deleted,
		EmittedAt: r.Now().UTC().Format(time.RFC3339Nano),
		File:      rec.File,
	}
	if rec.deleted != "" {
		if scope.Stream.Semantics != manifest.MutableState {
			return nil, &failure.RunFailure{Stream: stream, Cause: errTombstone, Verdict: failure.Verdict{
				Code: string(protocol.TombstoneNotAllowed), Hint: protocol.RetryOnConnectorUpgrade,
				Message: "the connector tried to delete from a stream that only grows",
			}}
		}
		if scope.Resources != nil && scope.Stream.ResourceField() == "" && !scope.Resources[rec.deleted] {
			return nil, nil
		}
		out.Op = protocol.OpDelete
		return nil, r.Out.Send(ctx, &out)
	}
	raw, tree, by, err := r.encodeMasked(stream, rec)
	if err != nil {
		return &failure.Fault{Path: "encode"}, nil
	}
	key, ok := primaryKeyOf(tree, scope.Stream.PrimaryKey)
	if by == formOfConnector {
		if err := r.validateTree(stream, tree); err != nil {
			err.Key = key
			return err, nil
		}
	}
	if !ok {
		return &failure.Fault{Path: "/primary_key"}, nil
	}
	admitted, fault := scope.admitsRecord(key, tree)
	if fault != nil || !admitted {
		return fault, nil
	}
	r.Drift.ObserveRecord(stream, tree[scope.Stream.ConsentTimeField])
	if out.Data, err = scope.projectFields(raw); err != nil {
		return &failure.Fault{Key: key, Path: "encode"}, nil
	}
	out.Key = key
	var tooLarge int
	if out.Blobs, tooLarge, err = rec.namedBlobs(out.Data); err != nil {
		return &failure.Fault{Key: key, Path: "encode"}, nil
	}
	if tooLarge > 0 {
		if err := r.declareTooLarge(ctx, stream, key, tooLarge); err != nil {
			return nil, err
		}
	}
	send := r.Out.Send
	if by == formOfProtocol && scope.fields == nil {
		send = r.Out.SendEncoded
	}
	if err = send(ctx, &out); errors.Is(err, runnerlink.ErrLineTooLong) {
		return &failure.Fault{Key: key, Path: "size"}, nil
	}
	return nil, err
}

// encodeMasked returns the masked record, valid until the next call. Most records are validated here, and then the
// tree contains only the members for key, resource and time; a foreign form still needs validation.
func (r *Run) encodeMasked(
	stream string,
	rec Record,
) (raw jsontext.Value, tree map[string]any, by recordForm, err error) {
	raw, by, err = rec.encodeRecord(r.encoding)
	if err != nil {
		return nil, nil, by, err
	}
	if by == formOfProtocol {
		r.encoding = raw[:0]
		if cap(raw) > keptEncoding {
			r.encoding = nil
		}
	}
	if quick := r.quick[stream]; by != formOfConnector && quick != nil && r.hasNoSecrets(raw) {
		fields, plain := r.splitter.Object(raw)
		if plain && quick.Allows(fields) && recordcheck.PickMembers(r.picked, fields, r.Scope[stream].named) {
			return raw, r.picked, by, nil
		}
	}
	if tree, err = r.trees.DecodeRecord(raw); err == nil {
		raw, tree, err = r.maskRecord(stream, raw, tree)
	}
	return raw, tree, formOfConnector, err
}

// keptEncoding is the largest buffer of an encoded record that is kept for the next one.
const keptEncoding = 1 << 20

func (r *Run) validateTree(stream string, tree map[string]any) *failure.Fault {
	if r.validate == nil {
		return nil
	}
	err := r.validate(stream, tree)
	if err == nil {
		return nil
	}
	var fault *failure.Fault
	if !errors.As(err, &fault) {
		fault = &failure.Fault{Path: "record"}
	}
	return fault
}

// SchemaMismatch is the reason and the class of a record that does not match its schema.
const SchemaMismatch = "schema_mismatch"

const (
	MaxMismatchReports = 200 // per run; the rest is counted and reported at the end
	maxMismatchKeys    = 500 // per report
)

// SliceMismatches collects the faults of one slice of a stream.
type SliceMismatches struct {
	keys  []string
	paths map[string]int
	count int
}

// AddFault counts a fault. Nil counts nothing.
func (m *SliceMismatches) AddFault(f *failure.Fault) {
	if f == nil {
		return
	}
	if m.paths == nil {
		m.paths = map[string]int{}
	}
	m.count++
	m.paths[f.Path]++
	if f.Key != "" && len(m.keys) < maxMismatchKeys {
		m.keys = append(m.keys, f.Key)
	}
}

// DeclareMismatches reports what the slice leaves out. It precedes the slice's STATE, so that no cursor passes a
// malformed record undeclared. Beyond the limit of reports it keeps counting, and the end of the run reports the sum.
func (r *Run) DeclareMismatches(ctx context.Context, stream string, m *SliceMismatches) error {
	if m.count == 0 {
		return nil
	}
	r.Bookmarks.holes[stream] = true
	if r.reports++; r.reports > MaxMismatchReports {
		r.unreported[stream] += m.count
		return nil
	}
	paths := slices.Sorted(maps.Keys(m.paths))
	diagnostics, err := json.Marshal(map[string]any{
		"count": m.count, "schema_paths": paths[:min(len(paths), 32)],
	}, json.Deterministic(true))
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%d records do not match the declared shape, first at %s", m.count, paths[0])
	return r.Out.Send(ctx, &protocol.SkipResult{
		Stream: stream, Reason: SchemaMismatch, Message: &text, Diagnostics: diagnostics, ResourceIDs: m.keys,
		RecoveryHint: &protocol.RecoveryHint{Action: protocol.RetryOnConnectorUpgrade},
	})
}

// DeclareRemaining reports the mismatches beyond the limit.
func (r *Run) DeclareRemaining(ctx context.Context) error {
	for _, stream := range slices.Sorted(maps.Keys(r.unreported)) {
		text := fmt.Sprintf("%d more records do not match the declared shape", r.unreported[stream])
		err := r.Out.Send(ctx, &protocol.SkipResult{
			Stream: stream, Reason: SchemaMismatch, Message: &text,
			RecoveryHint: &protocol.RecoveryHint{Action: protocol.RetryOnConnectorUpgrade},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
