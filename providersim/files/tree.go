package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Item is one expected record.
type Item struct {
	Stream, Key string
	// Fields are members that its record must have, with these values.
	Fields map[string]any
	// File identifies the file that it is in, as the reader's gaps name it.
	File string
}

// Config is what a tree holds at first.
type Config struct {
	Seed     uint64
	Sessions int
	Lines    int  // of each session, about
	Hostile  bool // with files as crashes, editors and attackers leave them
	LongLine int  // length of one line that is too long; none when zero
}

// World is a folder that changes, with its expected contents.
type World interface {
	// Root is where it is.
	Root() string
	// Step changes one thing and returns its name.
	Step() (string, error)
	// Now returns everything that exists. An item in several files is returned once per file.
	Now() map[string][]Item
	// Ever returns every form that an item has had; empty when it never existed.
	Ever(stream, key string) []Item
}

// Tree is a folder of line files, with their expected contents.
type Tree struct {
	dir string

	mu     sync.Mutex
	rng    *rand.Rand
	layout fileLayout
	files  []*lineFile
	ever   map[string][]Item // by stream and key
	clock  time.Time
	serial int
	zstd   *zstd.Encoder
}

// fileLayout is how one program keeps its files.
type fileLayout interface {
	// newSession begins a file with some lines.
	newSession(t *Tree, lines int) *lineFile
	// moreLines returns the next lines of a file.
	moreLines(t *Tree, f *lineFile) []fileLine
	// resumedSession begins a file that repeats another one.
	resumedSession(t *Tree, from *lineFile) *lineFile
	// movedPath returns another path for the file; empty when there is none.
	movedPath(f *lineFile) string
	// writeOtherFiles writes the files that are no transcripts.
	writeOtherFiles(t *Tree) error
	// compresses reports whether files are compressed now and then.
	compresses() bool
}

type fileLine struct {
	text  string
	items []Item
}

// lineFile is one file of lines.
type lineFile struct {
	rel, id string
	session string
	lines   []fileLine
	half    string // a last line without its end
	ending  string // of its lines
	packed  bool
	gone    bool
	broken  bool // unreadable
	agent   bool
	open    []string // calls without an output
}

