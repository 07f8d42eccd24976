package pocket_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive/archivetest"
	"github.com/pdpp-go/pdpp/connectors/pocket"
)

func imported(t testing.TB, files ...archivetest.PackedFile) *inprocess.MemoryRunner {
	t.Helper()
	dir := t.TempDir()
	archivetest.WriteUnpacked(t, dir, files...)
	return inprocess.NewMemoryRunner(t, pocket.Connector(), map[string]string{"POCKET_EXPORT_DIR": dir})
}

func one(t *testing.T, k *inprocess.MemoryRunner) string {
	t.Helper()
	for key := range k.Records["items"] {
		r := k.Fields("items", key)
		return fmt.Sprint(r["url"], "|", r["title"], "|", r["time_added"], "|", r["tags"], "|", r["archived"])
	}
	return "nothing"
}

// TestForms holds every form of the table and of the page against what is stored.
func TestForms(t *testing.T) {
	const want = "https://a.example/x,y|A \"title\", two|2023-07-22T04:26:40Z|[ml c&a]|true"
	row := `"A ""title"", two","https://a.example/x,y",1690000000,ml|c&amp;a,archive`
	wide := []byte{0xff, 0xfe}
	for _, c := range "title,url,time_added,tags,status\n" + row {
		wide = append(wide, byte(c), byte(c>>8))
	}
	for name, f := range map[string]archivetest.PackedFile{
		"plain": {Name: "part_000000.csv", Content: "title,url,time_added,tags,status\n" + row + "\n"},
		"mark and CRLF": {Name: "part_000000.csv", Content: "\xef\xbb\xbftitle,url,time_added,tags,status\r\n" + row +
			"\r\n"},
		"other order": {Name: "part.csv", Content: "Status,TAGS,time_added,url,title\n" +
			`archive,ml|c&amp;a,1690000000,"https://a.example/x,y","A ""title"", two"`},
		"with a cursor": {Name: "part.csv", Content: "title,url,time_added,cursor,tags,status\n" +
			strings.Replace(row, "1690000000,", "1690000000,abc,", 1)},
		"wide": {Name: "part.csv", Content: string(wide)},
		"page": {Name: "ril_export.html",
			Content: `<h1>Read Archive</h1><ul><li><a href="https://a.example/x,y" time_added="1690000000" tags="ml,c&amp;` +
				`amp;a">A "title", two</a></li></ul></ul>`},
		"page, unclosed": {Name: "ril_export.html",
			Content: `<H1>Read Archive</H1><ul><li><A HREF="https://a.example/x,y" time_added="1690000000" tags="ml,c&a">A ` +
				`"title", two`},
	} {
		if got := one(t, imported(t, f).Run()); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	k := imported(t, archivetest.PackedFile{Name: "p.csv",
		Content: "title,url,time_added,tags,status\nx,http://b.example,0,,later\n"}).Run()
	if got := one(t, k); got != "http://b.example|x|<nil>|[]|<nil>" {
		t.Errorf("what is not said: %s", got)
	}
}

// TestSameAddressTwice shows that a link is one record, whichever export has it, and that an
// address that one export has twice is two.
func TestSameAddressTwice(t *testing.T) {
	k := imported(t,
		archivetest.PackedFile{Name: "part_000000.csv",
			Content: "title,url,time_added,tags,status\nA,https://a.example/,1690000000,,unread\n" +
				"A again,https://A.example,1690000099,,unread\n"},
		archivetest.PackedFile{Name: "ril_export.html",
			Content: `<h1>Unread</h1><ul><li><a href="https://a.example:443/" time_added="1690000000" tags="">A</a></li></ul>`},
	).Run()
	if n := len(k.Records["items"]); n != 2 {
		t.Errorf("%d records", n)
	}
}

// TestOtherTables shows how files that are not from Pocket are reported.
func TestOtherTables(t *testing.T) {
	for name, content := range map[string]string{"a.csv": "Title,Date\nx,1/2/24\n", "b.html": "<h1>Hello</h1>",
		"c.csv": ""} {
		k := imported(t, archivetest.PackedFile{Name: name, Content: content}).Run()
		if got := fmt.Sprint(k.GapReasons()); got != "map[archive_of_another_kind:1]" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestEveryRowIsStoredOrDeclared damages a line of a table: all other rows are stored, and the
// damaged one is stored or declared.
func TestEveryRowIsStoredOrDeclared(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		lines := []string{"title,url,time_added,tags,status\n"}
		for i := range 30 {
			lines = append(lines, fmt.Sprintf("\"Title, %d\",https://a.example/%d,%d,a|b,unread\n", i, i, 1690000000+i))
		}
		bad := 1 + rng.IntN(len(lines)-1)
		line := []byte(strings.TrimSuffix(lines[bad], "\n"))
		for range 1 + rng.IntN(3) {
			switch at := rng.IntN(len(line)); rng.IntN(3) {
			case 0:
				line = append(line[:at], line[at+1:]...)
			case 1:
				line[at] = "\",\x00x:"[rng.IntN(5)]
			default:
				line = append(line[:at:at], append([]byte{"\",'"[rng.IntN(3)]}, line[at:]...)...)
			}
		}
		lines[bad] = string(line) + "\n"
		k := imported(t, archivetest.PackedFile{Name: "part.csv", Content: strings.Join(lines, "")}).Run()
		stored := map[string]bool{}
		for key := range k.Records["items"] {
			stored[fmt.Sprint(k.Fields("items", key)["url"])] = true
		}
		for i := 1; i < len(lines); i++ {
			if url := fmt.Sprintf("https://a.example/%d", i-1); i != bad && !stored[url] {
				t.Fatalf("seed %d: %s is lost because of %q", seed, url, lines[bad])
			}
		}
		if len(k.Records["items"])+len(k.Gaps()) < 30 {
			t.Errorf("seed %d: %d stored, %d declared: %q", seed, len(k.Records["items"]), len(k.Gaps()), lines[bad])
		}
	}
}

// FuzzExport feeds anything to each of the parsers: the run ends well.
func FuzzExport(f *testing.F) {
	f.Add("title,url,time_added,tags,status\n\"a\"\"\",https://a.example,1,a|b,unread\n", uint8(0))
	f.Add(`<h1>Unread</h1><ul><li><a href="https://a.example" time_added="1" tags="a">T</a>`, uint8(1))
	f.Add(`[{"url":"https://a.example","title":"T","highlights":[{"quote":"q","created_at":1690000000},{"quote":"r",`+
		`"created_at":"2024-01-01T00:00:00Z"}]}]`, uint8(2))
	f.Fuzz(func(t *testing.T, content string, which uint8) {
		name := []string{"part_000000.csv", "ril_export.html", "annotations/part_00000.json"}[which%3]
		imported(t, archivetest.PackedFile{Name: name, Content: content}).Run()
	})
}
