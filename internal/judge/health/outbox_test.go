package health

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) *time.Time { t := noon.Add(d); return &t }
func num(n int64) *int64            { return &n }

// trusted returns a source with a heartbeat of that age.
func trusted(status evidence.HeartbeatStatus, age time.Duration, pending *int64,
	counts *evidence.OutboxCounts) evidence.DeviceSource {
	return evidence.DeviceSource{
		ID: "src_1", DeviceStatus: evidence.StatusActive, Status: evidence.StatusActive,
		Heartbeat: &evidence.Heartbeat{At: noon.Add(-age), Status: status, Pending: pending, Outbox: counts},
	}
}

func TestEveryOutboxRule(t *testing.T) {
	silent := trusted(evidence.HeartbeatHealthy, 0, nil, nil)
	silent.Heartbeat = nil
	revoked := trusted(evidence.HeartbeatBlocked, 0, num(3), nil)
	revoked.RevokedAt = at(-time.Hour)
	dead := &evidence.OutboxCounts{DeadLetter: 1}
	cases := []struct {
		rule   int
		source evidence.DeviceSource
	}{
		{0, revoked},
		{1, silent},
		{2, trusted(evidence.HeartbeatBlocked, 0, nil, dead)},
		{2, trusted(evidence.HeartbeatHealthy, 0, num(0), dead)},
		{3, trusted(evidence.HeartbeatBlocked, 0, num(9), nil)},
		{4, trusted(evidence.HeartbeatRetrying, StaleHeartbeat+1, num(1), nil)},
		{4, trusted(evidence.HeartbeatHealthy, StaleHeartbeat+1, nil, &evidence.OutboxCounts{StaleLeases: 1})},
		{5, trusted(evidence.HeartbeatStarting, StaleHeartbeat, num(0), nil)},
		{5, trusted(evidence.HeartbeatRetrying, 0, nil, nil)},
		{6, trusted(evidence.HeartbeatStarting, StaleHeartbeat+1, num(0), nil)},
		{7, trusted(evidence.HeartbeatHealthy, 0, nil, &evidence.OutboxCounts{BacklogOpen: 2})},
		{7, trusted(evidence.HeartbeatStopped, StaleHeartbeat, num(1), nil)},
		{7, trusted(evidence.HeartbeatHealthy, 0, num(0), &evidence.OutboxCounts{Pending: -5, Retrying: 5})},
		{8, trusted(evidence.HeartbeatHealthy, 100*time.Hour, num(0), nil)},
		{8, trusted(evidence.HeartbeatHealthy, 0, nil, nil)},
		{8, trusted(evidence.HeartbeatStopped, 0, num(0), nil)},
		{9, trusted(evidence.HeartbeatStopped, 0, nil, nil)},
		{9, trusted(evidence.HeartbeatStopped, 0, num(-1), nil)},
		{9, trusted("on_fire", 0, num(0), nil)},
	}
	reached := map[int]bool{}
	for i, c := range cases {
		rule := &outboxRules[c.rule]
		got := ReadHeartbeat(&c.source, noon)
		want := OutboxReading{Axis: rule.Axis, Cause: rule.Cause, Unreliable: c.rule == 0}
		if got != want {
			t.Errorf("case %d: %+v, want %+v (%s)", i, got, want, rule.When)
		}
		reached[c.rule] = true
	}
	for i := range outboxRules {
		if !reached[i] {
			t.Errorf("no case for %q", outboxRules[i].When)
		}
	}
}

func TestOutboxRollsUp(t *testing.T) {
	idle := trusted(evidence.HeartbeatHealthy, 0, num(0), nil)
	active := trusted(evidence.HeartbeatRetrying, 0, num(1), nil)
	stale := trusted(evidence.HeartbeatRetrying, time.Hour, num(1), nil)
	blocked := trusted(evidence.HeartbeatBlocked, 0, nil, nil)
	dead := trusted(evidence.HeartbeatBlocked, 0, nil, &evidence.OutboxCounts{DeadLetter: 1})
	silent := trusted("", 0, nil, nil)
	silent.Heartbeat = nil
	revoked := dead
	revoked.Status = evidence.StatusRevoked

	type sources = []evidence.DeviceSource
	cases := []struct {
		name    string
		sources sources
		want    OutboxReading
	}{
		{"none", nil, OutboxReading{Axis: OutboxUnknown}},
		{"only revoked", sources{revoked}, OutboxReading{Axis: OutboxUnknown, Unreliable: true}},
		{"revoked beside idle", sources{revoked, idle}, OutboxReading{Axis: OutboxIdle}},
		{"idle", sources{idle, idle}, OutboxReading{Axis: OutboxIdle}},
		{"idle beside silent", sources{idle, silent}, OutboxReading{Axis: OutboxUnknown}},
		{"active beside idle and silent", sources{idle, silent, active}, OutboxReading{Axis: OutboxActive}},
		{"stalled beside active", sources{active, stale}, OutboxReading{Axis: OutboxStalled, Cause: StalePending}},
		{"state read before stale", sources{stale, blocked}, OutboxReading{Axis: OutboxStalled, Cause: StateReadFailed}},
		{"dead letters before all", sources{stale, blocked, dead, idle},
			OutboxReading{Axis: OutboxStalled, Cause: DeadLetterBacklog}},
	}
	for _, c := range cases {
		if got := ReadOutbox(&evidence.Device{Sources: c.sources}, noon); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := ReadOutbox(nil, noon); got != (OutboxReading{Axis: OutboxUnknown}) {
		t.Errorf("no device: %+v", got)
	}
}

// A stalled axis that names no cause gets the generic words, never a cause of its own.
func TestStalledWithoutCauseIsGeneric(t *testing.T) {
	r := reading{Evidence: &evidence.Evidence{Device: &evidence.Device{}}, outbox: OutboxReading{Axis: OutboxStalled}}
	if got := r.localExporter().row.Reason; got != "local_exporter_stalled" {
		t.Errorf("exporter reason = %s", got)
	}
	if got := r.backlogClear().row.Reason; got != "outbox_stalled" {
		t.Errorf("backlog reason = %s", got)
	}
}
