package serve

import (
	"bytes"
	"database/sql"
	"os"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/view"
)

// A server that finds its database damaged names that in every overview. One that finds it
// sound keeps when. Where the database checks itself, nothing is claimed.
func TestDatabaseIsVerified(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		onBoth(t, func(g *ground) {
			if damaged && g.config.Database.SQLite != nil {
				damage(g, g.config.Database.SQLite)
			}
			g.install("garden", gardenManifest, gardenConnector)
		}, func(t *testing.T, g *ground) {
			part := func(name string) (found evidence.Component) {
				rt, err := g.st.Runtime(t.Context())
				g.must(err)
				for _, c := range rt.Components {
					if c.Name == name {
						found = c
					}
				}
				return found
			}
			if g.config.Database.SQLite == nil {
				g.until("the scheduler is at work", func() bool { return part("scheduler").Status != "" })
				if got := part(store.ComponentDatabase); got.Status != "" {
					t.Errorf("claimed: %+v", got)
				}
				return
			}
			g.until("the database was checked", func() bool { return part(store.ComponentDatabase).Status != "" })
			v := view.View{Reader: g.st, Now: time.Now}
			shown, err := v.Indicator(t.Context())
			g.must(err)
			const sentence = "The database is damaged: some of what was collected can no longer be read. " +
				"Stop the server and restore the newest backup."
			if got := part(store.ComponentDatabase); (got.Status == evidence.ProbeFailed) != damaged ||
				(shown != nil) != damaged || damaged && shown.Sentence != sentence {
				t.Errorf("damaged %v: %+v, shown %+v", damaged, got, shown)
			}
		})
	}
}

// damage overwrites a page that nothing here reads.
func damage(g *ground, db *sql.DB) {
	var file string
	var page, size int64
	g.must(db.QueryRow(`SELECT file, rootpage, page_size FROM pragma_database_list, sqlite_schema, pragma_page_size
		WHERE sqlite_schema.name = 'saved_searches' AND pragma_database_list.name = 'main'`).Scan(&file, &page, &size))
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	g.must(err)
	_, err = f.WriteAt(bytes.Repeat([]byte{0xA5}, int(size)), (page-1)*size)
	g.must(err)
	g.must(f.Close())
}
