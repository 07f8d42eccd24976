package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// checkVersion29 reads every table that testdata/version_029.sql fills. Parts that change something come last.
func checkVersion29(t *testing.T, s store.Store) {
	ctx := t.Context()
	checkWork(t, s)
	checkAccess(t, s)
	checkEntries(t, s)
	checkWaits(t, s)
	checkRunGrants(t, s)
	checkDevices(t, s)
	checkSignIn(t, s)
	checkFiles(t, s)
	checkAudit(t, s)
	confirmed, err := s.ConfirmedConnector(ctx, "weather")
	ok(t, err)
	same(t, confirmed.Variables, []string{"WEATHER_KEY"})
	profile, err := s.BrowserProfile(ctx, "c", "example__c")
	ok(t, err)
	same(t, profile, store.BrowserProfile{ConnectionID: "c", Name: "example__c", Generation: 4, AccountMAC: "ab12",
		Sealed: []byte("sealed profile"), SealedAt: time.Date(2026, 1, 1, 0, 6, 0, 0, time.UTC), Bytes: 2048})
	searches, err := s.Searches(ctx)
	ok(t, err)
	same(t, searches, []store.Search{{ID: "search1", Name: "Pears", Address: "/records?q=pear",
		CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}})
	runtime, err := s.Runtime(ctx)
	ok(t, err)
	same(t, runtime.Components, []evidence.Component{{Name: "scheduler", Status: evidence.ProbeOK,
		At: time.Date(2026, 1, 1, 0, 2, 0, 0, time.UTC), EverySeconds: ptr(int64(30))}})
	checkCollected(t, s)
	checkAllowance(t, s)
	checkDeletions(t, s)
}

// checkFiles reads the file of a record, and a file that the owner imported.
func checkFiles(t *testing.T, s store.Store) {
	ctx := t.Context()
	const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	b, err := s.FindBlob(ctx, hash, nil)
	ok(t, err)
	same(t, b, store.Blob{SHA256: hash, Bytes: 4, Field: "title", MIME: "text/plain", Name: "test.txt"})
	_, room := diskUsageOf(t, s, "c", "items")
	same(t, []int64{room.Files, room.FileBytes}, []int64{1, 4})
	i, err := s.Import(ctx, "imp1")
	ok(t, err)
	same(t, []any{i.Path, i.Name, i.SHA256, *i.Bytes, i.RunID, i.New},
		[]any{"export.zip", "My export.zip", "beef", int64(2048), "r1", int64(2)})
	alone, shared, err := s.ImportRecords(ctx, "imp1")
	ok(t, err)
	same(t, []int64{alone, shared}, []int64{1, 1})
}

// checkDeletions reads the receipt of a finished deletion, and undoes one that only hides its record.
func checkDeletions(t *testing.T, s store.Store) {
	d := deletionOf(t, s, "del1")
	same(t, []any{d.Kind, d.ConnectionID, d.State, d.Records, d.Versions, d.TurnedAway, d.BlocksReturn},
		[]any{store.DeleteRecord, "c", store.DeletionPurged, int64(1), int64(2), int64(5), true})
	same(t, removeFiles(t, s), []string{"cafe"})
	same(t, deletionOf(t, s, "del2").State, store.DeletionHidden)
	ok(t, s.UndoDeletion(t.Context(), "del2", Now))
	advance(t, s, Now)
	same(t, deletionOf(t, s, "del2").State, store.DeletionUndone)
	hidden, err := s.Record(t.Context(), "d", "notes", "hidden")
	ok(t, err)
	same(t, string(hidden.Data), `{"title":"hidden words"}`)
	same(t, namesOfStream(t, s, "d", "notes", "hidden"), []string{"diary.txt"})
}

// checkCollected reads what runs and devices brought, and continues from there with another run.
func checkCollected(t *testing.T, s store.Store) {
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
	same(t, []string{string(a.Data), a.RunID, a.SemanticTime},
		[]string{`{"title":"second words"}`, "r1", "2025-12-31T00:00:00.000000Z"})
	same(t, record(t, s, "c", "gone").Deleted, true)
	history, err := s.History(ctx, "c", Stream, "a", 0)
	ok(t, err)
	same(t, len(history), 1)
	same(t, string(history[0].Data), `{"title":"first words"}`)
	same(t, cursors(t, s, "c", ""), map[string]string{"items/": `{"n":2}`})
	log := cursorLog(t, s)
	preview, err := s.PreviewRewind(ctx, testCursor, log[1].Commit)
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
	backfillAll(t, s)
	if !CountsAreTrue(t, s, "c", Stream) {
		t.Fatal("what was stored before is not counted")
	}
	same(t, index(t, s, impossibleSize), 1) // of times, which the fixture dropped
	streams, err := s.Streams(ctx, "c")
	ok(t, err)
	same(t, streams, []store.StreamInfo{{ConnectionID: "c", Name: Stream, Records: 2, Deleted: 1, LastSeq: 4,
		ChangedAt: &changed}})

	same(t, checkIDs(claimAllChecks(t, s, Now)), []string{"c"}) // it was due, or never checked
	ok(t, s.SaveAttention(ctx, []attention.AttentionRecord{newAttention("new", "c", "")}, nil))

	l := start(t, s, "c", "r2", Now, titles)
	same(t, l.Generation, 2)
	same(t, searchedKeys(t, s, "words"), []string{"a", "b"})
	same(t, gapKeys(leaseGaps(t, s, l, 1, Now)), []string{"missing"})
	same(t, put(t, s, l, titled("b", "new words", "")), store.Committed{Written: 1})
	same(t, evidenceOf(t, s, "c").Records, &evidence.Records{Retained: 2, ChangedAt: &Now})
	same(t, record(t, s, "c", "b").Version, 2)
	move(t, s, l, `{"n":3}`)
	same(t, len(cursorLog(t, s)), 3)
	ok(t, s.Check(ctx))
}

