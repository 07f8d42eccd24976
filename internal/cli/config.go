package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	envHome       = "PDPP_HOME"
	envDatabase   = "PDPP_DATABASE_URL"
	envConnectors = "PDPP_CONNECTORS_BIN"
	envNoProgress = "PDPP_MAX_RUN_WALL_CLOCK_MS"

	hostProgram  = "pdpp-connectors"
	maxValueFile = 1 << 20
)

// variable reads NAME, or the file that NAME_FILE names without its last line
// break. An empty variable counts as absent in the choice between the two.
func (a *app) variable(name string) (value string, ok bool, err error) {
	value, ok = a.env.Lookup(name)
	file, _ := a.env.Lookup(name + "_FILE")
	if file == "" {
		return value, ok, nil
	}
	if value != "" {
		return "", false, configError(fmt.Sprintf("%s and %s_FILE are both set", name, name), "Unset one of them.")
	}
	f, err := os.Open(file)
	if err != nil {
		return "", false, unreadable(name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxValueFile+1))
	if err != nil {
		return "", false, unreadable(name, err)
	}
	if len(b) > maxValueFile {
		return "", false, configError(fmt.Sprintf("the file of %s_FILE is larger than a value can be", name), "Check which file it names.")
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), true, nil
}

func configError(message, next string) *Error {
	return &Error{Code: "configuration", Message: message, Next: next, Exit: ExitUsage}
}

func unreadable(name string, err error) *Error {
	return configError(fmt.Sprintf("%s_FILE cannot be read: %v", name, err), "Correct the path, or set "+name+" itself.")
}

// homeDir is where the data is.
func (a *app) homeDir() (string, error) {
	if a.home != "" {
		return a.home, nil
	}
	home, _, err := a.variable(envHome)
	if err != nil || home != "" {
		return home, err
	}
	user, _ := a.env.Lookup("HOME")
	if user == "" {
		return "", configError("neither PDPP_HOME nor HOME is set", "Set PDPP_HOME to the folder that should hold your data.")
	}
	return filepath.Join(user, ".pdpp"), nil
}

// connectors finds the built-in connectors and the foreign ones in the home folder.
func (a *app) connectors() (catalog.Catalog, error) {
	home, err := a.homeDir()
	if err != nil {
		return catalog.Catalog{}, err
	}
	host, err := a.connectorHost()
	private, absErr := filepath.Abs(home)
	owner, _, _ := a.variable("HOME") // without one, defaults of paths do not count
	return catalog.Catalog{Host: host, Dir: filepath.Join(home, "connectors"), Private: []string{private}, Home: owner, Imports: filepath.Join(private, "imports")}, errors.Join(err, absErr)
}

// connectorHost is empty when the host program is not installed: then there
// are no built-in connectors.
func (a *app) connectorHost() (string, error) {
	host, _, err := a.variable(envConnectors)
	if err != nil {
		return "", err
	}
	if host != "" {
		path, err := filepath.Abs(host)
		if err != nil || !executable(path) {
			return "", configError(envConnectors+" does not name a program: "+host, "Correct it, or unset it to use the pdpp-connectors beside pdpp.")
		}
		return path, nil
	}
	beside := filepath.Join(filepath.Dir(a.env.Executable), hostProgram)
	if executable(beside) {
		return beside, nil
	}
	path, err := a.env.LookPath(hostProgram)
	if err != nil {
		return "", nil
	}
	return filepath.Abs(path)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// noProgress is the time after which a silent run is ended: zero for the
// default, negative for never.
func (a *app) noProgress() (time.Duration, error) {
	text, _, err := a.variable(envNoProgress)
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
		return 0, configError(envNoProgress+" is not a number of milliseconds: "+strconv.Quote(text), "Use a whole number, or 0 to disable the limit.")
	}
	if ms == 0 {
		return -1, nil
	}
	return time.Duration(min(ms, int64(1<<62)/int64(time.Millisecond))) * time.Millisecond, nil
}

// checkVariables reads everything that the connector declares once, so that a
// file that cannot be read is an error before the run and not a missing value in it.
func (a *app) checkVariables(m *manifest.Manifest) error {
	for _, name := range m.EnvNames() {
		if _, _, err := a.variable(name); err != nil {
			return err
		}
	}
	return nil
}

// childVariable is what a connector is given for a variable that it declares.
func (a *app) childVariable(name string) (string, bool) {
	value, ok, err := a.variable(name)
	return value, ok && err == nil
}
