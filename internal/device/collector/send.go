package collector

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// send brings a group to the server: in one request if that commits all of it together,
// else one after another, the cursor last.
func (p *pass) send(ctx context.Context, g *group) error {
	last := g.items[len(g.items)-1]
	b := wire.Batch{DeviceID: p.c.Profile.DeviceID, SourceInstanceID: p.c.Profile.SourceInstanceID,
		ConnectorID: p.c.Profile.ConnectorID,
		BatchID:     last.ID, BatchSeq: last.Seq}
	together := p.can(wire.CanBatchState)
	if together {
		b.RunID, b.State = g.runID, g.state
		if len(b.State) > 0 {
			b.AfterBatchID = p.receipt
		}
		for _, gaps := range g.gaps {
			for _, gap := range gaps.Gaps {
				gap.GapID = ""
				b.Gaps = append(b.Gaps, gap)
			}
			b.AttemptedGaps = append(b.AttemptedGaps, gaps.Attempted...)
			b.RecoveredGaps = append(b.RecoveredGaps, gaps.Recovered...)
		}
	}
	if max(g.records.Count, len(b.State), len(b.Gaps), len(b.AttemptedGaps), len(b.RecoveredGaps)) > 0 {
		if err := p.bringFiles(ctx, g.files); err != nil {
			return err
		}
		if err := p.ingest(ctx, b, g.records, 0); err != nil {
			return err
		}
	}
	for _, gaps := range g.gaps {
		if err := p.tell(ctx, gaps, together); err != nil {
			return err
		}
	}
	if len(g.state) > 0 && !together {
		if err := p.client.PutState(ctx, b.SourceInstanceID,
			wire.StateUpdate{State: g.state, AfterBatchID: p.receipt}); err != nil {
			return err
		}
	}
	if len(g.state) > 0 {
		p.report.Uploaded.Checkpoints++
	}
	p.report.Uploaded.Gaps += int64(len(g.gaps))
	return nil
}

// tell reports gaps separately to a server that does not accept them with a batch. It reports
// connector failures and recoveries to every server.
func (p *pass) tell(ctx context.Context, g gapPayload, together bool) error {
	source, connector := p.c.Profile.SourceInstanceID, p.c.Profile.ConnectorID
	var missing []wire.Gap
	var found []wire.GapRecovered
	if !together {
		var err error
		if missing, err = g.reports(source, connector); err != nil {
			return err
		}
		for _, stream := range g.Closed {
			found = append(found, wire.GapRecovered{SourceInstanceID: source, ConnectorID: connector,
				Reason: wire.GapPolicyBudget, Stream: stream, RecoveredRunID: g.RunID})
		}
	}
	if g.Failed {
		missing = append(missing, g.report(source, connector, wire.GapConnectorChildFailure))
	}
	if g.Fixed || g.Mended {
		found = append(found, wire.GapRecovered{SourceInstanceID: source, ConnectorID: connector,
			Reason: wire.GapConnectorChildFailure, RecoveredRunID: g.RunID})
	}
	for _, gap := range missing {
		if err := p.client.ReportGap(ctx, gap); err != nil {
			return err
		}
	}
	for _, gap := range found {
		if err := p.client.RecoverGap(ctx, gap); err != nil {
			return err
		}
	}
	return nil
}

// ingest sends a batch, in parts when it is larger than what the line or the server
// takes. A part is named after the place of its records in the whole batch, which begin
// at offset, so that it is the same whenever it is sent; the last one carries everything
// beside the records.
func (p *pass) ingest(ctx context.Context, b wire.Batch, records wire.Packed, offset int) error {
	size := int(records.Bytes)
	if records.Count > 1 && size > 2*p.goal() {
		return p.halves(ctx, b, records, offset)
	}
	if records.Count == 0 {
		var err error
		if records, err = p.packer.Pack(nil); err != nil {
			return err
		}
	}
	start := p.now()
	answer, err := p.client.IngestPacked(ctx, b, &records)
	var refusal *wire.Error
	switch {
	case err == nil:
		p.receipt = b.BatchID
		p.target.took(size, p.now().Sub(start))
		return p.accepted(ctx, b, records, answer)
	case !errors.As(err, &refusal):
		return err
	case refusal.Code == wire.CodeTimeout:
		p.target.shrink(size)
		return err
	case refusal.Action() != wire.Split:
		return err
	case records.Count > 1:
		p.target.shrink(size)
		return p.halves(ctx, b, records, offset)
	case records.Count == 1 && refusal.Ours:
		return p.tooLarge(ctx, b, records)
	default:
		return &stop{CauseUnreachable} // a proxy between them does not decide what is stored
	}
}

