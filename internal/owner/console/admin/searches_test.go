package admin

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// What a list shows is saved with the form beside it, opened by its name, renamed and deleted.
func TestSearches(t *testing.T) {
	t.Parallel()
	o := full("Ines")
	h := world(t, o)
	p := get(t, h, "/search?q=harbor&cursor=cursor%2F2")
	if got := attr(p.by(t, "name", "address"), "value"); got != "/search?q=harbor" {
		t.Errorf("the form saves %s", got)
	}
	p.says(t, "Saved") // those of before lead to their lists
	to(t, post(t, h, "/search/saved", url.Values{"name": {" Boats "}, "address": {"/search?q=harbor"}}),
		"/search?q=harbor")
	to(t, get(t, h, "/search/saved/sea_1"), "/search?q=harbor")
	to(t, post(t, h, "/search/saved/sea_1/rename", url.Values{"name": {"Ships"}}), "/search/saved")
	to(t, post(t, h, "/search/saved/sea_1/delete", nil), "/search/saved")
	want(t, o, "SaveSearch Boats /search?q=harbor; RenameSearch sea_1 Ships; DeleteSearch sea_1")

	if p := get(t, h, "/search/saved/sea_none"); p.Code != http.StatusNotFound {
		t.Errorf("a search that is not there answered %d", p.Code)
	}
	for _, plain := range []string{"/settings/details/streams", "/search?connection=cin_kelp_1&stream=letters"} {
		if strings.Contains(get(t, h, plain).Body.String(), "Save this search") {
			t.Errorf("%s chooses nothing, and can be saved", plain)
		}
	}
	o.fails["SaveSearch"] = &api.Error{Status: http.StatusConflict, Code: "search_exists", Param: "name",
		Message: "A saved search has this name already.", Next: "Choose another name."}
	p = post(t, h, "/search/saved", url.Values{"name": {"Ines"}, "address": {"/search?q=harbor"}})
	if p.Code != http.StatusConflict || attr(p.by(t, "id", "search-name"), "value") != "Ines" ||
		attr(p.by(t, "name", "address"), "value") != "/search?q=harbor" {
		t.Errorf("answered %d: %s", p.Code, p.text())
	}
	p.says(t, "A saved search has this name already. Choose another name.")
}
