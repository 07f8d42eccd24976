package devicetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/quality/programs"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestSourcesOfExports follows the owner's steps for data exports of services. The archives are in
// the usual folders of a computer, and the server stores their records in PostgreSQL. The test
// finds the records by full text, or counts them if they have no text.
func TestSourcesOfExports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := programs.Build(dir, "cmd/pdpp", "cmd/pdpp-local-collector", "cmd/pdpp-connectors"); err != nil {
		t.Fatal(err)
	}
	address := postgrestest.NewDatabase(t)
	st, err := postgres.Open(t.Context(), address, postgres.Options{Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	w := &world{t: t, dir: dir, home: t.TempDir(), database: address, store: st, kills: map[string]int{}}
	w.plant()
	w.start()
	t.Cleanup(func() { w.end("server") })
	for _, source := range []struct {
		name, stream, field string // without a field, nothing of it is searched
		make                func(string, files.Config) (files.World, error)
	}{
		{"pocket", "items", "title", files.Pocket},
		{"twitter_archive", "likes", "text", files.TwitterArchive},
		{"netflix_export", "viewing_activity", "title", files.Netflix},
		{"google_takeout", "youtube_watch_history", "video_title", files.Takeout},
		{"apple_health", "records", "", files.AppleHealth},
	} {
		folder := filepath.Join(w.deviceDir, "pdpp-imports", source.name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		world, err := source.make(folder, files.Config{Seed: 7, Sessions: 4, Lines: 20})
		if err != nil {
			t.Fatal(err)
		}
		var made struct {
			Command string `json:"command"`
		}
		if err := json.Unmarshal([]byte(w.owner("devices", "add", source.name, "--json")), &made); err != nil {
			t.Fatal(err)
		}
		if out, err := w.run(strings.Fields(made.Command)[1:]...); err != nil {
			t.Fatalf("%q: %v\n%s", made.Command, err, out)
		}
		if source.field != "" {
			w.findsWords(source.stream, source.field, world)
			continue
		}
		there := 0
		for _, items := range world.Now() {
			if items[0].Stream == source.stream {
				there++
			}
		}
		if got := w.stored(source.name, source.stream); got != there || there == 0 {
			t.Errorf("%s: %d %s are stored, and %d are there", source.name, got, source.stream, there)
		}
	}
}

// stored is how many records of a stream the server has from a connector.
func (w *world) stored(connector, stream string) int {
	w.t.Helper()
	all, err := w.store.ListConnections(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range all {
		if !strings.HasSuffix(strings.ReplaceAll(c.ConnectorID, "-", "_"), connector) {
			continue
		}
		streams, err := w.store.Streams(w.t.Context(), c.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range streams {
			if s.Name == stream {
				return int(s.Records)
			}
		}
	}
	return 0
}

// findsWords looks for one thing of a world by its words.
func (w *world) findsWords(stream, field string, in files.World) {
	w.t.Helper()
	for _, items := range in.Now() {
		text, _ := items[0].Fields[field].(string)
		words := strings.Fields(text)
		if items[0].Stream != stream || len(words) < 2 {
			continue
		}
		answer := w.owner("search", strings.Join(words[:min(len(words), 5)], " "), "--json", "--limit", "100")
		if !strings.Contains(answer, `"stream":"`+stream+`"`) {
			w.t.Errorf("%s: %q is not found: %.300s", stream, words, answer)
		}
		return
	}
	w.t.Errorf("nothing of %s was looked for", stream)
}
