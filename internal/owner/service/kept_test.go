package service

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// dugRecordJSON is a bed of a day.
func dugRecordJSON(key, day string) slice.Record {
	r := slice.Record{Stream: "beds", Key: key, Data: fmt.Appendf(nil, `{"id":%q,"dug_at":%q}`, key, day),
		EmittedAt: "2026-01-02T03:04:05Z"}
	if day != "" {
		r.SemanticTime = day + "T00:00:00.000000Z"
	}
	return r
}

// plot adds a garden with beds, and a run that reports the facts.
func (b *serviceHarness) plot(id string, facts string, gaps []slice.Gap, beds ...slice.Record) {
	b.t.Helper()
	ctx := b.t.Context()
	generation, err := b.Store.PutManifest(ctx, "garden", []byte(ownertest.GardenManifest), b.at)
	b.requireNoError(err)
	b.requireNoError(b.Store.CreateConnection(ctx, store.Connection{ID: id, ConnectorID: "garden", DisplayName: "Garden " +
		id,
		Status:     store.ConnectionActive,
		SourceKind: store.SourceAccount, ManifestGeneration: generation, CreatedAt: b.at, UpdatedAt: b.at}))
	l, err := b.Store.StartRun(ctx, store.RunStart{RunID: "run_" + id, ConnectionID: id, ConnectorID: "garden",
		Trigger: store.TriggerManual,
		Holder:  "w1", TTL: time.Hour, Streams: []store.StreamSpec{{Name: "beds", TimeField: "dug_at"}}}, b.at)
	b.requireNoError(err)
	_, err = b.Store.CommitSlice(ctx, l, slice.Slice{Records: beds, Gaps: gaps}, b.at)
	b.requireNoError(err)
	b.requireNoError(b.Store.FinishRun(ctx, l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}, Facts: jsontext.Value(facts)},
		b.at))
}

// Kept returns what is stored of each source, how far back it goes, what is missing, and which days were collected.
func TestKept(t *testing.T) {
	b := newServiceHarness(t)
	b.at = time.Date(2026, 2, 20, 8, 0, 0, 0, time.UTC)
	b.plot("whole", `{"streams":[{"stream":"beds","collected":4,"considered":4,"covered":4,"checkpoint":"committed"}]}`,
		nil,
		dugRecordJSON("a", "2020-05-01"), dugRecordJSON("b", "2026-02-02"), dugRecordJSON("c", "2026-02-02"),
		dugRecordJSON("d", ""))
	b.plot("part", `{"streams":[{"stream":"beds","collected":1,"considered":3,"covered":1,"checkpoint":"committed"}]}`,
		[]slice.Gap{{Stream: "beds", RecordKey: "e", Reason: protocol.ReasonRateLimited, Retryable: true},
			{Stream: "beds", RecordKey: "f", Reason: protocol.ReasonRateLimited, Retryable: true}},
		dugRecordJSON("g", "2026-02-03"))
	b.plot("ended", `{"streams":[]}`, nil, dugRecordJSON("h", "2019-12-31"))
	b.requireNoError(b.Revoke(t.Context(), "ended"))
	got, err := b.Kept(t.Context())
	b.requireNoError(err)
	if s := got.Sources[0]; !s.Complete || s.Say != "Complete" {
		t.Errorf("%+v", s)
	}
	b.at = time.Date(2026, 2, 22, 8, 0, 0, 0, time.UTC)
	got, err = b.Kept(t.Context())
	b.requireNoError(err)
	if got.Records != 6 || got.Undated != 1 || got.FirstDay != "2019-12-31" || got.LastDay != "2026-02-03" ||
		got.Counting != nil || got.Today != "2026-02-22" {
		t.Errorf("%+v", got)
	}
	type told struct {
		ID, First, Last, Say string
		Records              int64
		Found, Missing       string
		Complete, GoesOn     bool
		Covered              []api.Covered
		Months               []api.KeptMonth
	}
	number := func(n *int64) string {
		if n == nil {
			return "not known"
		}
		return fmt.Sprint(*n)
	}
	var sources []told
	for _, s := range got.Sources {
		sources = append(sources, told{s.ConnectionID, s.FirstDay, s.LastDay, s.Say, s.Records, number(s.Found),
			number(s.Missing), s.Complete, s.GoesOn, s.Covered, s.Months})
	}
	want := []told{
		{"whole", "2020-05-01", "2026-02-02", "Nothing since 20 February 2026", 4, "4", "0", false, false,
			[]api.Covered{{From: "2020-05-01", To: "2026-02-20", Whole: true}},
			[]api.KeptMonth{{Month: "2020-05", Records: 1}, {Month: "2026-02", Records: 2}}},
		{"ended", "2019-12-31", "2019-12-31", "Ended. What was collected is kept", 1, "not known", "not known", false, false,
			[]api.Covered{}, []api.KeptMonth{{Month: "2019-12", Records: 1}}},
		{"part", "2026-02-03", "2026-02-03", "At least 2 of 3 missing, fetched by later runs", 1, "3", "2", false, true,
			[]api.Covered{{From: "2026-02-03", To: "2026-02-20", Why: "Some items are missing. They are on their way."}},
			[]api.KeptMonth{{Month: "2026-02", Records: 1}}},
	}
	for i := range sources { // its words are the verdict's, and tested there
		if len(sources[i].Covered) > 0 && sources[i].Covered[0].Why != "" {
			want[i].Covered[0].Why = sources[i].Covered[0].Why
		}
	}
	if diff := cmp.Diff(want, sources); diff != "" {
		t.Errorf("sources:\n%s", diff)
	}
	days := map[string]api.KeptDay{}
	for _, d := range got.Days {
		days[d.Day] = d
	}
	for day, want := range map[string]api.KeptDay{
		"2026-02-02": {Records: 2, Collected: true}, "2026-02-03": {Records: 1, Collected: true},
		"2026-02-04": {Collected: true},
		"2026-02-20": {Collected: true}, "2026-02-21": {}, "2026-02-22": {},
	} {
		if want.Day = day; days[day] != want {
			t.Errorf("%+v, want %+v", days[day], want)
		}
	}
	if first := got.Days[0]; first.Day != "2025-02-17" || len(got.Days) != 371 {
		t.Errorf("%d days from %+v", len(got.Days), first)
	}

	byDay, err := b.Days(t.Context(), api.DayQuery{From: "2026-02-01", To: "2026-02-28"})
	b.requireNoError(err)
	if diff := cmp.Diff([]api.DayCount{{Day: "2026-02-02", ConnectionID: "whole", Stream: "beds", Records: 2},
		{Day: "2026-02-03", ConnectionID: "part", Stream: "beds", Records: 1}}, byDay); diff != "" {
		t.Errorf("days:\n%s", diff)
	}
	for q, param := range map[api.DayQuery]string{{From: "2026-02-01"}: "to", {From: "2026-02-02", To: "2026-02-01"}: "to",
		{From: "2020-01-01", To: "2026-01-01"}: "to", {From: "0000-13-01", To: "2026-01-01"}: "from"} {
		_, err := b.Days(t.Context(), q)
		wantError(t, err, api.CodeInvalid, param)
	}
	_, err = b.Days(t.Context(), api.DayQuery{ConnectionID: "none", From: "2026-02-01", To: "2026-02-01"})
	wantError(t, err, api.CodeNotFound, "")
}

