package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// move commits one cursor of Stream, with records.
func move(t testing.TB, s store.Store, l store.Lease, cursor string, records ...slice.Record) {
	t.Helper()
	commit(t, s, l, slice.Slice{Records: records,
		Cursors: []slice.Cursor{{Stream: Stream, Cursor: jsontext.Value(cursor)}}}, Now)
}

func cursors(t testing.TB, s store.Store, connection, grant string) map[string]string {
	t.Helper()
	all, err := s.Cursors(t.Context(), connection, grant)
	ok(t, err)
	got := map[string]string{}
	for _, c := range all {
		got[c.Stream+"/"+string(c.Mode)] = string(c.Cursor)
	}
	return got
}

func cursorLog(t testing.TB, s store.Store) []store.CursorCommit {
	t.Helper()
	log, err := s.CursorLog(t.Context(), testCursor, 1000)
	ok(t, err)
	return log
}

// testCursor is the cursor that tests move.
var testCursor = store.CursorID{ConnectionID: "c", Stream: Stream}

func testCursors(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream}, store.StreamSpec{Name: "others"})
	same(t, cursors(t, s, "c", ""), nil)
	commit(t, s, l, slice.Slice{Cursors: []slice.Cursor{
		{Stream: Stream, Cursor: jsontext.Value(`{"page": 1}`)},
		{Stream: "others", Cursor: jsontext.Value(`"x"`)},
		{Stream: Stream, GrantID: "g", Cursor: jsontext.Value(`7`)},
	}}, Now)
	same(t, cursors(t, s, "c", ""), map[string]string{"items/": `{"page": 1}`, "others/": `"x"`})
	same(t, cursors(t, s, "c", "g"), map[string]string{"items/": `7`})
	all, err := s.Cursors(ctx, "c", "")
	ok(t, err)
	same(t, all[0], store.Cursor{CursorID: testCursor, Cursor: jsontext.Value(`{"page": 1}`), Commit: all[0].Commit,
		RunID: "r1",
		At:    Now})

	commit(t, s, l, slice.Slice{Cursors: []slice.Cursor{{Stream: Stream},
		{Stream: "others", Cursor: jsontext.Value(` null`)}}}, Now)
	same(t, cursors(t, s, "c", ""), nil)
	same(t, cursors(t, s, "c", "g"), map[string]string{"items/": `7`})
	same(t, len(cursorLog(t, s)), 2)
	move(t, s, l, `{"page":2}`)
	same(t, cursors(t, s, "c", ""), map[string]string{"items/": `{"page":2}`})
}

func testCursorModes(t *testing.T, s store.Store) {
	t.Attr("spec", "PB-A08")
	l := begin(t, s, "c", "r1")
	move(t, s, l, `{"steady":1}`)
	for i := range 3 {
		commit(t, s, l, slice.Slice{Cursors: []slice.Cursor{
			{Stream: Stream, Mode: protocol.CatchUp, Cursor: fmt.Appendf(nil, `{"back":%d}`, i)},
		}}, Now)
	}
	same(t, cursors(t, s, "c", ""), map[string]string{"items/": `{"steady":1}`, "items/catch_up": `{"back":2}`})
	same(t, len(cursorLog(t, s)), 1)
	back := testCursor
	back.Mode = protocol.CatchUp
	log, err := s.CursorLog(t.Context(), back, 0)
	ok(t, err)
	same(t, len(log), 3)
}

// CursorHistory is what the store under test must be opened with: the suite checks the limit.
const CursorHistory = 20

func testCursorLog(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	move(t, s, l, `{"n":0}`, live("a", "0"))
	first := cursorLog(t, s)
	same(t, first, []store.CursorCommit{{
		Commit: first[0].Commit, Cursor: jsontext.Value(`{"n":0}`), RunID: "r1", Cause: store.CauseSlice,
		StreamSeq: record(t, s, "c", "a").Seq, At: Now,
	}})
	commit(t, s, l, slice.Slice{Cursors: []slice.Cursor{{Stream: Stream, GrantID: "g", Cursor: jsontext.Value(`0`)}}}, Now)

	for n := 1; n <= 2*CursorHistory; n++ {
		move(t, s, l, fmt.Sprintf(`{"n":%d}`, n), live("a", fmt.Sprint(n)))
		log := cursorLog(t, s)
		same(t, len(log), min(n+1, CursorHistory))
		for i, c := range log {
			same(t, string(c.Cursor), fmt.Sprintf(`{"n":%d}`, n-i))
			if i > 0 && (c.Commit >= log[i-1].Commit || c.StreamSeq >= log[i-1].StreamSeq) {
				t.Fatalf("entry %d does not come before: %+v", i, log)
			}
		}
	}
	newest, err := s.CursorLog(t.Context(), testCursor, 3)
	ok(t, err)
	same(t, newest, cursorLog(t, s)[:3])
	_, err = s.PreviewRewind(t.Context(), testCursor, first[0].Commit) // deleted from the log
	fails(t, err, store.ErrNotFound)
	granted := testCursor
	granted.GrantID = "g"
	log, err := s.CursorLog(t.Context(), granted, 0)
	ok(t, err)
	same(t, len(log), 1) // each cursor has its own limit
}

