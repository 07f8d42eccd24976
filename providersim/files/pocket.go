package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Pocket makes a folder with exports of a Pocket account.
func Pocket(dir string, c Config) (World, error) { return newImports(dir, c, &pocketAccount{}) }

type pocketAccount struct {
	links  []pocketLink
	quotes []string
	page   bool
}

type pocketLink struct {
	title, url, tags string
	added            int64
	archived         bool
}

func (*pocketAccount) exportName(*Tree) string { return "pocket" }

func (p *pocketAccount) growAccount(t *Tree) {
	t.advanceClock()
	p.links = append(p.links, pocketLink{
		title: strings.ReplaceAll(t.randomSentence(), "\x01", ""),
		url: fmt.Sprintf("https://%s.example/%d,%s?q=a&b=%%2C", sampleWords[t.rng.IntN(len(sampleWords))], len(p.links),
			sampleWords[t.rng.IntN(len(sampleWords))]),
		added: t.clock.Unix(), archived: t.rng.IntN(2) == 0, tags: strings.Join(sampleWords[:t.rng.IntN(4)], "|"),
	})
	p.links[t.rng.IntN(len(p.links))].archived = true
	if t.rng.IntN(5) == 0 {
		p.quotes = append(p.quotes, t.randomSentence())
	}
}

func (l pocketLink) expectedItem() Item {
	tags := []any{}
	for _, tag := range strings.Split(l.tags, "|") {
		if tag != "" {
			tags = append(tags, tag)
		}
	}
	at := recordTime(l.added)
	sum := sha256.Sum256([]byte(l.url)) // addresses of the account are as short as they get
	return Item{Stream: "items", Key: hex.EncodeToString(sum[:16]),
		Fields: map[string]any{"url": l.url, "title": strings.TrimSpace(l.title), "time_added": at, "archived": l.archived,
			"tags": tags}}
}

// bareItem is the link with nothing but its address.
func (l pocketLink) bareItem() Item {
	i := l.expectedItem()
	i.Fields = map[string]any{"url": l.url}
	return i
}

// exportMembers alternates between the two forms that the service has had.
func (p *pocketAccount) exportMembers(t *Tree) []Member {
	if p.page = !p.page; !p.page {
		return []Member{p.htmlMember(), p.annotations()}
	}
	var out []Member
	const rows = 40
	for part := 0; part*rows < len(p.links); part++ {
		var b bytes.Buffer
		header, ending := []string{"title", "url", "time_added", "tags", "status"}, part%2 == 0
		switch part % 3 {
		case 1:
			b.WriteString("\xef\xbb\xbf")
			header = []string{"title", "url", "time_added", "cursor", "tags", "status"}
		case 2:
			header = []string{"status", "url", "Tags", "title", "time_added"}
		}
		w := csv.NewWriter(&b)
		w.UseCRLF = ending
		_ = w.Write(header) // into memory
		m := Member{Name: fmt.Sprintf("part_%06d.csv", part)}
		for _, l := range p.links[part*rows : min(len(p.links), part*rows+rows)] {
			status := "unread"
			if l.archived {
				status = "archive"
			}
			cells := map[string]string{"title": l.title, "url": l.url, "time_added": strconv.FormatInt(l.added, 10),
				"tags": l.tags, "Tags": l.tags, "status": status, "cursor": "x"}
			var row []string
			for _, name := range header {
				row = append(row, cells[name])
			}
			_ = w.Write(row) // into memory
			m.Items = append(m.Items, l.expectedItem())
		}
		w.Flush()
		m.Content = b.Bytes()
		out = append(out, m)
	}
	return append(out, p.annotations(), Member{Name: "collections/reading.json", Content: []byte(`{"title":"Reading"}`)})
}

func (p *pocketAccount) htmlMember() Member {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html><head><title>Pocket Export</title></head><body>\n")
	m := Member{Name: "ril_export.html"}
	for _, archived := range []bool{false, true} {
		b.WriteString(map[bool]string{false: "<h1>Unread</h1>\n<ul>\n", true: "<h1>Read Archive</h1>\n<ul>\n"}[archived])
		for _, l := range p.links {
			if l.archived != archived {
				continue
			}
			fmt.Fprintf(&b, "<li><a href=\"%s\" time_added=\"%d\" tags=\"%s\">%s</a></li>\n", htmlEscaper.Replace(l.url),
				l.added,
				htmlEscaper.Replace(strings.ReplaceAll(l.tags, "|", ",")), htmlEscaper.Replace(l.title))
			m.Items = append(m.Items, l.expectedItem())
		}
		b.WriteString("</ul>\n")
	}
	b.WriteString("</ul>\n</body></html>")
	m.Content = []byte(b.String())
	return m
}

var htmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func (p *pocketAccount) annotations() Member {
	m := Member{Name: "annotations/part_00000.json"}
	var list []any
	for i, q := range p.quotes {
		list = append(list, map[string]any{"url": "https://quoted.example/", "title": "Quoted",
			"highlights": []any{map[string]any{"quote": q, "created_at": 1700000000 + i}}})
		m.Items = append(m.Items, Item{Stream: "highlights",
			Fields: map[string]any{"url": "https://quoted.example/", "quote": q,
				"created_at": recordTime(int64(1700000000 + i))[:19] + ".000Z"}})
	}
	m.Content = []byte(encodeJSON(list))
	return m
}

func (p *pocketAccount) hostileMembers(*Tree) []Member {
	kept := pocketLink{title: "kept", url: "https://kept.example/", added: 1700000000}
	return []Member{{
		Name: "part_000000.csv", Items: []Item{kept.expectedItem(), pocketLink{url: "https://no-time.example/"}.bareItem()},
		Content: []byte("title,url,time_added,tags,status\nkept,https://kept.example/,1700000000,,unread\nno address,,1,," +
			"\n\"never closed,https://x.example/\nno time,https://no-time.example/,soon\n\x00\x00\n"),
	}}
}
