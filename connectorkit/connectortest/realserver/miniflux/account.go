package miniflux

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"net/http"
	"sync/atomic"
	"time"
)

// Account is a person who reads.
type Account struct {
	Name, Key string
	server    *Server
	id        int64
	feeds     map[int64]*Feed
}

// Feed is a feed that is published only for the account.
type Feed struct {
	path     string
	Articles []Article
}

// Article is one of a feed.
type Article struct {
	Number, Edition int
}

// accountPassword is that of every account.
const accountPassword = "password-of-the-test"

var accountCounter atomic.Int64

// Open makes a new account.
func (s *Server) Open() (*Account, error) {
	a := &Account{server: s, Name: fmt.Sprintf("mara%d", accountCounter.Add(1)), feeds: map[int64]*Feed{}}
	var user, key struct {
		ID    int64  `json:"id"`
		Token string `json:"token"`
	}
	if err := s.sendRequest(adminName, adminPassword, http.MethodPost, "/v1/users",
		map[string]any{"username": a.Name, "password": accountPassword}, &user); err != nil {
		return nil, err
	}
	a.id = user.ID
	if err := a.Send(http.MethodPost, "/v1/api-keys", map[string]any{"description": "pdpp"}, &key); err != nil {
		return nil, err
	}
	a.Key = key.Token
	return a, nil
}

// Send makes one request of the person's own.
func (a *Account) Send(method, path string, body, into any) error {
	return a.server.sendRequest(a.Name, accountPassword, method, path, body, into)
}

func (s *Server) sendRequest(user, secret, method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, s.URL+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.SetBasicAuth(user, secret)
	return realserver.RequestJSON(req, into)
}

// Subscribe publishes a feed of articles, numbered after first, in a category of its
// own, and has the account read it.
func (a *Account) Subscribe(first, articles int) (int64, error) {
	var c struct {
		ID int64 `json:"id"`
	}
	if err := a.Send(http.MethodPost, "/v1/categories", map[string]any{"title": fmt.Sprintf("Shelf & %d", first)},
		&c); err != nil {
		return 0, err
	}
	f := &Feed{path: fmt.Sprintf("/%s/%d.xml", a.Name, first)}
	for i := range articles {
		f.Articles = append(f.Articles, Article{Number: first + i + 1})
	}
	a.server.renderFeed(f)
	var made struct {
		ID int64 `json:"feed_id"`
	}
	if err := a.Send(http.MethodPost, "/v1/feeds",
		map[string]any{"feed_url": a.server.site.URL + f.path, "category_id": c.ID}, &made); err != nil {
		return 0, err
	}
	a.feeds[made.ID] = f
	return made.ID, nil
}

// Publish changes what a feed has and lets the server look at it.
func (a *Account) Publish(feed int64, change func(*Feed)) error {
	change(a.feeds[feed])
	a.server.renderFeed(a.feeds[feed])
	return a.Send(http.MethodPut, fmt.Sprintf("/v1/feeds/%d/refresh", feed), nil, nil)
}

// renderFeed renders a feed.
func (s *Server) renderFeed(f *Feed) {
	var b bytes.Buffer
	escape := func(text string) string {
		var out bytes.Buffer
		_ = xml.EscapeText(&out, []byte(text)) // a buffer takes everything
		return out.String()
	}
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>Harbour %s</title><link>`+
		`%s/</link><description>Tides &amp; boats</description>`, f.path, s.site.URL)
	for _, a := range f.Articles {
		at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(a.Number) * 37 * time.Minute)
		fmt.Fprintf(&b, `<item><guid isPermaLink="false">article-%d</guid><title>%s</title><link>https://harbour.example/`+
			`%d</link><pubDate>%s</pubDate>`,
			a.Number, escape(fmt.Sprintf("Tide %d, edition %d: ünlike 🌊", a.Number, a.Edition)), a.Number,
			at.Format(time.RFC1123Z))
		fmt.Fprintf(&b, `<description>%s</description>`,
			escape(fmt.Sprintf(`<p>High <b>water</b> %d</p><script>alert(1)</script>`, a.Edition)))
		if a.Number%2 == 0 {
			fmt.Fprintf(&b, `<author>jorn@harbour.example (Jörn Vale)</author><category>tides</category><category>boats</`+
				`category><comments>https://harbour.example/%d#c</comments>`, a.Number)
		}
		if a.Number%3 == 0 {
			fmt.Fprintf(&b, `<enclosure url="https://harbour.example/%d.mp3" length="%d" type="audio/mpeg"/>`, a.Number,
				1000+a.Number)
		}
		b.WriteString(`</item>`)
	}
	b.WriteString(`</channel></rss>`)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feeds[f.path] = b.Bytes()
}

// Age makes everything that the account has older, as if so much time had passed.
func (a *Account) Age(by time.Duration) error {
	return realserver.ExecuteSQL(a.server.database,
		fmt.Sprintf("UPDATE entries SET changed_at = changed_at - interval '%d seconds', created_at = created_at - "+
			"interval '%[1]d seconds' WHERE user_id = %d", int(by.Seconds()), a.id))
}
