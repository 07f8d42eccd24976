package consoletest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/owner/console"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/quality/pagetest"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/server"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// today is when the household below looks at its records.
var today = time.Date(2026, 3, 10, 14, 32, 0, 0, time.UTC)

// household is a database with records of several sources, as their connectors declare them.
type household struct {
	t       *testing.T
	store   store.Store
	facts   *shelf
	blobs   blob.FolderStorage
	handler http.Handler
	runs    int
}

// newHousehold returns a household. It has thumbnails only if pictures is passed.
func newHousehold(t *testing.T, pictures ...func(originals blob.Storage) console.Pictures) *household {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	h := &household{t: t, store: st, facts: &shelf{}, blobs: blob.FolderStorage{Dir: t.TempDir()}}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	now := func() time.Time { return today }
	o := service.New(service.Config{Store: st, Access: auth.New(auth.Config{Store: st, Now: now}), Reader: h.facts,
		Files: h.blobs, Now: now})
	ending, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	c := console.Config{Owner: o, Auth: noDoor{}, Now: now, Log: log, PageHeaders: server.PageHeaders,
		Ending: ending.Done()}
	for _, by := range pictures {
		c.Pictures = by(h.blobs)
	}
	h.handler = server.New(server.Config{Log: log, Mount: func(mux *http.ServeMux) { console.Mount(mux, c) }})
	return h
}

func (h *household) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// collects stores records of a connector as one run of it would.
func (h *household) collects(connector, name string, gaps []slice.Gap, records ...slice.Record) string {
	h.t.Helper()
	ctx := h.t.Context()
	body, err := os.ReadFile(filepath.Join("..", "..", "..", "connectors", connector, "manifest.json"))
	h.must(err)
	m, err := manifest.Parse(body)
	h.must(err)
	generation, err := h.store.PutManifest(ctx, connector, body, today)
	h.must(err)
	h.runs++
	id := fmt.Sprintf("cin_%s_1", connector)
	h.must(h.store.CreateConnection(ctx, store.Connection{ID: id, ConnectorID: connector, DisplayName: name,
		Status: store.ConnectionActive, SourceKind: store.SourceAccount,
		ManifestGeneration: generation, CreatedAt: today, UpdatedAt: today}))
	start := store.RunStart{RunID: fmt.Sprintf("run_%d", h.runs), ConnectionID: id, ConnectorID: connector,
		Trigger: store.TriggerManual, Holder: "w1", TTL: time.Hour}
	times := map[string]string{}
	for i := range m.Streams {
		s := &m.Streams[i]
		start.Streams = append(start.Streams, store.StreamSpec{Name: s.Name, SearchFields: s.SearchFields(),
			TimeField: s.ConsentTimeField})
		times[s.Name] = s.ConsentTimeField
	}
	l, err := h.store.StartRun(ctx, start, today.Add(-time.Hour))
	h.must(err)
	for i := range records {
		var r struct{ At string }
		if field := times[records[i].Stream]; field != "" {
			_, rest, _ := strings.Cut(string(records[i].Data), `"`+field+`":"`)
			r.At, _, _ = strings.Cut(rest, `"`)
			_, records[i].SemanticTime, _ = protocol.SemanticTime(r.At)
		}
	}
	_, err = h.store.CommitSlice(ctx, l,
		slice.Slice{Records: records, Gaps: gaps, Present: func(ctx context.Context, hashes []string) ([]string, error) {
			return blob.MissingFiles(ctx, h.blobs, hashes)
		}}, today.Add(-time.Hour))
	h.must(err)
	h.must(h.store.FinishRun(ctx, l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, today.Add(-50*time.Minute)))
	e := healthy(id)
	e.Connection.ConnectorID, e.Connection.DisplayName = connector, name
	h.facts.all = append(h.facts.all, e)
	return id
}

func record(stream, key, data string) slice.Record {
	return slice.Record{Stream: stream, Key: key, Data: []byte(data), EmittedAt: "2026-03-10T13:30:00Z"}
}

