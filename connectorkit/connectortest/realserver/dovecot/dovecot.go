// Package dovecot runs a real Dovecot for the tests and measurements of mail.
//
//	dovecot.go  the server, and commands to it
//	files.go    what exists, read from its files
package dovecot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Variable names the program of the tests.
const Variable = "PDPP_TEST_DOVECOT"

// Program is the Dovecot of the tests. Without one the test fails: a server that was not met proves
// nothing.
func Program(t testing.TB) string {
	t.Helper()
	if program := os.Getenv(Variable); program != "" {
		return program
	}
	for _, place := range []string{"/usr/sbin/dovecot", "/usr/local/sbin/dovecot"} {
		if _, err := os.Stat(place); err == nil {
			return place
		}
	}
	t.Fatalf("%s is not set; run `make test`, which installs a Dovecot for the tests", Variable)
	return ""
}

// Password is that of every account. Any name is an account.
const Password = "correct-horse-battery"

// Server is a Dovecot at work.
type Server struct {
	Address string
	Secure  string // where it speaks TLS from the first word; empty without a certificate
	dir     string
	server  *realserver.Server
}

// Limits are what the server allows.
type Limits struct {
	Connections int // of one account from one place; zero means plenty
	// Certificate and Key are files in PEM. With them TLS is spoken, on a port of its own and by
	// STARTTLS.
	Certificate, Key string
}

// Start runs the program with everything that it keeps in dir.
func Start(program, dir string, l Limits) (*Server, error) {
	var lost error
	for range 3 { // another process may take the port meanwhile
		port, err := realserver.FreePort()
		if err != nil {
			return nil, err
		}
		s := &Server{Address: "127.0.0.1:" + strconv.Itoa(port), dir: dir}
		secure := 0
		if l.Certificate != "" {
			if secure, err = realserver.FreePort(); err != nil {
				return nil, err
			}
			s.Secure = "127.0.0.1:" + strconv.Itoa(secure)
		}
		if err := s.writeSettings(port, secure, l); err != nil {
			return nil, fmt.Errorf("prepare dovecot: %w", err)
		}
		s.server, lost = realserver.StartServer(realserver.Command{
			Program: program, Args: []string{"-F", "-c", filepath.Join(dir, "dovecot.conf")}, Dir: dir,
			Env:   []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
			Ready: func(ctx context.Context) error { return realserver.IsListening(ctx, s.Address) },
		})
		if lost == nil {
			return s, nil
		}
	}
	return nil, lost
}

func (s *Server) writeSettings(port, secure int, l Limits) error {
	me, err := user.Current()
	if err != nil {
		return err
	}
	name, group := me.Username, me.Gid
	mail := filepath.Join(s.dir, "mail")
	if err := os.MkdirAll(mail, 0o755); err != nil {
		return err
	}
	if me.Uid == "0" { // mail is never read as root
		unprivileged, err := user.Lookup("nobody")
		if err != nil {
			return err
		}
		name, group = unprivileged.Username, unprivileged.Gid
		uid, _ := strconv.Atoi(unprivileged.Uid)
		if err := os.Chown(mail, uid, -1); err != nil {
			return err
		}
	}
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	if l.Connections == 0 {
		l.Connections = 1000
	}
	tls := "ssl = no"
	if l.Certificate != "" {
		tls = "ssl = yes\nssl_cert = <" + l.Certificate + "\nssl_key = <" + l.Key + "\nssl_min_protocol = TLSv1.2"
	}
	config := strings.NewReplacer("TLS", tls, "SECURE", strconv.Itoa(secure), "DIR", s.dir, "USER", name, "GROUP", group,
		"PORT", strconv.Itoa(port), "PASSWORD", Password, "CONNECTIONS", strconv.Itoa(l.Connections)).Replace(configTemplate)
	return os.WriteFile(filepath.Join(s.dir, "dovecot.conf"), []byte(config), 0o644)
}

const configTemplate = `base_dir = DIR/run
state_dir = DIR/run
protocols = imap
listen = 127.0.0.1
TLS
disable_plaintext_auth = no
log_path = DIR/log
mail_location = maildir:DIR/mail/%u
mail_fsync = never
maildir_stat_dirs = yes
default_internal_user = USER
default_internal_group = GROUP
default_login_user = USER
mail_uid = USER
mail_gid = GROUP
first_valid_uid = 1
mail_max_userip_connections = CONNECTIONS
auth_failure_delay = 0
service anvil {
  chroot =
}
service stats {
  chroot =
}
service imap-login {
  chroot =
  service_count = 0
  process_min_avail = 1
  inet_listener imap {
    port = PORT
  }
  inet_listener imaps {
    port = SECURE
    ssl = yes
  }
}
service imap {
  service_count = 100
  process_limit = 50
}
passdb {
  driver = static
  args = password=PASSWORD
}
userdb {
  driver = static
  args = uid=USER gid=GROUP home=DIR/mail/%u
}
namespace inbox {
  inbox = yes
  separator = /
  mailbox Sent {
    special_use = \Sent
    auto = create
  }
  mailbox Trash {
    special_use = \Trash
    auto = create
  }
}
`

// Stop ends the server.
func (s *Server) Stop() error { return s.server.Stop() }

// Admin runs doveadm, Dovecot's own tool, against this server's files.
func (s *Server) Admin(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "doveadm", append([]string{"-c", filepath.Join(s.dir, "dovecot.conf")}, args...)...)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("doveadm: %w: %s", err, failed.Stderr)
	}
	return out, err
}

// Speak signs an account in and sends commands, each of which must succeed.
func (s *Server) Speak(account string, commands ...string) error {
	return realserver.SpeakIMAP(s.Address, account, Password, commands...)
}
