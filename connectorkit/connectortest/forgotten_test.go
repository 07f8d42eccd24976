package connectortest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/dav"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// The test binary plays the connector of the shapes when it is started with this argument.
const playShapes = "play-shapes"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == playShapes {
		connectorkit.Main(connectorkit.MustNew([]byte(shapesManifest()), openShapes))
	}
	if len(os.Args) > 1 && os.Args[1] == playMany {
		connectorkit.Main(connectorkit.MustNew([]byte(manyManifest), openMany))
	}
	os.Exit(m.Run())
}

// shapes are the streams, one for each shape of a collector; those of a lane are two, and last.
var shapes = []string{
	"inventory", "flat", "feed", "lists", "delta", "since", "pages", "dav", "files", "threads", "details",
}

func shapesManifest() string {
	var streams []string
	for _, name := range shapes {
		parents := ""
		if name == "details" {
			parents = `"parent_streams":["threads"],"coverage_strategy":"parent_detail_accounting",`
		}
		streams = append(streams, fmt.Sprintf(`{"name":%q,"semantics":"mutable_state","checkpoint":"slice",`+
			`"primary_key":"id",%s
			"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"v":{"type":"integer"}}}}`, name,
			parents))
	}
	return `{"protocol_version":"0.1.0","connector_id":"https://registry.example/shapes","connector_key":"shapes",` +
		`"version":"1.0.0","display_name":"Shapes",
		"runtime_requirements":{"bindings":{"network":{"required":true},"filesystem":{"required":true}},` +
		`"environment_variables":[{"name":"PDPP_SHAPES_BASE_URL"}],"local_paths":[{"path_env":"SHAPES_DIR",` +
		`"description":"a folder"}]},
		"streams":[` + strings.Join(streams, ",") + `]}`
}

// shelfItem is one thing at the provider; its id orders it.
type shelfItem struct {
	ID   string `json:"id"`
	V    int    `json:"v"`
	Torn bool   `json:"torn,omitzero"` // it cannot be read
	Gone bool   `json:"gone,omitzero"` // of what changed
}

func (i shelfItem) record() connectorkit.Record {
	if i.Torn {
		return connectorkit.Unreadable("", nil)
	}
	return connectorkit.Upsert(map[string]any{"id": i.ID, "v": i.V})
}

type shelfPage struct {
	Items []shelfItem `json:"items"`
	Next  string      `json:"next"`
	Token string      `json:"token"`
}

// shelfClient asks the provider of the shapes.
type shelfClient struct{ client *governhttp.Client }

func (c shelfClient) list(ctx context.Context, stream, from string) (page shelfPage, err error) {
	resp, err := c.client.Get(ctx, "/"+stream, url.Values{"from": {from}})
	if err != nil {
		return page, err
	}
	return page, json.Unmarshal(resp.Body, &page)
}

func (c shelfClient) all(ctx context.Context, stream string) (items []shelfItem, err error) {
	for from := ""; ; {
		page, err := c.list(ctx, stream, from)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if from = page.Next; from == "" {
			return items, nil
		}
	}
}

func openShapes(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	client, err := s.HTTP(governhttp.Options{BaseURL: s.Env("PDPP_SHAPES_BASE_URL"),
		Classify: func(r *governhttp.Response) error {
			if r.Status == http.StatusGone {
				return connectorkit.Fail(connectorkit.Gone, nil)
			}
			return connectorkit.ByStatus(r)
		}})
	if err != nil {
		return nil, err
	}
	c := shelfClient{client}
	book, err := davFlat(s, s.Env("PDPP_SHAPES_BASE_URL"))
	if err != nil {
		return nil, err
	}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "delta", Page: c.delta},
		connectorkit.PagedStream{Stream: "since", Page: c.since},
		connectorkit.PagedStream{Stream: "pages", Page: c.pages},
		book,
		filesSource(s.Env("SHAPES_DIR")),
		connectorkit.FullList{Stream: "inventory", Page: c.inventory},
		connectorkit.PagedStream{Stream: "flat", Page: c.flat},
		connectorkit.PushSource{Streams: []string{"feed"}, Collect: c.feed},
		rest.ChangeLists{
			Names: func(context.Context) ([]string, string, error) { return []string{"lists"}, "ann", nil },
			Page:  c.lists, Key: func(_, id string) string { return id },
		}.PagedStream("lists"),
		connectorkit.ListDetail{List: "threads", Detail: "details", ListPage: c.threads, Fetch: c.detail,
			Census: 24 * time.Hour,
			Paired: true},
	}, nil
}

