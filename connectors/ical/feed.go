package ical

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/dav"
	"github.com/pdpp-go/pdpp/connectorkit/icalendar"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// maxFeedBytes bounds a feed.
const maxFeedBytes = 50 << 20

var (
	errNoCalendar = errors.New("the answer is not a calendar")
	errTruncated  = errors.New("the answer ends early")
)

// calendarFeed is one address. It is asked once in a run.
type calendarFeed struct {
	id     string // a digest of the address, which is long enough not to be guessed from it
	host   string
	client *governhttp.Client

	asked bool
	cal   icalendar.Calendar
	tag   string // validator of what was read
}

// parseFeeds reads the addresses. The whole of each is a secret.
func parseFeeds(s *connectorkit.Setup, text string) ([]*calendarFeed, error) {
	var feeds []*calendarFeed
	seen := map[string]bool{}
	for _, address := range strings.FieldsFunc(text, func(r rune) bool {
		return r == ',' || r == ' ' || r == '\n' ||
			r == '\r' || r == '\t'
	}) {
		if rest, ok := strings.CutPrefix(address, "webcal://"); ok {
			address = "https://" + rest
		}
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, connectorkit.EndRun("ical_address_unreadable",
				"an address of a feed cannot be read: connect again with addresses such as "+
					"https://calendar.example.org/secret/basic.ics", protocol.ManualActionRequired, false)
		}
		s.HideSecret(address)
		s.HideSecret(u.RequestURI())
		client, err := s.HTTP(governhttp.Options{
			BaseURL: address, MaxBody: maxFeedBytes, Classify: classifyResponse, Hosts: []string{u.Host},
			Header: http.Header{"Accept": {"text/calendar, text/plain;q=0.5, */*;q=0.1"},
				"User-Agent": {"pdpp-ical-connector/1.0"}},
		})
		if err != nil {
			return nil, err
		}
		u.User = nil
		f := &calendarFeed{id: dav.RecordKey(u.String()), host: u.Hostname(), client: client}
		if !seen[f.id] {
			seen[f.id] = true
			feeds = append(feeds, f)
		}
	}
	return feeds, nil
}

// classifyResponse returns the error that an answer means. Publishers answer a withdrawn secret in many ways,
// including a sign-in page; none of them is a calendar.
func classifyResponse(r *governhttp.Response) error {
	switch r.Status {
	case http.StatusNotModified:
		return nil
	case http.StatusOK:
		if !icalendar.IsCalendar(r.Body) {
			return connectorkit.Fail(connectorkit.Malformed, errNoCalendar)
		}
		if tail := bytes.TrimSpace(r.Body[max(0, len(r.Body)-64):]); !bytes.Contains(bytes.ToUpper(tail),
			[]byte("END:VCALENDAR")) && !bytes.Contains(tail, []byte{0}) {
			return connectorkit.Fail(connectorkit.Unavailable, errTruncated)
		}
		return nil
	case http.StatusNotFound, http.StatusGone:
		return connectorkit.EndRun("ical_feed_closed",
			"a feed is no longer there, because its secret address was renewed or it is no longer shared: copy the address "+
				"again and connect again", protocol.RefreshCredentials, false)
	}
	return connectorkit.ByStatus(r)
}

// fetchFeed asks for the feed, once. Without a change since the tag there is nothing to read.
func (f *calendarFeed) fetchFeed(ctx context.Context, tag string) (unchanged bool, err error) {
	if f.asked {
		return false, nil
	}
	header := http.Header{}
	if etag, ok := strings.CutPrefix(tag, "etag "); ok {
		header.Set("If-None-Match", etag)
	} else if since, ok := strings.CutPrefix(tag, "since "); ok {
		header.Set("If-Modified-Since", since)
	}
	resp, err := f.client.Do(ctx, governhttp.Request{Header: header})
	if err != nil {
		return false, err
	}
	if resp.Status == http.StatusNotModified {
		return true, nil
	}
	f.asked, f.cal = true, icalendar.ParseCalendar(resp.Body)
	switch {
	case resp.Header.Get("ETag") != "":
		f.tag = "etag " + resp.Header.Get("ETag")
	case resp.Header.Get("Last-Modified") != "":
		f.tag = "since " + resp.Header.Get("Last-Modified")
	}
	return false, nil
}

// feedState is the stream of the feeds themselves.
type feedState struct {
	feeds []*calendarFeed
	at    int
}

type calendarRecord struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitzero"`
	Host    string `json:"host"`
	Refresh string `json:"refresh_interval,omitzero"`
}

// stepMember counts bookmarks within a walk, so that no two are equal.
const stepMember = "step"

// fetchNextPage reads one feed. Those that are no longer entered are deleted at the end.
func (s *feedState) fetchNextPage(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
	page := connectorkit.Page{Next: connectorkit.Cursor{}}
	for name, v := range at {
		page.Next[name] = v
	}
	if s.at < len(s.feeds) {
		f := s.feeds[s.at]
		unchanged, err := f.fetchFeed(ctx, at[f.id])
		if err != nil {
			return connectorkit.Page{}, err
		}
		s.at++
		if !unchanged {
			page.Records = append(page.Records,
				connectorkit.Upsert(calendarRecord{ID: f.id, Name: f.cal.Name, Host: f.host, Refresh: f.cal.Refresh}))
			page.Next[f.id] = f.tag
		}
	}
	if page.More = s.at < len(s.feeds); page.More {
		steps, _ := strconv.Atoi(at[stepMember]) // absent after a walk that was finished
		page.Next[stepMember] = strconv.Itoa(steps + 1)
		return page, nil
	}
	delete(page.Next, stepMember)
	for id := range at {
		if id != stepMember && !containsFeed(s.feeds, id) {
			page.Records = append(page.Records, connectorkit.Delete(id))
			delete(page.Next, id)
		}
	}
	page.Whole = &connectorkit.Whole{Gone: connectorkit.AllKeysGone, Keys: func(yield func(string) bool) {
		for _, f := range s.feeds {
			if !yield(f.id) {
				return
			}
		}
	}}
	return page, nil
}

func containsFeed(feeds []*calendarFeed, id string) bool {
	for _, f := range feeds {
		if f.id == id {
			return true
		}
	}
	return false
}
