package files

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the form in which browsers keep their history
)

// Browsers are profiles of running browsers. Each writes to its database while the connector reads it, and some lock
// it.
type Browsers struct {
	*Tree
	profiles []*browserProfile
	last     time.Time // of the newest row
}

// browserProfile is one database, with its expected contents.
type browserProfile struct {
	place, dir string
	family     browserFamily
	locked     bool
	gone       bool
	db         *sql.DB
	visits     []*visitRow
	downloads  []*downloadRow
	bookmarks  []*bookmarkRow
	urls       int64
}

// visitRow is a row of visits.
type visitRow struct {
	row, raw int64
	at       time.Time
	url      int64
	address  string
	shown    string // without what opens doors
	title    string
	term     string
	duration int64
}

type downloadRow struct {
	row   int64
	guid  string
	at    time.Time
	path  string
	done  bool
	bytes int64
}

type bookmarkRow struct {
	row                    int64
	guid, title, url, path string
	at                     time.Time
}

// browserFamily is how a browser keeps its history.
type browserFamily struct {
	file    string
	options string // of the connection
	schema  []string
	zero    time.Time
	unit    time.Duration
}

var (
	chromeFamily = browserFamily{"History", "journal_mode(TRUNCATE)", []string{
		"CREATE TABLE urls (id INTEGER PRIMARY KEY AUTOINCREMENT, url LONGVARCHAR, title LONGVARCHAR, visit_count INTEGER " +
			"DEFAULT 0 NOT NULL, typed_count INTEGER DEFAULT 0 NOT NULL, last_visit_time INTEGER NOT NULL, hidden INTEGER " +
			"DEFAULT 0 NOT NULL)",
		"CREATE TABLE visits (id INTEGER PRIMARY KEY AUTOINCREMENT, url INTEGER NOT NULL, visit_time INTEGER NOT NULL, " +
			"from_visit INTEGER, transition INTEGER DEFAULT 0 NOT NULL, segment_id INTEGER, visit_duration INTEGER DEFAULT 0 " +
			"NOT NULL, originator_cache_guid TEXT)",
		"CREATE TABLE keyword_search_terms (keyword_id INTEGER NOT NULL, url_id INTEGER NOT NULL, term LONGVARCHAR NOT " +
			"NULL, normalized_term LONGVARCHAR NOT NULL)",
		"CREATE INDEX keyword_search_terms_index2 ON keyword_search_terms (url_id)",
		"CREATE TABLE downloads (id INTEGER PRIMARY KEY, guid VARCHAR NOT NULL, current_path LONGVARCHAR NOT NULL, " +
			"target_path LONGVARCHAR NOT NULL, start_time INTEGER NOT NULL, received_bytes INTEGER NOT NULL, total_bytes " +
			"INTEGER NOT NULL, state INTEGER NOT NULL, end_time INTEGER NOT NULL, opened INTEGER NOT NULL, last_access_time " +
			"INTEGER NOT NULL, tab_url VARCHAR NOT NULL, mime_type VARCHAR(255) NOT NULL)",
		"CREATE TABLE downloads_url_chains (id INTEGER NOT NULL, chain_index INTEGER NOT NULL, url LONGVARCHAR NOT NULL, " +
			"PRIMARY KEY (id, chain_index))",
	}, time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC), time.Microsecond}
	firefoxFamily = browserFamily{"places.sqlite", "journal_mode(WAL)", []string{
		"CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR, rev_host LONGVARCHAR, " +
			"visit_count INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0 NOT NULL, typed INTEGER DEFAULT 0 NOT NULL, frecency " +
			"INTEGER DEFAULT -1 NOT NULL, last_visit_date INTEGER, guid TEXT)",
		"CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, from_visit INTEGER, place_id INTEGER, visit_date INTEGER, " +
			"visit_type INTEGER, session INTEGER, source INTEGER DEFAULT 0 NOT NULL)",
		"CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER DEFAULT NULL, parent INTEGER, " +
			"position INTEGER, title LONGVARCHAR, keyword_id INTEGER, folder_type TEXT, dateAdded INTEGER, lastModified " +
			"INTEGER, guid TEXT)",
		"CREATE TABLE moz_bookmarks_deleted (guid TEXT PRIMARY KEY, dateRemoved INTEGER NOT NULL DEFAULT 0)",
		"INSERT INTO moz_bookmarks VALUES (1, 2, NULL, 0, 0, '', NULL, NULL, 1, 1, 'root________'), (2, 2, NULL, 1, 0, " +
			"'menu', NULL, NULL, 1, 1, 'menu________'), (3, 2, NULL, 2, 0, 'Reading', NULL, NULL, 1, 1, 'folder000001')",
	}, time.Unix(0, 0).UTC(), time.Microsecond}
	safariFamily = browserFamily{"History.db", "journal_mode(WAL)", []string{
		"CREATE TABLE history_items (id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT NOT NULL UNIQUE, domain_expansion TEXT " +
			"NULL, visit_count INTEGER NOT NULL)",
		"CREATE TABLE history_visits (id INTEGER PRIMARY KEY AUTOINCREMENT, history_item INTEGER NOT NULL REFERENCES " +
			"history_items(id) ON DELETE CASCADE, visit_time REAL NOT NULL, title TEXT NULL, redirect_source INTEGER NULL, " +
			"origin INTEGER NOT NULL DEFAULT 0)",
	}, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), time.Second}
)