func (c shelfClient) inventory(ctx context.Context, v connectorkit.PageRequest) (out connectorkit.InventoryPage,
	err error) {
	page, err := c.list(ctx, "inventory", v.Token)
	for _, item := range page.Items {
		thing := connectorkit.ListItem{Key: item.ID, Record: item.record()}
		if item.Torn {
			thing.Key = ""
		}
		out.Things = append(out.Things, thing)
	}
	out.Next = page.Next
	return out, err
}

// flat reads everything in each run and remembers nothing.
func (c shelfClient) flat(ctx context.Context, at connectorkit.Cursor) (out connectorkit.Page, err error) {
	page, err := c.list(ctx, "flat", at["from"])
	for _, item := range page.Items {
		out.Records = append(out.Records, item.record())
	}
	if out.More = page.Next != ""; out.More {
		out.Next = connectorkit.Cursor{"from": page.Next}
		return out, err
	}
	out.Whole = &connectorkit.Whole{Gone: func(ctx context.Context, keys []string) ([]string, error) {
		again, err := c.all(ctx, "flat")
		return slices.DeleteFunc(keys, func(key string) bool {
			return slices.ContainsFunc(again, func(i shelfItem) bool { return i.ID == key })
		}), err
	}}
	return out, err
}

// feed keeps the names of everything on its bookmark.
func (c shelfClient) feed(ctx context.Context, f *connectorkit.Push) error {
	var known struct {
		IDs []string `json:"ids"`
	}
	if v := f.Stored("feed"); len(v) > 0 {
		if err := json.Unmarshal(v, &known); err != nil {
			return err
		}
	}
	items, err := c.all(ctx, "feed")
	if err != nil {
		return err
	}
	met := map[string]bool{}
	torn := false
	for _, item := range items {
		met[item.ID], torn = true, torn || item.Torn
		if err := f.Record(ctx, "feed", item.record()); err != nil {
			return err
		}
	}
	for _, id := range known.IDs {
		if !met[id] && !torn {
			if err := f.Record(ctx, "feed", connectorkit.Delete(id)); err != nil {
				return err
			}
		} else {
			met[id] = true
		}
	}
	known.IDs = slices.Sorted(maps.Keys(met))
	if err := f.Compare(ctx, "feed",
		connectorkit.Whole{Keys: slices.Values(known.IDs), Gone: connectorkit.AllKeysGone}); err != nil {
		return err
	}
	return f.State(ctx, "feed", known)
}

func (c shelfClient) lists(ctx context.Context, a rest.ChangeRequest) (out rest.ChangePage, err error) {
	page, err := c.list(ctx, "lists", a.Page)
	for _, item := range page.Items {
		thing := rest.ChangeItem{ID: item.ID, Record: item.record()}
		if item.Torn {
			thing.ID = ""
		}
		out.Things = append(out.Things, thing)
	}
	out.Next = page.Next
	return out, err // without a token for changes: everything is read each time
}

func (c shelfClient) threads(ctx context.Context, w connectorkit.Window) (out connectorkit.ListPage, err error) {
	page, err := c.list(ctx, "threads", w.Token)
	for _, item := range page.Items {
		n, _ := strconv.Atoi(item.ID[1:])
		one := connectorkit.Item{Key: item.ID, Time: time.Unix(int64(n), 0), Record: item.record()}
		if item.Torn {
			one.Key = ""
		}
		out.Items = append(out.Items, one)
	}
	out.Next = page.Next
	return out, err
}

func (c shelfClient) detail(ctx context.Context, item connectorkit.Item) ([]connectorkit.Record, error) {
	resp, err := c.client.Get(ctx, "/detail/"+item.Key, nil)
	if err != nil {
		return nil, err
	}
	var got shelfItem
	return []connectorkit.Record{connectorkit.Upsert(&got)}, json.Unmarshal(resp.Body, &got)
}

// shelves is the provider: the same things in every stream, newest first.
type shelves struct {
	mu      sync.Mutex
	items   map[string]int // id to version
	torn    string         // id of one that is not readable
	broken  int            // requests until one fails; zero never
	kill    int            // requests until hook is called
	hook    func()
	numbers int
	log     []string // ids in the order in which they came, changed and went
	dir     string   // of the files
}

