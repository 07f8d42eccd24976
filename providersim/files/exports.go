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

// exportAccount is the account of one invented person at a service, and its export.
type exportAccount interface {
	// growAccount lets something happen.
	growAccount(t *Tree)
	// exportMembers is everything as the service would pack it now.
	exportMembers(t *Tree) []Member
	// hostileMembers returns an export with unreadable entries.
	hostileMembers(t *Tree) []Member
	// exportName is what the service calls the archive.
	exportName(t *Tree) string
}

// Member is a file of an export, with its expected items.
type Member struct {
	Name    string
	Content []byte
	Items   []Item
}

// droppedExport is an export that the person put into the folder.
type droppedExport struct {
	rel      string // of the archive, or of the folder that it was unpacked into
	members  []Member
	unpacked bool
	broken   bool // the download broke off
	gone     bool
}

// Imports is a folder with exports, with their expected items.
type Imports struct {
	*Tree
	account exportAccount
	drops   []*droppedExport
}

// newImports makes an import folder with two exports of an account, the second later.
func newImports(dir string, c Config, a exportAccount) (*Imports, error) {
	t := &Imports{Tree: newEmptyTree(dir, c.Seed), account: a}
	for range 2 {
		for range 1 + c.Sessions*c.Lines/20 {
			a.growAccount(t.Tree)
		}
		if err := t.dropExport(a.exportMembers(t.Tree)); err != nil {
			return nil, err
		}
	}
	if !c.Hostile {
		return t, nil
	}
	if err := t.dropExport(a.hostileMembers(t.Tree)); err != nil {
		return nil, err
	}
	broken := &droppedExport{rel: "broken.zip", members: a.exportMembers(t.Tree), broken: true}
	t.drops = append(t.drops, broken)
	if err := t.writeExport(broken); err != nil {
		return nil, err
	}
	if err := os.Symlink("/etc/hostname", t.absolutePath("out.zip")); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(t.absolutePath("folder.zip"), 0o700); err != nil {
		return nil, err
	}
	other := &droppedExport{rel: "other kind.zip",
		members: []Member{{Name: "holiday/beach.jpg", Content: []byte("not of any service")}}}
	if err := t.writeExport(other); err != nil {
		return nil, err
	}
	return t, os.WriteFile(t.absolutePath("download.zip.crdownload"), []byte("PK\x03\x04"), 0o600)
}

// dropExport puts a new export into the folder.
func (t *Imports) dropExport(members []Member) error {
	t.serial++
	d := &droppedExport{rel: fmt.Sprintf("%s-%d.zip", t.account.exportName(t.Tree), t.serial), members: members}
	t.drops = append(t.drops, d)
	return t.writeExport(d)
}

// writeExport writes an export as it lies in the folder.
func (t *Imports) writeExport(d *droppedExport) error {
	for _, m := range d.members {
		t.rememberItems(m.Items...)
	}
	if d.unpacked {
		for _, m := range d.members {
			if err := t.replaceFile(path.Join(d.rel, m.Name), m.Content); err != nil {
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
	return t.replaceFile(d.rel, content)
}

// replaceFile writes a file by replacing it, as one that was written some time ago.
func (t *Imports) replaceFile(rel string, content []byte) error {
	to := t.absolutePath(rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	aside := to + ".tmp"
	if err := os.WriteFile(aside, content, 0o600); err != nil {
		return err
	}
	t.advanceClock()
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
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.Name, Method: zip.Deflate,
			Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
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

// eachItem are what the export holds, with the file that each is in.
func (d *droppedExport) eachItem(each func(Item)) {
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

// Now returns everything in the present exports. An item that a newer export changed, and that is gone by now, may
// have either form.
func (t *Imports) Now() map[string][]Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := map[string][]Item{}
	for _, d := range t.drops {
		if !d.gone {
			d.eachItem(func(i Item) { now[i.identityKey()] = append(now[i.identityKey()], i) })
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

// Step does one thing that a person does, and returns its name.
func (t *Imports) Step() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	step := exportSteps[t.rng.IntN(len(exportSteps))]
	if step == "newer" {
		t.account.growAccount(t.Tree)
		for _, d := range t.drops { // a download of the same name takes its place
			if !d.gone && !d.unpacked && t.rng.IntN(3) == 0 {
				d.members, d.broken = t.account.exportMembers(t.Tree), false
				return step, t.writeExport(d)
			}
		}
		if len(t.drops) > 12 {
			return step, nil
		}
		return step, t.dropExport(t.account.exportMembers(t.Tree))
	}
	var alive []*droppedExport
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
		other := &droppedExport{rel: fmt.Sprintf("%s (%d).zip", strings.TrimSuffix(d.rel, ".zip"), t.serial),
			members: d.members}
		t.drops = append(t.drops, other)
		return step, t.writeExport(other)
	case "touch":
		t.advanceClock()
		if d.unpacked {
			return step, nil
		}
		return step, os.Chtimes(t.absolutePath(d.rel), t.clock, t.clock)
	case "rename":
		t.serial++
		was := t.absolutePath(d.rel)
		d.rel = fmt.Sprintf("moved/%d-%s", t.serial, path.Base(d.rel))
		if err := os.MkdirAll(t.absolutePath("moved"), 0o700); err != nil {
			return step, err
		}
		return step, os.Rename(was, t.absolutePath(d.rel))
	case "delete":
		if len(alive) < 3 {
			return step, nil
		}
		d.gone = true
		return step, os.RemoveAll(t.absolutePath(d.rel))
	case "unpack":
		if d.unpacked || d.broken {
			return step, nil
		}
		was := t.absolutePath(d.rel)
		d.rel, d.unpacked = strings.TrimSuffix(d.rel, ".zip"), true
		if err := t.writeExport(d); err != nil {
			return step, err
		}
		return step, os.Remove(was)
	case "break", "fix":
		if d.unpacked || d.broken == (step == "break") {
			return step, nil
		}
		d.broken = step == "break"
		return step, t.writeExport(d)
	}
	return step, nil
}

// recordTime is a time as records have it.
func recordTime(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
