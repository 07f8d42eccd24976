package connectorkit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

var errTombstone = errors.New("connector deletes from an append_only stream")

// emit validates one record, filters it by the scope and sends it. It returns a fault for a record that must be
// declared as missing instead. A record out of scope is ignored.
func (r *runState) emit(ctx context.Context, stream string, rec Record) (*Fault, error) {
	scope := r.scope[stream]
	if scope == nil || rec.isZero() {
		return nil, nil
	}
	if rec.fault != nil {
		return rec.fault, nil
	}
	out := protocol.Record{
		Stream:    stream,
		Key:       rec.deleted,
		EmittedAt: r.p.Now().UTC().Format(time.RFC3339Nano),
		File:      rec.file,
	}
	if rec.deleted != "" {
		if scope.stream.Semantics != manifest.MutableState {
			return nil, &runFailure{stream: stream, cause: errTombstone, classVerdict: classVerdict{
				code: string(protocol.TombstoneNotAllowed), hint: protocol.RetryOnConnectorUpgrade,
				message: "the connector tried to delete from a stream that only grows",
			}}
		}
		if scope.resources != nil && scope.stream.ResourceField() == "" && !scope.resources[rec.deleted] {
			return nil, nil
		}
		out.Op = protocol.OpDelete
		return nil, r.out.send(ctx, &out)
	}
	raw, tree, by, err := r.encoded(stream, rec)
	if err != nil {
		return &Fault{Path: "encode"}, nil
	}
	key, ok := primaryKeyOf(tree, scope.stream.PrimaryKey)
	if by == formForeign {
		if err := r.judge(stream, tree); err != nil {
			err.Key = key
			return err, nil
		}
	}
	if !ok {
		return &Fault{Path: "/primary_key"}, nil
	}
	admitted, fault := scope.admits(key, tree)
	if fault != nil || !admitted {
		return fault, nil
	}
	r.drift.met(stream, tree[scope.stream.ConsentTimeField])
	if out.Data, err = scope.project(raw); err != nil {
		return &Fault{Key: key, Path: "encode"}, nil
	}
	out.Key = key
	var tooLarge int
	if out.Blobs, tooLarge, err = rec.named(out.Data); err != nil {
		return &Fault{Key: key, Path: "encode"}, nil
	}
	if tooLarge > 0 {
		if err := r.declareTooLarge(ctx, stream, key, tooLarge); err != nil {
			return nil, err
		}
	}
	send := r.out.send
	if by == formFinal && scope.fields == nil {
		send = r.out.sendFinal
	}
	if err = send(ctx, &out); errors.Is(err, errTooLong) {
		return &Fault{Key: key, Path: "size"}, nil
	}
	return nil, err
}

// encoded returns the masked record, valid until the next call. Most records are validated here, and then the
// tree contains only the members for key, resource and time; a foreign form still needs validation.
func (r *runState) encoded(
	stream string,
	rec Record,
) (raw jsontext.Value, tree map[string]any, by recordForm, err error) {
	raw, by, err = rec.encode(r.encoding)
	if err != nil {
		return nil, nil, by, err
	}
	if by == formFinal {
		r.encoding = raw[:0]
		if cap(raw) > keptEncoding {
			r.encoding = nil
		}
	}
	if quick := r.quick[stream]; by != formForeign && quick != nil {
		if by == formFinal {
			if fields, v := rec.fields(); r.harmless(raw) && r.judgeOf(stream, quick, fields).judge(v, r.picked) {
				return raw, r.picked, by, nil
			}
		} else if r.harmless(raw) {
			if tree, good := quick.judge(raw, r.scope[stream].named); good {
				return raw, tree, by, nil
			}
		}
	}
	if tree, err = r.trees.decode(raw); err == nil {
		raw, tree, err = r.masked(stream, raw, tree)
	}
	return raw, tree, formForeign, err
}

// judgeOf returns the validator for the records of a stream with that type.
func (r *runState) judgeOf(stream string, quick *quickSchema, fields *quickRecord) *fieldValidator {
	j := r.judges[stream]
	if j == nil || j.record != fields {
		j = quick.fieldJudge(fields, r.scope[stream].named)
		r.judges[stream] = j
	}
	return j
}

// keptEncoding is the largest buffer of an encoded record that is kept for the next one.
const keptEncoding = 1 << 20

func (r *runState) judge(stream string, tree map[string]any) *Fault {
	if r.c.Validate == nil {
		return nil
	}
	err := r.c.Validate(stream, tree)
	if err == nil {
		return nil
	}
	var fault *Fault
	if !errors.As(err, &fault) {
		fault = &Fault{Path: "record"}
	}
	return fault
}

// schemaMismatch is the reason and the class of a record that does not match its schema.
const schemaMismatch = "schema_mismatch"

const (
	maxMismatchReports = 200 // per run; the rest is counted and reported at the end
	maxMismatchKeys    = 500 // per report
)

// sliceMismatches collects the faults of one slice of a stream.
type sliceMismatches struct {
	keys  []string
	paths map[string]int
	count int
}

func (m *sliceMismatches) add(f *Fault) {
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

// declare reports what the slice leaves out. It precedes the slice's STATE, so that no cursor passes a malformed
// record undeclared. Beyond the limit of reports it keeps counting, and the end of the run reports the sum.
func (r *runState) declare(ctx context.Context, stream string, m *sliceMismatches) error {
	if m.count == 0 {
		return nil
	}
	r.bookmarks.holes[stream] = true
	if r.reports++; r.reports > maxMismatchReports {
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
	return r.out.send(ctx, &protocol.SkipResult{
		Stream: stream, Reason: schemaMismatch, Message: &text, Diagnostics: diagnostics, ResourceIDs: m.keys,
		RecoveryHint: &protocol.RecoveryHint{Action: protocol.RetryOnConnectorUpgrade},
	})
}

// declareRemaining reports the mismatches beyond the limit.
func (r *runState) declareRemaining(ctx context.Context) error {
	for _, stream := range slices.Sorted(maps.Keys(r.unreported)) {
		text := fmt.Sprintf("%d more records do not match the declared shape", r.unreported[stream])
		err := r.out.send(ctx, &protocol.SkipResult{
			Stream: stream, Reason: schemaMismatch, Message: &text,
			RecoveryHint: &protocol.RecoveryHint{Action: protocol.RetryOnConnectorUpgrade},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
