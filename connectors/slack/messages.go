package slack

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

// messageCollector reads one conversation after another, each newest first with its threads. Edits, reactions and
// replies do not make a message newer, and a deleted message is absent. So every run reads the last days again and
// deletes known messages that are absent. Older messages are read again part by part, a few requests per run
// (sweep.go).
type messageCollector struct {
	run     *rest.Run
	account string // the workspace and the person; empty until requested
	today   time.Time
	days    int // how many are read again

	walk *conversationWalk // nil before the first page of a run
}

// conversation is what the bookmark holds of one.
type conversation struct {
	Newest messageStamp `json:"n,omitzero"` // everything up to it is stored
	Span   *historySpan `json:"w,omitzero"` // what is being read
	// Queue are threads that are to be read, Again those that could not be, for the next run.
	Queue []messageStamp `json:"q,omitzero"`
	Again []messageStamp `json:"a,omitzero"`
	// Known are the messages of the last days.
	Known map[messageStamp]knownMessage `json:"k,omitzero"`
	// Oldest is the first message of the history; empty when that is not known.
	Oldest messageStamp `json:"o,omitzero"`
	// Swept is a moment: replies before it are stored, whatever thread they belong to.
	Swept messageStamp `json:"s,omitzero"`
	Sweep *olderSweep  `json:"p,omitzero"` // the part of the older messages that is being read again
}

// historySpan is a part of a history that is being read from its newest message down.
type historySpan struct {
	Floor messageStamp `json:"f,omitzero"`
	Top   messageStamp `json:"t,omitzero"`
	Back  messageStamp `json:"b,omitzero"` // everything above it is read
}

// knownMessage is the bookmark entry of a message: its number of replies, the last one, and all of them.
type knownMessage struct {
	Count   int64          `json:"c,omitzero"`
	Latest  messageStamp   `json:"l,omitzero"`
	Replies []messageStamp `json:"r,omitzero"`
}

// conversationWalk is one way through the conversations.
type conversationWalk struct {
	all    map[string]*conversation
	left   []string
	recent messageStamp // the first moment of the last days
	anew   bool         // it began without a bookmark, and every conversation was read whole
	step   int          // makes the bookmarks of unfinished walks different

	// Of the conversation at hand:
	fresh  bool // its newest messages were asked for in this run
	whole  bool // and everything down to the floor, in this run
	met    map[messageStamp]bool
	cursor string
	latest messageStamp // that the cursor belongs to

	sweeps []string        // conversations with older messages to read again
	spare  int             // requests that this run has left for them
	swept  bool            // those of the first of them were read to the end
	firsts map[string]bool // conversations that this run began to read
}

// maxKnownMessages bounds what the bookmark remembers of one conversation.
const maxKnownMessages = 5000

func (m *messageCollector) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if m.walk == nil {
		w, err := m.startWalk(ctx, at)
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
			records, err := m.readNextThread(ctx, id, c)
			return w.pageWithCursor(m.account, records, err)
		case c.Span != nil:
			records, err := m.readHistoryPage(ctx, id, c)
			return w.pageWithCursor(m.account, records, err)
		case !w.fresh:
			if c.Newest == "" && c.Swept == "" {
				c.Swept, w.firsts[id] = m.runStartStamp(), true
			}
			w.fresh, w.whole, w.met, w.cursor = true, true, map[messageStamp]bool{}, ""
			c.Span = &historySpan{Floor: min(c.Newest, w.recent)} // an empty one reads everything
			c.Queue, c.Again = c.Again, nil
		default:
			w.left, w.fresh = w.left[1:], false
		}
	}
	records, err := m.sweepNextRequest(ctx)
	page, err := w.pageWithCursor(m.account, records, err)
	if w.anew && err == nil && !page.More {
		page.Whole = &connectorkit.Whole{Gone: w.goneFromReadConversations}
	}
	return page, err
}

// goneFromReadConversations returns those of the keys that are of a conversation which was read: of one that the
// person has left nothing is known.
func (w *conversationWalk) goneFromReadConversations(_ context.Context, keys []string) (gone []string, err error) {
	for _, key := range keys {
		if id, _, _ := strings.Cut(key, ":"); w.all[id] != nil {
			gone = append(gone, key)
		}
	}
	return gone, nil
}

