package embedding_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/embedding"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
)

var noon = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

const journal = `{"protocol_version":"0.1.0","connector_id":"journal","version":"1.0.0","display_name":"Journal",
 "capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"Reads what is new.",
  "recommended_interval_seconds":3600,"minimum_interval_seconds":300,"maximum_staleness_seconds":86400,
  "interaction_posture":"none","background_safe":true}},
 "streams":[{"name":"notes","semantics":"mutable_state","primary_key":"id","consent_time_field":"written_at",
   "cursor_field":"written_at","schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},
    "title":{"type":"string"},"body":{"type":"string"},"private":{"type":"string"},"written_at":{"type":"string"}}},
   "query":{"search":{"lexical_fields":["title"],"semantic_fields":["title","body"]}}},
  {"name":"letters","semantics":"mutable_state","primary_key":"id","schema":{"type":"object","required":["id"],
   "properties":{"id":{"type":"string"},"text":{"type":"string"}}},"query":{"search":["text"]}},
  {"name":"keys","semantics":"mutable_state","primary_key":"id","schema":{"type":"object","required":["id"],
   "properties":{"id":{"type":"string"}}}}]}`

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// opener makes an empty store that is closed when the test ends.
type opener func(t testing.TB) store.Store

// onBoth runs a test over each database.
func onBoth(t *testing.T, test func(t *testing.T, open opener)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, func(t testing.TB) store.Store {
			st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")),
				sqlite.Options{})
			check(t, err)
			t.Cleanup(func() { st.Close() })
			return st
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, func(t testing.TB) store.Store {
			st, err := postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
			check(t, err)
			t.Cleanup(func() { st.Close() })
			return st
		})
	})
}

// world is a store with a connection, a worker, and the routes of clients.
type world struct {
	t       testing.TB
	store   store.Store
	grants  *grants.Service
	key     credential.Key
	worker  *embedding.VectorWorker
	lease   store.Lease
	now     time.Time
	address string
}

