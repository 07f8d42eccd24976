package netflixexport_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive/archivetest"
	netflixexport "github.com/pdpp-go/pdpp/connectors/netflix_export"
)

func imported(t testing.TB, content, order string) *inprocess.MemoryRunner {
	t.Helper()
	dir := t.TempDir()
	archivetest.WriteFile(t, dir+"/NetflixViewingHistory.csv", []byte(content))
	return inprocess.NewMemoryRunner(t, netflixexport.Connector(),
		map[string]string{"NETFLIX_EXPORT_DIR": dir, "NETFLIX_DATE_ORDER": order})
}

func days(t *testing.T, k *inprocess.MemoryRunner) (out []string) {
	t.Helper()
	for key := range k.Records["viewing_activity"] {
		out = append(out, strings.TrimSuffix(fmt.Sprint(k.Fields("viewing_activity", key)["watched_at"]), "T00:00:00Z"))
	}
	slices.Sort(out)
	return out
}

// TestDays reads days as different countries write them.
func TestDays(t *testing.T) {
	for name, c := range map[string]struct{ days, want string }{
		"United States":      {"3/14/24 3/2/24 1/5/24", "2024-01-05 2024-03-02 2024-03-14"},
		"United Kingdom":     {"14/03/2024 02/03/2024 05/01/2024", "2024-01-05 2024-03-02 2024-03-14"},
		"Germany":            {"2.3.24 5.1.24", "2024-01-05 2024-03-02"},
		"Sweden":             {"2024-03-02 2024-01-05", "2024-01-05 2024-03-02"},
		"Korea":              {"2024. 3. 2. 2024. 1. 5.", "2024-01-05 2024-03-02"},
		"Japan":              {"2024/03/02 2024/01/05", "2024-01-05 2024-03-02"},
		"Egypt":              {"٢٠\u200f/٣\u200f/٢٠٢٤ ٢\u200f/٣\u200f/٢٠٢٤", "2024-03-02 2024-03-20"},
		"order tells: d/m":   {"2/3/24 1/3/24 12/2/24 11/2/24", "2024-02-11 2024-02-12 2024-03-01 2024-03-02"},
		"order tells: m/d":   {"3/2/24 3/1/24 2/12/24 2/11/24", "2024-02-11 2024-02-12 2024-03-01 2024-03-02"},
		"order does not ask": {"3/3/24 2/2/24", "2024-02-02 2024-03-03"},
	} {
		content := "Title,Date\n"
		list := strings.Fields(c.days)
		if name == "Korea" {
			list = []string{"2024. 3. 2.", "2024. 1. 5."}
		}
		for i, day := range list {
			content += fmt.Sprintf("\"Title, %d\",\"%s\"\n", i, day)
		}
		if got := strings.Join(days(t, imported(t, content, "").Run()), " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestAmbiguousDays shows that nothing is guessed, and that the owner's word is taken, also
// after the file has been refused.
func TestAmbiguousDays(t *testing.T) {
	k := imported(t, "Title,Date\nx,3/2/24\n", "").Run()
	if got := fmt.Sprint(k.GapReasons(), days(t, k)); got != "map[ambiguous_date_order:1] []" {
		t.Errorf("without a word: %s", got)
	}
	k.Env["NETFLIX_DATE_ORDER"] = "dmy"
	if got := fmt.Sprint(k.Run().GapReasons(), days(t, k)); got != "map[] [2024-02-03]" {
		t.Errorf("with the owner's word: %s", got)
	}
}

// TestBothTables holds rows of both exports against what is stored.
func TestBothTables(t *testing.T) {
	k := imported(t, "Profile Name,Start Time,Duration,Attributes,Title,Supplemental Video Type,Device "+
		"Type,Bookmark,Latest Bookmark,Country\n"+
		"Mara,2024-01-02 10:11:12,01:02:03,,\"Film, the\",,TV,00:10:00,Not latest view,SE (Sweden)\n"+
		"Mara,soon,00:00:01,,X,,TV,,,SE\nMara,2024-01-02 10:11:12,,,Y,TRAILER,TV,,,SE\n", "").Run()
	var got []string
	for key := range k.Records["viewing_activity"] {
		r := k.Fields("viewing_activity", key)
		got = append(got, fmt.Sprint(r["title"], "|", r["watched_at"], "|", r["watched_at_precision"], "|",
			r["duration_seconds"], "|", r["device_type"], "|", r["profile_name"], "|", r["source_schema"]))
	}
	slices.Sort(got)
	if want := "[Film, the|2024-01-02T10:11:12Z|instant|3723|TV|Mara|full_export]"; fmt.Sprint(got) != want ||
		len(k.Gaps()) != 1 {
		t.Errorf("%s\nwant\n%s\n%v", got, want, k.GapReasons())
	}
	for key := range k.Records["previews"] {
		if r := k.Fields("previews", key); r["title"] != "Y" || r["preview_type"] != "TRAILER" ||
			r["watched_at"] != "2024-01-02T10:11:12Z" {
			t.Errorf("a trailer is %v", r)
		}
	}
	if n := len(k.Records["previews"]); n != 1 {
		t.Errorf("%d trailers", n)
	}
	many := strings.Repeat("x,14/3/24\n", 1100) // more than is committed together
	k = imported(t, "Titel,Datum\n"+many+"y,14/3/24\n", "").Run()
	if got := days(t, k); len(got) != 1101 {
		t.Errorf("of 1101 rows about a day %d are kept", len(got))
	}
	if got := fmt.Sprint(imported(t, "a,b\nc,d\n", "").Run().GapReasons()); got != "map[archive_of_another_kind:1]" {
		t.Errorf("another table: %s", got)
	}
}

// FuzzExport feeds anything to the parser: the run ends well.
func FuzzExport(f *testing.F) {
	f.Add("Title,Date\n\"x, y\",14/3/24\nz,\"2024. 3. 2.\"\n")
	f.Add("Profile Name,Start Time,Duration,Title,Device Type\nM,2024-01-02 10:11:12,01:02:03,T,D\n")
	f.Fuzz(func(t *testing.T, content string) { imported(t, content, "").Run() })
}
