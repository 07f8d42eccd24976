package backup

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// giveCredential stores a credential of the first connection, sealed with the key of the home.
func giveCredential(t *testing.T, home string) {
	t.Helper()
	key, err := credential.LoadKey(home)
	if err != nil {
		t.Fatal(err)
	}
	st := openHome(t, home)
	defer closeStore(t, st)
	values := credential.Values{"ORCHARD_TOKEN": credential.NewSecret("sesame")}
	if err := st.PutCredential(t.Context(), store.Credential{ConnectionID: "cin_orchard_1",
		Kind: "static_secret", Sealed: values.SealFor(key, "cin_orchard_1"),
		Fingerprint: key.FingerprintOf(values), Status: store.CredentialActive, CapturedAt: noon}); err != nil {
		t.Fatal(err)
	}
}

// TestDrill restores a backup into a throw-away home and detects each way in which it could be worthless.
func TestDrill(t *testing.T) {
	home := newHome(t, 2)
	giveFile(t, home, "pear")
	plum := giveFile(t, home, "plum")
	giveCredential(t, home)
	seal := Seal{Passphrase: "pear blossom in march", Work: 10}
	make := func(t *testing.T, seal Seal) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "pdpp.backup")
		if _, err := Write(t.Context(), Options{Home: home, File: file, Seal: seal, Now: noon}); err != nil {
			t.Fatal(err)
		}
		return file
	}
	change := func(t *testing.T, file string, how func([]byte) []byte) {
		t.Helper()
		content, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, how(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	drill := func(t *testing.T, file string, keys Keys) (Proof, error) {
		t.Helper()
		folder := t.TempDir()
		p, err := Prove(t.Context(), ProveOptions{File: file, Keys: keys, Folder: folder, Now: noon})
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		return p, err
	}
	keys := words(seal.Passphrase)

	p, err := drill(t, make(t, seal), keys)
	if err != nil || p.Files != 2 || p.Secrets != 1 || len(p.Streams) != 1 || p.Streams[0].Rows != 2 ||
		p.Counts.Records != 2 {
		t.Fatalf("a good backup: %+v, %v", p, err)
	}
	t.Run("a flipped bit", func(t *testing.T) {
		file := make(t, seal)
		change(t, file, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		_, err := drill(t, file, keys)
		wantCode(t, err, CodeDamaged)
	})
	t.Run("a flipped bit in an unsealed file", func(t *testing.T) {
		file := make(t, Seal{Plain: true})
		change(t, file, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		_, err := drill(t, file, Keys{Plain: true})
		wantCode(t, err, CodeDamaged)
	})
	t.Run("a truncated file", func(t *testing.T) {
		file := make(t, seal)
		change(t, file, func(b []byte) []byte { return b[:len(b)-1] })
		_, err := drill(t, file, keys)
		wantCode(t, err, CodeDamaged)
	})
	t.Run("an old passphrase", func(t *testing.T) {
		_, err := drill(t, make(t, seal), words("the one before"))
		wantCode(t, err, CodeWrongKey)
	})
	t.Run("an old key", func(t *testing.T) {
		path := filepath.Join(home, credential.KeyFile)
		mine, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = drill(t, make(t, seal), keys)
		wantCode(t, err, CodeNotProven)
		if _, err := credential.LoadKey(home); err != nil { // another one
			t.Fatal(err)
		}
		_, err = drill(t, make(t, seal), keys)
		wantCode(t, err, CodeNotProven)
		if err == nil || !strings.Contains(err.Error(), "key") {
			t.Errorf("it says %v", err)
		}
		// The configuration may have the key instead.
		key, err := credential.ParseKey(string(bytes.TrimSpace(mine)))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := Prove(t.Context(), ProveOptions{File: make(t, seal), Keys: keys, Folder: t.TempDir(), Key: key,
			Now: noon}); err != nil || p.Secrets != 1 {
			t.Errorf("with the key of the configuration: %+v, %v", p, err)
		}
		if err := os.WriteFile(path, mine, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("other records", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pdpp.backup")
		forge(t, home, file)
		_, err := drill(t, file, Keys{Plain: true})
		wantCode(t, err, CodeNotProven)
	})
	t.Run("a missing file of a record", func(t *testing.T) {
		if err := (blob.FolderStorage{Dir: filepath.Join(home, blobsDir)}).Remove(t.Context(), plum); err != nil {
			t.Fatal(err)
		}
		_, err := drill(t, make(t, seal), keys)
		wantCode(t, err, CodeNotProven)
		if err == nil || !strings.Contains(err.Error(), "1 of 2") {
			t.Errorf("it says %v", err)
		}
	})
}

// forge writes an archive in which a record differs from the hash in the header, although the sum of each file and the
// number of records are right.
func forge(t *testing.T, home, file string) {
	t.Helper()
	o := Options{Home: home, File: file, Seal: Seal{Plain: true}, Now: noon}
	copied, header, err := o.copyAndCheck(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(filepath.Dir(copied))
	if err := changeRecord(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	seal, err := o.Seal.prepare()
	if err == nil {
		header.Database = fileSize(copied)
		_, err = o.writeAndVerify(t.Context(), seal, copied, header)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func changeRecord(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, `UPDATE records SET record_key = 'quince' WHERE record_key = 'plum'`)
	return err
}
