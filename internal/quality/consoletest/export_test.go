package consoletest

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	exportPart   = regexp.MustCompile(`name="part" value="([^"]*)"`)
	linkedRecord = regexp.MustCompile(`href="/(?:thing|reading)/([^/"?#]+)/([^/"?#]+)/([^/"?#]+)`)
	firstPerson  = regexp.MustCompile(`href="(/people/[^"?#]+)"`)
	firstThread  = regexp.MustCompile(`href="(/conversations/[^"?#]+/[^"?#]+/[^"?#]+)"`)
)

// exportsLists downloads the export of each page that lists records: it has every record that the page links, and
// nothing that the page's filter, search or day leaves out.
func exportsLists(t *testing.T, h *house) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	owner := &http.Client{Jar: jar}
	read := func(address string) string {
		t.Helper()
		answer, err := owner.Get(h.ready.URL + address)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v", address, answer.StatusCode, err)
		}
		return string(body)
	}
	answer, err := owner.PostForm(h.ready.URL+"/login", url.Values{"password": {h.ready.Password}})
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	first := func(pattern *regexp.Regexp, page string) string {
		t.Helper()
		found := pattern.FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("there is no %s", pattern)
		}
		return html.UnescapeString(found[1])
	}
	day := time.Now().UTC().AddDate(0, 0, -40).Format(time.DateOnly)
	person := first(firstPerson, read("/people"))
	thread := first(firstThread, read("/conversations"))
	for _, tt := range []struct{ address, only string }{
		{"/mail", ""}, {"/notes", ""}, {"/photos", ""},
		{"/places", ""}, {"/conversations", ""}, {"/health", ""}, {"/money", "cin_copper_1"},
		{"/money?range=month", time.Now().UTC().Format("2006-01")}, {"/on-this-day", time.Now().UTC().Format("-01-02")},
		{"/places?source=cin_wayside_1", "cin_wayside_1"},
		{"/timeline", ""}, {"/day/" + day, day}, {"/day/" + day + "?kind=money", day}, {person, ""}, {thread, ""},
		{"/search?q=boat", "boat"}, {"/search?q=boat&kind=mail", "boat"},
		{"/search?q=boat&connection=cin_lantern_1&stream=mails", "boat"},
		{"/search?connection=cin_copper_1&stream=bookings", "cin_copper_1"},
		{"/search?connection=cin_copper_1&stream=bookings&f.payee=Harbour", "Harbour"},
	} {
		page := read(tt.address)
		q := url.Values{"format": {"jsonl"}}
		menus := strings.Split(page, "data-export")
		menu := menus[len(menus)-1]
		if tt.address == "/conversations" { // which opens one of them, with a menu of its own
			menu = menus[1]
		}
		for _, part := range exportPart.FindAllStringSubmatch(menu, -1) {
			q.Add("part", html.UnescapeString(part[1]))
		}
		if !q.Has("part") && (tt.address == "/notes" || tt.address == "/timeline" || tt.address == "/on-this-day") {
			continue // nothing is listed
		}
		exported := map[[3]string]bool{}
		for _, line := range bytes.Fields([]byte(strings.ReplaceAll(read("/search/export?"+q.Encode()), " ", "_"))) {
			var r struct {
				ConnectionID string `json:"connection_id"`
				Stream, ID   string
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%s: %v", tt.address, err)
			}
			exported[[3]string{r.ConnectionID, r.Stream, r.ID}] = true
			if !strings.Contains(strings.ToLower(string(line)), strings.ToLower(tt.only)) {
				t.Errorf("%s: the export has %s", tt.address, line)
			}
		}
		linked := 0
		for _, link := range linkedRecord.FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(tt.address, "/conversations") { // which links its own record
				linked++
				if !exported[[3]string{link[1], link[2], link[3]}] {
					t.Errorf("%s: %v is not among the %d of the export", tt.address, link[1:], len(exported))
				}
			}
		}
		if len(exported) == 0 {
			t.Errorf("%s: the export is empty", tt.address)
		}
		t.Logf("%s: %d records linked, %d exported", tt.address, linked, len(exported))
	}
}