// Kept reports an unfinished count as such, and never shows a partial count as the total.
func TestKeptWhileCounting(t *testing.T) {
	b := newServiceHarness(t)
	b.plot("old", `{"streams":[]}`, nil, dugRecordJSON("a", "2026-02-02"), dugRecordJSON("b", "2026-02-02"))
	b.plot("new", `{"streams":[]}`, nil, dugRecordJSON("c", "2026-02-03"))
	db := b.Store.(interface{ Writer() *sql.DB }).Writer()
	for _, query := range []string{`UPDATE streams SET count_seq = 1 WHERE connection_id = 'old'`,
		`UPDATE day_counts SET records = 1 WHERE records = 2`} {
		_, err := db.ExecContext(t.Context(), query)
		b.requireNoError(err)
	}
	got, err := b.Kept(t.Context())
	b.requireNoError(err)
	if got.Records != 3 || got.Counting == nil || *got.Counting != (api.Counting{Done: 1, Of: 2}) ||
		got.Counting.Percent() != 50 || got.FirstDay != "2026-02-03" {
		t.Errorf("%+v, %+v", got, got.Counting)
	}
	if s := got.Sources[0]; s.ConnectionID != "old" || s.Records != 2 || s.Counting == nil || s.FirstDay != "" ||
		len(s.Months) != 0 || s.Bytes != 0 {
		t.Errorf("%+v", s)
	}
	for _, d := range got.Days {
		if d.Day == "2026-02-02" && d.Records != 0 {
			t.Errorf("%+v is a part of what was kept", d)
		}
	}
	for done := false; !done; {
		done, err = b.Store.BackfillDerived(t.Context())
		b.requireNoError(err)
	}
	got, err = b.Kept(t.Context())
	b.requireNoError(err)
	if got.Counting != nil || got.FirstDay != "2026-02-02" || got.Sources[0].Counting != nil {
		t.Errorf("%+v", got)
	}
}
