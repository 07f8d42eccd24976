package spotify

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
)

var errCircle = errors.New("the next page is one that was already read")

// plays reads the last plays, newest first. Spotify keeps about fifty, so that each run asks for all of
// them and stops at those that are known: what came late is found, and what was lost is seen.
type plays struct {
	*api

	walk *playWalk // nil before the first page of a run
}

type playWalk struct {
	since  string // newest play that an earlier run has seen
	newest string
	oldest string
	next   string
	pages  int
	step   int // tells the bookmarks of walks that were not finished apart
}

// mostPages bounds a walk: many times what Spotify keeps.
const mostPages = 50

func (l *plays) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	if l.walk == nil {
		step, _ := strconv.Atoi(at["step"]) // absent after a walk that was finished
		l.walk = &playWalk{step: step, since: at["since"], newest: at["since"], next: "v1/me/player/recently-played?limit=" + pageSize}
	}
	w := l.walk
	got, err := l.list(ctx, w.next)
	if err != nil {
		if w.pages == 0 {
			l.walk = nil // the next call may come with another bookmark
		}
		return connectorkit.Page{}, err
	}
	var out connectorkit.Page
	known := false
	for _, raw := range got.rows {
		var p wirePlay
		err := json.Unmarshal(raw, &p)
		moment, badTime := time.Parse(time.RFC3339Nano, p.PlayedAt)
		if err != nil || badTime != nil || p.Track == nil || p.Track.key() == "" {
			out.Records = append(out.Records, unreadable(raw, err))
			continue
		}
		out.Records = append(out.Records, connectorkit.Upsert(p.record()))
		w.oldest = moment.UTC().Format(spelled)
		w.newest = max(w.newest, w.oldest)
		known = known || w.oldest <= w.since
	}
	w.pages++
	if got.next != "" && len(got.rows) > 0 {
		if got.next == w.next || w.pages >= mostPages {
			return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errCircle)
		}
		w.next = got.next
		w.step++
		out.More = true
		out.Next = connectorkit.Cursor{"since": w.since, "step": strconv.Itoa(w.step)}
		return out, nil
	}
	if w.since != "" && w.oldest > w.since {
		// More was played since than Spotify keeps.
		out.Records = append(out.Records, connectorkit.Unreadable("plays before "+w.oldest, nil))
	}
	out.Next = connectorkit.Cursor{"since": w.newest}
	return out, nil
}

// spelled is one spelling of moments, which sorts as they do.
const spelled = "2006-01-02T15:04:05.000Z"
