package codex_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectors/codex"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	thread = "019c0000-0000-7000-8000-000000000001"
	parent = "019c0000-0000-7000-8000-00000000000f"
	place  = "sessions/2026/03/01/rollout-2026-03-01T09-00-00-" + thread + ".jsonl"
)

func put(t testing.TB, dir, rel, content string) {
	t.Helper()
	to := filepath.Join(dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func lines(list ...string) string { return strings.Join(list, "\n") + "\n" }

// TestBothForms holds that a file of the legacy form and the same one rewritten as paginated
// have the same records: no key depends on a line's place.
func TestBothForms(t *testing.T) {
	t.Parallel()
	at := `"timestamp":"2026-03-01T09:00:01.000Z"`
	legacy := lines(
		`{"timestamp":"2026-03-01T09:00:00.000Z","type":"session_meta","payload":{"id":"`+thread+`","cwd":"/home/mara/`+
			`app","history_mode":"legacy"}}`,
		`{`+at+`,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text",`+
			`"text":"<environment_context>x"}]}}`,
		`{`+at+`,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text",`+
			`"text":"yes"}]}}`,
		`{`+at+`,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text",`+
			`"text":"yes"}]}}`,
		`{`+at+`,"type":"event_msg","payload":{"type":"user_message","message":"yes"}}`,
		`{"timestamp":"2026-03-01T09:00:02.000Z","type":"response_item","payload":{"type":"message","id":"msg_1",`+
			`"role":"assistant","content":[{"type":"output_text","text":"done"}]}}`,
		`{"timestamp":"2026-03-01T09:00:03.000Z","type":"response_item","payload":{"type":"function_call",`+
			`"call_id":"call_1","name":"shell","arguments":"{\"command\":[\"ls\"]}"}}`,
		`{"timestamp":"2026-03-01T09:00:04.000Z","type":"response_item","payload":{"type":"function_call_output",`+
			`"call_id":"call_1","output":"README.md"}}`,
	)
	var paginated []string
	for i, line := range strings.Split(strings.TrimSpace(legacy), "\n") {
		line = strings.Replace(line, `"legacy"`, `"paginated"`, 1)
		paginated = append(paginated, strings.Replace(line, "{", `{"ordinal":`+string(rune('0'+i))+`,`, 1))
	}
	paginated = slices.Insert(paginated, 2,
		`{"ordinal":99,"timestamp":"2026-03-01T09:00:01.000Z","type":"event_msg","payload":{"type":"item_completed",`+
			`"item":{"text":"yes"}}}`)
	dir := t.TempDir()
	env := map[string]string{"CODEX_HOME": dir}
	put(t, dir, place, legacy)
	kept := inprocess.NewMemoryRunner(t, codex.Connector(), env).Run()
	if n := len(kept.Keys("messages")); n != 4 {
		t.Fatalf("%d messages: %v", n, kept.Records["messages"])
	}
	if got := kept.Records["function_calls"][thread+":call_1"]; !strings.Contains(got, `"output_preview":"README.md"`) ||
		!strings.Contains(got, `"name":"shell"`) {
		t.Errorf("call %s", got)
	}
	before := kept.Writes
	put(t, dir, place, lines(paginated...))
	put(t, dir, place+".zst", "a compressed form that is being written")
	kept.Run()
	if gaps := kept.Gaps(); kept.Writes != before || len(gaps) > 0 {
		t.Errorf("the other forms wrote %d records: %v, gaps %v", kept.Writes-before, kept.Keys("messages"), gaps)
	}
}

// TestCallsAcrossRuns holds that the output of a call may come in a later run.
func TestCallsAcrossRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"CODEX_HOME": dir}
	meta := `{"timestamp":"2026-03-01T09:00:00.000Z","type":"session_meta","payload":{"id":"` + thread + `"}}`
	call := `{"timestamp":"2026-03-01T09:00:03.000Z","type":"response_item","payload":{"type":"custom_tool_call",` +
		`"call_id":"call_1","name":"patch","input":"*** Begin"}}`
	put(t, dir, place, lines(meta, call))
	kept := inprocess.NewMemoryRunner(t, codex.Connector(), env).Run()
	key := thread + ":call_1"
	if got := kept.Records["function_calls"][key]; !strings.Contains(got, `"arguments":"*** Begin"`) ||
		strings.Contains(got, "output") {
		t.Fatalf("call %s", got)
	}
	put(t, dir, place, lines(meta, call,
		`{"timestamp":"2026-03-01T09:00:05.000Z","type":"response_item","payload":{"type":"custom_tool_call_output",`+
			`"call_id":"call_1","output":{"content":"patched","success":true}}}`))
	kept.Run()
	if got := kept.Records["function_calls"][key]; !strings.Contains(got, `"arguments":"*** Begin"`) ||
		!strings.Contains(got, `"output_preview":"patched"`) {
		t.Errorf("call %s", got)
	}
}

