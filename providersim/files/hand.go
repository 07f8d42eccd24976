package files

import (
	"os"
	"path/filepath"
	"time"
)

// Steps are what the hand can do.
var Steps = []string{
	"append", "append", "append", "half", "finish", "new", "resume", "cut", "replace", "touch", "restore", "move",
	"delete", "compress", "break", "fix",
}

// Step changes one thing in the tree and says what.
func (t *Tree) Step() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	step := Steps[t.rng.IntN(len(Steps))]
	return step, t.step(step)
}

func (t *Tree) step(step string) error {
	switch step {
	case "new":
		return t.add(t.layout.session(t, 1+t.rng.IntN(20)))
	case "fix":
		for _, f := range t.files {
			if f.broken && !f.gone {
				f.broken = false
				return t.write(f)
			}
		}
		return nil
	}
	f := t.alive()
	if f == nil {
		return nil
	}
	switch step {
	case "append", "finish":
		if step == "finish" && f.half == "" {
			return nil
		}
		return t.append(f)
	case "half":
		if f.packed || f.half != "" || f.ending == "\r\n" {
			return nil
		}
		f.half = `{"type":"user","message":{"role":"us`
		return t.write2(f, f.half)
	case "resume":
		if other := t.layout.resumed(t, f); other != nil {
			return t.add(other)
		}
	case "cut": // the program writes the file anew, with fewer lines
		if f.packed {
			return nil
		}
		f.lines, f.half, f.open = f.lines[:t.rng.IntN(len(f.lines)+1)], "", nil
		return os.WriteFile(t.path(f.rel), []byte(f.content()), 0o600)
	case "replace":
		f.half = ""
		f.lines = append(f.lines, t.layout.more(t, f)...)
		return t.write(f)
	case "touch":
		now := time.Now()
		return os.Chtimes(t.path(f.place()), now, now)
	case "restore": // a backup brings back the times that the file had
		old := time.Date(2025, 1, 1+t.rng.IntN(200), 0, 0, 0, 0, time.UTC)
		if err := t.write(f); err != nil {
			return err
		}
		return os.Chtimes(t.path(f.place()), old, old)
	case "move":
		return t.move(f)
	case "delete":
		if len(t.files) < 6 {
			return nil
		}
		f.gone = true
		return os.Remove(t.path(f.place()))
	case "compress", "break":
		if !t.layout.compresses() || f.half != "" {
			return nil
		}
		return t.pack(f, step == "break")
	}
	return nil
}

// append adds lines to the file's end, as the program does. A packed file is unpacked first.
func (t *Tree) append(f *file) error {
	if f.packed {
		was := t.path(f.place())
		f.packed = false
		f.lines = append(f.lines, t.layout.more(t, f)...)
		if err := t.write(f); err != nil {
			return err
		}
		return os.Remove(was)
	}
	before := len(f.content())
	if f.half != "" { // the half line was never finished: a crash, and the program went on
		f.lines = append(f.lines, line{text: f.half + "..."})
		f.half = ""
	}
	f.lines = append(f.lines, t.layout.more(t, f)...)
	t.remember(f)
	return t.write2(f, f.content()[before:])
}

// write2 appends to the file on disk.
func (t *Tree) write2(f *file, more string) error {
	h, err := os.OpenFile(t.path(f.rel), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := h.WriteString(more); err != nil {
		_ = h.Close()
		return err
	}
	return h.Close()
}

func (t *Tree) move(f *file) error {
	to := t.layout.moved(f)
	if to == "" {
		return nil
	}
	was := t.path(f.place())
	f.rel = to
	if err := os.MkdirAll(filepath.Dir(t.path(to)), 0o700); err != nil {
		return err
	}
	return os.Rename(was, t.path(f.place()))
}

// pack compresses a file, whole or not.
func (t *Tree) pack(f *file, broken bool) error {
	if f.packed {
		return nil
	}
	f.packed, f.broken = true, broken
	if err := t.write(f); err != nil {
		return err
	}
	return ignoreMissing(os.Remove(t.path(f.rel)))
}
