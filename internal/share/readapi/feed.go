package readapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	// usualPoll is how often a feed looks for changes.
	usualPoll = 5 * time.Second
	// maxFeedsOfGrant is how many feeds one grant may have open.
	maxFeedsOfGrant = 4
	// feedWriteTime is how long a client may take for one event.
	feedWriteTime = 30 * time.Second
)

// feed answers with the changes of a stream as server-sent events, until the client leaves, its access ends or the
// server does. Each event is a page as changes returns it, and its id is the cursor behind it. Every page is a read of
// its own: what a grant may read, and how much, is decided again for each.
func (a *api) feed(w http.ResponseWriter, r *http.Request) {
	f, err := a.openFeed(r)
	var page grantview.ChangePage
	if err == nil {
		defer f.leave()
		page, err = f.next()
	}
	if err != nil {
		r = r.WithContext(audit.WithActor(r.Context(), actor(r, f.who)))
		a.noteRefusal(r, err)
		a.fail(w, r, err, a.Metadata)
		return
	}
	f.begin(w)
	ticks := time.NewTicker(cmp.Or(a.Poll, usualPoll))
	defer ticks.Stop()
	for {
		if err := f.send(page); err != nil {
			return
		}
		if !page.HasMore {
			select {
			case <-r.Context().Done():
				return
			case <-a.Ending:
				return
			case <-ticks.C:
			}
		}
		if page, err = f.poll(page.HasMore); err != nil {
			f.end(err)
			return
		}
	}
}

// changeFeed is one open feed.
type changeFeed struct {
	api     *api
	r       *http.Request
	stream  string
	query   url.Values // of the pages, with the place; nil until the first one
	who     grants.Access
	leave   func()
	w       http.ResponseWriter
	control *http.ResponseController
	seen    string // what the streams were like before the last page
}

func (a *api) openFeed(r *http.Request) (f *changeFeed, err error) {
	f = &changeFeed{api: a, r: r}
	f.leave, err = a.admitFeed(r)
	return f, err
}

// parse reads the parameters: those of a list of changes, with the stream's name. Last-Event-ID takes the place of
// changes_since.
func (f *changeFeed) parse() error {
	query, err := url.ParseQuery(f.r.URL.RawQuery)
	if err != nil {
		return invalidRequest("", "The query of the address cannot be read.", "Encode it as form data.")
	}
	if len(query["stream"]) != 1 || query.Get("stream") == "" {
		return invalidRequest("stream", "The stream is missing.", "Name one with stream.")
	}
	for _, name := range []string{"expand", "expand_limit", "cursor", "order"} {
		if query.Has(name) {
			return invalidRequest(name, "This address does not know the parameter.", "Leave it out.")
		}
	}
	f.stream = query.Get("stream")
	query.Del("stream")
	if id := f.r.Header.Get("Last-Event-ID"); id != "" {
		query.Set("changes_since", id)
	} else if !query.Has("changes_since") {
		query.Set("changes_since", beginning)
	}
	f.query = query
	return nil
}

// admitFeed counts the feeds of a grant. The first one of a token is admitted before anything is known of it.
func (a *api) admitFeed(r *http.Request) (leave func(), err error) {
	token, err := bearer(r)
	if err != nil {
		return func() {}, err
	}
	by := a.limits.reader(token)
	if by == nil {
		return func() {}, nil
	}
	if !a.limits.enterFeed(by) {
		return func() {}, tooMany(fmt.Sprintf("The grant has %d feeds open, and may have no more at once.", maxFeedsOfGrant),
			time.Minute)
	}
	return func() { a.limits.leaveFeed(by) }, nil
}

// next reads one page and moves the place.
func (f *changeFeed) next() (page grantview.ChangePage, err error) {
	var seen string
	read := func(r *http.Request, who grants.Access) (_ any, err error) {
		if f.query == nil { // after the access: others learn nothing of their request
			if err := f.parse(); err != nil {
				return nil, err
			}
		}
		if seen, err = f.streams(); err != nil { // before the page: a change meanwhile is read next time
			return nil, err
		}
		of := r.Clone(r.Context())
		of.SetPathValue("stream", f.stream)
		of.URL.RawQuery = f.query.Encode()
		return f.api.records(of, who)
	}
	answer, who, err := f.api.answer(f.r, grants.APIAudience, read)
	f.who = who
	if err != nil {
		return page, err
	}
	page, _ = answer.(grantview.ChangePage)
	f.query.Set("changes_since", page.NextChangesSince)
	f.seen = seen
	return page, nil
}

// poll is next, unless nothing has changed: then only the access is checked. A client that has read too often waits.
func (f *changeFeed) poll(more bool) (page grantview.ChangePage, err error) {
	if err := f.stillAllowed(); err != nil {
		return page, err
	}
	if !more {
		if seen, err := f.streams(); err != nil || seen == f.seen {
			return page, err
		}
	}
	page, err = f.next()
	if refused := (grants.Refusal{}); errors.As(err, &refused) && refused.Code == grants.CodeRateLimit {
		return grantview.ChangePage{}, nil // the next tick tries again
	}
	return page, err
}

// streams describes how far the streams of the name have come. It is compared and never shown.
func (f *changeFeed) streams() (string, error) {
	all, err := f.api.Store.Streams(store.ForClient(f.r.Context()), "")
	if err != nil {
		return "", fmt.Errorf("look for changes: %w", err)
	}
	text := ""
	for _, s := range all {
		if s.Name == f.stream {
			text += fmt.Sprintf("%s %d %d\n", s.ConnectionID, s.LastSeq, s.PurgedSeq)
		}
	}
	return text, nil
}

func (f *changeFeed) stillAllowed() error {
	token, err := bearer(f.r)
	if err != nil {
		return err
	}
	if f.who.Grant() == nil {
		_, err = f.api.owner(f.r)
		return err
	}
	_, err = f.api.Grants.Access(store.ForClient(f.r.Context()), token)
	return err
}

func (f *changeFeed) begin(w http.ResponseWriter) {
	f.w, f.control = w, http.NewResponseController(w)
	_ = f.control.SetReadDeadline(time.Time{}) // a writer without deadlines needs none lifted
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
}

// send writes a page, or a comment that shows that the feed is open.
func (f *changeFeed) send(page grantview.ChangePage) error {
	if len(page.Data) == 0 {
		return f.write(":\n\n")
	}
	body, err := json.Marshal(page)
	if err != nil {
		return err
	}
	return f.write("id: " + page.NextChangesSince + "\nevent: changes\ndata: " + string(body) + "\n\n")
}

func (f *changeFeed) write(event string) error {
	_ = f.control.SetWriteDeadline(time.Now().Add(feedWriteTime))
	if _, err := f.w.Write([]byte(event)); err != nil {
		return err
	}
	return f.control.Flush()
}

// end writes why the feed ends, in the words of an answer.
func (f *changeFeed) end(err error) {
	code, message := "internal_error", "Something went wrong here."
	if refused := (grants.Refusal{}); errors.As(err, &refused) {
		code, message = refused.Code, refused.Message
		f.api.noteRefusal(f.r.WithContext(audit.WithActor(f.r.Context(), actor(f.r, f.who))), err)
	} else if f.r.Context().Err() != nil {
		return
	} else {
		f.api.Log.ErrorContext(f.r.Context(), "a feed failed", "error", err)
	}
	body, err := json.Marshal(map[string]string{"code": code, "message": message})
	if err == nil {
		_ = f.write("event: error\ndata: " + string(body) + "\n\n") // the client may be gone
	}
}
