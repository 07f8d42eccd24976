package storetest

import (
	"database/sql"
	"embed"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"pdpp/internal/judge/attention"
	"pdpp/internal/judge/evidence"
	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/sqlstore"
)

//go:embed testdata/upgrade_*.sql
var fixtures embed.FS

// RunUpgrade makes a database of every schema version there has been, fills it
// with what that version kept, and opens it with the store of today. A new
// version needs a fixture of its own, testdata/upgrade_NNN.sql, written for the
// schema as it then is; earlier fixtures stay as they are. A process that is killed within the
// next migration leaves the version as it was.
func RunUpgrade(t *testing.T, schema sqlstore.Schema, target func(t *testing.T) string, connect func(target string) (*sql.DB, error), open Opener) {
	all := versions(t, schema)
	for n, version := range all {
		t.Run(fmt.Sprint("from ", version), func(t *testing.T) {
			t.Parallel()
			to := target(t)
			db, err := connect(to)
			ok(t, err)
			makeVersion(t, schema, db, version)
			if version >= 3 && version < 6 {
				putClientSetting(t, schema, db)
			}
			if n+1 < len(all) {
				killMigration(t, to, all[n+1])
				p, err := schema.Provider(db)
				ok(t, err)
				left, err := p.GetDBVersion(t.Context())
				ok(t, err)
				same(t, left, version)
			}
			ok(t, db.Close())
			s, err := open(t.Context(), to)
			ok(t, err)
			if version >= 3 {
				checkWork(t, s)
			}
			if version >= 4 {
				checkAccess(t, s, version)
			}
			if version >= 7 {
				checkEntries(t, s)
			}
			if version == 5 {
				checkWaits(t, s)
			}
			if version == 8 {
				c, err := s.ConfirmedConnector(t.Context(), "weather")
				ok(t, err)
				same(t, c.Variables, []string{"WEATHER_KEY"})
			}
			if version >= 13 {
				checkRunGrants(t, s)
			}
			if version >= 14 {
				checkDevices(t, s)
			}
			if version >= 17 {
				p, err := s.BrowserProfile(t.Context(), "c", "example__c")
				ok(t, err)
				same(t, p, store.BrowserProfile{ConnectionID: "c", Name: "example__c", Generation: 4, AccountMAC: "ab12", Sealed: []byte("sealed profile"),
					SealedAt: time.Date(2026, 1, 1, 0, 6, 0, 0, time.UTC), Bytes: 2048})
			}
			if version == 19 || version >= 24 {
				b, err := s.FindBlob(t.Context(), "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", nil)
				ok(t, err)
				same(t, b, store.Blob{SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Bytes: 4, Field: "title", MIME: "text/plain", Name: "test.txt"})
				_, room := roomOf(t, s, "c", "items")
				same(t, []int64{room.Files, room.FileBytes}, []int64{1, 4})
			}
			if version >= 21 {
				checkSignIn(t, s)
			}
			if version >= 22 {
				i, err := s.Import(t.Context(), "imp1")
				ok(t, err)
				same(t, []any{i.Path, i.Name, i.SHA256, *i.Bytes, i.RunID, i.New}, []any{"export.zip", "My export.zip", "beef", int64(2048), "r1", int64(2)})
				alone, shared, err := s.ImportRecords(t.Context(), "imp1")
				ok(t, err)
				same(t, []int64{alone, shared}, []int64{1, 1})
			}
			if version >= 25 {
				found, err := s.Searches(t.Context())
				ok(t, err)
				same(t, found, []store.Search{{ID: "search1", Name: "Pears", Address: "/records?q=pear", CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}})
			}
			if version >= 29 {
				d := deletionOf(t, s, "del1")
				same(t, []any{d.Kind, d.ConnectionID, d.State, d.Records, d.Versions, d.TurnedAway, d.KeepsOut},
					[]any{store.DeleteRecord, "c", store.DeletionPurged, int64(1), int64(2), int64(5), true})
				same(t, removeFiles(t, s), []string{"cafe"})
			}
			if version >= 11 {
				checkAudit(t, s)
			}
			if version >= 3 && version <= 6 { // later fixtures have no app
				checkClient(t, s)
			}
			checkUpgraded(t, s)
			checkAllowance(t, s, version >= 28)
			ok(t, s.Close())
		})
	}
}

