package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// step is one write and whether it marks connection c as changed.
type step struct {
	name    string
	touches bool
	do      func(ctx context.Context) error
}

// testMarkChanged checks that every write that affects a verdict marks its connection as changed, and no other write
// does.
func testMarkChanged(t *testing.T, s store.Store) {
	connect(t, s, "c")
	connect(t, s, "other")
	for _, story := range [][]step{ownerSteps(t, s), runSteps(t, s), deviceSteps(s), requestSteps(t, s),
		deletionSteps(s)} {
		for _, step := range story {
			before := postpone(t, s, Now.Add(time.Hour))
			if err := step.do(t.Context()); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			var want []string
			if step.touches {
				want = []string{"c"}
			}
			if got := checkIDs(claimAllChecks(t, s, Now)); !slices.Equal(got, want) {
				t.Errorf("%s: looks at %q, want %q", step.name, got, want)
			}
			for _, l := range before {
				rose := checkOfConnection(t, s, l.ConnectionID).ChangeCount - l.ChangeCount
				if (rose > 0) != slices.Contains(want, l.ConnectionID) {
					t.Errorf("%s: connection %s was touched %d times", step.name, l.ConnectionID, rose)
				}
			}
		}
	}
}

// checkOfConnection returns the check of one connection, and postpones all checks.
func checkOfConnection(t testing.TB, s store.Store, id string) store.DueCheck {
	t.Helper()
	all := postpone(t, s, farFuture)
	i := slices.IndexFunc(all, func(l store.DueCheck) bool { return l.ConnectionID == id })
	if i < 0 {
		t.Fatalf("connection %s is never looked at", id)
	}
	return all[i]
}

func ownerSteps(t *testing.T, s store.Store) []step {
	schedule := store.Schedule{ConnectionID: "c", IntervalSeconds: 60, Enabled: true, CreatedAt: Now, UpdatedAt: Now}
	credential := store.Credential{ConnectionID: "c", Kind: "token", Sealed: []byte("x"), Status: store.CredentialActive,
		CapturedAt: Now}
	backoff := store.Backoff{ConnectionID: "c", Backoff: evidence.Backoff{Class: "failure:network", ObservedAt: Now}}
	probe := store.Probe{ConnectionID: "c", Probe: evidence.Probe{Dimension: evidence.ProbeRuntime, Name: "browser",
		Status: evidence.ProbeOK, At: Now}}
	return []step{
		{"UpdateConnection", true, func(ctx context.Context) error {
			return s.UpdateConnection(ctx, store.Connection{ID: "c", Status: store.ConnectionActive, UpdatedAt: Now})
		}},
		{"PutSchedule", true, func(ctx context.Context) error { return s.PutSchedule(ctx, schedule) }},
		{"PutSchedule again", true, func(ctx context.Context) error { return s.PutSchedule(ctx, schedule) }},
		{"DeleteSchedule", true, func(ctx context.Context) error { return s.DeleteSchedule(ctx, "c") }},
		{"PutCredential", true, func(ctx context.Context) error { return s.PutCredential(ctx, credential) }},
		{"RejectCredential of another", false, func(ctx context.Context) error {
			fails(t, s.RejectCredential(ctx, "c", "401", farFuture, Now), store.ErrNotFound)
			return nil
		}},
		{"RejectCredential", true, func(ctx context.Context) error { return s.RejectCredential(ctx, "c", "401", Now, Now) }},
		{"RotateCredential", true, func(ctx context.Context) error { return s.RotateCredential(ctx, credential) }},
		{"DeleteCredential", true, func(ctx context.Context) error { return s.DeleteCredential(ctx, "c") }},
		{"PutBackoff", true, func(ctx context.Context) error { return s.PutBackoff(ctx, backoff) }},
		{"ClearBackoff", true, func(ctx context.Context) error { return s.ClearBackoff(ctx, "c") }},
		{"ClearBackoff without one", false, func(ctx context.Context) error { return s.ClearBackoff(ctx, "c") }},
		{"PutProbe", true, func(ctx context.Context) error { return s.PutProbe(ctx, probe) }},
		{"DeleteProbe", true, func(ctx context.Context) error {
			return s.DeleteProbe(ctx, "c", evidence.ProbeRuntime, "browser")
		}},
		{"PutComponent", false, func(ctx context.Context) error {
			return s.PutComponent(ctx, evidence.Component{Name: "scheduler", Status: "ok", At: Now})
		}},
	}
}

// deletionSteps change which streams are collected.
func deletionSteps(s store.Store) []step {
	stream := store.DeletionScope{Kind: store.DeleteStream, ConnectionID: "c", Stream: Stream}
	return []step{
		{"AskDeletion", true, func(ctx context.Context) error {
			return s.RequestDeletion(ctx, store.Deletion{ID: "d", DeletionScope: stream, AskedAt: Now, PurgeAfter: Now})
		}},
		{"AdvanceDeletion", false, func(ctx context.Context) error {
			for {
				if idle, err := s.AdvanceDeletion(ctx, Now); idle || err != nil {
					return err
				}
			}
		}},
		{"AdmitDeleted", true, func(ctx context.Context) error { return s.ReadmitDeleted(ctx, "d", Now) }},
	}
}

