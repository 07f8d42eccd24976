package claudecode_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	claudecode "github.com/pdpp-go/pdpp/connectors/claude_code"
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

// TestSession checks the session record of a transcript and the origin of its messages.
func TestSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"CLAUDE_CONFIG_DIR": dir}
	common := `"sessionId":"s1","cwd":"/home/mara/app","gitBranch":"main","version":"2.1.40","userType":"external",` +
		`"entrypoint":"cli"`
	put(t, dir, "projects/-p/s1.jsonl", lines(
		`{"type":"summary","summary":"A summary","leafUuid":"x"}`,
		`{"type":"user","uuid":"u1",`+common+`,"timestamp":"2026-03-01T10:00:05.000Z","message":{"role":"user",`+
			`"content":"fix the test"}}`,
		`{"type":"user","uuid":"u0",`+common+`,"timestamp":"2026-03-01T10:00:00.000Z","isMeta":true,`+
			`"message":{"role":"user","content":"Caveat"}}`,
		`{"type":"assistant","uuid":"a1","parentUuid":"u1",`+common+`,"timestamp":"2026-03-01T10:01:00.000Z",`+
			`"requestId":"req_1","message":{"id":"msg_1","role":"assistant","model":"model-1","content":[{"type":"thinking",`+
			`"thinking":"hm","signature":"x"},{"type":"text","text":"Done."},{"type":"tool_use","id":"t1","name":"Bash",`+
			`"input":{"command":"ls"}}]}}`,
		`{"type":"user","uuid":"r1",`+common+`,"timestamp":"2026-03-01T10:02:00.000Z","message":{"role":"user",`+
			`"content":[{"tool_use_id":"t1","type":"tool_result","content":"`+strings.Repeat("0123456789",
			300)+`"}]},"toolUseResult":{"stdout":"again"}}`,
		`{"type":"user","uuid":"c1",`+common+`,"timestamp":"2026-03-01T10:02:01.000Z","message":{"role":"user",`+
			`"content":"<command-name>/clear</command-name>"}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":"y1",`+common+`,"timestamp":"2026-03-01T10:03:00.000Z",`+
			`"content":"Compacted"}`,
		`{"type":"progress","uuid":"p1",`+common+`}`,
		`{"type":"ai-title","sessionId":"s1","aiTitle":"Made up"}`,
		`{"type":"custom-title","sessionId":"s1","customTitle":"Pump"}`,
		`{"type":"ai-title","sessionId":"s1","aiTitle":"Made up again"}`,
	))
	kept := inprocess.NewMemoryRunner(t, claudecode.Connector(), env).Run()
	want := `{"id":"s1","project_path":"-p","cwd":"/home/mara/app","git_branch":"main","version":"2.1.40",` +
		`"started_at":"2026-03-01T10:00:00.000Z","last_event_at":"2026-03-01T10:03:00.000Z","message_count":5,` +
		`"user_type":"external","entrypoint":"cli","title":"Pump"}`
	if got := kept.Records["sessions"]["s1"]; got != want {
		t.Errorf("session %s", got)
	}
	for id, part := range map[string]string{
		"u1": `"origin":"person"`, "u0": `"origin":"meta"`, "c1": `"origin":"command"`,
		"a1": `"content":"hm\nDone.\n[tool_use: Bash] {\"command\":\"ls\"}"`, "r1": `[cut: 3000 bytes, sha256 `,
	} {
		if got := kept.Records["messages"][id]; !strings.Contains(got, part) {
			t.Errorf("message %s lacks %s: %s", id, part, got)
		}
	}
	if got := kept.Records["messages"]["r1"]; !strings.Contains(got, `"origin":"tool"`) ||
		!strings.Contains(got, `"content_cut":true`) {
		t.Errorf("output of a tool: %s", got)
	}
	if got := kept.Records["attachments"]["y1"]; !strings.Contains(got, `"event_type":"system:compact_boundary"`) ||
		len(kept.Keys("attachments")) != 1 {
		t.Errorf("attachments %v", kept.Records["attachments"])
	}
	if got := kept.Records["coverage_diagnostics"]["transcripts"]; !strings.Contains(got, `"progress":1`) {
		t.Errorf("account %s", got)
	}
}

