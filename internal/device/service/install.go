package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Names under which the operating system knows the service.
const (
	systemdUnit  = "pdpp-collector.service"
	launchdLabel = "org.pdpp.collector"
	taskName     = "PDPP local collector"
)

// Manager makes the service one of the operating system, by plain files and the system's
// own commands.
type Manager struct {
	System string // as GOOS
	Unit   Unit
	// Home is the user's; Config where systemd looks, State where the program keeps its own.
	Home, Config, State string
	UID                 int
	// Command runs a system command and returns its output.
	Command func(ctx context.Context, name string, args ...string) (string, error)
}

// file is where the description of the service is.
func (m *Manager) file() string {
	switch m.System {
	case "darwin":
		return filepath.Join(m.Home, "Library", "LaunchAgents", launchdLabel+".plist")
	case "windows":
		return filepath.Join(m.State, "task.xml")
	default:
		return filepath.Join(m.Config, "systemd", "user", systemdUnit)
	}
}

// LogFile is where the service writes what it does; empty where the system keeps it.
func (m *Manager) LogFile() string {
	switch m.System {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Logs", "pdpp", "collector.log")
	case "windows":
		return filepath.Join(m.State, "collector.log")
	default:
		return ""
	}
}

type step struct {
	name string
	args []string
}

// target is the service of this user at launchd.
func (m *Manager) target() string { return fmt.Sprintf("gui/%d", m.UID) }

// Install writes the description and starts the service. What it returns is for the owner
// to know.
func (m *Manager) Install(ctx context.Context) (message string, err error) {
	if strings.ContainsAny(m.Unit.Executable, "\"'\\\n") && m.System != "windows" {
		return "", &usererr.Error{Code: "service_not_started",
			Message: "the system starts no program whose path holds quotes or backslashes: " + m.Unit.Executable,
			Next:    "Put the program into another folder, for instance ~/.local/bin."}
	}
	m.Unit.Log = m.LogFile()
	var text string
	var steps []step
	switch m.System {
	case "darwin":
		text, err = m.Unit.Launchd()
		steps = []step{{"launchctl", []string{"bootstrap", m.target(), m.file()}}}
	case "windows":
		text, err = m.Unit.Task()
		steps = []step{{"schtasks", []string{"/Create", "/TN", taskName, "/XML", m.file(), "/F"}},
			{"schtasks", []string{"/Run", "/TN", taskName}}}
	default:
		text, err = m.Unit.Systemd()
		message = "It stops when you log out. To keep it running: loginctl enable-linger"
		steps = []step{{"systemctl", []string{"--user", "daemon-reload"}},
			{"systemctl", []string{"--user", "enable", "--now", systemdUnit}}}
	}
	if err != nil {
		return "", err
	}
	if log := m.LogFile(); log != "" {
		if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
			return "", fmt.Errorf("make the folder of the log: %w", err)
		}
	}
	if m.System == "darwin" { // one that is there already keeps its old description
		_, _ = m.Command(ctx, "launchctl", "bootout", m.target()+"/"+launchdLabel)
	}
	if err := os.MkdirAll(filepath.Dir(m.file()), 0o755); err != nil {
		return "", fmt.Errorf("make the folder of the service: %w", err)
	}
	if err := os.WriteFile(m.file(), m.encode(text), 0o644); err != nil {
		return "", fmt.Errorf("write the service: %w", err)
	}
	for _, s := range steps {
		if sentence, err := m.Command(ctx, s.name, s.args...); err != nil {
			if m.System == "windows" && s.args[0] == "/Create" {
				return m.installRunKey(ctx)
			}
			return "", &usererr.Error{Code: "service_not_started", Message: fmt.Sprintf("%s was written, but %s failed: %v %s",
				m.file(), s.name, err, sentence),
				Next: "Start it where a session of this user runs, or collect with pdpp-local-collector run."}
		}
	}
	return message, nil
}

const runKey = `HKCU\Software\Microsoft\Windows\CurrentVersion\Run`

// installRunKey is for a user who may not make tasks.
func (m *Manager) installRunKey(ctx context.Context) (string, error) {
	line := `"` + m.Unit.Executable + `" service run --log-file "` + m.LogFile() + `"`
	if message, err := m.Command(ctx, "reg", "add", runKey, "/v", taskName, "/d", line, "/f"); err != nil {
		return "", &usererr.Error{Code: "service_not_started",
			Message: fmt.Sprintf("neither a task nor the Run key could be made: %v %s", err, message),
			Next:    "Collect with pdpp-local-collector run."}
	}
	return "A task could not be made: the service starts at the next logon by the Run key of this user.", nil
}

// encode writes a text as the system reads it: tasks are UTF-16.
func (m *Manager) encode(text string) []byte {
	if m.System != "windows" {
		return []byte(text)
	}
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

// Uninstall stops the service and removes its description, with the folders that are
// empty then.
func (m *Manager) Uninstall(ctx context.Context) error {
	switch m.System {
	case "darwin":
		_, _ = m.Command(ctx, "launchctl", "bootout", m.target()+"/"+launchdLabel)
	case "windows":
		_, _ = m.Command(ctx, "schtasks", "/End", "/TN", taskName)
		_, _ = m.Command(ctx, "schtasks", "/Delete", "/TN", taskName, "/F")
		_, _ = m.Command(ctx, "reg", "delete", runKey, "/v", taskName, "/f")
	default:
		_, _ = m.Command(ctx, "systemctl", "--user", "disable", "--now", systemdUnit)
	}
	if err := os.Remove(m.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the service: %w", err)
	}
	if m.System != "windows" && m.System != "darwin" {
		wants := filepath.Join(filepath.Dir(m.file()), "default.target.wants")
		_ = os.Remove(filepath.Join(wants, systemdUnit))
		for _, folder := range []string{wants, filepath.Dir(m.file()), filepath.Dir(filepath.Dir(m.file()))} {
			_ = os.Remove(folder) // an empty one
		}
		_, _ = m.Command(ctx, "systemctl", "--user", "daemon-reload")
	}
	return nil
}

// Status reports whether the service is installed and whether it is running.
func (m *Manager) Status(ctx context.Context) (installed, running bool) {
	_, err := os.Stat(m.file())
	installed = err == nil
	switch m.System {
	case "darwin":
		_, err = m.Command(ctx, "launchctl", "print", m.target()+"/"+launchdLabel)
	case "windows":
		_, err = m.Command(ctx, "schtasks", "/Query", "/TN", taskName)
	default:
		_, err = m.Command(ctx, "systemctl", "--user", "is-active", "--quiet", systemdUnit)
	}
	return installed, installed && err == nil
}

// Logs returns the latest log output of the service.
func (m *Manager) Logs(ctx context.Context) (string, error) {
	if log := m.LogFile(); log != "" {
		body, err := os.ReadFile(log)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		return string(body[max(0, len(body)-shownLog):]), err
	}
	return m.Command(ctx, "journalctl", "--user", "--unit", systemdUnit, "--lines", "200", "--no-pager")
}

const shownLog = 64 << 10