// checkRunGrants reads which grant requested a run.
func checkRunGrants(t *testing.T, s store.Store) {
	r, err := s.Run(t.Context(), "r1")
	ok(t, err)
	same(t, r.GrantID, "g1")
	waiting, err := s.ListRunRequests(t.Context(), "c")
	ok(t, err)
	same(t, []string{waiting[0].GrantID, waiting[1].GrantID}, []string{"", "g1"})
}

// checkWork reads the scheduler's state of a connection.
func checkWork(t *testing.T, s store.Store) {
	ctx := t.Context()
	due := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	same(t, claimAllChecks(t, s, due.Add(-time.Microsecond)), nil)
	same(t, claimAllChecks(t, s, due), []store.DueCheck{{ConnectionID: "c", At: due.Add(checkHold), ChangeCount: 7}})
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

// checkDevices reads a device, its source, its code and its credential.
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
	same(t, []string{code.ID, code.Status, code.DeviceID, code.SourceID},
		[]string{"dcode1", store.CodeConsumed, "dexp1", "dsrc1"})
	credential, err := s.DeviceCredential(ctx, []byte("token"))
	ok(t, err)
	same(t, []string{credential.ID, credential.DeviceID, credential.Status, credential.CodeID},
		[]string{"dcred1", "dexp1", store.DeviceActive, "dcode1"})
}

// checkAccess reads sessions, tokens, grants and apps.
func checkAccess(t *testing.T, s store.Store) {
	ctx := t.Context()
	at := time.Date(2026, 1, 1, 0, 6, 0, 0, time.UTC)
	session, err := s.Session(ctx, []byte("session hash"), at)
	ok(t, err)
	same(t, string(session.Data), "session")
	token, err := s.OwnerToken(ctx, []byte("owner token hash"))
	ok(t, err)
	same(t, token.ID, "ot1")
	app, err := s.OAuthClient(ctx, "cl1", at)
	ok(t, err)
	same(t, []any{app.Name, app.RedirectURIs}, []any{"Planner", []string{"https://planner.example/back"}})
	g, err := s.GrantByToken(ctx, []byte("grant token hash"))
	ok(t, err)
	same(t, []any{g.ID, g.Mode, string(g.Scope), g.Uses}, []any{"g1", store.GrantContinuous, `{"streams":[]}`, int64(3)})
	uses, err := s.GrantUses(ctx, "g1")
	ok(t, err)
	same(t, uses, []store.GrantUse{{Stream: "items", Reads: 3, Records: 40, LastUsedAt: at.Add(-time.Minute)}})
	undecided, err := s.GrantRequest(ctx, "q2", at)
	ok(t, err)
	same(t, undecided.ClientName, "Reader")
	_, err = s.RedeemCode(ctx, []byte("code hash"), []byte("new"), accept, at)
	fails(t, err, store.ErrExists) // it was used
	g, err = s.Grant(ctx, "g1")
	ok(t, err)
	same(t, g.RevokedAt, &at)
}

// checkEntries reads scopes of tokens, known browsers, passkeys and recovery codes.
func checkEntries(t *testing.T, s store.Store) {
	ctx := t.Context()
	at := time.Date(2026, 1, 1, 0, 6, 0, 0, time.UTC)
	token, err := s.OwnerToken(ctx, []byte("owner token hash"))
	ok(t, err)
	same(t, token.Scopes, []string{"read", "run"})
	known, err := s.BrowserKnown(ctx, []byte("browser hash"), at.Add(-time.Hour))
	ok(t, err)
	same(t, known, true)
	keys, err := s.Passkeys(ctx)
	ok(t, err)
	same(t, keys, []store.Passkey{{ID: "pk1", Host: "localhost", Label: "Desk", Credential: []byte("credential"),
		CreatedAt: at.Add(-6 * time.Minute)}})
	codes, err := s.RecoveryCodes(ctx)
	ok(t, err)
	same(t, codes, store.RecoveryCodes{Made: 2, Left: 1, CreatedAt: ptr(at.Add(-6 * time.Minute))})
	fails(t, s.UseRecoveryCode(ctx, []byte("code two"), at), store.ErrNotFound)
	ok(t, s.UseRecoveryCode(ctx, []byte("code one"), at))
}

// accept accepts every request for a code.
func accept(store.GrantRequest) error { return nil }