// TestAgents shows that messages between agents are kept, in both formats of Codex.
func TestAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, place, lines(
		`{"timestamp":"2026-03-01T09:00:00.000Z","type":"session_meta","payload":{"id":"`+thread+`"}}`,
		`{"timestamp":"2026-03-01T09:00:03.000Z","type":"response_item","payload":{"type":"agent_message","author":"/`+
			`root/backend","recipient":"/root","content":[{"type":"input_text","text":"the tide table is done"}]}}`,
		`{"timestamp":"2026-03-01T09:00:04.000Z","type":"response_item","payload":{"type":"agent_message","author":"/`+
			`root","recipient":"/root/backend","content":[{"type":"encrypted_content","encrypted_content":"xyz"}]}}`,
		`{"timestamp":"2026-03-01T09:00:05.000Z","type":"inter_agent_communication","payload":{"author":"/root",`+
			`"recipient":"/root/backend","other_recipients":[],"content":"now the harbour","trigger_turn":true}}`,
		`{"timestamp":"2026-03-01T09:00:06.000Z","type":"inter_agent_communication_metadata",`+
			`"payload":{"trigger_turn":true}}`,
	))
	kept := inprocess.NewMemoryRunner(t, codex.Connector(), map[string]string{"CODEX_HOME": dir}).Run()
	all := fmt.Sprint(kept.Records["messages"])
	for _, want := range []string{`"content":"the tide table is done"`, `"author":"/root/backend","recipient":"/root"`,
		`"content":"[encrypted]"`, `"content":"now the harbour"`, `"type":"inter_agent_communication"`} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing in %s", want, all)
		}
	}
	if n := len(kept.Keys("messages")); n != 3 {
		t.Errorf("%d messages", n)
	}
}