func (s *shelves) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken--; s.broken == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if s.kill--; s.kill == 0 {
		s.hook()
	}
	if id, detail := strings.CutPrefix(r.URL.Path, "/detail/"); detail {
		v, there := s.items[id]
		if !there {
			w.WriteHeader(http.StatusGone)
			return
		}
		_ = json.NewEncoder(w).Encode(shelfItem{ID: id, V: v})
		return
	}
	switch from := r.URL.Query().Get("from"); {
	case strings.HasPrefix(r.URL.Path, "/dav/"):
		s.serveDAV(w, r)
		return
	case r.URL.Path == "/delta":
		_ = json.NewEncoder(w).Encode(s.listDelta(from))
		return
	case r.URL.Path == "/since":
		_ = json.NewEncoder(w).Encode(s.listSince(from))
		return
	}
	ids := slices.Sorted(maps.Keys(s.items))
	slices.Reverse(ids)
	from, _ := strconv.Atoi(r.URL.Query().Get("from"))
	page := shelfPage{Items: []shelfItem{}}
	for _, id := range ids[min(from, len(ids)):min(from+4, len(ids))] {
		page.Items = append(page.Items, shelfItem{ID: id, V: s.items[id], Torn: id == s.torn})
	}
	if from+4 < len(ids) {
		page.Next = strconv.Itoa(from + 4)
	}
	_ = json.NewEncoder(w).Encode(page)
}

// shelfBed is a provider, a store and a connection between them.
type shelfBed struct {
	*shelves
	bed    *Harness
	chosen store.Selection
}

func newShelfBed(t testing.TB, st store.Store) *shelfBed {
	s := &shelves{items: map[string]int{}, dir: t.TempDir()}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	m, err := manifest.Parse([]byte(shapesManifest()))
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	return &shelfBed{shelves: s, bed: &Harness{
		Target: Target{Connector: catalog.Connector{Name: "shapes", Manifest: m, Path: path, Args: []string{playShapes}}},
		Sim:    &Sim{Env: map[string]string{"PDPP_SHAPES_BASE_URL": server.URL, "SHAPES_DIR": s.dir}}, Store: st,
		Env: map[string]string{},
	}}
}

func (s *shelfBed) add() {
	s.numbers++
	id := fmt.Sprintf("i%05d", s.numbers)
	s.items[id], s.log = 1, append(s.log, id)
}

func (s *shelfBed) remove(id string) {
	delete(s.items, id)
	s.log = append(s.log, id)
}

// keyOf is the key of a thing's record.
func keyOf(stream, id string) string {
	if stream == "dav" {
		return dav.RecordKey(id)
	}
	return id
}

// run makes a run, which may be killed or fail.
func (s *shelfBed) run(t rapid.TB, connection string, mode protocol.CollectionMode) runner.Outcome {
	l := s.bed.Launcher()
	l.Selected = func(context.Context, string) (store.Selection, error) { return s.chosen, nil }
	var runID string
	s.hook = func() { KillConnector(runID) }
	if err := s.writeFiles(s.dir); err != nil {
		t.Fatal(err)
	}
	result, err := l.Run(context.Background(), launch.RunRequest{
		ConnectionID: connection, Trigger: store.TriggerManual, Mode: mode, Started: func(id string) { runID = id },
	})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.torn, s.broken, s.kill = "", 0, 0
	return result.Outcome
}

// live are the keys of a stream's live records.
func (s *shelfBed) live(t rapid.TB, connection, stream string) (keys []string) {
	all, err := s.bed.Store.ListRecords(context.Background(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: connection, Stream: stream}, Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		keys = append(keys, r.Key)
	}
	slices.Sort(keys)
	return keys
}

// TestForgottenBookmarks plays random histories of a provider and of its runs, for every shape of collector in a real
// child, on both databases: full refreshes, selections away and back, kills, failures, and things that cannot be read.
// Nothing that is there is ever deleted, and one undisturbed full refresh leaves what is there and nothing else.
//
//pdpp:tier unraced
func TestForgottenBookmarks(t *testing.T) {
	for name, open := range Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			lives, most := 0, 4 // each is several runs of a child
			if checks := flag.Lookup("rapid.checks"); checks.Value.String() != checks.DefValue {
				most = 1 << 20
			}
			rapid.Check(t, func(r *rapid.T) {
				if lives++; lives > most {
					return
				}
				playForgotten(t, r, newShelfBed(t, st), fmt.Sprintf("cin_%d", lives))
			})
		})
	}
}

