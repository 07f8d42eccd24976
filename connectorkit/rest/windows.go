package rest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// Window is a span of time that a request asks for.
type Window struct {
	From, To time.Time
}

// DateWindows reads a list by the time of its items, oldest first, one window after another. Every run reads the last
// days again, because items come late and change. The bookmark holds the items of those days: one that a complete read
// does not return was deleted.
//
// The time of an item is the stream's consent time field.
type DateWindows struct {
	From, To string // parameters of the bounds; empty sends none
	// Layout is the form of the bounds. Empty means days.
	Layout string
	// Since is the first day with items, and SinceVariable a variable of the owner that replaces it.
	Since, SinceVariable string
	// Start returns the begin of the first window instead of Since.
	Start func(r *Run) (time.Time, error)
	// End returns the end of the last window. Nil means tomorrow for days, and otherwise the present time.
	End func(r *Run) time.Time
	// Days is how many days one request covers. Step returns the end of a window that begins at a time instead. Zero
	// and nil mean one window.
	Days int
	Step func(from time.Time) time.Time
	// Granularity is the smallest difference of two times. A window ends that much before the next one begins. Zero
	// means that the bounds are equal: what a bound cuts off is in the next window.
	Granularity time.Duration
	// Again is how many days before the bookmark every run reads again.
	Again int
	// Lookback returns from when a run reads again, for a bookmark at a time, instead of Again.
	Lookback func(at time.Time) time.Time
	// FollowItems makes the bookmark follow the newest item instead of the windows' end.
	FollowItems bool
	// KeepMissing deletes nothing, and the bookmark holds no items.
	KeepMissing bool
}

const oneDay = 24 * time.Hour

func (d DateWindows) collector(r *Run, s *Stream) (connectorkit.Collector, error) {
	d, err := d.withDefaults(r)
	return connectorkit.PagedStream{Stream: s.Name, Page: (&windowWalk{DateWindows: d, r: r, s: s}).fetchPage}, err
}

// withDefaults returns the windows with a layout and a beginning.
func (d DateWindows) withDefaults(r *Run) (DateWindows, error) {
	if d.Layout == "" {
		d.Layout = time.DateOnly
	}
	if d.Start == nil {
		since := d.Since
		if d.SinceVariable != "" && r.Setup.Env(d.SinceVariable) != "" {
			since = r.Setup.Env(d.SinceVariable)
		}
		first, err := time.Parse(time.DateOnly, since)
		if err != nil {
			return d, malformed(fmt.Errorf("%s must be a day such as 2019-06-30", d.SinceVariable))
		}
		d.Start = func(*Run) (time.Time, error) { return first, nil }
	}
	return d, nil
}

// windowWalk is one way through the windows of all partitions.
type windowWalk struct {
	DateWindows
	r *Run
	s *Stream

	begun              bool
	account            string
	first, today, last time.Time // begin of the first window, present time, end of the last window
	parts              []Partition
	marks              map[string]*windowMark // by partition
	step               int                    // makes the bookmarks of unfinished walks different

	// of the partition at hand, parts[0]
	from, since time.Time // begin of the window, of the first window
	page        string
	met         map[string]string // times of the items, by key
	newest      string
	whole       bool

	onePart bool      // the walk has one partition, of many
	spool   *itemList // of the items of a Shared stream
}

// windowMark is what the bookmark holds of a partition.
type windowMark struct {
	from  string
	known map[string]string // times of the recent items, by key
}

func (w *windowWalk) fetchPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	out, err := w.readPage(ctx, at)
	if rec, ok := w.s.declared(err); ok {
		return connectorkit.Page{Records: []connectorkit.Record{rec}, Next: at}, nil
	}
	if err != nil {
		return connectorkit.Page{}, err
	}
	if out.More = len(w.parts) > 0; out.More {
		w.step++
	} else if w.spool != nil {
		w.r.parents[w.s.Name] = w.spool
	}
	out.Next = w.cursor(out.More)
	return out, nil
}

