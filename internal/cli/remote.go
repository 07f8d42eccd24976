package cli

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
)

const (
	envServer  = "PDPP_SERVER"
	envToken   = "PDPP_TOKEN"
	remoteFile = "remote.json"
	// thisMachine is what --server and PDPP_SERVER say to leave a login aside.
	thisMachine = "local"
	maxRemote   = 1 << 16
)

// remote is a remote server that commands are put to, and what opens it.
type remote struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// server is the server that this command speaks to; nil means the data of this
// machine. What is said for one command wins over the variables, and those over a login.
func (a *app) server() (*remote, error) {
	kept, err := a.keptLogin()
	if err != nil {
		return nil, err
	}
	address := a.serverURL
	if address == "" {
		if address, _, err = a.variable(envServer); err != nil {
			return nil, err
		}
	}
	switch address {
	case "":
		return kept, nil
	case thisMachine:
		return nil, nil
	}
	base, err := serverAddress(address)
	if err != nil {
		return nil, err
	}
	token, _, err := a.variable(envToken)
	if err != nil {
		return nil, err
	}
	if token == "" && kept != nil && kept.URL == base {
		return kept, nil
	}
	if token == "" {
		return nil, configError("there is no token for "+base, "Sign in once (pdpp login "+base+"), or set "+envToken+" or "+envToken+"_FILE.")
	}
	return &remote{URL: base, Token: strings.TrimSpace(token)}, nil
}

// serverAddress is the address without what a person may have typed at its end.
func serverAddress(text string) (string, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(text), "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", usage("that is not the address of a server", "Write it like https://pdpp.example.org or http://127.0.0.1:7377")
	}
	return u.String(), nil
}

// readableOnTheWay reports whether others on the way can read what is sent.
func readableOnTheWay(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}

func (a *app) remotePath() (string, error) {
	home, err := a.homeDir()
	return filepath.Join(home, remoteFile), err
}

// keptLogin is what pdpp login kept; nil when there is none.
func (a *app) keptLogin() (*remote, error) {
	path, err := a.remotePath()
	if err != nil {
		return nil, nil // without a home there is no login either; what needs one says so
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, nil // a home that is no folder is told of by what opens it
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, configError("other users may read "+path, "Run: chmod 600 "+path+", and make a new token if somebody could have seen it.")
	}
	var kept remote
	body, err := os.ReadFile(path)
	if err != nil || len(body) > maxRemote || json.Unmarshal(body, &kept) != nil || kept.URL == "" || kept.Token == "" {
		return nil, configError(path+" is not readable", "Sign in again: pdpp login URL, or forget it: pdpp logout")
	}
	return &kept, nil
}

// keepLogin writes the login whole or not at all, for its owner alone.
func (a *app) keepLogin(r remote) error {
	path, err := a.remotePath()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return cannotKeep(err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".remote-*") // mode 0600
	if err != nil {
		return cannotKeep(err)
	}
	defer os.Remove(temp.Name()) // it is gone after the rename
	body, err := json.Marshal(r)
	if err == nil {
		_, err = temp.Write(append(body, '\n'))
	}
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return cannotKeep(err)
	}
	return nil
}

func cannotKeep(err error) *Error {
	return &Error{Code: "login_not_kept", Exit: ExitFailed, Err: err, Message: "the login could not be kept: " + cause(err).Error(),
		Next: "Check the folder that PDPP_HOME names, or set " + envServer + " and " + envToken + "_FILE instead."}
}

// codeNeedsMachine is of a command that cannot be put to a server.
const codeNeedsMachine = "needs_this_machine"

// refuseServer refuses a server that was named for a command about this machine. A login
// that is kept names none for this command; where there is one a note says so.
func (a *app) refuseServer() error {
	address, how := a.serverURL, "--server"
	if address == "" {
		var err error
		if address, _, err = a.variable(envServer); err != nil {
			return err
		}
		how = envServer
	}
	if address != "" && address != thisMachine {
		return &Error{Code: codeNeedsMachine, Exit: ExitUsage, Message: "this command is about this machine, and cannot be put to a server",
			Next: "Run it on the server's machine; or leave " + how + " out, or say --server " + thisMachine + "."}
	}
	r, err := a.server()
	if err != nil || r == nil {
		return err
	}
	home, err := a.homeDir()
	if err != nil {
		return err
	}
	printf(a.errOut, "note: this is about %s on this machine, not about %s\n", home, r.URL)
	return nil
}