func newWorld(t testing.TB, st store.Store) *world {
	t.Helper()
	ctx := t.Context()
	w := &world{t: t, store: st, now: noon, key: credential.NewKey()}
	clock := func() time.Time { return w.now }
	w.grants = grants.NewService(st, "https://home.example", clock)
	w.worker = w.process("here")
	cursors, err := grants.NewCursors(ctx, st, noon)
	check(t, err)
	mux := http.NewServeMux()
	for _, route := range readapi.Routes(readapi.Config{Grants: w.grants, Cursors: cursors, Store: st, Now: clock,
		IsOwner: func(r *http.Request) (bool, error) { return r.Header.Get("Authorization") == "Bearer owner", nil },
		Log:     slog.New(slog.NewTextHandler(t.Output(), nil)), Meaning: &embedding.Searcher{Store: st,
			Key: func() (credential.Key, error) { return w.key, nil }}}) {
		mux.HandleFunc(route.Pattern, route.Handle)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w.address = server.URL
	_, err = st.PutManifest(ctx, "journal", []byte(journal), noon)
	check(t, err)
	check(t, st.CreateConnection(ctx, store.Connection{ID: "mine", ConnectorID: "journal", DisplayName: "Journal",
		Status: store.ConnectionActive, SourceKind: store.SourceAccount, ManifestGeneration: 1, CreatedAt: noon,
		UpdatedAt: noon}))
	w.lease, err = st.StartRun(ctx, store.RunStart{RunID: "run_1", ConnectionID: "mine", ConnectorID: "journal",
		Trigger: store.TriggerManual, Holder: "test", TTL: 24 * time.Hour,
		Streams: []store.StreamSpec{{Name: "notes", TimeField: "written_at", SearchFields: []string{"title", "body"}},
			{Name: "letters", SearchFields: []string{"text"}}, {Name: "keys"}}}, noon)
	check(t, err)
	return w
}

// process returns the worker of a process.
func (w *world) process(holder string) *embedding.VectorWorker {
	return &embedding.VectorWorker{Store: w.store, Grants: w.grants, Key: w.key, Holder: holder,
		Now: func() time.Time { return w.now }, Log: slog.New(slog.NewTextHandler(w.t.Output(), nil))}
}

func (w *world) put(records ...slice.Record) {
	w.t.Helper()
	_, err := w.store.CommitSlice(w.t.Context(), w.lease, slice.Slice{Records: records}, w.now)
	check(w.t, err)
}

func note(key string, month int, title, body, private string) slice.Record {
	at := time.Date(2026, time.Month(month), 10, 9, 0, 0, 0, time.UTC)
	data, _ := json.Marshal(map[string]string{"id": key, "title": title, "body": body, "private": private,
		"written_at": at.Format(time.RFC3339)})
	return slice.Record{Stream: "notes", Key: key, Data: data, EmittedAt: "2026-04-01T12:00:00Z",
		SemanticTime: at.Format("2006-01-02T15:04:05.000000Z")}
}

func letter(key, text string) slice.Record {
	return slice.Record{Stream: "letters", Key: key, Data: fmt.Appendf(nil, `{"id":%q,"text":%q}`, key, text),
		EmittedAt: "2026-04-01T12:00:00Z"}
}

// choose turns the search on.
func (w *world) choose(kind, address, model, secret string) {
	w.t.Helper()
	to, err := embedding.CheckAddress(kind, address)
	check(w.t, err)
	generation := "emb_" + kind + model
	check(w.t, w.store.SetEmbedding(w.t.Context(), store.Embedding{Generation: generation, Kind: kind, Address: to,
		Model: model, Sealed: embedding.SealSecret(w.key, generation, secret), ChangedAt: w.now}))
}

func (w *world) pass() {
	w.t.Helper()
	check(w.t, w.worker.Pass(w.t.Context()))
}

// sent lets the worker work and returns what the endpoint received, in the order of texts.
func (w *world) sent(e *endpoint) []string {
	w.t.Helper()
	w.pass()
	const mark = "a text that marks the end"
	check(w.t, func() error {
		_, err := http.Post(e.address+"/api/embed", "application/json",
			strings.NewReader(`{"model":"m","input":["`+mark+`"]}`))
		return err
	}())
	texts := e.received(mark)
	slices.Sort(texts)
	return texts
}

func (w *world) state() store.Embedding {
	w.t.Helper()
	e, err := w.store.Embedding(w.t.Context())
	check(w.t, err)
	return e
}

// get returns the status and the body of an answer.
func (w *world) get(token, path, text string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.address+path+"q="+url.QueryEscape(text), nil)
	check(w.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	check(w.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	check(w.t, err)
	return answer.StatusCode, string(body)
}

// found returns the records of an answer, in their order.
func (w *world) found(token, path, text string) (ids []string) {
	w.t.Helper()
	status, body := w.get(token, path, text)
	var page struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK {
		w.t.Fatalf("%s answers %d: %s", path, status, body)
	}
	for _, r := range page.Data {
		ids = append(ids, r.ID)
	}
	return ids
}

const (
	byMeaning = "/v1/search/semantic?"
	byBoth    = "/v1/search/hybrid?"
)

// Only the declared texts are sent, each once, and the vectors follow the records. A server of either kind will do.
func TestVectorsFollowRecords(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		w, e := newWorld(t, open(t)), startEndpoint(t)
		w.put(note("n1", 1, "plant pears", "cold morning", "hidden"), note("n2", 2, "buy boots", "", "hidden"),
			letter("l1", "a narwhal"), slice.Record{Stream: "keys", Key: "k1", Data: []byte(`{"id":"k1"}`), EmittedAt: "x"})
		same(t, w.sent(e), nil) // it is off
		w.choose(embedding.Ollama, e.address, "m", "")
		same(t, w.sent(e), []string{"a narwhal", "buy boots", "cold morning", "plant pears"})
		same(t, w.found("owner", byMeaning, "quinces and plant")[:1], []string{"n1"})
		same(t, w.found("owner", byMeaning, "sandals buy")[:1], []string{"n2"})
		same(t, w.found("owner", byMeaning+"stream=letters&", "sandals"), []string{"l1"})
		e.received("sandals")

		w.put(note("n1", 1, "plant pears", "cold morning", "other"), note("n2", 2, "sell boots", "", "hidden"),
			slice.Record{Stream: "letters", Key: "l1", Op: protocol.OpDelete, EmittedAt: "x"})
		same(t, w.sent(e), []string{"sell boots"})
		same(t, w.found("owner", byMeaning, "quokka"), []string{"n2", "n1"})
		e.received("quokka")
		n, err := w.store.CountVectors(t.Context())
		check(t, err)
		if n != 3 {
			t.Errorf("%d vectors, want those of two titles and a body", n)
		}

		_, err = w.store.PutManifest(t.Context(), "journal", []byte(strings.Replace(journal,
			`"semantic_fields":["title","body"]`, `"semantic_fields":["body"]`, 1)), noon)
		check(t, err)
		w.now = w.now.Add(2 * time.Minute)
		same(t, w.sent(e), nil) // what is known is not sent again
		same(t, w.found("owner", byMeaning, "boots"), []string{"n1"})
		e.received("boots")

		w.choose(embedding.OpenAI, e.address, "secret", "open sesame")
		same(t, w.sent(e), []string{"cold morning"})
		same(t, w.found("owner", byMeaning, "cold quokka"), []string{"n1"})
		e.received("cold quokka")
		check(t, w.store.EndEmbedding(t.Context()))
		w.put(note("n3", 3, "more", "more", "more"))
		same(t, w.sent(e), nil)
		if n, err := w.store.CountVectors(t.Context()); n != 0 || err != nil {
			t.Errorf("%d vectors are left: %v", n, err)
		}
		if status, body := w.get("owner", byMeaning, "pears"); status != http.StatusConflict ||
			!strings.Contains(body, "semantic_search_off") {
			t.Errorf("%d %s", status, body)
		}
		same(t, w.sent(e), nil)
	})
}

