// Package systemservice registers our programs as services of the operating system, by plain files and the system's own
// commands: units of systemd, agents and daemons of launchd, tasks of Windows.
package systemservice

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf16"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Manager installs and removes the service of a program.
type Manager struct {
	OS   string // as GOOS
	Unit Unit
	// Home is the user's; Config where systemd looks, State where the program keeps its own.
	Home, Config, State string
	UID                 int
	Root                string // before the paths of a service of the whole machine; only tests set it
	// Command runs a system command and returns its output.
	Command func(ctx context.Context, name string, args ...string) (string, error)
}

// unitName is the name of the service at systemd.
func (m *Manager) unitName() string { return m.Unit.Program.Name + ".service" }

// file is where the description of the service is.
func (m *Manager) file() string {
	switch {
	case m.OS == "darwin":
		return filepath.Join(m.Home, "Library", "LaunchAgents", m.Unit.Program.Label+".plist")
	case m.OS == "windows":
		return filepath.Join(m.State, "task.xml")
	case m.Unit.System:
		return filepath.Join(m.Root, "/etc/systemd/system", m.unitName())
	default:
		return filepath.Join(m.Config, "systemd", "user", m.unitName())
	}
}

// LogFile is where the service writes what it does; empty where the system keeps it.
func (m *Manager) LogFile() string {
	_, name, _ := strings.Cut(m.Unit.Program.Label, "pdpp.")
	switch m.OS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Logs", "pdpp", name+".log")
	case "windows":
		return filepath.Join(m.State, name+".log")
	default:
		return ""
	}
}

type step struct {
	name string
	args []string
}

// target is the domain of this user's services at launchd.
func (m *Manager) target() string { return fmt.Sprintf("gui/%d", m.UID) }

func (m *Manager) label() string { return m.target() + "/" + m.Unit.Program.Label }

// systemctl asks systemd, of the user or of the machine.
func (m *Manager) systemctl(args ...string) step {
	if !m.Unit.System {
		args = append([]string{"--user"}, args...)
	}
	return step{"systemctl", args}
}

func (m *Manager) run(ctx context.Context, s step) (string, error) {
	return m.Command(ctx, s.name, s.args...)
}

// refused explains why a service cannot be installed; nil means that it can.
func (m *Manager) refused() error {
	program, next := m.Unit.Executable, "Put the program into another folder, for instance /usr/local/bin."
	switch {
	case m.Unit.System && (m.Unit.Program.SystemSettings == "" || m.OS == "darwin" || m.OS == "windows"):
		return notStarted("here it is a service of a user only", "Leave --system out.")
	case m.OS != "windows" && strings.ContainsAny(program, "\"'\\\n"):
		return notStarted("the system starts no program whose path holds quotes or backslashes: "+program, next)
	case m.Unit.System && m.UID != 0:
		return notStarted("a service of the whole machine is installed by root",
			"Repeat the command with sudo, or leave --system out.")
	case m.Unit.System && (strings.HasPrefix(program, "/home/") || strings.HasPrefix(program, "/root/")):
		return notStarted("the service cannot reach a program in a user's folder: "+program, next)
	}
	return nil
}

func notStarted(message, next string) error {
	return &usererr.Error{Code: "service_not_started", Message: message, Next: next}
}

