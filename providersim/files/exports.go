package files

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// account is what a service knows of one invented person, and how it exports it.
type account interface {
	// grow lets something happen.
	grow(t *Tree)
	// export is everything as the service would pack it now.
	export(t *Tree) []Member
	// hostile is an export with entries that nobody can read.
	hostile(t *Tree) []Member
	// name is what the service calls the archive.
	name(t *Tree) string
}

// Member is a file of an export, with what is in it.
type Member struct {
	Name    string
	Content []byte
	Items   []Item
}

// drop is an export that the person put into the folder.
type drop struct {
	rel      string // of the archive, or of the folder that it was unpacked into
	members  []Member
	unpacked bool
	broken   bool // the download broke off
	gone     bool
}

// Imports is a folder with exports, and what is in them.
type Imports struct {
	*Tree
	account account
	drops   []*drop
}

// newImports makes an import folder with two exports of an account, the second later.
func newImports(dir string, c Config, a account) (*Imports, error) {
	t := &Imports{Tree: bare(dir, c.Seed), account: a}
	for range 2 {
		for range 1 + c.Sessions*c.Lines/20 {
			a.grow(t.Tree)
		}
		if err := t.drop(a.export(t.Tree)); err != nil {
			return nil, err
		}
	}
	if !c.Hostile {
		return t, nil
	}
	if err := t.drop(a.hostile(t.Tree)); err != nil {
		return nil, err
	}
	broken := &drop{rel: "broken.zip", members: a.export(t.Tree), broken: true}
	t.drops = append(t.drops, broken)
	if err := t.write(broken); err != nil {
		return nil, err
	}
	if err := os.Symlink("/etc/hostname", t.path("out.zip")); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(t.path("folder.zip"), 0o700); err != nil {
		return nil, err
	}
	other := &drop{rel: "other kind.zip", members: []Member{{Name: "holiday/beach.jpg", Content: []byte("not of any service")}}}
	if err := t.write(other); err != nil {
		return nil, err
	}
	return t, os.WriteFile(t.path("download.zip.crdownload"), []byte("PK\x03\x04"), 0o600)
}

// drop puts a new export into the folder.
func (t *Imports) drop(members []Member) error {
	t.serial++
	d := &drop{rel: fmt.Sprintf("%s-%d.zip", t.account.name(t.Tree), t.serial), members: members}
	t.drops = append(t.drops, d)
	return t.write(d)
}

// write writes an export as it lies in the folder.
func (t *Imports) write(d *drop) error {
	for _, m := range d.members {
		t.note(m.Items...)
	}
	if d.unpacked {
		for _, m := range d.members {
			if err := t.replace(path.Join(d.rel, m.Name), m.Content); err != nil {
				return err
			}
		}
		return nil
	}
	content, err := Pack(d.members)
	if err != nil {
		return err
	}
	if d.broken {
		content = content[:len(content)*2/3]
	}
	return t.replace(d.rel, content)
}

// replace writes a file by replacing it, as one that was written some time ago.
func (t *Imports) replace(rel string, content []byte) error {
	to := t.path(rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	aside := to + ".tmp"
	if err := os.WriteFile(aside, content, 0o600); err != nil {
		return err
	}
	t.tick()
	if err := os.Chtimes(aside, t.clock, t.clock); err != nil {
		return err
	}
	return os.Rename(aside, to)
}

// Pack makes a zip.
func Pack(members []Member) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.Name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(m.Content); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// items are what the export holds, with the file that each is in.
func (d *drop) items(each func(Item)) {
	for _, m := range d.members {
		for _, i := range m.Items {
			rel := d.rel
			if d.unpacked {
				rel = path.Join(d.rel, m.Name)
			}
			sum := sha256.Sum256([]byte("imports\x00" + rel)) // as the reader's gaps name it
			i.File = base64.RawURLEncoding.EncodeToString(sum[:12])
			each(i)
		}
	}
}

// Now is everything that is in the exports that lie there. A thing that a later one said
// otherwise, which is gone by now, may be as that one said.
func (t *Imports) Now() map[string][]Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := map[string][]Item{}
	for _, d := range t.drops {
		if !d.gone {
			d.items(func(i Item) { now[i.identity()] = append(now[i.identity()], i) })
		}
	}
	for at, items := range now {
		if items[0].Key == "" {
			continue
		}
		for n, i := range t.ever[at] {
			i.File = fmt.Sprintf("earlier or later %d", n)
			now[at] = append(now[at], i)
		}
	}
	return now
}

// exportSteps are what a person does with exports.
var exportSteps = []string{"newer", "newer", "copy", "touch", "rename", "delete", "unpack", "break", "fix"}

// Step does one thing that a person does, and says what.
func (t *Imports) Step() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	step := exportSteps[t.rng.IntN(len(exportSteps))]
	if step == "newer" {
		t.account.grow(t.Tree)
		for _, d := range t.drops { // a download of the same name takes its place
			if !d.gone && !d.unpacked && t.rng.IntN(3) == 0 {
				d.members, d.broken = t.account.export(t.Tree), false
				return step, t.write(d)
			}
		}
		if len(t.drops) > 12 {
			return step, nil
		}
		return step, t.drop(t.account.export(t.Tree))
	}
	var alive []*drop
	for _, d := range t.drops {
		if !d.gone {
			alive = append(alive, d)
		}
	}
	if len(alive) == 0 {
		return step, nil
	}
	d := alive[t.rng.IntN(len(alive))]
	switch step {
	case "copy":
		if d.unpacked || d.broken || len(t.drops) > 12 {
			return step, nil
		}
		t.serial++
		other := &drop{rel: fmt.Sprintf("%s (%d).zip", strings.TrimSuffix(d.rel, ".zip"), t.serial), members: d.members}
		t.drops = append(t.drops, other)
		return step, t.write(other)
	case "touch":
		t.tick()
		if d.unpacked {
			return step, nil
		}
		return step, os.Chtimes(t.path(d.rel), t.clock, t.clock)
	case "rename":
		t.serial++
		was := t.path(d.rel)
		d.rel = fmt.Sprintf("moved/%d-%s", t.serial, path.Base(d.rel))
		if err := os.MkdirAll(t.path("moved"), 0o700); err != nil {
			return step, err
		}
		return step, os.Rename(was, t.path(d.rel))
	case "delete":
		if len(alive) < 3 {
			return step, nil
		}
		d.gone = true
		return step, os.RemoveAll(t.path(d.rel))
	case "unpack":
		if d.unpacked || d.broken {
			return step, nil
		}
		was := t.path(d.rel)
		d.rel, d.unpacked = strings.TrimSuffix(d.rel, ".zip"), true
		if err := t.write(d); err != nil {
			return step, err
		}
		return step, os.Remove(was)
	case "break", "fix":
		if d.unpacked || d.broken == (step == "break") {
			return step, nil
		}
		d.broken = step == "break"
		return step, t.write(d)
	}
	return step, nil
}

// timeText is a time as records have it.
func timeText(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