// What a grant does not cover changes nothing in an answer: with other hidden fields and other records outside the
// grant, every answer is the same to the byte.
func TestHiddenChangesNothing(t *testing.T) {
	t.Parallel()
	since, until := noon.AddDate(0, -2, -10), noon.AddDate(0, -1, -10)
	onBoth(t, func(t *testing.T, open opener) {
		e := startEndpoint(t)
		for name, c := range map[string]struct {
			scope  grants.Stream
			hidden func(w *world, words string) // writes what the grant does not cover
			want   map[string][]string
		}{
			"a field": {grants.Stream{Stream: "notes", Fields: []string{"id", "title", "private"}},
				func(w *world, words string) {
					w.put(note("n1", 1, "plant pears", words, "x"), note("n2", 2, "buy boots", words+words, "y"),
						note("n3", 3, "see zebra", "", "z"), letter("l1", words))
				}, map[string][]string{"apples": {"n1"}, "quokka": {"n3"}}},
			"a window": {grants.Stream{Stream: "notes", Since: &since, Until: &until}, func(w *world, words string) {
				w.put(note("n1", 1, words, "pears", "x"), note("n2", 2, "buy boots", "pears", "y"), letter("l1", words),
					note("n3", 3, "pears", words, "z"))
			}, map[string][]string{"apples": {"n2"}}},
			"a stream": {grants.Stream{Stream: "letters"}, func(w *world, words string) {
				w.put(note("n1", 1, words, words, words), letter("l1", "send pears"), letter("l2", "send boots"))
			}, map[string][]string{"apples": {"l1", "l2"}, "sandals": {"l2", "l1"}}},
			"resources": {grants.Stream{Stream: "notes", Resources: []string{"n1", "n3"}}, func(w *world, words string) {
				w.put(note("n1", 1, "plant pears", "", "x"), note("n2", 2, words, words, "y"),
					note("n3", 3, "see zebra", "buy boots", "z"), letter("l1", words))
			}, map[string][]string{"apples": {"n1", "n3"}, "sandals": {"n3", "n1"}}},
		} {
			t.Run(name, func(t *testing.T) {
				var first []string
				for _, words := range []string{"boots", "", "pears apples quinces zebra quokka"} {
					w := newWorld(t, open(t))
					w.choose(embedding.Ollama, e.address, "m", "")
					c.hidden(w, words)
					w.pass()
					c.scope.ConnectionID = "mine"
					_, token, err := w.grants.Create(t.Context(), grants.New{ClientName: "Reader", Purpose: "reading",
						Scope: []grants.Stream{c.scope}})
					check(t, err)
					for text, want := range c.want {
						if got := w.found(token, byMeaning, text); !slices.Equal(got[:len(want)], want) {
							t.Errorf("%q with %q: %v, want %v first", text, words, got, want)
						}
					}
					var answers []string
					for _, path := range []string{byMeaning, byBoth, byMeaning + "limit=1&", byBoth + "stream=letters&"} {
						for _, text := range []string{"boots", "pears", "quokka buy", "x y z", "!"} {
							status, body := w.get(token, path, text)
							answers = append(answers, fmt.Sprint(path, text, status, withoutID(body)))
						}
					}
					if first == nil {
						first = answers
					}
					for i := range answers {
						if answers[i] != first[i] {
							t.Errorf("with %q in what is hidden:\n%s\nand with other words:\n%s", words, answers[i], first[i])
						}
					}
				}
			})
		}
	})
}

// withoutID removes the id of the request from an error.
func withoutID(body string) string {
	before, _, _ := strings.Cut(body, `"request_id"`)
	return before
}

