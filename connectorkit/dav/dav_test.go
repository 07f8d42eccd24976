package dav

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	m, err := parse([]byte("<?xml version='1.0' encoding='utf-8'?>\n<D:multistatus xmlns:D='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav'>" +
		"<D:response><D:href>/a%20b/x.ics</D:href><D:propstat><D:prop><C:calendar-data/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>" +
		"<D:propstat><D:prop><D:getetag>\"1\"</D:getetag><C:calendar-data>SUMMARY:a\x0bb \xff&amp;</C:calendar-data></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>" +
		"<D:response><D:href>https://dav.example.org/a%20b/y.ics</D:href><D:status>HTTP/1.1 404 Not Found</D:status></D:response>" +
		"<D:sync-token>t&amp;1</D:sync-token></D:multistatus>"))
	if err != nil || len(m.Responses) != 2 || m.SyncToken != "t&1" {
		t.Fatalf("%+v, %v", m, err)
	}
	if p := m.Responses[0].found(); p.ETag != `"1"` || p.Calendar != "SUMMARY:a\ufffdb \ufffd&" {
		t.Errorf("%+v", p)
	}
	at, ok := pathOf(m.Responses[1].Href)
	if !ok || at != "/a b/y.ics" || status(m.Responses[1].Status) != 404 {
		t.Errorf("%q %v %+v", at, ok, m.Responses[1])
	}
}

// TestPaths keeps what a server names within the collection.
func TestPaths(t *testing.T) {
	c := Collection{Path: "/u/cal/"}
	for href, want := range map[string]bool{
		"/u/cal/x.ics": true, "/u/cal/": false, "/u/cal/sub/x.ics": false, "/u/cal/../other/x.ics": false, "/u/cal/%2e%2e/x.ics": false, "/u/other/x.ics": false,
		"x.ics": false, "http://else.example/u/cal/x.ics": true, // of an address only the path counts: the host stays
	} {
		if at, ok := pathOf(href); (ok && c.has(at)) != want {
			t.Errorf("%s is %q, %v", href, at, ok)
		}
	}
}

// TestMemory draws lives of a collection: a bookmark in between changes nothing, a record is
// reported as gone exactly when no object has it any more.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := memoryOf("{}")
		truth := map[string][]string{} // keys by path
		live := map[string]bool{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			path := rapid.SampledFrom([]string{"/a", "/b", "/c", "/d"}).Draw(t, "path")
			var gone, keys []string
			if rapid.Bool().Draw(t, "put") {
				for _, uid := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "3"}), 0, 3, rapid.ID).Draw(t, "uids") {
					keys = append(keys, Key(uid))
					live[Key(uid)] = true
				}
				gone = m.put(markOf(path), versionOf(path), keys)
				truth[path] = keys
			} else {
				gone = m.remove(markOf(path))
				delete(truth, path)
			}
			for _, k := range gone {
				if !live[k] {
					t.Fatalf("%s is gone twice", k)
				}
				delete(live, k)
			}
			want := map[string]bool{}
			for _, ks := range truth {
				for _, k := range ks {
					want[k] = true
				}
			}
			if !maps.Equal(live, want) {
				t.Fatalf("live %v, want %v", live, want)
			}
			m = memoryOf(m.encode())
		}
	})
}

func TestChangesAgainstMemory(t *testing.T) {
	m := memoryOf("{}")
	m.put(markOf("/c/a"), versionOf("1"), []string{Key("a")})
	m.put(markOf("/c/b"), versionOf("1"), []string{Key("b")})
	m.put(markOf("/c/n"), versionOf(""), []string{Key("n")})
	present := map[string]string{"/c/a": "1", "/c/b": "2", "/c/d": "1", "/c/n": ""}
	var fetch []string
	for _, o := range m.changed(present) {
		fetch = append(fetch, o.path)
	}
	if want := []string{"/c/b", "/c/d", "/c/n"}; !slices.Equal(fetch, want) {
		t.Errorf("fetched %v, want %v", fetch, want)
	}
	if gone := m.missing(map[string]string{"/c/a": "1", "/c/n": ""}); len(gone) != 1 || gone[0] != markOf("/c/b") {
		t.Errorf("gone %v", gone)
	}
}

func FuzzMultistatus(f *testing.F) {
	f.Add([]byte(`<multistatus xmlns="DAV:"><response><href>/a</href><status>HTTP/1.1 200</status></response></multistatus>`))
	f.Add([]byte("<?xml version='1.0' encoding='iso-8859-1'?><a:multistatus xmlns:a='DAV:'>\xe9\x00</a:multistatus>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := parse(body)
		if err != nil {
			return
		}
		for _, r := range m.Responses {
			_ = r.found()
			if at, ok := pathOf(r.Href); ok && (!strings.HasPrefix(at, "/") || strings.Contains(at, "/../")) {
				t.Fatalf("path %q", at)
			}
		}
	})
}

func FuzzMemory(f *testing.F) {
	m := memoryOf("{}")
	m.put(markOf("/a"), versionOf("1"), []string{Key("a"), Key("b")})
	f.Add(m.encode())
	f.Add(`{"known":"AAAA","again":["x"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		once := memoryOf(text).encode()
		if again := memoryOf(once).encode(); again != once {
			t.Fatalf("%s reads as %s", once, again)
		}
	})
}
