package dav

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	m, err := parseMultistatus([]byte("<?xml version='1.0' encoding='utf-8'?>\n" +
		"<D:multistatus xmlns:D='DAV:' xmlns:C='urn:ietf:params:xml:ns:caldav'>" +
		"<D:response><D:href>/a%20b/x.ics</D:href><D:propstat><D:prop><C:calendar-data/></D:prop><D:status>HTTP/1.1 404 " +
		"Not Found</D:status></D:propstat>" +
		"<D:propstat><D:prop><D:getetag>\"1\"</D:getetag><C:calendar-data>SUMMARY:a\x0bb " +
		"\xff&amp;</C:calendar-data></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>" +
		"<D:response><D:href>https://dav.example.org/a%20b/y.ics</D:href><D:status>HTTP/1.1 404 Not " +
		"Found</D:status></D:response>" +
		"<D:sync-token>t&amp;1</D:sync-token></D:multistatus>"))
	if err != nil || len(m.Responses) != 2 || m.SyncToken != "t&1" {
		t.Fatalf("%+v, %v", m, err)
	}
	if p := m.Responses[0].foundProperties(); p.ETag != `"1"` || p.Calendar != "SUMMARY:a\ufffdb \ufffd&" {
		t.Errorf("%+v", p)
	}
	at, ok := pathFromHref(m.Responses[1].Href)
	if !ok || at != "/a b/y.ics" || statusCode(m.Responses[1].Status) != 404 {
		t.Errorf("%q %v %+v", at, ok, m.Responses[1])
	}
}

// TestPaths keeps what a server names within the collection.
func TestPaths(t *testing.T) {
	c := Collection{Path: "/u/cal/"}
	for href, want := range map[string]bool{
		"/u/cal/x.ics": true, "/u/cal/": false, "/u/cal/sub/x.ics": false, "/u/cal/../other/x.ics": false,
		"/u/cal/%2e%2e/x.ics": false, "/u/other/x.ics": false,
		"x.ics": false, "http://else.example/u/cal/x.ics": true, // of an address only the path counts: the host stays
	} {
		if at, ok := pathFromHref(href); (ok && c.containsPath(at)) != want {
			t.Errorf("%s is %q, %v", href, at, ok)
		}
	}
}

// TestMemory draws lives of a collection: a bookmark in between changes nothing, a record is
// reported as gone exactly when no object has it any more.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := readMemory("{}")
		truth := map[string][]string{} // keys by path
		live := map[string]bool{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			path := rapid.SampledFrom([]string{"/a", "/b", "/c", "/d"}).Draw(t, "path")
			var gone, keys []string
			if rapid.Bool().Draw(t, "put") {
				for _, uid := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "3"}), 0, 3, rapid.ID).Draw(t,
					"uids") {
					keys = append(keys, RecordKey(uid))
					live[RecordKey(uid)] = true
				}
				gone = m.storeObject(digestPath(path), digestVersion(path), keys)
				truth[path] = keys
			} else {
				gone = m.removeObject(digestPath(path))
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
			m = readMemory(m.encodeMemory())
		}
	})
}

func TestChangesAgainstMemory(t *testing.T) {
	m := readMemory("{}")
	m.storeObject(digestPath("/c/a"), digestVersion("1"), []string{RecordKey("a")})
	m.storeObject(digestPath("/c/b"), digestVersion("1"), []string{RecordKey("b")})
	m.storeObject(digestPath("/c/n"), digestVersion(""), []string{RecordKey("n")})
	present := map[string]string{"/c/a": "1", "/c/b": "2", "/c/d": "1", "/c/n": ""}
	var fetch []string
	for _, o := range m.changedObjects(present) {
		fetch = append(fetch, o.path)
	}
	if want := []string{"/c/b", "/c/d", "/c/n"}; !slices.Equal(fetch, want) {
		t.Errorf("fetched %v, want %v", fetch, want)
	}
	if gone := m.missingObjects(map[string]string{"/c/a": "1", "/c/n": ""}); len(gone) != 1 ||
		gone[0] != digestPath("/c/b") {
		t.Errorf("gone %v", gone)
	}
}

func FuzzMultistatus(f *testing.F) {
	f.Add([]byte(`<multistatus xmlns="DAV:"><response><href>/a</href><status>HTTP/1.1 200</status></response></` +
		`multistatus>`))
	f.Add([]byte("<?xml version='1.0' encoding='iso-8859-1'?><a:multistatus xmlns:a='DAV:'>\xe9\x00</a:multistatus>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := parseMultistatus(body)
		if err != nil {
			return
		}
		for _, r := range m.Responses {
			_ = r.foundProperties()
			if at, ok := pathFromHref(r.Href); ok && (!strings.HasPrefix(at, "/") || strings.Contains(at, "/../")) {
				t.Fatalf("path %q", at)
			}
		}
	})
}

func FuzzMemory(f *testing.F) {
	m := readMemory("{}")
	m.storeObject(digestPath("/a"), digestVersion("1"), []string{RecordKey("a"), RecordKey("b")})
	f.Add(m.encodeMemory())
	f.Add(`{"known":"AAAA","again":["x"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		once := readMemory(text).encodeMemory()
		if again := readMemory(once).encodeMemory(); again != once {
			t.Fatalf("%s reads as %s", once, again)
		}
	})
}
