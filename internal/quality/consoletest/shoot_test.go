package consoletest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

//go:embed testdata/axe.min.js
var axe string

// looks is a script that lets a page compare the visual styles of its text.
//
//go:embed testdata/looks.js
var looks string

// shoot looks at the page at both widths and in both themes, and finds nothing that
// reaches beyond the window and no serious fault of accessibility in any of them.
func (b *tab) shoot(name string) {
	b.t.Helper()
	b.until(`document.readyState === "complete"`)
	if eval[bool](b, "!window.axe") {
		eval[bool](b, axe+looks+";true")
	}
	for _, as := range []struct {
		width int64
		dark  bool
	}{{1280, false}, {1280, true}, {390, true}, {390, false}} { // one step from each to the next
		b.dress(as.width, as.dark)
		where := fmt.Sprintf("%s-%d-%s", name, b.width, b.scheme)
		if wide := eval[float64](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); wide > 0 {
			b.t.Errorf("%s: the page is %v px wider than the window", where, wide)
		}
		if as.dark == (as.width < 600) {
			b.picture(where)
		}
		if !as.dark { // a theme is nothing but colours
			b.structure(where)
		}
		b.colours(where, b.scheme)
	}
	b.dress(1280, false)
}

type violation struct {
	ID, Help string
	Nodes    []struct{ HTML, FailureSummary string }
}

// structure lets axe hold the page against every rule of weight but those of colours.
func (b *tab) structure(where string) {
	b.t.Helper()
	b.report(where, eval[string](b,
		`axe.run(document, {runOnly: ofStructure, resultTypes: ["violations"], preload: false}).then(r => `+
			`JSON.stringify(r.violations))`))
}

// judged are the looks of text that axe has judged, by theme. To judge those of a page takes as
// long as all rules of structure together, and most of a page looks as the page before did.
var judged = struct {
	sync.Mutex
	pages map[string]map[string]int // by look: on how many pages it was shown to axe, or tries
}{pages: map[string]map[string]int{"light": {}, "dark": {}}}

// tries is on how many pages a look is shown to axe that it cannot judge there, as something lies
// over the text.
const tries = 3

// colours lets axe judge the colours of what looks like nothing that it has judged in this theme.
func (b *tab) colours(where, theme string) {
	b.t.Helper()
	all := eval[[]string](b, `Object.keys(window.looks = looksOf(document.body))`)
	var unknown []string
	judged.Lock()
	for _, look := range all {
		if judged.pages[theme][look] < tries {
			unknown = append(unknown, look)
		}
	}
	judged.Unlock()
	if len(unknown) == 0 {
		return
	}
	asked, err := json.Marshal(unknown)
	if err != nil {
		b.t.Fatal(err)
	}
	var reported struct {
		Violations json.RawMessage
		Judged     []string
	}
	if err := json.Unmarshal([]byte(eval[string](b, `judge(window.looks, `+string(asked)+`).then(JSON.stringify)`)),
		&reported); err != nil {
		b.t.Fatal(err)
	}
	judged.Lock()
	for _, look := range unknown {
		judged.pages[theme][look]++
	}
	for _, look := range reported.Judged {
		judged.pages[theme][look] = tries
	}
	judged.Unlock()
	b.report(where, string(reported.Violations))
}

// report fails the test with the violations that axe found.
func (b *tab) report(where, violations string) {
	b.t.Helper()
	var found []violation
	if err := json.Unmarshal([]byte(violations), &found); err != nil {
		b.t.Fatalf("axe: %v: %.200s", err, violations)
	}
	for _, v := range found {
		for _, n := range v.Nodes {
			b.t.Errorf("%s: %s (%s): %.300s\n%s", where, v.ID, v.Help, n.HTML, n.FailureSummary)
		}
	}
}
