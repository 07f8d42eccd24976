// Package cyrus runs a real Cyrus IMAP server for the tests of mail.
//
//	cyrus.go     the server, and commands to it
//	password.go  who may sign in
//	index.go     what exists, from its own tool and its files
package cyrus

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

// Variable names the folder in which the programs of the tests are unpacked.
const Variable = "PDPP_TEST_CYRUS"

// Programs is the folder of the Cyrus of the tests.
func Programs(t testing.TB) string {
	return realserver.UnpackedFolder(t, Variable, "cyrus", filepath.Join(programFolder, "master"))
}

const programFolder = "usr/lib/cyrus/bin"

// Password is that of every account. Any name is an account.
const Password = "correct-horse-battery"

// Server is a Cyrus at work.
type Server struct {
	Address string
	root    string // of its programs
	dir     string
	server  *realserver.Server
	doors   *passwordServer
}

// Limits are what the server allows.
type Limits struct {
	Connections int // of one account; zero means plenty
}

// Start runs the programs below root with everything that they keep in dir.
func Start(root, dir string, l Limits) (*Server, error) {
	doors, err := startPasswordServer(filepath.Join(dir, "mux"))
	if err != nil {
		return nil, err
	}
	var lost error
	for range 3 { // another process may take the port meanwhile
		port, err := realserver.FreePort()
		if err != nil {
			return nil, errors.Join(err, doors.closeServer())
		}
		s := &Server{Address: "127.0.0.1:" + strconv.Itoa(port), root: root, dir: dir, doors: doors}
		if err := s.writeSettings(port, l); err != nil {
			return nil, fmt.Errorf("prepare cyrus: %w", errors.Join(err, doors.closeServer()))
		}
		s.server, lost = realserver.StartServer(realserver.Command{
			Program: s.programPath("master"), Args: []string{"-C", s.settingsPath(), "-M", filepath.Join(dir, "cyrus.conf"),
				"-p",
				filepath.Join(dir, "pid")}, Dir: dir, Env: s.environment(),
			Ready: func(ctx context.Context) error { return realserver.IsListening(ctx, s.Address) },
		})
		if lost == nil {
			return s, nil
		}
	}
	return nil, errors.Join(lost, doors.closeServer())
}

func (s *Server) programPath(name string) string { return filepath.Join(s.root, programFolder, name) }

func (s *Server) settingsPath() string { return filepath.Join(s.dir, "imapd.conf") }

// environment leads the programs to libraries that were unpacked with them.
func (s *Server) environment() []string {
	libraries := realserver.LibraryPath(s.root)
	lib, _, _ := strings.Cut(libraries, ":")
	return []string{
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LD_LIBRARY_PATH=" + libraries,
		"SASL_PATH=" + filepath.Join(lib, "sasl2") + ":" + filepath.Join("/usr/lib", filepath.Base(lib), "sasl2"),
	}
}

func (s *Server) writeSettings(port int, l Limits) error {
	me, err := user.Current()
	if err != nil {
		return err
	}
	if me.Uid == "0" { // it refuses to read mail as root
		if me, err = user.Lookup("nobody"); err != nil {
			return err
		}
	}
	uid, err := strconv.Atoi(me.Uid)
	if err != nil {
		return err
	}
	for _, name := range []string{"conf", "spool"} {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(path, 0o755), os.Chown(path, uid, -1)); err != nil {
			return err
		}
	}
	fill := strings.NewReplacer("DIR", s.dir, "USER", me.Username, "PORT", strconv.Itoa(port), "BIN",
		filepath.Join(s.root, programFolder), "CONNECTIONS", strconv.Itoa(l.Connections))
	return errors.Join(
		os.WriteFile(s.settingsPath(), []byte(fill.Replace(settingsTemplate)), 0o644),
		os.WriteFile(filepath.Join(s.dir, "cyrus.conf"), []byte(fill.Replace(servicesTemplate)), 0o644),
	)
}

// Folders have a dot between their parts and are below INBOX, what is removed stays in the files, and
// an account is created at its first sign-in: all are the server's defaults.
const settingsTemplate = `configdirectory: DIR/conf
defaultpartition: default
partition-default: DIR/spool
cyrus_user: USER
allowplaintext: yes
sasl_pwcheck_method: saslauthd
sasl_mech_list: PLAIN
sasl_saslauthd_path: DIR/mux
maxlogins_per_user: CONNECTIONS
autocreate_quota: 0
autocreate_inbox_folders: Sent|Trash
xlist-sent: Sent
xlist-trash: Trash
unixhierarchysep: no
altnamespace: no
expunge_mode: delayed
delete_mode: delayed
mailbox_legacy_dirs: yes
skiplist_unsafe: yes
failedloginpause: 0
`

const servicesTemplate = `START {
  recover cmd="BIN/ctl_cyrusdb -C DIR/imapd.conf -r"
}
SERVICES {
  imap cmd="BIN/imapd -C DIR/imapd.conf" listen="127.0.0.1:PORT" proto="tcp" prefork=2 maxchild=100
}
EVENTS {
}
`

// Stop ends the server.
func (s *Server) Stop() error { return errors.Join(s.server.Stop(), s.doors.closeServer()) }

// Speak signs an account in and sends commands, each of which must succeed.
func (s *Server) Speak(account string, commands ...string) error {
	return realserver.SpeakIMAP(s.Address, account, Password, commands...)
}

// Expire ends the delay of what was removed: from then on the server itself does not know which
// messages a folder once had.
func (s *Server) Expire() error {
	_, err := s.runTool("cyr_expire", "-E", "0", "-X", "0", "-D", "0")
	return err
}

// Damage makes the index of a folder unreadable, as a full disk may; restore puts it back.
func (s *Server) Damage(account, folder string) (restore func() error, err error) {
	index := filepath.Join(s.dir, "spool/user", account, folder, "cyrus.index")
	if err := os.Rename(index, index+".whole"); err != nil {
		return nil, err
	}
	return func() error { return os.Rename(index+".whole", index) }, nil
}

// runTool runs one of the server's own tools against its files.
func (s *Server) runTool(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(s.programPath(name), append([]string{"-C", s.settingsPath()}, args...)...)
	cmd.Dir, cmd.Env = s.dir, s.environment()
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%s: %w: %s", name, err, failed.Stderr)
	}
	return out, err
}
