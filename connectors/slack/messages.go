package slack

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// messages reads the conversations one after another, each newest first and its threads with it. An edit, a reaction or a
// reply does not make a message newer, and a deletion makes it absent: so the last days are read again in every run, and
// what the bookmark knows of them and is not met is deleted. Older messages are read again part by part, a few
// requests a run (sweep.go).
type messages struct {
	*api
	days int

	walk *walk // nil before the first page of a run
}

// conversation is what the bookmark holds of one.
type conversation struct {
	Newest stamp `json:"n,omitzero"` // everything up to it is stored
	Span   *span `json:"w,omitzero"` // what is being read
	// Queue are threads that are to be read, Again those that could not be, for the next run.
	Queue []stamp `json:"q,omitzero"`
	Again []stamp `json:"a,omitzero"`
	// Known are the messages of the last days.
	Known map[stamp]known `json:"k,omitzero"`
	// Oldest is the first message of the history; empty when that is not known.
	Oldest stamp `json:"o,omitzero"`
	// Swept is a moment: replies before it are stored, whatever thread they belong to.
	Swept stamp  `json:"s,omitzero"`
	Sweep *sweep `json:"p,omitzero"` // the part of the older messages that is being read again
}

// span is a part of a history that is being read from its newest message down.
type span struct {
	Floor stamp `json:"f,omitzero"`
	Top   stamp `json:"t,omitzero"`
	Back  stamp `json:"b,omitzero"` // everything above it is read
}

// known is what is remembered of a message: how many replies it had, which was the last, and all of them.
type known struct {
	Count   int64   `json:"c,omitzero"`
	Latest  stamp   `json:"l,omitzero"`
	Replies []stamp `json:"r,omitzero"`
}

// walk is one way through the conversations.
type walk struct {
	all    map[string]*conversation
	left   []string
	recent stamp // the first moment of the last days
	anew   bool  // it began without a bookmark, and every conversation was read whole
	step   int   // tells the bookmarks of walks that were not finished apart

	// Of the conversation at hand:
	fresh  bool // its newest messages were asked for in this run
	whole  bool // and everything down to the floor, in this run
	met    map[stamp]bool
	cursor string
	latest stamp // that the cursor belongs to

	sweeps []string        // conversations with older messages to read again
	spare  int             // requests that this run has left for them
	swept  bool            // those of the first of them were read to the end
	firsts map[string]bool // conversations that this run began to read
}

// mostKnown bounds what the bookmark remembers of one conversation.
const mostKnown = 5000

func (m *messages) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if m.walk == nil {
		w, err := m.begin(ctx, at)
		if err != nil {
			return connectorkit.Page{}, err
		}
		m.walk = w
	}
	w := m.walk
	for len(w.left) > 0 {
		id := w.left[0]
		c := w.all[id]
		if c == nil {
			c = &conversation{}
			w.all[id] = c
		}
		switch {
		case len(c.Queue) > 0:
			records, err := m.thread(ctx, id, c)
			return w.answer(m.me.account(), records, err)
		case c.Span != nil:
			records, err := m.history(ctx, id, c)
			return w.answer(m.me.account(), records, err)
		case !w.fresh:
			if c.Newest == "" && c.Swept == "" {
				c.Swept, w.firsts[id] = m.moment(), true
			}
			w.fresh, w.whole, w.met, w.cursor = true, true, map[stamp]bool{}, ""
			c.Span = &span{Floor: min(c.Newest, w.recent)} // an empty one reads everything
			c.Queue, c.Again = c.Again, nil
		default:
			w.left, w.fresh = w.left[1:], false
		}
	}
	records, err := m.sweepNext(ctx)
	page, err := w.answer(m.me.account(), records, err)
	if w.anew && err == nil && !page.More {
		page.Whole = &connectorkit.Whole{Gone: w.within}
	}
	return page, err
}

// within returns those of the keys that are of a conversation which was read: of one that the person has left nothing
// is known.
func (w *walk) within(_ context.Context, keys []string) (gone []string, err error) {
	for _, key := range keys {
		if id, _, _ := strings.Cut(key, ":"); w.all[id] != nil {
			gone = append(gone, key)
		}
	}
	return gone, nil
}

