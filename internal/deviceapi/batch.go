package deviceapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (a *api) batchRoutes() []reply.Route {
	return []reply.Route{{Pattern: "POST " + wire.Root + "/{device}/ingest-batches", Handle: a.device(a.ingest)}}
}

// uploadedBatch is a batch with its records as part of the body.
type uploadedBatch struct {
	wire.Batch
	Place   valueRange     `json:"records"`
	Records jsontext.Value `json:"-"`
}

// valueRange is the position of a value in the decoded text.
type valueRange struct{ from, to int64 }

func (p *valueRange) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	p.to = dec.InputOffset()
	p.from = p.to - int64(len(v))
	return err
}

// readBatch decodes a batch. Its records share the memory of the body.
func readBatch(body []byte) (*uploadedBatch, error) {
	var b uploadedBatch
	if err := parse(body, &b); err != nil {
		return nil, badBody(err)
	}
	b.Records = body[b.Place.from:b.Place.to]
	return &b, nil
}

// ingest stores a batch with its receipt, or nothing of it.
func (a *api) ingest(w http.ResponseWriter, r *http.Request, c caller) error {
	body, free, err := a.readUpload(w, r)
	if err != nil {
		return err
	}
	defer free()
	b, err := readBatch(body)
	if err != nil {
		return err
	}
	if err := b.check(c.Device.ID); err != nil {
		return err
	}
	if err := a.named(r.Context(), &c, b.SourceInstanceID); err != nil {
		return err
	}
	if b.ConnectorID != c.Source.ConnectorID {
		return invalid("connector_id", "The source is one of another connector.")
	}
	if !b.HashFits(b.Records) {
		return &usererr.Error{Status: http.StatusBadRequest, Code: wire.CodeHashMismatch, Param: "body_hash",
			Message: "The hash is not that of the records.", Next: "Update the collector."}
	}
	answer, err := a.answerBatch(r.Context(), c, b)
	if err != nil {
		return err
	}
	return answerBytes(w, http.StatusCreated, answer)
}

func (b *uploadedBatch) check(deviceID string) error {
	switch {
	case b.DeviceID != deviceID:
		return invalid("device_id", "The batch is one of another device.")
	case b.BatchID == "" || len(b.BatchID) > maxID:
		return invalid("batch_id", "The batch has no id, or one that is too long.")
	case b.BatchSeq < 1:
		return invalid("batch_seq", "Batches are counted from 1.")
	case b.Records.Kind() != '[':
		return invalid("records", "The records are no list.")
	}
	return nil
}

// maxID is the maximum length of an id that a device chooses.
const maxID = 200

// answerBatch returns the answer to a batch: the stored answer of an earlier upload, or the answer after storing it.
func (a *api) answerBatch(ctx context.Context, c caller, b *uploadedBatch) ([]byte, error) {
	if answer, err := a.answeredBefore(ctx, c, b); answer != nil || err != nil {
		return answer, err
	}
	done, err := a.admission.waitTurn(ctx, c.Source.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	u, err := a.upload(ctx, c, b)
	if err != nil {
		return nil, err
	}
	_, err = a.Store.CommitUpload(ctx, u, a.Now())
	if errors.Is(err, store.ErrExists) { // another request stored it meanwhile
		if answer, err := a.answeredBefore(ctx, c, b); answer != nil || err != nil {
			return answer, err
		}
	}
	if err != nil {
		return nil, uploadFault(err)
	}
	return u.Receipt.Answer, nil
}

// answeredBefore returns the stored answer of a batch, or nil if the batch has no receipt.
func (a *api) answeredBefore(ctx context.Context, c caller, b *uploadedBatch) ([]byte, error) {
	had, err := a.Store.Receipt(ctx, c.Device.ID, b.BatchID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for the receipt of a batch: %w", err)
	case had.BodyHash != b.BodyHash || had.SourceID != c.Source.ID || had.BatchSeq != b.BatchSeq:
		return nil, &usererr.Error{Status: http.StatusConflict, Code: wire.CodeBatchConflict, Param: "batch_id",
			Message: "Something else was received under this id.",
			Next:    "Send it under an id of its own."}
	}
	return had.Answer, nil
}

// upload returns what is committed of a batch.
func (a *api) upload(ctx context.Context, c caller, b *uploadedBatch) (store.Upload, error) {
	g, err := a.gatesOf(ctx, c)
	if err != nil {
		return store.Upload{}, err
	}
	u := store.Upload{Uploader: a.uploader(c, g), After: b.AfterBatchID}
	found, err := g.sort(b.Records, a.Now())
	if err != nil {
		return u, err
	}
	if err := a.files(ctx, c, g, &found); err != nil {
		return u, err
	}
	u.Records, u.Gaps = found.taken, found.missing
	if a.keepsFiles() {
		u.Present = func(ctx context.Context, hashes []string) ([]string, error) {
			return blob.MissingFiles(ctx, a.Blobs, hashes)
		}
	}
	for i := range b.Gaps {
		gap, err := g.reported(b.Gaps[i])
		if err != nil {
			return u, err
		}
		u.Gaps = append(u.Gaps, gap)
	}
	u.Attempts, u.Recovered = g.refs(c.Connection.ID, b.AttemptedGaps),
		g.refs(c.Connection.ID, append(b.RecoveredGaps, found.fixed...))
	var unknown string
	if u.Cursors, unknown = g.cursors(b.State); unknown != "" {
		return u, mismatch("The server does not know a stream of this batch.")
	}
	answer, err := json.Marshal(wire.BatchResult{
		Object: wire.ObjectBatchResult, Status: "accepted", DeviceID: c.Device.ID, SourceInstanceID: c.Source.ID,
		ConnectorInstanceID: c.Connection.ID,
		BatchID:             b.BatchID, BatchSeq: b.BatchSeq, Accepted: int64(len(found.taken)),
		Rejected: int64(len(found.rejected)), Rejections: found.rejected,
	})
	if err != nil {
		return u, fmt.Errorf("encode the answer to a batch: %w", err)
	}
	u.Receipt = &store.Receipt{DeviceID: c.Device.ID, BatchID: b.BatchID, SourceID: c.Source.ID, BatchSeq: b.BatchSeq,
		BodyHash: b.BodyHash,
		Records:  int64(len(found.taken)), Rejected: int64(len(found.rejected)), Answer: answer}
	u.Events = []slice.Event{{Type: "run.batch_ingested", Data: eventData(map[string]any{
		"batch_id": b.BatchID, "batch_seq": b.BatchSeq, "records": len(found.taken), "rejected": len(found.rejected),
		"gaps": len(u.Gaps)})}}
	return u, nil
}

// eventData encodes names and numbers that this program chose.
func eventData(v map[string]any) jsontext.Value {
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil // the event is recorded without data
	}
	return data
}

