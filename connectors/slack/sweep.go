package slack

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// sweepRequests is how many requests of a run are spent on messages that are older than the last days: 5,000 messages.
const sweepRequests = 25

// olderSweep is a walk down the older messages of a conversation, over as many runs as it takes. A reply does not
// move the first message of its thread, and no method lists threads by their last reply: only reading the older
// messages again shows which threads have new replies.
type olderSweep struct {
	Below messageStamp `json:"b"` // everything above it was read again
	Began messageStamp `json:"t"` // when the walk began
}

// runStartStamp returns when the run began, by Slack's clock and with a minute to spare.
func (m *messageCollector) runStartStamp() messageStamp {
	return stampOfTime(m.today.Add(-time.Minute))
}

// startingAt returns the conversations in order, beginning with the one that the last run ended at.
func startingAt(ids []string, first string) []string {
	at, _ := slices.BinarySearch(ids, first)
	return slices.Concat(ids[at:], ids[:at])
}

// sweepNextRequest makes the next request of a sweep: a thread with new replies, or a page of older messages.
func (m *messageCollector) sweepNextRequest(ctx context.Context) ([]connectorkit.Record, error) {
	w := m.walk
	for len(w.sweeps) > 0 && w.spare > 0 {
		id := w.sweeps[0]
		c := w.all[id]
		switch {
		case c != nil && len(c.Queue) > 0:
			w.spare--
			return m.readNextThread(ctx, id, c)
		case c == nil || w.swept || c.Newest == "" || c.Oldest >= w.recent && c.Oldest != "" || w.firsts[id]:
			w.sweeps, w.swept, w.cursor = w.sweeps[1:], false, "" // nothing is older, or all of it was just read
			continue
		case c.Sweep == nil:
			c.Sweep = &olderSweep{Below: w.recent, Began: m.runStartStamp()}
		}
		w.spare--
		return m.sweepHistoryPage(ctx, id, c)
	}
	return nil, nil
}

// sweepHistoryPage reads a page of older messages and queues the threads that have replies since the last sweep.
func (m *messageCollector) sweepHistoryPage(ctx context.Context, id string, c *conversation) ([]connectorkit.Record,
	error) {
	w := m.walk
	q := url.Values{"channel": {id}, "limit": {maxPageSize}, "inclusive": {"true"}}
	w.setPageStart(q, c.Sweep.Below)
	got, err := m.requestList(ctx, historyPool, "conversations.history", q)
	switch classOf(err) {
	case connectorkit.CursorRejected:
		if w.cursor == "" {
			return nil, err
		}
		w.cursor = "" // it has expired: on from the last message
		return nil, nil
	case connectorkit.NotFound, connectorkit.Forbidden: // the walk through the last days declares it
		w.swept = true
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var records []connectorkit.Record
	for _, raw := range got.rows {
		ts, thread, rec := readMessage(id, raw)
		records = append(records, rec)
		if ts == "" {
			continue
		}
		c.Sweep.Below = min(c.Sweep.Below, ts)
		if thread.Count > 0 && thread.Latest >= c.Swept && !slices.Contains(c.Queue, ts) {
			c.Queue = append(c.Queue, ts)
		}
	}
	switch {
	case !got.more:
		c.Oldest, c.Swept, c.Sweep, w.swept = c.Sweep.Below, c.Sweep.Began, nil, true
	case got.next == "" || got.next == w.cursor:
		return nil, connectorkit.Fail(connectorkit.Malformed, errRepeatedPage)
	}
	w.cursor = got.next
	return records, nil
}
