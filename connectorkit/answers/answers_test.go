package answers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/protocol"
)

const sheet = `GET v1/entries
	entries! list
	entries/[]! object
	entries/[]/author! object|null
	entries/[]/author/name! text
	entries/[]/id! number
	entries/[]/note text
	people object
	people/* object
	people/*/role! text
	size! number
names starred
`

// compared is what is reported of answers to one list.
func compared(t *testing.T, bodies ...string) map[string]protocol.AnswerDifference {
	t.Helper()
	c := Compare(sheet)
	to, err := url.Parse("https://reader.example/app/v1/entries?limit=100")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		c.Answer("entries", http.MethodGet, to, http.Header{"Content-Type": {"application/json"}}, []byte(body))
	}
	report := c.Report("entries", true)
	if report == nil {
		t.Fatal("nothing was compared")
	}
	out := map[string]protocol.AnswerDifference{}
	for _, d := range report.Differences {
		out[string(d.Kind)+" "+d.Member] = d
	}
	line, err := protocol.AppendLine(nil, &protocol.Progress{Message: "m", Stream: "entries", AnswerDrift: report})
	if err == nil {
		_, err = protocol.NewDecoder(protocol.FromConnector).Decode(line)
	}
	if err != nil {
		t.Errorf("the report breaks a rule: %v", err)
	}
	return out
}

func TestCompare(t *testing.T) {
	good := `{"size":2,"entries":[{"id":1,"author":{"name":"n"},"note":"x"},{"id":2,"author":null,"starred":true}],` +
		`"people":{"mara":{"role":"r"}}}`
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"as expected", good, nil},
		{"an empty list", `{"size":0,"entries":[]}`, nil},
		{"a new member", strings.Replace(good, `"id":1`, `"id":1,"colour":"red"`, 1),
			[]string{"new_member entries/[]/colour"}},
		{"a new object, not looked into", strings.Replace(good, `"id":1`, `"id":1,"more":{"secret":{"deep":1}}`, 1),
			[]string{"new_member entries/[]/more"}},
		{"an id for a name", strings.Replace(good, `"id":1`, `"id":1,"0f8fad5b":1`, 1), []string{"new_member entries/[]/?"}},
		{"an absent member", `{"size":1,"entries":[{"author":null}]}`, []string{"absent_member entries/[]/id"}},
		{"a member that some have", `{"size":2,"entries":[{"id":1,"author":null},{"author":null}]}`, nil},
		{"another type", strings.Replace(good, `"id":1`, `"id":"one"`, 1), []string{"other_type entries/[]/id"}},
		{"an object that became a map", `{"size":1,"entries":[{"id":1,"author":{"mara":1,"jo":2}}]}`,
			[]string{"absent_member entries/[]/author/name", "new_member entries/[]/author/?"}},
		{"another type as a whole", `[]`, []string{"other_type "}},
	} {
		got := compared(t, c.body)
		for _, want := range c.want {
			if _, found := got[want]; !found {
				t.Errorf("%s: %q is not reported: %v", c.name, want, got)
			}
			delete(got, want)
		}
		if len(got) > 0 && c.name != "another type as a whole" {
			t.Errorf("%s: reported too: %v", c.name, got)
		}
	}
}

// A list with only one page of a round number of items, fewer than asked for, may have been cut off.
func TestSmallPage(t *testing.T) {
	page := func(n int) string {
		items := strings.TrimSuffix(strings.Repeat(`{"id":1,"author":null},`, n), ",")
		return fmt.Sprintf(`{"size":%d,"entries":[%s]}`, n, items)
	}
	for _, c := range []struct {
		bodies []string
		small  bool
	}{
		{[]string{page(50)}, true}, {[]string{page(47)}, false}, {[]string{page(100)}, false},
		{[]string{page(50), page(20)}, false}, {[]string{page(50), page(0)}, true},
	} {
		if d, small := compared(t, c.bodies...)["small_page "]; small != c.small || small && (d.Count != 50 || d.Of != 100) {
			t.Errorf("%d pages: %+v, want %v", len(c.bodies), d, c.small)
		}
	}
}

