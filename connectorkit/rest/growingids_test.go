package rest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// A walk that was cut short continues where it was, and the next walk reads the objects of the last days again.
func TestGrowingIDs(t *testing.T) {
	t.Parallel()
	var asked []string
	var refused string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strings.TrimPrefix(r.URL.Path, "/lamps/")
		asked = append(asked, id)
		if w.Header().Set("Content-Type", "application/json"); id == refused {
			w.WriteHeader(http.StatusNotFound)
		}
		at := "2020-01-01T00:00:00Z"
		if id == "19" || id == "20" {
			at = time.Now().UTC().Format(time.RFC3339)
		}
		_, _ = fmt.Fprintf(w, `{"id":%q,"at":%q}`, id, at)
	}))
	t.Cleanup(server.Close)
	s := Stream{Name: "lamps", Request: Request{Path: "lamps/{id}"}}
	plan, err := lampPlan(t, s, "id")
	if err != nil {
		t.Fatal(err)
	}
	sender := governhttp.NewSender(governor.New("lamps", func(c *governor.Config) { c.Discovery = 0 }),
		governhttp.SenderOptions{})
	client, err := governhttp.New(governhttp.Options{BaseURL: server.URL, Classify: (&Source{}).Classify, Sender: sender})
	if err != nil {
		t.Fatal(err)
	}
	at := connectorkit.Cursor{}
	for _, run := range []struct{ refused, want string }{
		{refused: "17", want: "11 12 13 14 15 16 17"}, // the second slice fails
		{refused: "21", want: "16 17 18 19 20 21"},
		{want: "21"},
		{want: "19 20 21"},
	} {
		asked, refused = nil, run.refused
		r := &Run{Client: client, source: &Source{}, plans: map[string]*recordPlan{"lamps": plan}, known: true, account: "a",
			person: []byte(`{"lamps":[21,20,19,18,17,16,15,14,13,12,11,11]}`)}
		r.source.Account = &Lookup{}
		collector, err := GrowingIDs{List: "lamps", Days: 9}.collector(r, &s)
		if err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			page, err := collector.(connectorkit.PagedStream).Page(t.Context(), at)
			if err != nil {
				break
			}
			at, more = page.Next, page.More
		}
		if got := strings.Join(asked, " "); got != run.want {
			t.Errorf("asked for %s, want %s", got, run.want)
		}
	}
}
