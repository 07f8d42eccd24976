package view_test

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/protocol"
)

// owner adds the schedule, the credential, probes and questions.
func (m *maker) owner(e *evidence.Evidence) {
	if m.chance(0.6) {
		e.Schedule = &evidence.Schedule{Enabled: !m.wrong(), IntervalSeconds: 3600, UpdatedAt: m.past(400)}
	}
	if m.wrong() {
		e.Backoff = &evidence.Backoff{
			Class:    m.words("class", "failure:network", "source_pressure", "terminal:auth_failure", ""),
			Failures: m.IntN(9), ObservedAt: m.past(10), NextAttemptAt: m.soon(),
		}
	}
	if until := m.soon(); until != nil && m.wrong() {
		e.Waits = []evidence.SenderWait{{Sender: "api", Until: *until,
			Reason: pick(m, protocol.WaitRetryAfter, protocol.WaitSearched), At: m.past(1)}}
	}
	if m.chance(0.6) {
		e.Credential = &evidence.Credential{Status: evidence.CredentialActive, CapturedAt: m.past(400)}
		if m.chance(0.3) {
			end := m.past(400).Add(400 * time.Hour)
			e.Credential.EndsAt = &end
		}
		if m.wrong() {
			at := m.past(10)
			e.Credential.Status = pick(m, evidence.CredentialRejected, evidence.CredentialRejected, evidence.CredentialRevoked)
			e.Credential.RejectedAt, e.Credential.Reason = &at, m.words("rejection", "", "credential_rejected")
		}
	}
	for m.chance(0.3) && len(e.Probes) < 3 {
		p := evidence.Probe{
			Dimension: pick(m, evidence.ProbeCredentials, evidence.ProbeRuntime, evidence.ProbeTool, evidence.ProbeRemoteSurface,
				evidence.ProbeInterpreter, evidence.ProbeVariable, evidence.ProbeFiles, evidence.ProbeConfirmation,
				evidence.ProbeConnector),
			Name: m.words("probe_name", "browser", "network"), Status: pick(m, evidence.ProbeOK, evidence.ProbeIdle),
			Reason: m.words("probe", "", "not_found", evidence.ReasonFilesUnnamed), At: m.past(5), ExpiresAt: m.soon(),
		}
		if m.wrong() {
			p.Status = pick(m, evidence.ProbeFailed, evidence.ProbeUnknown, evidence.ProbeWaiting)
		}
		e.Probes = append(e.Probes, p)
	}
	for m.wrong() && len(e.Attention) < 2 {
		e.Attention = append(e.Attention, evidence.Attention{
			ID: "att_1", Reason: m.words("question", "", "otp_required", "manual_action_required"),
			Sensitivity: pick(m, "none", "secret"),
			Target:      m.words("target", "", "sign-in"), OpenedAt: m.past(2), ExpiresAt: m.soon(),
			Lifecycle: pick(m, evidence.AttentionOpen, evidence.AttentionAcknowledged, evidence.AttentionInProgress,
				evidence.AttentionResolved, evidence.AttentionExpired, evidence.AttentionCancelled),
		})
	}
}

func (m *maker) device() *evidence.Device {
	d := &evidence.Device{Stores: []evidence.CoverageStore{{Store: "notes.db", Stream: "albums", Status: "collected"}}}
	switch {
	case m.wrong():
		d.Stores = nil
	case m.wrong():
		d.Stores = append(d.Stores, evidence.CoverageStore{Store: "new.db", Stream: pick(m, "", "photos"),
			Status: "unaccounted"})
	}
	for range pick(m, 0, 1, 1, 1, 1, 2) {
		s := evidence.DeviceSource{
			ID: "src_1", Host: m.words("host", "Maple"), DeviceStatus: evidence.StatusActive, Status: evidence.StatusActive,
			Heartbeat: m.heartbeat(),
		}
		if m.wrong() {
			s.Status = evidence.StatusRevoked
		}
		if m.wrong() {
			s.Heartbeat = nil
		}
		if m.wrong() {
			at := m.past(10 * 24)
			s.DoubledAt = &at
		}
		d.Sources = append(d.Sources, s)
	}
	return d
}

// heartbeat returns a report with a status that follows from its counts, like a collector's: failed uploads block,
// waiting work retries, and otherwise it is healthy.
func (m *maker) heartbeat() *evidence.Heartbeat {
	h := &evidence.Heartbeat{At: m.past(1), Status: evidence.HeartbeatHealthy, Pending: m.count(1),
		Outbox: &evidence.OutboxCounts{Succeeded: 9, Total: 9}}
	switch {
	case m.wrong():
		h.Status = evidence.HeartbeatBlocked
		h.Outbox.DeadLetter = m.Int64N(3)
	case m.chance(0.3) || m.wrong():
		n := m.Int64N(6)
		h.Status, h.Pending, h.Outbox.Pending = pick(m, evidence.HeartbeatRetrying, evidence.HeartbeatStarting,
			evidence.HeartbeatStopped), &n, n
	}
	if m.chance(0.1) {
		h.Pending = nil
	}
	if m.chance(0.1) {
		h.Outbox = nil
	}
	return h
}
