package storetest

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// countByHand counts the live records of a stream by reading them all.
func countByHand(
	t testing.TB, s store.Store, connection, stream string,
) (want store.StoredStream, days []store.DayCount) {
	t.Helper()
	want = store.StoredStream{ConnectionID: connection, Stream: stream}
	all, err := s.ListRecords(t.Context(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: connection, Stream: stream}, Limit: 1 << 20})
	ok(t, err)
	for _, r := range all {
		want.Records++
		want.Bytes += int64(len(r.Data))
		at, err := time.Parse(time.RFC3339, r.SemanticTime)
		if err != nil || at.Year() < 1900 || at.Year() > 2199 {
			want.Undated++
			continue
		}
		day := at.Format(time.DateOnly)
		i, found := slices.BinarySearchFunc(days, day,
			func(d store.DayCount, day string) int { return strings.Compare(d.Day, day) })
		if !found {
			days = slices.Insert(days, i, store.DayCount{ConnectionID: connection, Stream: stream, Day: day})
		}
		days[i].Records++
	}
	if len(days) > 0 {
		want.First, want.Last = days[0].Day, days[len(days)-1].Day
	}
	return want, days
}

// CountsAreTrue requires that the counts of a stream match its records. It returns whether all of them are counted.
func CountsAreTrue(t testing.TB, s store.Store, connection, stream string) (counted bool) {
	t.Helper()
	want, days := countByHand(t, s, connection, stream)
	k, err := s.StoredSummary(t.Context(), "2026-01-01", "2026-12-31")
	ok(t, err)
	i := slices.IndexFunc(k.Streams, func(s store.StoredStream) bool {
		return s.ConnectionID == connection &&
			s.Stream == stream
	})
	if i < 0 {
		t.Fatalf("stream %s of %s is not among what is kept", stream, connection)
	}
	got := k.Streams[i]
	same(t, got.Records, want.Records)
	if !got.Counted {
		if got.Done >= got.Seen {
			t.Fatalf("%+v is not counted, and nothing is left to count", got)
		}
		return false
	}
	got.ChangedAt, got.Deleted, got.Done, got.Seen, got.Counted = nil, 0, 0, 0, false
	same(t, got, want)
	read, err := s.DayCounts(t.Context(), store.DayQuery{ConnectionID: connection, Stream: stream})
	ok(t, err)
	same(t, read, days)
	inMarch := slices.DeleteFunc(slices.Clone(days), func(d store.DayCount) bool {
		return d.Day < "2026-03-01" ||
			d.Day > "2026-03-04"
	})
	read, err = s.DayCounts(t.Context(), store.DayQuery{ConnectionID: connection, Stream: stream, From: "2026-03-01",
		To: "2026-03-04"})
	ok(t, err)
	same(t, read, inMarch)
	near := slices.DeleteFunc(slices.Clone(days), func(d store.DayCount) bool {
		return d.Day < "2026-03-01" &&
			slices.ContainsFunc(days, func(o store.DayCount) bool { return d.Day < o.Day && o.Day < "2026-03-01" }) ||
			d.Day > "2026-03-03" && slices.ContainsFunc(days, func(o store.DayCount) bool {
				return "2026-03-03" < o.Day &&
					o.Day < d.Day
			})
	})
	read, err = s.DayCounts(t.Context(), store.DayQuery{ConnectionID: connection, Stream: stream, From: "2026-03-01",
		To: "2026-03-03", Nearest: true})
	ok(t, err)
	same(t, read, near)
	return true
}

