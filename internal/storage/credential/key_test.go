package credential_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
)

func code(err error) string {
	var e *usererr.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestKeyIsReadInEveryWriting(t *testing.T) {
	raw := []byte(strings.Repeat("\xfb\xef\xbe\x01", 8)) // its base64 differs between the alphabets
	var fingerprint string
	for _, text := range []string{
		hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)), base64.StdEncoding.EncodeToString(raw),
		base64.RawStdEncoding.EncodeToString(raw), base64.URLEncoding.EncodeToString(raw), " " +
			base64.RawURLEncoding.EncodeToString(raw) + "\n",
	} {
		key, err := credential.ParseKey(text)
		if err != nil {
			t.Fatalf("ParseKey(%q): %v", text, err)
		}
		if fingerprint == "" {
			fingerprint = key.Fingerprint()
		}
		if key.Fingerprint() != fingerprint || len(fingerprint) != 16 {
			t.Errorf("%q gives the key %s, want %s", text, key.Fingerprint(), fingerprint)
		}
	}
	for _, text := range []string{"", "short", hex.EncodeToString(raw[:31]), hex.EncodeToString(append(raw, 1)),
		"correct horse battery staple"} {
		_, err := credential.ParseKey(text)
		if code(err) != credential.CodeKeyInvalid || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("ParseKey(%q) = %v", text, err)
		}
	}
}

func TestKeyFileIsMadeOnce(t *testing.T) {
	home := filepath.Join(t.TempDir(), "made", "too")
	const starters = 8
	keys := make([]credential.Key, starters)
	var wait sync.WaitGroup
	for i := range keys {
		wait.Go(func() {
			var err error
			if keys[i], err = credential.LoadKey(home); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, k := range keys {
		if k.Fingerprint() != keys[0].Fingerprint() || k.IsZero() {
			t.Fatalf("keys differ: %v", keys)
		}
	}
	left, err := os.ReadDir(home)
	if err != nil || len(left) != 1 {
		t.Fatalf("files = %v, %v", left, err)
	}
	if info, err := left[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}
}

func TestKeyFileIsRefused(t *testing.T) {
	home := t.TempDir()
	if _, err := credential.LoadKey(home); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, credential.KeyFile)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644, 0o620} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := credential.LoadKey(home)
		var e *usererr.Error
		if !errors.As(err, &e) || e.Code != credential.CodeKeyExposed || e.NextStep() != "Run: chmod 600 "+path {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("not-a-key-but-private"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := credential.LoadKey(home); code(err) != credential.CodeKeyInvalid ||
		strings.Contains(err.Error(), "private") {
		t.Errorf("a file without a key: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "not-a-key-but-private" {
		t.Error("a file that is not understood was replaced")
	}
}
