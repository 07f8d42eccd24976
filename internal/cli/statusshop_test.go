package cli

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/view"
)

// statusShop is a store with one connection of several standings.
type statusShop struct {
	store.Store
	t    *testing.T
	home string
	now  time.Time
}

const nurseryManifest = `{"protocol_version":"0.1.0","connector_id":"nursery","version":"1.0.0",
 "display_name":"Nursery",
"runtime_requirements":{"bindings":{"network":{"required":true}}},
"capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"It is cheap.",
 "maximum_staleness_seconds":86400}},
"streams":[{"name":"trees","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",
 "properties":{"id":{"type":"string"}}}}]}`

func newStatusShop(t *testing.T) *statusShop {
	t.Helper()
	home := t.TempDir()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	env, _, _ := testEnvironment(t, nil)
	s := &statusShop{Store: st, t: t, home: home, now: env.Now()}
	_, err = st.PutManifest(t.Context(), "nursery", []byte(nurseryManifest), s.now)
	s.must(err)
	s.add("cin_well", "Well kept", store.SourceAccount)
	s.run("cin_well", store.RunSucceeded, 2*time.Hour)
	s.add("cin_new", "Never run", store.SourceAccount)
	s.add("cin_locked", "Locked out", store.SourceAccount)
	s.run("cin_locked", store.RunSucceeded, 2*time.Hour)
	s.must(st.PutCredential(t.Context(), store.Credential{ConnectionID: "cin_locked", Sealed: []byte{1}, Fingerprint: "f",
		Status: store.CredentialActive, CapturedAt: s.ago(90 * time.Hour)}))
	s.must(st.RejectCredential(t.Context(), "cin_locked", "bad_token", s.ago(90*time.Hour), s.ago(time.Minute)))
	s.add("cin_failed", "Fell over", store.SourceAccount)
	s.run("cin_failed", store.RunSucceeded, 20*time.Hour)
	s.run("cin_failed", store.RunFailed, time.Hour)
	s.add("cin_attic", "Attic", store.SourceLocalDevice)
	s.device("cin_attic", "blocked", 14,
		`{"pending":11,"retrying":0,"stale_leases":0,"dead_letter":3,"backlog_open":0,"leased":0,"succeeded":900,`+
			`"total":914}`)
	return s
}

func (s *statusShop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *statusShop) ago(d time.Duration) time.Time { return s.now.Add(-d) }

func (s *statusShop) add(id, name string, kind store.SourceKind) {
	s.t.Helper()
	s.must(s.CreateConnection(s.t.Context(), store.Connection{
		ID: id, ConnectorID: "nursery", DisplayName: name, Status: store.ConnectionActive, SourceKind: kind,
		ManifestGeneration: 1, CreatedAt: s.ago(100 * time.Hour), UpdatedAt: s.ago(100 * time.Hour),
	}))
	if kind == store.SourceAccount {
		s.must(s.PutSchedule(s.t.Context(), store.Schedule{ConnectionID: id, IntervalSeconds: 14400, Enabled: true,
			CreatedAt: s.ago(100 * time.Hour), UpdatedAt: s.ago(100 * time.Hour)}))
	}
}

// run is a run with two records that ended some time ago.
func (s *statusShop) run(id string, status store.RunStatus, ago time.Duration) {
	s.t.Helper()
	at := s.ago(ago)
	l, err := s.StartRun(s.t.Context(), store.RunStart{
		RunID: "run_" + id + "_" + string(status), ConnectionID: id, ConnectorID: "nursery", Trigger: store.TriggerManual,
		Holder: "test",
		TTL:    time.Minute, Streams: []store.StreamSpec{{Name: "trees"}},
	}, at)
	s.must(err)
	_, err = s.CommitSlice(s.t.Context(), l, slice.Slice{Records: []slice.Record{
		{Stream: "trees", Key: "t1", Data: []byte(`{"id":"t1"}`), EmittedAt: at.Format(time.RFC3339)},
		{Stream: "trees", Key: "t2", Data: []byte(`{"id":"t2"}`), EmittedAt: at.Format(time.RFC3339)},
	}}, at)
	s.must(err)
	o := store.RunOutcome{
		Status: status, RecordsEmitted: 2, Event: slice.Event{Type: "run.over"},
		Facts: jsontext.Value(`{"streams":[{"stream":"trees","collected":2,"considered":2,"covered":2,` +
			`"checkpoint":"committed"}]}`),
	}
	if status == store.RunFailed {
		o.FailureReason, o.Error = "connector_reported_failed", "ada@example.org could not sign in with hunter2"
	}
	s.must(s.FinishRun(s.t.Context(), l, o, at))
}

func (s *statusShop) device(id, status string, pending int64, counts string) {
	s.t.Helper()
	at := s.ago(time.Minute)
	s.must(s.PutDevice(s.t.Context(), store.Device{ID: "dev_1", DisplayName: "attic", Status: "active", CreatedAt: at,
		UpdatedAt: at, LastHeartbeatAt: &at}))
	s.must(s.PutDeviceSource(s.t.Context(), store.DeviceSource{
		ID: "src_7", DeviceID: "dev_1", ConnectorID: "nursery", ConnectionID: id, LocalBinding: "default",
		SourceKind:  store.SourceLocalDevice,
		DisplayName: "attic", Status: "active", LastHeartbeatAt: &at, LastHeartbeatStatus: status, RecordsPending: &pending,
		OutboxDiagnostics: jsontext.Value(counts), CreatedAt: at, UpdatedAt: at,
	}))
}

// tell runs a command and returns what it prints.
func (s *statusShop) tell(args ...string) string {
	s.t.Helper()
	env, out, errOut := testEnvironment(s.t, nil, append(args, "--home", s.home)...)
	if code := Main(env); code != failure.ExitOK {
		s.t.Fatalf("%v: code %d, err %q", args, code, errOut)
	}
	return out.String()
}

// view returns the owner's view of the same store.
func (s *statusShop) view() view.Overview {
	s.t.Helper()
	v := view.View{Reader: s.Store, Now: func() time.Time { return s.now }}
	all, err := v.All(s.t.Context())
	s.must(err)
	return all
}
