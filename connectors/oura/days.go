package oura

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	// again is how many days are read once more by every run: rings are read late, and nights are
	// analysed anew.
	again = 14
	// restAgain is the same for rest modes, which are found by their first day and change when they end.
	restAgain = 180
	// span is how many days one question is about at most; Oura refuses more than a year.
	span = 360
)

var (
	errFrame    = errors.New("the answer is not a list of documents")
	errCircle   = errors.New("the next page is one that was already read")
	errFirstDay = errors.New("PDPP_OURA_FIRST_DAY must be a day such as 2019-06-30")
)

// account is who is signed in, and what day it is there, asked for once in a run.
type account struct {
	client *governhttp.Client
	id     string
	person profileRecord
	today  time.Time
}

func (a *account) get(ctx context.Context, collection string, q url.Values, into any) (http.Header, error) {
	resp, err := a.client.Do(ctx, governhttp.Request{Path: "v2/usercollection/" + collection, Query: q})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, err)
	}
	return resp.Header, nil
}

func (a *account) know(ctx context.Context) error {
	if a.id != "" {
		return nil
	}
	var me profileRecord
	h, err := a.get(ctx, "personal_info", nil, &me)
	if err != nil {
		return err
	}
	if me.ID == "" {
		return connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	now, err := http.ParseTime(h.Get("Date")) // which is not misled by a wrong clock here
	if err != nil {
		now = time.Now()
	}
	a.id, a.person, a.today = me.ID, me, now.UTC().Truncate(24*time.Hour)
	return nil
}

// profile is the one page of the person's profile.
func (a *account) profile(ctx context.Context, _ connectorkit.Cursor) (connectorkit.Page, error) {
	if err := a.know(ctx); err != nil {
		return connectorkit.Page{}, err
	}
	return connectorkit.Page{Records: []connectorkit.Record{connectorkit.Upsert(a.person)},
		Next: connectorkit.Cursor{"id": a.id}}, nil
}

// reader makes a record of a document; its day and key are for what is remembered of it.
type reader func(raw jsontext.Value) (key, day string, rec connectorkit.Record)

// days reads a collection by its days, oldest first. Of the last days the bookmark knows which
// documents there were: one that a whole reading of them does not meet was replaced or deleted.
type days struct {
	*account
	collection string
	first      time.Time
	again      int // days that are read once more
	read       reader
	// extra means that the run goes on where Oura refuses the collection, which is declared as missing then.
	extra bool

	walk *dayWalk // nil before the first page of a run
}

// dayWalk is one way through the days.
type dayWalk struct {
	known map[string]string // days of the documents that may be missed, by key
	met   map[string]string
	from  time.Time // first day of the question
	since time.Time // first day of the walk
	next  string    // token of the next page
	whole bool
	step  int // tells the bookmarks of walks that were not finished apart
}

func (d *days) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if err := d.know(ctx); err != nil {
		return connectorkit.Page{}, err
	}
	if d.walk == nil {
		d.walk = d.begin(at)
	}
	w := d.walk
	end := d.today.AddDate(0, 0, 1) // a day without a time is its midnight
	until := w.from.AddDate(0, 0, span)
	if until.After(end) {
		until = end
	}
	q := url.Values{"start_date": {w.from.Format(time.DateOnly)}, "end_date": {until.Format(time.DateOnly)}}
	if w.next != "" {
		q.Set("next_token", w.next)
	}
	var wire struct {
		Data *[]jsontext.Value `json:"data"`
		Next *string           `json:"next_token"`
	}
	if _, err := d.get(ctx, d.collection, q, &wire); err != nil {
		var refused *connectorkit.Error
		if d.extra && errors.As(err, &refused) && refused.Class == connectorkit.Forbidden {
			return connectorkit.Page{Records: []connectorkit.Record{connectorkit.Unreadable(d.collection, nil)}, Next: at}, nil
		}
		return connectorkit.Page{}, err
	}
	if wire.Data == nil {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	var out connectorkit.Page
	for _, raw := range *wire.Data {
		key, day, rec := d.read(raw)
		out.Records = append(out.Records, rec)
		if key == "" {
			w.whole = false // one of those that are known may be meant
			continue
		}
		w.met[key] = day
	}
	switch {
	case wire.Next != nil && *wire.Next != "" && *wire.Next == w.next:
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errCircle)
	case wire.Next != nil && *wire.Next != "":
		w.next = *wire.Next
	case until.Before(end):
		w.from, w.next = until, "" // once more with its last day, of which midnight may have cut something off
	default:
		return d.end(out), nil
	}
	w.step++
	out.More = true
	out.Next = connectorkit.Cursor{"from": w.from.Format(time.DateOnly), "recent": encode(d.recent()),
		"step": strconv.Itoa(w.step), "account": d.id}
	return out, nil
}

func (d *days) begin(at connectorkit.Cursor) *dayWalk {
	w := &dayWalk{known: map[string]string{}, met: map[string]string{}, from: d.first, whole: true}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	if at["account"] != "" && at["account"] != d.id {
		w.since = w.from
		return w // another person's bookmark says nothing about this one
	}
	if json.Unmarshal([]byte(at["recent"]), &w.known) != nil {
		w.known = map[string]string{}
	}
	if from, err := time.Parse(time.DateOnly, at["from"]); err == nil {
		if from = from.AddDate(0, 0, -d.again); from.After(w.from) {
			w.from = from
		}
		if late := d.today.AddDate(0, 0, -d.again); late.Before(w.from) {
			w.from = late // the bookmark is ahead of the clock there
		}
	}
	w.since = w.from
	return w
}

// end deletes what was known of the days that were read and is not there any more.
func (d *days) end(out connectorkit.Page) connectorkit.Page {
	w := d.walk
	for _, key := range slices.Sorted(maps.Keys(w.known)) {
		if _, there := w.met[key]; !there && w.whole && w.known[key] >= w.since.Format(time.DateOnly) {
			out.Records = append(out.Records, connectorkit.Delete(key))
			delete(w.known, key)
		}
	}
	out.Next = connectorkit.Cursor{"from": d.today.Format(time.DateOnly), "recent": encode(d.recent()), "account": d.id}
	return out
}

// recent are the documents of the days that the next run reads again.
func (d *days) recent() map[string]string {
	out := maps.Clone(d.walk.known)
	maps.Copy(out, d.walk.met)
	oldest := d.today.AddDate(0, 0, -d.again-1).Format(time.DateOnly)
	maps.DeleteFunc(out, func(_, day string) bool { return day < oldest })
	return out
}

func encode(m map[string]string) string {
	text, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return "{}" // a map of texts has no such error
	}
	return string(text)
}
