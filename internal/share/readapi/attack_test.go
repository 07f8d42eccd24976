package readapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// february bounds a scope; n2 is in it, and n4 was.
func february(s grants.Stream) grants.Stream {
	s.Since, s.Until = ptr(at(2, 1)), ptr(at(3, 1))
	return s
}

var notes = grants.Stream{ConnectionID: "mine", Stream: "notes"}

// hidden are words and keys that no grant of the table covers.
var hidden = []string{"zebra", "quokka", "ibex", "narwhal", "tapir", "okapi", "pangolin", "dugong", "axolotl", "n3",
	"n5", "m1", "l1"}

// Every attempt is refused with its own code, or finds nothing, and nothing of what was
// not granted is in any answer.
func TestAttacks(t *testing.T) { onBoth(t, testAttacks) }

// attack is an attempt to read more than a grant allows.
type attack struct {
	name, grant, path string
	status            int
	want              string // a code, or the ids of what is found
}

// attacks furnishes a world and returns the attempts with their tokens.
func attacks(t *testing.T, w *world) (tokens map[string]string, all []attack) {
	w.furnish()
	tokens = map[string]string{
		"titles": w.grant("", february(grants.Stream{ConnectionID: "mine", Stream: "notes",
			Fields: []string{"title", "folder"}})),
		"window": w.grant("", february(grants.Stream{ConnectionID: "mine", Stream: "notes",
			Fields: []string{"title", "body", "folder"}})),
		"chosen": w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes", Resources: []string{"n2", "n4"},
			Fields: []string{"title", "body"}}),
		"nothing": w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes", Resources: []string{"no such key"}}),
	}
	foreign := w.ask(w.grant("", notes, grants.Stream{ConnectionID: "mine", Stream: "letters"}),
		"/v1/streams/notes/records?limit=1").page(t).Next
	feed := w.ask(w.grant("", notes), "/v1/streams/notes/records?limit=1&changes_since=beginning").page(t).Since
	own := w.ask(tokens["window"], "/v1/streams/notes/records?limit=1&changes_since=beginning").page(t).Since
	return tokens, []attack{
		{"what is granted", "titles", "/v1/streams/notes/records", 200, "n2"},
		{"newest first", "titles", "/v1/streams/notes/records?order=desc", 200, "n2"},
		{"another stream", "titles", "/v1/streams/letters/records", 403, "insufficient_scope"},
		{"a stream that is not there", "titles", "/v1/streams/nowhere/records", 403, "insufficient_scope"},
		{"another stream's schema", "titles", "/v1/streams/letters", 403, "insufficient_scope"},
		{"another stream's record", "titles", "/v1/streams/letters/records/l1", 403, "insufficient_scope"},
		{"another connection", "titles", "/v1/streams/notes/records?connection_id=other", 403, "insufficient_scope"},
		{"another connection's streams", "titles", "/v1/streams?connection_id=other", 403, "insufficient_scope"},
		{"another connection's record", "titles", "/v1/streams/notes/records/m1", 404, "not_found"},
		{"a hidden field", "titles", "/v1/streams/notes/records?fields=private", 403, "insufficient_scope"},
		{"an expansion nobody declares", "titles", "/v1/streams/notes/records?expand=letters", 400, "invalid_request"},
		{"an expansion of one record", "titles", "/v1/streams/notes/records/n2?expand=letters", 400, "invalid_request"},
		{"an expansion as a list", "titles", "/v1/streams/notes/records?expand[]=letters", 400, "invalid_request"},
		{"an expansion of a hidden field", "titles", "/v1/streams/notes/records?expand=private", 400, "invalid_request"},
		{"a range that tells of other times", "titles", "/v1/streams/notes/records?filter[written_at][lt]=2026-01-01", 403,
			"insufficient_scope"},
		{"a hidden field of one record", "titles", "/v1/streams/notes/records/n2?fields=title,private", 403,
			"insufficient_scope"},
		{"a hidden field in changes", "titles", "/v1/streams/notes/records?changes_since=beginning&fields=private", 403,
			"insufficient_scope"},
		{"a field that is not there", "titles", "/v1/streams/notes/records?fields=colour", 400, "unknown_field"},
		{"a filter on a hidden field", "titles", "/v1/streams/notes/records?filter[private]=quokka", 403,
			"insufficient_scope"},
		{"a filter on a field that has none", "titles", "/v1/streams/notes/records?filter[title]=x", 400, "unknown_field"},
		{"a filter that finds", "titles", "/v1/streams/notes/records?filter[folder]=away", 200, "n2"},
		{"a filter written as another", "titles", "/v1/streams/notes/records?filter[folder][private]=away", 400,
			"unknown_field"},
		{"an expansion", "titles", "/v1/streams/notes/records?expand[]=letters", 400, "invalid_request"},
		{"an expansion by another name", "titles", "/v1/streams/notes/records?expand=letters", 400, "invalid_request"},
		{"a limit given twice", "titles", "/v1/streams/notes/records?limit=1&limit=100", 400, "invalid_request"},
		{"too large a page", "titles", "/v1/streams/notes/records?limit=101", 400, "invalid_request"},
		{"a broken query", "titles", "/v1/streams/notes/records?limit=%zz", 400, "invalid_request"},
		{"a record before the window", "titles", "/v1/streams/notes/records/n1", 404, "not_found"},
		{"a record after the window", "titles", "/v1/streams/notes/records/n3", 404, "not_found"},
		{"a deleted record", "titles", "/v1/streams/notes/records/n4", 404, "not_found"},
		{"another resource", "chosen", "/v1/streams/notes/records/n1", 404, "not_found"},
		{"the chosen resources", "chosen", "/v1/streams/notes/records", 200, "n2"},
		{"a key with a wildcard", "chosen", "/v1/streams/notes/records/n%25", 404, "not_found"},
		{"a resource that is not there", "nothing", "/v1/streams/notes/records", 200, ""},
		{"changes in the window", "titles", "/v1/streams/notes/records?changes_since=beginning", 200, "n2 -n4"},
		{"changes of the chosen", "chosen", "/v1/streams/notes/records?changes_since=beginning", 200, "n2 -n4"},
		{"changes by another grant's cursor", "window", "/v1/streams/notes/records?changes_since=" + feed, 400,
			"invalid_cursor"},
		{"changes by a cursor of records", "window", "/v1/streams/notes/records?changes_since=" + foreign, 400,
			"invalid_cursor"},
		{"records by a cursor of changes", "window", "/v1/streams/notes/records?cursor=" + own, 400, "invalid_cursor"},
		{"another grant's cursor", "window", "/v1/streams/notes/records?cursor=" + foreign, 400, "invalid_cursor"},
		{"a cursor of one's own making", "window", "/v1/streams/notes/records?cursor=eyJjIjoibWluZSIsImEiOjB9", 400,
			"invalid_cursor"},
		{"no cursor in it", "window", "/v1/streams/notes/records?cursor=", 400, "invalid_cursor"},
		{"search in the window", "window", "/v1/search?q=coast", 200, "n2"},
		{"search outside the window", "window", "/v1/search?q=narwhal", 200, ""},
		{"search for a deleted one", "window", "/v1/search?q=ferry", 200, ""},
		{"search for a hidden word", "window", "/v1/search?q=quokka", 200, ""},
		{"search in another stream", "window", "/v1/search?q=axolotl", 200, ""},
		{"search in another connection", "window", "/v1/search?q=pangolin", 200, ""},
		{"search of a stream that is not granted", "window", "/v1/search?q=axolotl&stream=letters", 403,
			"insufficient_scope"},
		{"search of a connection that is not granted", "window", "/v1/search?q=pangolin&connection_id=other", 403,
			"insufficient_scope"},
		{"search over a hidden indexed field", "titles", "/v1/search?q=boots", 403, "insufficient_scope"},
		{"search with nothing to find", "nothing", "/v1/search?q=coast", 200, ""},
		{"search among the chosen", "chosen", "/v1/search?q=garden", 200, ""},
		{"search without words", "window", "/v1/search", 400, "invalid_request"},
		{"search for half a word", "window", "/v1/search?q=coas", 200, ""},
		{"search with an operator", "window", "/v1/search?q=" + url.QueryEscape(`coast" OR "narwhal`), 200, ""},
		{"search with a column", "window", "/v1/search?q=" + url.QueryEscape("body:boots"), 200, ""},
		{"search with a star", "window", "/v1/search?q=" + url.QueryEscape("narw*"), 200, ""},
		{"search by another's cursor", "window", "/v1/search?q=coast&cursor=" + foreign, 400, "invalid_cursor"},
		{"a filter that closes the statement", "titles", "/v1/streams/notes/records?filter[folder]=" +
			url.QueryEscape("away' OR '1'='1"), 200, ""},
		{"a filter with a wildcard", "titles", "/v1/streams/notes/records?filter[folder]=" + url.QueryEscape("a%"), 200, ""},
		{"a filter with a placeholder", "titles", "/v1/streams/notes/records?filter[folder]=" + url.QueryEscape("$1 ?"), 200,
			""},
		{"a filter with nothing", "titles", "/v1/streams/notes/records?filter[folder]=", 200, ""},
		{"a filter with a zero byte", "titles", "/v1/streams/notes/records?filter[folder]=%00", 200, ""},
		{"a filter that is no text", "titles", "/v1/streams/notes/records?filter[folder]=%ff", 200, ""},
		{"a filter by a path", "titles", "/v1/streams/notes/records?filter[$.private]=quokka", 400, "unknown_field"},
		{"a filter by another case", "titles", "/v1/streams/notes/records?filter[Private]=quokka", 400, "unknown_field"},
		{"a filter by an escaped name", "titles", "/v1/streams/notes/records?filter[%5Cu0070rivate]=quokka", 400,
			"unknown_field"},
		{"a filter on a hidden field in changes", "titles",
			"/v1/streams/notes/records?changes_since=beginning&filter[private]=lemur", 400, "invalid_request"},
		{"too many filters", "titles", "/v1/streams/notes/records?" + manyFilters(11), 400, "invalid_request"},
		{"too long a filter", "titles", "/v1/streams/notes/records?filter[folder]=" + strings.Repeat("x", 1025), 400,
			"invalid_request"},
		{"a hidden field beside a granted one", "titles", "/v1/streams/notes/records?fields=title,private", 403,
			"insufficient_scope"},
		{"fields with a blank", "titles", "/v1/streams/notes/records?fields=title,,private", 400, "invalid_request"},
		{"a key with a zero byte", "chosen", "/v1/streams/notes/records/n2%00", 404, "not_found"},
		{"a key of another connection by its name", "window", "/v1/streams/notes/records/m1?connection_id=mine", 404,
			"not_found"},
		{"a deleted record by its key", "chosen", "/v1/streams/notes/records/n4", 404, "not_found"},
		{"a stream with a slash", "window", "/v1/streams/notes%2Fletters/records", 403, "insufficient_scope"},
		{"a limit below one", "window", "/v1/streams/notes/records?limit=0", 400, "invalid_request"},
		{"a limit beyond numbers", "window", "/v1/streams/notes/records?limit=99999999999999999999", 400, "invalid_request"},
		{"a route of the owner's", "window", "/_ref/connectors", 401, "authentication_error"},
	}
}

