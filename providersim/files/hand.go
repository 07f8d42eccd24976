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

// Step changes one thing in the tree and returns its name.
func (t *Tree) Step() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	step := Steps[t.rng.IntN(len(Steps))]
	return step, t.applyStep(step)
}

func (t *Tree) applyStep(step string) error {
	switch step {
	case "new":
		return t.addFile(t.layout.newSession(t, 1+t.rng.IntN(20)))
	case "fix":
		for _, f := range t.files {
			if f.broken && !f.gone {
				f.broken = false
				return t.writeLineFile(f)
			}
		}
		return nil
	}
	f := t.pickTranscript()
	if f == nil {
		return nil
	}
	switch step {
	case "append", "finish":
		if step == "finish" && f.half == "" {
			return nil
		}
		return t.appendLines(f)
	case "half":
		if f.packed || f.half != "" || f.ending == "\r\n" {
			return nil
		}
		f.half = `{"type":"user","message":{"role":"us`
		return t.appendToFile(f, f.half)
	case "resume":
		if other := t.layout.resumedSession(t, f); other != nil {
			return t.addFile(other)
		}
	case "cut": // the program rewrites the file with fewer lines
		if f.packed {
			return nil
		}
		f.lines, f.half, f.open = f.lines[:t.rng.IntN(len(f.lines)+1)], "", nil
		return os.WriteFile(t.absolutePath(f.rel), []byte(f.fileContent()), 0o600)
	case "replace":
		f.half = ""
		f.lines = append(f.lines, t.layout.moreLines(t, f)...)
		return t.writeLineFile(f)
	case "touch":
		now := time.Now()
		return os.Chtimes(t.absolutePath(f.currentPath()), now, now)
	case "restore": // a backup brings back the times that the file had
		old := time.Date(2025, 1, 1+t.rng.IntN(200), 0, 0, 0, 0, time.UTC)
		if err := t.writeLineFile(f); err != nil {
			return err
		}
		return os.Chtimes(t.absolutePath(f.currentPath()), old, old)
	case "move":
		return t.moveFile(f)
	case "delete":
		if len(t.files) < 6 {
			return nil
		}
		f.gone = true
		return os.Remove(t.absolutePath(f.currentPath()))
	case "compress", "break":
		if !t.layout.compresses() || f.half != "" {
			return nil
		}
		return t.compressFile(f, step == "break")
	}
	return nil
}

// appendLines adds lines to the file's end, as the program does. A packed file is unpacked first.
func (t *Tree) appendLines(f *lineFile) error {
	if f.packed {
		was := t.absolutePath(f.currentPath())
		f.packed = false
		f.lines = append(f.lines, t.layout.moreLines(t, f)...)
		if err := t.writeLineFile(f); err != nil {
			return err
		}
		return os.Remove(was)
	}
	before := len(f.fileContent())
	if f.half != "" { // the half line was never finished: a crash, and the program went on
		f.lines = append(f.lines, fileLine{text: f.half + "..."})
		f.half = ""
	}
	f.lines = append(f.lines, t.layout.moreLines(t, f)...)
	t.rememberContent(f)
	return t.appendToFile(f, f.fileContent()[before:])
}

// appendToFile appends to the file on disk.
func (t *Tree) appendToFile(f *lineFile, more string) error {
	h, err := os.OpenFile(t.absolutePath(f.rel), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := h.WriteString(more); err != nil {
		_ = h.Close()
		return err
	}
	return h.Close()
}

func (t *Tree) moveFile(f *lineFile) error {
	to := t.layout.movedPath(f)
	if to == "" {
		return nil
	}
	was := t.absolutePath(f.currentPath())
	f.rel = to
	if err := os.MkdirAll(filepath.Dir(t.absolutePath(to)), 0o700); err != nil {
		return err
	}
	return os.Rename(was, t.absolutePath(f.currentPath()))
}

// compressFile compresses a file, whole or not.
func (t *Tree) compressFile(f *lineFile, broken bool) error {
	if f.packed {
		return nil
	}
	f.packed, f.broken = true, broken
	if err := t.writeLineFile(f); err != nil {
		return err
	}
	return ignoreMissing(os.Remove(t.absolutePath(f.rel)))
}
