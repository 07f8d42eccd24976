package slack

import (
	"context"
	"net/url"
	"slices"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// mostPages bounds one thread.
const mostPages = 200

// thread reads the replies of the first thread of the queue, oldest first. What was known of them and is not there any
// more is deleted. A thread that cannot be read is left to the next run, and the others go on.
func (m *messages) thread(ctx context.Context, id string, c *conversation) ([]connectorkit.Record, error) {
	parent := c.Queue[0]
	now, records, err := m.replies(ctx, id, parent)
	switch of(err) {
	case connectorkit.NotFound, connectorkit.Forbidden: // of this conversation's threads: that they may not be read deletes nothing
		c.Again, c.Queue = append(c.Again, c.Queue...), nil
		return []connectorkit.Record{connectorkit.Unreadable("threads of "+id, nil)}, nil
	case connectorkit.Gone: // the whole of it
		c.Queue = c.Queue[1:]
		for _, reply := range c.Known[parent].Replies {
			records = append(records, connectorkit.Delete(key(id, reply)))
		}
		c.remember(parent, known{})
		return records, nil
	case connectorkit.Malformed, connectorkit.CursorRejected:
		c.Queue = c.Queue[1:]
		c.Again = append(c.Again, parent)
		return []connectorkit.Record{connectorkit.Unreadable("thread "+key(id, parent), nil)}, nil
	}
	if err != nil {
		return nil, err
	}
	c.Queue = c.Queue[1:]
	m.counted("messages", "GET api/conversations.replies", "messages/[]/reply_count", now.Count, int64(len(records)))
	for _, reply := range c.Known[parent].Replies {
		if !slices.Contains(now.Replies, reply) {
			records = append(records, connectorkit.Delete(key(id, reply)))
		}
	}
	if parent >= m.walk.recent {
		c.remember(parent, now)
	}
	return records, nil
}

// replies reads a thread to its end. Each page repeats the message that began it.
func (m *messages) replies(ctx context.Context, id string, parent stamp) (k known, records []connectorkit.Record, err error) {
	seen := map[string]bool{}
	for cursor := ""; ; {
		q := url.Values{"channel": {id}, "ts": {string(parent)}, "limit": {pageSize}}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		got, err := m.list(ctx, m.threads, "conversations.replies", "messages", q)
		if err != nil {
			return known{}, nil, err
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
		if cursor = got.next; seen[cursor] || len(seen) > mostPages {
			return known{}, nil, connectorkit.Fail(connectorkit.Malformed, errCircle)
		}
	}
}
