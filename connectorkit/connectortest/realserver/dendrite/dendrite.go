// Package dendrite runs the real Dendrite, a homeserver of Matrix, on a database of its own.
//
//	dendrite.go  the server
//	account.go   a person on it, and what they do
//	database.go  what exists, read from the server's database and folder of files
package dendrite

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the server's database

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Variable names the program of the tests.
const Variable = "PDPP_TEST_DENDRITE"

// Program is the Dendrite of the tests. Without one the test fails: a server that was not met
// proves nothing.
func Program(t testing.TB) string {
	t.Helper()
	program := os.Getenv(Variable)
	if program == "" {
		t.Fatalf("%s is not set; run `make test`, which builds the server for the tests", Variable)
	}
	return program
}

// Limits are those of the server's own limiter: so many requests at once, then one in each cool-off.
// Without a threshold there are none.
type Limits struct {
	Threshold, CoolOffMS int
}

// Server is a Dendrite at work.
type Server struct {
	URL      string
	dir      string
	database *sql.DB
}

// serverName is that of the server in addresses of Matrix.
const serverName = "home.example"

// registrationSecret lets a test make accounts.
const registrationSecret = "registration-of-the-test"

const settingsTemplate = `version: 2
global:
  server_name: %s
  private_key: key.pem
  database: {connection_string: "%s", max_open_conns: 20, max_idle_conns: 10}
  disable_federation: true
  jetstream:
    in_memory: true
    storage_path: ./
  cache:
    max_size_estimated: 32mb
    max_age: 1h
client_api:
  registration_disabled: true
  registration_shared_secret: %s
  rate_limiting:
    enabled: %t
    threshold: %d
    cooloff_ms: %d
media_api:
  base_path: ./media
  max_file_size_bytes: 104857600
sync_api:
  search: {enabled: false}
user_api:
  bcrypt_cost: 4
logging:
  - {type: std, level: error}
`

// Start runs the program with a database and a folder, which may have been a server's before.
func Start(program, database, dir string, limits Limits) (*Server, func() error, error) {
	config := fmt.Sprintf(settingsTemplate, serverName, database, registrationSecret, limits.Threshold > 0,
		limits.Threshold, limits.CoolOffMS)
	if err := errors.Join(writeSigningKey(dir), os.WriteFile(filepath.Join(dir, "dendrite.yaml"), []byte(config),
		0o600)); err != nil {
		return nil, nil, err
	}
	port, err := realserver.FreePort()
	if err != nil {
		return nil, nil, err
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	s := &Server{URL: "http://" + address, dir: dir}
	if s.database, err = sql.Open("pgx", database); err != nil {
		return nil, nil, err
	}
	p, err := realserver.StartServer(realserver.Command{
		Program: program, Args: []string{"--config", "dendrite.yaml", "--http-bind-address", address, "--https-bind-address",
			"127.0.0.1:0"}, Dir: dir,
		Env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TZ=UTC"},
		Ready: func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/_matrix/client/versions", nil)
			if err != nil {
				return err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		},
	})
	if err != nil {
		return nil, nil, errors.Join(err, s.database.Close())
	}
	return s, func() error { return errors.Join(s.database.Close(), p.Stop()) }, nil
}

// writeSigningKey creates the server's signing key, unless it has one.
func writeSigningKey(dir string) error {
	path := filepath.Join(dir, "key.pem")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	key := "-----BEGIN MATRIX PRIVATE KEY-----\nKey-ID: ed25519:test\n\n" +
		base64.StdEncoding.EncodeToString(private.Seed()) + "\n-----END MATRIX PRIVATE KEY-----\n"
	return os.WriteFile(path, []byte(key), 0o600)
}