// Both lists count: a record with the words and the meaning comes before one with either.
func TestBoth(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		w, e := newWorld(t, open(t)), startEndpoint(t)
		w.put(letter("words", "zebra pears boots sandals narwhal"), letter("both", "eat pears"), letter("meaning", "apples"),
			letter("neither", "quokka"))
		w.choose(embedding.Ollama, e.address, "m", "")
		w.pass()
		same(t, w.found("owner", byBoth+"limit=3&", "pears"), []string{"both", "words", "meaning"})
		same(t, w.found("owner", byMeaning+"limit=1&", "pears"), []string{"meaning"})
	})
}

// A failing endpoint gets the same texts again later and later. A text that it rejects is left out, unless it rejects
// everything. A search reports nothing of why it failed.
func TestFailures(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		w, e := newWorld(t, open(t)), startEndpoint(t)
		w.put(letter("l1", "pears"), letter("l2", "poison"), letter("l3", "boots"))
		w.choose(embedding.Ollama, e.address, "m", "")
		w.sent(e)
		same(t, w.found("owner", byMeaning, "apples"), []string{"l1", "l3"})
		e.received("apples")
		w.put(letter("l4", "outage"))
		for i, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			same(t, w.sent(e), []string{"outage"})
			if got := w.state(); got.Failures != i+1 || got.LastFailure != "http_503" ||
				!got.NextAt.Equal(w.now.Add(pause)) {
				t.Errorf("%+v", got.EmbeddingState)
			}
			same(t, w.sent(e), nil) // too early
			w.now = w.now.Add(pause)
		}
		w.put(letter("l4", "sandals"))
		same(t, w.sent(e), []string{"sandals"})
		if got := w.state(); got.Failures != 0 || got.NextAt != nil {
			t.Errorf("%+v", got.EmbeddingState)
		}
		if status, body := w.get("owner", byMeaning, "outage"); status != http.StatusServiceUnavailable ||
			strings.Contains(body, "127.0.0.1") || strings.Contains(body, "503\"") {
			t.Errorf("%d %s", status, body)
		}
		w.choose(embedding.OpenAI, e.address, "rejects", "")
		w.pass()
		if got := w.state(); got.LastFailure != "http_400" {
			t.Errorf("%+v", got.EmbeddingState)
		}
		w.choose(embedding.OpenAI, e.address, "secret", "wrong")
		w.pass()
		if got := w.state(); got.LastFailure != "http_401" {
			t.Errorf("%+v", got.EmbeddingState)
		}
		w.choose(embedding.OpenAI, "http://127.0.0.1:1", "gone", "")
		w.pass()
		if got := w.state(); got.LastFailure != "unreachable" {
			t.Errorf("%+v", got.EmbeddingState)
		}
	})
}

// Two processes do not send the same texts, and the second continues where the first one ended.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		w, e := newWorld(t, open(t)), startEndpoint(t)
		w.choose(embedding.Ollama, e.address, "m", "")
		var many []slice.Record
		for i := range 120 {
			many = append(many, letter(fmt.Sprintf("l%03d", i), fmt.Sprintf("letter %03d", i)))
		}
		w.put(many...)
		claimed, err := w.store.ClaimEmbedding(t.Context(), "emb_ollamam", "killed", w.now, w.now.Add(time.Minute))
		if err != nil || !claimed {
			t.Fatal(claimed, err)
		}
		same(t, w.sent(e), nil)
		w.now = w.now.Add(time.Minute)
		if got := w.sent(e); len(got) != 120 || len(slices.Compact(got)) != 120 {
			t.Errorf("sent %d texts", len(got))
		}
		w.worker = w.process("there")
		same(t, w.sent(e), nil)
	})
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://127.0.0.1:11434":  "http://127.0.0.1:11434/api/embed",
		"http://[::1]:11434/":     "http://[::1]:11434/api/embed",
		"http://192.168.1.5/x":    "http://192.168.1.5/x",
		"https://vectors.example": "https://vectors.example/api/embed",
		"https://10.0.0.1":        "https://10.0.0.1/api/embed",
		"http://93.184.216.34":    "", "http://169.254.169.254": "", "https://[fd00:ec2::254]/": "", "http://0.0.0.0": "",
		"https://ann@vectors.example": "", "https://vectors.example?key=1": "", "ftp://vectors.example": "", "vectors": "",
	} {
		if got, err := embedding.CheckAddress(embedding.Ollama, address); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v, want %q", address, got, err, want)
		}
	}
	if _, err := embedding.CheckAddress("other", "http://127.0.0.1"); err == nil {
		t.Error("a kind that is not known was accepted")
	}
}
