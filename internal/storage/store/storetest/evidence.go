package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// evidenceOf reads the evidence of one connection.
func evidenceOf(t testing.TB, s store.Store, connection string) evidence.Evidence {
	t.Helper()
	all, err := s.Evidence(t.Context(), evidence.Query{ConnectionIDs: []string{connection}})
	ok(t, err)
	same(t, evidenceIDs(all), []string{connection})
	return all[0]
}

func evidenceIDs(all []evidence.Evidence) (ids []string) {
	for _, e := range all {
		ids = append(ids, e.Connection.ID)
	}
	return ids
}

// declare creates a connection with the manifest evidenceManifest.
func declare(t testing.TB, s store.Store, id string) {
	t.Helper()
	generation, err := s.PutManifest(t.Context(), "example", []byte(evidenceManifest), Now)
	ok(t, err)
	ok(t, s.CreateConnection(t.Context(), store.Connection{
		ID: id, ConnectorID: "example", DisplayName: "Example", Status: store.ConnectionActive,
		SourceKind:         store.SourceAccount,
		ManifestGeneration: generation, CreatedAt: Now, UpdatedAt: Now,
	}))
}

// testEvidencePages checks that pages follow each other by id, and that requested connections are returned with any
// status.
func testEvidencePages(t *testing.T, s store.Store) {
	read := func(q evidence.Query) []string {
		t.Helper()
		all, err := s.Evidence(t.Context(), q)
		ok(t, err)
		return evidenceIDs(all)
	}
	same(t, read(evidence.Query{}), nil)
	for _, id := range []string{"d", "b", "e", "a", "c"} {
		connect(t, s, id)
	}
	ok(t, s.UpdateConnection(t.Context(), store.Connection{ID: "c", Status: store.ConnectionRevoked, UpdatedAt: Now}))
	same(t, read(evidence.Query{}), []string{"a", "b", "d", "e"})
	same(t, read(evidence.Query{Limit: 2}), []string{"a", "b"})
	same(t, read(evidence.Query{After: "b", Limit: 1}), []string{"d"})
	same(t, read(evidence.Query{After: "e"}), nil)
	same(t, read(evidence.Query{ConnectionIDs: []string{"e", "c", "nowhere", "a", "e"}}), []string{"a", "c", "e"})
	same(t, read(evidence.Query{ConnectionIDs: []string{}}), nil)

	many := []string{"b"}
	for i := range 10_000 {
		many = append(many, fmt.Sprint("nowhere-", i))
	}
	same(t, read(evidence.Query{ConnectionIDs: many}), []string{"b"})
}

// testEvidenceRange checks that data of a revoked connection between two others is added to neither.
func testEvidenceRange(t *testing.T, s store.Store) {
	for i, id := range []string{"a", "b", "c"} {
		l := begin(t, s, id, "r-"+id)
		for n := range i + 1 {
			put(t, s, l, live(fmt.Sprint(n), "x"))
		}
		ok(t, s.PutSchedule(t.Context(), store.Schedule{ConnectionID: id, IntervalSeconds: int64(i), CreatedAt: Now,
			UpdatedAt: Now}))
	}
	ok(t, s.UpdateConnection(t.Context(), store.Connection{ID: "b", Status: store.ConnectionRevoked, UpdatedAt: Now}))
	all, err := s.Evidence(t.Context(), evidence.Query{})
	ok(t, err)
	same(t, evidenceIDs(all), []string{"a", "c"})
	same(t, []int64{all[0].Records.Retained, all[1].Records.Retained}, []int64{1, 3})
	same(t, []int64{all[0].Schedule.IntervalSeconds, all[1].Schedule.IntervalSeconds}, []int64{0, 2})
	same(t, []string{all[0].Active.ID, all[1].Active.ID}, []string{"r-a", "r-c"})
}

// testEvidenceNew checks that a connection that never ran has only measurements that are known to be empty.
func testEvidenceNew(t *testing.T, s store.Store) {
	declare(t, s, "c")
	for range 2 { // the second time the manifest is cached
		got := evidenceOf(t, s, "c")
		same(t, got.Refresh.MaximumStalenessSeconds, 86400)
		got.Refresh = nil
		same(t, got, evidence.Evidence{
			Connection: evidence.Connection{ID: "c", ConnectorID: "example", DisplayName: "Example",
				Status:     evidence.StatusActive,
				SourceKind: "account", CreatedAt: Now},
			Streams: []evidence.Stream{{Name: "items", Required: true}, {Name: "lists", Required: true},
				{Name: "extras", Policy: "inventory_only"}},
			Records: &evidence.Records{},
			Gaps:    &evidence.Gaps{Recovered: ptr(int64(0)), Terminal: ptr(int64(0))},
		})
	}
}

