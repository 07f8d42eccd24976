package github

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// issues reads issues and pull requests in the order of their last update, oldest
// first. A page ends where the next one begins by content time, so nothing that
// changes meanwhile can shift a page: what is touched moves to the end and is
// read there. GitHub's bound is inclusive and has whole seconds.
//
// Such a list shows no deletion. A walk from its beginning is therefore compared with the store, and repeated
// before anything is deleted.
type issues struct{ api *api }

func (l *issues) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	page, _, err := l.read(ctx, at)
	if err == nil && !page.More {
		page.Whole = &connectorkit.Whole{Gone: func(ctx context.Context, keys []string) ([]string, error) {
			there, err := l.everything(ctx)
			return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return there[key] }), err
		}}
	}
	return page, err
}

// everything returns the ids of the whole list.
func (l *issues) everything(ctx context.Context) (map[string]bool, error) {
	there := map[string]bool{}
	for at := (connectorkit.Cursor{}); ; {
		page, ids, err := l.read(ctx, at)
		if err != nil {
			return there, err
		}
		if len(ids) < len(page.Records) {
			return there, connectorkit.ErrUnsure // something could not be read, or is held back
		}
		for _, id := range ids {
			there[id] = true
		}
		if !page.More {
			return there, nil
		}
		if maps.Equal(page.Next, at) {
			return there, errCircle
		}
		at = page.Next
	}
}

// read reads a page, and returns the ids of what could be read on it.
func (l *issues) read(ctx context.Context, at connectorkit.Cursor) (page connectorkit.Page, ids []string, err error) {
	request := at["next"]
	if request == "" {
		request = target("issues", "filter", "all", "state", "all", "sort", "updated", "direction", "asc",
			"per_page", pageSize, "since", at["since"])
	}
	resp, err := l.api.get(ctx, request, at["etag"], nil)
	if err != nil {
		return page, nil, err
	}
	if resp.unchanged {
		return connectorkit.Page{Next: at, Records: resp.absent()}, nil, nil
	}
	rows, err := resp.rows()
	if err != nil {
		return page, nil, err
	}
	page = connectorkit.Page{Records: resp.absent(), More: resp.next != ""}
	newest, whole := at["since"], true
	for _, raw := range rows {
		row, _, fault := issue(raw)
		if fault != nil {
			page.Records = append(page.Records, *fault)
			whole = false
			continue
		}
		page.Records = append(page.Records, connectorkit.Upsert(row.record()))
		ids = append(ids, ident(row.ID))
		newest = row.UpdatedAt
	}
	page.Next = connectorkit.Cursor{"since": newest}
	switch {
	case newest != at["since"]:
	case page.More:
		page.Next["next"] = resp.next // one second holds more than a page
	case whole:
		page.Next["etag"] = resp.Header.Get("ETag") // the same question can be asked with it
	}
	if newest == "" {
		delete(page.Next, "since")
	}
	return page, ids, nil
}

var errCircle = errors.New("the next page is one that was already read")

// events reads what GitHub still shows of the account's activity: the newest 300
// of 90 days, newest first.
type events struct {
	api     *api
	profile *profile

	walk *eventWalk // nil before the first page of a run
}

// eventWalk is one way through the pages.
type eventWalk struct {
	since  string // newest event that an earlier run has seen
	newest string
	etag   string // of the first page
	next   string
	oldest string
	step   int // tells the bookmarks of walks that were not finished apart
}

func (e *events) page(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	request, condition := "", ""
	if e.walk != nil {
		request = e.walk.next
	} else {
		login, err := e.profile.login(ctx)
		if err != nil {
			return connectorkit.Page{}, err
		}
		request, condition = target("users/"+login+"/events", "per_page", pageSize), at["etag"]
	}
	resp, err := e.api.get(ctx, request, condition, nil)
	if err != nil {
		return connectorkit.Page{}, err
	}
	if resp.unchanged {
		return connectorkit.Page{Next: at}, nil
	}
	rows, err := resp.rows()
	if err != nil {
		return connectorkit.Page{}, err
	}
	if e.walk == nil {
		step, _ := strconv.Atoi(at["step"]) // absent after a walk that was finished
		e.walk = &eventWalk{since: at["since"], newest: at["since"], etag: resp.Header.Get("ETag"), step: step}
	}
	w := e.walk
	var page connectorkit.Page
	met := false
	for _, raw := range rows {
		var row wireEvent
		err := decode(raw, &row)
		if _, badTime := time.Parse(time.RFC3339, row.CreatedAt); err == nil {
			err = badTime
		}
		if err != nil || row.ID == "" {
			page.Records = append(page.Records, unreadable(raw, err))
			w.etag = ""
			continue
		}
		if row.CreatedAt < w.since { // both are UTC in one spelling
			met = true
			break
		}
		page.Records = append(page.Records, connectorkit.Upsert(row.record()))
		w.newest, w.oldest = max(w.newest, row.CreatedAt), row.CreatedAt
	}
	if !met && resp.next != "" {
		if resp.next == w.next {
			return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errCircle)
		}
		w.next = resp.next
		w.step++
		page.More = true
		page.Next = connectorkit.Cursor{"since": w.since, "step": strconv.Itoa(w.step)}
		return page, nil
	}
	if lost := w.since != "" && !met && w.oldest > w.since; lost {
		page.Records = append(page.Records, connectorkit.Unreadable("events before "+w.oldest, nil))
	}
	page.Next = connectorkit.Cursor{"since": w.newest, "etag": w.etag}
	return page, nil
}
