package consoletest

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/quality/pagetest"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// collectsAgain stores what a later run of a connection found.
func (h *household) collectsAgain(id, connector, stream string, at time.Time, records ...slice.Record) {
	h.t.Helper()
	l, err := h.store.StartRun(h.t.Context(), store.RunStart{RunID: "run_" + connector + "_2", ConnectionID: id,
		ConnectorID: connector, Trigger: store.TriggerManual, Holder: "w1", TTL: time.Hour,
		Streams: []store.StreamSpec{{Name: stream, SearchFields: []string{"title"}}}}, at)
	h.must(err)
	_, err = h.store.CommitSlice(h.t.Context(), l, slice.Slice{Records: records}, at)
	h.must(err)
	h.must(h.store.FinishRun(h.t.Context(), l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, at))
}

// changes fills the household with notes of which one was edited and one was removed at the source.
func (h *household) changes() {
	id := h.collects("notion", "Notion", nil,
		record("pages", "n1", `{"id":"n1","title":"What the boat needs","created_time":"2026-03-04T10:00:00Z"}`),
		record("pages", "n2", `{"id":"n2","title":"<img src=x onerror=alert(1)>","created_time":"2026-03-05T10:00:00Z"}`),
		record("pages", "n3", `{"id":"n3","title":"Never touched","created_time":"2026-03-06T10:00:00Z"}`))
	gone := record("pages", "n2", "")
	gone.Data, gone.Op = nil, protocol.OpDelete
	h.collectsAgain(id, "notion", "pages", today.Add(-30*time.Minute),
		record("pages", "n1", `{"id":"n1","title":"What the old boat needs","created_time":"2026-03-04T10:00:00Z"}`), gone)
}

// The versions of edited and removed things are beside each other, and a thing can be seen as it was at a time.
func TestLookingBackReadsAsBefore(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	pages := pagetest.Pages{Folder: "lookback"}
	for _, address := range []string{"/changed", "/year/2026"} {
		pages.Add(t, "empty: "+address, h.get(address))
	}
	h.changes()
	for _, address := range []string{"/changed", "/changed?what=edited", "/changed?what=removed",
		"/changed?until=2026-03-10T13:00:00Z", "/changed?until=x", "/year/2026", "/year/1800", "/year/2027", "/year/x",
		"/thing/cin_notion_1/pages/n1?on=2026-03-10", "/thing/cin_notion_1/pages/n1?on=2026-03-10T13:45:00Z",
		"/thing/cin_notion_1/pages/n1?on=2026-03-01", "/thing/cin_notion_1/pages/n2?on=2026-03-10T13:45:00Z"} {
		pages.Add(t, address, h.get(address))
	}
	pages.Check(t)
	now := h.get("/thing/cin_notion_1/pages/n1?on=2026-03-10T14:10:00Z").Body.String()
	then := h.get("/thing/cin_notion_1/pages/n1?on=2026-03-10T13:45:00Z").Body.String()
	if !strings.Contains(now, `<h2 id="h-rec" tabindex="-1" autofocus>What the old boat needs</h2>`) ||
		!strings.Contains(then, `<h2 id="h-rec" tabindex="-1" autofocus>What the boat needs</h2>`) {
		t.Error("a thing is not shown as it was")
	}
	if to := h.get("/year").Header().Get("Location"); to != "/year/2026" {
		t.Errorf("the year leads to %q", to)
	}
}

// A real browser shows both pages at both widths and in both themes.
func TestLookingBackInABrowser(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.changes()
	srv := httptest.NewServer(h.handler)
	t.Cleanup(srv.Close)
	b := open(t, srv.URL)
	b.visit("/year/2026")
	b.shoot("year")
	b.visit("/changed")
	b.shoot("changed")
	b.click(`.versions a[href*="?on="]`)
	b.wait("#record")
	if got := b.text("#record"); !strings.Contains(got, "As it was on") || !strings.Contains(got, "What the boat needs") {
		t.Errorf("it reads %s", got)
	}
	b.shoot("as-it-was")
	b.quiet()
}
