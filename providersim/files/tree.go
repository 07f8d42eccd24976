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

// Item is one thing that a reader should have.
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

// World is a folder that a hand changes, and what is in it.
type World interface {
	// Root is where it is.
	Root() string
	// Step changes one thing and says what.
	Step() (string, error)
	// Now is everything that is there. A thing that is in several files is there as each of
	// them has it.
	Now() map[string][]Item
	// Ever is every form that a thing has had; none when it never existed.
	Ever(stream, key string) []Item
}

// Tree is a folder of files of lines and what is in it.
type Tree struct {
	dir string

	mu     sync.Mutex
	rng    *rand.Rand
	layout layout
	files  []*file
	ever   map[string][]Item // by stream and key
	clock  time.Time
	serial int
	zstd   *zstd.Encoder
}

// layout is how one program keeps its files.
type layout interface {
	// session begins a file with some lines.
	session(t *Tree, lines int) *file
	// more gives the next lines of a file.
	more(t *Tree, f *file) []line
	// resumed begins a file that repeats another one.
	resumed(t *Tree, from *file) *file
	// moved is another place for the file; empty when there is none.
	moved(f *file) string
	// around writes what is no transcript.
	around(t *Tree) error
	// compresses reports whether files are compressed now and then.
	compresses() bool
}

type line struct {
	text  string
	items []Item
}

// file is one file of lines.
type file struct {
	rel, id string
	session string
	lines   []line
	half    string // a last line without its end
	ending  string // of its lines
	packed  bool
	gone    bool
	broken  bool // nobody can read it
	agent   bool
	open    []string // calls without an output
}

func newTree(dir string, c Config, l layout) (*Tree, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	t := &Tree{
		dir: dir, rng: rand.New(rand.NewPCG(c.Seed, 7)), layout: l, ever: map[string][]Item{}, zstd: enc,
		clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
	}
	for range c.Sessions {
		if err := t.add(l.session(t, 1+t.rng.IntN(2*c.Lines))); err != nil {
			return nil, err
		}
	}
	if err := l.around(t); err != nil {
		return nil, err
	}
	if c.Hostile {
		if err := t.hostile(); err != nil {
			return nil, err
		}
	}
	if c.LongLine > 0 {
		f := l.session(t, 3)
		f.lines = append(f.lines, line{text: `{"type":"user","text":"` + strings.Repeat("long ", c.LongLine/5) + `"}`})
		f.lines = append(f.lines, l.more(t, f)...)
		if err := t.add(f); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// hostile makes some files hard to read.
func (t *Tree) hostile() error {
	for i := range 6 {
		f := t.layout.session(t, 4)
		switch i {
		case 0:
			f.ending = "\r\n"
		case 1:
			f.lines[0].text = "\xef\xbb\xbf" + f.lines[0].text
		case 2:
			f.lines = append(f.lines, line{text: strings.Repeat("\x00", 4096)})
			f.lines = append(f.lines, t.layout.more(t, f)...)
		case 3:
			f.lines = nil
		case 4:
			f.half = `{"type":"user","uu`
		case 5:
			f.lines = append([]line{{text: "not a line at all {"}, {text: "[1,2]"}, {text: "null"}}, f.lines...)
		}
		if err := t.add(f); err != nil {
			return err
		}
	}
	dir := path.Dir(t.files[0].rel)
	for rel, make := range map[string]func(string) error{
		dir + "/folder.jsonl": func(p string) error { return os.MkdirAll(p, 0o700) },
		dir + "/loop":         func(p string) error { return os.Symlink(filepath.Dir(p), p) },
		dir + "/out.jsonl":    func(p string) error { return os.Symlink("/etc/hostname", p) },
	} {
		if err := make(t.path(rel)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) path(rel string) string { return filepath.Join(t.dir, filepath.FromSlash(rel)) }

func (t *Tree) add(f *file) error {
	t.files = append(t.files, f)
	return t.write(f)
}

func (f *file) content() string {
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

// place is where the file lies in its present form.
func (f *file) place() string {
	if f.packed {
		return f.rel + ".zst"
	}
	return f.rel
}

// write writes the whole file, by replacing it, and remembers what was in it.
func (t *Tree) write(f *file) error {
	t.remember(f)
	to := t.path(f.place())
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	content := []byte(f.content())
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

func (t *Tree) remember(f *file) {
	for _, l := range f.lines {
		for _, i := range l.items {
			at := i.Stream + "\x00" + i.Key
			t.ever[at] = append(t.ever[at], i)
		}
	}
}

// Put writes a file that is no transcript, with what it holds.
func (t *Tree) put(rel, content string, items ...Item) error {
	for _, i := range items {
		at := i.Stream + "\x00" + i.Key
		t.ever[at] = append(t.ever[at], i)
	}
	t.files = append(t.files, &file{rel: rel, id: "", lines: []line{{items: items}}, ending: "-"})
	to := t.path(rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(content), 0o600)
}

// authored reports whether the file is one that put has written.
func (f *file) authored() bool { return f.ending == "-" }

// Root is where the tree is.
func (t *Tree) Root() string { return t.dir }

// identity tells things apart: by their key, or by what they have where only their reader makes
// a key.
func (i Item) identity() string {
	if i.Key == "" {
		return i.Stream + "\x00\x00" + encode(i.Fields)
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
				now[i.identity()] = append(now[i.identity()], i)
			}
		}
	}
	return now
}

// Ever is every form that a thing has had; none when it never existed.
func (t *Tree) Ever(stream, key string) []Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ever[stream+"\x00"+key]
}

// tick moves the tree's own clock on.
func (t *Tree) tick() string {
	t.clock = t.clock.Add(time.Duration(1+t.rng.IntN(90_000)) * time.Millisecond)
	return t.clock.Format("2006-01-02T15:04:05.000Z")
}

// uuid is a new id.
func (t *Tree) uuid() string {
	t.serial++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", t.rng.Uint32(), t.serial)
}

var words = strings.Fields(`harbour lantern copper meadow thimble orchard gravel saffron bicycle kettle marble willow anchor
	pepper velvet compass barley chimney ribbon walnut ferry candle plaster garden umbrella`)

func (t *Tree) sentence() string {
	n := 3 + t.rng.IntN(25)
	list := make([]string, n)
	for i := range list {
		list[i] = words[t.rng.IntN(len(words))]
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

// alive picks a transcript that is there; nil when there is none.
func (t *Tree) alive() *file {
	var list []*file
	for _, f := range t.files {
		if !f.gone && !f.authored() && !f.broken {
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
