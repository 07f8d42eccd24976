package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/declaration"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/owner/service/lookup"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/view"
)

// weeksShown is how many weeks of days Kept returns.
const weeksShown = 53

// Kept returns what is stored of every source, day by day for the last year. Missing records come from the verdicts
// of the connections, stored records from the counts.
func (s *Service) Kept(ctx context.Context) (api.Kept, error) {
	o, err := s.view.All(ctx)
	if err != nil {
		return api.Kept{}, faults.OwnerError(err, "judge the connections")
	}
	all, err := s.Store.ListConnections(ctx)
	if err != nil {
		return api.Kept{}, faults.OwnerError(err, "list the connections")
	}
	now := o.ObservedAt.UTC()
	from := weekStart(now).AddDate(0, 0, -7*(weeksShown-1))
	counts, err := s.Store.StoredSummary(ctx, from.Format(time.DateOnly), now.Format(time.DateOnly))
	if err != nil {
		return api.Kept{}, faults.OwnerError(err, "read the counts")
	}
	judged := map[string]*view.Connection{}
	for i := range o.Connections {
		judged[o.Connections[i].ID] = &o.Connections[i]
	}
	k := s.storedSummary(counts)
	k.ObservedAt, k.Today = o.ObservedAt, now.Format(time.DateOnly)
	for _, conn := range all {
		if err := k.addConnection(ctx, conn, judged[conn.ID]); err != nil {
			return api.Kept{}, err
		}
	}
	slices.SortStableFunc(k.Sources, func(a, b api.KeptSource) int { return cmp.Compare(b.Records, a.Records) })
	k.countDays(from, now)
	return k.Kept, nil
}

// keptSource returns what is stored of one source, under a verdict that has been read. It is nil for an ended source
// without records.
func (s *Service) keptSource(ctx context.Context, conn store.Connection, judged *view.Connection, now time.Time) (
	*api.KeptSource, error) {
	today := now.UTC().Format(time.DateOnly)
	counts, err := s.Store.StoredSummary(ctx, today, today)
	if err != nil {
		return nil, faults.OwnerError(err, "read the counts")
	}
	if conn.Status != store.ConnectionActive {
		judged = nil
	}
	k := s.storedSummary(counts)
	if err := k.addConnection(ctx, conn, judged); err != nil || len(k.Sources) == 0 {
		return nil, err
	}
	return &k.Sources[0], nil
}

func weekStart(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }

// storedSummaryBuilder sums up what is kept.
type storedSummaryBuilder struct {
	api.Kept
	declared *lookup.Library
	// By connection, and by day.
	streams map[string][]store.StoredStream
	months  map[string][]api.KeptMonth
	today   map[string]int64
	byDay   map[string]int64
}

func (s *Service) storedSummary(counts store.StoredSummary) *storedSummaryBuilder {
	k := &storedSummaryBuilder{Kept: api.Kept{Sources: []api.KeptSource{}}, declared: s.find.ManifestLibrary(),
		streams: map[string][]store.StoredStream{}, months: map[string][]api.KeptMonth{}, today: map[string]int64{},
		byDay: map[string]int64{}}
	k.groupByConnection(counts)
	return k
}

func (k *storedSummaryBuilder) groupByConnection(counts store.StoredSummary) {
	for _, c := range counts.Streams {
		k.streams[c.ConnectionID] = append(k.streams[c.ConnectionID], c)
	}
	for _, c := range counts.Months {
		k.months[c.ConnectionID] = append(k.months[c.ConnectionID], api.KeptMonth{Month: c.Month, Records: c.Records})
	}
	for _, c := range counts.Days {
		k.byDay[c.Day] = c.Records
	}
	for _, c := range counts.Last {
		k.today[c.ConnectionID] = c.Records
	}
}

// addConnection sums a connection up. Judged is nil for one that was ended.
func (k *storedSummaryBuilder) addConnection(ctx context.Context, conn store.Connection,
	judged *view.Connection) error {
	m, err := k.declared.ManifestOf(ctx, conn.ConnectorID)
	if err != nil {
		return err
	}
	src := api.KeptSource{ConnectionID: conn.ID, Name: conn.DisplayName, ConnectorID: conn.ConnectorID,
		Status: string(conn.Status),
		Today:  k.today[conn.ID], Months: append([]api.KeptMonth{}, k.months[conn.ID]...), Streams: []api.KeptStream{}}
	if judged != nil {
		src.AsOf = judged.LastSuccessAt
	}
	for _, c := range k.streams[conn.ID] {
		st := keptStream(c)
		st.Label = declaration.StreamLabel(declaration.DescribeStream(m, c.Stream), c.Stream)
		if judged != nil {
			if row := streamVerdictRow(judged.Verdict.Streams, c.Stream); row != nil {
				st.Found, st.Missing, st.GoesOn = row.Found, row.Missing, row.Floor
				st.Covered = coveredSpans(&st, row, conn, src.AsOf)
			}
		}
		src.Streams = append(src.Streams, st)
		src.Records += st.Records
		src.Bytes += st.Bytes
		src.Undated += st.Undated
		src.Counting = addCounting(src.Counting, st.Counting)
		src.FirstDay, src.LastDay = widenDayRange(src.FirstDay, src.LastDay, st.FirstDay, st.LastDay)
	}
	if judged == nil && src.Records == 0 {
		return nil
	}
	src.Covered = coveredBy(src.Streams)
	describeMissing(&src, judged)
	k.Sources = append(k.Sources, src)
	k.Records += src.Records
	k.Bytes += src.Bytes
	k.Undated += src.Undated
	k.Counting = addCounting(k.Counting, src.Counting)
	k.FirstDay, k.LastDay = widenDayRange(k.FirstDay, k.LastDay, src.FirstDay, src.LastDay)
	return nil
}

