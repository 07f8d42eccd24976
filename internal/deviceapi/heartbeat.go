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
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

func (a *api) heartbeatRoutes() []reply.Route {
	return []reply.Route{{Pattern: "POST " + wire.Root + "/{device}/heartbeat", Handle: a.device(a.heartbeat)}}
}

// beatMessage is a heartbeat about one source, or several. Counts are read by hand: one
// that is missing is not a zero.
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

// heartbeat keeps what a device says of its sources, and tells it what is wanted of it.
func (a *api) heartbeat(w http.ResponseWriter, r *http.Request, c caller) error {
	if err := a.load.admitBeat(c.Device.ID); err != nil {
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
	answer := wire.HeartbeatAnswer{Object: wire.ObjectHeartbeat, Status: "accepted", ReceivedAt: now.UTC(), MinimumAgentVersion: a.MinimumAgent}
	for _, b := range m.SourceInstances {
		if b.AgentVersion == "" {
			b.AgentVersion = m.AgentVersion
		}
		if b.SentAt == nil {
			b.SentAt = m.SentAt
		}
		wanted, err := a.beat(r.Context(), c, b, now)
		if err != nil {
			return err
		}
		answer.RequestedRun = answer.RequestedRun || wanted
	}
	reply.JSON(w, http.StatusOK, answer)
	return nil
}

// noteInstallation keeps which installation speaks for the device. One that does not say is
// one too, so that nobody hides by silence among those that do.
func (a *api) noteInstallation(ctx context.Context, c caller, m beatMessage, now time.Time) error {
	said := m.InstallationID
	for i := range m.SourceInstances {
		said = cmp.Or(said, m.SourceInstances[i].InstallationID)
	}
	if len(said) > maxID {
		return invalid("installation_id", "The id of the installation is too long.")
	}
	if last := c.Device.Installation; last != nil && *last == said {
		return nil
	}
	err := a.Store.NoteInstallation(ctx, c.Device.ID, said, now)
	if errors.Is(err, store.ErrNotFound) {
		return uploadFault(store.ErrUploaderGone)
	}
	if err != nil {
		return fmt.Errorf("note the installation: %w", err)
	}
	return nil
}

var beatStatuses = []string{wire.StatusStarting, wire.StatusHealthy, wire.StatusRetrying, wire.StatusBlocked, wire.StatusStopped}

// beat keeps one source's heartbeat, and says whether the owner wants a pass.
func (a *api) beat(ctx context.Context, c caller, b sourceBeat, now time.Time) (wanted bool, err error) {
	if !slices.Contains(beatStatuses, b.Status) {
		return false, invalid("status", "This is not a status of a collector.")
	}
	if err := a.named(ctx, &c, b.SourceInstanceID); err != nil {
		return false, err
	}
	if b.ConnectorID != c.Source.ConnectorID {
		return false, invalid("connector_id", "The source is one of another connector.")
	}
	_, err = a.Store.RunRequest(ctx, c.Connection.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return false, fmt.Errorf("look for a requested run: %w", err)
	}
	wanted = err == nil
	g, err := a.gatesOf(ctx, c)
	if err != nil {
		return false, err
	}
	report := store.DeviceBeat{Uploader: a.uploader(c, g), Status: b.Status, ProtocolVersion: wire.ProtocolVersion, RecordsPending: count(b.RecordsPending), LastError: lastError(b.LastError)}
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
	if wanted && b.Status == wire.StatusStarting { // this pass is the one that was asked for
		report.Opens, wanted = true, false
	}
	if err := a.Store.PutHeartbeat(ctx, report, now); err != nil {
		return false, uploadFault(err)
	}
	return wanted, nil
}

// succeeded is the end of a device's run, with what it measured.
func succeeded(facts jsontext.Value) *store.RunOutcome {
	return &store.RunOutcome{Status: store.RunSucceeded, Facts: facts, Event: slice.Event{Type: "run.completed"}}
}

// outboxCounts are those that a device reports together, or not at all.
var outboxCounts = []string{"pending", "retrying", "leased", "stale_leases", "dead_letter", "succeeded", "total"}

// outbox gives the counts of a device's queue: nothing when one is missing or is no count,
// and nothing but counts and a time, which is told by our clock.
func outbox(raw jsontext.Value, skew time.Duration) jsontext.Value {
	var said map[string]jsontext.Value
	if len(raw) == 0 || raw.Kind() != '{' || json.Unmarshal(raw, &said) != nil {
		return nil
	}
	out := map[string]any{}
	for _, name := range outboxCounts {
		n := count(said[name])
		if n == nil {
			return nil
		}
		out[name] = *n
	}
	if backlog, given := said["backlog_open"]; given {
		n := count(backlog)
		if n == nil {
			return nil
		}
		out["backlog_open"] = *n
	}
	var oldest time.Time
	if json.Unmarshal(said["oldest_pending_at"], &oldest) == nil && !oldest.IsZero() {
		out["oldest_pending_at"] = oldest.Add(-skew).UTC().Format(time.RFC3339Nano)
	}
	return eventData(out)
}

// count reads a number of things; anything else was not counted.
func count(raw jsontext.Value) *int64 {
	var n int64
	if len(raw) == 0 || raw.Kind() != '0' || json.Unmarshal(raw, &n) != nil || n < 0 {
		return nil
	}
	return &n
}

// topClasses is how many kinds of failure are kept.
const topClasses = 5

// lastError keeps codes and counts of what a device says is wrong, and no other word.
func lastError(raw jsontext.Value) jsontext.Value {
	var said wire.HeartbeatError
	if len(raw) == 0 || raw.Kind() != '{' || json.Unmarshal(raw, &said) != nil || !isWord(said.Kind) {
		return nil
	}
	out := map[string]any{"kind": said.Kind}
	var classes []map[string]any
	for _, class := range said.TopDeadLetterClasses[:min(len(said.TopDeadLetterClasses), topClasses)] {
		if isWord(class.ErrorClass) && class.Count >= 0 {
			classes = append(classes, map[string]any{"error_class": class.ErrorClass, "count": class.Count})
		}
	}
	if classes != nil {
		out["top_dead_letter_classes"] = classes
	}
	return eventData(out)
}

// isWord reports whether a text is a code, which can hold neither a path nor a sentence.
func isWord(s string) bool {
	return len(s) > 0 && len(s) <= longestWord && onlyOf(s, "abcdefghijklmnopqrstuvwxyz0123456789_")
}

// isVersion reports whether a text is the version of a program.
func isVersion(s string) bool {
	return len(s) > 0 && len(s) <= longestWord && onlyOf(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_")
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
