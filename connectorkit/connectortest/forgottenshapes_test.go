package connectortest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/dav"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// delta asks for everything once, and then for what changed since, deletions included.
func (c shelfClient) delta(ctx context.Context, at connectorkit.Cursor) (out connectorkit.Page, err error) {
	page, err := c.list(ctx, "delta", at["token"])
	for _, item := range page.Items {
		if item.Gone {
			out.Records = append(out.Records, connectorkit.Delete(item.ID))
			continue
		}
		out.Records = append(out.Records, item.record())
	}
	out.Next = connectorkit.Cursor{"token": page.Token}
	if at["token"] == "" {
		out.Whole = &connectorkit.Whole{Gone: connectorkit.AllKeysGone}
	}
	return out, err
}

// since reads in the order of change, oldest first, and never meets a deletion.
func (c shelfClient) since(ctx context.Context, at connectorkit.Cursor) (out connectorkit.Page, err error) {
	page, err := c.list(ctx, "since", at["after"])
	out.Next = connectorkit.Cursor{"after": at["after"]}
	for _, item := range page.Items {
		out.Records = append(out.Records, item.record())
		out.Next["after"] = item.ID
	}
	if out.More = page.Next != ""; !out.More {
		out.Whole = &connectorkit.Whole{Gone: func(ctx context.Context, keys []string) ([]string, error) {
			again, err := c.all(ctx, "flat")
			return slices.DeleteFunc(keys, func(key string) bool {
				return slices.ContainsFunc(again, func(i shelfItem) bool { return i.ID == key })
			}), err
		}}
	}
	return out, err
}

// pages keeps the keys of each folder of four on its bookmark, and reads a folder only when it changed.
func (c shelfClient) pages(ctx context.Context, at connectorkit.Cursor) (out connectorkit.Page, err error) {
	known := map[string][]string{}
	for name, text := range at {
		known[name] = strings.Fields(text)
	}
	items, err := c.all(ctx, "pages")
	now, torn := map[string][]string{}, false
	for _, item := range items {
		folder := item.ID[:len(item.ID)-1]
		torn = torn || item.Torn
		now[folder] = append(now[folder], item.ID)
	}
	for folder, ids := range now {
		if slices.Equal(ids, known[folder]) && !torn {
			continue
		}
		for _, item := range items {
			if strings.HasPrefix(item.ID, folder) {
				out.Records = append(out.Records, item.record())
			}
		}
	}
	if out.Next = at; torn || err != nil {
		return out, err
	}
	out.Next = connectorkit.Cursor{}
	for folder, ids := range now {
		out.Next[folder] = strings.Join(ids, " ")
	}
	for folder, ids := range known {
		for _, id := range ids {
			if !slices.Contains(now[folder], id) {
				out.Records = append(out.Records, connectorkit.Delete(id))
			}
		}
	}
	out.Whole = &connectorkit.Whole{Keys: flatten(maps.Values(now)), Gone: connectorkit.AllKeysGone}
	return out, nil
}

func flatten(lists iter.Seq[[]string]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for list := range lists {
			for _, one := range list {
				if !yield(one) {
					return
				}
			}
		}
	}
}

// davFlat follows an address book.
func davFlat(s *connectorkit.Setup, base string) (connectorkit.PagedStream, error) {
	account, err := dav.OpenAccount(s, dav.AddressBooks, base+"/dav/", "ann", "secret")
	if err != nil {
		return connectorkit.PagedStream{}, err
	}
	return account.ObjectStream("dav", func(dav.Collection) bool { return true },
		func(_ dav.Collection, o dav.Object) ([]dav.ObjectRecord, bool) {
			var item shelfItem
			if json.Unmarshal(o.Text, &item) != nil || item.Torn {
				return nil, false
			}
			item.ID = dav.RecordKey(item.ID)
			return []dav.ObjectRecord{{Key: item.ID, Data: map[string]any{"id": item.ID, "v": item.V}}}, true
		}), nil
}

// folder remembers nothing of its own: a file's name is its record's key.
type folder struct{}

func (folder) Load(jsontext.Value)                                    {}
func (folder) Walked(func(root, rel string) bool)                     {}
func (folder) Key(_, rel string) (string, bool)                       { return strings.TrimSuffix(rel, ".json"), true }
func (folder) Keep() any                                              { return nil }
func (folder) End(whole bool, emit func(string, connectorkit.Record)) {}

