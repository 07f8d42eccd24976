package consoletest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// reads follows an owner through their data: from the year to a day, a conversation, and a record
// with its history. Then come a saved search, pictures, and an export. The first part uses only
// the keyboard.
func reads(t *testing.T, h *house) {
	b := h.signIn(t)
	b.reach(`a[href="/complete"]`)
	b.until(`location.pathname === "/complete" && document.querySelector(".heat") !== null`)
	b.reach(`nav a[href="/timeline"]`)
	// Shortly after midnight nothing is kept of today yet: items are on the day before.
	b.until(`location.pathname === "/timeline" && document.querySelector("[rel=next]") !== null`)
	b.reach(`[rel=next]`)
	b.until(`location.pathname.startsWith("/day/") && document.querySelector("[data-item]") !== null`)

	b.visit("/complete")
	day := eval[string](b, `[...document.querySelectorAll(".heat a")].findLast(a => a.querySelector(".h4, .h3"))`+
		`.getAttribute("href")`)
	b.click(fmt.Sprintf(`.heat a[href=%q]`, day))
	b.until(`location.pathname === "` + day + `" && document.querySelector("[data-item]") !== null`)
	b.visit("/conversations")
	b.click(`[data-thread]`)
	b.wait(`#thread`)
	b.click(`.acts a[href^="/thing/"]`)
	b.until(`/^\/thing\/[^/]+\/[^/]+\/.+/.test(location.pathname)`)
	if words := b.text("main"); !strings.Contains(words, "First collected") {
		t.Errorf("the record says nothing of its history:\n%s", words)
	}
	stream := strings.Split(b.path(), "/")

	b.visit("/complete")
	b.fill(`#seek`, "the")
	b.submit(`#seek`)
	b.until(`location.search.includes("q=the")`)
	b.click(`details.more > summary:has(+ .more-menu [data-save-search])`)
	b.fill(`[data-save-search] input[name=name]`, "The everyday")
	b.submit(`[data-save-search] input[name=name]`)
	b.wait(`[aria-label="Saved searches"], [data-search]`)
	b.visit("/search/saved")
	b.shoot("saved-searches")
	b.visit("/complete")
	b.click(`[aria-label="Saved searches"] a[href*="q=the"]`)
	b.until(`location.search.includes("q=the")`)
	if q := eval[string](b, `document.querySelector("input[name=q]").value`); q != "the" {
		t.Errorf("the saved search brings back %q", q)
	}
	b.visit("/photos")
	b.until(`document.querySelector(".photos img")?.naturalWidth > 0`)
	if kind := eval[string](b,
		`fetch(document.querySelector(".photos img").src).then(r => r.headers.get("Content-Type"))`); kind != "image/jpeg" {
		t.Errorf("a small picture is %q", kind) // the placeholder icon is not a photograph
	}
	exported := eval[[]string](b,
		fmt.Sprintf(`fetch("/search/export?part=connection_id%%3D%s%%26stream%%3D%s&format=jsonl").then(r => r.text())`+
			`.then(t => t.trim().split("\n").map(l => JSON.parse(l).id))`, stream[2], stream[3]))
	if record, err := url.PathUnescape(stream[4]); err != nil || !slices.Contains(exported, record) {
		t.Errorf("the record %s is not among the %d that were exported, %v", stream[4], len(exported), err)
	}
	b.quiet()
}

// reach moves the focus with the Tab key to the element that css selects, and presses Enter.
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
		b.visit("/sources/add")
		b.click(fmt.Sprintf(`[data-way=%q]`, way))
		b.until(`location.search === "?way=` + way + `"`)
		b.click(fmt.Sprintf(`a[data-connector=%q]`, first.connector))
		b.wait(`[data-about]`)
		for _, words := range []string{"First run", "Not included"} {
			if message := b.text("[data-about]"); !strings.Contains(message, words) {
				t.Errorf("%s does not contain %q: %s", first.connector, words, message)
			}
		}
		b.click(`[data-about] [data-connect]`)
		b.wait(first.step)
	}
	b.visit("/sources/add/claude_code/device")
	b.submit(`#display-name`)
	b.wait(`[data-pairing=waiting]`)
	b.wait(`.pairing-line code`)
	b.visit("/sources/add/spotify")
	b.submit(`form[data-add] input`)
	b.until(`location.pathname.endsWith("/allow")`)
	b.quiet()
}