// testEvidenceManifests checks that a missing or unreadable manifest is reported, and does not hide the stored
// streams.
func testEvidenceManifests(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: "b"}, store.StreamSpec{Name: "a"})
	want := []evidence.Stream{{Name: "a", Required: true, Retained: ptr(int64(0))},
		{Name: "b", Required: true, Retained: ptr(int64(0))}}
	unread := func() {
		t.Helper()
		e := evidenceOf(t, s, "c")
		same(t, e.Unreadable, []evidence.Family{evidence.FamilyManifest})
		same(t, e.Streams, want)
	}
	none := evidenceOf(t, s, "c") // no manifest was ever stored, so none is unreadable
	same(t, len(none.Unreadable), 0)
	same(t, none.Streams, want)
	finish(t, s, l, Now)
	generation := func(body string) {
		t.Helper()
		n, err := s.PutManifest(ctx, "example", []byte(body), Now)
		ok(t, err)
		ok(t, s.UpdateConnection(ctx, store.Connection{ID: "c", Status: store.ConnectionActive, ManifestGeneration: n,
			UpdatedAt: Now}))
	}
	generation(`{"not":"a manifest"}`)
	unread()
	unread()
	generation(evidenceManifest)
	e := evidenceOf(t, s, "c")
	same(t, e.Unreadable, nil)
	same(t, len(e.Streams), 3)
	same(t, e.Streams[0].Retained, nil) // no run has had it in scope
	// Streams outside the owner's profile are accepted, and no longer required. An undeclared or unreadable profile
	// leaves out nothing.
	generation(strings.Replace(evidenceManifest, `"streams"`,
		`"profiles":[{"id":"first","streams":[{"name":"`+e.Streams[0].Name+`"}]}],"streams"`, 1))
	for body, want := range map[string]string{`{"profile":"first"}`: "[ deferred]", `{"profile":"second"}`: "[ ]",
		`[{"stream":"x"}]`: "[ ]", `nothing`: "[ ]"} {
		ok(t, s.PutSetting(ctx, store.SelectionSetting+"c", []byte(body), Now))
		chosen := evidenceOf(t, s, "c")
		same(t, chosen.Unreadable, nil)
		same(t, fmt.Sprint([]any{chosen.Streams[0].Policy, chosen.Streams[1].Policy}), want)
		same(t, chosen.Streams[1].Required, e.Streams[1].Required && want == "[ ]")
	}
	ok(t, s.PutSetting(ctx, store.SelectionSetting+"c", []byte(`{}`), Now))
	// So are streams that the owner deleted, with their gaps.
	deleted := start(t, s, "c", "r2", Now, store.StreamSpec{Name: e.Streams[1].Name},
		store.StreamSpec{Name: e.Streams[0].Name})
	missed := missingGap("k")
	missed.Stream = e.Streams[1].Name
	commit(t, s, deleted, slice.Slice{Gaps: []slice.Gap{missed}}, Now)
	finish(t, s, deleted, Now)
	same(t, len(evidenceOf(t, s, "c").Gaps.Groups), 1)
	ask(t, s, "del", store.DeletionScope{Kind: store.DeleteStream, ConnectionID: "c", Stream: e.Streams[1].Name})
	ask(t, s, "part", store.DeletionScope{Kind: store.DeleteRange, ConnectionID: "c", Stream: e.Streams[0].Name,
		Since: "2026"})
	for _, want := range []string{"[ deferred]", "[ ]"} {
		now := evidenceOf(t, s, "c")
		same(t, now.Unreadable, nil)
		same(t, fmt.Sprint([]any{now.Streams[0].Policy, now.Streams[1].Policy}), want)
		same(t, len(now.Gaps.Groups), map[string]int{"[ ]": 1}[want])
		if want == "[ deferred]" {
			ok(t, s.UndoDeletion(ctx, "del", Now))
			advance(t, s, Now)
		}
	}
}

