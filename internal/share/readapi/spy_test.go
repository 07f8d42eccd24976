package readapi_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// hashSpy records what a store receives for tokens.
type hashSpy struct {
	store.Store
	seen [][]byte
}

func (s *hashSpy) CreateGrant(ctx context.Context, g store.Grant, hash []byte) error {
	s.seen = append(s.seen, hash)
	return s.Store.CreateGrant(ctx, g, hash)
}

func (s *hashSpy) GrantByToken(ctx context.Context, hash []byte) (store.Grant, error) {
	s.seen = append(s.seen, hash)
	return s.Store.GrantByToken(ctx, hash)
}

// The files of the database do not hold the token, nor its random part.
func TestTokenIsNotInTheFiles(t *testing.T) {
	folder := t.TempDir()
	kept, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(folder, "pdpp.db")), sqlite.Options{})
	check(t, err)
	defer kept.Close()
	w := &world{t: t, store: kept}
	_, err = kept.PutManifest(t.Context(), "journal", []byte(journal), noon)
	check(t, err)
	w.furnish()
	g, token, err := grants.NewService(kept, "", w.time).Create(t.Context(),
		grants.New{ClientName: "Reader", Scope: grants.GrantedStreams{notes}})
	check(t, err)
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	check(t, err)
	var all []byte
	for _, file := range files {
		content, err := os.ReadFile(file)
		check(t, err)
		all = append(all, content...)
	}
	if !bytes.Contains(all, []byte(g.ID)) {
		t.Fatal("the files do not hold the grant: the search does not see what it is for")
	}
	if bytes.Contains(all, []byte(token[len(grants.TokenPrefix):])) {
		t.Error("the files hold the token")
	}
}