// keptStream leaves out what is not counted yet.
func keptStream(c store.StoredStream) api.KeptStream {
	st := api.KeptStream{Name: c.Stream, Records: c.Records, Deleted: c.Deleted, Covered: []api.Covered{}}
	if !c.Counted {
		st.Counting = &api.Counting{Done: c.Done, Of: c.Seen}
		return st
	}
	st.Bytes, st.Undated, st.FirstDay, st.LastDay = c.Bytes, c.Undated, c.First, c.Last
	return st
}

func streamVerdictRow(rows []verdict.StreamRow, stream string) *verdict.StreamRow {
	for i := range rows {
		if rows[i].StreamID == stream {
			return &rows[i]
		}
	}
	return nil
}

func addCounting(a, b *api.Counting) *api.Counting {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &api.Counting{Done: a.Done + b.Done, Of: a.Of + b.Of}
}

// widenDayRange makes a span hold another one; an empty day is none.
func widenDayRange(first, last, otherFirst, otherLast string) (string, string) {
	if first == "" || otherFirst != "" && otherFirst < first {
		first = otherFirst
	}
	return first, max(last, otherLast)
}

// coveredSpans returns the span of a stream that was collected. It starts at the first record and ends when the
// source was last read. If only the owner adds data, it ends at the last record.
func coveredSpans(st *api.KeptStream, row *verdict.StreamRow, conn store.Connection, asOf *time.Time) []api.Covered {
	if st.FirstDay == "" {
		return []api.Covered{}
	}
	span := api.Covered{From: st.FirstDay, To: st.LastDay, Whole: view.IsWhole(row)}
	if asOf != nil && conn.SourceKind != store.SourceManual {
		span.To = max(span.From, asOf.UTC().Format(time.DateOnly))
	}
	if !span.Whole {
		span.Why = row.Statement
	}
	return []api.Covered{span}
}

// coveredBy joins the spans of streams. It is whole where all of them are.
func coveredBy(streams []api.KeptStream) []api.Covered {
	out := []api.Covered{}
	for _, st := range streams {
		for _, c := range st.Covered {
			if len(out) == 0 {
				out = append(out, c)
				continue
			}
			out[0].From, out[0].To = widenDayRange(out[0].From, out[0].To, c.From, c.To)
			if out[0].Whole && !c.Whole {
				out[0].Whole, out[0].Why = false, c.Why
			}
		}
	}
	return out
}

// describeMissing sets the text that describes what a source lacks, according to its verdict.
func describeMissing(src *api.KeptSource, judged *view.Connection) {
	if judged == nil {
		src.Say = "Ended. What was collected is kept"
		return
	}
	c := judged.Completeness(src.Records)
	src.Found, src.Missing, src.GoesOn, src.Complete, src.Say = c.Found, c.Missing, c.GoesOn, c.Whole, c.Say
	if c.Missing == nil || *c.Missing == 0 {
		return
	}
	src.Say = text.Number(*c.Missing) + " of " + text.Number(*c.Found) + " missing"
	if c.GoesOn {
		src.Say = "At least " + src.Say
	}
	if c.Fetched {
		src.Say += ", fetched by later runs"
	}
}

// countDays adds every day of the displayed period. A day is collected if a stream covers it.
func (k *storedSummaryBuilder) countDays(from, now time.Time) {
	for at := from; !at.After(now); at = at.AddDate(0, 0, 1) {
		d := api.KeptDay{Day: at.Format(time.DateOnly)}
		d.Records = k.byDay[d.Day]
		d.Collected = d.Records > 0 || slices.ContainsFunc(k.Sources, func(src api.KeptSource) bool {
			return slices.ContainsFunc(src.Streams, func(st api.KeptStream) bool {
				return slices.ContainsFunc(st.Covered, func(c api.Covered) bool { return c.From <= d.Day && d.Day <= c.To })
			})
		})
		k.Days = append(k.Days, d)
	}
}

// maxDayRange bounds the days of one question.
const maxDayRange = 1100

// Days counts the records of each day.
func (s *Service) Days(ctx context.Context, q api.DayQuery) ([]api.DayCount, error) {
	if q.ConnectionID != "" {
		if _, err := s.find.Connection(ctx, q.ConnectionID); err != nil {
			return nil, err
		}
	}
	from, err := parseDayParameter("from", q.From)
	if err != nil {
		return nil, err
	}
	to, err := parseDayParameter("to", q.To)
	if err != nil {
		return nil, err
	}
	if to.Before(from) || to.Sub(from) >= maxDayRange*24*time.Hour {
		return nil, api.Invalid("to", "These are more days than one answer holds, or none.",
			"Ask for at most 1100 days, the first one first.")
	}
	found, err := s.Store.DayCounts(ctx, store.DayQuery{ConnectionID: q.ConnectionID, Stream: q.Stream, From: q.From,
		To: q.To, Nearest: q.Nearest})
	if err != nil {
		return nil, faults.OwnerError(err, "read the counts")
	}
	out := make([]api.DayCount, len(found))
	for i, c := range found {
		out[i] = api.DayCount{Day: c.Day, ConnectionID: c.ConnectionID, Stream: c.Stream, Records: c.Records}
	}
	return out, nil
}

func parseDayParameter(param, value string) (time.Time, error) {
	at, err := time.Parse(time.DateOnly, value)
	if err != nil {
		return at, api.Invalid(param, "The day cannot be read.", "Write it like 2026-03-04.")
	}
	return at, nil
}
