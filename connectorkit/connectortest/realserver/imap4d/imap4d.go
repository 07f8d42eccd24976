// Package imap4d runs a real imap4d of GNU Mailutils for the tests of mail.
//
//	imap4d.go  the server, and commands to it
//	mbox.go    what exists, read from its files
package imap4d

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Variable names the folder in which the program of the tests is unpacked.
const Variable = "PDPP_TEST_IMAP4D"

const imap4dProgram = "usr/sbin/imap4d"

// Programs is the folder of the imap4d of the tests.
func Programs(t testing.TB) string {
	return realserver.UnpackedFolder(t, Variable, "imap4d", imap4dProgram)
}

const (
	// Account is the one account.
	Account = "mara@harbour.example"
	// Password is that of the account.
	Password = "correct-horse-battery"
	// hashedPassword is the password as crypt(3) has it.
	hashedPassword = "$1$harbour$NU3Nwll.yGwSpi5RNHsDu1"
)

// Server is an imap4d at work.
type Server struct {
	Address string
	dir     string
	server  *realserver.Server
}

// settingsTemplate sign in by a file of passwords and keep each folder in one file.
const settingsTemplate = `virtdomain { passwd-dir DIR/domains; };
auth { authorization clear; authentication clear; authorization virtdomain:system; authentication generic; };
mailbox { mailbox-type mbox; };
logging { syslog no; };
server 127.0.0.1:PORT { };
`

// Start runs the program below root with everything that it keeps in dir.
func Start(root, dir string) (*Server, error) {
	port, err := realserver.FreePort()
	if err != nil {
		return nil, err
	}
	s := &Server{Address: "127.0.0.1:" + strconv.Itoa(port), dir: dir}
	if err := s.writeSettings(port); err != nil {
		return nil, fmt.Errorf("prepare imap4d: %w", err)
	}
	s.server, err = realserver.StartServer(realserver.Command{
		Program: filepath.Join(root, imap4dProgram), Dir: dir,
		Args:  []string{"--foreground", "--daemon", "--config-file=" + filepath.Join(dir, "settings")},
		Env:   []string{"PATH=/usr/bin:/bin", "LD_LIBRARY_PATH=" + realserver.LibraryPath(root)},
		Ready: func(ctx context.Context) error { return realserver.IsListening(ctx, s.Address) },
	})
	return s, err
}

func (s *Server) writeSettings(port int) error {
	me, err := user.Current()
	if err != nil {
		return err
	}
	if me.Uid == "0" { // mail is never read as root
		if me, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.Atoi(me.Uid)
	if err != nil {
		return err
	}
	name, domain, _ := strings.Cut(Account, "@")
	for _, sub := range []string{"domains", "home"} {
		at := filepath.Join(s.dir, sub)
		if err := errors.Join(os.Mkdir(at, 0o755), os.Chown(at, uid, -1)); err != nil {
			return err
		}
	}
	text := strings.NewReplacer("DIR", s.dir, "PORT", strconv.Itoa(port)).Replace(settingsTemplate)
	entry := fmt.Sprintf("%s:%s:%s:%s:Mara:%s:/bin/false\n", name, hashedPassword, me.Uid, me.Gid, s.accountHome())
	return errors.Join(
		os.WriteFile(filepath.Join(s.dir, "domains", domain), []byte(entry), 0o644),
		os.WriteFile(s.inboxPath(), nil, 0o600), os.Chown(s.inboxPath(), uid, -1),
		os.WriteFile(filepath.Join(s.dir, "settings"), []byte(text), 0o644),
	)
}

func (s *Server) accountHome() string { return filepath.Join(s.dir, "home") }

// Stop ends the server.
func (s *Server) Stop() error { return s.server.Stop() }

// Speak signs the account in and sends commands, each of which must succeed.
func (s *Server) Speak(commands ...string) error {
	return realserver.SpeakPlainIMAP(s.Address, Account, Password, commands...)
}