func (w *windowWalk) readPage(ctx context.Context, at connectorkit.Cursor) (out connectorkit.Page, err error) {
	if !w.begun {
		if err := w.begin(ctx, at); err != nil {
			return out, err
		}
	}
	if len(w.parts) == 0 {
		return out, nil
	}
	part, until := w.parts[0], w.windowEnd()
	window := Window{From: w.from, To: until}
	if until.Before(w.last) {
		window.To = until.Add(-w.Granularity)
	}
	got, err := w.r.page(ctx, w.s, Ask{Partition: part, Window: window, Page: w.page}, func(q *governhttp.Request) {
		if w.From != "" {
			setParam(q, w.From, window.From.Format(w.Layout))
		}
		if w.To != "" {
			setParam(q, w.To, window.To.Format(w.Layout))
		}
	})
	if err != nil && (w.s.Partitions != nil || w.onePart) && IfUnserved(err) { // the other partitions are readable
		out.Records = append(out.Records, connectorkit.Unreadable(w.s.Name+" of "+part.ID, nil))
		w.beginPartition(w.parts[1:])
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if w.spool != nil {
		if err := w.spool.addItems(part, got.items); err != nil {
			return out, err
		}
	}
	rows, _ := w.r.rows(w.s, got.items, part)
	for _, row := range rows {
		out.Records = append(out.Records, row.record())
		if row.Key == "" {
			w.whole = false // one of those that are known may be meant
			continue
		}
		w.met[row.Key] = row.Time
		w.newest = max(w.newest, row.Time)
	}
	switch {
	case got.next != "":
		w.page = got.next
	case until.Before(w.last):
		w.from, w.page = until, ""
	default:
		out.Records = append(out.Records, w.endPartition()...)
	}
	return out, nil
}

// windowEnd returns the end of the window that is read.
func (w *windowWalk) windowEnd() time.Time {
	until := w.last
	switch {
	case w.Step != nil:
		until = w.Step(w.from)
	case w.Days > 0:
		until = w.from.AddDate(0, 0, w.Days)
	}
	if until.After(w.last) || !until.After(w.from) {
		return w.last
	}
	return until
}

// begin begins a walk. The bookmark of another account is not used.
func (w *windowWalk) begin(ctx context.Context, at connectorkit.Cursor) (err error) {
	parts, err := w.r.partitions(ctx, w.s)
	if err != nil {
		return err
	}
	if err := w.setPeriod(ctx); err != nil {
		return err
	}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	w.marks = map[string]*windowMark{}
	for _, part := range parts {
		m := &windowMark{}
		if at["account"] == "" || at["account"] == w.account {
			m.from = at[markName("from", part.ID)]
			if json.Unmarshal([]byte(at[markName("recent", part.ID)]), &m.known) != nil {
				m.known = nil
			}
		}
		if m.known == nil {
			m.known = map[string]string{}
		}
		w.marks[part.ID] = m
	}
	if w.s.Shared {
		w.spool = w.r.newList()
	}
	w.beginPartition(parts)
	w.begun = true
	return nil
}

// setPeriod sets the period of all windows.
func (w *windowWalk) setPeriod(ctx context.Context) (err error) {
	if w.account, err = w.r.Account(ctx); err != nil {
		return err
	}
	if w.first, err = w.Start(w.r); err != nil {
		return err
	}
	w.today = w.r.Now().UTC()
	w.last = w.today
	if w.Layout == time.DateOnly {
		w.today = w.today.Truncate(oneDay)
		w.last = w.today.Add(oneDay) // a day without a time is its midnight
	}
	if w.End != nil {
		w.last = w.End(w.r)
	}
	return nil
}

// beginPartition begins the first of the partitions that are left.
func (w *windowWalk) beginPartition(parts []Partition) {
	w.parts, w.page, w.whole, w.newest, w.met = parts, "", true, "", map[string]string{}
	if len(parts) == 0 {
		return
	}
	w.from = w.first
	if from, err := time.Parse(w.Layout, w.marks[parts[0].ID].from); err == nil {
		if from = w.rereadFrom(from); from.After(w.from) {
			w.from = from
		}
		if late := w.rereadFrom(w.today); late.Before(w.from) {
			w.from = late // the bookmark is ahead of the provider's clock
		}
	}
	w.since = w.from
}

func (w *windowWalk) rereadFrom(at time.Time) time.Time {
	if w.Lookback != nil {
		return w.Lookback(at)
	}
	return at.AddDate(0, 0, -w.Again)
}

// endPartition deletes known items of the windows that no longer exist, and goes on to the next partition.
func (w *windowWalk) endPartition() (gone []connectorkit.Record) {
	m := w.marks[w.parts[0].ID]
	for _, key := range slices.Sorted(maps.Keys(m.known)) {
		if _, there := w.met[key]; !there && w.whole && m.known[key] >= w.since.Format(w.Layout) {
			gone = append(gone, connectorkit.Delete(key))
			delete(m.known, key)
		}
	}
	m.known = w.recentItems(m)
	switch at, err := time.Parse(w.Layout, w.newest); {
	case !w.FollowItems:
		m.from = w.today.Format(w.Layout)
	case err == nil:
		m.from = at.Format(w.Layout)
	}
	w.beginPartition(w.parts[1:])
	return gone
}

// recentItems are the items of the partition at hand that the next run reads again.
func (w *windowWalk) recentItems(m *windowMark) map[string]string {
	if w.KeepMissing {
		return nil
	}
	out := maps.Clone(m.known)
	maps.Copy(out, w.met)
	oldest := w.today.AddDate(0, 0, -w.Again-1).Format(w.Layout)
	maps.DeleteFunc(out, func(_, at string) bool { return at < oldest })
	return out
}

// cursor returns the bookmark. Within a walk it continues at the window at hand.
func (w *windowWalk) cursor(more bool) connectorkit.Cursor {
	out := connectorkit.Cursor{}
	for id, m := range w.marks {
		from, known := m.from, m.known
		if more && w.parts[0].ID == id {
			from, known = w.from.Format(w.Layout), w.recentItems(m)
		}
		if from != "" {
			out[markName("from", id)] = from
		}
		if !w.KeepMissing && from != "" {
			out[markName("recent", id)] = encodeTexts(known)
		}
	}
	if w.account != "" {
		out["account"] = w.account
	}
	if more {
		out["step"] = strconv.Itoa(w.step)
	}
	return out
}

// markName returns the name of a partition's member in a bookmark.
func markName(name, partition string) string {
	if partition == "" {
		return name
	}
	return name + " " + partition
}

// encodeTexts encodes a map of texts.
func encodeTexts(m map[string]string) string {
	text, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return "{}" // a text that is not UTF-8 cannot come from JSON
	}
	return string(text)
}
