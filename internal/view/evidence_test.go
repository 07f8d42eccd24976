package view

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *time.Time { t := noon.Add(-d); return &t }

func ptr[T any](v T) *T { return &v }

// collected returns a scheduled connection with a successful run an hour ago.
func collected(id string) evidence.Evidence {
	return evidence.Evidence{
		Connection: evidence.Connection{ID: id, ConnectorID: "orchard", DisplayName: "Orchard " + id,
			Status: evidence.StatusActive, SourceKind: "account", CreatedAt: *ago(720 * time.Hour)},
		Refresh: &manifest.RefreshPolicy{RecommendedMode: manifest.RefreshAutomatic, MaximumStalenessSeconds: 86400},
		Streams: []evidence.Stream{{
			Name: "trees", Required: true, Retained: ptr(int64(12)),
			Fact: &evidence.Fact{RunID: "run_1", RunStatus: evidence.RunSucceeded, At: *ago(time.Hour), Collected: 12,
				Considered: ptr(int64(12)), Covered: ptr(int64(12)), Checkpoint: evidence.CheckpointCommitted},
		}},
		Records: &evidence.Records{Retained: 12, ChangedAt: ago(time.Hour)},
		LastRun: &evidence.Run{ID: "run_1", Status: evidence.RunSucceeded, StartedAt: *ago(61 * time.Minute),
			EndedAt: *ago(time.Hour), Committed: ptr(int64(3))},
		LastSuccessAt: ago(time.Hour),
		Schedule:      &evidence.Schedule{Enabled: true, IntervalSeconds: 7200, UpdatedAt: *ago(700 * time.Hour)},
		Gaps:          &evidence.Gaps{Recovered: ptr(int64(0)), Terminal: ptr(int64(0))},
	}
}

// registered has never run.
func registered(id string) evidence.Evidence {
	e := collected(id)
	e.Streams[0].Fact, e.Streams[0].Retained = nil, nil
	e.Records = &evidence.Records{}
	e.LastRun, e.LastSuccessAt, e.Schedule = nil, nil, nil
	return e
}

// rejected has lost its credential.
func rejected(id string) evidence.Evidence {
	e := collected(id)
	e.Credential = &evidence.Credential{Status: evidence.CredentialRejected, CapturedAt: *ago(600 * time.Hour),
		RejectedAt: ago(time.Minute)}
	return e
}

// failed had a run that failed after the last success.
func failed(id string) evidence.Evidence {
	e := collected(id)
	e.LastRun = &evidence.Run{ID: "run_2", Status: evidence.RunFailed, StartedAt: *ago(20 * time.Minute),
		EndedAt: *ago(10 * time.Minute), Failure: &evidence.Failure{Reason: "connector_reported_failed", Code: "source_down"}}
	e.Streams[0].Fact.RunStatus, e.Streams[0].Fact.At = evidence.RunFailed, *ago(10 * time.Minute)
	return e
}

// cooling waits because its source asked for it.
func cooling(id string) evidence.Evidence {
	e := collected(id)
	e.Backoff = &evidence.Backoff{Class: "failure:network", Failures: 1, ObservedAt: *ago(time.Minute),
		NextAttemptAt: ago(-time.Hour)}
	return e
}

// pressed has items left that the source's pressure deferred.
func pressed(id string) evidence.Evidence {
	e := collected(id)
	e.Gaps.Groups = []evidence.GapGroup{
		{Stream: "trees", Reason: protocol.SourcePressureReasons[0], Count: 37, MaxAttempts: 2,
			NotBefore: ago(-2 * time.Hour), Earliest: ago(-time.Hour)},
		{Stream: "trees", Reason: "wasps", Count: 4},
	}
	e.Gaps.Recovered = ptr(int64(5))
	return e
}

// device is fed by one collector that has delivered everything.
func device(id string) evidence.Evidence {
	e := collected(id)
	e.Connection.SourceKind = evidence.SourceLocalDevice
	e.LastRun, e.LastSuccessAt, e.Schedule, e.Streams[0].Fact = nil, nil, nil, nil
	e.Device = &evidence.Device{
		Sources: []evidence.DeviceSource{source("src_7", "attic", evidence.HeartbeatHealthy, 0,
			evidence.OutboxCounts{Succeeded: 900, Total: 900})},
		LastIngestAt: ago(5 * time.Minute),
		Stores:       []evidence.CoverageStore{{Store: "journal", Stream: "trees", Status: "collected"}},
	}
	return e
}

func source(id, host string, status evidence.HeartbeatStatus, pending int64,
	counts evidence.OutboxCounts) evidence.DeviceSource {
	return evidence.DeviceSource{
		ID: id, Host: host, DeviceStatus: evidence.StatusActive, Status: evidence.StatusActive,
		Heartbeat: &evidence.Heartbeat{At: *ago(2 * time.Minute), Status: status, Pending: &pending, Outbox: &counts},
	}
}

// stalled returns a device with permanently failed uploads.
func stalled(id string) evidence.Evidence {
	e := device(id)
	e.Device.Sources[0] = source("src_7", "attic", evidence.HeartbeatBlocked, 14,
		evidence.OutboxCounts{Pending: 11, DeadLetter: 3, Succeeded: 900, Total: 914, OldestPendingAt: ago(9 * time.Hour)})
	return e
}

// uploading is a device with work on its way.
func uploading(id string) evidence.Evidence {
	e := device(id)
	e.Device.Sources[0] = source("src_7", "attic", evidence.HeartbeatHealthy, 8,
		evidence.OutboxCounts{Pending: 8, Succeeded: 900, Total: 908})
	return e
}

// unreadable lost a family of facts.
func unreadable(id string) evidence.Evidence {
	e := collected(id)
	e.Records, e.Unreadable = nil, []evidence.Family{evidence.FamilyRecords}
	return e
}

// asked waits for an answer.
func asked(id string) evidence.Evidence {
	e := collected(id)
	e.Attention = []evidence.Attention{{ID: "att_1", Reason: "otp_required", Lifecycle: evidence.AttentionOpen,
		Sensitivity: "secret", OpenedAt: *ago(time.Minute), ExpiresAt: ago(-time.Hour)}}
	return e
}

// kinds are one connection of every kind.
var kinds = map[string]func(string) evidence.Evidence{
	"collected": collected, "registered": registered, "rejected": rejected, "failed": failed, "cooling": cooling,
	"pressed": pressed, "device": device, "stalled": stalled, "uploading": uploading, "unreadable": unreadable,
	"asked": asked,
}

// shelf is an EvidenceReader over fixed evidence, ordered by id.
type shelf struct {
	all     []evidence.Evidence
	runtime evidence.Runtime
	err     error
	reads   int
}

func shelve(all ...evidence.Evidence) *shelf {
	slices.SortFunc(all, func(a, b evidence.Evidence) int { return strings.Compare(a.Connection.ID, b.Connection.ID) })
	return &shelf{all: all}
}

func (s *shelf) Runtime(context.Context) (evidence.Runtime, error) { return s.runtime, s.err }

func (s *shelf) Evidence(_ context.Context, q evidence.Query) ([]evidence.Evidence, error) {
	s.reads++
	var out []evidence.Evidence
	for _, e := range s.all {
		switch {
		case q.ConnectionIDs != nil:
			if slices.Contains(q.ConnectionIDs, e.Connection.ID) {
				out = append(out, e)
			}
		case e.Connection.ID > q.After && len(out) < q.Limit:
			out = append(out, e)
		}
	}
	return out, s.err
}

func (s *shelf) view() *View { return &View{Reader: s, Now: func() time.Time { return noon }} }