// NewBrowsers makes profiles in folders called chrome, brave, firefox and safari.
func NewBrowsers(dir string, c Config) (*Browsers, error) {
	t := &Browsers{Tree: newEmptyTree(dir, c.Seed)}
	t.last = time.Now().Add(-80 * 24 * time.Hour)
	for _, p := range []*browserProfile{
		{place: "chrome", dir: "Default", family: chromeFamily, locked: true},
		{place: "brave", dir: "Profile 1", family: chromeFamily},
		{place: "firefox", dir: "q1w2.default-release", family: firefoxFamily, locked: true},
		{place: "safari", family: safariFamily},
	} {
		if err := t.createProfile(p); err != nil {
			return nil, err
		}
	}
	n := max(4, c.Sessions*c.Lines)
	for i := range n {
		p := t.profiles[i%len(t.profiles)]
		t.last = t.last.Add(80 * 24 * time.Hour / time.Duration(n+1))
		if err := t.addVisit(p, t.last); err != nil {
			return nil, err
		}
		if i%9 == 0 {
			if err := errors.Join(t.addDownload(p), t.addBookmark(p)); err != nil {
				return nil, err
			}
		}
	}
	for rel, content := range map[string]string{"chrome/Local State": "{}", "chrome/Default/Login Data": "never opened",
		"firefox/profiles.ini": "[General]\n", "safari/Bookmarks.plist": "x"} {
		if err := t.writeFile(rel, content); err != nil {
			return nil, err
		}
	}
	if !c.Hostile {
		return t, nil
	}
	return t, errors.Join(
		t.writeFile("chrome/Profile 7/History", "no database "+t.randomSentence()),
		t.writeFile("chrome/Profile 8/History", ""),
		t.writeFile("firefox/x.empty/places.sqlite", "SQLite format 3\x00"+t.randomSentence()),
		os.MkdirAll(t.absolutePath("chrome/Profile 9/History"), 0o700),
		os.Symlink("/etc/hostname", t.absolutePath("chrome/Profile 9/places.sqlite")),
		os.Symlink(t.absolutePath("chrome"), t.absolutePath("chrome/loop")),
	)
}