func testAttacks(t *testing.T, open opener) {
	w := newWorldOver(t, open(t))
	tokens, tests := attacks(t, w)
	tried, refused := 0, 0
	defer func() {
		t.Attr("result", fmt.Sprintf("%d attempts: %d refused, %d answered with nothing beyond the grant", tried, refused,
			tried-refused))
	}()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tried++
			if tt.status != http.StatusOK {
				refused++
			}
			a := w.ask(tokens[tt.grant], tt.path)
			got := a.code()
			if a.status == http.StatusOK && tt.status == http.StatusOK {
				got = a.page(t).ids()
			}
			if a.status != tt.status || got != tt.want {
				t.Errorf("answered %d %q, want %d %q: %s", a.status, got, tt.status, tt.want, a.body)
			}
			for _, word := range hidden {
				if strings.Contains(cursor.ReplaceAllString(a.body, ""), word) {
					t.Errorf("the answer holds %q: %s", word, a.body)
				}
			}
		})
	}
}

func manyFilters(n int) string {
	filters := make([]string, n)
	for i := range filters {
		filters[i] = fmt.Sprintf("filter[f%d]=x", i)
	}
	return strings.Join(filters, "&")
}

// cursor is what is sealed, and holds any letters.
var cursor = regexp.MustCompile(`"next_(cursor|changes_since)":"[^"]*"`)

