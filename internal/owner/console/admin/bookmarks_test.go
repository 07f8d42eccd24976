package admin

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// The owner sees where the next run continues and previews a rewind. Nothing changes until the
// owner confirms it.
func TestGoingBack(t *testing.T) {
	t.Parallel()
	o := full("harbor")
	h := world(t, o)
	p := get(t, h, "/sources/cin_kelp_1/bookmarks")
	p.says(t, "Letters", "New records", "Older history", "Choose a stream")
	p.by(t, "href", "/sources/cin_kelp_1/bookmarks?mode=catch_up&stream=letters")
	p = get(t, h, "/sources/cin_kelp_1/bookmarks?stream=letters&mode=catch_up")
	if got := textOf(p.by(t, "data-commit", "4")); got != `today 13:32 A run "harbor" Current` {
		t.Errorf("the current one reads %q", got)
	}
	if got := textOf(p.by(t, "data-commit", "3")); got != `today 13:32 You, going back "harbor" Go back to number 3` {
		t.Errorf("an earlier one reads %q", got)
	}
	p = get(t, h, attr(p.by(t, "href", "/sources/cin_kelp_1/bookmarks/rewind?commit=3&mode=catch_up&stream=letters"),
		"href"))
	p.says(t, "Nothing has been changed yet", "About 41 records that changed since", "Letters, older history")
	sent := url.Values{}
	for _, in := range p.elements("input") {
		sent.Set(attr(in, "name"), attr(in, "value"))
	}
	want(t, o, "BookmarkLog cin_kelp_1 letters catch_up; PreviewRewind {ConnectionID:cin_kelp_1 Stream:letters "+
		"Mode:catch_up Commit:3}")
	o.asked = nil
	to(t, post(t, h, "/sources/cin_kelp_1/bookmarks/rewind", sent),
		"/sources/cin_kelp_1/bookmarks?mode=catch_up&stream=letters")
	want(t, o, "Rewind {ConnectionID:cin_kelp_1 Stream:letters Mode:catch_up Commit:3}")
}

func TestGoingBackRefuses(t *testing.T) {
	t.Parallel()
	o := full("harbor")
	o.fails["Rewind"] = api.NotFound("The bookmark has no commit 9.", "Choose one of its commits.")
	h := world(t, o)
	for address, want := range map[string]int{
		"/sources/cin_kelp_1/bookmarks?stream=shells":                     http.StatusNotFound,
		"/sources/cin_none/bookmarks":                                     http.StatusNotFound,
		"/sources/cin_kelp_1/bookmarks/rewind?stream=letters":             http.StatusBadRequest,
		"/sources/cin_kelp_1/bookmarks/rewind?stream=letters&commit=last": http.StatusBadRequest,
	} {
		if p := get(t, h, address); p.Code != want {
			t.Errorf("%s gives %d", address, p.Code)
		}
	}
	p := post(t, h, "/sources/cin_kelp_1/bookmarks/rewind", url.Values{"stream": {"letters"}, "commit": {"9"}})
	if p.Code != http.StatusNotFound {
		t.Errorf("a value that is not there gives %d", p.Code)
	}
	p.says(t, "Choose one of its commits.")
}