// CountsOfConnection requires that months and the last day of a connection match its streams.
func CountsOfConnection(t testing.TB, s store.Store, connection string, streams ...string) {
	t.Helper()
	const to = "2026-04-01"
	months := map[string]int64{}
	var last int64
	for _, stream := range streams {
		_, all := countByHand(t, s, connection, stream)
		for _, d := range all {
			months[d.Day[:7]] += d.Records
			if d.Day == to {
				last += d.Records
			}
		}
	}
	k, err := s.StoredSummary(t.Context(), to, to)
	ok(t, err)
	gotMonths := map[string]int64{}
	var gotLast int64
	for _, d := range k.Last {
		if d.ConnectionID == connection {
			same(t, d.Day, to)
			gotLast += d.Records
		}
	}
	same(t, gotLast, last)
	for _, m := range k.Months {
		if m.ConnectionID == connection {
			gotMonths[m.Month] += m.Records
		}
	}
	same(t, gotMonths, months)
}

// countsOfDays requires that the days of all connections match those of all counted streams, and that days and months
// are in order.
func countsOfDays(t testing.TB, s store.Store) {
	t.Helper()
	const from, to = "2026-01-01", "2026-12-31"
	k, err := s.StoredSummary(t.Context(), from, to)
	ok(t, err)
	read, err := s.DayCounts(t.Context(), store.DayQuery{From: from, To: to})
	ok(t, err)
	counted, days, got := map[[2]string]bool{}, map[string]int64{}, map[string]int64{}
	for _, s := range k.Streams {
		counted[[2]string{s.ConnectionID, s.Stream}] = s.Counted
	}
	for _, d := range read {
		if counted[[2]string{d.ConnectionID, d.Stream}] {
			days[d.Day] += d.Records
		}
	}
	for _, d := range k.Days {
		got[d.Day] += d.Records
	}
	same(t, got, days)
	same(t, slices.IsSortedFunc(k.Days, func(a, b store.DayCount) int { return strings.Compare(a.Day, b.Day) }), true)
	same(t, slices.IsSortedFunc(k.Months, func(a, b store.MonthCount) int {
		return cmp.Or(strings.Compare(a.ConnectionID, b.ConnectionID), strings.Compare(a.Month, b.Month))
	}), true)
}

// countDays are the days that the model draws from.
var countDays = []string{"", "1899-12-31", "1900-01-01", "2025-12-31", "2026-03-01", "2026-03-04", "2026-04-01",
	"2199-12-31", "2200-01-01"}

// withDays returns a record that was made on one day and moved on another, with the time of one of them.
func withDays(rt *rapid.T, key, timeField string) slice.Record {
	made, moved := rapid.SampledFrom(countDays).Draw(rt, "made"), rapid.SampledFrom(countDays).Draw(rt, "moved")
	r := slice.Record{Stream: Stream, Key: key, EmittedAt: "x",
		Data: fmt.Appendf(nil, `{"id":%q,"made":%q,"moved":%q,"title":%q}`,
			key, made, moved, strings.Repeat("ü", rapid.IntRange(0, 2).Draw(rt, "size")))}
	if at := map[string]string{"made": made, "moved": moved}[timeField]; at != "" {
		r.SemanticTime = at + "T00:00:00.000000Z"
	}
	return r
}

// testCountModel makes random changes to records and time fields, and compares the counts with a count by hand after
// each step. Changes include commits, edits that move a record to another day, deletions, repeated slices, rewinds,
// undone imports, other declarations, and a partly counted store.
//
//pdpp:tier unraced TestStore/CountModel
func testCountModel(t *testing.T, s store.Store) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		m := &countModel{t: t, s: s, id: fmt.Sprint("c", n), connector: fmt.Sprint("example-", n), timeField: "made"}
		ok(t, s.CreateConnection(t.Context(), store.Connection{ID: m.id, ConnectorID: m.connector, DisplayName: "Example",
			Status:     store.ConnectionActive,
			SourceKind: store.SourceAccount, CreatedAt: Now, UpdatedAt: Now}))
		m.begin()
		deeds := []func(*rapid.T){m.commit, m.commit, m.again, m.undo, m.turn, m.redeclare, m.forget, m.align, m.rewind}
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			rapid.SampledFrom(deeds).Draw(rt, "deed")(rt)
			CountsAreTrue(t, s, m.id, Stream)
		}
		finish(t, s, m.lease, m.now)
		backfillAll(t, s)
		if !CountsAreTrue(t, s, m.id, Stream) {
			rt.Fatal("after everything was brought into line not all is counted")
		}
		CountsOfConnection(t, s, m.id, Stream)
		countsOfDays(t, s)
	})
}