// hostile is what a stranger may write into a message.
const hostile = `<script>document.title='owned'</script><img src=https://evil.example/x.png onerror=alert(1)> & more`

// lives fills the household with a few days of a person's data.
func (h *household) lives() {
	quoted := func(s string) string { return fmt.Sprintf("%q", s) }
	report := func(key, thread, role, at, text string, current bool) slice.Record {
		return record("messages", key,
			fmt.Sprintf(`{"id":%q,"conversation_id":%q,"role":%q,"create_time":%q,"content":%s,"on_current_branch":%t}`, key,
				thread, role, at, quoted(text), current))
	}
	h.collects("chatgpt", "ChatGPT",
		[]slice.Gap{{Stream: "messages", ParentStream: "conversations", RecordKey: "c2",
			Reason: protocol.SourcePressureReasons[0], Retryable: true}},
		record("conversations", "c1",
			`{"id":"c1","title":"Tide tables in a spreadsheet","create_time":"2026-03-09T21:14:00Z",`+
				`"update_time":"2026-03-10T13:27:00Z"}`),
		record("conversations", "c2",
			`{"id":"c2","title":"Name for a boat","create_time":"2026-03-09T20:40:00Z","update_time":"2026-03-09T20:44:00Z"}`),
		report("m1", "c1", "user", "2026-03-09T21:14:02Z",
			"I have high and low water for each day. How do I get the height at any hour in a spreadsheet?", true),
		report("m2", "c1", "assistant", "2026-03-09T21:14:30Z",
			"The simplest good rule is the rule of twelfths.\n\nFor a smooth curve use half a cosine:\n```\n"+
				"=low + (high-low) * (1 - COS(PI() * (t-t0)/(t1-t0))) / 2\n```\nwhere t0 is the time of low water.", true),
		report("m3", "c1", "assistant", "2026-03-09T21:14:31Z", "Another answer that was thrown away.", false),
		report("m4", "c1", "user", "2026-03-10T13:25:00Z", "It works. "+hostile, true),
		report("m5", "c1", "tool", "2026-03-10T13:26:00Z", "python: 41 rows", true),
		report("m6", "c1", "assistant", "2026-03-10T13:27:00Z", "Select the height column and add a rule.", true),
		report("m7", "c2", "user", "2026-03-09T20:40:00Z", "A short old name for a boat?", true),
		report("m8", "c2", "assistant", "2026-03-09T20:44:00Z", "Three that are short and old", true),
	)
	step := func(key, at, name, arguments, output string) slice.Record {
		return record("function_calls", key,
			fmt.Sprintf(`{"id":%q,"session_id":"s1","name":%q,"arguments":%s,"output_preview":%s,"timestamp":%q}`, key, name,
				quoted(arguments), quoted(output), at))
	}
	coded := func(key, origin, at, text string) slice.Record {
		return record("messages", key,
			fmt.Sprintf(`{"id":%q,"session_id":"s1","origin":%q,"role":"x","timestamp":%q,"content":%s}`, key, origin, at,
				quoted(text)))
	}
	h.collects("codex", "Codex", nil,
		record("sessions", "s1", `{"id":"s1","title":"Fix the retry test that hangs","started_at":"2026-03-10T10:59:00Z",`+
			`"cwd":"/home/mara/src/tidewatch/","last_event_at":"2026-03-10T11:40:00Z"}`),
		coded("x0", "injected", "2026-03-10T10:58:59Z", "<environment_context>tidewatch</environment_context>"),
		coded("x1", "person", "2026-03-10T10:59:00Z", "The retry test hangs about once in twenty. Find out why and fix it."),
		step("f1", "2026-03-10T11:00:00Z", "shell", "go test -run TestRetry -count=200", "FAIL after 17"),
		step("f2", "2026-03-10T11:03:20Z", "apply_patch", "+ clock.BlockUntil(2)", "Success"),
		coded("x2", "assistant", "2026-03-10T11:40:00Z",
			"The fake clock is advanced before the second waiter has started. 200 of 200 pass now."),
	)
	var texts []slice.Record
	texts = append(texts,
		record("chats", "papa", `{"id":"papa","identifier":"+4670","title":"Papa","service":"iMessage"}`),
		record("chats", "ines", `{"id":"ines","identifier":"+4671","title":null,"service":"iMessage"}`))
	text := func(key, chat, handle, at, words string, mine bool) slice.Record {
		return record("messages", key,
			fmt.Sprintf(`{"id":%q,"chat_id":%q,"handle":%q,"date":%q,"text":%s,"is_from_me":%t,"kind":"message"}`, key, chat,
				handle, at, quoted(words), mine))
	}
	for i := range 41 {
		at := time.Date(2026, 3, 9, 7, 30, 0, 0, time.UTC).Add(time.Duration(i) * 90 * time.Second)
		texts = append(texts, text(fmt.Sprintf("p%02d", i), "papa", "Papa", at.Format(time.RFC3339),
			fmt.Sprintf("the varnish needs two days (%d)", i), i%3 == 0))
	}
	for i := range 150 {
		at := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Hour)
		texts = append(texts, text(fmt.Sprintf("q%03d", i), "ines", "Ines", at.Format(time.RFC3339),
			fmt.Sprintf("letter %d", i), i%2 == 0))
	}
	texts = append(texts, text("i1", "ines", "Ines", "2026-03-10T14:02:00Z", "Are you on the quay already?", false),
		text("i2", "ines", "Ines", "2026-03-10T14:05:00Z", "Five minutes. Which ferry?", true),
		text("i3", "ines", "Ines", "2026-03-10T14:20:00Z", "the ferry is at ten past, not half", false))
	h.collects("imessage", "iMessage", nil, texts...)
	h.collects("slack", "Slack", nil,
		record("channels", "C1", `{"id":"C1","name":"general","created_at":"2024-01-01T00:00:00Z"}`),
		record("users", "U1", `{"id":"U1","name":"oskar"}`),
		record("messages", "C1:1",
			`{"id":"C1:1","channel_id":"C1","user_id":"U1","sent_at":"2026-03-08T09:00:00Z","text":"minutes are in the `+
				`folder"}`),
		record("messages", "C1:2",
			`{"id":"C1:2","channel_id":"C1","user_id":"U9","sent_at":"2026-03-08T09:05:00Z","text":"thanks"}`))
	late := pressed("cin_slack_1", 0, 12) // it does not have all
	late.Connection.DisplayName = "Slack"
	h.facts.all[len(h.facts.all)-1] = late
	h.collects("imap", "Gmail", nil,
		record("messages", "e1", `{"id":"e1","received_at":"2026-03-10T14:15:00Z","subject":"Berth 41, fee for the `+
			`season","from_name":"Harbour office","thread_id":"t1"}`),
		record("messages", "e2", `{"id":"e2","received_at":"2026-03-09T10:04:00Z","subject":"Your visit in April",`+
			`"from_name":"Quay Street Dental"}`))
	var nights []slice.Record
	for i := range 60 {
		if day := time.Date(2026, 1, 5+i, 0, 0, 0, 0, time.UTC); i%9 != 4 {
			nights = append(nights, record("sleep", fmt.Sprint("n", i),
				fmt.Sprintf(`{"id":"n%d","day":%q,"type":"long_sleep","total_sleep_duration":%d}`, i, day.Format(time.DateOnly),
					23000+i%7*900)))
		}
	}
	h.collects("oura", "Oura", nil,
		append(nights, record("sleep", "o1",
			`{"id":"o1","day":"2026-03-10","type":"long_sleep","total_sleep_duration":26280}`),
			record("daily_sleep", "o2", `{"id":"o2","day":"2026-03-10","score":84}`))...)
	h.collects("ynab", "YNAB", nil,
		record("transactions", "y1",
			`{"id":"y1","date":"2026-03-09","amount":-24900,"payee_name":"Paper and Rope","memo":"Household, stationery"}`))
	var walk []slice.Record
	for i := range 9 {
		walk = append(walk, record("location_history", fmt.Sprint("w", i),
			fmt.Sprintf(`{"id":"w%d","timestamp":"2026-03-10T09:%02d:00Z","latitude":59.%d,"longitude":18.1,`+
				`"activity_type":"WALKING","label":"Walking"}`, i, i*5, 30+i)))
	}
	h.collects("google_takeout", "Google", nil,
		append(walk, record("photos", "g1",
			`{"id":"g1","event_time":"2026-03-10T09:12:00Z","title":"boatyard.jpg","filename":"boatyard.jpg"}`))...)
}

