package slack

import (
	"context"
	"net/url"
	"slices"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// maxThreadPages bounds one thread.
const maxThreadPages = 200

// readNextThread reads the replies of the first queued thread, oldest first. Known replies that are absent are
// deleted. An unreadable thread is left to the next run, and the others continue.
func (m *messageCollector) readNextThread(ctx context.Context, id string, c *conversation) ([]connectorkit.Record,
	error) {
	parent := c.Queue[0]
	now, records, err := m.readReplies(ctx, id, parent)
	switch classOf(err) {
	case connectorkit.NotFound, connectorkit.Forbidden:
		// of this conversation's threads: that they may not be read deletes nothing
		c.Again, c.Queue = append(c.Again, c.Queue...), nil
		return []connectorkit.Record{connectorkit.Unreadable("threads of "+id, nil)}, nil
	case connectorkit.Gone: // the whole of it
		c.Queue = c.Queue[1:]
		for _, reply := range c.Known[parent].Replies {
			records = append(records, connectorkit.Delete(messageKey(id, reply)))
		}
		c.rememberMessage(parent, knownMessage{})
		return records, nil
	case connectorkit.Malformed, connectorkit.CursorRejected:
		c.Queue = c.Queue[1:]
		c.Again = append(c.Again, parent)
		return []connectorkit.Record{connectorkit.Unreadable("thread "+messageKey(id, parent), nil)}, nil
	}
	if err != nil {
		return nil, err
	}
	c.Queue = c.Queue[1:]
	m.run.Setup.CompareCount("messages", "GET api/conversations.replies", "messages/[]/reply_count", now.Count,
		int64(len(records)))
	for _, reply := range c.Known[parent].Replies {
		if !slices.Contains(now.Replies, reply) {
			records = append(records, connectorkit.Delete(messageKey(id, reply)))
		}
	}
	if parent >= m.walk.recent {
		c.rememberMessage(parent, now)
	}
	return records, nil
}

// readReplies reads a thread to its end. Each page repeats the message that began it.
func (m *messageCollector) readReplies(ctx context.Context, id string, parent messageStamp) (k knownMessage,
	records []connectorkit.Record,
	err error) {
	seen := map[string]bool{}
	for cursor := ""; ; {
		q := url.Values{"channel": {id}, "ts": {string(parent)}, "limit": {maxPageSize}}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		got, err := m.requestList(ctx, repliesPool, "conversations.replies", q)
		if err != nil {
			return knownMessage{}, nil, err
		}
		for _, raw := range got.rows {
			ts, thread, rec := readMessage(id, raw)
			if ts == parent {
				k.Count, k.Latest = thread.Count, thread.Latest
				continue // history has it
			}
			records = append(records, rec)
			if ts != "" {
				k.Replies = append(k.Replies, ts)
			}
		}
		if seen[cursor] = true; got.next == "" {
			return k, records, nil
		}
		if cursor = got.next; seen[cursor] || len(seen) > maxThreadPages {
			return knownMessage{}, nil, connectorkit.Fail(connectorkit.Malformed, errRepeatedPage)
		}
	}
}
