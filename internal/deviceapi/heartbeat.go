package deviceapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (a *api) heartbeatRoutes() []reply.Route {
	return []reply.Route{{Pattern: "POST " + wire.Root + "/{device}/heartbeat", Handle: a.device(a.heartbeat)}}
}

// beatMessage is a heartbeat about one source or several. Counts stay raw, because a missing count is not zero.
type beatMessage struct {
	sourceBeat
	SourceInstances []sourceBeat `json:"source_instances"`
}

type sourceBeat struct {
	wire.Heartbeat
	RecordsPending jsontext.Value `json:"records_pending"`
	Outbox         jsontext.Value `json:"outbox"`
	LastError      jsontext.Value `json:"last_error"`
}

// heartbeat stores the status of a device's sources, and answers whether a run is requested.
func (a *api) heartbeat(w http.ResponseWriter, r *http.Request, c caller) error {
	if err := a.admission.admitHeartbeat(c.Device.ID); err != nil {
		return err
	}
	var m beatMessage
	if !read(w, r, &m) {
		return nil
	}
	if len(m.SourceInstances) == 0 {
		m.SourceInstances = []sourceBeat{m.sourceBeat}
	}
	if len(m.SourceInstances) > store.MaxSourcesPerDevice {
		return invalid("source_instances", "A device has not so many sources.")
	}
	now := a.Now()
	if err := a.noteInstallation(r.Context(), c, m, now); err != nil {
		return err
	}
	answer := wire.HeartbeatAnswer{Object: wire.ObjectHeartbeat, Status: "accepted", ReceivedAt: now.UTC(),
		MinimumAgentVersion: a.MinimumAgent}
	for _, b := range m.SourceInstances {
		if b.AgentVersion == "" {
			b.AgentVersion = m.AgentVersion
		}
		if b.SentAt == nil {
			b.SentAt = m.SentAt
		}
		if err := a.beat(r.Context(), c, b, now, &answer); err != nil {
			return err
		}
	}
	reply.JSON(w, http.StatusOK, answer)
	return nil
}

// noteInstallation stores which installation sends for the device. A missing id counts as an installation of its own,
// so that a copied token is noticed.
func (a *api) noteInstallation(ctx context.Context, c caller, m beatMessage, now time.Time) error {
	message := m.InstallationID
	for i := range m.SourceInstances {
		message = cmp.Or(message, m.SourceInstances[i].InstallationID)
	}
	if len(message) > maxID {
		return invalid("installation_id", "The id of the installation is too long.")
	}
	if last := c.Device.Installation; last != nil && *last == message {
		return nil
	}
	err := a.Store.NoteInstallation(ctx, c.Device.ID, message, now)
	if errors.Is(err, store.ErrNotFound) {
		return uploadFault(store.ErrUploaderGone)
	}
	if err != nil {
		return fmt.Errorf("note the installation: %w", err)
	}
	return nil
}

var beatStatuses = []string{wire.StatusStarting, wire.StatusHealthy, wire.StatusRetrying, wire.StatusBlocked,
	wire.StatusStopped}

// beat stores the heartbeat of one source, and adds to the answer whether the owner requested a run.
func (a *api) beat(ctx context.Context, c caller, b sourceBeat, now time.Time, answer *wire.HeartbeatAnswer) error {
	if !slices.Contains(beatStatuses, b.Status) {
		return invalid("status", "This is not a status of a collector.")
	}
	if err := a.named(ctx, &c, b.SourceInstanceID); err != nil {
		return err
	}
	if b.ConnectorID != c.Source.ConnectorID {
		return invalid("connector_id", "The source is one of another connector.")
	}
	_, err := a.Store.RunRequest(ctx, c.Connection.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("look for a requested run: %w", err)
	}
	requested := err == nil
	g, err := a.gatesOf(ctx, c)
	if err != nil {
		return err
	}
	report := store.DeviceHeartbeat{Uploader: a.uploader(c, g), Status: b.Status, ProtocolVersion: wire.ProtocolVersion,
		RecordsPending: count(b.RecordsPending), LastError: lastError(b.LastError)}
	if isVersion(b.AgentVersion) {
		report.AgentVersion = b.AgentVersion
	}
	var skew time.Duration
	if b.SentAt != nil {
		skew = b.SentAt.Sub(now)
		report.ClockSkew = &skew
	}
	report.Outbox = outbox(b.Outbox, skew)
	if b.Status == wire.StatusHealthy {
		report.Ends = succeeded(nil)
	}
	report.Opens = requested && b.Status == wire.StatusStarting // this pass is the requested run
	if err := a.Store.PutHeartbeat(ctx, report, now); err != nil {
		return uploadFault(err)
	}
	answer.RequestedRun = answer.RequestedRun || requested && !report.Opens
	return nil
}