// get asks for a page as a browser without script does.
func (h *household) get(address string) *httptest.ResponseRecorder {
	h.t.Helper()
	answer := httptest.NewRecorder()
	h.handler.ServeHTTP(answer, httptest.NewRequestWithContext(h.t.Context(), http.MethodGet, address, nil))
	return answer
}

const (
	tides   = "/conversations/cin_chatgpt_1/conversations/c1"
	boat    = "/conversations/cin_chatgpt_1/conversations/c2"
	retries = "/conversations/cin_codex_1/sessions/s1"
	ines    = "/conversations/cin_imessage_1/chats/ines"
	general = "/conversations/cin_slack_1/channels/C1"
)

// The pages match their stored text. They show streams of several sources by nothing but the
// declarations of the streams.
func TestLifeReadsAsBefore(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	empty := h.get("/conversations")
	h.lives()
	pages := pagetest.Pages{Folder: "life"}
	pages.Add(t, "empty: /conversations", empty)
	pages.Add(t, "today: /", h.get("/"))
	for _, address := range []string{
		"/conversations", "/conversations?source=cin_imessage_1", "/conversations?kind=assistants",
		"/conversations?kind=code",
		ines + "?q=quay",
		ines + "?q=nothing", ines + "/context", retries + "/context",
		"/conversations/cin_slack_1/users/U1/context", tides, boat, retries, general, ines +
			"?until=2026-02-03T00:00:00Z", ines + "?since=2026-03-10T14:00:00Z",
		"/conversations/cin_slack_1/channels/C7", "/conversations/cin_slack_1/users/U1",
		"/conversations/~!/x/y",
	} {
		pages.Add(t, address, h.get(address))
	}
	for _, address := range []string{
		"/search?q=ferry", "/timeline", "/day/2026-03-09", "/day/2026-03-09?source=cin_imessage_1",
		"/timeline?kind=measured", "/day/2026-03-10?record=cin_imap_1/messages/e1",
		"/day/2020-01-01", "/day/soon", "/timeline?record=x", "/on-this-day", "/on-this-day?date=02-29",
		"/on-this-day?date=13-40", "/newer?held=280&page=/", "/newer?held=284&page=//evil.example", "/newer?held=x",
		"/health?stream=cin_oura_1/sleep", "/money?stream=cin_ynab_1/transactions",
		"/money?range=month", "/money?stream=x", "/health?range=week", "/health?range=all", "/health?stream=x",
	} {
		pages.Add(t, address, h.get(address))
	}
	pages.Check(t)
}