// TestForks holds the rule for lines that several sessions have: the file that changed last
// has them, a second pass changes nothing, and neither does one from the beginning.
func TestForks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"CLAUDE_CONFIG_DIR": dir}
	line := func(session, uuid string) string {
		return `{"type":"user","uuid":"` + uuid + `","sessionId":"` + session +
			`","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"hello"}}`
	}
	put(t, dir, "projects/-p/one.jsonl", lines(line("one", "u1"), line("one", "u2")))
	put(t, dir, "projects/-p/two.jsonl", lines(line("two", "u1"), line("two", "u3")))
	kept := inprocess.NewMemoryRunner(t, claudecode.Connector(), env).Run()
	sessionOf := func(k *inprocess.MemoryRunner, uuid string) string {
		_, after, _ := strings.Cut(k.Records["messages"][uuid], `"session_id":"`)
		return after[:3]
	}
	if sessionOf(kept, "u1") != "two" || sessionOf(kept, "u2") != "one" {
		t.Errorf("messages %v", kept.Records["messages"])
	}
	before := kept.Writes
	kept.Run()
	if kept.Writes != before {
		t.Errorf("the second pass wrote %d records", kept.Writes-before)
	}
	anew := inprocess.NewMemoryRunner(t, claudecode.Connector(), env).Run()
	for _, id := range kept.Keys("messages") {
		if kept.Records["messages"][id] != anew.Records["messages"][id] {
			t.Errorf("%s differs from the beginning: %s", id, anew.Records["messages"][id])
		}
	}
}

// TestChoices holds which folders are read, which projects, and that credentials and what was
// masked stay here.
func TestChoices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	text := func(id string) string {
		return lines(`{"type":"user","uuid":"` + id +
			`","sessionId":"s","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"key ` + secret + `"}}`)
	}
	put(t, dir, "a/projects/-home-mara-x/s.jsonl", text("x"))
	put(t, dir, "a/projects/-home-mara-y/s.jsonl", text("y"))
	put(t, dir, "a/.credentials.json", secret)
	put(t, dir, "b/projects/-home-mara-z/s.jsonl", text("z"))
	for _, c := range []struct {
		env  map[string]string
		want []string
	}{
		{map[string]string{"CLAUDE_CONFIG_DIR": dir + "/a"}, []string{"x", "y"}},
		{map[string]string{"CLAUDE_CONFIG_DIR": dir + "/a", "CLAUDE_CODE_PROJECTS_DIR": dir + "/a/projects",
			"CLAUDE_CODE_HOME": dir + "/b"}, []string{"z"}},
		{map[string]string{"CLAUDE_CONFIG_DIR": dir + "/a", "CLAUDE_CODE_PROJECTS_DIR": dir + "/b/projects"}, []string{"z"}},
		{map[string]string{"CLAUDE_CONFIG_DIR": dir + "/a", "CLAUDE_CODE_PROJECT_EXCLUDE": "/home/mara/x"}, []string{"y"}},
		{map[string]string{"CLAUDE_CONFIG_DIR": dir + "/a", "CLAUDE_CODE_PROJECT_INCLUDE": "-home-mara-x, other"},
			[]string{"x"}},
	} {
		kept := inprocess.NewMemoryRunner(t, claudecode.Connector(), c.env).Run()
		if got := kept.Keys("messages"); !slices.Equal(got, c.want) {
			t.Errorf("%v: messages %v, want %v", c.env, got, c.want)
		}
		for _, stream := range kept.Records {
			for key, data := range stream {
				if strings.Contains(data, secret) {
					t.Errorf("%s still has the secret", key)
				}
			}
		}
	}
}

// FuzzLines holds that no file makes the connector fail, whatever its lines are.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"type":"user","uuid":"a","sessionId":"s","timestamp":5,"message":{"role":"user","content":null}}`))
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"image","source":{}},5,{"content":[{"text":"a"},7]}]}}`))
	f.Add([]byte(`{"type":"attachment","uuid":"a","sessionId":"s","attachment":"x","content":{"a":1}}`))
	f.Add([]byte("\xef\xbb\xbf{\"type\":\"\xff\",\"uuid\":\"\\ud800\",\"sessionId\":\"s\"}\r\n\x00\x00\n[1]\n"))
	connector := claudecode.Connector()
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		for _, rel := range []string{"projects/p/s.jsonl", "history.jsonl", "todos/s-agent-a.json", "tasks/s/1.json",
			"skills/x/SKILL.md"} {
			put(t, dir, rel, string(content)+"\n")
		}
		inprocess.NewMemoryRunner(t, connector, map[string]string{"CLAUDE_CONFIG_DIR": dir}).Run()
	})
}
