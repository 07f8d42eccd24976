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

// Database is a folder with a database of messages that a program keeps writing to, in WAL mode, with its expected
// contents.
type Database struct {
	dir     string
	program messageProgram

	mu               sync.Mutex
	text             *Tree // words and ids only
	rng              *rand.Rand
	db               *sql.DB
	tx               *sql.Tx  // one that is not finished
	later            []func() // what holds when it is
	now              map[string]Item
	ever             map[string][]Item
	databaseMessages []*databaseMessage
	serial           int64
	backup           *databaseCopy
}

// databaseMessage is a message in the database.
type databaseMessage struct {
	row    int64
	key    string
	at     time.Time
	chat   int
	fields map[string]any
}

// databaseCopy is the database as it was.
type databaseCopy struct {
	path     string
	now      map[string]Item
	messages []*databaseMessage
}

// messageProgram is how one program keeps its messages.
type messageProgram interface {
	// databaseFile is the database's path below the folder.
	databaseFile() string
	createStatements() []string
	// insertBaseRows writes the chats and everything that is no message.
	insertBaseRows(d *Database) error
	// addMessage writes a new message of that time.
	addMessage(d *Database, at time.Time) error
	// changeMessage does something to a message that is there.
	changeMessage(d *Database, m *databaseMessage) error
	// deleteMessage deletes a message.
	deleteMessage(d *Database, m *databaseMessage) error
	// renameChat renames a chat.
	renameChat(d *Database) error
	// insertHostileRows writes rows as damage and other versions leave them.
	insertHostileRows(d *Database) error
}

func newDatabase(dir string, c Config, p messageProgram) (*Database, error) {
	d := &Database{
		dir: dir, program: p, rng: rand.New(rand.NewPCG(c.Seed, 11)), now: map[string]Item{}, ever: map[string][]Item{},
		text: &Tree{rng: rand.New(rand.NewPCG(c.Seed, 12))},
	}
	if err := os.MkdirAll(filepath.Dir(d.databasePath()), 0o700); err != nil {
		return nil, err
	}
	if err := d.openDatabase(); err != nil {
		return nil, err
	}
	for _, statement := range p.createStatements() {
		if err := d.execStatement(statement); err != nil {
			return nil, err
		}
	}
	if err := p.insertBaseRows(d); err != nil {
		return nil, err
	}
	for range max(1, c.Sessions*c.Lines) {
		if err := p.addMessage(d, d.recentMoment()); err != nil {
			return nil, err
		}
	}
	if c.Hostile {
		if err := p.insertHostileRows(d); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *Database) databasePath() string {
	return filepath.Join(d.dir, filepath.FromSlash(d.program.databaseFile()))
}

func (d *Database) openDatabase() (err error) {
	address := url.URL{
		Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(d.databasePath())}).EscapedPath(),
		RawQuery: "_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&" +
			"_pragma=synchronous(OFF)&_pragma=wal_autocheckpoint(50)",
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
	return errors.Join(d.commitTransaction(), d.db.Close())
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

// Ever returns every form that an item has had; empty when it never existed.
func (d *Database) Ever(stream, key string) []Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ever[stream+"\x00"+key]
}

// DatabaseSteps are what the hand can do to a database.
var DatabaseSteps = []string{"say", "say", "say", "say", "change", "change", "old", "forget", "forget last", "rename",
	"begin", "finish", "checkpoint", "copy", "restore", "touch", "vacuum"}

// Step changes one thing in the database and returns its name.
func (d *Database) Step() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	step := DatabaseSteps[d.rng.IntN(len(DatabaseSteps))]
	return step, d.applyStep(step)
}

