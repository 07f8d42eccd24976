package davserver

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
)

// Server is one of the programs at work.
type Server struct {
	address string // without the front
	root    string // path of the address that an owner enters
	files   func(user string) string
	layout  storageLayout
	// shelves reads what a person has, calendars or address books, where the program keeps it.
	shelves func(a *Account) ([]storedCollection, error)
	// forget has the program drop what changed in the account since the last run.
	forget func(a *Account) error
}

// storedCollection is a collection as a program keeps it.
type storedCollection struct {
	name, title, description, color string
	objects                         map[string][]byte // by name
}

// storageLayout is how a program keeps things.
type storageLayout struct {
	own   bool // one account for the whole server, without a password
	bulk  bool // a whole collection can be put at once
	props func(folder string) (name, description, color string, isCalendar, isBook bool)
	// home is the path of a person's collections, for calendars or for address books.
	home func(user string, books bool) string
}

// accountPassword is that of every account.
const accountPassword = "app-password-of-the-test"

// accountCount is how many accounts a Radicale has.
const accountCount = 400

// unsyncedRadicale starts a Radicale that does not wait for the disk at every file that it writes: it keeps one for
// each thing that it has read, ten thousand of which took half an hour on a busy disk. It has a
// setting for that which no file may set. No test cuts the power.
const unsyncedRadicale = "import radicale.pathutils as paths; paths.fsync = lambda _: None; from radicale.__main__ " +
	"import run; run()"

// StartRadicale starts a Radicale in the folder.
func StartRadicale(dir string) (*Server, func() error, error) {
	users, err := os.Create(filepath.Join(dir, "users"))
	if err != nil {
		return nil, nil, err
	}
	for i := range accountCount {
		fmt.Fprintf(users, "%s:%s\n", accountName(i), accountPassword)
	}
	if err := users.Close(); err != nil {
		return nil, nil, err
	}
	port, err := realserver.FreePort()
	if err != nil {
		return nil, nil, err
	}
	config := fmt.Sprintf("[server]\nhosts = 127.0.0.1:%d\n[auth]\ntype = htpasswd\nhtpasswd_filename = %s\n"+
		"htpasswd_encryption = plain\ndelay = 0\n"+
		"[storage]\nfilesystem_folder = %s\n[logging]\nlevel = error\n", port, users.Name(), filepath.Join(dir, "data"))
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		return nil, nil, err
	}
	s := &Server{
		files:  func(user string) string { return filepath.Join(dir, "data", "collection-root", user) },
		forget: forgetStates, shelves: readAccountFolders,
		layout: storageLayout{bulk: true, props: radicaleProps, home: func(user string, _ bool) string {
			return "/" + user +
				"/"
		}},
	}
	stop, err := s.startProcess(port, dir, "-c", unsyncedRadicale, "--config", filepath.Join(dir, "config"))
	return s, stop, err
}

// StartXandikos starts a Xandikos in the folder. It has one account.
func StartXandikos(dir string) (*Server, func() error, error) {
	port, err := realserver.FreePort()
	if err != nil {
		return nil, nil, err
	}
	data := filepath.Join(dir, "data")
	s := &Server{
		files: func(string) string { return filepath.Join(data, "user") }, shelves: readAccountFolders,
		layout: storageLayout{own: true, props: xandikosProps, home: func(_ string, books bool) string {
			if books {
				return "/user/contacts/"
			}
			return "/user/calendars/"
		}},
	}
	stop, err := s.startProcess(port, dir, "-m", "xandikos.web", "--defaults", "--directory", data, "--listen-address",
		"127.0.0.1",
		"--port", strconv.Itoa(port))
	return s, stop, err
}

// pythonProgram is Debian's, which the packages of the servers belong to.
const pythonProgram = "/usr/bin/python3"

func (s *Server) startProcess(port int, dir string, args ...string) (func() error, error) {
	s.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	p, err := realserver.StartServer(s.serverCommand(pythonProgram, dir, args...))
	if err != nil {
		return nil, err
	}
	return p.Stop, nil
}

func (s *Server) serverCommand(program, dir string, args ...string) realserver.Command {
	return realserver.Command{
		Program: program, Args: args, Dir: dir, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LANG=C.UTF-8", "TZ=UTC"},
		Ready: func(ctx context.Context) error { return realserver.IsListening(ctx, s.address) },
	}
}

func accountName(i int) string { return fmt.Sprintf("mara%03d", i) }