// Find returns a manager of the program for this machine and user. Variables are read with lookup; those with one of
// the names are passed on to the service, which does not get them from the system.
func Find(p Program, executable, state string, lookup func(string) (string, bool), passedOn []string) *Manager {
	get := func(name string) string { value, _ := lookup(name); return value }
	m := &Manager{OS: runtime.GOOS, Home: get("HOME"), Config: get("XDG_CONFIG_HOME"), State: state, UID: os.Getuid(),
		Unit: Unit{Program: p, Executable: executable, User: get("USERDOMAIN") + `\` + get("USERNAME")},
		Command: func(ctx context.Context, name string, args ...string) (string, error) {
			out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
			return string(out), err
		}}
	if m.Config == "" {
		m.Config = filepath.Join(m.Home, ".config")
	}
	for _, name := range passedOn {
		if value := get(name); value != "" {
			m.Unit.Environment = append(m.Unit.Environment, name+"="+value)
		}
	}
	return m
}

// Install writes the description and starts the service. What it returns is for the owner
// to know.
func (m *Manager) Install(ctx context.Context) (message string, err error) {
	if err := m.refused(); err != nil {
		return "", err
	}
	m.Unit.Log = m.LogFile()
	var text string
	var steps []step
	switch m.OS {
	case "darwin":
		text, err = m.Unit.Launchd()
		steps = []step{{"launchctl", []string{"bootstrap", m.target(), m.file()}}}
	case "windows":
		text, err = m.Unit.Task()
		steps = []step{{"schtasks", []string{"/Create", "/TN", m.Unit.Program.Title, "/XML", m.file(), "/F"}},
			{"schtasks", []string{"/Run", "/TN", m.Unit.Program.Title}}}
	default:
		text, err = m.Unit.Systemd()
		steps = []step{m.systemctl("daemon-reload"), m.systemctl("enable", "--now", m.unitName())}
		if m.Unit.System {
			steps = append([]step{{"systemd-sysusers", []string{"--inline", `u pdpp - "PDPP" ` + SystemHome}}}, steps...)
		} else {
			message = "It stops when you log out. To keep it running: loginctl enable-linger"
		}
	}
	if err != nil {
		return "", err
	}
	if log := m.LogFile(); log != "" {
		if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
			return "", fmt.Errorf("make the folder of the log: %w", err)
		}
	}
	if m.OS == "darwin" { // one that is there already keeps its old description
		_, _ = m.Command(ctx, "launchctl", "bootout", m.label())
	}
	if err := os.MkdirAll(filepath.Dir(m.file()), 0o755); err != nil {
		return "", fmt.Errorf("make the folder of the service: %w", err)
	}
	if err := os.WriteFile(m.file(), m.encode(text), 0o644); err != nil {
		return "", fmt.Errorf("write the service: %w", err)
	}
	for _, s := range steps {
		if sentence, err := m.run(ctx, s); err != nil {
			if m.OS == "windows" && s.args[0] == "/Create" {
				return m.installRunKey(ctx)
			}
			return "", notStarted(fmt.Sprintf("%s was written, but %s failed: %v %s",
				m.file(), s.name, err, sentence),
				"Start it where a session of this user runs, or run it without a service: "+m.Unit.Program.ByHand)
		}
	}
	return message, nil
}

const runKey = `HKCU\Software\Microsoft\Windows\CurrentVersion\Run`

// installRunKey is for a user who may not make tasks.
func (m *Manager) installRunKey(ctx context.Context) (string, error) {
	line := `"` + m.Unit.Executable + `" ` + strings.Join(m.Unit.Program.Run, " ") + m.Unit.HomeFlag() +
		` --log-file "` + m.LogFile() + `"`
	if message, err := m.Command(ctx, "reg", "add", runKey, "/v", m.Unit.Program.Title, "/d", line, "/f"); err != nil {
		return "", notStarted(
			fmt.Sprintf("neither a task nor the Run key could be made: %v %s", err, message),
			"Run it without a service: "+m.Unit.Program.ByHand)
	}
	return "A task could not be made: the service starts at the next logon by the Run key of this user.", nil
}

// encode writes a text as the system reads it: tasks are UTF-16.
func (m *Manager) encode(text string) []byte {
	if m.OS != "windows" {
		return []byte(text)
	}
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

// Remove stops the service and removes its description, with the folders that are
// empty then.
func (m *Manager) Remove(ctx context.Context) error {
	switch m.OS {
	case "darwin":
		_, _ = m.Command(ctx, "launchctl", "bootout", m.label())
	case "windows":
		_, _ = m.Command(ctx, "schtasks", "/End", "/TN", m.Unit.Program.Title)
		_, _ = m.Command(ctx, "schtasks", "/Delete", "/TN", m.Unit.Program.Title, "/F")
		_, _ = m.Command(ctx, "reg", "delete", runKey, "/v", m.Unit.Program.Title, "/f")
	default:
		_, _ = m.run(ctx, m.systemctl("disable", "--now", m.unitName()))
	}
	if err := os.Remove(m.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the service: %w", err)
	}
	if m.OS != "windows" && m.OS != "darwin" {
		if !m.Unit.System {
			m.removeUserFolders()
		}
		_, _ = m.run(ctx, m.systemctl("daemon-reload"))
	}
	return nil
}

// removeUserFolders removes the folders of systemd that are empty without the service.
func (m *Manager) removeUserFolders() {
	wants := filepath.Join(filepath.Dir(m.file()), "default.target.wants")
	_ = os.Remove(filepath.Join(wants, m.unitName()))
	for _, folder := range []string{wants, filepath.Dir(m.file()), filepath.Dir(filepath.Dir(m.file()))} {
		_ = os.Remove(folder) // an empty one
	}
}

// Status reports whether the service is installed and whether it is running.
func (m *Manager) Status(ctx context.Context) (installed, running bool) {
	_, err := os.Stat(m.file())
	installed = err == nil
	switch m.OS {
	case "darwin":
		_, err = m.Command(ctx, "launchctl", "print", m.label())
	case "windows":
		_, err = m.Command(ctx, "schtasks", "/Query", "/TN", m.Unit.Program.Title)
	default:
		_, err = m.run(ctx, m.systemctl("is-active", "--quiet", m.unitName()))
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
	args := []string{"--unit", m.unitName(), "--lines", "200", "--no-pager"}
	if !m.Unit.System {
		args = append([]string{"--user"}, args...)
	}
	return m.Command(ctx, "journalctl", args...)
}

const shownLog = 64 << 10
