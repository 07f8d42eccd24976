package files

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	_ "modernc.org/sqlite" // as the programs keep their messages
)

// Database is a folder with a database of messages that a program keeps writing to, in WAL
// mode, and what is in it.
type Database struct {
	dir     string
	program program

	mu     sync.Mutex
	text   *Tree // words and ids alone
	rng    *rand.Rand
	db     *sql.DB
	tx     *sql.Tx  // one that is not finished
	later  []func() // what holds when it is
	now    map[string]Item
	ever   map[string][]Item
	said   []*said
	serial int64
	backup *copied
}

// said is a message in the database.
type said struct {
	row    int64
	key    string
	at     time.Time
	chat   int
	fields map[string]any
}

// copied is the database as it was.
type copied struct {
	path string
	now  map[string]Item
	said []*said
}

// program is how one program keeps its messages.
type program interface {
	// file is the database's path below the folder.
	file() string
	create() []string
	// begin writes the chats and everything that is no message.
	begin(d *Database) error
	// say writes a new message of that time.
	say(d *Database, at time.Time) error
	// change does something to a message that is there.
	change(d *Database, m *said) error
	// forget deletes a message.
	forget(d *Database, m *said) error
	// rename gives a chat another name.
	rename(d *Database) error
	// hostile writes rows as damage and other versions leave them.
	hostile(d *Database) error
}

func newDatabase(dir string, c Config, p program) (*Database, error) {
	d := &Database{
		dir: dir, program: p, rng: rand.New(rand.NewPCG(c.Seed, 11)), now: map[string]Item{}, ever: map[string][]Item{},
		text: &Tree{rng: rand.New(rand.NewPCG(c.Seed, 12))},
	}
	if err := os.MkdirAll(filepath.Dir(d.path()), 0o700); err != nil {
		return nil, err
	}
	if err := d.open(); err != nil {
		return nil, err
	}
	for _, statement := range p.create() {
		if err := d.exec(statement); err != nil {
			return nil, err
		}
	}
	if err := p.begin(d); err != nil {
		return nil, err
	}
	for range max(1, c.Sessions*c.Lines) {
		if err := p.say(d, d.moment()); err != nil {
			return nil, err
		}
	}
	if c.Hostile {
		if err := p.hostile(d); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *Database) path() string { return filepath.Join(d.dir, filepath.FromSlash(d.program.file())) }

func (d *Database) open() (err error) {
	address := url.URL{
		Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(d.path())}).EscapedPath(),
		RawQuery: "_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)&_pragma=wal_autocheckpoint(50)",
	}
	d.db, err = sql.Open("sqlite", address.String())
	if err == nil {
		d.db.SetMaxOpenConns(1)
	}
	return err
}

// Close ends the program.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return errors.Join(d.finish(), d.db.Close())
}

// Root is where the folder is.
func (d *Database) Root() string { return d.dir }

// Now is everything that is in the database.
func (d *Database) Now() map[string][]Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := map[string][]Item{}
	for at, item := range d.now {
		now[at] = []Item{item}
	}
	return now
}

// Ever is every form that a thing has had; none when it never existed.
func (d *Database) Ever(stream, key string) []Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ever[stream+"\x00"+key]
}

// DatabaseSteps are what the hand can do to a database.
var DatabaseSteps = []string{"say", "say", "say", "say", "change", "change", "old", "forget", "forget last", "rename", "begin", "finish", "checkpoint", "copy", "restore", "touch", "vacuum"}

// Step changes one thing in the database and says what.
func (d *Database) Step() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	step := DatabaseSteps[d.rng.IntN(len(DatabaseSteps))]
	return step, d.step(step)
}