// filesSource is a folder with a file for each thing.
func filesSource(dir string) connectorkit.Collector {
	return localfile.Source{
		Streams: []string{"files"}, Roots: []localfile.Root{{Name: "root", Path: dir}}, Memory: folder{}, Mirror: "files",
		Stores: []localfile.Store{{Name: "all", Root: "root", Patterns: []string{"*.json"}, Streams: []string{"files"},
			Whole: func(f *localfile.File, content []byte) error {
				var item shelfItem
				if err := json.Unmarshal(content, &item); err != nil {
					return err
				}
				f.Emit("files", item.record())
				return nil
			}}},
	}.Collector()
}

// writeFiles makes the folder hold what the provider has.
func (s *shelves) writeFiles(dir string) error {
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range old {
		if _, there := s.items[strings.TrimSuffix(f.Name(), ".json")]; !there {
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				return err
			}
		}
	}
	for id, v := range s.items {
		content := fmt.Sprintf(`{"id":%q,"v":%d}`, id, v)
		if id == s.torn {
			content = "{"
		}
		at := filepath.Join(dir, id+".json")
		if was, err := os.ReadFile(at); err == nil && string(was) == content {
			continue
		}
		if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// listDelta answers with everything, or with what changed since a token.
func (s *shelves) listDelta(from string) (page shelfPage) {
	page = shelfPage{Items: []shelfItem{}, Token: strconv.Itoa(len(s.log))}
	if from == "" {
		for _, id := range slices.Sorted(maps.Keys(s.items)) {
			page.Items = append(page.Items, shelfItem{ID: id, V: s.items[id], Torn: id == s.torn})
		}
		return page
	}
	n, _ := strconv.Atoi(from)
	for _, id := range s.log[min(n, len(s.log)):] {
		v, there := s.items[id]
		page.Items = append(page.Items, shelfItem{ID: id, V: v, Gone: !there, Torn: there && id == s.torn})
	}
	return page
}

// listSince answers with four things after an id, in the order in which they came.
func (s *shelves) listSince(after string) (page shelfPage) {
	page.Items = []shelfItem{}
	for _, id := range slices.Sorted(maps.Keys(s.items)) {
		if id <= after {
			continue
		}
		if len(page.Items) == 4 {
			page.Next = "more"
			break
		}
		page.Items = append(page.Items, shelfItem{ID: id, V: s.items[id], Torn: id == s.torn})
	}
	return page
}

var hrefs = regexp.MustCompile(`/dav/(i\d+)`)

// serveDAV is an address book on a server without sync-collection.
func (s *shelves) serveDAV(w http.ResponseWriter, r *http.Request) {
	text := func(id string) string {
		b, err := json.Marshal(shelfItem{ID: id, V: s.items[id], Torn: id == s.torn})
		if err != nil {
			panic(err) // plain values have a form
		}
		return string(b)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var ids []string
	collection := ""
	switch {
	case r.Method == http.MethodGet:
		id := strings.TrimPrefix(r.URL.Path, "/dav/")
		if _, there := s.items[id]; !there {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, text(id))
		return
	case r.Method == "REPORT" && !strings.Contains(string(body), "multiget"):
		w.WriteHeader(http.StatusNotImplemented)
		return
	case r.Method == "REPORT":
		for _, m := range hrefs.FindAllStringSubmatch(string(body), -1) {
			ids = append(ids, m[1])
		}
	default:
		collection = `<response><href>/dav/</href><propstat><prop><resourcetype><collection/><b:addressbook/></` +
			`resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat></response>`
		if r.Header.Get("Depth") == "1" {
			ids = slices.Sorted(maps.Keys(s.items))
		}
	}
	w.WriteHeader(http.StatusMultiStatus)
	fmt.Fprint(w, `<multistatus xmlns="DAV:" xmlns:b="urn:ietf:params:xml:ns:carddav">`+collection)
	for _, id := range ids {
		if _, there := s.items[id]; !there {
			fmt.Fprintf(w, `<response><href>/dav/%s</href><status>HTTP/1.1 404 Not Found</status></response>`, id)
			continue
		}
		fmt.Fprintf(w, `<response><href>/dav/%s</href><propstat><prop><getetag>"%d%t"</getetag><b:address-data>%s</`+
			`b:address-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>`,
			id, s.items[id], id == s.torn, text(id))
	}
	fmt.Fprint(w, `</multistatus>`)
}
