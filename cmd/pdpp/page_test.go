package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/net/html"
)

func init() {
	// page PATH prints what a reader sees on a page of the server at $URL, with the owner's password $PASSWORD.
	commands["page"] = func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: page PATH")
		}
		jar, err := cookiejar.New(nil)
		ts.Check(err)
		client := &http.Client{Jar: jar}
		base := ts.Getenv("URL")
		answer, err := client.PostForm(base+"/login", url.Values{"password": {ts.Getenv("PASSWORD")}, "next": {args[0]}})
		ts.Check(err)
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK || answer.Request.URL.Path != strings.SplitN(args[0], "?", 2)[0] {
			body, _ := io.ReadAll(answer.Body)
			ts.Fatalf("%s gives %s: %.500s", answer.Request.URL, answer.Status, body)
		}
		root, err := html.Parse(answer.Body)
		ts.Check(err)
		_, err = ts.Stdout().Write([]byte(seen(root)))
		ts.Check(err)
	}
}

// seen is the text of a page, a line for each piece of it.
func seen(root *html.Node) string {
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			if text := strings.Join(strings.Fields(n.Data), " "); text != "" {
				b.WriteString(text + "\n")
			}
		}
	}
	return b.String()
}