func newFileTree(dir string, c Config, l fileLayout) (*Tree, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	t := &Tree{
		dir: dir, rng: rand.New(rand.NewPCG(c.Seed, 7)), layout: l, ever: map[string][]Item{}, zstd: enc,
		clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
	}
	for range c.Sessions {
		if err := t.addFile(l.newSession(t, 1+t.rng.IntN(2*c.Lines))); err != nil {
			return nil, err
		}
	}
	if err := l.writeOtherFiles(t); err != nil {
		return nil, err
	}
	if c.Hostile {
		if err := t.makeHostileFiles(); err != nil {
			return nil, err
		}
	}
	if c.LongLine > 0 {
		f := l.newSession(t, 3)
		f.lines = append(f.lines, fileLine{text: `{"type":"user","text":"` + strings.Repeat("long ", c.LongLine/5) + `"}`})
		f.lines = append(f.lines, l.moreLines(t, f)...)
		if err := t.addFile(f); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// makeHostileFiles makes some files hard to read.
func (t *Tree) makeHostileFiles() error {
	for i := range 6 {
		f := t.layout.newSession(t, 4)
		switch i {
		case 0:
			f.ending = "\r\n"
		case 1:
			f.lines[0].text = "\xef\xbb\xbf" + f.lines[0].text
		case 2:
			f.lines = append(f.lines, fileLine{text: strings.Repeat("\x00", 4096)})
			f.lines = append(f.lines, t.layout.moreLines(t, f)...)
		case 3:
			f.lines = nil
		case 4:
			f.half = `{"type":"user","uu`
		case 5:
			f.lines = append([]fileLine{{text: "not a line at all {"}, {text: "[1,2]"}, {text: "null"}}, f.lines...)
		}
		if err := t.addFile(f); err != nil {
			return err
		}
	}
	dir := path.Dir(t.files[0].rel)
	for rel, make := range map[string]func(string) error{
		dir + "/folder.jsonl": func(p string) error { return os.MkdirAll(p, 0o700) },
		dir + "/loop":         func(p string) error { return os.Symlink(filepath.Dir(p), p) },
		dir + "/out.jsonl":    func(p string) error { return os.Symlink("/etc/hostname", p) },
	} {
		if err := make(t.absolutePath(rel)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) absolutePath(rel string) string { return filepath.Join(t.dir, filepath.FromSlash(rel)) }

func (t *Tree) addFile(f *lineFile) error {
	t.files = append(t.files, f)
	return t.writeLineFile(f)
}

func (f *lineFile) fileContent() string {
	var b strings.Builder
	ending := f.ending
	if ending == "" {
		ending = "\n"
	}
	for _, l := range f.lines {
		b.WriteString(l.text)
		b.WriteString(ending)
	}
	b.WriteString(f.half)
	return b.String()
}

// currentPath is where the file lies in its present form.
func (f *lineFile) currentPath() string {
	if f.packed {
		return f.rel + ".zst"
	}
	return f.rel
}

// writeLineFile replaces the whole file and remembers its contents.
func (t *Tree) writeLineFile(f *lineFile) error {
	t.rememberContent(f)
	to := t.absolutePath(f.currentPath())
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	content := []byte(f.fileContent())
	if f.packed {
		content = t.zstd.EncodeAll(content, nil)
		if f.broken {
			content = content[:max(4, len(content)/2)]
		}
	}
	aside := to + ".new"
	if err := os.WriteFile(aside, content, 0o600); err != nil {
		return err
	}
	return os.Rename(aside, to)
}

func (t *Tree) rememberContent(f *lineFile) {
	for _, l := range f.lines {
		for _, i := range l.items {
			at := i.Stream + "\x00" + i.Key
			t.ever[at] = append(t.ever[at], i)
		}
	}
}

// Put writes a file that is no transcript, with what it holds.
func (t *Tree) writeOtherFile(rel, content string, items ...Item) error {
	for _, i := range items {
		at := i.Stream + "\x00" + i.Key
		t.ever[at] = append(t.ever[at], i)
	}
	t.files = append(t.files, &lineFile{rel: rel, id: "", lines: []fileLine{{items: items}}, ending: "-"})
	to := t.absolutePath(rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(content), 0o600)
}

// isOtherFile reports whether the file is one that put has written.
func (f *lineFile) isOtherFile() bool { return f.ending == "-" }

// Root is where the tree is.
func (t *Tree) Root() string { return t.dir }

// identityKey identifies an item: by its key, or by its members where the connector derives the key.
func (i Item) identityKey() string {
	if i.Key == "" {
		return i.Stream + "\x00\x00" + encodeJSON(i.Fields)
	}
	return i.Stream + "\x00" + i.Key
}

// Now is everything that is in the tree, a line without its end left out.
func (t *Tree) Now() map[string][]Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := map[string][]Item{}
	for _, f := range t.files {
		if f.gone {
			continue
		}
		for _, l := range f.lines {
			for _, i := range l.items {
				i.File = f.id
				now[i.identityKey()] = append(now[i.identityKey()], i)
			}
		}
	}
	return now
}

// Ever returns every form that an item has had; empty when it never existed.
func (t *Tree) Ever(stream, key string) []Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ever[stream+"\x00"+key]
}

// advanceClock moves the tree's own clock on.
func (t *Tree) advanceClock() string {
	t.clock = t.clock.Add(time.Duration(1+t.rng.IntN(90_000)) * time.Millisecond)
	return t.clock.Format("2006-01-02T15:04:05.000Z")
}

// newUUID is a new id.
func (t *Tree) newUUID() string {
	t.serial++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", t.rng.Uint32(), t.serial)
}

var sampleWords = strings.Fields(`harbour lantern copper meadow thimble orchard gravel saffron bicycle kettle marble willow anchor
	pepper velvet compass barley chimney ribbon walnut ferry candle plaster garden umbrella`)

func (t *Tree) randomSentence() string {
	n := 3 + t.rng.IntN(25)
	list := make([]string, n)
	for i := range list {
		list[i] = sampleWords[t.rng.IntN(len(sampleWords))]
	}
	text := strings.Join(list, " ")
	switch t.rng.IntN(12) {
	case 0:
		text += "\n\tüber naïve 🚲 \"quoted\" \\ </tag>"
	case 1:
		text += "\u2028 <b>&amp;</b> \x01"
	case 2:
		text = strings.Repeat(text+" ", 200)
	}
	return text
}

// pickTranscript returns an existing transcript; nil when there is none.
func (t *Tree) pickTranscript() *lineFile {
	var list []*lineFile
	for _, f := range t.files {
		if !f.gone && !f.isOtherFile() && !f.broken {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[t.rng.IntN(len(list))]
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