func (d *Database) applyStep(step string) error {
	switch step {
	case "say":
		return d.program.addMessage(d, d.recentMoment())
	case "old": // the program fetches history: old times, new numbers
		return d.program.addMessage(d, time.Now().AddDate(-1-d.rng.IntN(9), 0, -d.rng.IntN(300)))
	case "rename":
		return d.program.renameChat(d)
	case "begin":
		if d.tx != nil {
			return nil
		}
		tx, err := d.db.Begin()
		d.tx = tx
		return err
	case "finish":
		return d.commitTransaction()
	case "touch":
		now := time.Now()
		return os.Chtimes(d.databasePath(), now, now)
	case "forget last":
		if len(d.databaseMessages) == 0 {
			return nil
		}
		return d.deleteMessage(len(d.databaseMessages) - 1)
	case "change", "forget":
		if len(d.databaseMessages) == 0 {
			return nil
		}
		i := d.rng.IntN(len(d.databaseMessages))
		if step == "forget" {
			return d.deleteMessage(i)
		}
		if time.Since(d.databaseMessages[i].at) > 28*24*time.Hour {
			return nil // old messages are never changed
		}
		return d.program.changeMessage(d, d.databaseMessages[i])
	}
	if d.tx != nil {
		return nil
	}
	switch step {
	case "checkpoint":
		return d.execStatement("PRAGMA wal_checkpoint(PASSIVE)")
	case "vacuum":
		return ignoreBusy(d.execStatement("VACUUM"))
	case "copy":
		return d.copyDatabase()
	case "restore":
		return d.restoreCopy()
	}
	return nil
}

// ignoreBusy ignores errors of a database that a reader has locked.
func ignoreBusy(err error) error {
	var coded interface{ Code() int }
	if errors.As(err, &coded) && (coded.Code()&0xff == 5 || coded.Code()&0xff == 6) {
		return nil
	}
	return err
}

func (d *Database) deleteMessage(i int) error {
	m := d.databaseMessages[i]
	d.databaseMessages = slices.Delete(d.databaseMessages, i, i+1)
	return d.program.deleteMessage(d, m)
}

func (d *Database) commitTransaction() error {
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

func (d *Database) execStatement(text string, args ...any) (err error) {
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

// insertRow writes a row and returns its number.
func (d *Database) insertRow(text string, args ...any) (int64, error) {
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

// expectItem adds an item to the truth once the transaction is committed. A reader may see it at that moment.
func (d *Database) expectItem(i Item) {
	at := i.Stream + "\x00" + i.Key
	i.Fields = maps.Clone(i.Fields)
	d.ever[at] = append(d.ever[at], i)
	d.afterCommit(func() { d.now[at] = i })
}

func (d *Database) expectGone(stream, key string) {
	d.afterCommit(func() { delete(d.now, stream+"\x00"+key) })
}

func (d *Database) afterCommit(hold func()) {
	if d.tx != nil {
		d.later = append(d.later, hold)
		return
	}
	hold()
}

// copyDatabase keeps the database as it is, as a backup does.
func (d *Database) copyDatabase() error {
	aside := filepath.Join(filepath.Dir(d.dir), fmt.Sprintf("backup-%d.sqlite", d.rng.Int64()))
	if err := d.execStatement("VACUUM INTO ?", aside); err != nil {
		return ignoreBusy(err)
	}
	d.backup = &databaseCopy{path: aside, now: maps.Clone(d.now)}
	for _, m := range d.databaseMessages {
		one := *m
		one.fields = maps.Clone(m.fields)
		d.backup.messages = append(d.backup.messages, &one)
	}
	return nil
}

// restoreCopy replaces the database by the last copy, so that numbers are assigned again to other rows.
func (d *Database) restoreCopy() error {
	if d.backup == nil {
		return nil
	}
	// The program ends first, with everything in one file, so that a reader never sees half a database.
	var busy, logged, moved int
	if err := d.db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved); err != nil || busy != 0 {
		return ignoreBusy(err)
	}
	if err := d.db.Close(); err != nil {
		return err
	}
	for _, ending := range []string{"-wal", "-shm"} {
		if err := ignoreMissing(os.Remove(d.databasePath() + ending)); err != nil {
			return err
		}
	}
	if err := os.Rename(d.backup.path, d.databasePath()); err != nil {
		return err
	}
	d.now, d.databaseMessages, d.backup = d.backup.now, d.backup.messages, nil
	return d.openDatabase()
}

// recentMoment is one of the last three weeks.
func (d *Database) recentMoment() time.Time {
	return time.Now().Add(-time.Duration(d.rng.Int64N(int64(21 * 24 * time.Hour)))).Truncate(time.Millisecond)
}

func formatTimestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
