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
	layout  layout
	// shelves reads what a person has, calendars or address books, where the program keeps it.
	shelves func(a *Account) ([]shelf, error)
	// forget has the program drop what changed in the account since the last run.
	forget func(a *Account) error
}

// shelf is a collection as a program keeps it.
type shelf struct {
	name, title, description, color string
	objects                         map[string][]byte // by name
}

// layout is how a program keeps things.
type layout struct {
	own   bool // one person for the whole server, whom it does not ask for a password
	bulk  bool // a whole collection can be put at once
	props func(folder string) (name, description, color string, isCalendar, isBook bool)
	// home is the path of a person's collections, for calendars or for address books.
	home func(user string, books bool) string
}

// password is that of everybody.
const password = "app-password-of-the-test"

// people is how many accounts a Radicale has.
const people = 400

// unsynced starts a Radicale that does not wait for the disk at every file that it writes: it keeps one for
// each thing that it has read, ten thousand of which took half an hour on a busy disk. It has a
// setting for that which no file may set. No test cuts the power.
const unsynced = "import radicale.pathutils as paths; paths.fsync = lambda _: None; from radicale.__main__ import run; run()"

// Radicale starts a Radicale in the folder.
func Radicale(dir string) (*Server, func() error, error) {
	users, err := os.Create(filepath.Join(dir, "users"))
	if err != nil {
		return nil, nil, err
	}
	for i := range people {
		fmt.Fprintf(users, "%s:%s\n", person(i), password)
	}
	if err := users.Close(); err != nil {
		return nil, nil, err
	}
	port, err := realserver.FreePort()
	if err != nil {
		return nil, nil, err
	}
	config := fmt.Sprintf("[server]\nhosts = 127.0.0.1:%d\n[auth]\ntype = htpasswd\nhtpasswd_filename = %s\nhtpasswd_encryption = plain\ndelay = 0\n"+
		"[storage]\nfilesystem_folder = %s\n[logging]\nlevel = error\n", port, users.Name(), filepath.Join(dir, "data"))
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		return nil, nil, err
	}
	s := &Server{
		files:  func(user string) string { return filepath.Join(dir, "data", "collection-root", user) },
		forget: forgetStates, shelves: folders,
		layout: layout{bulk: true, props: radicaleProps, home: func(user string, _ bool) string { return "/" + user + "/" }},
	}
	stop, err := s.run(port, dir, "-c", unsynced, "--config", filepath.Join(dir, "config"))
	return s, stop, err
}

// Xandikos starts a Xandikos in the folder. It has one account.
func Xandikos(dir string) (*Server, func() error, error) {
	port, err := realserver.FreePort()
	if err != nil {
		return nil, nil, err
	}
	data := filepath.Join(dir, "data")
	s := &Server{
		files: func(string) string { return filepath.Join(data, "user") }, shelves: folders,
		layout: layout{own: true, props: xandikosProps, home: func(_ string, books bool) string {
			if books {
				return "/user/contacts/"
			}
			return "/user/calendars/"
		}},
	}
	stop, err := s.run(port, dir, "-m", "xandikos.web", "--defaults", "--directory", data, "--listen-address", "127.0.0.1", "--port", strconv.Itoa(port))
	return s, stop, err
}

// python is Debian's, which the packages of the servers belong to.
const python = "/usr/bin/python3"

func (s *Server) run(port int, dir string, args ...string) (func() error, error) {
	s.address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	p, err := realserver.Run(s.command(python, dir, args...))
	if err != nil {
		return nil, err
	}
	return p.Stop, nil
}

func (s *Server) command(program, dir string, args ...string) realserver.Command {
	return realserver.Command{
		Program: program, Args: args, Dir: dir, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LANG=C.UTF-8", "TZ=UTC"},
		Ready: func(ctx context.Context) error { return realserver.Answers(ctx, s.address) },
	}
}

func person(i int) string { return fmt.Sprintf("mara%03d", i) }
