package slack

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	// maxPageSize is what Slack recommends as the largest page.
	maxPageSize = "200"
	// lookbackDays is how many days back edits, reactions, replies and deletions are detected.
	lookbackDays = 7
)

var (
	errLookback     = errors.New("SLACK_LOOKBACK_DAYS must be a number of days from 1 to 365")
	errRepeatedPage = errors.New("the next page is one that was already read")
)

func collectMessages(r *rest.Run) connectorkit.Collector {
	m := &messageCollector{run: r}
	return connectorkit.PagedStream{Stream: "messages", Page: m.fetchNextPage}
}

// fetchAccount requests the owner of the token and the server's time, once per run.
func (m *messageCollector) fetchAccount(ctx context.Context) (err error) {
	if m.account != "" {
		return nil
	}
	if m.days, err = rereadDays(m.run.Setup); err != nil {
		return err
	}
	account, err := m.run.Account(ctx)
	m.account, m.today = account, m.run.Now()
	return err
}

// rereadDays returns how many days are read again.
func rereadDays(s *connectorkit.Setup) (int, error) {
	text := s.Env("SLACK_LOOKBACK_DAYS")
	if text == "" {
		return lookbackDays, nil
	}
	days, err := strconv.Atoi(text)
	if err != nil || days < 1 || days > 365 {
		return 0, connectorkit.Fail(connectorkit.Malformed, errLookback)
	}
	return days, nil
}

// joinedConversations returns the ids of the conversations that the person is in, in order. The stream of conversations
// declares one that cannot be read.
func (m *messageCollector) joinedConversations(ctx context.Context) (ids []string, err error) {
	parts, err := conversations(func(rest.Item) bool { return true })(ctx, m.run)
	for _, p := range parts {
		ids = append(ids, p.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// listPage is one page of messages.
type listPage struct {
	rows []jsontext.Value
	next string // cursor of the next page; empty on the last
	more bool   // there is more, which a page may announce without a cursor
	// limited is set when the workspace's plan hides older messages.
	limited bool
}

func (m *messageCollector) requestList(ctx context.Context, pool, method string, q url.Values) (listPage, error) {
	a, err := m.run.FetchFrom(ctx, pool, governhttp.Request{Path: method, Query: q})
	if err != nil {
		return listPage{}, err
	}
	rows, err := rest.FirstList("messages")(a)
	out := listPage{rows: rows, next: a.Text("response_metadata.next_cursor"),
		limited: a.Member("is_limited").Kind() == 't'}
	out.more = out.next != "" || a.Member("has_more").Kind() == 't'
	return out, err
}

// classOf returns the class of an error; empty when it has none.
func classOf(err error) connectorkit.Class {
	var e *connectorkit.Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}
