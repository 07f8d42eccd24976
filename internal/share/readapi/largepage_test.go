package readapi_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// loads counts the bytes of data that the store returns at once, by reader.
type loads struct {
	store.Store
	most int
}

func (l *loads) ListRecords(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error) {
	return l.count(l.Store.ListRecords(ctx, q))
}

func (l *loads) Changes(ctx context.Context, q store.RecordQuery) ([]store.StoredRecord, error) {
	return l.count(l.Store.Changes(ctx, q))
}

func (l *loads) Search(ctx context.Context, q store.SearchQuery) ([]store.StoredRecord, error) {
	return l.count(l.Store.Search(ctx, q))
}

func (l *loads) count(all []store.StoredRecord, err error) ([]store.StoredRecord, error) {
	n := 0
	for _, r := range all {
		n += len(r.Data)
	}
	l.most = max(l.most, n)
	return all, err
}

// However large the records are, a page loads a few megabytes, ends with a cursor, and
// the pages together have every record once. What is not granted is not loaded at all.
//
//pdpp:tier unraced
func TestLargeRecords(t *testing.T) {
	const n, size, most = 4, 2 << 20, 3 << 20
	onBoth(t, func(t *testing.T, open opener) {
		kept := &loads{Store: open(t)}
		w := newWorldOver(t, kept)
		l := w.connect("mine")
		var want []string
		for i := range n {
			key := fmt.Sprint("k", i)
			want = append(want, key)
			w.put(l, note(key, at(2, 1), "large", "word", strings.Repeat("x", size), "home"))
		}
		whole := w.grant("", notes)
		for path, more := range map[string]string{
			"/v1/streams/notes/records?limit=100&filter[folder]=home": "&cursor=",
			"/v1/streams/notes/records?limit=100&changes_since=":      "", "/v1/search?q=large&limit=100": "&cursor=",
		} {
			kept.most = 0
			var got []string
			pages := 0
			for from := map[bool]string{true: "beginning"}[more == ""]; ; {
				address := path
				if from != "" {
					address += more + from
				}
				p := w.ask(whole, address).page(t)
				for _, r := range p.Data {
					got = append(got, r.ID)
				}
				if pages++; !p.HasMore {
					break
				}
				from = p.Next + p.Since
			}
			if strings.Contains(path, "search") {
				for i := range got[:len(got)/2] {
					got[i], got[len(got)-1-i] = got[len(got)-1-i], got[i]
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") || pages < n || kept.most > most {
				t.Errorf("%s: %d pages of at most %d bytes with %v", path, pages, kept.most, got)
			}
		}
		titles := w.grant("", grants.Stream{ConnectionID: "mine", Stream: "notes",
			Fields: []string{"title", "folder", "body"}})
		for _, path := range []string{"/v1/streams/notes/records", "/v1/streams/notes/records?filter[folder]=home",
			"/v1/streams/notes/records?changes_since=beginning",
			"/v1/streams/notes/records/k1", "/v1/search?q=large"} {
			kept.most = 0
			if a := w.ask(titles, path); a.status != 200 || kept.most == 0 || kept.most > n*200 {
				t.Errorf("%s: %d, loads %d bytes", path, a.status, kept.most)
			}
		}
	})
}
