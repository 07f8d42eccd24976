package files

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// Claude makes a folder as Claude Code keeps it.
func Claude(dir string, c Config) (World, error) { return newTree(dir, c, &claude{}) }

type claude struct{ projects int }

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only texts and numbers are encoded
	}
	return string(b)
}

func (*claude) compresses() bool { return false }

func (c *claude) session(t *Tree, lines int) *file {
	c.projects++
	project := fmt.Sprintf("-home-mara-%s-%d", words[t.rng.IntN(len(words))], c.projects%5)
	id := t.uuid()
	f := &file{rel: "projects/" + project + "/" + id + ".jsonl", id: id + ".jsonl", session: id}
	if t.rng.IntN(4) == 0 {
		agent := fmt.Sprintf("agent-%06x.jsonl", t.rng.IntN(1<<24))
		f.rel = "projects/" + project + "/" + id + "/subagents/" + agent
		f.id = id + "/subagents/" + agent
		f.agent = true
	}
	for len(f.lines) < lines {
		f.lines = append(f.lines, c.more(t, f)...)
	}
	return f
}

// more is one to four lines: what somebody said, what a hook wrote, bookkeeping.
func (c *claude) more(t *Tree, f *file) (out []line) {
	for range 1 + t.rng.IntN(4) {
		out = append(out, c.line(t, f))
	}
	return out
}

func (c *claude) line(t *Tree, f *file) line {
	uuid, at, text := t.uuid(), t.tick(), t.sentence()
	l := map[string]any{
		"uuid": uuid, "parentUuid": nil, "sessionId": f.session, "timestamp": at, "cwd": "/home/mara/app", "gitBranch": "main", "version": "2.1.40",
		"userType": "external", "isSidechain": f.agent,
	}
	said := func(role, want string) line {
		l["type"] = role
		return line{encode(l), []Item{{Stream: "messages", Key: uuid, Fields: map[string]any{
			"session_id": f.session, "timestamp": at, "role": role, "content": want,
		}}}}
	}
	switch t.rng.IntN(10) {
	case 0, 1, 2:
		l["message"] = map[string]any{"role": "user", "content": text}
		return said("user", text)
	case 3, 4, 5:
		l["message"] = map[string]any{"id": "msg_" + uuid, "role": "assistant", "model": "model-1", "content": []any{map[string]any{"type": "text", "text": text}}}
		return said("assistant", text)
	case 6:
		l["message"] = map[string]any{"role": "user", "content": []any{map[string]any{"tool_use_id": "toolu_1", "type": "tool_result", "content": "done"}}}
		return said("user", "[tool_result] done")
	case 7:
		l["type"] = "attachment"
		l["attachment"] = map[string]any{"type": "hook_success", "hookName": "tidy", "toolUseID": "toolu_2", "content": "swept"}
		return line{encode(l), []Item{{Stream: "attachments", Key: uuid, Fields: map[string]any{
			"session_id": f.session, "timestamp": at, "hook_name": "tidy", "content_preview": "swept",
		}}}}
	case 8:
		return line{text: encode(map[string]any{"type": "file-history-snapshot", "messageId": uuid, "snapshot": map[string]any{}})}
	}
	return line{text: encode(map[string]any{"type": "progress", "uuid": uuid, "sessionId": f.session, "timestamp": at, "data": text})}
}

// resumed copies earlier lines under a new session, with the ids that they had.
func (c *claude) resumed(t *Tree, from *file) *file {
	if from.agent || from.ending != "" || len(from.lines) == 0 {
		return nil
	}
	id := t.uuid()
	f := &file{rel: path.Dir(from.rel) + "/" + id + ".jsonl", id: id + ".jsonl", session: id}
	for _, l := range from.lines[:1+t.rng.IntN(len(from.lines))] {
		if len(l.items) == 0 || strings.HasPrefix(l.text, "\xef") {
			continue
		}
		copied := line{text: strings.ReplaceAll(l.text, from.session, id)}
		for _, i := range l.items {
			fields := map[string]any{}
			for name, v := range i.Fields {
				fields[name] = v
			}
			fields["session_id"] = id
			copied.items = append(copied.items, Item{Stream: i.Stream, Key: i.Key, Fields: fields})
		}
		f.lines = append(f.lines, copied)
	}
	f.lines = append(f.lines, c.more(t, f)...)
	return f
}

// moved is the same project under another name.
func (c *claude) moved(f *file) string {
	parts := strings.SplitN(f.rel, "/", 3)
	return parts[0] + "/" + parts[1] + "x/" + parts[2]
}

func (c *claude) around(t *Tree) error {
	session := t.uuid()
	history := ""
	var typed []Item
	for i := range 40 {
		text := t.sentence()
		history += encode(map[string]any{"display": text, "pastedContents": map[string]any{}, "timestamp": 1772000000000 + i, "project": "/home/mara/app", "sessionId": session}) + "\n"
		typed = append(typed, Item{Stream: "prompt_history", Fields: map[string]any{"text": text, "session_id": session}})
	}
	for _, put := range []struct {
		rel, content string
		items        []Item
	}{
		{"projects/-home-mara-app/memory/note.md", "---\nname: tides\n---\nHigh water at noon.\n", []Item{{Stream: "memory_notes", Key: "-home-mara-app/memory/note.md", Fields: map[string]any{"name": "tides", "content": "High water at noon.\n"}}}},
		{"projects/-home-mara-app/" + session + "/tool-results/out.txt", "one\ntwo\n", []Item{{Stream: "attachments", Key: "tool_result_file:-home-mara-app/" + session + "/out.txt", Fields: map[string]any{"content_preview": "one\ntwo\n", "session_id": session}}}},
		{"skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Puts things away\n---\nDo it.\n", []Item{{Stream: "skills", Key: "skills/tidy/SKILL.md", Fields: map[string]any{"name": "tidy", "description": "Puts things away"}}}},
		{"commands/git/ship.md", "Ship it.\n", []Item{{Stream: "slash_commands", Key: "commands/git/ship.md", Fields: map[string]any{"name": "git:ship", "content": "Ship it.\n"}}}},
		{"tasks/" + session + "/1.json", encode(map[string]any{"id": "1", "subject": "paint", "status": "pending", "blocks": []string{"2"}}), []Item{{Stream: "tasks", Key: session + "/1", Fields: map[string]any{"subject": "paint", "status": "pending"}}}},
		{"todos/" + session + "-agent-" + session + ".json", encode([]any{map[string]any{"content": "sand", "status": "completed"}}), []Item{{Stream: "tasks", Key: session + "-agent-" + session + "/0", Fields: map[string]any{"subject": "sand", "session_id": session}}}},
		{"history.jsonl", history, typed},
		{"settings.json", "{}", nil},
		{".credentials.json", `{"token":"never"}`, nil},
		{"file-history/" + session + "/a@v1", "old", nil},
	} {
		if err := t.put(put.rel, put.content, put.items...); err != nil {
			return err
		}
	}
	return nil
}
