package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/semantic"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// A running server sends texts only after the owner chose an endpoint, finds records by meaning then, and forgets
// everything when it is turned off. The secret is nowhere to be read.
func TestSemanticSearchOfAServer(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var texts []string
	sent := func() string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(texts)
		return strings.Join(texts, ",")
	}
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		vectors := [][]float32{}
		mu.Lock()
		defer mu.Unlock()
		for _, text := range asked.Input {
			texts = append(texts, text)
			vectors = append(vectors, map[bool][]float32{true: {1, 0.1}, false: {0.1, 1}}[strings.Contains(text, "pear") ||
				strings.Contains(text, "fruit")])
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors})
	}))
	t.Cleanup(endpoint.Close)
	home := t.TempDir()
	plantBeds(t, filepath.Join(home, "pdpp.db"), "pear tree", "stone wall")
	s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword, "PDPP_HOME": home,
		"PDPP_SEMANTIC_SECRET": "open-sesame-of-ann"})
	run := func(into any, args ...string) {
		t.Helper()
		code, out, errOut := s.pdpp(append(args, "--json")...)
		if err := json.Unmarshal([]byte(out), into); code != failure.ExitOK || err != nil {
			t.Fatalf("%v: exit %d, %s%s (%v)", args, code, out, errOut, err)
		}
	}
	var state semantic.Search
	if run(&state, "semantic"); state.On || sent() != "" {
		t.Fatalf("%+v, sent %q", state, sent())
	}
	for run(&state, "semantic", "set", "ollama", endpoint.URL, "small"); state.Vectors < 2; run(&state, "semantic") {
		if t.Context().Err() != nil {
			t.Fatalf("%+v", state)
		}
	}
	var found struct {
		Records []struct {
			Key string `json:"id"`
		} `json:"records"`
	}
	run(&found, "search", "--by", "meaning", "fruit", "--limit", "1")
	if len(found.Records) != 1 || found.Records[0].Key != "b0" {
		t.Errorf("found %+v", found.Records)
	}
	if got := sent(); got != "fruit,pear tree,stone wall,test" {
		t.Errorf("sent %q", got)
	}
	run(&state, "semantic", "off")
	if code, _, errOut := s.pdpp("search", "--by", "meaning", "fruit"); code == failure.ExitOK ||
		!strings.Contains(errOut, "turned off") {
		t.Errorf("exit %d, %s", code, errOut)
	}
	s.holdsNone("open-sesame-of-ann")
}

// plantBeds stores records of a connection that collects nothing more.
func plantBeds(t *testing.T, path string, names ...string) {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	must(err)
	_, err = st.PutManifest(ctx, "garden", []byte(ownertest.GardenManifest), now)
	must(err)
	must(st.CreateConnection(ctx, store.Connection{ID: "cin_garden_1", ConnectorID: "garden", DisplayName: "Garden",
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, ManifestGeneration: 1, CreatedAt: now,
		UpdatedAt: now}))
	l, err := st.StartRun(ctx, store.RunStart{RunID: "run_1", ConnectionID: "cin_garden_1", ConnectorID: "garden",
		Trigger: store.TriggerManual, Holder: "test", TTL: time.Hour,
		Streams: []store.StreamSpec{{Name: "beds", SearchFields: []string{"name"}, TimeField: "dug_at"}}}, now)
	must(err)
	var all []slice.Record
	for i, name := range names {
		key := "b" + string(rune('0'+i))
		all = append(all, slice.Record{Stream: "beds", Key: key, Data: []byte(`{"id":"` + key + `","name":"` + name +
			`","kind":"private"}`), EmittedAt: "2026-03-01T08:00:00Z"})
	}
	_, err = st.CommitSlice(ctx, l, slice.Slice{Records: all}, now)
	must(err)
	must(st.Close())
}
