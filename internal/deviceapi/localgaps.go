package deviceapi

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/protocol"
)

func (a *api) gapRoutes() []reply.Route {
	const source = wire.Root + "/{device}/source-instances/{source}"
	return []reply.Route{
		{Pattern: "GET " + source + "/gaps", Handle: a.source(a.leaseGaps)},
		{Pattern: "POST " + source + "/local-collector-gaps", Handle: a.source(a.reportGap)},
		{Pattern: "POST " + source + "/local-collector-gaps/recovered", Handle: a.source(a.recoverGap)},
	}
}

// longestBackoff limits how long a device can delay the next attempt.
const longestBackoff = 7 * 24 * time.Hour

// reportGap stores that a collector could not collect something. A failed connector ends the device's run.
func (a *api) reportGap(w http.ResponseWriter, r *http.Request, c caller) error {
	var m wire.Gap
	if !read(w, r, &m) {
		return nil
	}
	if err := checkGap(c, m.SourceInstanceID, m.ConnectorID, m.Reason); err != nil {
		return err
	}
	g, err := a.gatesOf(r.Context(), c)
	if err != nil {
		return err
	}
	now := a.Now()
	gap, err := g.localGap(m.Reason, m.Stream, m.StreamBoundary)
	if err != nil {
		return err
	}
	gap.Retryable = m.Retryable
	if m.NextAttemptBackoffMS > 0 {
		at := now.Add(min(time.Duration(m.NextAttemptBackoffMS)*time.Millisecond, longestBackoff))
		gap.NotBefore = &at
	}
	u := store.Upload{Uploader: a.uploader(c, g)}
	u.Gaps = []slice.Gap{gap}
	if m.Reason == wire.GapConnectorChildFailure {
		u.Ends = &store.RunOutcome{Status: store.RunFailed, FailureReason: wire.GapConnectorChildFailure,
			TerminalReason: "connector",
			Error:          "The connector on the device failed.", Event: slice.Event{Type: "run.failed"}}
	}
	if _, err := a.Store.CommitUpload(r.Context(), u, now); err != nil {
		return uploadFault(err)
	}
	return a.answerGap(w, r, c, gap, http.StatusCreated)
}

// recoverGap closes what reportGap opened.
func (a *api) recoverGap(w http.ResponseWriter, r *http.Request, c caller) error {
	var m wire.GapRecovered
	if !read(w, r, &m) {
		return nil
	}
	if err := checkGap(c, m.SourceInstanceID, m.ConnectorID, m.Reason); err != nil {
		return err
	}
	g, err := a.gatesOf(r.Context(), c)
	if err != nil {
		return err
	}
	gap, err := g.localGap(m.Reason, m.Stream, m.StreamBoundary)
	if err != nil {
		return err
	}
	had, err := a.Store.Gap(r.Context(), store.GapID(c.Connection.ID, "", gap))
	if errors.Is(err, store.ErrNotFound) || err == nil && had.Status == protocol.GapRecovered {
		return a.answerGap(w, r, c, gap, http.StatusOK)
	}
	if err != nil {
		return fmt.Errorf("find the gap: %w", err)
	}
	u := store.Upload{Uploader: a.uploader(c, g)}
	u.Recovered = []slice.GapRef{{GapID: had.ID}}
	if _, err := a.Store.CommitUpload(r.Context(), u, a.Now()); err != nil {
		return uploadFault(err)
	}
	return a.answerGap(w, r, c, gap, http.StatusOK)
}

func checkGap(c caller, sourceID, connectorID, reason string) error {
	switch {
	case sourceID != c.Source.ID:
		return invalid("source_instance_id", "The gap is one of another source.")
	case connectorID != c.Source.ConnectorID:
		return invalid("connector_id", "The source is one of another connector.")
	case reason != wire.GapPolicyBudget && reason != wire.GapConnectorChildFailure:
		return invalid("reason", "This is not a reason of a collector.")
	}
	return nil
}

// localGap returns a gap of the collector itself. Reason, stream and boundary identify it.
func (g *gates) localGap(reason, stream, boundary string) (slice.Gap, error) {
	if stream == "" {
		stream = store.EveryStream
	} else if g.streams[stream] == nil {
		return slice.Gap{}, invalid("stream", "The connector declares no such stream.")
	}
	if len(boundary) > maxID {
		return slice.Gap{}, invalid("stream_boundary", "The boundary is too long.")
	}
	return slice.Gap{Stream: stream, Reason: protocol.Reason(reason),
		Locator: eventData(map[string]any{"reason": reason, "stream_boundary": boundary})}, nil
}

func (a *api) answerGap(w http.ResponseWriter, r *http.Request, c caller, gap slice.Gap, status int) error {
	had, err := a.Store.Gap(r.Context(), store.GapID(c.Connection.ID, "", gap))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("find the gap: %w", err)
	}
	answer := wire.GapAnswer{Object: wire.ObjectGap, GapID: had.ID, Status: string(had.Status)}
	if err != nil { // the gap never existed
		answer.Status = string(protocol.GapRecovered)
	}
	reply.JSON(w, status, answer)
	return nil
}

// mostLeased is the maximum number of gaps in one answer.
const mostLeased = 500

// leaseGaps returns the gaps that the device may retry.
func (a *api) leaseGaps(w http.ResponseWriter, r *http.Request, c caller) error {
	limit := mostLeased
	if message := r.URL.Query().Get("limit"); message != "" {
		n, err := strconv.Atoi(message)
		if err != nil || n < 1 {
			return invalid("limit", "The limit is a number from 1 on.")
		}
		limit = min(n, mostLeased)
	}
	g, err := a.gatesOf(r.Context(), c)
	if err != nil {
		return err
	}
	now := a.Now()
	leased, err := a.Store.LeaseDeviceGaps(r.Context(), a.uploader(c, g), limit, now)
	if err != nil {
		return uploadFault(err)
	}
	answer := wire.LeasedGaps{Object: wire.ObjectGapList, Data: []wire.LeasedGap{}}
	for _, gap := range leased {
		answer.Data = append(answer.Data, wire.LeasedGap{
			GapID: gap.ID,
			GapIdentity: wire.GapIdentity{Stream: gap.Stream, ParentStream: gap.ParentStream, RecordKey: gap.RecordKey,
				Locator: gap.Locator},
			Reason: string(gap.Reason), AttemptCount: int64(gap.AttemptCount),
			LeaseExpiresAt: now.Add(store.DeviceGapTTL).UTC(),
		})
	}
	reply.JSON(w, http.StatusOK, answer)
	return nil
}