// TestThreads holds what the index adds to a session, a fork's own description, archiving,
// names that come later, and that an index which cannot be read is a gap.
func TestThreads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"CODEX_HOME": dir}
	put(t, dir, place, lines(
		`{"timestamp":"2026-03-01T08:00:00.000Z","type":"session_meta","payload":{"id":"`+parent+`","cwd":"/home/mara/`+
			`parent","git":{"branch":"old"}}}`,
		`{"timestamp":"2026-03-01T09:00:00.000Z","type":"session_meta","payload":{"id":"`+thread+`","cwd":"/home/mara/`+
			`app","git":{"branch":"main"},"forked_from_id":"`+parent+`"}}`,
	))
	put(t, dir, strings.Replace(place, thread, parent, 1),
		lines(`{"timestamp":"2026-03-01T08:00:00.000Z","type":"session_meta","payload":{"id":"`+parent+`"}}`))
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state_5.sqlite")+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE threads (id TEXT PRIMARY KEY, updated_at INTEGER, title TEXT, tokens_used INTEGER, archived ` +
		`INTEGER, extra BLOB)`)
	exec(`INSERT INTO threads VALUES ('` + thread + `', 1772355600, 'Fix the pump', 4711, 0, NULL),
		('only-here', 1772355600, 'No file', 1, 1, NULL),
		('` + parent + `', 1772355600, 'Archived in the index', 1, 1, NULL)`)
	kept := inprocess.NewMemoryRunner(t, codex.Connector(), env).Run()
	got := kept.Records["sessions"][thread]
	for _, want := range []string{`"cwd":"/home/mara/app"`, `"git_branch":"main"`, `"forked_from":"` + parent,
		`"title":"Fix the pump"`, `"tokens_used":4711`, `"message_count":0`, `"archived":false`} {
		if !strings.Contains(got, want) {
			t.Errorf("the session lacks %s: %s", want, got)
		}
	}
	if got := kept.Records["sessions"][parent]; !strings.Contains(got, `"archived":true`) {
		t.Errorf("a thread that only the index calls archived: %s", got)
	}
	if !strings.Contains(kept.Records["sessions"]["only-here"], `"title":"No file"`) {
		t.Errorf("a thread that only the index knows: %v", kept.Keys("sessions"))
	}
	if err := os.MkdirAll(filepath.Join(dir, "archived_sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, place),
		filepath.Join(dir, "archived_sessions", filepath.Base(place))); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "session_index.jsonl",
		`{"id":"`+thread+`","thread_name":"The pump","updated_at":"2099-01-01T00:00:00Z"}`+"\n")
	kept.Run()
	if got := kept.Records["sessions"][thread]; !strings.Contains(got, `"archived":true`) ||
		!strings.Contains(got, `"title":"The pump"`) {
		t.Errorf("archived and named: %s", got)
	}
	put(t, dir, "state_6.sqlite", strings.Repeat("no database ", 100))
	kept.Run()
	if !slices.ContainsFunc(kept.Gaps(),
		func(g protocol.DetailGap) bool { return strings.Contains(string(g.DetailLocator), "state_6") }) {
		t.Errorf("a broken index is no gap: %v", kept.Gaps())
	}
	if got := kept.Records["sessions"][thread]; !strings.Contains(got, `"git_branch":"main"`) {
		t.Errorf("without an index: %s", got)
	}
}

// TestDocuments holds that history which is trimmed from its front loses nothing, and that a
// rule which was taken back is gone.
func TestDocuments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"CODEX_HOME": dir}
	one, two, three := `{"session_id":"s","ts":1772355600,"text":"one"}`,
		`{"session_id":"s","ts":1772355601,"text":"two"}`, `{"session_id":"s","ts":1772355602,"text":"three"}`
	put(t, dir, "history.jsonl", lines(one, two))
	put(t, dir, "rules/default.rules", "a\n# b\nc\n")
	kept := inprocess.NewMemoryRunner(t, codex.Connector(), env).Run()
	put(t, dir, "history.jsonl", lines(two, three))
	put(t, dir, "rules/default.rules", "a\n")
	kept.Run()
	if n := len(kept.Keys("prompt_history")); n != 3 {
		t.Errorf("%d things that were typed: %v", n, kept.Keys("prompt_history"))
	}
	if got := kept.Keys("rules"); !slices.Equal(got, []string{"rules:default.rules:0"}) {
		t.Errorf("rules %v", got)
	}
	if n := len(kept.Keys("history")); n != 1 {
		t.Errorf("history is listed %d times", n)
	}
}

// FuzzLines holds that no file makes the connector fail, whatever its lines are.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"timestamp":1772355600,"type":"response_item","payload":{"type":"message","role":"user",` +
		`"content":"x"}}`))
	f.Add([]byte(`{"id":"a","timestamp":"t","instructions":null}` + "\n" +
		`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:"}]}`))
	f.Add([]byte(`{"type":"response_item","payload":{"type":"local_shell_call","action":{"command":["ls"]}}}` + "\n" +
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"x","output":[{"text":"a"}]}}`))
	f.Add([]byte("\xef\xbb\xbf{\"type\":\"session_meta\",\"payload\":{\"id\":\"\\ud800\"}}\r\n\x00\x00\n[1]\n"))
	connector := codex.Connector()
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		put(t, dir, place, string(content)+"\n")
		put(t, dir, "history.jsonl", string(content)+"\n")
		inprocess.NewMemoryRunner(t, connector, map[string]string{"CODEX_HOME": dir}).Run()
	})
}
