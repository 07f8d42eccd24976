package view_test

import (
	"math/rand/v2"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

var judgedAt = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// maker generates random evidence without contradictions: facts need a run, a success is a run, and a device's status
// agrees with its counts.
type maker struct {
	*rand.Rand
	trouble float64 // how often something is wrong
	// words returns the free text of a field.
	words func(field string, usual ...string) string
}

// newMaker returns a maker that is deterministic in seed and number.
func newMaker(seed, number uint64) *maker {
	r := rand.New(rand.NewPCG(seed, number))
	m := &maker{Rand: r, trouble: []float64{0.02, 0.08, 0.4}[r.IntN(3)]}
	m.words = func(_ string, usual ...string) string { return pick(m, usual...) }
	return m
}

func pick[T any](m *maker, from ...T) T { return from[m.IntN(len(from))] }

func (m *maker) wrong() bool            { return m.Float64() < m.trouble }
func (m *maker) chance(p float64) bool  { return m.Float64() < p }
func (m *maker) count(below int) *int64 { n := m.Int64N(int64(below)); return &n }

// maybe returns a count, or nil for one that was not taken.
func (m *maker) maybe(below int) *int64 {
	if m.chance(0.15) {
		return nil
	}
	return m.count(below)
}

// past is a moment between one second and some hours ago; now and then long ago.
func (m *maker) past(hours int) time.Time {
	if m.chance(0.1) {
		hours *= 20
	}
	return judgedAt.Add(-time.Duration(1+m.IntN(hours*3600)) * time.Second)
}

func (m *maker) soon() *time.Time {
	t := judgedAt.Add(time.Duration(m.IntN(7200)-1800) * time.Second)
	if m.chance(0.2) {
		return nil
	}
	return &t
}

func (m *maker) evidence() *evidence.Evidence {
	e := &evidence.Evidence{
		Connection: evidence.Connection{
			ID: "con_1", ConnectorID: "photobox", DisplayName: m.words("display_name", "Photobox"),
			Status: evidence.StatusActive, SourceKind: "account", CreatedAt: judgedAt.AddDate(-1, 0, 0),
		},
		Refresh: m.refresh(), Gaps: m.gaps(),
	}
	if m.wrong() {
		e.Connection.Status = evidence.StatusPaused
	}
	if m.chance(0.35) {
		e.Connection.SourceKind, e.Device = evidence.SourceLocalDevice, m.device()
	}
	m.runs(e)
	for _, name := range []string{"albums", "photos", "comments"}[:m.IntN(4)] {
		e.Streams = append(e.Streams, m.stream(name, e.LastRun != nil))
	}
	if !m.wrong() {
		e.Records = &evidence.Records{Retained: m.Int64N(5000)}
	}
	m.owner(e)
	for _, f := range evidence.Families {
		if m.chance(m.trouble / 12) {
			e.Unreadable = append(e.Unreadable, f)
		}
	}
	return e
}

func (m *maker) refresh() *manifest.RefreshPolicy {
	if m.wrong() {
		return nil
	}
	p := &manifest.RefreshPolicy{RecommendedMode: manifest.RefreshAutomatic,
		MaximumStalenessSeconds: pick(m, 86400, 86400, 600, 0)}
	if m.chance(0.3) {
		p.RecommendedMode = pick(m, manifest.RefreshModes...)
	}
	if m.chance(0.3) {
		safe := m.chance(0.7)
		p.BackgroundSafe = &safe
	}
	return p
}

func (m *maker) runs(e *evidence.Evidence) {
	if m.chance(0.15) {
		e.Active = &evidence.ActiveRun{ID: "run_2", StartedAt: m.past(1)}
	}
	if m.chance(0.2) || e.Device != nil && m.chance(0.7) {
		return
	}
	run := &evidence.Run{ID: "run_1", Status: evidence.RunSucceeded, EndedAt: m.past(20), Committed: m.maybe(3),
		Recovered: m.maybe(3)}
	run.StartedAt = run.EndedAt.Add(-time.Minute)
	e.LastRun = run
	if !m.wrong() {
		e.LastSuccessAt = &run.EndedAt
		return
	}
	run.Status = pick(m, evidence.RunFailed, evidence.RunCancelled, evidence.RunAbandoned)
	if m.chance(0.8) {
		run.Failure = &evidence.Failure{
			Reason: m.words("failure", "connector_reported_failed", "runtime_binding_missing", "connector_spawn_failed",
				"module_missing", "path_missing"),
			Message: m.words("message", "", "Runtime cannot satisfy required binding: browser"),
			Code:    m.words("code", "", "", "auth_failure", "credentials_missing", "network_error"),
			Action:  pick(m, "", protocol.RefreshCredentials, protocol.UnknownRecovery),
		}
	}
	if m.chance(0.6) {
		earlier := run.StartedAt.Add(-time.Duration(m.IntN(200000)) * time.Second)
		e.LastSuccessAt = &earlier
	}
}

func (m *maker) stream(name string, measured bool) evidence.Stream {
	s := evidence.Stream{Name: name, Required: m.chance(0.8), Retained: m.maybe(100)}
	if m.chance(m.trouble / 4) {
		s.Policy = pick(m, manifest.CoveragePolicies...)
	}
	if !measured || m.chance(m.trouble/2) {
		return s
	}
	n := m.count(9)
	s.Fact = &evidence.Fact{RunStatus: evidence.RunSucceeded, At: m.past(20), Collected: m.Int64N(12),
		Checkpoint: evidence.CheckpointCommitted}
	if m.chance(0.8) {
		s.Fact.Considered, s.Fact.Covered = n, n
	}
	if m.wrong() {
		s.Fact.Covered = m.maybe(9)
	}
	if m.wrong() {
		s.Fact.RunStatus = pick(m, evidence.RunStatuses...)
	}
	if m.wrong() {
		s.Fact.Checkpoint = evidence.CheckpointWithheld
	}
	if m.wrong() {
		s.Fact.Skip = &evidence.Skip{
			Reason: m.words("skip", "parser_broken", "rate_limited", "out_of_scope", "upstream_locked", "unsupported"),
			Action: pick(m, "", protocol.RetryByRuntime, protocol.NotRetriable, protocol.RefreshCredentials),
		}
	}
	return s
}

func (m *maker) gaps() *evidence.Gaps {
	if m.chance(m.trouble / 2) {
		return nil
	}
	g := &evidence.Gaps{Recovered: m.maybe(40), Terminal: m.maybe(4)}
	for m.wrong() && len(g.Groups) < 4 {
		g.Groups = append(g.Groups, evidence.GapGroup{
			Stream: pick(m, "albums", "photos", "comments", "stickers"),
			Reason: pick(m, protocol.ReasonRateLimited, protocol.ReasonRetryExhausted),
			Count:  m.Int64N(30), MaxAttempts: m.Int64N(9), NotBefore: m.soon(),
		})
	}
	g.Floor = m.wrong()
	return g
}
