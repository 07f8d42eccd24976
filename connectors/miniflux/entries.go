package miniflux

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
)

const (
	perPage = 100
	// overlap is how far back a walk begins before the one that it follows: what was being written
	// then bears a time from before it could be seen.
	overlap = time.Minute
	// again is how long a whole walk lasts. A server gives no sign of an article that its feed has
	// rewritten, so that all of them are read once in this time.
	again = 7 * 24 * time.Hour
)

// entries goes through the articles: first those that are new or changed since the walk before, by
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
type entries struct {
	*reader
	known *connectorkit.Numbers
	count *census // of this run; nil until everything new is read
}

// answer is a page of entries, with how many there are in all that were asked for.
type answer struct {
	Total   *int   `json:"total"`
	Entries *[]raw `json:"entries"`
}

// list asks for entries by number.
func (e *entries) list(ctx context.Context, after, before int64, limit int, more url.Values) (answer, http.Header, error) {
	query := url.Values{"order": {"id"}, "direction": {"asc"}, "limit": {strconv.Itoa(limit)}}
	for name, values := range more {
		query[name] = values
	}
	if after > 0 {
		query.Set("after_entry_id", strconv.FormatInt(after, 10))
	}
	if before > 0 {
		query.Set("before_entry_id", strconv.FormatInt(before, 10))
	}
	var a answer
	resp, err := e.get(ctx, "/v1/entries", query, &a)
	if err != nil {
		return a, nil, err
	}
	if a.Total == nil || a.Entries == nil {
		return a, nil, connectorkit.Fail(connectorkit.Malformed, errForm)
	}
	return a, resp.Header, nil
}

func (e *entries) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if e.known == nil || len(at) == 0 {
		e.known = connectorkit.NumbersOf(at["ids"])
	}
	if e.count != nil {
		return e.counted(ctx, at)
	}
	after, _ := strconv.ParseInt(at["at"], 10, 64) // none at the beginning of a walk
	since, until, whole := at["since"], at["until"], at["whole"]
	a, header, err := e.changed(ctx, after, since)
	if err != nil {
		return connectorkit.Page{}, err
	}
	if until == "" {
		until = beginning(header)
		if since != "" && due(whole, until) {
			since = ""
			if a, _, err = e.changed(ctx, after, since); err != nil {
				return connectorkit.Page{}, err
			}
		}
		if since == "" {
			whole = until
		}
	}
	page := connectorkit.Page{}
	last := after
	for _, one := range *a.Entries {
		id, record := entry(one)
		page.Records = append(page.Records, record)
		e.known.Add(id)
		last = max(last, id)
	}
	if len(*a.Entries) == perPage && last > after {
		page.Next, page.More, page.Total = e.bookmark(since, whole), true, *a.Total
		page.Next["at"], page.Next["until"] = strconv.FormatInt(last, 10), until
		return page, nil
	}
	e.count = &census{}
	page.Next, page.More = e.bookmark(until, whole), true
	page.Next["step"] = following(at)
	return page, nil
}

// following numbers the bookmark after one. The count goes on where a run that was cut short left
// it, so that no bookmark equals the one before.
func following(at connectorkit.Cursor) string {
	step, _ := strconv.Atoi(at["step"]) // absent is zero
	return strconv.Itoa(step + 1)
}

// changed asks for what changed since, from a number on.
func (e *entries) changed(ctx context.Context, after int64, since string) (answer, http.Header, error) {
	more := url.Values{}
	if since != "" {
		more.Set("changed_after", since)
	}
	return e.list(ctx, after, 0, perPage, more)
}

func (e *entries) bookmark(since, whole string) connectorkit.Cursor {
	c := connectorkit.Cursor{"ids": e.known.String()}
	for name, text := range map[string]string{"since": since, "whole": whole} {
		if text != "" {
			c[name] = text
		}
	}
	return c
}

// due tells whether everything is to be read again. A server that does not say what time it is
// gives everything each time anyway.
func due(whole, now string) bool {
	then, err := strconv.ParseInt(whole, 10, 64)
	at, _ := strconv.ParseInt(now, 10, 64)
	return err != nil || at-then > int64(again/time.Second)
}

// beginning is the time, by the server's clock, before which everything is in what it answers.
func beginning(h http.Header) string {
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return "" // then the next walk reads everything
	}
	return strconv.FormatInt(now.Add(-overlap).Unix(), 10)
}

// counted compares the number of entries with those that are known and settles a difference, a
// stretch of numbers at a time.
func (e *entries) counted(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	records, done, err := e.count.step(ctx, e)
	if err != nil {
		return connectorkit.Page{}, err
	}
	next := e.bookmark(at["since"], at["whole"])
	if !done {
		next["step"] = following(at)
	}
	page := connectorkit.Page{Records: records, Next: next, More: !done}
	if done { // the server has as many as are known
		page.Listed = &connectorkit.Listed{Announced: int64(e.count.total), Counted: int64(e.known.Len())}
		page.Whole = &connectorkit.Whole{Gone: connectorkit.AllGone, Keys: func(yield func(string) bool) {
			for _, id := range e.known.All() {
				if !yield(strconv.FormatInt(id, 10)) {
					return
				}
			}
		}}
	}
	return page, nil
}