func (p *pass) goal() int {
	bytes, _ := p.target.now()
	return bytes
}

func (p *pass) halves(ctx context.Context, b wire.Batch, whole wire.Packed, offset int) error {
	records, err := whole.Records()
	if err != nil {
		return err
	}
	middle := len(records) / 2
	first, err := p.packer.Pack(records[:middle])
	if err != nil {
		return err
	}
	rest, err := p.packer.Pack(records[middle:])
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(b.BatchID, "/")
	part := func(from, to int) wire.Batch {
		out := b
		out.BatchID = fmt.Sprintf("%s/%d-%d", name, offset+from, offset+to)
		return out
	}
	before, last := part(0, middle), part(middle, len(records))
	before.State, before.Gaps, before.AttemptedGaps, before.RecoveredGaps, before.AfterBatchID = nil, nil, nil, nil, ""
	if err := p.ingest(ctx, before, first, offset); err != nil {
		return err
	}
	if last.AfterBatchID != "" {
		last.AfterBatchID = p.receipt
	}
	return p.ingest(ctx, last, rest, offset+middle)
}

// tooLarge sends, in the place of a record that the server would never take, that it is
// missing.
func (p *pass) tooLarge(ctx context.Context, b wire.Batch, large wire.Packed) error {
	records, err := large.Records()
	if err != nil {
		return err
	}
	gap := slice.Gap{Stream: records[0].Stream, RecordKey: records[0].Key, Reason: reasonTooLarge}
	p.report.Uploaded.Rejected++
	if !p.can(wire.CanBatchState) {
		lost := gapPayload{RunID: b.RunID, At: p.now().UTC(), Gaps: []slice.Gap{gap}}
		return p.tell(ctx, lost, false)
	}
	b.Gaps = append(b.Gaps, gap)
	b.BatchID += "/too-large"
	if _, err := p.client.Ingest(ctx, b); err != nil {
		return err
	}
	p.receipt = b.BatchID
	return nil
}

const (
	reasonTooLarge protocol.Reason = "record_too_large"
	reasonRejected protocol.Reason = "record_rejected"
)

// accepted counts what the server took. A record that it rejected is missing, and a
// server without a gap for it receives a report.
func (p *pass) accepted(ctx context.Context, b wire.Batch, packed wire.Packed, answer wire.BatchResult) error {
	up := &p.report.Uploaded
	up.Batches++
	up.Records += int64(packed.Count) - answer.Rejected
	up.Rejected += answer.Rejected
	if answer.Rejected == 0 || p.can(wire.CanBatchState) {
		return nil
	}
	records, err := packed.Records()
	if err != nil {
		return err
	}
	lost := gapPayload{RunID: b.RunID, At: p.now().UTC()}
	for range answer.Rejected {
		lost.Gaps = append(lost.Gaps, slice.Gap{Stream: records[0].Stream, Reason: reasonRejected})
	}
	return p.tell(ctx, lost, false)
}

// releaseLeases returns what this process, or one that died, had taken. The
// queue's lock is held, so no lease in the file has a living holder but this
// one.
func (p *pass) releaseLeases(ctx context.Context) error {
	if _, err := p.box.Release(ctx, p.now().AddDate(100, 0, 0), p.now()); err != nil {
		return fmt.Errorf("return uploads to the queue: %w", err)
	}
	return nil
}