func versions(t *testing.T, schema sqlstore.Schema) (all []int64) {
	p, err := schema.Provider(&sql.DB{})
	ok(t, err)
	for _, source := range p.ListSources() {
		all = append(all, source.Version)
	}
	return all
}

// makeVersion migrates an empty database to one version and fills it.
func makeVersion(t *testing.T, schema sqlstore.Schema, db *sql.DB, version int64) {
	t.Helper()
	p, err := schema.Provider(db)
	ok(t, err)
	_, err = p.UpTo(t.Context(), version)
	ok(t, err)
	fixture, err := fixtures.ReadFile(fmt.Sprintf("testdata/upgrade_%03d.sql", version))
	ok(t, err)
	text := string(fixture)
	if schema.Dialect == goose.DialectPostgres {
		text = strings.ReplaceAll(text, " AS BLOB)", " AS BYTEA)")
	}
	_, err = db.ExecContext(t.Context(), text)
	ok(t, err)
}

// checkUpgraded reads what every fixture holds, and goes on from there.
func checkUpgraded(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, generation, err := s.Manifest(ctx, "example")
	ok(t, err)
	same(t, generation, 1)
	c, err := s.Connection(ctx, "c")
	ok(t, err)
	same(t, string(c.Binding), `{"login":"ann"}`)
	r, err := s.Run(ctx, "r1")
	ok(t, err)
	same(t, r.Status, store.RunSucceeded)
	same(t, r.ReportedRecords, ptr(int64(4)))
	events, err := s.RunEvents(ctx, "r1", 0, 0)
	ok(t, err)
	same(t, eventTypes(events), []string{"1 run.started", "2 run.completed"})
	same(t, keysOf(changes(t, s, "c")), []string{"b", "a", "gone"})
	a := record(t, s, "c", "a")
	same(t, []string{string(a.Data), a.RunID, a.SemanticTime}, []string{`{"title":"second words"}`, "r1", "2025-12-31T00:00:00.000000Z"})
	same(t, record(t, s, "c", "gone").Deleted, true)
	history, err := s.History(ctx, "c", Stream, "a", 0)
	ok(t, err)
	same(t, len(history), 1)
	same(t, string(history[0].Data), `{"title":"first words"}`)
	same(t, cursors(t, s, "c", ""), map[string]string{"items/": `{"n":2}`})
	log := cursorLog(t, s)
	preview, err := s.PreviewRewind(ctx, mark, log[1].Commit)
	ok(t, err)
	same(t, preview.RecordsChanged, 2)
	g, err := s.Gap(ctx, "gap_1")
	ok(t, err)
	same(t, g.AttemptCount, 2)
	open, err := s.OpenInteractions(ctx, "")
	ok(t, err)
	same(t, len(open), 0)
	schedule, err := s.Schedule(ctx, "c")
	ok(t, err)
	same(t, schedule.Enabled, true)
	credential, err := s.Credential(ctx, "c")
	ok(t, err)
	same(t, string(credential.Sealed), "sealed")
	sources, err := s.DeviceSources(ctx, "dexp1")
	ok(t, err)
	same(t, sources[0].RecordsPending, ptr(int64(7)))
	changed := time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC)
	same(t, evidenceOf(t, s, "c").Records, &evidence.Records{Retained: 2, ChangedAt: &changed})
	same(t, evidenceOf(t, s, "c").LastRun.Committed, ptr(int64(4)))
	if CountsAreTrue(t, s, "c", Stream) {
		t.Fatal("a store that was just opened is counted")
	}
	align(t, s)
	if !CountsAreTrue(t, s, "c", Stream) {
		t.Fatal("what was stored before is not counted")
	}
	same(t, index(t, s, never), 1) // of times, which a new store has from the beginning
	streams, err := s.Streams(ctx, "")
	ok(t, err)
	same(t, streams, []store.StreamInfo{{ConnectionID: "c", Name: Stream, Records: 2, Deleted: 1, LastSeq: 4, ChangedAt: &changed}})

	same(t, lookIDs(take(t, s, Now)), []string{"c"}) // it waited, or was never looked at
	ok(t, s.SaveAttention(ctx, []attention.Record{asked("new", "c", "")}, nil))

	l := start(t, s, "c", "r2", Now, titles)
	same(t, l.Generation, 2)
	same(t, found(t, s, "words"), []string{"a", "b"})
	same(t, gapKeys(leaseGaps(t, s, l, 1, Now)), []string{"missing"})
	same(t, put(t, s, l, titled("b", "new words", "")), store.Committed{Written: 1})
	same(t, evidenceOf(t, s, "c").Records, &evidence.Records{Retained: 2, ChangedAt: &Now})
	same(t, record(t, s, "c", "b").Version, 2)
	move(t, s, l, `{"n":3}`)
	same(t, len(cursorLog(t, s)), 3)
	ok(t, s.Check(ctx))
}