func TestBearers(t *testing.T) { onBoth(t, testBearers) }

func testBearers(t *testing.T, open opener) {
	w := newWorldOver(t, open(t))
	w.furnish()
	good := w.grant("", notes)
	for name, tt := range map[string]struct{ authorization, code string }{
		"none":           {"", grants.CodeUnauthenticated},
		"another scheme": {"Basic " + good, grants.CodeUnauthenticated},
		"no token":       {"Bearer ", grants.CodeUnauthenticated},
		"no space":       {"Bearer" + good, grants.CodeUnauthenticated},
		"unknown":        {"Bearer " + grants.TokenPrefix + strings.Repeat("A", 52), grants.CodeInvalidToken},
		"cut short":      {"Bearer " + good[:len(good)-1], grants.CodeInvalidToken},
		"too long":       {"Bearer " + good + "A", grants.CodeInvalidToken},
		"another case":   {"Bearer " + strings.ToLower(good), grants.CodeInvalidToken},
		"without prefix": {"Bearer " + strings.TrimPrefix(good, grants.TokenPrefix), grants.CodeInvalidToken},
		"two of them":    {"Bearer " + good + " " + good, grants.CodeInvalidToken},
		"a wildcard":     {"Bearer " + grants.TokenPrefix + "%", grants.CodeInvalidToken},
		"a good one":     {"Bearer " + good, ""},
		"a lower scheme": {"bearer " + good, ""},
	} {
		a := w.askWith(tt.authorization, "/v1/streams")
		if a.code() != tt.code || (a.status == 401) != (tt.code != "") {
			t.Errorf("%s: answered %d %s, want %q", name, a.status, a.body, tt.code)
		}
		if a.status == 401 && !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: no challenge", name)
		}
	}
	if a := w.ask(good, "/v1/streams?access_token="+url.QueryEscape(good)); a.code() != grants.CodeInvalidRequest {
		t.Errorf("a token in the address: %d %s", a.status, a.body)
	}
	req, err := http.NewRequest(http.MethodGet, w.address+"/v1/streams", nil)
	check(t, err)
	req.Header["Authorization"] = []string{"Bearer " + good, "Bearer " + w.owner()}
	res, err := http.DefaultClient.Do(req)
	check(t, err)
	res.Body.Close()
	if res.StatusCode != 401 {
		t.Errorf("two headers: %d", res.StatusCode)
	}
}

