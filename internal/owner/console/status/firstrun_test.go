package status

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// beginner returns a keeper with a first run that started twenty minutes ago.
func beginner(t *testing.T) *keeper {
	t.Helper()
	k := newKeeper(plant(t, "never-run", `{"connection": {"connection_id": "con_a"},
		"active_run": {"run_id": "run_1", "started_at": "2026-03-10T11:40:00Z"}, "records": {"retained": 1200},
		"streams": [{"stream": "albums", "required": true, "retained": 64}, {"stream": "photos", "required": true,`+
		` "retained": 1136}, {"stream": "comments", "required": false, "retained": 0}]}`))
	found, few, low, high := int64(1900), int64(64), int64(720), int64(1500)
	done := int64(0)
	k.active = &api.Run{ID: "run_1", ConnectionID: "con_a", DisplayName: "Photobox", Status: running, Trigger: "scheduled",
		StartedAt: noon.Add(-20 * time.Minute), RecordsEmitted: 1200,
		Streams: []api.RunStream{
			{Name: "albums", Records: 64, Considered: &few, LeftLow: &done, LeftHigh: &done},
			{Name: "photos", Records: 1136, Considered: &found, LeftLow: &low, LeftHigh: &high,
				Message: "reading the list, page 19"},
		}}
	k.runs = []api.Run{*k.active}
	return k
}

// The page of a first run shows what has arrived, by name, and nothing of another source.
func TestFirstRunShowsWhatArrived(t *testing.T) {
	k := beginner(t)
	photos := api.Display{Kind: "file"}
	k.held = []api.Stream{{ConnectionID: "con_a", Name: "photos", Label: "Photos", Records: 1136, Display: photos},
		{ConnectionID: "con_b", Name: "photos", Label: "Photos", Records: 5, Display: photos},
		{ConnectionID: "con_a", Name: "coverage_diagnostics", Label: "Noted", Records: 9},
		{ConnectionID: "con_a", Name: "albums", Label: "Albums", Display: photos}}
	k.newest = []api.Record{
		{ConnectionID: "con_a", Stream: "photos", Key: "p1", Data: []byte(`{"title": "Old <b>lighthouse</b>"}`)},
		{ConnectionID: "con_a", Stream: "photos", Key: "p2", Data: []byte(`{}`)},
		{ConnectionID: "con_b", Stream: "photos", Key: "p3", Data: []byte(`{"title": "Another home"}`)},
		{ConnectionID: "con_a", Stream: "coverage_diagnostics", Key: "n", Data: []byte(`{"title": "Noted"}`)},
		{ConnectionID: "con_a", Stream: "albums", Key: "a", Data: []byte(`{"title": "Empty"}`)}}
	if got := one(t, page(t, serve(k), "/sources/con_a"), "data-arrived", ""); got !=
		"Old <b>lighthouse</b> Photos Photos Photos" {
		t.Errorf("arrived: %q", got)
	}
	k.fails = map[string]error{"Records": errors.New("disk I/O error")}
	if w := send(t, serve(k), http.MethodGet, "/sources/con_a", nil, false); w.Code != http.StatusInternalServerError {
		t.Errorf("a page that could not read answers %d", w.Code)
	}
}

// The page of a first run shows what is stored, what was found and how long it takes. It marks
// unknown values as unknown.
func TestFirstRunTellsWhatIsThere(t *testing.T) {
	k := beginner(t)
	shown := page(t, serve(k), "/sources/con_a")
	if got := one(t, shown, "data-sentence", ""); got != "1,200 records are saved, and the first run continues." {
		t.Errorf("the sentence is %q", got)
	}
	if got := one(t, shown, "data-left", ""); got != "At least 12 min left" {
		t.Errorf("left is %q", got)
	}
	if len(find(shown, "data-see-kept", "")) != 1 {
		t.Error("what is kept is not offered")
	}
	card := textOf(find(shown, "data-first-run", "")[0])
	for _, want := range []string{"1,200 saved", "764 found, not fetched yet", "still counting 1 stream",
		"1 stream is not measured yet."} {
		if !strings.Contains(card, want) {
			t.Errorf("the card does not say %q: %s", want, card)
		}
	}
	for stream, want := range map[string]string{
		"albums":   "Saved 64 Found so far 64 Time left none so far",
		"photos":   "Reading the list, page 19 Saved 1,136 Found so far 1,900 Time left 12 to 25 min",
		"comments": "Waiting for its turn. Saved 0 Found so far not looked yet Time left not known",
	} {
		if row := textOf(find(shown, "data-stream", stream)[0]); !strings.Contains(row, want) {
			t.Errorf("%s: %q, want %q", stream, row, want)
		}
	}
}

// Until the pace has been measured for long enough, the page shows no time.
func TestFirstRunPromisesNoTime(t *testing.T) {
	k := beginner(t)
	for i := range k.active.Streams {
		k.active.Streams[i].LeftLow, k.active.Streams[i].LeftHigh = nil, nil
	}
	shown := page(t, serve(k), "/sources/con_a")
	if len(find(shown, "data-left", "")) != 0 {
		t.Errorf("a time is told: %s", textOf(find(shown, "data-first-run", "")[0]))
	}
	if card := textOf(find(shown, "data-first-run", "")[0]); !strings.Contains(card, "Time left appears after 5 minutes") {
		t.Errorf("the card does not say why: %s", card)
	}
	k = busy(t)
	if shown = page(t, serve(k), "/sources/con_a"); len(find(shown, "data-first-run", "")) != 0 {
		t.Error("a later run is shown as a first one")
	}
}
