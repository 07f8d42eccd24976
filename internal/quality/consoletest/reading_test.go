package consoletest

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/quality/pagetest"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// reads fills the household with what is read: mail with its texts and attachments in streams of
// their own, notes, code, and places.
func (h *household) reads() {
	q := func(s string) string { return fmt.Sprintf("%q", s) }
	letter := func(key, at, from, subject, thread string) slice.Record {
		return record("messages", key, fmt.Sprintf(`{"id":%q,"received_at":%q,"subject":%s,"from_name":%s,"thread_id":%q}`,
			key, at, q(subject), q(from), thread))
	}
	body := func(key, at, text string) slice.Record {
		return record("bodies", key, fmt.Sprintf(`{"id":%q,"received_at":%q,"text":%s}`, key, at, q(text)))
	}
	deed, ref := h.keeps("application/pdf", "fee.pdf", []byte("%PDF-1.7"))
	attached := record("attachments", "e1:1",
		`{"id":"e1:1","message_id":"e1","received_at":"2026-03-10T14:15:00Z","file_name":"fee.pdf",`+
			`"content_type":"application/pdf","blob_ref":`+ref+`}`)
	attached.Blobs = []slice.Blob{deed}
	h.collects("imap", "Gmail", nil,
		letter("e1", "2026-03-10T14:15:00Z", "Harbour office", "Berth 41, fee for the season", "t1"),
		body("e1", "2026-03-10T14:15:00Z", "Dear Mara,\n\nthe fee for berth 41 is due in April.\n\n"+hostile), attached,
		letter("e2", "2026-03-10T14:15:00Z", "Harbour office", "The same minute", ""),
		body("e2", "2026-03-10T14:15:00Z", "Another letter of the same moment."),
		letter("e3", "2026-03-09T10:04:00Z", "Mara Lind", "Re: Berth 41, fee for the season", "t1"),
		body("e3", "2026-03-09T10:04:00Z", "Is the fee the same as last year?"),
		letter("e4", "2026-02-01T08:00:00Z", `<img src=x onerror=alert(1)>`, `<script>document.title='owned'</script>`, ""))
	h.collects("miniflux", "Feeds", nil, record("entries", "f1",
		`{"id":"f1","title":"The tide tables are out",`+
			`"author":"Harbour office","published_at":"2026-03-07T10:00:00Z","content":"<p onclick=alert(1)>Get `+
			`<a href='https://harbour.example/t'>the <b>tables</b></a>.</p><script>document.title='owned'</script>`+
			`<img src=https://evil.example/p.png alt='The quay'><form action=/logout><button>out</button></form>"}`))
	h.collects("notion", "Notion", nil,
		record("pages", "n1", `{"id":"n1","title":"Boat list","url":"https://www.notion.so/n1",`+
			`"created_time":"2026-03-04T10:00:00Z"}`),
		record("page_contents", "n1",
			`{"id":"n1","text":"# Varnish\n\n- [x] oil\n- **two** coats\n\n`+"```"+`\nmake boat\n`+"```"+`\n\n`+
				`Rope, 12 m","block_count":3}`),
		record("pages", "n2", `{"id":"n2","title":"Names","url":"javascript:alert(1)",`+
			`"created_time":"2026-02-04T10:00:00Z"}`))
	h.collects("codex", "Codex", nil,
		record("skills", "s1", `{"id":"s1","name":"tide-tables","content":"Read the tables, then add."}`))
	h.collects("github", "GitHub", nil,
		record("repositories", "r1",
			`{"id":"r1","full_name":"mara/tidewatch","description":"Tides on a small screen",`+
				`"created_at":"2025-11-02T09:00:00Z","html_url":"https://github.example/mara/tidewatch"}`),
		record("issues", "i1", `{"id":"i1","number":12,"title":"The retry test hangs","body":"About once in twenty.",`+
			`"state":"open","user_login":"ines","repository_full_name":"mara/tidewatch","created_at":"2026-03-08T09:00:00Z"}`),
		record("pull_requests", "q1",
			`{"id":"q1","number":13,"title":"Wait for the second waiter","body":"","state":"closed","user_login":"mara",`+
				`"repository_full_name":"mara/tidewatch","created_at":"2026-03-09T09:00:00Z"}`))
	var walk []slice.Record
	for i := range 12 {
		walk = append(walk, record("location_history", fmt.Sprint("w", i),
			fmt.Sprintf(`{"id":"w%d","timestamp":%q,"latitude":59.%d,"longitude":18.%d,"activity_type":"WALKING",`+
				`"label":"Walking"}`,
				i, today.Add(-time.Duration(i)*5*time.Hour).Format(time.RFC3339), 3000+i*i*7, 600+i*31)))
	}
	h.collects("google_takeout", "Google", nil,
		append(walk, record("location_history", "off",
			`{"id":"off","timestamp":"2026-03-01T00:00:00Z","latitude":-120,"longitude":500}`))...)
	h.collects("ynab", "YNAB", nil, record("payees", "y1", `{"id":"y1","name":"Paper and Rope"}`),
		record("payee_locations", "l1", `{"id":"l1","payee_id":"y1","latitude":-33.86,"longitude":151.2}`))
}