func runSteps(t *testing.T, s store.Store) []step {
	var l store.Lease
	question := store.Interaction{RequestID: "q", Kind: protocol.AskOTP, Key: []byte("key"), OpenedAt: Now}
	gap := store.GapID("c", "", missingGap("g"))
	start := func(run string, at time.Time) func(context.Context) error {
		return func(ctx context.Context) (err error) { l, err = s.StartRun(ctx, runStart("c", run), at); return err }
	}
	return []step{
		{"StartRun", true, start("r1", Now)},
		{"CommitSlice", false, func(ctx context.Context) error {
			_, err := s.CommitSlice(ctx, l,
				slice.Slice{Records: []slice.Record{live("a", "1")}, Gaps: []slice.Gap{missingGap("g")},
					Cursors: []slice.Cursor{{Stream: Stream, Cursor: []byte(`1`)}}}, Now)
			return err
		}},
		{"RenewLease", false, func(ctx context.Context) error { _, err := s.RenewLease(ctx, l, ttl, Now); return err }},
		{"PutWait", true, func(ctx context.Context) error {
			return s.PutWait(ctx, l, wait("api", time.Nanosecond, Now),
				Now)
		}},
		{"OpenInteraction", true, func(ctx context.Context) error { return s.OpenInteraction(ctx, l, question, Now) }},
		{"AnswerInteraction", true,
			func(ctx context.Context) error { return s.AnswerInteraction(ctx, "r1", "q", []byte("sealed"), Now) }},
		{"CloseInteraction", true, func(ctx context.Context) error {
			return s.CloseInteraction(ctx, l, "q", protocol.ResponseSuccess, Now)
		}},
		{"IgnoreGap", true, func(ctx context.Context) error {
			_,
				err := s.IgnoreGap(ctx, gap, "an old draft", Now)
			return err
		}},
		{"RetryGap", true, func(ctx context.Context) error { _, err := s.RetryGap(ctx, gap, Now); return err }},
		{"RequestCancel", false, func(ctx context.Context) error { return s.RequestCancel(ctx, "r1", Now) }},
		{"FinishRun", true, func(ctx context.Context) error {
			return s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}},
				Now)
		}},
		{"StartRun again", true, start("r2", Now)},
		{"StartRun that takes over", true, start("r3", Now.Add(ttl))},
		{"Reclaim", true, func(ctx context.Context) error {
			ended, err := s.AbandonExpiredRuns(ctx, Now.Add(2*ttl), 10)
			same(t, len(ended), 1)
			return err
		}},
		{"Reclaim of none", false,
			func(ctx context.Context) error { _, err := s.AbandonExpiredRuns(ctx, farFuture, 10); return err }},
	}
}

func deviceSteps(s store.Store) []step {
	device := store.Device{ID: "dexp1", DisplayName: "Laptop", Status: "active", CreatedAt: Now, UpdatedAt: Now}
	source := func(connection string) func(context.Context) error {
		return func(ctx context.Context) error {
			return s.PutDeviceSource(ctx, store.DeviceSource{ID: "dsrc1", DeviceID: "dexp1", ConnectionID: connection,
				Status: "active", CreatedAt: Now, UpdatedAt: Now})
		}
	}
	return []step{
		{"PutDevice", false, func(ctx context.Context) error { return s.PutDevice(ctx, device) }},
		{"PutDeviceSource", true, source("c")},
		{"PutDevice with a heartbeat", false, func(ctx context.Context) error {
			device.LastHeartbeatAt = &Now
			return s.PutDevice(ctx, device)
		}},
		{"PutDevice that revokes it", true, func(ctx context.Context) error {
			device.Status, device.RevokedAt = "revoked", &Now
			return s.PutDevice(ctx, device)
		}},
		{"PutDeviceSource that goes elsewhere", true, source("nowhere")},
	}
}

func requestSteps(t *testing.T, s store.Store) []step {
	request := func(ctx context.Context) error {
		_, err := s.RequestRun(ctx, store.RunRequest{ConnectionID: "c", Trigger: store.TriggerManual, RequestedAt: Now})
		return err
	}
	return []step{
		{"RequestRun", true, request},
		{"RequestRun while one waits", false, request},
		{"WithdrawRun", true, func(ctx context.Context) error { return s.WithdrawRun(ctx, "c") }},
		{"SaveAttention", false, func(ctx context.Context) error {
			return s.SaveAttention(ctx, []attention.AttentionRecord{newAttention("a", "c", "")}, nil)
		}},
		{"SaveAttention with a request", true, func(ctx context.Context) error {
			return s.SaveAttention(ctx, []attention.AttentionRecord{newAttention("b", "other", "")},
				&store.RunRequest{ConnectionID: "c", Trigger: store.TriggerRetry, RequestedAt: Now})
		}},
		{"SaveAttention with a request while one waits", true, func(ctx context.Context) error {
			return s.SaveAttention(ctx, nil, &store.RunRequest{ConnectionID: "c", Trigger: store.TriggerRetry, RequestedAt: Now})
		}},
		{"SaveAttention that is stale", false, func(ctx context.Context) error {
			err := s.SaveAttention(ctx, []attention.AttentionRecord{newAttention("a", "c", "")},
				&store.RunRequest{ConnectionID: "c", Trigger: store.TriggerRetry, RequestedAt: Now})
			fails(t, err, store.ErrStale)
			return nil
		}},
		{"Rewind", true, func(ctx context.Context) error {
			log, err := s.CursorLog(ctx, testCursor, 1)
			if err == nil {
				_, err = s.Rewind(ctx, testCursor, log[0].Commit, farFuture)
			}
			return err
		}},
	}
}