// A date in earlier years is shown where it has something, and is not called empty where it was not collected.
func TestOnThisDayInEarlierYears(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.collects("imap", "Gmail", nil,
		record("messages", "e1", `{"id":"e1","received_at":"2022-03-10T14:15:00Z","subject":"Berth 41",`+
			`"from_name":"Oskar"}`),
		record("messages", "e2", `{"id":"e2","received_at":"2024-03-10T10:04:00Z","subject":"Visit","from_name":"Ines"}`),
		record("messages", "e3", `{"id":"e3","received_at":"2024-06-10T10:04:00Z","subject":"Tea","from_name":"Ines"}`))
	body := h.get("/on-this-day").Body.String()
	for _, want := range []string{`data-year="2022"`, `data-year="2024"`, "Oskar: Berth 41", `href="/day/2024-03-10"`,
		"2023", "2025"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	_, said, _ := strings.Cut(body, "data-years>")
	said, _, _ = strings.Cut(said, "<")
	if want := "Not collected: 2025 and 2023."; said != want {
		t.Errorf("of the other years: %q, want %q", said, want)
	}
}

// A long conversation is read page by page, every message once, in either direction.
func TestLongConversationIsReadInPages(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.lives()
	for _, way := range []struct{ rel, from string }{{"prev", ines}, {"next", ines + "?since=2026-01-01T00:00:00Z"}} {
		seen := map[string]int{}
		address := way.from
		for pages := 0; address != ""; pages++ {
			if pages == 10 {
				t.Fatal("the pages do not end")
			}
			body := h.get(address).Body.String()
			for part := range strings.SplitSeq(body, `/thing/cin_imessage_1/messages/`) {
				key, _, _ := strings.Cut(part, `"`)
				if len(key) < 5 {
					seen[key]++
				}
			}
			address = linkOf(body, way.rel)
		}
		if len(seen) != 153 {
			t.Errorf("%s: %d messages of 153", way.rel, len(seen))
		}
		for key, n := range seen {
			if n != 1 {
				t.Errorf("%s: %s came %d times", way.rel, key, n)
			}
		}
	}
}

// linkOf is where a link of a relation within the conversation leads to.
func linkOf(body, rel string) string {
	_, rest, found := strings.Cut(body, `rel="`+rel+`" href="`)
	address, _, _ := strings.Cut(rest, `"`)
	if !found || !strings.Contains(address, "/chats/") {
		return ""
	}
	return strings.ReplaceAll(address, "&amp;", "&")
}

// A real browser shows the pages at both widths and in both themes, using only the keyboard. No
// record content is executed or loaded.
func TestLifeInABrowser(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.lives()
	srv := httptest.NewServer(h.handler)
	t.Cleanup(srv.Close)
	b := open(t, srv.URL)
	b.visit("/")
	b.shoot("today-household")
	b.visit("/search?q=tide")
	b.shoot("search-household")
	b.visit("/conversations")
	b.shoot("conversations")
	b.visit(tides)
	b.shoot("conversation-assistant")
	if got := eval[string](b, "document.title"); !strings.Contains(got, "Tide tables") {
		t.Errorf("the title is %q", got)
	}
	if !strings.Contains(b.text("#thread"), "<script>document.title") ||
		eval[float64](b, `document.querySelectorAll("#thread img, #thread script").length`) != 0 {
		t.Error("what somebody wrote is not shown as it was written")
	}
	b.visit("/day/2026-03-10")
	b.shoot("day")
	b.visit("/on-this-day")
	b.shoot("on-this-day")
	b.visit("/timeline")
	b.shoot("timeline")
	b.click(`[data-item] a[href*="record="]`)
	b.wait("#record")
	b.shoot("timeline-record")
	if b.click("[data-close]"); b.has("#record") {
		t.Error("the record stays open")
	}
	b.click("[rel=next]")
	b.until(`location.pathname === "/day/2026-03-09"`)
	if !strings.Contains(b.text(".day"), "41 messages with Papa") {
		t.Errorf("the day reads %s", b.text(".day"))
	}
	b.visit("/health?stream=cin_oura_1/sleep")
	b.shoot("health")
	b.visit("/money")
	b.shoot("money")
	b.visit("/complete")
	b.shoot("complete")
	b.visit(retries)
	b.shoot("conversation-coding")
	if eval[bool](b, `document.querySelector(".tool").open`) {
		t.Error("steps are not folded")
	}
	b.visit(ines)
	b.shoot("conversation-people")
	b.click("[rel=prev]")
	b.until(`location.search.includes("until=")`)
	if !b.has("[rel=next]") {
		t.Error("nothing leads back to the end")
	}
	b.quiet()
}