// succeeded returns the outcome of a successful run.
func succeeded(facts jsontext.Value) *store.RunOutcome {
	return &store.RunOutcome{Status: store.RunSucceeded, Facts: facts, Event: slice.Event{Type: "run.completed"}}
}

// outboxCounts are the counts that a device reports together or not at all.
var outboxCounts = []string{"pending", "retrying", "leased", "stale_leases", "dead_letter", "succeeded", "total"}

// outbox returns the counts of a device's queue, with the time of the oldest item by the server's clock. It returns
// nil if a count is missing or invalid.
func outbox(raw jsontext.Value, skew time.Duration) jsontext.Value {
	var reports map[string]jsontext.Value
	if raw.Kind() != '{' || json.Unmarshal(raw, &reports) != nil {
		return nil
	}
	out := map[string]any{}
	for _, name := range outboxCounts {
		n := count(reports[name])
		if n == nil {
			return nil
		}
		out[name] = *n
	}
	if backlog, given := reports["backlog_open"]; given {
		n := count(backlog)
		if n == nil {
			return nil
		}
		out["backlog_open"] = *n
	}
	var oldest time.Time
	if json.Unmarshal(reports["oldest_pending_at"], &oldest) == nil && !oldest.IsZero() {
		out["oldest_pending_at"] = oldest.Add(-skew).UTC().Format(time.RFC3339Nano)
	}
	return eventData(out)
}

// count parses a count; nil for anything else.
func count(raw jsontext.Value) *int64 {
	var n int64
	if raw.Kind() != '0' || json.Unmarshal(raw, &n) != nil || n < 0 {
		return nil
	}
	return &n
}

// topClasses is how many error classes are stored.
const topClasses = 5

// lastError returns the codes and counts of a device's error, and no other text.
func lastError(raw jsontext.Value) jsontext.Value {
	var heartbeatError wire.HeartbeatError
	if raw.Kind() != '{' || json.Unmarshal(raw, &heartbeatError) != nil || !isWord(heartbeatError.Kind) {
		return nil
	}
	out := map[string]any{"kind": heartbeatError.Kind}
	var classes []map[string]any
	for _, class := range heartbeatError.TopDeadLetterClasses[:min(len(heartbeatError.TopDeadLetterClasses), topClasses)] {
		if isWord(class.ErrorClass) && class.Count >= 0 {
			classes = append(classes, map[string]any{"error_class": class.ErrorClass, "count": class.Count})
		}
	}
	if classes != nil {
		out["top_dead_letter_classes"] = classes
	}
	return eventData(out)
}

// isWord reports whether a text is a code, which cannot contain a path or a sentence.
func isWord(s string) bool {
	return len(s) > 0 && len(s) <= longestWord && onlyOf(s, "abcdefghijklmnopqrstuvwxyz0123456789_")
}

// isVersion reports whether a text is the version of a program.
func isVersion(s string) bool {
	return len(s) > 0 && len(s) <= longestWord && onlyOf(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_")
}

const longestWord = 64

func onlyOf(s, letters string) bool {
	for i := range len(s) {
		if !slices.Contains([]byte(letters), s[i]) {
			return false
		}
	}
	return true
}
