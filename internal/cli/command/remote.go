package command

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const (
	envServer     = "PDPP_SERVER"
	EnvToken      = "PDPP_TOKEN"
	loginFileName = "remote.json"
	// localServer is the value of --server and PDPP_SERVER that ignores a saved login.
	localServer      = "local"
	largestLoginFile = 1 << 16
)

// RemoteServer is the address of a server and the token for it.
type RemoteServer struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// RemoteServer returns the server of this command, or nil for the data of this machine. The flag takes precedence over
// the variables, and these over a saved login.
func (inv *Invocation) RemoteServer() (*RemoteServer, error) {
	kept, err := inv.savedLogin()
	if err != nil {
		return nil, err
	}
	address := inv.ServerURL
	if address == "" {
		if address, _, err = inv.Variable(envServer); err != nil {
			return nil, err
		}
	}
	switch address {
	case "":
		return kept, nil
	case localServer:
		return nil, nil
	}
	base, err := ParseServerAddress(address)
	if err != nil {
		return nil, err
	}
	token, _, err := inv.Variable(EnvToken)
	if err != nil {
		return nil, err
	}
	if token == "" && kept != nil && kept.URL == base {
		return kept, nil
	}
	if token == "" {
		return nil, failure.ConfigurationError("there is no token for "+base, "Sign in once (pdpp login "+base+"), or set "+
			EnvToken+" or "+EnvToken+"_FILE.")
	}
	return &RemoteServer{URL: base, Token: strings.TrimSpace(token)}, nil
}

// ParseServerAddress validates an address and removes trailing slashes.
func ParseServerAddress(text string) (string, error) {
	u, err := url.Parse(strings.TrimRight(strings.TrimSpace(text), "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return "", failure.UsageError("that is not the address of a server",
			"Write it like https://pdpp.example.org or http://127.0.0.1:7377")
	}
	return u.String(), nil
}

// ReadableInTransit reports whether others in the network can read what is sent to the address.
func ReadableInTransit(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}

func (inv *Invocation) LoginFile() (string, error) {
	home, err := inv.HomeFolder()
	return filepath.Join(home, loginFileName), err
}

// savedLogin returns the login that pdpp login saved, or nil.
func (inv *Invocation) savedLogin() (*RemoteServer, error) {
	path, err := inv.LoginFile()
	if err != nil {
		return nil, nil // without a home there is no login; commands that need a home report it
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, nil // opening the database reports a home that is no folder
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, failure.ConfigurationError("other users may read "+path, "Run: chmod 600 "+path+
			", and make a new token if somebody could have seen it.")
	}
	var kept RemoteServer
	body, err := os.ReadFile(path)
	if err != nil || len(body) > largestLoginFile || json.Unmarshal(body, &kept) != nil || kept.URL == "" ||
		kept.Token == "" {
		return nil, failure.ConfigurationError(path+" is not readable",
			"Sign in again: pdpp login URL, or forget it: pdpp logout")
	}
	return &kept, nil
}

// SaveLogin writes the login atomically, readable by its owner only.
func (inv *Invocation) SaveLogin(r RemoteServer) error {
	path, err := inv.LoginFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return LoginNotSaved(err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".remote-*") // mode 0600
	if err != nil {
		return LoginNotSaved(err)
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
		return LoginNotSaved(err)
	}
	return nil
}

// LoginNotSaved returns the error for a login that could not be saved.
func LoginNotSaved(err error) *failure.Error {
	return &failure.Error{Code: "login_not_kept", Exit: failure.ExitFailed, Err: err,
		Message: "the login could not be kept: " + failure.RootCause(err).Error(),
		Next:    "Check the folder that PDPP_HOME names, or set " + envServer + " and " + EnvToken + "_FILE instead."}
}

// codeNeedsThisMachine is the error code of a command that cannot run on a server.
const codeNeedsThisMachine = "needs_this_machine"

// RefuseServer returns an error if a server was named for a command about this machine. If only a saved login exists,
// it prints a note instead.
func (inv *Invocation) RefuseServer() error {
	address, how := inv.ServerURL, "--server"
	if address == "" {
		var err error
		if address, _, err = inv.Variable(envServer); err != nil {
			return err
		}
		how = envServer
	}
	if address != "" && address != localServer {
		return &failure.Error{Code: codeNeedsThisMachine, Exit: failure.ExitUsage,
			Message: "this command is about this machine, and cannot be put to a server",
			Next:    "Run it on the server's machine; or leave " + how + " out, or say --server " + localServer + "."}
	}
	r, err := inv.RemoteServer()
	if err != nil || r == nil {
		return err
	}
	home, err := inv.HomeFolder()
	if err != nil {
		return err
	}
	output.Printf(inv.ErrOut, "note: this is about %s on this machine, not about %s\n", home, r.URL)
	return nil
}

// Owner returns the client of the server.
func (r RemoteServer) Owner() api.Owner { return api.NewClient(r.URL, r.Token, nil) }
