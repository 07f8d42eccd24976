package chatgpt

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/providersim"
	sim "github.com/pdpp-go/pdpp/providersim/chatgpt"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// restless is a site that changes its account before every list request.
type restless struct {
	site   http.Handler
	cookie *http.Cookie
	change func()
}

func (r *restless) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "conversations") && r.change != nil {
		r.change()
	}
	req = req.Clone(req.Context())
	req.AddCookie(r.cookie)
	w := httptest.NewRecorder()
	r.site.ServeHTTP(w, req)
	return w.Result(), nil
}

// TestWalkOfMovingLists walks all lists while conversations are touched, created, deleted, archived and moved between
// pages. An unchanged conversation is returned once, in order. A failed page is returned complete when it is
// requested again.
func TestWalkOfMovingLists(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := sim.New(sim.Config{
			Seed: rapid.Uint64().Draw(t, "seed"), Chats: rapid.IntRange(0, 160).Draw(t, "chats"),
			Projects: rapid.IntRange(1, 7).Draw(t, "projects"),
			MaxPage:  rapid.IntRange(4, 40).Draw(t, "page"), Deep: 30, DeepFails: rapid.IntRange(0, 1).Draw(t, "deep failures"),
		})
		cookie, err := g.Site().SignIn(signin.Person.ID)
		if err != nil {
			t.Fatal(err)
		}
		moved := map[string]bool{}
		net := &restless{site: g.Handler(), cookie: cookie}
		client, err := governhttp.New(governhttp.Options{
			BaseURL: "http://chat.example", Transport: net, Classify: classifyResponse,
			Sender: governhttp.NewSender(governor.New("lists", func(c *governor.Config) { c.Discovery, c.Attempts = 0, 1 }),
				governhttp.SenderOptions{}),
		})
		if err != nil {
			t.Fatal(err)
		}
		hidden := ""
		a := &siteClient{lists: client, cookie: func(context.Context, string) string { return "" },
			hide: func(token string) { hidden = token }}
		before := g.Truth()[sim.StreamConversations]
		left := rapid.IntRange(0, 15).Draw(t, "times that it changes") // a list that moves for ever cannot be read
		net.change = func() {
			if left--; left < 0 {
				return
			}
			for range rapid.IntRange(0, 2).Draw(t, "changes") {
				done, err := g.Mutate(providersim.Mutation{
					Op: rapid.SampledFrom([]string{"touch_chats", "add_chats", "delete_chats", "delete_chats", "archive_chats",
						"move_chats"}).Draw(t, "op"), N: rapid.IntRange(1, 6).Draw(t, "n"),
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range done.IDs {
					moved[id] = true
				}
			}
		}
		l := &conversationLists{api: a}
		given := map[string]bool{}
		var last connectorkit.Item
		for token, tries := "", 0; ; {
			page, err := l.fetchListPage(t.Context(), connectorkit.Window{Token: token})
			if err != nil {
				if tries++; tries > 5 {
					t.Fatal(err)
				}
				continue // as a run does when it is patient
			}
			for _, item := range page.Items {
				if given[item.Key] {
					t.Fatalf("%s is given twice", item.Key)
				}
				if last.Key != "" && item.Time.After(last.Time) {
					t.Fatalf("%s at %s comes after %s", item.Key, item.Time, last.Time)
				}
				given[item.Key], last = true, item
			}
			if token = page.Next; token == "" {
				break
			}
		}
		if hidden == "" || hidden != a.token {
			t.Fatal("the token of the session is not hidden")
		}
		for id := range before {
			if !moved[id] && !given[id] {
				t.Fatalf("%s did not change and is not given: %s", id, before[id].Data)
			}
		}
	})
}