// reported validates a gap that a device reports.
func (g *gates) reported(gap slice.Gap) (slice.Gap, error) {
	if g.streams[gap.Stream] == nil {
		return gap, mismatch("The server does not know a stream of this batch.")
	}
	if !isWord(string(gap.Reason)) {
		return gap, invalid("gaps", "A gap has no reason, or one that is no word.")
	}
	return slice.Gap{Stream: gap.Stream, ParentStream: g.parent(gap.Stream, gap.ParentStream),
		RecordKey: gap.RecordKey, Reason: gap.Reason,
		Retryable: gap.Retryable, Locator: runner.SanitizeJSON(gap.Locator)}, nil
}

// refs returns references to the gaps that the identities name.
func (g *gates) refs(connectionID string, named []wire.GapIdentity) []slice.GapRef {
	out := make([]slice.GapRef, 0, len(named))
	for _, n := range named {
		out = append(out, slice.GapRef{GapID: store.GapID(connectionID, "", slice.Gap{
			Stream: n.Stream, ParentStream: g.parent(n.Stream, n.ParentStream), RecordKey: n.RecordKey,
			Locator: runner.SanitizeJSON(n.Locator)})})
	}
	return out
}

// retryLater is how long a device waits before it sends again.
const retryLater = 5 * time.Second

// uploadFault returns the fault for an upload that was not committed.
func uploadFault(err error) error {
	var running *store.ActiveRunError
	switch {
	case errors.Is(err, store.ErrUploaderGone):
		return &usererr.Error{Status: http.StatusNotFound, Code: wire.CodeSourceUnknown,
			Message: "This device has no such source any more, or another collects it now.",
			Next:    "Connect it anew: add a device in the console, or with pdpp devices add."}
	case errors.Is(err, store.ErrCursorAhead):
		return &usererr.Error{Status: http.StatusConflict, Code: wire.CodeCheckpointAhead, Param: "after_batch_id",
			Message: "The batch that this stands on was not received.",
			Next:    "Send that first."}
	case errors.As(err, &running):
		return &usererr.Error{Status: http.StatusServiceUnavailable, Code: wire.CodeIngestRetryable,
			Message: "The server itself collects this connection now.", Next: "Send it again.",
			RetryAfter: retryLater}
	case store.IsPermanentError(err):
		return fmt.Errorf("commit an upload: %w", err)
	default: // the storage may be there again
		return unwritable(err)
	}
}

// unwritable asks the device to send again what could not be stored.
func unwritable(err error) error {
	return &usererr.Error{Status: http.StatusServiceUnavailable, Code: wire.CodeIngestRetryable,
		Message: "The server cannot write this now.", Next: "Send it again.", RetryAfter: retryLater, Err: err}
}