const readingAt = "/reading/"

// The lists of mail, documents, code and places match their stored text, and so do the opened
// records.
func TestReadingReadsAsBefore(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	pages := pagetest.Pages{Folder: "reading"}
	lists := []string{"/mail", "/notes", "/code", "/places", "/places?month=2026-03", "/places?month=x", galleryAt}
	for _, address := range lists {
		pages.Add(t, "empty: "+address, h.get(address))
	}
	h.reads()
	for _, address := range append(lists,
		"/mail?source=cin_imap_1&until=2026-03-10T14:15:00Z&in=cin_imap_1/messages", "/notes?kind=Pages",
		"/notes?undated=cin_codex_1/skills", "/notes?undated=cin_notion_1/pages",
		"/code?kind=Issues",
		"/places?undated=cin_ynab_1/payee_locations",
		"/places?record=cin_google_takeout_1/location_history/w1", "/mail?record=x",
		readingAt+"cin_imap_1/messages/e1", readingAt+"cin_imap_1/messages/e3", readingAt+"cin_imap_1/messages/e4",
		readingAt+"cin_notion_1/pages/n1", readingAt+"cin_notion_1/pages/n2", readingAt+"cin_codex_1/skills/s1",
		readingAt+"cin_miniflux_1/entries/f1", readingAt+"cin_miniflux_1/entries/f1/page",
		readingAt+"cin_notion_1/pages/n1/page", readingAt+"cin_github_1/issues/i1",
		readingAt+"cin_github_1/repositories/r1", readingAt+"cin_imap_1/messages/none",
		readingAt+"cin_imap_1/bodies/e1", readingAt+"cin_none_1/x/y", readingAt+"~!/x/y",
	) {
		pages.Add(t, address, h.get(address))
	}
	pages.Check(t)
}

// What came as HTML is a page without rights: it loads, runs and sends nothing, and only our own page shows it.
func TestPageOfAStrangerHasNoRights(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.reads()
	w := h.get(readingAt + "cin_miniflux_1/entries/f1/page")
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "sandbox allow-popups", "form-action 'none'",
		"frame-ancestors 'self'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
	for _, bad := range []string{"allow-scripts", "allow-same-origin", "unsafe"} {
		if strings.Contains(policy, bad) {
			t.Errorf("the policy allows %s", bad)
		}
	}
	for _, bad := range []string{"<script", "onclick", "evil.example", "<form", "<button"} {
		if strings.Contains(w.Body.String(), bad) {
			t.Errorf("%s is left in %s", bad, w.Body)
		}
	}
}

// A real browser shows the lists and the opened records at both widths and in both themes, using
// only links. No record content is executed or loaded.
func TestReadingInABrowser(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.reads()
	srv := httptest.NewServer(h.handler)
	t.Cleanup(srv.Close)
	b := open(t, srv.URL)
	for _, name := range []string{"notes", "code", "places"} {
		b.visit("/" + name)
		b.shoot(name)
	}
	b.click(`[data-item] a`)
	b.wait("#record")
	if b.click("[data-close]"); b.has("#record") {
		t.Error("the place stays open")
	}
	b.visit("/mail")
	b.shoot("mail")
	b.click(`a[data-item][href*="/e1"]`)
	b.until(`location.pathname.endsWith("/e1")`)
	b.wait(".reading")
	b.shoot("mail-reading")
	if text := b.text(".reading"); !strings.Contains(text, "<script>document.title") ||
		!strings.Contains(text, "fee.pdf") ||
		eval[float64](b, `document.querySelectorAll(".reading script, .reading img").length`) != 0 {
		t.Errorf("it reads %s", text)
	}
	if got := eval[string](b, "document.title"); !strings.Contains(got, "Berth 41") {
		t.Errorf("the title is %q", got)
	}
	b.visit(readingAt + "cin_notion_1/pages/n1")
	b.shoot("document-reading")
	b.visit(readingAt + "cin_miniflux_1/entries/f1")
	b.shoot("page-reading")
	if got := b.text(".reading"); !strings.Contains(got, "1 picture from other servers left out") ||
		!b.has(`iframe[sandbox="allow-popups allow-popups-to-escape-sandbox"]`) {
		t.Errorf("a page of a stranger is shown as %s", got)
	}
	b.quiet()
}