// testEvidenceFacts checks that each stream has the facts of the newest run that measured it, and that missing
// measurements are absent.
func testEvidenceFacts(t *testing.T, s store.Store) {
	ctx := t.Context()
	declare(t, s, "c")
	specs := []store.StreamSpec{{Name: "items"}, {Name: "lists"}, {Name: "undeclared"}}
	l := start(t, s, "c", "r1", Now, specs...)
	put(t, s, l, live("a", "1"), live("b", "1"), slice.Record{Stream: "undeclared", Key: "u", Data: []byte(`{}`),
		EmittedAt: "2026-03-04T05:06:07Z"})
	first, second := Now.Add(time.Minute), Now.Add(time.Hour)
	ok(t, s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"},
		Facts: []byte(`{"streams":[
		{"stream":"items","collected":2,"considered":0,"covered":null,"checkpoint":"committed","skipped":null},
		{"stream":"lists","collected":1,"checkpoint":"staged","pending_detail_gaps":3,"skipped":{"reason":"odd",
		"recovery_action":"not_retriable","continuation":{}}},
		{"stream":"nowhere","collected":1}]}`)}, first))
	l = start(t, s, "c", "r2", second, specs...)
	ok(t, s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunFailed, Event: slice.Event{Type: "run.failed"},
		Facts: []byte(`{"streams":[{"stream":"items","collected":7,"considered":9,"covered":8,"checkpoint":"withheld"}]}`)},
		second))
	// a run without measurements hides nothing
	for i, facts := range []string{``, `null`, `{}`, `[1]`, `{"streams":[1,{}]}`, `{`} {
		l = start(t, s, "c", fmt.Sprint("r3-", i), second, specs...)
		ok(t, s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"},
			Facts: []byte(facts)}, second))
	}

	e := evidenceOf(t, s, "c")
	same(t, e.Records, &evidence.Records{Retained: 3, ChangedAt: &Now})
	same(t, e.Streams, []evidence.Stream{
		{Name: "items", Required: true, Retained: ptr(int64(2)),
			Fact: &evidence.Fact{RunID: "r2", RunStatus: evidence.RunFailed, At: second,
				Collected: 7, Considered: ptr(int64(9)), Covered: ptr(int64(8)), Checkpoint: evidence.CheckpointWithheld}},
		{Name: "lists", Required: true, Retained: ptr(int64(0)),
			Fact: &evidence.Fact{RunID: "r1", RunStatus: evidence.RunSucceeded, At: first,
				Collected: 1, Checkpoint: "staged", Skip: &evidence.Skip{Reason: "odd", Action: "not_retriable"}}},
		{Name: "extras", Policy: "inventory_only"},
	})
	same(t, e.Unreadable, nil)

	l = start(t, s, "c", "r4", second, specs...)
	ok(t, s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"},
		Facts: []byte(`{"streams":[{"stream":"items","collected":1,"considered":0},{"stream":"lists","collected":"many"}]}`)},
		second))
	e = evidenceOf(t, s, "c")
	same(t, e.Streams[0].Fact.Considered, ptr(int64(0))) // measured as zero
	same(t, e.Streams[0].Fact.Covered, nil)
	same(t, e.Streams[1].Fact, nil)
	same(t, e.Unreadable, []evidence.Family{evidence.FamilyRecords})
}

// testRuntime checks that the newest report of each component is stored, and that a component without a report is
// absent.
func testRuntime(t *testing.T, s store.Store) {
	read := func() []evidence.Component {
		t.Helper()
		rt, err := s.Runtime(t.Context())
		ok(t, err)
		return rt.Components
	}
	same(t, len(read()), 0)
	scheduler := evidence.Component{Name: "scheduler", Status: evidence.ProbeOK, At: Now, EverySeconds: ptr(int64(30))}
	browser := evidence.Component{Name: "browser", Status: evidence.ProbeFailed, Reason: "not_installed", At: Now}
	ok(t, s.PutComponent(t.Context(), scheduler))
	ok(t, s.PutComponent(t.Context(), browser))
	same(t, read(), []evidence.Component{browser, scheduler})
	scheduler.Status, scheduler.At, scheduler.EverySeconds = evidence.ProbeFailed, Now.Add(time.Minute), nil
	ok(t, s.PutComponent(t.Context(), scheduler))
	same(t, read(), []evidence.Component{browser, scheduler})
}
