package files

import (
	"fmt"
	"path"
	"strings"
)

// Codex makes a folder as Codex keeps it.
func Codex(dir string, c Config) (World, error) { return newFileTree(dir, c, &codexLayout{}) }

type codexLayout struct{}

func (*codexLayout) compresses() bool { return true }

func (c *codexLayout) newSession(t *Tree, lines int) *lineFile {
	id, at := t.newUUID(), t.advanceClock()
	day := strings.ReplaceAll(at[:10], "-", "/")
	f := &lineFile{rel: fmt.Sprintf("sessions/%s/rollout-%s-%s.jsonl", day, strings.ReplaceAll(at[:19], ":", "-"), id),
		id:      id,
		session: id}
	mode := "legacy"
	if t.rng.IntN(3) == 0 {
		mode = "paginated"
	}
	f.lines = append(f.lines, c.wrapPayload(t, f, "session_meta", map[string]any{
		"id": id, "timestamp": at, "cwd": "/home/mara/app", "originator": "codex_cli_rs", "cli_version": "0.140.0",
		"source": "cli", "model_provider": "openai",
		"history_mode": mode, "git": map[string]any{"branch": "main", "commit_hash": "abc"},
	}, at))
	f.lines[0].items = []Item{{Stream: "sessions", Key: id,
		Fields: map[string]any{"cwd": "/home/mara/app", "git_branch": "main", "originator": "codex_cli_rs"}}}
	for len(f.lines) < lines+1 {
		f.lines = append(f.lines, c.moreLines(t, f)...)
	}
	return f
}

func (c *codexLayout) wrapPayload(t *Tree, f *lineFile, kind string, payload map[string]any, at string) fileLine {
	l := map[string]any{"timestamp": at, "type": kind, "payload": payload}
	if len(f.lines) > 0 && strings.Contains(f.lines[0].text, `"paginated"`) {
		l["ordinal"] = len(f.lines)
	}
	return fileLine{text: encodeJSON(l)}
}

func (c *codexLayout) moreLines(t *Tree, f *lineFile) (out []fileLine) {
	for range 1 + t.rng.IntN(4) {
		out = append(out, c.messageLines(t, f)...)
	}
	return out
}

func (c *codexLayout) messageLines(t *Tree, f *lineFile) []fileLine {
	at, text := t.advanceClock(), t.randomSentence()
	switch t.rng.IntN(8) {
	case 0, 1, 2, 3:
		role, block := "user", "input_text"
		if t.rng.IntN(2) == 0 {
			role, block = "assistant", "output_text"
		}
		id := "msg_" + t.newUUID()
		l := c.wrapPayload(t, f, "response_item",
			map[string]any{"type": "message", "id": id, "role": role,
				"content": []any{map[string]any{"type": block, "text": text}}}, at)
		l.items = []Item{{Stream: "messages", Key: f.session + ":" + id,
			Fields: map[string]any{"session_id": f.session, "role": role, "content": text, "timestamp": at}}}
		echo := c.wrapPayload(t, f, "event_msg", map[string]any{"type": role + "_message", "message": text}, at)
		return []fileLine{l, echo}
	case 4:
		id := "call_" + t.newUUID()
		f.open = append(f.open, id)
		l := c.wrapPayload(t, f, "response_item", map[string]any{"type": "function_call", "call_id": id, "name": "shell",
			"arguments": `{"command":["ls"]}`}, at)
		l.items = []Item{{Stream: "function_calls", Key: f.session + ":" + id,
			Fields: map[string]any{"session_id": f.session, "name": "shell", "arguments": `{"command":["ls"]}`}}}
		return []fileLine{l}
	case 5:
		if len(f.open) == 0 {
			return nil
		}
		id := f.open[0]
		f.open = f.open[1:]
		l := c.wrapPayload(t, f, "response_item", map[string]any{"type": "function_call_output", "call_id": id,
			"output": "README.md"}, at)
		l.items = []Item{{Stream: "function_calls", Key: f.session + ":" + id,
			Fields: map[string]any{"output_preview": "README.md"}}}
		return []fileLine{l}
	case 6:
		return []fileLine{c.wrapPayload(t, f, "turn_context",
			map[string]any{"cwd": "/home/mara/app", "model": "model-2", "approval_policy": "on-request", "effort": "medium",
				"personality": "pragmatic"}, at)}
	}
	return []fileLine{c.wrapPayload(t, f, "compacted", map[string]any{"message": "", "replacement_history": []any{text}},
		at)}
}

// resumedSession is a fork, which begins with its parent's description.
func (c *codexLayout) resumedSession(t *Tree, from *lineFile) *lineFile {
	if from.ending != "" || len(from.lines) == 0 || strings.HasPrefix(from.lines[0].text, "\xef") {
		return nil
	}
	f := c.newSession(t, 2)
	f.lines = append([]fileLine{f.lines[0], {text: from.lines[0].text}}, f.lines[1:]...)
	return f
}

// movedPath archives the thread.
func (c *codexLayout) movedPath(f *lineFile) string { return "archived_sessions/" + path.Base(f.rel) }

func (c *codexLayout) writeOtherFiles(t *Tree) error {
	history := ""
	var typed []Item
	for i := range 40 {
		text := t.randomSentence()
		history += encodeJSON(map[string]any{"session_id": "s", "ts": 1772000000 + i, "text": text}) + "\n"
		typed = append(typed, Item{Stream: "prompt_history", Fields: map[string]any{"text": text, "session_id": "s"}})
	}
	for _, put := range []struct {
		rel, content string
		items        []Item
	}{
		{"history.jsonl", history, typed},
		{"rules/default.rules", "# decisions\nprefix_rule(pattern=[\"git\"], decision=\"allow\")" +
			"\n\nprefix_rule(pattern=[\"rm\"], decision=\"forbidden\")\n", []Item{
			{Stream: "rules", Key: "rules:default.rules:0",
				Fields: map[string]any{"rule_text": `prefix_rule(pattern=["git"], decision="allow")`, "ruleset": "default"}},
			{Stream: "rules", Key: "rules:default.rules:1",
				Fields: map[string]any{"rule_text": `prefix_rule(pattern=["rm"], decision="forbidden")`}},
		}},
		{"prompts/review.md", "---\ndescription: Looks it over\n---\nRead the change.\n",
			[]Item{{Stream: "prompts", Key: "prompts:review.md",
				Fields: map[string]any{"name": "review", "description": "Looks it over", "content": "Read the change.\n"}}}},
		{"skills/sail/SKILL.md", "---\nname: sail\n---\nMind the boom.\n",
			[]Item{{Stream: "skills", Key: "skills:sail", Fields: map[string]any{"name": "sail"}}}},
		{"config.toml", "model = \"x\"\n", nil},
		{"auth.json", `{"token":"never"}`, nil},
		{"shell-snapshots/a.sh", "export A=b\n", nil},
		{"session_index.jsonl", "", nil},
		{"log/codex-tui.log", "hello\n", nil},
	} {
		if err := t.writeOtherFile(put.rel, put.content, put.items...); err != nil {
			return err
		}
	}
	return nil
}
