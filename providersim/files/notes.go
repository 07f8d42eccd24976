package files

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Notes is a vault of Markdown files that somebody works in.
type Notes struct {
	*Tree
	list []*written
}

// written is one note.
type written struct {
	rel, id, title, text string
	tags                 []string
	gone                 bool
}

// NewNotes makes a vault.
func NewNotes(dir string, c Config) (*Notes, error) {
	t := &Notes{Tree: bare(dir, c.Seed)}
	for range max(8, c.Sessions*c.Lines/4) {
		if err := t.add(t.compose()); err != nil {
			return nil, err
		}
	}
	for rel, content := range map[string]string{
		".obsidian/app.json": "{}", ".obsidian/plugins/x/data.md": "# no note", ".trash/old.md": "# thrown away", "attachments/boat.png": "\x89PNG", ".git/HEAD": "ref",
	} {
		if err := t.put(rel, content); err != nil {
			return nil, err
		}
	}
	if !c.Hostile {
		return t, nil
	}
	return t, t.hostile()
}

// hostile writes what crashes, other programs and attackers leave.
func (t *Notes) hostile() error {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	huge := "# Huge\n" + strings.Repeat(strings.Repeat("long ", 200)+"\n", 6000)
	for _, one := range []struct {
		rel, content string
		fields       map[string]any
	}{
		{"hostile/broken.md", "# Broken \xff\xfe text\n", map[string]any{"title": "Broken \uFFFD text"}},
		{"hostile/bomb.md", "---\n" + bomb + "---\nquiet\n", map[string]any{"title": "bomb"}},
		{"hostile/open.md", "---\ntitle: never closed\n", map[string]any{"title": "open"}},
		{"hostile/list.md", "---\n- a\n---\n# A list\n", map[string]any{"title": "A list"}},
		{"hostile/deep.md", "---\nid: {a: b}\ntags: {x: [1, {y: z}]}\ntitle: [a]\n---\nplain\n", map[string]any{"title": "deep"}},
		{"hostile/empty.md", "", map[string]any{"title": "empty", "text": ""}},
		{"hostile/huge.md", huge, map[string]any{"title": "Huge", "text_cut": true, "text_bytes": float64(len(huge))}},
		{"hostile/zero.md", strings.Repeat("\x00", 5000), map[string]any{"title": "zero"}},
		{"hostile/links.md", "[[../../../../etc/passwd]] [x](file:///etc/passwd)\n", map[string]any{"title": "links"}},
	} {
		if err := t.put(one.rel, one.content); err != nil {
			return err
		}
		w := &written{rel: one.rel}
		item := Item{Stream: "notes", Key: "notes/" + one.rel, Fields: one.fields}
		t.note(item)
		t.list = append(t.list, w)
		w.title, _ = one.fields["title"].(string)
		w.text = "\x00" // it is not held to a text
	}
	for rel, make := range map[string]func(string) error{
		"hostile/folder.md": func(p string) error { return os.MkdirAll(p, 0o700) },
		"hostile/loop":      func(p string) error { return os.Symlink(filepath.Dir(p), p) },
		"hostile/out.md":    func(p string) error { return os.Symlink("/etc/passwd", p) },
	} {
		if err := make(t.path(rel)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Notes) put(rel, content string) error {
	if err := os.MkdirAll(filepath.Dir(t.path(rel)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(t.path(rel), []byte(content), 0o600)
}

// compose makes up a note that is nowhere yet.
func (t *Notes) compose() *written {
	t.serial++
	folder := []string{"", "daily/", "projects/harbour/", "ideas/"}[t.rng.IntN(4)]
	w := &written{rel: fmt.Sprintf("%s%s %d.md", folder, words[t.rng.IntN(len(words))], t.serial), title: fmt.Sprintf("%s %d", words[t.rng.IntN(len(words))], t.serial)}
	if t.rng.IntN(3) == 0 {
		w.id = t.uuid()
	}
	w.tags = []string{words[t.rng.IntN(len(words))]}
	t.rewrite(w)
	return w
}

func (t *Notes) rewrite(w *written) {
	w.text = fmt.Sprintf("# %s\n\n%s\n\nSee [[%s]] #%s\n", w.title, strings.ReplaceAll(t.sentence(), "\x01", ""), words[t.rng.IntN(len(words))], w.tags[0])
}

func (w *written) content() string {
	if w.id == "" {
		return w.text
	}
	return fmt.Sprintf("---\nid: %s\ncreated: 2026-02-03\n---\n%s", w.id, w.text)
}

func (t *Notes) add(w *written) error {
	t.list = append(t.list, w)
	return t.write(w)
}

func (t *Notes) write(w *written) error {
	t.note(w.item())
	return t.put(w.rel, w.content())
}

// item is what a record of the note must have. Which key it has depends on whether a reader saw it
// being renamed; that there is one is all that is held here.
func (w *written) item() Item {
	fields := map[string]any{"title": w.title}
	if w.text != "\x00" {
		fields["text"] = w.text
		fields["tags"] = []any{w.tags[0]}
		fields["path"] = w.rel
	}
	return Item{Stream: "notes", Fields: fields, File: w.rel}
}

// Now is every note.
func (t *Notes) Now() map[string][]Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := map[string][]Item{}
	for _, w := range t.list {
		if !w.gone {
			now[w.rel] = []Item{w.item()}
		}
	}
	return now
}

var noteSteps = []string{"new", "new", "edit", "edit", "edit", "replace", "rename", "rename", "move", "copy", "delete", "touch", "restore", "id"}

// Step changes one note.
func (t *Notes) Step() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	step := noteSteps[t.rng.IntN(len(noteSteps))]
	return step, t.step(step)
}

func (t *Notes) step(step string) error {
	if step == "new" {
		return t.add(t.compose())
	}
	w := t.list[t.rng.IntN(len(t.list))]
	if w.gone || w.text == "\x00" {
		return nil
	}
	switch step {
	case "edit":
		t.rewrite(w)
		return t.write(w)
	case "replace": // as editors save: a new file takes the place of the old one
		t.rewrite(w)
		t.note(w.item())
		if err := t.put(w.rel+".tmp", w.content()); err != nil {
			return err
		}
		return os.Rename(t.path(w.rel+".tmp"), t.path(w.rel))
	case "rename":
		t.serial++
		return t.move(w, path.Join(path.Dir(w.rel), fmt.Sprintf("renamed %d.md", t.serial)))
	case "move":
		return t.move(w, path.Join("archive", path.Base(w.rel)))
	case "copy":
		t.serial++
		other := *w
		other.rel = fmt.Sprintf("copies/copy %d.md", t.serial)
		return t.add(&other)
	case "delete":
		if len(t.list) > 8 {
			w.gone = true
			return os.Remove(t.path(w.rel))
		}
	case "touch":
		now := time.Now()
		return os.Chtimes(t.path(w.rel), now, now)
	case "restore":
		old := time.Date(2025, 1, 1+t.rng.IntN(200), 0, 0, 0, 0, time.UTC)
		return os.Chtimes(t.path(w.rel), old, old)
	case "id":
		if w.id == "" {
			w.id = t.uuid()
			return t.write(w)
		}
	}
	return nil
}

func (t *Notes) move(w *written, to string) error {
	from := t.path(w.rel)
	w.rel = to
	t.note(w.item())
	if err := os.MkdirAll(filepath.Dir(t.path(to)), 0o700); err != nil {
		return err
	}
	return os.Rename(from, t.path(to))
}
