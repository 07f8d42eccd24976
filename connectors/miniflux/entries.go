package miniflux

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	entriesPerPage = 100
	// walkOverlap is how far before the previous walk a walk begins. An entry that was being written then has a time
	// from before it became visible.
	walkOverlap = time.Minute
	// fullScanInterval is the time between full scans. A server does not report articles that their feed has rewritten.
	fullScanInterval = 7 * 24 * time.Hour
)

// entryCollector goes through the articles: first those that are new or changed since the walk before, by
// number, so that nothing shifts; then it counts, and looks where the count is another.
//
// The bookmark holds
//
//	since   the time from which on changes are asked for, in seconds
//	at      within a walk: the number of the last entry that was read
//	until   within a walk: the since of the next
//	whole   when a walk through everything began last, in seconds
//	ids     the numbers of all entries that were sent and not deleted
//	step    after a walk: how often was counted, so that no two bookmarks are equal
type entryCollector struct {
	fetch func(ctx context.Context, query url.Values) (entriesAnswer, error)
	read  func(raw jsontext.Value) connectorkit.Record
	known *connectorkit.NumberSet
	count *deletionScan // of this run; nil until everything new is read
}

// entriesAnswer is a page of entries, with the total of the query.
type entriesAnswer struct {
	Total   int
	Entries []jsontext.Value
	Header  http.Header
}

// collectEntries returns the collector of a run.
func collectEntries(r *rest.Run) connectorkit.Collector {
	fetch := func(ctx context.Context, query url.Values) (out entriesAnswer, err error) {
		a, err := r.Fetch(ctx, governhttp.Request{Path: "entries", Query: query})
		if err != nil {
			return out, err
		}
		out.Header = a.Header
		if out.Total, err = strconv.Atoi(a.Text("total")); err != nil {
			return out, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
		}
		out.Entries, err = rest.FirstList("entries")(a)
		return out, err
	}
	read := func(raw jsontext.Value) connectorkit.Record { return r.ReadItem("entries", rest.Item{Raw: raw}).Record }
	return connectorkit.PagedStream{Stream: "entries", Page: (&entryCollector{fetch: fetch, read: read}).fetchNextPage}
}

// readEntry reads one entry; its number is zero when it has none.
func (e *entryCollector) readEntry(raw jsontext.Value) (int64, connectorkit.Record) {
	id, err := strconv.ParseInt(rest.Item{Raw: raw}.Text("id"), 10, 64)
	if err != nil || id <= 0 {
		return 0, connectorkit.Unreadable("", err)
	}
	return id, e.read(raw)
}

// fetchEntries asks for entries by number, of those that changed since a time.
func (e *entryCollector) fetchEntries(ctx context.Context, after, before int64, limit int, since string) (entriesAnswer,
	error) {
	query := url.Values{"order": {"id"}, "direction": {"asc"}, "limit": {strconv.Itoa(limit)}}
	if since != "" {
		query.Set("changed_after", since)
	}
	if after > 0 {
		query.Set("after_entry_id", strconv.FormatInt(after, 10))
	}
	if before > 0 {
		query.Set("before_entry_id", strconv.FormatInt(before, 10))
	}
	return e.fetch(ctx, query)
}

func (e *entryCollector) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if e.known == nil || len(at) == 0 {
		e.known = connectorkit.ParseNumberSet(at["ids"])
	}
	if e.count != nil {
		return e.compareCount(ctx, at)
	}
	after, _ := strconv.ParseInt(at["at"], 10, 64) // none at the beginning of a walk
	since, until, whole := at["since"], at["until"], at["whole"]
	a, err := e.fetchEntries(ctx, after, 0, entriesPerPage, since)
	if err != nil {
		return connectorkit.Page{}, err
	}
	if until == "" {
		until = serverTimeBefore(a.Header)
		if since != "" && fullScanIsDue(whole, until) {
			since = ""
			if a, err = e.fetchEntries(ctx, after, 0, entriesPerPage, since); err != nil {
				return connectorkit.Page{}, err
			}
		}
		if since == "" {
			whole = until
		}
	}
	page := connectorkit.Page{}
	last := after
	for _, one := range a.Entries {
		id, record := e.readEntry(one)
		page.Records = append(page.Records, record)
		e.known.Add(id)
		last = max(last, id)
	}
	if len(a.Entries) == entriesPerPage && last > after {
		page.Next, page.More, page.Total = e.nextCursor(since, whole), true, a.Total
		page.Next["at"], page.Next["until"] = strconv.FormatInt(last, 10), until
		return page, nil
	}
	e.count = &deletionScan{}
	page.Next, page.More = e.nextCursor(until, whole), true
	page.Next["step"] = nextStepNumber(at)
	return page, nil
}

// nextStepNumber returns the next step number of the bookmark. It continues after an interrupted run, so that no
// bookmark equals the one before.
func nextStepNumber(at connectorkit.Cursor) string {
	step, _ := strconv.Atoi(at["step"]) // absent is zero
	return strconv.Itoa(step + 1)
}

func (e *entryCollector) nextCursor(since, whole string) connectorkit.Cursor {
	c := connectorkit.Cursor{"ids": e.known.String()}
	for name, text := range map[string]string{"since": since, "whole": whole} {
		if text != "" {
			c[name] = text
		}
	}
	return c
}

// fullScanIsDue reports whether everything must be read again. A server that sends no time returns everything each
// time anyway.
func fullScanIsDue(whole, now string) bool {
	then, err := strconv.ParseInt(whole, 10, 64)
	at, _ := strconv.ParseInt(now, 10, 64)
	return err != nil || at-then > int64(fullScanInterval/time.Second)
}

// serverTimeBefore is the time, by the server's clock, before which everything is in what it answers.
func serverTimeBefore(h http.Header) string {
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return "" // then the next walk reads everything
	}
	return strconv.FormatInt(now.Add(-walkOverlap).Unix(), 10)
}

// compareCount compares the number of entries with those that are known and settles a difference, a
// stretch of numbers at a time.
func (e *entryCollector) compareCount(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	records, done, err := e.count.scanNextRange(ctx, e)
	if err != nil {
		return connectorkit.Page{}, err
	}
	next := e.nextCursor(at["since"], at["whole"])
	if !done {
		next["step"] = nextStepNumber(at)
	}
	page := connectorkit.Page{Records: records, Next: next, More: !done}
	if done { // the server has as many as are known
		page.Listed = &connectorkit.Listed{Announced: int64(e.count.total), Counted: int64(e.known.Len())}
		page.Whole = &connectorkit.Whole{Gone: connectorkit.AllKeysGone, Keys: func(yield func(string) bool) {
			for _, id := range e.known.All() {
				if !yield(strconv.FormatInt(id, 10)) {
					return
				}
			}
		}}
	}
	return page, nil
}
