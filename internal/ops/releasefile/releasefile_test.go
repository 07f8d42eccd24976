package releasefile

import (
	"bytes"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const list = "0a1b  pdpp_1.3.0_linux_amd64.tar.gz\n2c3d  pdpp_1.3.0_windows_arm64.zip\n4e5f  pdpp_1.3.0_amd64.deb\n"

// sign signs a text as scripts/release does.
func sign(t *testing.T, text, namespace string) (signature []byte, key string) {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "ssh-keygen", args...).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	private, file := filepath.Join(dir, "key"), filepath.Join(dir, "SHA256SUMS")
	run("-q", "-t", "ed25519", "-N", "", "-C", "release", "-f", private)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run("-q", "-Y", "sign", "-f", private, "-n", namespace, file)
	signature, err := os.ReadFile(file + ".sig")
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(private + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return signature, string(public)
}

// TestVerify accepts what ssh-keygen signed, and nothing else.
func TestVerify(t *testing.T) {
	signature, key := sign(t, list, namespace)
	if err := Verify([]byte(list), signature, key); err != nil {
		t.Fatal(err)
	}
	_, other := sign(t, list, namespace)
	forMail, mailKey := sign(t, list, "file")
	block, _ := pem.Decode(signature)
	for name, c := range map[string]struct {
		list, signature []byte
		key             string
	}{
		"another list":         {[]byte(list + "6a7b  pdpp_9.9.9_linux_amd64.tar.gz\n"), signature, key},
		"another key":          {[]byte(list), signature, other},
		"for another purpose":  {[]byte(list), forMail, mailKey},
		"no signature":         {[]byte(list), nil, key},
		"no key":               {[]byte(list), signature, ""},
		"a key of RSA":         {[]byte(list), signature, "ssh-rsa AAAA"},
		"a key that is no key": {[]byte(list), signature, "ssh-ed25519 !"},
	} {
		if Verify(c.list, c.signature, c.key) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for i := range block.Bytes {
		for _, b := range [][]byte{block.Bytes[:i], append(bytes.Clone(block.Bytes[:i]), append([]byte{block.Bytes[i] ^ 1},
			block.Bytes[i+1:]...)...)} {
			if Verify([]byte(list), pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: b}), key) == nil {
				t.Errorf("byte %d: a changed or truncated signature was accepted", i)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	if v, err := Version([]byte(list)); err != nil || v != "v1.3.0" {
		t.Errorf("%q, %v", v, err)
	}
	for _, wrong := range []string{"", "0a1b  pdpp_x_linux_amd64.tar.gz\n", list + "0a  pdpp_1.4.0_linux_arm64.tar.gz\n",
		"0a1b  ../pdpp_1.3.0_linux_amd64.tar.gz\n"} {
		if v, err := Version([]byte(wrong)); err == nil {
			t.Errorf("%q has the version %s", wrong, v)
		}
	}
	for running, newer := range map[string]bool{"v1.2.9": true, "v1.3.0-rc1": true, "v1.3.0": false, "v1.10.0": false,
		"devel": false} {
		if Newer("v1.3.0", running) != newer {
			t.Errorf("v1.3.0 is newer than %s: %t", running, !newer)
		}
	}
}
