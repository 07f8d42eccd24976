// Package courier runs a real Courier IMAP server for the tests of mail.
//
//	courier.go  the server, and commands to it
//	files.go    what exists, read from its files
package courier

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Variable names the folder in which the programs of the tests are unpacked.
const Variable = "PDPP_TEST_COURIER"

const imapdProgram = "usr/bin/imapd"

// Programs is the folder of the Courier of the tests.
func Programs(t testing.TB) string {
	return realserver.UnpackedFolder(t, Variable, "courier", imapdProgram)
}

// Password is that of every account. Any name is an account.
const Password = "correct-horse-battery"

// capabilities are those of Debian's settings.
const capabilities = "IMAP4rev1 UIDPLUS CHILDREN NAMESPACE THREAD=ORDEREDSUBJECT THREAD=REFERENCES SORT QUOTA IDLE"

// Server is a Courier at work. It signs people in itself, where Courier asks a daemon with compiled-in paths, and
// then hands each connection to Courier's imapd, as Courier does.
type Server struct {
	Address  string
	root     string // of its programs
	dir      string
	uid, gid int
	l        net.Listener
	stop     context.CancelFunc
	all      sync.WaitGroup
}

// Start runs the programs below root with everything that they keep in dir.
func Start(root, dir string) (*Server, error) {
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	if me.Uid == "0" { // mail is never read as root
		if me, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	s := &Server{root: root, dir: filepath.Join(dir, "mail")}
	s.uid, _ = strconv.Atoi(me.Uid) // numbers on every system that Courier is for
	s.gid, _ = strconv.Atoi(me.Gid)
	if err := s.makeFolder(s.dir); err != nil {
		return nil, err
	}
	if s.l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.Address = s.l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.all.Go(func() {
		for {
			conn, err := s.l.Accept()
			if err != nil {
				return
			}
			s.all.Go(func() {
				defer conn.Close()
				_ = s.serveConnection(ctx, conn.(*net.TCPConn)) // a client that goes away hears nothing
			})
		}
	})
	return s, nil
}

// Stop ends the server.
func (s *Server) Stop() error {
	err := s.l.Close()
	s.stop()
	s.all.Wait()
	return err
}

func (s *Server) makeFolder(path string) error {
	return errors.Join(os.Mkdir(path, 0o755), os.Chown(path, s.uid, s.gid))
}

// accountHome makes an account, unless it is there.
func (s *Server) accountHome(account string) (string, error) {
	home := filepath.Join(s.dir, account)
	if _, err := os.Stat(home); err == nil {
		return home, nil
	}
	err := s.makeFolder(home)
	for _, folder := range []string{"Maildir", "Maildir/.Sent", "Maildir/.Trash"} {
		for _, sub := range []string{"", "tmp", "new", "cur"} {
			err = errors.Join(err, s.makeFolder(filepath.Join(home, folder, sub)))
		}
	}
	return home, err
}

// serveConnection signs a user in and hands the connection over.
func (s *Server) serveConnection(ctx context.Context, conn *net.TCPConn) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	fmt.Fprintf(conn, "* OK [CAPABILITY %s] Courier-IMAP ready.\r\n", capabilities)
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		words := append(strings.Fields(line), "", "", "")
		switch name := strings.Trim(words[2], `"`); strings.ToUpper(words[1]) {
		case "CAPABILITY":
			fmt.Fprintf(conn, "* CAPABILITY %s\r\n%s OK CAPABILITY completed\r\n", capabilities, words[0])
		case "LOGIN":
			if strings.Trim(words[3], `"`) == Password {
				return s.handToCourier(ctx, conn, name, words[0])
			}
			fmt.Fprintf(conn, "%s NO Login failed.\r\n", words[0])
		default:
			fmt.Fprintf(conn, "%s BAD Error in IMAP command received by server.\r\n", words[0])
		}
	}
}

// handToCourier runs Courier's imapd on a connection, with the environment that its own sign-in leaves.
func (s *Server) handToCourier(ctx context.Context, conn *net.TCPConn, account, tag string) error {
	home, err := s.accountHome(account)
	if err != nil {
		return err
	}
	file, err := conn.File()
	if err != nil {
		return err
	}
	defer file.Close()
	lib := filepath.Join(s.root, "usr/lib")
	imapd := exec.CommandContext(ctx, filepath.Join(s.root, imapdProgram), "Maildir")
	imapd.Dir, imapd.Stdin, imapd.Stdout = home, file, file
	imapd.Env = []string{
		"LD_LIBRARY_PATH=" + lib + ":" + realserver.LibraryPath(s.root), "IMAPLOGINTAG=" + tag, "AUTHENTICATED=" + account,
		"TCPREMOTEIP=127.0.0.1", "TCPREMOTEPORT=1", "PROTOCOL=IMAP", "IMAP_CAPABILITY=" + capabilities,
		"IMAP_KEYWORDS=1", "IMAP_ACL=1",
		"IMAP_USELOCKS=1", "IMAP_TRASHFOLDERNAME=Trash", "HOSTNAME=harbour.example", "HOME=" + home,
	}
	if os.Getuid() == 0 {
		imapd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(s.uid), Gid: uint32(s.gid)}}
	}
	return imapd.Run()
}

// Speak signs an account in and sends commands, each of which must succeed.
func (s *Server) Speak(account string, commands ...string) error {
	return realserver.SpeakPlainIMAP(s.Address, account, Password, commands...)
}

// Deliver puts a message into the inbox as a program for delivery does, without IMAP.
func (s *Server) Deliver(account, name string, content []byte) error {
	home, err := s.accountHome(account)
	if err != nil {
		return err
	}
	path := filepath.Join(home, "Maildir/new", name)
	return errors.Join(os.WriteFile(path, content, 0o600), os.Chown(path, s.uid, s.gid))
}
