package localdb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/connectorkit/localdb"
)

// notes is a table to follow, and what a reader has of it.
type notes struct {
	db     *sql.DB
	now    time.Time
	mark   []byte // as it was kept last
	kept   map[string]string
	sent   int // rows that were brought by the last reading
	serial int
}

type note struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

func openNotes(t *rapid.T) *notes {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	n := &notes{db: db, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), kept: map[string]string{}}
	n.exec(t, "CREATE TABLE notes (id INTEGER PRIMARY KEY, guid TEXT, text TEXT, at INTEGER)")
	return n
}

func (n *notes) exec(t *rapid.T, text string, args ...any) {
	if _, err := n.db.Exec(text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func (n *notes) add(t *rapid.T, at time.Time) {
	n.serial++
	n.exec(t, "INSERT INTO notes (guid, text, at) VALUES (?, 'first', ?)", fmt.Sprintf("note-%d", n.serial), at.Unix())
}

var errEnded = errors.New("the process was ended")

// read follows the table from what was kept. It ends after some places when places is not
// negative, as a process that is killed does.
func (n *notes) read(t *rapid.T, page, places int) {
	var mark localdb.Mark
	if n.mark != nil {
		if err := json.Unmarshal(n.mark, &mark); err != nil {
			t.Fatal(err)
		}
	}
	pending := map[string]string{}
	n.sent = 0
	f := localdb.Follower{
		DB: n.db, Mark: &mark, Now: n.now, Page: page,
		Bring: func(row localdb.Row) {
			n.sent++
			pending[row.Key] = row.Records[0].Data.(note).Text
		},
		Place: func(context.Context) error {
			if places == 0 {
				return errEnded
			}
			places--
			maps.Copy(n.kept, pending)
			clear(pending)
			n.mark, _ = json.Marshal(mark)
			return nil
		},
		Table: localdb.Table{
			Name: "notes", ID: "id", Key: "guid", Select: "SELECT t.id, t.guid, t.text, t.at FROM notes t",
			Recent: func(from time.Time) (string, []any) { return "t.at >= ?", []any{from.Unix()} },
			Row: func(rows *sql.Rows) (localdb.Row, error) {
				var row localdb.Row
				var text string
				var at int64
				err := rows.Scan(&row.ID, &row.Key, &text, &at)
				row.At = time.Unix(at, 0)
				row.Records = []localdb.Record{{Stream: "notes", Data: note{row.Key, text}}}
				return row, err
			},
		},
	}
	if err := f.Follow(t.Context()); err != nil && !errors.Is(err, errEnded) {
		t.Fatal(err)
	}
}

// holds compares with the table as it is.
func (n *notes) holds(t *rapid.T) {
	rows, err := n.db.Query("SELECT guid, text FROM notes")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var key, text string
		if err := rows.Scan(&key, &text); err != nil {
			t.Fatal(err)
		}
		if n.kept[key] != text {
			t.Fatalf("%s is %q and was kept as %q", key, text, n.kept[key])
		}
	}
}

// TestFollowing holds, over any history of a table and of its reader, that everything in the
// table is kept as it is, and that a reading of what did not change brings nothing.
func TestFollowing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := openNotes(t)
		defer n.db.Close()
		for range rapid.IntRange(0, 12).Draw(t, "before") {
			n.add(t, n.now.AddDate(0, 0, -rapid.IntRange(0, 60).Draw(t, "age")))
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) { n.add(t, n.now.AddDate(0, 0, -rapid.IntRange(0, 60).Draw(t, "age"))) },
			"change": func(t *rapid.T) {
				n.exec(t, "UPDATE notes SET text = ? WHERE at >= ? AND id % 3 = ?",
					fmt.Sprint("changed ", n.serial, " ", rapid.IntRange(0, 99).Draw(t, "n")),
					n.now.AddDate(0, 0, -20).Unix(), rapid.IntRange(0, 2).Draw(t, "which"))
			},
			"delete": func(t *rapid.T) {
				n.exec(t, "DELETE FROM notes WHERE id % 4 = ?", rapid.IntRange(0, 3).Draw(t, "which"))
			},
			"delete last": func(t *rapid.T) { n.exec(t, "DELETE FROM notes WHERE id = (SELECT max(id) FROM notes)") },
			"restore": func(t *rapid.T) { // an older state, which then grows on with other rows
				n.exec(t, "DELETE FROM notes WHERE id > ?", rapid.IntRange(0, n.serial).Draw(t, "left"))
				for range rapid.IntRange(0, 8).Draw(t, "grown") {
					n.add(t, n.now)
				}
				n.exec(t, "UPDATE notes SET text = 'first' WHERE at >= ?", n.now.AddDate(0, 0, -20).Unix())
			},
			"days pass": func(t *rapid.T) { n.now = n.now.AddDate(0, 0, rapid.IntRange(0, 8).Draw(t, "days")) },
			"killed": func(t *rapid.T) {
				n.read(t, rapid.IntRange(1, 4).Draw(t, "page"), rapid.IntRange(0, 4).Draw(t, "places"))
			},
			"read": func(t *rapid.T) {
				page := rapid.IntRange(1, 5).Draw(t, "page")
				n.read(t, page, -1)
				n.holds(t)
				n.read(t, page, -1)
				if n.sent > 0 {
					t.Fatalf("%d rows were brought although nothing had changed", n.sent)
				}
			},
		})
	})
}

// TestApple holds both counts of Apple's programs, and what is no time.
func TestApple(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 30, 0, 250e6, time.UTC)
	seconds, nanoseconds := localdb.AppleCounts(at)
	for v, want := range map[any]time.Time{
		nanoseconds: at, seconds: at.Truncate(time.Second), float64(seconds) + 0.25: at,
		fmt.Sprint(seconds): at.Truncate(time.Second),
		int64(0):            {}, int64(-5): {}, "never": {}, int64(9e18): {}, float64(1e300): {},
	} {
		if got := localdb.AppleTime(v); !got.Equal(want) {
			t.Errorf("%v is %v, want %v", v, got, want)
		}
	}
}
