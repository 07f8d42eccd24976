package prose

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	got := Markdown("# Boat\n\n- [x] rope\n- [ ] **varnish**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" +
		"see [tides](https://tides.example/a?b=1&c=2) and [this](javascript:alert(1))\n\n" +
		"<script>alert(1)</script>\n\n![the quay](https://far.example/x.png)\n\n```\nmake boat\n```\n").HTML
	for _, want := range []string{"<h3>Boat</h3>", "☑ rope", "☐ <strong>varnish</strong>", "<td>1</td>",
		`<a href="https://tides.example/a?b=1&amp;c=2" rel="noopener noreferrer nofollow" target="_blank">tides</a>`,
		"<a>this</a>", "<em>the quay</em>", `<pre tabindex="0"><code>make boat`} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "script") || strings.Contains(got, "far.example") {
		t.Errorf("it has what it may not have:\n%s", got)
	}
}

// attacks are what a stranger may send.
var attacks = []string{
	`<p onclick=alert(1) style="position:fixed" id=main class=btn>words</p>`,
	`<img src=https://far.example/x.png onerror=alert(1)>`, `<svg><script>alert(1)</script><a xlink:href=x>y</a></svg>`,
	`<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>`, `<a href="JaVa	script:alert(1)">x</a>`,
	`<a href="data:text/html,x">x</a>`, `<iframe src=https://far.example></iframe>`,
	`<form action=/logout><button>go</button></form>`,
	`<base href=https://far.example><link rel=stylesheet href=https://far.example/x.css>`,
	`<meta http-equiv=refresh content=0>`,
	`<style>@import "https://far.example/x.css"</style>`, `<table background=https://far.example/x.png><td>x`,
	`<noscript><p title="</noscript><img src=x onerror=alert(1)>">`, `<video src=https://far.example poster=x></video>`,
	`<a href="https://far.example/&quot; onmouseover=&quot;alert(1)">x</a>`, strings.Repeat("<div>", 5000) + "deep",
	`<template><script>alert(1)</script></template>`, `<textarea></textarea><script>alert(1)</script>`,
}

// safe fails where markup has anything but words and links that may be followed.
func safe(t *testing.T, of, markup string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(markup))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, bad := range []string{"script", "style", "iframe", "img", "svg", "math", "form", "button", "link", "meta",
			"base", "video", "object", "template"} {
			if n.Data == bad {
				t.Errorf("%.200s has an element %s: %.300s", of, bad, markup)
			}
		}
		for _, a := range n.Attr {
			allowed := a.Key == "rel" || a.Key == "target" || a.Key == "tabindex" || a.Key == "colspan" || a.Key == "rowspan" ||
				a.Key == "href" && WebAddress(a.Val) != ""
			if !allowed {
				t.Errorf("%.200s has %s=%q", of, a.Key, a.Val)
			}
		}
	}
}

func TestNothingOfAPageRunsOrLoads(t *testing.T) {
	t.Parallel()
	for _, one := range attacks {
		safe(t, one, HTML(one).HTML)
		safe(t, one, Markdown(one).HTML)
	}
	if got := Words("<p>Get <b>it</b></p><script>x</script>"); got != "Get  it " {
		t.Errorf("the words are %q", got)
	}
	if got := HTML(`<style>p{}</style><script>x</script><title>t</title><p>y</p>`).HTML; got != "<p>y</p>" {
		t.Errorf("what is not for readers is shown: %s", got)
	}
	got := HTML(`<p>Dear all,<br>see <b>this</b></p><img width=1 src=x><img alt="the notes" src=x>`)
	if got.HTML != "<p>Dear all,<br>see <b>this</b></p><em>the notes</em>" || got.Pictures != 1 {
		t.Errorf("%+v", got)
	}
}

func TestWordsAboutHTMLAreNoPage(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]bool{
		"<p>one</p>": true, " <!DOCTYPE html><html><body>x</body></html>": true, "<div class=a>x</div>": true,
		"<script>alert(1)</script>": false, "use <b>bold</b>": false, "<3 you </3": false, "": false, "a < b": false,
	} {
		if got := IsPage(words); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, one := range attacks {
		f.Add(one)
	}
	f.Fuzz(func(t *testing.T, markup string) {
		safe(t, markup, HTML(markup).HTML)
		safe(t, markup, Markdown(markup).HTML)
	})
}
