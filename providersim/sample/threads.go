package sample

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"sort"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// updatedBounds is the inclusive span of updated_at that a walk covers.
type updatedBounds struct {
	Before int64 `json:"b"`
	After  int64 `json:"a"`
}

// threadPage is what a page token holds: the walk and the last thread delivered.
type threadPage struct {
	List string `json:"l"`
	updatedBounds
	Updated int64 `json:"u"`
	Index   int   `json:"i"`
	Empty   int   `json:"e,omitempty"` // counts empty pages, so that their tokens differ
}

func boundsParameter(q url.Values) (updatedBounds, *apiRefusal) {
	b := updatedBounds{Before: math.MaxInt64, After: math.MinInt64}
	for name, bound := range map[string]*int64{"before": &b.Before, "after": &b.After} {
		if !q.Has(name) {
			continue
		}
		t, err := time.Parse(time.RFC3339Nano, q.Get(name))
		// Years outside of this span do not fit into nanoseconds.
		if err != nil || t.Year() < 1700 || t.Year() > 2200 {
			return updatedBounds{}, badRequest("invalid_time")
		}
		*bound = t.UnixNano()
	}
	return b, nil
}

func (l *Lumen) serveThreads(r *http.Request) (any, *apiRefusal) {
	q := r.URL.Query()
	limit, refusal := limitParameter(q)
	if refusal != nil {
		return nil, refusal
	}
	span, refusal := boundsParameter(q)
	if refusal != nil {
		return nil, refusal
	}
	// This position is before every thread: it is newer than any at Before.
	at := threadPage{List: "threads", updatedBounds: span, Updated: span.Before, Index: math.MaxInt32}
	if q.Has("page") {
		at = threadPage{}
		if !l.signer.Open(q.Get("page"), &at) || at.List != "threads" || at.updatedBounds != span {
			return nil, badRequest("invalid_page")
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	first := sort.Search(len(l.order), func(i int) bool {
		return compareThreads(at.Updated, at.Index, l.threads[l.order[i]].updated, int(l.order[i])) < 0
	})
	fault := providersim.PageFaultFrom(r.Context())
	size := fault.Size(limit)
	out := nonNilItems(size)
	next, more := at, false
	next.Empty++
	for _, i := range l.order[first:] {
		updated := l.threads[i].updated
		if updated < span.After {
			break
		}
		if len(out) == size {
			more = true
			break
		}
		out = append(out, l.renderThread(int(i)))
		next.Updated, next.Index, next.Empty = updated, int(i), 0
	}
	page, more := fault.Next(l.signer.Seal(at), l.signer.Seal(next), more)
	if !more {
		page = ""
	}
	return struct {
		Threads  []json.RawMessage `json:"threads"`
		NextPage string            `json:"next_page,omitempty"`
	}{out, page}, nil
}

func (l *Lumen) serveThread(r *http.Request) (any, *apiRefusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, ok := indexOfID("thr", r.PathValue("id"), len(l.threads))
	switch {
	case !ok:
		return nil, &apiRefusal{http.StatusNotFound, "not_found"}
	case l.threads[i].deleted:
		return nil, &apiRefusal{http.StatusGone, "gone"}
	}
	return struct {
		ID        string        `json:"id"`
		Title     unescapedText `json:"title"`
		UpdatedAt time.Time     `json:"updated_at"`
		Messages  []messageJSON `json:"messages"`
	}{threadIDAt(i), l.threadTitle(i), timeFromNanos(l.threads[i].updated), l.threadMessages(i)}, nil
}