// countModel is one connection under a run.
type countModel struct {
	t             *testing.T
	s             store.Store
	id, connector string
	timeField     string // the field that runs write by
	lease         store.Lease
	now           time.Time
	runs, commits int
	last          []slice.Record
}

func (m *countModel) begin() {
	m.now = Now.Add(time.Duration(m.runs) * time.Hour)
	m.runs++
	m.lease = start(m.t, m.s, m.id, fmt.Sprint(m.id, "-run-", m.runs), m.now,
		store.StreamSpec{Name: Stream, TimeField: m.timeField, SearchFields: []string{"title"}})
}

func (m *countModel) put() {
	m.commits++
	commit(m.t, m.s, m.lease, slice.Slice{Records: m.last,
		Cursors: []slice.Cursor{{Stream: Stream, Cursor: fmt.Append(nil, m.commits)}}}, m.now)
}

func (m *countModel) commit(rt *rapid.T) {
	m.last = nil
	for range rapid.IntRange(0, 6).Draw(rt, "records") {
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(rt, "key")
		r := tombstone(key)
		if kind := rapid.IntRange(0, 4).Draw(rt, "kind"); kind > 0 {
			if r = withDays(rt, key, m.timeField); kind == 1 {
				r.File = rapid.SampledFrom([]string{"one.zip", "two.zip"}).Draw(rt, "file")
			}
		}
		m.last = append(m.last, r)
	}
	m.put()
}

func (m *countModel) again(*rapid.T) { m.put() }

func (m *countModel) undo(rt *rapid.T) {
	all, err := m.s.Imports(m.t.Context(), m.id)
	ok(m.t, err)
	for _, i := range all {
		if i.UndoneAt == nil {
			_, err := m.s.UndoImport(m.t.Context(), m.lease, i.ID, rapid.IntRange(1, 3).Draw(rt, "page"), m.now)
			ok(m.t, err)
			return
		}
	}
}

func (m *countModel) turn(*rapid.T) {
	finish(m.t, m.s, m.lease, m.now)
	m.begin()
}

func (m *countModel) redeclare(rt *rapid.T) {
	m.timeField = rapid.SampledFrom([]string{"made", "moved", ""}).Draw(rt, "time field")
	_, err := m.s.PutManifest(m.t.Context(), m.connector, declaring(m.timeField, "title"), Now)
	ok(m.t, err)
	if rapid.Bool().Draw(rt, "at once") {
		m.turn(rt)
	}
}

func (m *countModel) align(*rapid.T) {
	finish(m.t, m.s, m.lease, m.now)
	backfillAll(m.t, m.s)
	m.begin()
}

func (m *countModel) rewind(rt *rapid.T) {
	id := store.CursorID{ConnectionID: m.id, Stream: Stream}
	log, err := m.s.CursorLog(m.t.Context(), id, 0)
	ok(m.t, err)
	if len(log) == 0 {
		return
	}
	finish(m.t, m.s, m.lease, m.now)
	_, err = m.s.Rewind(m.t.Context(), id, rapid.SampledFrom(log).Draw(rt, "to").Commit, m.now)
	ok(m.t, err)
	m.begin()
}

// forget leaves only the records up to a sequence counted, as an upgrade does, and changes some of them.
func (m *countModel) forget(rt *rapid.T) {
	m.commit(rt)
	Uncount(m.t, m.s, m.id, rapid.SampledFrom([]float64{0, 0.3, 0.6, 0.9}).Draw(rt, "part"))
	CountsAreTrue(m.t, m.s, m.id, Stream)
	countsOfDays(m.t, m.s)
	m.commit(rt)
}

