package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/recordfields"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

var indexedAt = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

const never = 1 << 40 // a size that no stream has

// growing is a store with field indexes that grow by a few records at a time.
type growing struct {
	*sqlstore.DB
}

func openGrowing(ctx context.Context, path string, rows int) (*growing, error) {
	opened, err := Open(ctx, path, Options{})
	if err != nil {
		return nil, err
	}
	pool := opened.(*sqlstore.DB)
	d := &dialect{where: path, busyTimeout: time.Minute, maxBuildTime: time.Minute, fieldStepRows: rows}
	if err := d.prepare(ctx, pool.Writer()); err != nil {
		return nil, err
	}
	return &growing{DB: sqlstore.New(sqlstore.Config{Writer: pool.Writer(), Reader: pool.ClientReaders(),
		Clients: pool.ClientReaders(), Dialect: d})}, nil
}

// declare creates a connection with three indexed fields in its stream.
func (g *growing) declare(ctx context.Context) error {
	_, err := g.PutManifest(ctx, "example",
		[]byte(`{"protocol_version":"0.1.0","connector_id":"example","version":"1.0.0","display_name":"Example","streams":[
		{"name":"items","semantics":"mutable_state","primary_key":"id","query":{"filter":["v"],`+
			`"range_filters":{"n":["gte"]},"aggregations":{"group_by_time":["at"]}},
		"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"v":{"type":"string"},`+
			`"n":{"type":"number"},"at":{"type":"string","format":"date-time"}}}}]}`), indexedAt)
	if err != nil {
		return err
	}
	return g.CreateConnection(ctx, store.Connection{ID: "c", ConnectorID: "example", DisplayName: "Garden",
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: indexedAt, UpdatedAt: indexedAt})
}

// commit stores records in a run of their own, which stays active during between.
func (g *growing) commit(ctx context.Context, run string, records []slice.Record, between func() error) error {
	l, err := g.StartRun(ctx, store.RunStart{RunID: run, ConnectionID: "c", ConnectorID: "example",
		Trigger: store.TriggerManual, Holder: run, TTL: time.Minute, Streams: []store.StreamSpec{{Name: "items"}}}, indexedAt)
	if err != nil {
		return err
	}
	half := len(records) / 2
	if _, err := g.CommitSlice(ctx, l, slice.Slice{Records: records[:half]}, indexedAt); err != nil {
		return err
	}
	if err := between(); err != nil {
		return err
	}
	if _, err := g.CommitSlice(ctx, l, slice.Slice{Records: records[half:]}, indexedAt); err != nil {
		return err
	}
	return g.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}},
		indexedAt)
}

// drawRecords returns records of some keys: new, changed, unchanged or deleted.
func drawRecords(r *rand.Rand, n, keys int) []slice.Record {
	var records []slice.Record
	for range n {
		record := slice.Record{Stream: "items", Key: fmt.Sprint("k", r.IntN(keys)), EmittedAt: "x"}
		if r.IntN(5) == 0 {
			record.Op = protocol.OpDelete
		} else {
			record.Data = fmt.Appendf(nil, `{"id":%q,"v":"v%d","n":%d,"at":"2026-01-%02d"}`, record.Key, r.IntN(4), r.IntN(9),
				1+r.IntN(9))
			if r.IntN(6) == 0 {
				record.Data = fmt.Appendf(nil, `{"id":%q,"n":null}`, record.Key)
			}
		}
		records = append(records, record)
	}
	return records
}

