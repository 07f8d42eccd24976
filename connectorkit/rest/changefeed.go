package rest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// ChangeFeed asks each partition for what changed since a token, and gets changes, deletions and the next token. The
// bookmark holds one token for each partition, and nothing of the items.
type ChangeFeed struct {
	Param  string // parameter of the token
	Member string // path of the next token in an answer
	// More is the path of a boolean: the next token can be asked for at once. Empty means that one answer has all.
	More string
	// Numbered means that tokens are numbers that grow. A provider that answers with a lower one, or no longer knows a
	// number, is asked for everything; deletions since then are unknown, and declared.
	Numbered bool
	// Reach describes how far back the requests reach. A bookmark from before a change of it is completed: everything
	// is read once more.
	Reach string
	// Bookmark is the name of the tokens in the bookmark. Empty means that of Param.
	Bookmark string
}

var errNoToken = errors.New("the answer lacks its change token")

func (f ChangeFeed) collector(r *Run, s *Stream) (connectorkit.Collector, error) {
	f.Bookmark = cmp.Or(f.Bookmark, f.Param)
	return connectorkit.PagedStream{Stream: s.Name, Page: (&feedWalk{ChangeFeed: f, r: r, s: s}).fetchPage}, nil
}

// feedWalk goes through the partitions once.
type feedWalk struct {
	ChangeFeed
	r *Run
	s *Stream

	begun bool
	left  []Partition
	known map[string]string // tokens by partition
	step  int               // makes the bookmarks of unfinished walks different
}

// reachSuffix follows a partition in the bookmark, with the reach of its requests.
const reachSuffix = " since"

func (w *feedWalk) fetchPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if !w.begun {
		if err := w.begin(ctx, at); err != nil {
			return connectorkit.Page{}, err
		}
	}
	var out connectorkit.Page
	if len(w.left) > 0 {
		var err error
		if out.Records, err = w.readPage(ctx, w.left[0]); err != nil {
			w.begun = w.s.Partitions != nil // the next call may come with another bookmark
			return connectorkit.Page{}, err
		}
	}
	if out.More = len(w.left) > 0; !out.More { // what changes while it is read comes again, later
		out.Whole = &connectorkit.Whole{Gone: connectorkit.AllKeysGone}
	}
	out.Next = w.cursor(out.More)
	return out, nil
}

// readPage reads the changes of a partition.
func (w *feedWalk) readPage(ctx context.Context, part Partition) ([]connectorkit.Record, error) {
	since := w.known[part.ID]
	got, err := w.r.changes(ctx, w.s, w.ChangeFeed, part, since)
	if err == nil && w.Reach != "" && since != "" && !got.whole && w.known[part.ID+reachSuffix] != w.Reach {
		// The changes above hold the deletions.
		var all *feedPage
		if all, err = w.r.requestChanges(ctx, w.s, w.ChangeFeed, part, ""); err == nil {
			got.items = append(got.items, all.items...)
		}
	}
	if err != nil && w.s.Partitions != nil && IfUnserved(err) { // the other partitions are readable
		w.left = w.left[1:]
		return []connectorkit.Record{connectorkit.Unreadable(w.s.Name+" of "+part.ID, nil)}, nil
	}
	if err != nil {
		return nil, err
	}
	var records []connectorkit.Record
	rows, _ := w.r.rows(w.s, got.items, part)
	for _, row := range rows {
		records = append(records, row.record())
	}
	if got.whole {
		records = append(records, connectorkit.Unreadable("deletions in "+cmp.Or(part.ID, w.s.Name), nil))
	}
	w.known[part.ID] = got.token
	if w.Reach != "" {
		w.known[part.ID+reachSuffix] = w.Reach
	}
	if w.More == "" || got.answer.Member(w.More).Kind() != 't' {
		w.left = w.left[1:]
	}
	return records, nil
}

// feedPage is an answer with changes.
type feedPage struct {
	*listedPage
	token string
	whole bool // everything was asked for, although something was known: deletions are not among the items
}

// Changes returns the items of a stream with a ChangeFeed that changed since a token, and the next token. Whole means
// that the provider no longer knows the token and the items are all.
func (r *Run) Changes(ctx context.Context, stream string, part Partition, since string) (items []Item, token string,
	whole bool, err error) {
	s, err := r.stream(stream)
	if err != nil {
		return nil, "", false, err
	}
	feed, ok := s.Sync.(ChangeFeed)
	if !ok {
		return nil, "", false, malformed(errNoToken)
	}
	got, err := r.changes(ctx, s, feed, part, since)
	if err != nil {
		return nil, "", false, err
	}
	for _, raw := range got.items {
		items = append(items, Item{Raw: raw, Partition: part, Run: r})
	}
	return items, got.token, got.whole, nil
}

// changes requests the changes since a token, or everything if the provider no longer knows a number.
func (r *Run) changes(ctx context.Context, s *Stream, f ChangeFeed, part Partition, since string) (*feedPage, error) {
	got, err := r.requestChanges(ctx, s, f, part, since)
	if !f.Numbered || since == "" {
		return got, err
	}
	var refused *connectorkit.Error
	unknown := errors.As(err, &refused) && refused.Status == http.StatusBadRequest
	if unknown || err == nil && numberOf(got.token) < numberOf(since) {
		if got, err = r.requestChanges(ctx, s, f, part, ""); err == nil {
			got.whole = true
		}
	}
	return got, err
}

func (r *Run) requestChanges(ctx context.Context, s *Stream, f ChangeFeed, part Partition, since string) (*feedPage,
	error) {
	got, err := r.page(ctx, s, Ask{Partition: part, Since: since}, func(q *governhttp.Request) {
		if since != "" {
			setParam(q, f.Param, since)
		}
	})
	if err != nil {
		return nil, err
	}
	out := &feedPage{listedPage: got, token: got.answer.Text(f.Member)}
	if out.token == "" {
		return nil, malformed(errNoToken)
	}
	return out, nil
}

func numberOf(token string) int64 {
	n, _ := strconv.ParseInt(token, 10, 64) // anything else is lower than every number
	return n
}

func (w *feedWalk) begin(ctx context.Context, at connectorkit.Cursor) (err error) {
	if w.left, err = w.r.partitions(ctx, w.s); err != nil {
		return err
	}
	w.known = readTexts(at[w.Bookmark])
	if w.s.Partitions == nil {
		w.known = map[string]string{"": at[w.Bookmark]}
	}
	w.step, _ = strconv.Atoi(at["step"]) // absent after a walk that was finished
	w.begun = true
	return nil
}

// cursor returns the bookmark. A partition that is not listed keeps its token.
func (w *feedWalk) cursor(more bool) connectorkit.Cursor {
	if w.s.Partitions == nil {
		return connectorkit.Cursor{w.Bookmark: w.known[""]}
	}
	out := connectorkit.Cursor{w.Bookmark: encodeTexts(w.known)}
	if more {
		w.step++
		out["step"] = strconv.Itoa(w.step)
	}
	return out
}

// readTexts reads a map of texts from a bookmark. Anything else is empty.
func readTexts(text string) map[string]string {
	var m map[string]string
	if json.Unmarshal([]byte(text), &m) != nil || m == nil {
		return map[string]string{}
	}
	return m
}
