package admin

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// bookmarksPage is where the next run goes on, and where it went on before.
type bookmarksPage struct {
	connectionPart
	Bookmarks []api.Bookmark
	Chosen    *api.Bookmark // the bookmark with the shown history
	Log       []api.BookmarkCommit
}

// mostCommits bounds the history of a bookmark on its page.
const mostCommits = 200

// rewindPage is what going back would mean.
type rewindPage struct {
	connectionPart
	Wish    api.Rewind
	Preview api.RewindPreview
}

func (p *adminPages) bookmarks(w http.ResponseWriter, r *http.Request) {
	c, ok := p.part(w, r)
	if !ok {
		return
	}
	page := &bookmarksPage{connectionPart: c}
	var err error
	if page.Bookmarks, err = p.Owner.Bookmarks(r.Context(), c.ID); err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	stream, mode := r.URL.Query().Get("stream"), r.URL.Query().Get("mode")
	for i := range page.Bookmarks {
		if b := &page.Bookmarks[i]; b.Stream == stream && b.Mode == mode {
			page.Chosen = b
		}
	}
	if stream != "" && page.Chosen == nil {
		p.ShowFailure(w, r, "sources", api.NotFound("There is no such bookmark.", "Choose one of the list."))
		return
	}
	if page.Chosen != nil {
		if page.Log, err = p.Owner.BookmarkLog(r.Context(), api.BookmarkQuery{ConnectionID: c.ID, Stream: stream, Mode: mode,
			Limit: mostCommits}); err != nil {
			p.ShowFailure(w, r, "sources", err)
			return
		}
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "Bookmarks, "+c.Name, "sources"), bookmarksBody(page, p.Now()))
}

// wish parses which bookmark to rewind, and to which of its values. If the form is invalid, it
// writes the response and returns false.
func (p *adminPages) wish(
	w http.ResponseWriter,
	r *http.Request,
	c *connectionPart,
	values url.Values,
) (api.Rewind, bool) {
	commit, err := strconv.ParseInt(values.Get("commit"), 10, 64)
	if err != nil {
		p.ShowFailure(w, r, "sources", api.Invalid("commit", "There is no such bookmark.", "Choose one of its history."))
		return api.Rewind{}, false
	}
	return api.Rewind{ConnectionID: c.ID, Stream: values.Get("stream"), Mode: values.Get("mode"), Commit: commit}, true
}

func (p *adminPages) previewRewind(w http.ResponseWriter, r *http.Request) {
	c, ok := p.part(w, r)
	if !ok {
		return
	}
	page := &rewindPage{connectionPart: c}
	if page.Wish, ok = p.wish(w, r, &c, r.URL.Query()); !ok {
		return
	}
	var err error
	if page.Preview, err = p.Owner.PreviewRewind(r.Context(), page.Wish); err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "Go back, "+c.Name, "sources"), rewindBody(page, p.Now()))
}

func (p *adminPages) rewind(w http.ResponseWriter, r *http.Request) {
	c, ok := p.part(w, r)
	if !ok || !p.ParseForm(w, r, "sources") {
		return
	}
	wish, ok := p.wish(w, r, &c, r.PostForm)
	if !ok {
		return
	}
	if _, err := p.Owner.Rewind(r.Context(), wish); err != nil {
		p.ShowFailure(w, r, "sources", err)
		return
	}
	ui.Done(w, r, c.history(wish.Stream, wish.Mode),
		ui.Good("Done. The next run continues from the bookmark that you chose."))
}

// history is the address of a bookmark's earlier values.
func (c *connectionPart) history(stream, mode string) string {
	return c.at("/bookmarks", bookmarkValues(stream, mode))
}

// back is the address at which going back to a value is looked at.
func (page *bookmarksPage) back(to api.BookmarkCommit) string {
	q := bookmarkValues(page.Chosen.Stream, page.Chosen.Mode)
	q.Set("commit", commitText(to.Commit))
	return page.at("/bookmarks/rewind", q)
}

func commitText(n int64) string { return strconv.FormatInt(n, 10) }

func bookmarkValues(stream, mode string) url.Values {
	q := url.Values{"stream": {stream}}
	if mode != "" {
		q.Set("mode", mode)
	}
	return q
}

// bookmarkFor returns what a bookmark of the mode is used for.
func bookmarkFor(mode string) string {
	if mode == "" {
		return "new records"
	}
	return "older history"
}

// again returns what the next run would read again.
func (page *rewindPage) again() string {
	p := page.Preview
	if p.RecordsChanged == 0 {
		return "No record has changed since. The next run looks again from there."
	}
	return "About " + text.Count(p.RecordsChanged, "record", "records") + " that changed since"
}
