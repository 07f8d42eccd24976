package consoletest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// reads is an owner who looks at what they have: from the year to a day, a conversation, a record
// with its history, a search that is saved and opened by its name, pictures, and a file of it all. The first part is
// done by the keyboard alone.
func reads(t *testing.T, h *house) {
	b := h.signIn(t)
	b.reach(`a[href="/records"]`)
	b.until(`location.pathname === "/records" && document.querySelector(".heat") !== null`)
	b.reach(`nav a[href="/records/timeline"]`)
	// Shortly after midnight nothing is kept of today yet: items are on the day before.
	b.until(`location.pathname === "/records/timeline" && document.querySelector("[rel=next]") !== null`)
	b.reach(`[rel=next]`)
	b.until(`location.search.includes("day=") && document.querySelector("[data-item]") !== null`)

	b.visit("/records")
	day := eval[string](b, `[...document.querySelectorAll(".heat a")].findLast(a => a.querySelector(".h4, .h3")).getAttribute("href")`)
	b.click(fmt.Sprintf(`.heat a[href=%q]`, day))
	b.until(`location.search === "` + day[strings.Index(day, "?"):] + `" && document.querySelector("[data-item]") !== null`)
	b.visit("/records/conversations")
	b.click(`[data-thread]`)
	b.wait(`#thread`)
	b.click(`.acts a[href^="/records/"]:not([href^="/records/conversations"])`)
	b.until(`/^\/records\/[^/]+\/[^/]+\/.+/.test(location.pathname) && !location.pathname.startsWith("/records/conversations")`)
	if words := b.text("main"); !strings.Contains(words, "First collected") {
		t.Errorf("the record says nothing of its history:\n%s", words)
	}
	stream := strings.Split(b.path(), "/")

	b.visit("/records")
	b.fill(`form[role=search] input[name=q]`, "the")
	b.submit(`form[role=search] input[name=q]`)
	b.until(`location.search.includes("q=the")`)
	b.click(`details.more > summary:has(+ .more-menu [data-save-search])`)
	b.fill(`[data-save-search] input[name=name]`, "The everyday")
	b.submit(`[data-save-search] input[name=name]`)
	b.wait(`[aria-label="Saved searches"], [data-search]`)
	b.visit("/records/searches")
	b.shoot("saved-searches")
	b.visit("/records")
	b.click(`[aria-label="Saved searches"] a[href*="q=the"]`)
	b.until(`location.search.includes("q=the")`)
	if q := eval[string](b, `document.querySelector("input[name=q]").value`); q != "the" {
		t.Errorf("the saved search brings back %q", q)
	}
	b.visit("/records/files")
	b.until(`document.querySelector(".tile img")?.naturalWidth > 0`)
	if kind := eval[string](b, `fetch(document.querySelector(".tile img").src).then(r => r.headers.get("Content-Type"))`); kind != "image/jpeg" {
		t.Errorf("a small picture is %q", kind) // what stands for one that cannot be made is no photograph
	}
	exported := eval[[]string](b, fmt.Sprintf(`fetch("/records/export?connection=%s&stream=%s&format=jsonl").then(r => r.text()).then(t => t.trim().split("\n").map(l => JSON.parse(l).id))`, stream[2], stream[3]))
	if record, err := url.PathUnescape(stream[4]); err != nil || !slices.Contains(exported, record) {
		t.Errorf("the record %s is not among the %d that were exported, %v", stream[4], len(exported), err)
	}
	b.quiet()
}

// reach goes by the keyboard alone to what the css names, and enters it.
func (b *tab) reach(css string) {
	b.t.Helper()
	for range 300 {
		b.do(chromedp.KeyEvent("\t"))
		if eval[bool](b, fmt.Sprintf(`document.activeElement.matches(%q)`, css)) {
			b.do(chromedp.KeyEvent("\r"))
			return
		}
	}
	b.t.Fatalf("the keyboard does not reach %s at %s", css, b.where())
}

// adds goes from the catalogue to the first step of every way in that there is. What follows each
// has a journey of its own.
func adds(t *testing.T, h *house) {
	b := h.signIn(t)
	for way, first := range map[string]struct{ connector, step string }{
		"token":    {"github", `form[data-add] input[type=password]`},
		"provider": {"spotify", `form[data-add]`},
		"browser":  {"chatgpt", `form[data-add]`},
		"device":   {"claude_code", `a[data-place=device]`},
		"file":     {"netflix_export", `[data-place=upload], form[data-upload]`},
	} {
		b.visit("/add")
		b.click(fmt.Sprintf(`[data-way=%q]`, way))
		b.until(`location.search === "?way=` + way + `"`)
		b.click(fmt.Sprintf(`a[data-connector=%q]`, first.connector))
		b.wait(`[data-about]`)
		for _, words := range []string{"First run", "Not included"} {
			if said := b.text("[data-about]"); !strings.Contains(said, words) {
				t.Errorf("%s does not say %q: %s", first.connector, words, said)
			}
		}
		b.click(`[data-about] [data-connect]`)
		b.wait(first.step)
	}
	b.visit("/add/claude_code/device")
	b.submit(`#display-name`)
	b.wait(`[data-pairing=waiting]`)
	b.wait(`.pairing-line code`)
	b.visit("/add/spotify")
	b.submit(`form[data-add] input`)
	b.until(`location.pathname.endsWith("/allow")`)
	b.quiet()
}
