package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the form in which browsers keep their history
)

var browserSteps = []string{
	"visit", "visit", "visit", "visit", "synced", "title", "duration", "download", "finish", "bookmark", "rename",
	"unbookmark", "expire", "forget", "checkpoint", "profile", "remove", "reset",
}

// Step lets one of the browsers do something.
func (t *Browsers) Step() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	step := browserSteps[t.rng.IntN(len(browserSteps))]
	return step, t.applyStep(step)
}

func (t *Browsers) applyStep(step string) error {
	p := t.profiles[t.rng.IntN(len(t.profiles))]
	if p.gone {
		return nil
	}
	switch step {
	case "visit":
		return t.addVisit(p, t.nextMoment())
	case "synced": // from another computer, made long ago
		return t.addVisit(p, t.nextMoment().Add(-time.Duration(1+t.rng.IntN(70*24))*time.Hour))
	case "title":
		return t.changeTitle(p)
	case "duration":
		if v := t.pickRecentVisit(p); v != nil && p.family.file == "History" {
			v.duration = int64(1+t.rng.IntN(600)) * 1_000_000
			t.rememberItems(v.expectedItems(p)...)
			_, err := p.db.Exec("UPDATE visits SET visit_duration = ? WHERE id = ?", v.duration, v.row)
			return err
		}
	case "download":
		return t.addDownload(p)
	case "finish":
		if len(p.downloads) > 0 {
			d := p.downloads[t.rng.IntN(len(p.downloads))]
			d.done = true
			t.rememberItems(d.expectedItem(p))
			_, err := p.db.Exec("UPDATE downloads SET state = 1, received_bytes = total_bytes, end_time = ? WHERE id = ?",
				p.browserTime(t.nextMoment()), d.row)
			return err
		}
	case "bookmark":
		return t.addBookmark(p)
	case "rename":
		if len(p.bookmarks) > 0 {
			b := p.bookmarks[t.rng.IntN(len(p.bookmarks))]
			b.title = shortTitle(t.randomSentence())
			t.rememberItems(b.expectedItem(p))
			_, err := p.db.Exec("UPDATE moz_bookmarks SET title = ?, lastModified = ? WHERE id = ?", b.title,
				p.browserTime(t.nextMoment()),
				b.row)
			return err
		}
	case "unbookmark":
		return t.unbookmark(p)
	case "expire":
		return t.removeVisits(p, 0, min(len(p.visits), 1+t.rng.IntN(5)))
	case "forget": // the owner takes back the last hour
		return t.removeVisits(p, max(0, len(p.visits)-1-t.rng.IntN(5)), len(p.visits))
	case "checkpoint":
		_, err := p.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
		return err
	case "profile":
		if len(t.profiles) < 12 && p.dir != "" {
			return t.createProfile(&browserProfile{place: p.place, dir: fmt.Sprintf("Profile %d", 20+len(t.profiles)),
				family: p.family,
				locked: t.rng.IntN(3) == 0})
		}
	case "remove":
		if len(t.profiles) > 6 && p.dir != "" {
			p.gone = true
			return errors.Join(p.db.Close(), os.RemoveAll(t.absolutePath(filepath.Join(p.place, p.dir))))
		}
	case "reset": // a new database with numbers from the beginning
		if err := p.db.Close(); err != nil {
			return err
		}
		for _, ending := range []string{"", "-wal", "-shm", "-journal"} {
			if err := ignoreMissing(os.Remove(t.databasePath(p) + ending)); err != nil {
				return err
			}
		}
		p.visits, p.downloads, p.bookmarks = nil, nil, nil
		if err := t.openDatabase(p); err != nil {
			return err
		}
		return t.addVisit(p, t.nextMoment())
	}
	return nil
}

// pickRecentVisit picks a visit of the last minutes: older ones are looked at once a day.
func (t *Browsers) pickRecentVisit(p *browserProfile) *visitRow {
	var list []*visitRow
	for _, v := range p.visits {
		if time.Since(v.at) < 30*time.Minute {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[t.rng.IntN(len(list))]
}

// changeTitle sets another title of a page, and with it every visit of it.
func (t *Browsers) changeTitle(p *browserProfile) error {
	v := t.pickRecentVisit(p)
	if v == nil || p.family.file == "History.db" ||
		slices.ContainsFunc(p.visits,
			func(o *visitRow) bool { return o.url == v.url && time.Since(o.at) >= 30*time.Minute }) {
		return nil
	}
	title := t.randomSentence()
	for _, o := range p.visits {
		if o.url == v.url {
			o.title = title
			t.rememberItems(o.expectedItems(p)...)
		}
	}
	text := "UPDATE urls SET title = ? WHERE id = ?"
	if p.family.file == "places.sqlite" {
		text = "UPDATE moz_places SET title = ? WHERE id = ?"
	}
	_, err := p.db.Exec(text, title, v.url)
	return err
}

func (t *Browsers) unbookmark(p *browserProfile) error {
	if len(p.bookmarks) == 0 {
		return nil
	}
	i := t.rng.IntN(len(p.bookmarks))
	b := p.bookmarks[i]
	p.bookmarks = slices.Delete(p.bookmarks, i, i+1)
	if _, err := p.db.Exec("DELETE FROM moz_bookmarks WHERE id = ?", b.row); err != nil {
		return err
	}
	_, err := p.db.Exec("INSERT INTO moz_bookmarks_deleted VALUES (?, ?)", b.guid, p.browserTime(t.nextMoment()))
	return err
}

// removeVisits removes visits, as browsers do with old ones and owners with new ones.
func (t *Browsers) removeVisits(p *browserProfile, from, to int) error {
	table := map[string]string{"History": "visits", "places.sqlite": "moz_historyvisits",
		"History.db": "history_visits"}[p.family.file]
	for _, v := range p.visits[from:to] {
		if _, err := p.db.Exec("DELETE FROM "+table+" WHERE id = ?", v.row); err != nil {
			return err
		}
	}
	p.visits = slices.Delete(p.visits, from, to)
	return nil
}