func playForgotten(t *testing.T, r *rapid.T, s *shelfBed, connection string) {
	now := time.Now()
	if err := s.bed.Store.CreateConnection(t.Context(), store.Connection{
		ID: connection, ConnectorID: "shapes", DisplayName: "Shapes", Status: store.ConnectionActive,
		SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now,
	}); err != nil {
		r.Fatal(err)
	}
	for range rapid.IntRange(1, 30).Draw(r, "things") {
		s.add()
	}
	s.run(r, connection, "")
	for range rapid.IntRange(1, 4).Draw(r, "steps") {
		for range rapid.IntRange(0, 5).Draw(r, "deleted") { // in all no more than a lane asks for in one run
			if ids := slices.Sorted(maps.Keys(s.items)); len(ids) > 1 {
				s.remove(rapid.SampledFrom(ids).Draw(r, "id"))
			}
		}
		for range rapid.IntRange(0, 3).Draw(r, "added") {
			s.add()
		}
		mode := rapid.SampledFrom([]protocol.CollectionMode{"", protocol.FullRefresh}).Draw(r, "mode")
		switch rapid.IntRange(0, 5).Draw(r, "trouble") {
		case 0:
			s.kill = rapid.IntRange(1, 40).Draw(r, "kill")
		case 1:
			s.broken = rapid.IntRange(1, 40).Draw(r, "broken")
		case 2:
			s.torn = rapid.SampledFrom(slices.Sorted(maps.Keys(s.items))).Draw(r, "torn")
		case 3: // a few are chosen, and then everything again
			s.chosen = store.Selection{}
			for _, stream := range shapes[:len(shapes)-2] {
				one := store.StreamSelection{Stream: stream, Resources: []string{keyOf(stream, "i00001")},
					Since: s.bed.currentTime()}
				s.chosen.Streams = append(s.chosen.Streams, one)
			}
			s.run(r, connection, mode)
			for i := range s.chosen.Streams {
				s.chosen.Streams[i].Resources, s.chosen.Streams[i].Since = nil, s.bed.currentTime()
			}
		}
		s.run(r, connection, mode)
		for _, stream := range shapes {
			for id := range s.items {
				rec, err := s.bed.Store.Record(t.Context(), connection, stream, keyOf(stream, id))
				if err == nil && rec.Deleted {
					r.Fatalf("%s of %s is there and was deleted", id, stream)
				}
			}
		}
	}
	if o := s.run(r, connection, protocol.FullRefresh); o.Status != runner.Succeeded {
		r.Fatalf("an undisturbed full refresh ended as %s: %v", o.Status, o.Failure)
	}
	for _, stream := range shapes {
		var want []string
		for id := range s.items {
			want = append(want, keyOf(stream, id))
		}
		slices.Sort(want)
		if got := s.live(r, connection, stream); !slices.Equal(got, want) {
			r.Fatalf("%s: stored %v, there %v", stream, got, want)
		}
	}
}

// TestManyForgotten deletes more things than a lane asks for one by one in one run: the runs that follow a full
// refresh ask for the rest.
func TestManyForgotten(t *testing.T) {
	t.Parallel()
	st, err := Databases["sqlite"](t)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	s := newShelfBed(t, st)
	if err := s.bed.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		s.add()
	}
	s.run(t, Connection, "")
	for i := range 45 {
		s.remove(fmt.Sprintf("i%05d", 2*i+1))
	}
	s.run(t, Connection, protocol.FullRefresh)
	for range 2 {
		s.run(t, Connection, "")
	}
	for _, stream := range shapes {
		if got := s.live(t, Connection, stream); len(got) != 55 {
			t.Errorf("%s holds %d things, there are 55", stream, len(got))
		}
	}
}

// TestRewoundBookmarks goes back to bookmarks that do not know a thing which was collected since and is deleted at the
// provider. A list that is read only by time needs a full refresh for it.
func TestRewoundBookmarks(t *testing.T) {
	for name, open := range Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			s := newShelfBed(t, st)
			if err := s.bed.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 6 {
				s.add()
			}
			s.run(t, Connection, "")
			back := map[store.CursorID]int64{}
			for _, stream := range shapes[:len(shapes)-2] {
				id := store.CursorID{ConnectionID: Connection, Stream: stream}
				log, err := st.CursorLog(t.Context(), id, 1)
				if err != nil || len(log) == 0 {
					t.Fatalf("bookmark of %s: %v", stream, err)
				}
				back[id] = log[0].Commit
			}
			s.add()
			s.run(t, Connection, "")
			s.remove("i00007")
			for id, commit := range back {
				if _, err := st.Rewind(t.Context(), id, commit, s.bed.currentTime()); err != nil {
					t.Fatal(err)
				}
			}
			s.run(t, Connection, "")
			for id := range back {
				if got := s.live(t, Connection, id.Stream); len(got) != 6 && id.Stream != "since" {
					t.Errorf("%s holds %v", id.Stream, got)
				}
			}
		})
	}
}