// begin finds out which conversations there are.
func (m *messages) begin(ctx context.Context, at connectorkit.Cursor) (*walk, error) {
	if err := m.know(ctx); err != nil {
		return nil, err
	}
	w := &walk{all: map[string]*conversation{}, firsts: map[string]bool{}, recent: stampOf(m.today.AddDate(0, 0, -m.days))}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	w.anew = len(at) == 0
	if at["account"] == m.me.account() && json.Unmarshal([]byte(at["conversations"]), &w.all) != nil || w.all == nil {
		w.all = map[string]*conversation{}
	}
	joined, err := m.joined(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range joined {
		w.left = append(w.left, c.ID)
	}
	w.sweeps, w.spare = startingAt(w.left, at["sweep"]), sweepRequests
	return w, nil
}

// history reads one page of a conversation.
func (m *messages) history(ctx context.Context, id string, c *conversation) ([]connectorkit.Record, error) {
	w, s := m.walk, c.Span
	q := url.Values{"channel": {id}, "limit": {pageSize}, "inclusive": {"true"}}
	if s.Floor != "" {
		q.Set("oldest", string(s.Floor))
	}
	w.ask(q, s.Back)
	got, err := m.list(ctx, m.histories, "conversations.history", "messages", q)
	switch of(err) {
	case connectorkit.CursorRejected:
		if w.cursor == "" {
			return nil, err
		}
		w.cursor, w.whole = "", false // it has expired: on from the last message
		return nil, nil
	case connectorkit.NotFound, connectorkit.Forbidden: // of this conversation alone; the others are there
		c.Span, w.fresh, w.cursor = nil, true, ""
		return []connectorkit.Record{connectorkit.Unreadable("conversation "+id, nil)}, nil
	}
	if err != nil {
		return nil, err
	}
	if !w.fresh || w.met == nil {
		w.whole = false // an earlier run read the part above
	}
	records := c.take(id, got, w)
	if !got.more {
		return append(records, c.finish(id, w, got.limited)...), nil
	}
	if got.next == "" || got.next == w.cursor {
		return nil, connectorkit.Fail(connectorkit.Malformed, errCircle)
	}
	w.cursor = got.next
	return records, nil
}

// ask adds where a page begins: at the cursor of the page before, with the bound that it was asked with, or below a
// message.
func (w *walk) ask(q url.Values, below stamp) {
	if w.cursor == "" {
		w.latest = below
	} else {
		q.Set("cursor", w.cursor)
	}
	if w.latest != "" {
		q.Set("latest", string(w.latest))
	}
}

// take makes records of a page, and notes which threads changed.
func (c *conversation) take(id string, got list, w *walk) (records []connectorkit.Record) {
	for _, raw := range got.rows {
		ts, thread, rec := readMessage(id, raw)
		records = append(records, rec)
		if ts == "" {
			w.whole = false // one of those that are known may be meant
			continue
		}
		if w.met != nil {
			w.met[ts] = true
		}
		c.Span.Top = max(c.Span.Top, ts)
		if c.Span.Back == "" || ts < c.Span.Back {
			c.Span.Back = ts
		}
		old, remembered := c.Known[ts]
		switch {
		case thread.Count > 0 && (old.Count != thread.Count || old.Latest != thread.Latest) && !slices.Contains(c.Queue, ts):
			c.Queue = append(c.Queue, ts)
		case thread.Count == 0 && len(old.Replies) > 0: // its last reply was deleted: it is no thread any more
			for _, reply := range old.Replies {
				records = append(records, connectorkit.Delete(key(id, reply)))
			}
			c.remember(ts, known{})
		case !remembered && ts >= w.recent:
			c.remember(ts, known{})
		}
	}
	return records
}

func (c *conversation) remember(ts stamp, k known) {
	if c.Known == nil {
		c.Known = map[stamp]known{}
	}
	c.Known[ts] = k
}

// finish ends a span: what was known of it and was not met is deleted. An answer without any message is no proof.
func (c *conversation) finish(id string, w *walk, limited bool) (records []connectorkit.Record) {
	s := c.Span
	w.anew = w.anew && w.whole
	if limited {
		records = append(records, connectorkit.Unreadable("older messages of "+id+", which the plan hides", nil))
	}
	for _, ts := range slices.Sorted(maps.Keys(c.Known)) {
		switch {
		case ts >= s.Floor && s.Top != "" && w.whole && !w.met[ts]:
			records = append(records, connectorkit.Delete(key(id, ts)))
			for _, reply := range c.Known[ts].Replies {
				records = append(records, connectorkit.Delete(key(id, reply)))
			}
			delete(c.Known, ts)
		case ts < w.recent:
			delete(c.Known, ts)
		}
	}
	for _, ts := range slices.Sorted(maps.Keys(c.Known)) { // the oldest are forgotten first
		if len(c.Known) <= mostKnown {
			break
		}
		delete(c.Known, ts)
	}
	c.Newest = max(c.Newest, s.Top)
	if s.Floor == "" {
		c.Oldest = s.Back
	}
	c.Span, w.cursor = nil, ""
	return records
}

// answer is a page with its bookmark.
func (w *walk) answer(account string, records []connectorkit.Record, err error) (connectorkit.Page, error) {
	if err != nil {
		return connectorkit.Page{}, err
	}
	text, err := json.Marshal(w.all, json.Deterministic(true))
	if err != nil {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, err)
	}
	out := connectorkit.Page{Records: records,
		Next: connectorkit.Cursor{"conversations": string(text), "account": account}, More: len(w.left) > 0 ||
			len(w.sweeps) > 0 && w.spare > 0}
	if len(w.sweeps) > 0 {
		out.Next["sweep"] = w.sweeps[0]
	}
	if out.More {
		w.step++
		out.Next["step"] = strconv.Itoa(w.step)
	}
	return out, nil
}
