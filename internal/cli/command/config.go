package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	EnvHome = "PDPP_HOME"
	// EnvBackupPassphrase is the variable with the passphrase of backups.
	EnvBackupPassphrase = "PDPP_BACKUP_PASSPHRASE"
	EnvDatabase         = "PDPP_DATABASE_URL"
	EnvConnectors       = "PDPP_CONNECTORS_BIN"
	envNoProgress       = "PDPP_MAX_RUN_WALL_CLOCK_MS"

	HostProgram  = "pdpp-connectors"
	LargestValue = 1 << 20
)

// Variable returns the variable NAME, or the content of the file that NAME_FILE names, without its last line break. If
// NAME is empty, NAME_FILE is used.
func (inv *Invocation) Variable(name string) (value string, ok bool, err error) {
	value, ok = inv.Env.Lookup(name)
	file, _ := inv.Env.Lookup(name + "_FILE")
	if file == "" {
		return value, ok, nil
	}
	if value != "" {
		return "", false, failure.ConfigurationError(fmt.Sprintf("%s and %s_FILE are both set", name, name),
			"Unset one of them.")
	}
	f, err := os.Open(file)
	if err != nil {
		return "", false, unreadableFile(name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, LargestValue+1))
	if err != nil {
		return "", false, unreadableFile(name, err)
	}
	if len(b) > LargestValue {
		return "", false, failure.ConfigurationError(fmt.Sprintf("the file of %s_FILE is larger than a value can be", name),
			"Check which file it names.")
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), true, nil
}

func unreadableFile(name string, err error) *failure.Error {
	return failure.ConfigurationError(fmt.Sprintf("%s_FILE cannot be read: %v", name, err), "Correct the path, or set "+
		name+" itself.")
}

// HomeFolder returns the folder that holds the data.
func (inv *Invocation) HomeFolder() (string, error) {
	if inv.HomeFlag != "" {
		return inv.HomeFlag, nil
	}
	home, _, err := inv.Variable(EnvHome)
	if err != nil || home != "" {
		return home, err
	}
	user, _ := inv.Env.Lookup("HOME")
	if user == "" {
		user, _ = inv.Env.Lookup("USERPROFILE") // Windows
	}
	if user == "" {
		return "", failure.ConfigurationError("neither PDPP_HOME nor HOME is set",
			"Set PDPP_HOME to the folder that should hold your data.")
	}
	return filepath.Join(user, ".pdpp"), nil
}

// Connectors returns the catalog of built-in connectors and of those in the home folder.
func (inv *Invocation) Connectors() (catalog.Catalog, error) {
	home, err := inv.HomeFolder()
	if err != nil {
		return catalog.Catalog{}, err
	}
	host, err := inv.connectorHost()
	private, absErr := filepath.Abs(home)
	owner, _, _ := inv.Variable("HOME") // without one, defaults of paths do not count
	return catalog.Catalog{Host: host, Dir: filepath.Join(home, "connectors"), Private: []string{private}, Home: owner,
		Imports: filepath.Join(private, "imports")}, errors.Join(err, absErr)
}

// connectorHost returns the path of the program that hosts the built-in connectors, or "" when it is not installed.
func (inv *Invocation) connectorHost() (string, error) {
	host, _, err := inv.Variable(EnvConnectors)
	if err != nil {
		return "", err
	}
	if host != "" {
		path, err := filepath.Abs(host)
		if err != nil || !isExecutable(path) {
			return "", failure.ConfigurationError(EnvConnectors+" does not name a program: "+host,
				"Correct it, or unset it to use the pdpp-connectors beside pdpp.")
		}
		return path, nil
	}
	beside := filepath.Join(filepath.Dir(inv.Env.Executable), HostProgram)
	if isExecutable(beside) {
		return beside, nil
	}
	path, err := inv.Env.LookPath(HostProgram)
	if err != nil {
		return "", nil
	}
	return filepath.Abs(path)
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// NoProgressLimit returns how long a run may make no progress: zero means the default, negative means no limit.
func (inv *Invocation) NoProgressLimit() (time.Duration, error) {
	text, _, err := inv.Variable(envNoProgress)
	if err != nil {
		return 0, err
	}
	switch text = strings.TrimSpace(text); {
	case text == "":
		return 0, nil
	case strings.EqualFold(text, "infinity"):
		return -1, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 || ms > int64(1<<53) {
		return 0, failure.ConfigurationError(envNoProgress+" is not a number of milliseconds: "+strconv.Quote(text),
			"Use a whole number, or 0 to disable the limit.")
	}
	if ms == 0 {
		return -1, nil
	}
	return time.Duration(min(ms, int64(1<<62)/int64(time.Millisecond))) * time.Millisecond, nil
}

// CheckVariables reads every variable that the connector declares, so that an unreadable file is an error before the
// run starts.
func (inv *Invocation) CheckVariables(m *manifest.Manifest) error {
	for _, name := range m.EnvNames() {
		if _, _, err := inv.Variable(name); err != nil {
			return err
		}
	}
	return nil
}

// ChildVariable returns a declared variable for a connector's process.
func (inv *Invocation) ChildVariable(name string) (string, bool) {
	value, ok, err := inv.Variable(name)
	return value, ok && err == nil
}

// EnvListen is the variable with the address of the server.
const EnvListen = "PDPP_LISTEN"

// EnvBaseURL is the variable with the public address of the server.
const EnvBaseURL = "PDPP_BASE_URL"

// DefaultListenAddress is the address of the server without configuration.
const DefaultListenAddress = "127.0.0.1:7377"

// FindConnector returns an installed connector. If its files are broken, the error has the code connector_unusable.
func FindConnector(ctx context.Context, connectors catalog.Catalog, name string) (catalog.Connector, error) {
	found, err := connectors.Find(ctx, name)
	if err == nil || ctx.Err() != nil || errors.Is(err, catalog.ErrUnknownConnector) {
		return found, err
	}
	return found, &failure.Error{Code: failure.CodeConnectorUnusable, Exit: failure.ExitFailed, Err: err,
		Message: failure.SafeText(err.Error()), Next: failure.ConnectorUnusableNextStep}
}
