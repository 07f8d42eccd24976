package export

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	_ "modernc.org/sqlite" // the format itself

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// database writes a SQLite file: one table per stream, a full-text index for each that can be searched, and _about.
type database struct {
	to     io.Writer
	folder string
	db     *sql.DB
	tx     *sql.Tx
	tables map[string]*databaseTable // by connection and stream
}

type databaseTable struct {
	name    string
	columns []string
	kinds   map[string]string
	insert  *sql.Stmt
	search  []string
	values  []any
}

func newDatabase(to io.Writer, streams []api.Stream) (_ Writer, err error) {
	d := &database{to: to, tables: map[string]*databaseTable{}}
	if d.folder, err = os.MkdirTemp("", "pdpp-export-"); err != nil { // mode 0700
		return nil, err
	}
	defer func() {
		if err != nil {
			d.remove()
		}
	}()
	place := url.URL{Scheme: "file", Opaque: (&url.URL{Path: d.file()}).EscapedPath(),
		RawQuery: "_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)"}
	if d.db, err = sql.Open("sqlite", place.String()); err != nil {
		return nil, err
	}
	d.db.SetMaxOpenConns(1)
	if d.tx, err = d.db.Begin(); err != nil {
		return nil, err
	}
	if _, err = d.tx.Exec(`CREATE TABLE _about (table_name TEXT PRIMARY KEY, connection_id TEXT, connection_name TEXT,
		stream TEXT, label TEXT, last_changed_at TEXT) WITHOUT ROWID`); err != nil {
		return nil, err
	}
	for i := range streams {
		if err = d.addTable(&streams[i], tableName(streams, i)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *database) file() string { return filepath.Join(d.folder, "export.sqlite") }

func (d *database) remove() {
	if d.tx != nil {
		_ = d.tx.Rollback()
	}
	if d.db != nil {
		_ = d.db.Close()
	}
	_ = os.RemoveAll(d.folder)
}

// databaseColumns is how many columns a table has beside the fields.
const databaseColumns = 7

// tableName returns the name of the stream, with its connection if several have a stream of that name.
func tableName(streams []api.Stream, i int) string {
	for j := range streams {
		if j != i && strings.EqualFold(streams[j].Name, streams[i].Name) {
			return streams[i].Name + "_" + streams[i].ConnectionID
		}
	}
	return streams[i].Name
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// databaseType returns the declared type of a column.
func databaseType(kind string) string {
	switch kind {
	case api.FieldInteger, api.FieldBoolean:
		return "INTEGER"
	case api.FieldNumber:
		return "REAL"
	}
	return "TEXT"
}

func (d *database) addTable(s *api.Stream, name string) (err error) {
	t := &databaseTable{name: name, kinds: s.FieldKinds, values: make([]any, 0, len(s.Fields)+databaseColumns)}
	definition := []string{`"_key" TEXT PRIMARY KEY`}
	for _, field := range s.Fields {
		same := func(other string) bool { return strings.EqualFold(other, field) }
		if slices.ContainsFunc(ownColumns, same) || slices.ContainsFunc(t.columns, same) || len(t.columns) > 1900 {
			continue
		}
		t.columns = append(t.columns, field)
		definition = append(definition, quoted(field)+" "+databaseType(s.FieldKinds[field]))
	}
	definition = append(definition, `"_connection_id" TEXT, "_changed_at" TEXT, "_emitted_at" TEXT, "_version" INTEGER,
		"_deleted" INTEGER, "_other" TEXT`)
	if _, err := d.tx.Exec("CREATE TABLE " + quoted(name) + " (" + strings.Join(definition, ", ") + ")"); err != nil {
		return fmt.Errorf("create a table: %w", err)
	}
	for _, field := range s.Search {
		if slices.Contains(t.columns, field) {
			t.search = append(t.search, quoted(field))
		}
	}
	marks := strings.Repeat(", ?", len(t.columns)+databaseColumns)[2:]
	if t.insert, err = d.tx.Prepare("INSERT OR REPLACE INTO " + quoted(name) + " VALUES (" + marks + ")"); err != nil {
		return fmt.Errorf("prepare a table: %w", err)
	}
	d.tables[s.ConnectionID+"/"+s.Name] = t
	changed := ""
	if s.UpdatedAt != nil {
		changed = s.UpdatedAt.UTC().Format(time.RFC3339Nano)
	}
	_, err = d.tx.Exec("INSERT INTO _about VALUES (?, ?, ?, ?, ?, ?)", name, s.ConnectionID, s.ConnectionName, s.Name,
		s.Label, changed)
	return err
}

func (d *database) Write(s *api.Stream, r *Record) error {
	t := d.tables[s.ConnectionID+"/"+s.Name]
	if t == nil {
		return errors.New("the file has no table for the stream")
	}
	members := r.fields()
	t.values = append(t.values[:0], r.Key)
	for _, field := range t.columns {
		v := members[field]
		if v.Kind() == '0' && len(v) > 15 && databaseType(t.kinds[field]) != "TEXT" && !isInteger(v) {
			v = nil // a number that the database would round stays in _other
		} else {
			delete(members, field)
		}
		switch v.Kind() {
		case 'n', 0:
			t.values = append(t.values, nil)
		case 't', 'f':
			t.values = append(t.values, v.Kind() == 't')
		default: // the column's type converts numbers
			t.values = append(t.values, valueText(v))
		}
	}
	others, err := rest(members)
	if err != nil {
		return err
	}
	var other any
	if others != "" {
		other = others
	}
	var changed, version any // a reader with a grant does not learn them
	if r.Version > 0 {
		changed, version = r.ChangedAt.UTC().Format(time.RFC3339Nano), r.Version
	}
	t.values = append(t.values, r.ConnectionID, changed, r.EmittedAt.UTC().Format(time.RFC3339Nano), version, r.Deleted,
		other)
	_, err = t.insert.Exec(t.values...)
	return err
}

func isInteger(v jsontext.Value) bool {
	_, err := strconv.ParseInt(string(v), 10, 64)
	return err == nil
}

func (d *database) Close() error {
	defer d.remove()
	for _, name := range d.searched() {
		t := d.tables[name]
		index, list := quoted(t.name+"_search"), strings.Join(t.search, ", ")
		if _, err := d.tx.Exec(fmt.Sprintf(`CREATE VIRTUAL TABLE %s USING fts5(%s, content=%s)`, index, list,
			quoted(t.name))); err != nil {
			return fmt.Errorf("create the search index: %w", err)
		}
		if _, err := d.tx.Exec(fmt.Sprintf(`INSERT INTO %s(%s) VALUES ('rebuild')`, index, index)); err != nil {
			return fmt.Errorf("fill the search index: %w", err)
		}
	}
	if err := d.tx.Commit(); err != nil {
		return err
	}
	if err := d.db.Close(); err != nil {
		return err
	}
	file, err := os.Open(d.file())
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(d.to, file)
	return err
}

// searched returns the tables with a search index, in a fixed order.
func (d *database) searched() (names []string) {
	for name, t := range d.tables {
		if len(t.search) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