// However much differs, the report stays small.
func TestBounds(t *testing.T) {
	c := Compare(sheet)
	to, _ := url.Parse("/v1/entries")
	for i := range 200 {
		body := fmt.Sprintf(`{"size":1,"new_%c%c":1,"entries":[{"id":1,"author":null}]}`, 'a'+i%26, 'a'+i/26)
		c.sheet().routes[0].answers = 0
		c.Answer(fmt.Sprint("s", i/4), http.MethodGet, to, http.Header{}, []byte(body))
	}
	if c.Report("s1", true) == nil || c.Report("elsewhere", true) != nil {
		t.Error("the first answers of each stream are compared, and no others")
	}
	p := &streamComparison{found: map[difference]*memberCount{}}
	w := answerWalker{p: p}
	for i := range 500 {
		w.noteDifference(difference{member: fmt.Sprint(i)})
	}
	if len(p.found) != protocol.MaxDifferences || p.more != 500-protocol.MaxDifferences {
		t.Errorf("%d kept, %d more", len(p.found), p.more)
	}
}

// A sheet that is learned calls nothing different that it was learned from.
func TestLearn(t *testing.T) {
	s, err := ParseSheet("")
	if err != nil {
		t.Fatal(err)
	}
	bodies := []string{
		`{"rooms":{"!a:example.org":{"name":"x"},"!b:example.org":{"name":"y"}},"list":[{"id":1},{"id":2,"note":null}]}`,
		`{"rooms":{},"list":[],"more":true}`,
	}
	for _, body := range bodies {
		s.LearnAnswer(http.MethodGet, s.RequestPattern(http.MethodGet, "/v3/sync/4711003", "/"), "application/json",
			[]byte(body))
	}
	s.FinishLearning([]string{"note"})
	text := s.String()
	for _, want := range []string{"GET v3/sync/*\n", "\trooms/* object\n", "\trooms/*/name! text\n", "\tmore flag\n",
		"\tlist/[]/id! number\n", "names note\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	c := Compare(text)
	to, _ := url.Parse("/v3/sync/99")
	for _, body := range bodies {
		c.Answer("s", http.MethodGet, to, http.Header{}, []byte(body))
	}
	if report := c.Report("s", true); report.Answers != 2 || report.Any() {
		t.Errorf("%+v", report)
	}
}

// Answers in XML and calendars are compared by the names of elements and properties.
func TestOtherForms(t *testing.T) {
	multistatus := `<?xml version="1.0"?><D:multistatus xmlns:D="DAV:"><D:response><D:href>/a</D:href></D:response></` +
		`D:multistatus>`
	calendar := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:long\r\n CLASS:folded\r\n" +
		"END:VEVENT\r\nEND:VCALENDAR\r\n"
	s, err := ParseSheet("")
	if err != nil {
		t.Fatal(err)
	}
	s.LearnAnswer("REPORT", "dav/*", "application/xml", []byte(multistatus))
	s.LearnAnswer(http.MethodGet, "feeds/*", "text/calendar", []byte(calendar))
	s.FinishLearning(nil)
	c := Compare(s.String())
	dav, _ := url.Parse("/dav/x")
	feed, _ := url.Parse("/feeds/x")
	xml := http.Header{"Content-Type": {"application/xml; charset=utf-8"}}
	c.Answer("s", "REPORT", dav, xml, []byte(strings.Replace(multistatus, "<D:href>", "<D:sync/><D:href>", 1)))
	c.Answer("s", http.MethodGet, feed, http.Header{}, []byte(strings.Replace(calendar, "UID:1", "COLOUR:red", 1)))
	var got []string
	for _, d := range c.Report("s", true).Differences {
		got = append(got, string(d.Kind)+" "+d.Member)
	}
	want := "new_member multistatus/response/sync, new_member VCALENDAR/VEVENT/COLOUR, absent_member VCALENDAR/VEVENT/UID"
	for w := range strings.SplitSeq(want, ", ") {
		if !strings.Contains(strings.Join(got, ", "), w) {
			t.Errorf("no %q in %q", w, got)
		}
	}
}

// TestNamesByHand shows that names written by hand count as known and are not repeated when the rest is written again.
func TestNamesByHand(t *testing.T) {
	const text = "names starred\n\n# by hand\nnames colour\n"
	s, err := ParseSheet(text)
	if err != nil || !s.DecodesMember("colour") || !s.DecodesMember("starred") {
		t.Fatalf("%v %+v", err, s)
	}
	s.FinishLearning([]string{"colour"})
	if got := s.String(); got != text {
		t.Errorf("written again: %q", got)
	}
}
