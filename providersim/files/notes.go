package files

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Notes is a vault of Markdown files that a person edits.
type Notes struct {
	*Tree
	list []*vaultNote
}

// vaultNote is one note.
type vaultNote struct {
	rel, id, title, text string
	tags                 []string
	gone                 bool
}

// NewNotes makes a vault.
func NewNotes(dir string, c Config) (*Notes, error) {
	t := &Notes{Tree: newEmptyTree(dir, c.Seed)}
	for range max(8, c.Sessions*c.Lines/4) {
		if err := t.addNote(t.composeNote()); err != nil {
			return nil, err
		}
	}
	for rel, content := range map[string]string{
		".obsidian/app.json": "{}", ".obsidian/plugins/x/data.md": "# no note", ".trash/old.md": "# thrown away",
		"attachments/boat.png": "\x89PNG", ".git/HEAD": "ref",
	} {
		if err := t.writeFile(rel, content); err != nil {
			return nil, err
		}
	}
	if !c.Hostile {
		return t, nil
	}
	return t, t.writeHostileFiles()
}

// writeHostileFiles writes what crashes, other programs and attackers leave.
func (t *Notes) writeHostileFiles() error {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1,
			c-1)
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
		{"hostile/deep.md", "---\nid: {a: b}\ntags: {x: [1, {y: z}]}\ntitle: [a]\n---\nplain\n",
			map[string]any{"title": "deep"}},
		{"hostile/empty.md", "", map[string]any{"title": "empty", "text": ""}},
		{"hostile/huge.md", huge, map[string]any{"title": "Huge", "text_cut": true, "text_bytes": float64(len(huge))}},
		{"hostile/zero.md", strings.Repeat("\x00", 5000), map[string]any{"title": "zero"}},
		{"hostile/links.md", "[[../../../../etc/passwd]] [x](file:///etc/passwd)\n", map[string]any{"title": "links"}},
	} {
		if err := t.writeFile(one.rel, one.content); err != nil {
			return err
		}
		w := &vaultNote{rel: one.rel}
		item := Item{Stream: "notes", Key: "notes/" + one.rel, Fields: one.fields}
		t.rememberItems(item)
		t.list = append(t.list, w)
		w.title, _ = one.fields["title"].(string)
		w.text = "\x00" // it is not held to a text
	}
	for rel, make := range map[string]func(string) error{
		"hostile/folder.md": func(p string) error { return os.MkdirAll(p, 0o700) },
		"hostile/loop":      func(p string) error { return os.Symlink(filepath.Dir(p), p) },
		"hostile/out.md":    func(p string) error { return os.Symlink("/etc/passwd", p) },
	} {
		if err := make(t.absolutePath(rel)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Notes) writeFile(rel, content string) error {
	if err := os.MkdirAll(filepath.Dir(t.absolutePath(rel)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(t.absolutePath(rel), []byte(content), 0o600)
}

// composeNote makes up a note that is nowhere yet.
func (t *Notes) composeNote() *vaultNote {
	t.serial++
	folder := []string{"", "daily/", "projects/harbour/", "ideas/"}[t.rng.IntN(4)]
	w := &vaultNote{rel: fmt.Sprintf("%s%s %d.md", folder, sampleWords[t.rng.IntN(len(sampleWords))], t.serial),
		title: fmt.Sprintf("%s %d", sampleWords[t.rng.IntN(len(sampleWords))], t.serial)}
	if t.rng.IntN(3) == 0 {
		w.id = t.newUUID()
	}
	w.tags = []string{sampleWords[t.rng.IntN(len(sampleWords))]}
	t.rewriteNote(w)
	return w
}

func (t *Notes) rewriteNote(w *vaultNote) {
	w.text = fmt.Sprintf("# %s\n\n%s\n\nSee [[%s]] #%s\n", w.title, strings.ReplaceAll(t.randomSentence(), "\x01", ""),
		sampleWords[t.rng.IntN(len(sampleWords))], w.tags[0])
}

func (w *vaultNote) noteContent() string {
	if w.id == "" {
		return w.text
	}
	return fmt.Sprintf("---\nid: %s\ncreated: 2026-02-03\n---\n%s", w.id, w.text)
}

func (t *Notes) addNote(w *vaultNote) error {
	t.list = append(t.list, w)
	return t.writeNote(w)
}

func (t *Notes) writeNote(w *vaultNote) error {
	t.rememberItems(w.expectedItem())
	return t.writeFile(w.rel, w.noteContent())
}

// expectedItem returns what a record of the note must have. Its key depends on whether a reader saw the rename, so
// only its existence is checked.
func (w *vaultNote) expectedItem() Item {
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
			now[w.rel] = []Item{w.expectedItem()}
		}
	}
	return now
}

var noteStepNames = []string{"new", "new", "edit", "edit", "edit", "replace", "rename", "rename", "move", "copy",
	"delete",
	"touch", "restore", "id"}

// Step changes one note.
func (t *Notes) Step() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	step := noteStepNames[t.rng.IntN(len(noteStepNames))]
	return step, t.applyStep(step)
}

func (t *Notes) applyStep(step string) error {
	if step == "new" {
		return t.addNote(t.composeNote())
	}
	w := t.list[t.rng.IntN(len(t.list))]
	if w.gone || w.text == "\x00" {
		return nil
	}
	switch step {
	case "edit":
		t.rewriteNote(w)
		return t.writeNote(w)
	case "replace": // as editors save: a new file takes the place of the old one
		t.rewriteNote(w)
		t.rememberItems(w.expectedItem())
		if err := t.writeFile(w.rel+".tmp", w.noteContent()); err != nil {
			return err
		}
		return os.Rename(t.absolutePath(w.rel+".tmp"), t.absolutePath(w.rel))
	case "rename":
		t.serial++
		return t.moveNote(w, path.Join(path.Dir(w.rel), fmt.Sprintf("renamed %d.md", t.serial)))
	case "move":
		return t.moveNote(w, path.Join("archive", path.Base(w.rel)))
	case "copy":
		t.serial++
		other := *w
		other.rel = fmt.Sprintf("copies/copy %d.md", t.serial)
		return t.addNote(&other)
	case "delete":
		if len(t.list) > 8 {
			w.gone = true
			return os.Remove(t.absolutePath(w.rel))
		}
	case "touch":
		now := time.Now()
		return os.Chtimes(t.absolutePath(w.rel), now, now)
	case "restore":
		old := time.Date(2025, 1, 1+t.rng.IntN(200), 0, 0, 0, 0, time.UTC)
		return os.Chtimes(t.absolutePath(w.rel), old, old)
	case "id":
		if w.id == "" {
			w.id = t.newUUID()
			return t.writeNote(w)
		}
	}
	return nil
}

func (t *Notes) moveNote(w *vaultNote, to string) error {
	from := t.absolutePath(w.rel)
	w.rel = to
	t.rememberItems(w.expectedItem())
	if err := os.MkdirAll(filepath.Dir(t.absolutePath(to)), 0o700); err != nil {
		return err
	}
	return os.Rename(from, t.absolutePath(to))
}