// testPaceIsNoMove commits one position repeatedly with another pace. That must add no commit, or earlier positions
// would be pushed out of the log.
func testPaceIsNoMove(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	move(t, s, l, `{"n":0}`, live("a", "0"))
	move(t, s, l, `{"n":1}`)
	before := cursorLog(t, s)
	for i := range 2 * CursorHistory {
		paced := fmt.Sprintf(`{"n":1,"pacing_interval_ms":%d,"pacing_recorded_at_ms":%d}`, 500-i, i)
		move(t, s, l, paced, live("a", fmt.Sprint(i)))
		same(t, cursors(t, s, "c", ""), map[string]string{"items/": paced})
		log := cursorLog(t, s)
		same(t, string(log[0].Cursor), paced)
		log[0].Cursor = before[0].Cursor
		same(t, log, before)
	}
	move(t, s, l, `{"n":2,"pacing_interval_ms":1}`)
	same(t, len(cursorLog(t, s)), 3)
	l = next(t, s, l, "r2", Now)
	move(t, s, l, `{"n":2,"pacing_interval_ms":2}`) // each run has its own commit
	same(t, len(cursorLog(t, s)), 4)
}

func testRewind(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	move(t, s, l, `{"n":1}`, live("a", "1"), live("b", "1"))
	move(t, s, l, `{"n":2}`, live("b", "2"), live("c", "2"), tombstone("d"))
	move(t, s, l, `{"n":3}`, live("c", "3"), live("a", "1"))
	finish(t, s, l, Now)
	log := cursorLog(t, s)
	records := changes(t, s, "c")

	preview, err := s.PreviewRewind(ctx, testCursor, log[2].Commit)
	ok(t, err)
	same(t, preview, store.RewindPreview{From: log[0], To: log[2], RecordsChanged: 3, CommitsUndone: 2})
	preview, err = s.PreviewRewind(ctx, testCursor, log[1].Commit)
	ok(t, err)
	same(t, preview, store.RewindPreview{From: log[0], To: log[1], RecordsChanged: 1, CommitsUndone: 1})
	same(t, cursorLog(t, s), log)

	at := Now.Add(time.Hour)
	rewound, err := s.Rewind(ctx, testCursor, log[2].Commit, at)
	ok(t, err)
	same(t, rewound, store.CursorCommit{Commit: rewound.Commit, Cursor: jsontext.Value(`{"n":1}`),
		Cause: store.CauseRewind, StreamSeq: log[2].StreamSeq, At: at})
	same(t, cursors(t, s, "c", ""), map[string]string{"items/": `{"n":1}`})
	same(t, cursorLog(t, s), append([]store.CursorCommit{rewound}, log...))
	same(t, changes(t, s, "c"), records)

	// An undo: the rewind is a commit like any other.
	undo, err := s.PreviewRewind(ctx, testCursor, log[0].Commit)
	ok(t, err)
	same(t, undo, store.RewindPreview{From: rewound, To: log[0], RecordsChanged: 0, CommitsUndone: 1})
	_, err = s.Rewind(ctx, testCursor, log[0].Commit, at)
	ok(t, err)
	same(t, cursors(t, s, "c", ""), map[string]string{"items/": `{"n":3}`})
	again, err := s.PreviewRewind(ctx, testCursor, rewound.Commit)
	ok(t, err)
	same(t, again.RecordsChanged, 3) // from the commit that the rewind returned to

	for _, id := range []store.CursorID{testCursor, {ConnectionID: "c", Stream: Stream, Mode: protocol.CatchUp},
		{ConnectionID: "c", Stream: "others"}} {
		commit := int64(1 << 40)
		if id != testCursor {
			commit = log[0].Commit // of another cursor
		}
		_, err = s.PreviewRewind(ctx, id, commit)
		fails(t, err, store.ErrNotFound)
		_, err = s.Rewind(ctx, id, commit, at)
		fails(t, err, store.ErrNotFound)
	}
	_, err = s.Rewind(ctx, store.CursorID{ConnectionID: "nowhere"}, 1, at)
	fails(t, err, store.ErrNotFound)
}

func testRewindWhileRunning(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	move(t, s, l, `{"n":1}`)
	move(t, s, l, `{"n":2}`)
	log := cursorLog(t, s)
	_, err := s.Rewind(ctx, testCursor, log[1].Commit, Now)
	var active *store.ActiveRunError
	if !errors.As(err, &active) || active.RunID != "r1" {
		t.Fatalf("error is %v, want an *ActiveRunError that names r1", err)
	}
	same(t, cursorLog(t, s), log)

	// An expired run cannot move the cursor after the owner's rewind.
	_, err = s.Rewind(ctx, testCursor, log[1].Commit, Now.Add(ttl))
	ok(t, err)
	_, err = s.CommitSlice(ctx, l,
		slice.Slice{Cursors: []slice.Cursor{{Stream: Stream, Cursor: jsontext.Value(`{"n":3}`)}}}, Now.Add(ttl))
	fails(t, err, store.ErrLeaseLost)
	same(t, cursors(t, s, "c", ""), map[string]string{"items/": `{"n":1}`})
	r1, err := s.Run(ctx, "r1")
	ok(t, err)
	same(t, r1.Status, store.RunAbandoned)
	fresh := start(t, s, "c", "r2", Now.Add(ttl))
	if fresh.Generation <= l.Generation {
		t.Fatalf("generation %d follows %d", fresh.Generation, l.Generation)
	}
}