// A grant ends at once, by the owner's hand or by its date, in the middle of a list too.
func TestGrantEnds(t *testing.T) { onBoth(t, testGrantEnds) }

func testGrantEnds(t *testing.T, open opener) {
	w := newWorldOver(t, open(t))
	w.furnish()
	g, token, err := w.grants.Create(w.ctx(), grants.New{ClientName: "Reader", Scope: grants.GrantedStreams{notes},
		End: grants.End{At: ptr(noon.Add(time.Hour))}})
	check(t, err)
	next := w.ask(token, "/v1/streams/notes/records?limit=1").page(t).Next
	w.after(time.Hour - time.Nanosecond)
	if p := w.ask(token, "/v1/streams/notes/records?limit=1&cursor="+next).page(t); p.ids() != "n2" {
		t.Fatalf("just before the end: %s", p.ids())
	}
	for when, passes := range []time.Duration{time.Nanosecond, -time.Minute} { // at its end, and with the clock set back
		w.after(passes)
		if a := w.ask(token, "/v1/streams/notes/records?limit=1&cursor="+next); a.status != 403 ||
			a.code() != grants.CodeGrantExpired {
			t.Errorf("end %d: %d %s", when, a.status, a.body)
		}
	}
	check(t, w.grants.Revoke(w.ctx(), g.ID))
	if a := w.ask(token, "/v1/streams"); a.status != 403 || a.code() != grants.CodeGrantRevoked {
		t.Errorf("revoked: %d %s", a.status, a.body)
	}
}

// A single-use grant reads each stream through once, as it was when the reading began.
func TestSingleUse(t *testing.T) { onBoth(t, testSingleUse) }

