package governproxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"software.sslmate.com/src/go-pkcs12"
)

// certAuthority signs certificates for the hosts of one run. Its key exists only in memory.
type certAuthority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate

	mu     sync.Mutex
	leaves map[string]*tls.Certificate
}

func newAuthority() (*certAuthority, error) {
	a := &certAuthority{leaves: map[string]*tls.Certificate{}}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "PDPP, this run"}, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	a.cert, err = a.sign(template, template, &a.key.PublicKey)
	return a, err
}

// sign returns a certificate that is valid longer than any run.
func (a *certAuthority) sign(template, parent *x509.Certificate, key *ecdsa.PublicKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = serial, time.Now().
		Add(-time.Hour),
		time.Now().
			Add(7*24*time.Hour)
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(raw)
}

// leaf returns the certificate of a host.
func (a *certAuthority) leaf(name string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.leaves[name]; c != nil {
		return c, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{
			CommonName: name,
		},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	cert, err := a.sign(template, a.cert, &key.PublicKey)
	if err != nil {
		return nil, err
	}
	a.leaves[name] = &tls.Certificate{Certificate: [][]byte{cert.Raw, a.cert.Raw}, PrivateKey: key}
	return a.leaves[name], nil
}

// storePassword opens the trust store. It protects nothing: a trust store contains a public certificate.
const storePassword = "changeit"

// Environment returns the variables that make a program use this proxy at a port of its loopback. Unless the
// proxy is blind, they also make it trust the run's certificate, which is written into the folder. It does not
// change the system's certificate stores.
func (p *Proxy) Environment(dir string, at int) ([]string, error) {
	port := strconv.Itoa(at)
	address := "http://127.0.0.1:" + port
	env := []string{
		"HTTP_PROXY=" + address, "http_proxy=" + address, "HTTPS_PROXY=" + address, "https_proxy=" + address,
		"NO_PROXY=", "no_proxy=", "NODE_USE_ENV_PROXY=1",
	}
	java := "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=" + port + " -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=" +
		port + " -Dhttp.nonProxyHosts="
	if p.o.Blind {
		return append(env, "JAVA_TOOL_OPTIONS="+java), nil
	}
	file, trust := filepath.Join(dir, "run-ca.pem"), filepath.Join(dir, "run-ca.p12")
	if err := os.WriteFile(
		file,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.authority.cert.Raw}),
		0o600,
	); err != nil {
		return nil, fmt.Errorf("write the run's certificate: %w", err)
	}
	packed, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{p.authority.cert}, storePassword)
	if err != nil {
		return nil, fmt.Errorf("make the trust store: %w", err)
	}
	if err := os.WriteFile(trust, packed, 0o600); err != nil {
		return nil, fmt.Errorf("write the trust store: %w", err)
	}
	for _, name := range []string{"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
		"AWS_CA_BUNDLE"} {
		env = append(env, name+"="+file)
	}
	return append(env, "JAVA_TOOL_OPTIONS="+java+" -Djavax.net.ssl.trustStore="+trust+
		" -Djavax.net.ssl.trustStoreType=PKCS12 -Djavax.net.ssl.trustStorePassword="+storePassword), nil
}