func (t *Browsers) writeFile(rel, content string) error {
	if err := os.MkdirAll(filepath.Dir(t.absolutePath(rel)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(t.absolutePath(rel), []byte(content), 0o600)
}

// createProfile opens a profile with an empty database.
func (t *Browsers) createProfile(p *browserProfile) error {
	t.profiles = append(t.profiles, p)
	return t.openDatabase(p)
}

func (t *Browsers) openDatabase(p *browserProfile) (err error) {
	if err := os.MkdirAll(t.absolutePath(filepath.Join(p.place, p.dir)), 0o700); err != nil {
		return err
	}
	mode := "NORMAL"
	if p.locked {
		mode = "EXCLUSIVE"
	}
	address := fmt.Sprintf("file:%s?_pragma=locking_mode(%s)&_pragma=%s&_pragma=synchronous(OFF)", t.databasePath(p), mode,
		p.family.options)
	if p.db, err = sql.Open("sqlite", address); err != nil {
		return err
	}
	p.db.SetMaxOpenConns(1)
	for _, text := range p.family.schema {
		if _, err := p.db.Exec(text); err != nil {
			return err
		}
	}
	return nil
}

func (t *Browsers) databasePath(p *browserProfile) string {
	return t.absolutePath(filepath.Join(p.place, p.dir, p.family.file))
}

// Close closes the databases.
func (t *Browsers) Close() error {
	var all error
	for _, p := range t.profiles {
		if !p.gone {
			all = errors.Join(all, p.db.Close())
		}
	}
	return all
}

// keyPrefix begins the keys of a profile's records.
func (p *browserProfile) keyPrefix() string {
	if p.dir == "" {
		return p.place
	}
	return p.place + "/" + p.dir
}

// profileName is what records call the profile.
func (p *browserProfile) profileName() string {
	if p.dir == "" {
		return p.place
	}
	return p.dir
}

// browserTime is a moment as the browser counts it.
func (p *browserProfile) browserTime(at time.Time) int64 {
	return (at.Unix()-p.family.zero.Unix())*int64(time.Second/time.Microsecond) + int64(at.Nanosecond()/1000)
}

// nextMoment returns a time after every other, as far as this machine's clock allows.
func (t *Browsers) nextMoment() time.Time {
	t.last = t.last.Add(time.Millisecond)
	if now := time.Now(); now.After(t.last) {
		t.last = now
	}
	return t.last.Truncate(time.Microsecond)
}

// addVisit adds a visit: mostly of a new page, and now and then as a search.
func (t *Browsers) addVisit(p *browserProfile, at time.Time) error {
	at = at.Truncate(time.Microsecond).UTC()
	v := &visitRow{at: at, raw: p.browserTime(at), title: t.randomSentence()}
	p.urls++
	v.address = fmt.Sprintf("https://shop.example/%s/%d?q=%d&page=2#top", sampleWords[t.rng.IntN(len(sampleWords))],
		t.rng.Uint32(),
		p.urls)
	v.shown = v.address
	if t.rng.IntN(6) == 0 {
		v.address = fmt.Sprintf("https://mara:hunter2@intranet.example/%d?access_token=abc%d&x=1", t.rng.Uint32(), p.urls)
		v.shown = fmt.Sprintf("https://intranet.example/%s?access_token=redacted&x=1",
			v.address[len("https://mara:hunter2@intranet.example/"):indexOfByte(v.address, '?')])
	}
	if len(p.visits) > 0 && t.rng.IntN(4) == 0 {
		again := p.visits[len(p.visits)-1]
		v.url, v.address, v.shown, v.title, v.term = again.url, again.address, again.shown, again.title, again.term
	}
	if err := t.insertVisit(p, v); err != nil {
		return err
	}
	p.visits = append(p.visits, v)
	t.rememberItems(v.expectedItems(p)...)
	return nil
}

func indexOfByte(s string, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return -1
}

func (t *Browsers) insertVisit(p *browserProfile, v *visitRow) error {
	in, err := p.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = in.Rollback() }()
	exec := func(text string, args ...any) (id int64) {
		if err != nil {
			return 0
		}
		var done sql.Result
		if done, err = in.Exec(text, args...); err != nil {
			return 0
		}
		id, err = done.LastInsertId()
		return id
	}
	fresh := v.url == 0
	switch p.family.file {
	case "History":
		if fresh {
			v.url = exec("INSERT INTO urls (url, title, last_visit_time) VALUES (?, ?, ?)", v.address, v.title, v.raw)
			if t.rng.IntN(5) == 0 {
				v.term = "how to " + sampleWords[t.rng.IntN(len(sampleWords))]
				exec("INSERT INTO keyword_search_terms VALUES (2, ?, ?, ?)", v.url, v.term, v.term)
			}
		}
		v.row = exec("INSERT INTO visits (url, visit_time, from_visit, transition) VALUES (?, ?, 0, ?)", v.url, v.raw,
			0x30000001)
	case "places.sqlite":
		if fresh {
			v.url = exec("INSERT INTO moz_places (url, title) VALUES (?, ?)", v.address, v.title)
		}
		v.row = exec("INSERT INTO moz_historyvisits (from_visit, place_id, visit_date, visit_type) VALUES (0, ?, ?, 2)",
			v.url, v.raw)
	default:
		if fresh {
			v.url = exec("INSERT INTO history_items (url, visit_count) VALUES (?, 1)", v.address)
		}
		v.row = exec("INSERT INTO history_visits (history_item, visit_time, title) VALUES (?, ?, ?)", v.url,
			float64(v.raw)/1e6, v.title)
	}
	if err != nil {
		return err
	}
	return in.Commit()
}

func (v *visitRow) expectedItems(p *browserProfile) []Item {
	key := fmt.Sprintf("%s/%d/%d", p.keyPrefix(), v.row, v.raw)
	at := v.at.Format("2006-01-02T15:04:05.000000Z")
	fields := map[string]any{"browser": p.place, "profile": p.profileName(), "url": v.shown, "title": shortTitle(v.title),
		"timestamp": at}
	if p.family.file == "History" {
		fields["duration_ms"] = float64(v.duration / 1000)
	}
	if p.family.file != "History.db" {
		fields["transition"] = "typed"
	}
	list := []Item{{Stream: "visits", Key: key, File: p.keyPrefix(), Fields: fields}}
	if v.term != "" {
		list = append(list, Item{Stream: "searches", Key: key, File: p.keyPrefix(),
			Fields: map[string]any{"term": v.term, "timestamp": at}})
	}
	return list
}

// shortTitle is how much of a title a record holds.
func shortTitle(title string) string {
	if len(title) <= 1000 {
		return title
	}
	end := 1000
	for end > 0 && title[end]&0xc0 == 0x80 {
		end--
	}
	return title[:end]
}

func (t *Browsers) addDownload(p *browserProfile) error {
	if p.family.file != "History" {
		return nil
	}
	d := &downloadRow{guid: t.newUUID(), at: t.nextMoment(), path: "/home/mara/Downloads/" +
		sampleWords[t.rng.IntN(len(sampleWords))] + ".pdf",
		bytes: int64(t.rng.IntN(1 << 20))}
	done, err := p.db.Exec("INSERT INTO downloads (guid, current_path, target_path, start_time, received_bytes, "+
		"total_bytes, state, end_time, opened, last_access_time, tab_url, mime_type) VALUES (?, ?, ?, ?, 0, ?, 0, 0, 0, 0, "+
		"'https://shop.example/', 'application/pdf')",
		d.guid, d.path+".part", d.path, p.browserTime(d.at), d.bytes)
	if err != nil {
		return err
	}
	if d.row, err = done.LastInsertId(); err != nil {
		return err
	}
	if _, err := p.db.Exec("INSERT INTO downloads_url_chains VALUES (?, 0, 'https://shop.example/go'), (?, 1, "+
		"'https://cdn.example/file.pdf')", d.row, d.row); err != nil {
		return err
	}
	// A reader may meet the row before its addresses.
	bare := d.expectedItem(p)
	bare.Fields = map[string]any{"target_path": d.path}
	t.rememberItems(d.expectedItem(p), bare)
	p.downloads = append(p.downloads, d)
	return nil
}

func (d *downloadRow) expectedItem(p *browserProfile) Item {
	fields := map[string]any{"target_path": d.path, "url": "https://cdn.example/file.pdf", "state": "in_progress",
		"total_bytes": float64(d.bytes)}
	if d.done {
		fields["state"] = "complete"
	}
	return Item{Stream: "downloads", Key: p.keyPrefix() + "/" + d.guid, File: p.keyPrefix(), Fields: fields}
}

func (t *Browsers) addBookmark(p *browserProfile) error {
	if p.family.file != "places.sqlite" {
		return nil
	}
	b := &bookmarkRow{guid: t.newUUID(), title: shortTitle(t.randomSentence()), at: t.nextMoment(), path: "menu/Reading"}
	b.url = "https://shop.example/kept/" + b.guid
	place, err := p.db.Exec("INSERT INTO moz_places (url, title) VALUES (?, ?)", b.url, b.title)
	if err != nil {
		return err
	}
	id, err := place.LastInsertId()
	if err != nil {
		return err
	}
	done, err := p.db.Exec("INSERT INTO moz_bookmarks (type, fk, parent, position, title, dateAdded, lastModified, "+
		"guid) VALUES (1, ?, 3, 0, ?, ?, ?, ?)", id, b.title, p.browserTime(b.at), p.browserTime(b.at), b.guid)
	if err != nil {
		return err
	}
	if b.row, err = done.LastInsertId(); err != nil {
		return err
	}
	t.rememberItems(b.expectedItem(p))
	p.bookmarks = append(p.bookmarks, b)
	return nil
}

func (b *bookmarkRow) expectedItem(p *browserProfile) Item {
	return Item{Stream: "bookmarks", Key: p.keyPrefix() + "/" + b.guid, File: p.keyPrefix(),
		Fields: map[string]any{"title": b.title, "url": b.url, "folder": b.path}}
}

// Now is what the databases hold.
func (t *Browsers) Now() map[string][]Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := map[string][]Item{}
	add := func(list ...Item) {
		for _, i := range list {
			now[i.Stream+"\x00"+i.Key] = append(now[i.Stream+"\x00"+i.Key], i)
		}
	}
	for _, p := range t.profiles {
		if p.gone {
			continue
		}
		for _, v := range p.visits {
			add(v.expectedItems(p)...)
		}
		for _, d := range p.downloads {
			add(d.expectedItem(p))
		}
		for _, b := range p.bookmarks {
			add(b.expectedItem(p))
		}
	}
	return now
}