// startWalk finds out which conversations there are.
func (m *messageCollector) startWalk(ctx context.Context, at connectorkit.Cursor) (*conversationWalk, error) {
	if err := m.fetchAccount(ctx); err != nil {
		return nil, err
	}
	w := &conversationWalk{all: map[string]*conversation{}, firsts: map[string]bool{},
		recent: stampOfTime(m.today.AddDate(0, 0, -m.days))}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	w.anew = len(at) == 0
	if at["account"] == m.account && json.Unmarshal([]byte(at["conversations"]), &w.all) != nil || w.all == nil {
		w.all = map[string]*conversation{}
	}
	joined, err := m.joinedConversations(ctx)
	if err != nil {
		return nil, err
	}
	w.left = joined
	w.sweeps, w.spare = startingAt(w.left, at["sweep"]), sweepRequests
	return w, nil
}

// readHistoryPage reads one page of a conversation.
func (m *messageCollector) readHistoryPage(ctx context.Context, id string, c *conversation) ([]connectorkit.Record,
	error) {
	w, s := m.walk, c.Span
	q := url.Values{"channel": {id}, "limit": {maxPageSize}, "inclusive": {"true"}}
	if s.Floor != "" {
		q.Set("oldest", string(s.Floor))
	}
	w.setPageStart(q, s.Back)
	got, err := m.requestList(ctx, historyPool, "conversations.history", q)
	switch classOf(err) {
	case connectorkit.CursorRejected:
		if w.cursor == "" {
			return nil, err
		}
		w.cursor, w.whole = "", false // it has expired: on from the last message
		return nil, nil
	case connectorkit.NotFound, connectorkit.Forbidden: // only this conversation is affected
		c.Span, w.fresh, w.cursor = nil, true, ""
		return []connectorkit.Record{connectorkit.Unreadable("conversation "+id, nil)}, nil
	}
	if err != nil {
		return nil, err
	}
	if !w.fresh || w.met == nil {
		w.whole = false // an earlier run read the part above
	}
	records := c.recordsOfPage(id, got, w)
	if !got.more {
		return append(records, c.finishSpan(id, w, got.limited)...), nil
	}
	if got.next == "" || got.next == w.cursor {
		return nil, connectorkit.Fail(connectorkit.Malformed, errRepeatedPage)
	}
	w.cursor = got.next
	return records, nil
}

// setPageStart adds where a page begins: at the cursor of the page before, with the bound that it was asked with, or
// below a message.
func (w *conversationWalk) setPageStart(q url.Values, below messageStamp) {
	if w.cursor == "" {
		w.latest = below
	} else {
		q.Set("cursor", w.cursor)
	}
	if w.latest != "" {
		q.Set("latest", string(w.latest))
	}
}

// recordsOfPage makes records of a page, and notes which threads changed.
func (c *conversation) recordsOfPage(id string, got listPage, w *conversationWalk) (records []connectorkit.Record) {
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
				records = append(records, connectorkit.Delete(messageKey(id, reply)))
			}
			c.rememberMessage(ts, knownMessage{})
		case !remembered && ts >= w.recent:
			c.rememberMessage(ts, knownMessage{})
		}
	}
	return records
}

func (c *conversation) rememberMessage(ts messageStamp, k knownMessage) {
	if c.Known == nil {
		c.Known = map[messageStamp]knownMessage{}
	}
	c.Known[ts] = k
}

// finishSpan ends a span and deletes known messages that were absent. An answer without any message is no proof.
func (c *conversation) finishSpan(id string, w *conversationWalk, limited bool) (records []connectorkit.Record) {
	s := c.Span
	w.anew = w.anew && w.whole
	if limited {
		records = append(records, connectorkit.Unreadable("older messages of "+id+", which the plan hides", nil))
	}
	for _, ts := range slices.Sorted(maps.Keys(c.Known)) {
		switch {
		case ts >= s.Floor && s.Top != "" && w.whole && !w.met[ts]:
			records = append(records, connectorkit.Delete(messageKey(id, ts)))
			for _, reply := range c.Known[ts].Replies {
				records = append(records, connectorkit.Delete(messageKey(id, reply)))
			}
			delete(c.Known, ts)
		case ts < w.recent:
			delete(c.Known, ts)
		}
	}
	for _, ts := range slices.Sorted(maps.Keys(c.Known)) { // the oldest are forgotten first
		if len(c.Known) <= maxKnownMessages {
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

// pageWithCursor is a page with its bookmark.
func (w *conversationWalk) pageWithCursor(account string, records []connectorkit.Record, err error) (connectorkit.Page,
	error) {
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
