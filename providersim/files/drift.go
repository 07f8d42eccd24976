package files

import (
	"archive/zip"
	"bytes"
	"database/sql"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/providersim"
)

// Drift rewrites the files below a folder, and the members of archives, as a later version of their
// program would write them. Of a table, Add and Remove mean columns; of a database, "." is the database and
// "messages/id" a column of a table. The route of a change is a store, and behind it the type of the lines that
// change.
func Drift(dir string, changes []providersim.Drifted) error {
	return filepath.WalkDir(dir, func(at string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the journal of a database that has changed
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(content, []byte("SQLite format 3\x00")) {
			return driftedDatabase(at, changes)
		}
		changed := driftedFile(at, content, changes)
		if filepath.Ext(at) == ".zip" {
			if changed, err = driftedArchive(content, changes); err != nil {
				return err
			}
		}
		if changed == nil {
			return nil
		}
		if err := os.WriteFile(at, changed, 0o600); err != nil {
			return err
		}
		return os.Chtimes(at, info.ModTime(), info.ModTime())
	})
}

func driftedArchive(content []byte, changes []providersim.Drifted) ([]byte, error) {
	in, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	var members []Member
	for _, f := range in.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		m := Member{Name: f.Name}
		if m.Content, err = io.ReadAll(r); err != nil {
			return nil, err
		}
		if changed := driftedFile(f.Name, m.Content, changes); changed != nil {
			m.Content = changed
		}
		members = append(members, m)
	}
	return Pack(members)
}

// driftedFile returns the content of a file as it has changed; nil when it is of no form that changes.
func driftedFile(name string, content []byte, changes []providersim.Drifted) []byte {
	switch filepath.Ext(name) {
	case ".json", ".js":
		at := bytes.IndexAny(content, "[{")
		if at < 0 {
			return nil
		}
		if changed := driftedDocument(content[at:], changes); changed != nil {
			return slices.Concat(content[:at], changed)
		}
	case ".jsonl":
		var out []byte
		for line := range bytes.Lines(content) {
			whole, ended := bytes.CutSuffix(line, []byte("\n"))
			if changed := driftedDocument(whole, changes); changed != nil {
				whole = bytes.TrimSpace(changed)
			}
			if out = append(out, whole...); ended {
				out = append(out, '\n')
			}
		}
		return out
	case ".csv":
		return driftedTable(content, changes)
	case ".xml":
		root := bytes.Index(content, []byte("<HealthData"))
		if root < 0 {
			return nil
		}
		at := root + bytes.IndexByte(content[root:], '>') + 1
		content = slices.Concat(content[:at], []byte("<"+providersim.DriftedMember+"/>"), content[at:])
		for _, d := range changes {
			for _, path := range d.Remove { // attributes
				name := regexp.QuoteMeta(path[strings.LastIndex(path, "/")+1:])
				content = regexp.MustCompile(` `+name+`="[^"]*"`).ReplaceAll(content, nil)
			}
		}
		return content
	}
	return nil
}

// driftedDocument returns a document after all changes that apply to it; nil when it is no document.
func driftedDocument(document []byte, changes []providersim.Drifted) []byte {
	for i := range changes {
		_, kind, typed := strings.Cut(changes[i].Route, "/")
		if typed && !bytes.Contains(document, []byte(`"type":"`+kind+`"`)) {
			continue
		}
		if document = changes[i].Document(document); document == nil {
			return nil
		}
	}
	return document
}

func driftedTable(content []byte, changes []providersim.Drifted) []byte {
	in := csv.NewReader(bytes.NewReader(content))
	in.FieldsPerRecord, in.LazyQuotes = -1, true
	rows, err := in.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil
	}
	gone := -1
	for _, d := range changes {
		for _, column := range d.Remove {
			gone = max(gone, slices.IndexFunc(rows[0],
				func(name string) bool { return strings.ToLower(strings.ReplaceAll(name, " ", "_")) == column }))
		}
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for i, row := range rows {
		cell := "new"
		if i == 0 {
			cell = providersim.DriftedMember
		}
		if gone >= 0 && gone < len(row) {
			row = slices.Delete(row, gone, gone+1)
		}
		_ = w.Write(append(row, cell)) // a buffer never fails
	}
	w.Flush()
	return out.Bytes()
}

// driftedDatabase changes the schema of a database where it has the tables to change.
func driftedDatabase(at string, changes []providersim.Drifted) error {
	db, err := sql.Open("sqlite", "file:"+at+"?_pragma=busy_timeout(10000)&_pragma=writable_schema(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	alter := func(path, statement string, args ...any) error {
		table, column, _ := strings.Cut(path, "/")
		var n int
		err := db.QueryRow("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", table).Scan(&n)
		if err != nil || n == 0 {
			return err
		}
		_, err = db.Exec(strings.NewReplacer("TABLE", table, "COLUMN", column).Replace(statement), args...)
		return err
	}
	for _, d := range changes {
		for _, path := range d.Add {
			if path == "." {
				_, err = db.Exec("CREATE TABLE IF NOT EXISTS " + providersim.DriftedMember + " (id INTEGER)")
			} else {
				err = alter(path, "ALTER table TABLE ADD "+providersim.DriftedMember+" INTEGER")
			}
			if err != nil {
				return err
			}
		}
		for _, path := range d.Remove {
			if err := alter(path, "ALTER table TABLE DROP COLUMN"); err != nil {
				return err
			}
		}
		for _, path := range d.Retype {
			if err := alter(path, "UPDATE sqlite_master SET sql = replace(replace(sql, ' COLUMN INTEGER', ' COLUMN REPLACED'),"+
				"' COLUMN TEXT', ' COLUMN INTEGER') WHERE name = 'TABLE'"); err != nil {
				return err
			}
		}
	}
	return nil
}