// Uncount leaves part of the first stream of a connection counted, as an upgrade from before counts does.
func Uncount(t testing.TB, s store.Store, connection string, part float64) {
	t.Helper()
	db := s.(interface{ Writer() *sql.DB }).Writer()
	var id, last int64
	ok(t, db.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT stream_id, last_seq FROM streams WHERE connection_id = '%s'`,
		connection)).Scan(&id, &last))
	upTo := int64(part * float64(last))
	for _, query := range []string{
		`DELETE FROM day_counts WHERE stream_id = $stream`,
		`DELETE FROM month_counts WHERE stream_id = $stream`,
		`INSERT INTO day_counts (stream_id, day, records, bytes) SELECT stream_id, CASE WHEN substr(semantic_time, 1,
			4) BETWEEN '1900' AND '2199' THEN substr(semantic_time, 1, 10) ELSE '' END AS day,
			count(*), sum(octet_length(data)) FROM records WHERE stream_id = $stream AND seq <= $last AND data IS NOT NULL
			GROUP BY 1, 2`,
		`INSERT INTO month_counts (stream_id, month, records, bytes) SELECT stream_id, substr(day, 1, 7), sum(records),
			sum(bytes) FROM day_counts WHERE stream_id = $stream GROUP BY 1, 2`,
		`UPDATE streams SET count_seq = $last WHERE stream_id = $stream`,
	} {
		_, err := db.ExecContext(t.Context(),
			strings.NewReplacer("$stream", fmt.Sprint(id), "$last", fmt.Sprint(upTo)).Replace(query))
		ok(t, err)
	}
}

// testCountUploads checks that a device's batch over several streams counts the previous state of each record, also
// after it confirmed records of another stream.
func testCountUploads(t *testing.T, s store.Store) {
	u := uploaderOf(t, s, "counts", "home")
	u.Streams = append(u.Streams, store.StreamSpec{Name: "other"})
	at := func(stream, key, value, day string, seconds int) slice.Record {
		r := emitted(key, value, seconds)
		r.Stream, r.SemanticTime = stream, day+"T10:00:00.000000Z"
		return r
	}
	upload(t, s, batchOf(u, 1, at(Stream, "a", "1", "2026-03-01", 0), at("other", "b", "1", "2026-03-01", 0),
		at("other", "c", "1", "2026-03-02", 0)), Now)
	second := batchOf(u, 2, at(Stream, "a", "1", "2026-03-01", 9), at("other", "b", "2", "2026-03-04", 9), tombstone("c"))
	second.Records[2].Stream = "other"
	upload(t, s, second, Now.Add(time.Second))
	for _, stream := range []string{Stream, "other"} {
		if !CountsAreTrue(t, s, u.ConnectionID, stream) {
			t.Fatal("not all is counted")
		}
	}
	CountsOfConnection(t, s, u.ConnectionID, Stream, "other")
	earlier, err := s.History(t.Context(), u.ConnectionID, "other", "b", 0)
	ok(t, err)
	same(t, len(earlier), 1)
}

// testCountSteps checks that records from before counting are counted in steps, each of which leaves correct counts
// or marks them as incomplete.
func testCountSteps(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream, TimeField: "moved"})
	const n = 11_000
	records := make([]slice.Record, n)
	for i := range records {
		records[i] = moving(fmt.Sprintf("k%05d", i), "2026", fmt.Sprint(2000+i%20))
	}
	put(t, s, l, records...)
	finish(t, s, l, Now)
	Uncount(t, s, "c", 0)
	var done []int64
	for more := true; more; {
		k, err := s.StoredSummary(t.Context(), "", "")
		ok(t, err)
		done = append(done, k.Streams[0].Done)
		streams, err := s.Streams(t.Context(), "c")
		ok(t, err)
		whole := CountsAreTrue(t, s, "c", Stream)
		same(t, streams[0].DaysOf, map[bool]string{true: "moved"}[whole])
		if whole {
			break
		}
		whole, err = s.BackfillDerived(t.Context())
		ok(t, err)
		more = !whole
	}
	same(t, done, []int64{0, 5000, 10_000, n})
}