// answers compares queries that use the field indexes with the same queries over each record.
func (g *growing) answers(t *testing.T) {
	t.Helper()
	part := store.AccessFilter{ConnectionID: "c", Stream: "items"}
	all, err := g.ListRecords(t.Context(), store.RecordQuery{AccessFilter: part, Limit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	keys := func(meets func(data []byte) bool) (keys []string) {
		for _, r := range all {
			if meets(r.Data) {
				keys = append(keys, r.Key)
			}
		}
		return keys
	}
	asked := func(q store.RecordQuery) (keys []string) {
		t.Helper()
		q.AccessFilter, q.Limit = part, 100_000
		found, err := g.ListRecords(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			keys = append(keys, r.Key)
		}
		return keys
	}
	same := func(what string, want, got any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s by the index: -scanned +found\n%s", what, diff)
		}
	}
	want := keys(func(data []byte) bool { return recordfields.HoldsField(string(data), "v", "v2") })
	same("a value", want, asked(store.RecordQuery{Where: []store.FieldValue{{Field: "v", Value: "v2"}}}))
	slices.Reverse(want)
	same("a value, newest first", want,
		asked(store.RecordQuery{NewestFirst: true, Where: []store.FieldValue{{Field: "v", Value: "v2"}}}))
	large := keys(func(data []byte) bool { n, is := recordfields.KeyOfNumber(string(data), "n"); return is && n >= 8 })
	least := []store.Comparison{{Field: "n", Kind: manifest.ValueNumber, Op: manifest.RangeGTE, Value: "8"}}
	same("a range", large, asked(store.RecordQuery{Compare: least}))
	summed := func(q store.AggregateQuery) map[string]string {
		t.Helper()
		q.AccessFilter = part
		found, err := g.Aggregate(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		groups := map[string]string{}
		for _, group := range found.Groups {
			key := "none"
			if group.Key != nil {
				key = *group.Key
			}
			groups[key] = string(group.Value)
		}
		return groups
	}
	same("a range counted", map[string]string{"none": strconv.Itoa(len(large))},
		summed(store.AggregateQuery{Metric: store.MetricCount, Compare: least}))
	days, counts := map[string]int{}, map[string]string{}
	for _, r := range all {
		day := "none"
		if micros, is := recordfields.KeyOfTime(string(r.Data), "at"); is {
			day = time.UnixMicro(int64(micros)).UTC().Format(time.DateOnly)
		}
		days[day]++
		counts[day] = strconv.Itoa(days[day])
	}
	same("days counted", counts,
		summed(store.AggregateQuery{Metric: store.MetricCount, GroupBy: "at", Granularity: store.ByDay}))
}

// tables checks that each table contains exactly the records up to its progress.
func (g *growing) tables(t *testing.T) (begun, whole int) {
	t.Helper()
	names, err := g.Writer().QueryContext(t.Context(), `SELECT i.name, CAST(p.value AS INTEGER) FROM sqlite_schema i LEFT
		JOIN settings p ON 'index reached: ' || i.name = p.name || '_begun'
		WHERE i.type = 'table' AND i.name LIKE 'records_field_%'`)
	if err != nil {
		t.Fatal(err)
	}
	reached := map[string]*int64{}
	for names.Next() {
		var name string
		var at *int64
		if err := names.Scan(&name, &at); err != nil {
			t.Fatal(err)
		}
		reached[name] = at
	}
	if err := errors.Join(names.Err(), names.Close()); err != nil {
		t.Fatal(err)
	}
	for name, at := range reached {
		upTo, source := int64(never), strings.TrimSuffix(name, "_begun")+"_source"
		if at != nil {
			upTo, begun = *at, begun+1
		} else {
			whole++
		}
		if (at != nil) != strings.HasSuffix(name, "_begun") {
			t.Fatalf("%s has reached %v", name, at)
		}
		var lacking, foreign int
		err := g.Writer().QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM (SELECT id, value, seq FROM `+source+`
			WHERE seq <= ? EXCEPT SELECT id, value, seq FROM `+name+`)),
			(SELECT count(*) FROM (SELECT id, value, seq FROM `+name+` EXCEPT SELECT id, value, seq FROM `+source+`))`,
			upTo).Scan(&lacking, &foreign)
		if err != nil || lacking+foreign != 0 {
			t.Fatalf("%s up to %d lacks %d records and has %d that are not so: %v", name, upTo, lacking, foreign, err)
		}
	}
	return begun, whole
}

// TestGrowingIndexesAnswerAsAScan checks that building and dropping an index changes no result, with concurrent
// writes.
func TestGrowingIndexesAnswerAsAScan(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := openGrowing(ctx, newPath(t), 7)
	must(err)
	defer g.Close()
	must(g.declare(ctx))
	step := func(above int64) bool {
		t.Helper()
		done, err := g.IndexFields(ctx, above, indexedAt)
		must(err)
		return done
	}
	must(g.commit(ctx, "first", drawRecords(r, 300, 120), func() error { return nil }))
	partly, wholly := 0, 0
	for round := range 60 {
		switch r.IntN(8) {
		case 0, 1, 2:
			must(g.commit(ctx, fmt.Sprint("run-", round), drawRecords(r, 1+r.IntN(30), 150),
				func() error { step(1); return nil }))
		case 3: // an interrupted step leaves the state before it
			short, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(3000))*time.Microsecond)
			_, _ = g.IndexFields(short, 1, indexedAt)
			cancel()
		case 4:
			step(never)
		default:
			for range r.IntN(30) {
				step(1)
			}
		}
		begun, whole := g.tables(t)
		partly, wholly = partly+begun, wholly+whole
		g.answers(t)
	}
	for !step(1) {
	}
	if begun, whole := g.tables(t); begun != 0 || whole != 3 {
		t.Errorf("%d indexes are begun and %d whole in the end", begun, whole)
	}
	g.answers(t)
	if partly == 0 || wholly == 0 {
		t.Errorf("answers were asked for %d times beside a part of an index, and %d times beside a whole one", partly, wholly)
	}
}

const growTarget = "PDPP_SQLITE_GROW_TARGET"

// growUntilKilled writes records and builds and drops indexes until something fails.
func growUntilKilled(path string) error {
	ctx := context.Background()
	g, err := openGrowing(ctx, path, 5)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for above, round := int64(1), 0; ; round++ {
		var done bool
		grow := func() (err error) {
			for range 10 {
				if done, err = g.IndexFields(ctx, above, indexedAt); err != nil || done {
					return err
				}
			}
			return nil
		}
		if err := g.commit(ctx, fmt.Sprint("run-", os.Getpid(), "-", round), drawRecords(r, 20, 400), grow); err != nil {
			return err
		}
		if err := grow(); err != nil {
			return err
		}
		if done {
			above = never + 1 - above
		}
		fmt.Println(round)
	}
}

// TestKillWhileIndexesGrow checks that a killed process leaves a correct partial index, which the next one continues.
func TestKillWhileIndexesGrow(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), newPath(t)
	g, err := openGrowing(ctx, path, 5)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(g.declare(ctx), g.commit(ctx, "first", drawRecords(rand.New(rand.NewPCG(1, 1)), 1500, 400),
		func() error { return nil }), g.Close())
	if err != nil {
		t.Fatal(err)
	}
	partly := 0
	for round := range 12 {
		killGrowing(t, path)
		if g, err = openGrowing(ctx, path, 5); err != nil {
			t.Fatal(err)
		}
		begun, _ := g.tables(t)
		partly += begun
		g.answers(t)
		// The run of the killed process is taken over.
		l, err := g.StartRun(ctx, store.RunStart{RunID: fmt.Sprint("after-", round), ConnectionID: "c",
			ConnectorID: "example", Trigger: store.TriggerManual, Holder: "test", TTL: time.Minute,
			Streams: []store.StreamSpec{{Name: "items"}}}, indexedAt.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}},
			indexedAt.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		for done := round < 11; !done; {
			if done, err = g.IndexFields(ctx, 1, indexedAt); err != nil {
				t.Fatal(err)
			}
		}
		if begun, whole := g.tables(t); round == 11 && (begun != 0 || whole != 3) {
			t.Errorf("%d indexes are begun and %d whole in the end", begun, whole)
		}
		g.answers(t)
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if partly == 0 {
		t.Error("no kill met a part of an index")
	}
}

// killGrowing starts a process that builds indexes, and kills it some time after a report.
func killGrowing(t *testing.T, path string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), growTarget+"="+path, "GORACE=atexit_sleep_ms=0")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range 1 + rand.IntN(12) {
		if !lines.Scan() {
			t.Fatalf("the child ended by itself: %v", child.Wait())
		}
	}
	<-time.After(time.Duration(rand.IntN(15_000)) * time.Microsecond)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // until its end
	}
	var died *exec.ExitError
	if err := child.Wait(); !errors.As(err, &died) || died.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
}