func testSingleUse(t *testing.T, open opener) {
	w := newWorldOver(t, open(t))
	mine, _ := w.furnish()
	token := w.grant(store.GrantSingleUse, notes, grants.Stream{ConnectionID: "other", Stream: "letters"})
	for _, path := range []string{
		"/v1/search?q=coast", "/v1/streams/notes/records/n2", "/v1/streams/notes/records?changes_since=beginning",
	} {
		if a := w.ask(token, path); a.status != 403 || a.code() != grants.CodeInsufficientScope {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	first := w.ask(token, "/v1/streams/notes/records?limit=2").page(t)
	if first.ids() != "n1 n2" || !first.HasMore {
		t.Fatalf("first page %+v", first)
	}
	w.put(mine, note("n9", at(2, 20), "later", "later", "later", "later"))
	if a := w.ask(token, "/v1/streams/notes/records?limit=2"); a.status != 403 || a.code() != grants.CodeGrantConsumed {
		t.Errorf("begun again: %d %s", a.status, a.body)
	}
	if a := w.ask(token, "/v1/streams/notes/records?order=desc&cursor="+first.Next); a.code() != grants.CodeInvalidCursor {
		t.Errorf("another order by the cursor: %d %s", a.status, a.body)
	}
	second := w.ask(token, "/v1/streams/notes/records?limit=2&cursor="+first.Next).page(t)
	if second.ids() != "n3" || second.HasMore {
		t.Errorf("second page %+v", second)
	}
	for _, limit := range []string{"1", "2", "100"} { // a copied cursor is useless
		if a := w.ask(token, "/v1/streams/notes/records?limit="+limit+"&cursor="+first.Next); a.status != 403 ||
			a.code() != grants.CodeGrantConsumed {
			t.Errorf("the cursor used again: %d %s", a.status, a.body)
		}
	}
	stranger := w.ask(w.grant("", notes), "/v1/streams/notes/records?limit=2").page(t).Next
	if a := w.ask(token, "/v1/streams/notes/records?limit=2&cursor="+stranger); a.code() != grants.CodeInvalidCursor {
		t.Errorf("a cursor without an end: %d %s", a.status, a.body)
	}
	if p := w.ask(token, "/v1/streams/letters/records").page(t); p.ids() != "" {
		t.Errorf("an empty stream holds %s", p.ids())
	}
	if a := w.ask(token, "/v1/streams/letters/records?order=desc"); a.code() != grants.CodeGrantConsumed {
		t.Errorf("an empty stream begun again: %d %s", a.status, a.body)
	}
	if a := w.ask(token, "/v1/streams"); strings.Contains(a.body, `"record_count":4`) {
		t.Errorf("what happened later is told: %s", a.body)
	}
}

// Of many who begin at once one reads.
func TestSingleUseIsBegunOnce(t *testing.T) { onBoth(t, testSingleUseIsBegunOnce) }

func testSingleUseIsBegunOnce(t *testing.T, open opener) {
	w := newWorldOver(t, open(t))
	w.furnish()
	token := w.grant(store.GrantSingleUse, notes)
	answers := make(chan answer)
	const n = 8
	w.serveWith(w.store, readapi.GrantLimits{InFlight: n})
	for range n {
		go func() { answers <- w.ask(token, "/v1/streams/notes/records") }()
	}
	read := 0
	for range n {
		switch a := <-answers; {
		case a.status == 200:
			read++
		case a.code() != grants.CodeGrantConsumed:
			t.Errorf("answered %d %s", a.status, a.body)
		}
	}
	if read != 1 {
		t.Errorf("%d readers", read)
	}
}

// A grant at rest does not hold what opens it, and what is looked up is a hash.
func TestTokensRestAsHashes(t *testing.T) { onBoth(t, testTokensRestAsHashes) }

func testTokensRestAsHashes(t *testing.T, open opener) {
	w := newWorldOver(t, open(t))
	w.furnish()
	spy := &hashSpy{Store: w.store}
	service := grants.NewService(spy, "https://home.example", w.time)
	_, token, err := service.Create(w.ctx(), grants.New{ClientName: "Reader", Scope: grants.GrantedStreams{notes}})
	check(t, err)
	if _, err := service.Access(w.ctx(), token); err != nil {
		t.Fatal(err)
	}
	if len(spy.seen) != 2 || len(spy.seen[0]) != 32 || string(spy.seen[0]) != string(spy.seen[1]) ||
		strings.Contains(token, string(spy.seen[0])) {
		t.Errorf("the store saw %x", spy.seen)
	}
}