func (d *Database) step(step string) error {
	switch step {
	case "say":
		return d.program.say(d, d.moment())
	case "old": // the program fetches history: old times, new numbers
		return d.program.say(d, time.Now().AddDate(-1-d.rng.IntN(9), 0, -d.rng.IntN(300)))
	case "rename":
		return d.program.rename(d)
	case "begin":
		if d.tx != nil {
			return nil
		}
		tx, err := d.db.Begin()
		d.tx = tx
		return err
	case "finish":
		return d.finish()
	case "touch":
		now := time.Now()
		return os.Chtimes(d.path(), now, now)
	case "forget last":
		if len(d.said) == 0 {
			return nil
		}
		return d.forget(len(d.said) - 1)
	case "change", "forget":
		if len(d.said) == 0 {
			return nil
		}
		i := d.rng.IntN(len(d.said))
		if step == "forget" {
			return d.forget(i)
		}
		if time.Since(d.said[i].at) > 28*24*time.Hour {
			return nil // nobody changes an old one
		}
		return d.program.change(d, d.said[i])
	}
	if d.tx != nil {
		return nil
	}
	switch step {
	case "checkpoint":
		return d.exec("PRAGMA wal_checkpoint(PASSIVE)")
	case "vacuum":
		return ignoreBusy(d.exec("VACUUM"))
	case "copy":
		return d.copy()
	case "restore":
		return d.restore()
	}
	return nil
}

// ignoreBusy leaves out what cannot be done while somebody reads.
func ignoreBusy(err error) error {
	var coded interface{ Code() int }
	if errors.As(err, &coded) && (coded.Code()&0xff == 5 || coded.Code()&0xff == 6) {
		return nil
	}
	return err
}

func (d *Database) forget(i int) error {
	m := d.said[i]
	d.said = slices.Delete(d.said, i, i+1)
	return d.program.forget(d, m)
}

func (d *Database) finish() error {
	if d.tx == nil {
		return nil
	}
	err := d.tx.Commit()
	d.tx = nil
	for _, hold := range d.later {
		hold()
	}
	d.later = nil
	return err
}

func (d *Database) exec(text string, args ...any) (err error) {
	if d.tx != nil {
		_, err = d.tx.Exec(text, args...)
	} else {
		_, err = d.db.Exec(text, args...)
	}
	if err != nil {
		err = fmt.Errorf("%.60s: %w", text, err)
	}
	return err
}

// insert writes a row and gives its number.
func (d *Database) insert(text string, args ...any) (int64, error) {
	var result sql.Result
	var err error
	if d.tx != nil {
		result, err = d.tx.Exec(text, args...)
	} else {
		result, err = d.db.Exec(text, args...)
	}
	if err != nil {
		return 0, fmt.Errorf("%.60s: %w", text, err)
	}
	return result.LastInsertId()
}

// holds says that a thing is there, once the transaction is finished. A reader may see it at
// the moment when that happens.
func (d *Database) holds(i Item) {
	at := i.Stream + "\x00" + i.Key
	i.Fields = maps.Clone(i.Fields)
	d.ever[at] = append(d.ever[at], i)
	d.when(func() { d.now[at] = i })
}

func (d *Database) gone(stream, key string) { d.when(func() { delete(d.now, stream+"\x00"+key) }) }

func (d *Database) when(hold func()) {
	if d.tx != nil {
		d.later = append(d.later, hold)
		return
	}
	hold()
}

// copy keeps the database as it is, as a backup does.
func (d *Database) copy() error {
	aside := filepath.Join(filepath.Dir(d.dir), fmt.Sprintf("backup-%d.sqlite", d.rng.Int64()))
	if err := d.exec("VACUUM INTO ?", aside); err != nil {
		return ignoreBusy(err)
	}
	d.backup = &copied{path: aside, now: maps.Clone(d.now)}
	for _, m := range d.said {
		one := *m
		one.fields = maps.Clone(m.fields)
		d.backup.said = append(d.backup.said, &one)
	}
	return nil
}

// restore puts the last copy in the database's place: numbers are given again, to others.
func (d *Database) restore() error {
	if d.backup == nil {
		return nil
	}
	// The program ends first, with everything in the one file: what is there at no moment is
	// half a database.
	var busy, logged, moved int
	if err := d.db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved); err != nil || busy != 0 {
		return ignoreBusy(err)
	}
	if err := d.db.Close(); err != nil {
		return err
	}
	for _, ending := range []string{"-wal", "-shm"} {
		if err := ignoreMissing(os.Remove(d.path() + ending)); err != nil {
			return err
		}
	}
	if err := os.Rename(d.backup.path, d.path()); err != nil {
		return err
	}
	d.now, d.said, d.backup = d.backup.now, d.backup.said, nil
	return d.open()
}

// moment is one of the last three weeks.
func (d *Database) moment() time.Time {
	return time.Now().Add(-time.Duration(d.rng.Int64N(int64(21 * 24 * time.Hour)))).Truncate(time.Millisecond)
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
