package imap_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/dovecot"
	"github.com/pdpp-go/pdpp/connectors/imap"
	"github.com/pdpp-go/pdpp/protocol"
)

// authority signs the certificates of these tests. TestMain makes it the one that this process trusts,
// before anything is verified.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(dir string) (*authority, error) {
	a := &authority{dir: dir}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Harbour authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return a, writePEM(filepath.Join(dir, "authority.pem"), "CERTIFICATE", der)
}

// issue creates a certificate for an address, and returns the paths of the certificate and its key.
func (a *authority) issue(t *testing.T, name string, ip net.IP) (cert, key string) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip != nil {
		template.IPAddresses = []net.IP{ip}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &own.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+".key")
	for path, body := range map[string][]byte{cert: der, key: secret} {
		kind := "CERTIFICATE"
		if path == key {
			kind = "EC PRIVATE KEY"
		}
		if err := writePEM(path, kind, body); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// encryptedServer is a Dovecot with a certificate for a name.
func encryptedServer(t *testing.T, name string, ip net.IP) *dovecot.Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "srv")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cert, key := trusted.issue(t, name, ip)
	server, err := dovecot.Start(dovecot.Program(t), dir, dovecot.Limits{Certificate: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// TestEncrypted reads mail from a real server over TLS, from the start and after STARTTLS. It rejects a certificate
// for another name.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	server := encryptedServer(t, "harbour.example", net.IPv4(127, 0, 0, 1))
	m := &mailbox{user: "mara"}
	if err := server.Speak(m.user, m.deliver("INBOX", 4)); err != nil {
		t.Fatal(err)
	}
	for how, address := range map[string]string{"tls": server.Secure, "starttls": server.Address} {
		k := inprocess.NewMemoryRunner(t, imap.Connector(),
			map[string]string{"IMAP_ADDRESS": m.user, "IMAP_PASSWORD": dovecot.Password,
				"IMAP_SERVER": address, "PDPP_IMAP_SECURITY": how}).Run()
		if len(k.Records["messages"]) != 4 || len(k.Records["bodies"]) != 4 {
			t.Errorf("%s: %d messages, %d texts", how, len(k.Records["messages"]), len(k.Records["bodies"]))
		}
	}
	other := encryptedServer(t, "elsewhere.example", nil)
	for how, address := range map[string]string{"tls": other.Secure, "starttls": other.Address} {
		r := inprocess.NewMemoryRunner(t, imap.Connector(),
			map[string]string{"IMAP_ADDRESS": m.user, "IMAP_PASSWORD": dovecot.Password,
				"IMAP_SERVER": address, "PDPP_IMAP_SECURITY": how})
		var sent []byte
		r.Observe = func(m protocol.Message) { sent, _ = protocol.AppendLine(sent, m) }
		ended := r.Try()
		message := string(sent) + ended.Log
		if ended.Exit == 0 || !strings.Contains(message, "certificate is not valid for its name") ||
			strings.Contains(message, dovecot.Password) {
			t.Errorf("%s: a certificate for another name ends with %d: %s", how, ended.Exit, message)
		}
	}
}
