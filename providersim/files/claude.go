package files

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// Claude makes a folder as Claude Code keeps it.
func Claude(dir string, c Config) (World, error) { return newFileTree(dir, c, &claudeLayout{}) }

type claudeLayout struct{ projects int }

func encodeJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only texts and numbers are encoded
	}
	return string(b)
}

func (*claudeLayout) compresses() bool { return false }

func (c *claudeLayout) newSession(t *Tree, lines int) *lineFile {
	c.projects++
	project := fmt.Sprintf("-home-mara-%s-%d", sampleWords[t.rng.IntN(len(sampleWords))], c.projects%5)
	id := t.newUUID()
	f := &lineFile{rel: "projects/" + project + "/" + id + ".jsonl", id: id + ".jsonl", session: id}
	if t.rng.IntN(4) == 0 {
		agent := fmt.Sprintf("agent-%06x.jsonl", t.rng.IntN(1<<24))
		f.rel = "projects/" + project + "/" + id + "/subagents/" + agent
		f.id = id + "/subagents/" + agent
		f.agent = true
	}
	for len(f.lines) < lines {
		f.lines = append(f.lines, c.moreLines(t, f)...)
	}
	return f
}

// moreLines returns one to four lines: messages, output of a hook, bookkeeping.
func (c *claudeLayout) moreLines(t *Tree, f *lineFile) (out []fileLine) {
	for range 1 + t.rng.IntN(4) {
		out = append(out, c.messageLine(t, f))
	}
	return out
}

func (c *claudeLayout) messageLine(t *Tree, f *lineFile) fileLine {
	uuid, at, text := t.newUUID(), t.advanceClock(), t.randomSentence()
	l := map[string]any{
		"uuid": uuid, "parentUuid": nil, "sessionId": f.session, "timestamp": at, "cwd": "/home/mara/app",
		"gitBranch": "main", "version": "2.1.40",
		"userType": "external", "isSidechain": f.agent,
	}
	report := func(role, want string) fileLine {
		l["type"] = role
		return fileLine{encodeJSON(l), []Item{{Stream: "messages", Key: uuid, Fields: map[string]any{
			"session_id": f.session, "timestamp": at, "role": role, "content": want,
		}}}}
	}
	switch t.rng.IntN(10) {
	case 0, 1, 2:
		l["message"] = map[string]any{"role": "user", "content": text}
		return report("user", text)
	case 3, 4, 5:
		l["message"] = map[string]any{"id": "msg_" + uuid, "role": "assistant", "model": "model-1",
			"content": []any{map[string]any{"type": "text", "text": text}}}
		return report("assistant", text)
	case 6:
		l["message"] = map[string]any{"role": "user",
			"content": []any{map[string]any{"tool_use_id": "toolu_1", "type": "tool_result", "content": "done"}}}
		return report("user", "[tool_result] done")
	case 7:
		l["type"] = "attachment"
		l["attachment"] = map[string]any{"type": "hook_success", "hookName": "tidy", "toolUseID": "toolu_2",
			"content": "swept"}
		return fileLine{encodeJSON(l), []Item{{Stream: "attachments", Key: uuid, Fields: map[string]any{
			"session_id": f.session, "timestamp": at, "hook_name": "tidy", "content_preview": "swept",
		}}}}
	case 8:
		return fileLine{text: encodeJSON(map[string]any{"type": "file-history-snapshot", "messageId": uuid,
			"snapshot": map[string]any{}})}
	}
	return fileLine{text: encodeJSON(map[string]any{"type": "progress", "uuid": uuid, "sessionId": f.session,
		"timestamp": at,
		"data":      text})}
}

// resumedSession copies earlier lines under a new session, with the ids that they had.
func (c *claudeLayout) resumedSession(t *Tree, from *lineFile) *lineFile {
	if from.agent || from.ending != "" || len(from.lines) == 0 {
		return nil
	}
	id := t.newUUID()
	f := &lineFile{rel: path.Dir(from.rel) + "/" + id + ".jsonl", id: id + ".jsonl", session: id}
	for _, l := range from.lines[:1+t.rng.IntN(len(from.lines))] {
		if len(l.items) == 0 || strings.HasPrefix(l.text, "\xef") {
			continue
		}
		copied := fileLine{text: strings.ReplaceAll(l.text, from.session, id)}
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
	f.lines = append(f.lines, c.moreLines(t, f)...)
	return f
}

// movedPath is the same project under another name.
func (c *claudeLayout) movedPath(f *lineFile) string {
	parts := strings.SplitN(f.rel, "/", 3)
	return parts[0] + "/" + parts[1] + "x/" + parts[2]
}

func (c *claudeLayout) writeOtherFiles(t *Tree) error {
	session := t.newUUID()
	history := ""
	var typed []Item
	for i := range 40 {
		text := t.randomSentence()
		history += encodeJSON(map[string]any{"display": text, "pastedContents": map[string]any{}, "timestamp": 1772000000000 +
			i,
			"project": "/home/mara/app", "sessionId": session}) + "\n"
		typed = append(typed, Item{Stream: "prompt_history", Fields: map[string]any{"text": text, "session_id": session}})
	}
	for _, put := range []struct {
		rel, content string
		items        []Item
	}{
		{"projects/-home-mara-app/memory/note.md", "---\nname: tides\n---\nHigh water at noon.\n",
			[]Item{{Stream: "memory_notes", Key: "-home-mara-app/memory/note.md",
				Fields: map[string]any{"name": "tides", "content": "High water at noon.\n"}}}},
		{"projects/-home-mara-app/" + session + "/tool-results/out.txt", "one\ntwo\n",
			[]Item{{Stream: "attachments", Key: "tool_result_file:-home-mara-app/" + session + "/out.txt",
				Fields: map[string]any{"content_preview": "one\ntwo\n", "session_id": session}}}},
		{"skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Puts things away\n---\nDo it.\n",
			[]Item{{Stream: "skills", Key: "skills/tidy/SKILL.md",
				Fields: map[string]any{"name": "tidy", "description": "Puts things away"}}}},
		{"commands/git/ship.md", "Ship it.\n",
			[]Item{{Stream: "slash_commands", Key: "commands/git/ship.md",
				Fields: map[string]any{"name": "git:ship", "content": "Ship it.\n"}}}},
		{"tasks/" + session + "/1.json",
			encodeJSON(map[string]any{"id": "1", "subject": "paint", "status": "pending", "blocks": []string{"2"}}),
			[]Item{{Stream: "tasks", Key: session + "/1", Fields: map[string]any{"subject": "paint", "status": "pending"}}}},
		{"todos/" + session + "-agent-" + session + ".json",
			encodeJSON([]any{map[string]any{"content": "sand", "status": "completed"}}),
			[]Item{{Stream: "tasks", Key: session + "-agent-" + session + "/0",
				Fields: map[string]any{"subject": "sand", "session_id": session}}}},
		{"history.jsonl", history, typed},
		{"settings.json", "{}", nil},
		{".credentials.json", `{"token":"never"}`, nil},
		{"file-history/" + session + "/a@v1", "old", nil},
	} {
		if err := t.writeOtherFile(put.rel, put.content, put.items...); err != nil {
			return err
		}
	}
	return nil
}
