package backup

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// TestUnsealedArchiveIsRefused checks that an unsealed archive, which anyone could have made, is rejected unless the
// owner allows it.
func TestUnsealedArchiveIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pdpp.backup")
	if _, err := Write(t.Context(), Options{Home: newHome(t, 1), File: file, Seal: Seal{Plain: true},
		Now: noon}); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "home")
	for name, keys := range map[string]Keys{"nothing": {}, "a passphrase": words("pear blossom in march")} {
		_, err := Restore(t.Context(), RestoreOptions{File: file, Home: to, Keys: keys, Now: noon})
		t.Log(name)
		wantCode(t, err, CodeNotSealed)
	}
	if _, err := os.Lstat(to); err == nil {
		t.Error("something was restored")
	}
	done, err := Restore(t.Context(), RestoreOptions{File: file, Home: to, Keys: Keys{Plain: true}, Now: noon})
	if err != nil || len(done.Connectors) != 1 || done.Connectors[0] != "orchard" {
		t.Errorf("restored %+v, %v", done, err)
	}
}

// TestWorkOfThePassphraseIsBounded checks that an archive that demands hours of key derivation is rejected at once.
func TestWorkOfThePassphraseIsBounded(t *testing.T) {
	var b bytes.Buffer
	r, err := age.NewScryptRecipient("pear blossom in march")
	if err != nil {
		t.Fatal(err)
	}
	r.SetWorkFactor(10)
	w, err := age.Encrypt(&b, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "slow")
	write(t, file, string(bytes.Replace(b.Bytes(), []byte(" 10\n"), []byte(" 21\n"), 1)), 0o600)
	_, err = Restore(t.Context(), RestoreOptions{File: file, Home: filepath.Join(t.TempDir(), "home"),
		Keys: words("pear blossom in march"), Now: noon})
	var e *usererr.Error
	if !errors.As(err, &e) || e.Err == nil || !strings.Contains(e.Err.Error(), "work factor too large") {
		t.Fatalf("error = %v, and nothing of the work", err)
	}
}

// TestBombIsBounded checks that unpacking stops when an archive exceeds the size in its header.
//
//pdpp:tier unraced
func TestBombIsBounded(t *testing.T) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	head, err := os.ReadFile(forged(t, `{"format":1,"files":1,"content_bytes":10}`))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		t.Fatal(err)
	}
	begin, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(begin[:1024]); err != nil { // only the header, without the end of the tar
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range 256 {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var seen int64
	_, err = readArchive(t.Context(), &b, true, nil, discardReceiver{}, func(done int64) { seen = done })
	if err == nil || seen > maxSumsSize+maxHeaderSize+(1<<20) {
		t.Errorf("%d bytes were unpacked: %v", seen, err)
	}
}

// TestRestoreEndsAccess checks that a restore ends all access unless the owner keeps it, and that links in a
// connector's folder are not followed.
func TestRestoreEndsAccess(t *testing.T) {
	home := newHome(t, 1)
	if err := os.Symlink(filepath.Join(home, "secret.key"),
		filepath.Join(home, connectorsDir, "orchard", "link")); err != nil {
		t.Fatal(err)
	}
	st := openHome(t, home)
	err := st.PutSession(t.Context(), store.Session{Hash: []byte("session"), ExpiresAt: noon.Add(time.Hour)})
	if err == nil {
		err = st.CreateOwnerToken(t.Context(), store.OwnerToken{ID: "tok_1", Hash: []byte("token"), Prefix: "t",
			Label: "laptop", CreatedAt: noon})
	}
	if err == nil {
		err = st.CreateGrant(t.Context(), store.Grant{ID: "grt_1", ClientID: "app", ClientName: "App", Mode: "continuous",
			CreatedAt: noon}, []byte("grant"))
	}
	if err == nil {
		err = errors.Join(st.PutDevice(t.Context(), store.Device{ID: "dev_1", DisplayName: "Laptop", Status: "active",
			CreatedAt: noon, UpdatedAt: noon}),
			st.CreatePasskey(t.Context(), store.Passkey{ID: "key_1", Host: "localhost", Label: "Phone", Credential: []byte("c"),
				CreatedAt: noon}),
			st.PutRecoveryCodes(t.Context(), [][]byte{[]byte("code")}, noon),
			st.PutTarget(t.Context(), store.PushTarget{ID: "hook", Kind: store.TargetWebhook, Label: "Hook",
				Endpoint: "https://hook.lantern.example/", CreatedAt: noon}),
			st.AddWebhook(t.Context(), store.Webhook{ID: "wh_1", Name: "Ledger", CreatedAt: noon}),
			st.SetEmbedding(t.Context(), store.Embedding{Generation: "emb_1", Kind: "ollama", ChangedAt: noon}))
	}
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, st)
	file := filepath.Join(t.TempDir(), "pdpp.backup")
	if _, err := Write(t.Context(), Options{Home: home, File: file, Seal: Seal{Plain: true}, Now: noon}); err != nil {
		t.Fatal(err)
	}
	for _, keep := range []bool{false, true} {
		to := filepath.Join(t.TempDir(), "home")
		done, err := Restore(t.Context(), RestoreOptions{File: file, Home: to, Keys: Keys{Plain: true}, KeepAccess: keep,
			Now: noon})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(to, connectorsDir, "orchard", "link")); err == nil {
			t.Error("a link was restored")
		}
		restored := openHome(t, to)
		_, sessionErr := restored.Session(t.Context(), []byte("session"), noon)
		token, err := restored.OwnerToken(t.Context(), []byte("token"))
		if err != nil {
			t.Fatal(err)
		}
		grant, err := restored.Grant(t.Context(), "grt_1")
		if err != nil {
			t.Fatal(err)
		}
		device, deviceErr := restored.Device(t.Context(), "dev_1")
		passkeys, passkeysErr := restored.Passkeys(t.Context())
		codeErr := restored.UseRecoveryCode(t.Context(), []byte("code"), noon)
		targets, targetsErr := restored.Targets(t.Context())
		webhooks, webhooksErr := restored.Webhooks(t.Context())
		if err := errors.Join(deviceErr, passkeysErr, targetsErr, webhooksErr); err != nil {
			t.Fatal(err)
		}
		_, embeddingErr := restored.Embedding(t.Context())
		closeStore(t, restored)
		open := map[string]bool{"session": sessionErr == nil, "token": token.RevokedAt == nil,
			"grant":  grant.RevokedAt == nil,
			"device": device.RevokedAt == nil, "passkey": len(passkeys) > 0, "recovery code": codeErr == nil,
			"push target": len(targets) > 0, "webhook": len(webhooks) > 0, "endpoint for texts": embeddingErr == nil}
		for what, is := range open {
			if is != keep {
				t.Errorf("keep %v: the %s is open: %v", keep, what, is)
			}
		}
		if (done.Ended == 8) == keep || done.Ended != len(done.EndedList) {
			t.Errorf("keep %v: %+v ended", keep, done.EndedList)
		}
	}
}