// checkRunGrants reads what fixtures hold since version 13.
func checkRunGrants(t *testing.T, s store.Store) {
	r, err := s.Run(t.Context(), "r1")
	ok(t, err)
	same(t, r.GrantID, "g1")
	waiting, err := s.ListRunRequests(t.Context(), "c")
	ok(t, err)
	same(t, []string{waiting[0].GrantID, waiting[1].GrantID}, []string{"", "g1"})
}

// checkWork reads what fixtures hold since version 3.
func checkWork(t *testing.T, s store.Store) {
	ctx := t.Context()
	due := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	same(t, take(t, s, due.Add(-time.Microsecond)), nil)
	same(t, take(t, s, due), []store.Check{{ConnectionID: "c", At: due.Add(lookHold), Touches: 7}})
	request, err := s.RunRequest(ctx, "c")
	ok(t, err)
	same(t, []any{request.Trigger, request.RecoveryOnly}, []any{store.TriggerManual, true})
	workers, err := s.Workers(ctx)
	ok(t, err)
	same(t, workers[0].Capabilities, []string{"network"})
	waiting := records(t, s, store.AttentionQuery{})
	same(t, recordIDs(waiting), []string{"att1"})
	same(t, waiting[0].Affects, []string{"items"})
	same(t, waiting[0].Revision, 2)
	targets, err := s.Targets(ctx)
	ok(t, err)
	same(t, targets[0].Endpoint, "https://push.example/1")
	shared, err := s.Setting(ctx, "shared")
	ok(t, err)
	same(t, string(shared), "value")
}

// checkDevices reads what lets a device in.
func checkDevices(t *testing.T, s store.Store) {
	ctx := t.Context()
	d, err := s.Device(ctx, "dexp1")
	ok(t, err)
	same(t, []string{d.LastAddress, d.DisplayName}, []string{"192.0.2.1", "Laptop"})
	src, err := s.DeviceSource(ctx, "dsrc1")
	ok(t, err)
	same(t, []int64{src.Generation, src.MaxBatchSeq, *src.ClockSkew}, []int64{2, 9, -3})
	same(t, string(src.Scope), `{"since":"2025-01-01T00:00:00Z"}`)
	code, err := s.DeviceCode(ctx, []byte("code"))
	ok(t, err)
	same(t, []string{code.ID, code.Status, code.DeviceID, code.SourceID}, []string{"dcode1", store.CodeConsumed, "dexp1", "dsrc1"})
	credential, err := s.DeviceCredential(ctx, []byte("token"))
	ok(t, err)
	same(t, []string{credential.ID, credential.DeviceID, credential.Status, credential.CodeID}, []string{"dcred1", "dexp1", store.DeviceActive, "dcode1"})
}
