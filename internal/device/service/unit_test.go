package service

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

var unit = Unit{Executable: `/home/ines/my apps/100% & more/pdpp-local-collector`,
	Environment: []string{"PDPP_LOCAL_COLLECTOR_PROFILE_DIR=/srv/<profiles>"}, Log: "/home/ines/Logs/collector.log",
	User: `STUDIO\ines`}

func TestUnits(t *testing.T) {
	for name, render := range map[string]func() (string, error){"pdpp-collector.service": unit.Systemd,
		"org.pdpp.collector.plist": unit.Launchd, "task.xml": unit.Task} {
		got, err := render()
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || got != string(want) {
			t.Errorf("%s differs from its golden file: %v\n%s", name, err, got)
		}
		if !strings.HasSuffix(name, ".service") {
			wellFormed(t, name, got)
		}
	}
}

// wellFormed reads a document to its end.
func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is written as UTF-16
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// TestSystemdTakesTheUnit asks systemd itself, where it is.
func TestSystemdTakesTheUnit(t *testing.T) {
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return
	}
	dir := t.TempDir()
	u := Unit{Executable: filepath.Join(dir, `a b 100% $HOME`), Environment: []string{`A=x "y" %h`}}
	text, err := u.Systemd()
	if err == nil {
		err = os.WriteFile(u.Executable, []byte("#!/bin/sh\n"), 0o700)
	}
	path := filepath.Join(dir, systemdUnit)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(verify, "--user", "--man=no", "verify", path)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
	if content, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(content), systemdUnit+":") {
		t.Errorf("%v\n%s", err, content)
	}
}

// tree is every file and folder below one.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestInstallAndUninstall leaves every system's tree as it was.
func TestInstallAndUninstall(t *testing.T) {
	for system, want := range map[string][]string{
		"linux": {"systemctl --user daemon-reload", "systemctl --user enable --now pdpp-collector.service",
			"systemctl --user is-active --quiet pdpp-collector.service", "systemctl --user disable --now pdpp-collector.service",
			"systemctl --user daemon-reload"},
		"darwin": {"launchctl bootout gui/501/org.pdpp.collector",
			"launchctl bootstrap gui/501 HOME/Library/LaunchAgents/org.pdpp.collector.plist",
			"launchctl print gui/501/org.pdpp.collector", "launchctl bootout gui/501/org.pdpp.collector"},
		"windows": {"schtasks /Create /TN PDPP local collector /XML HOME/state/task.xml /F",
			"schtasks /Run /TN PDPP local collector", "schtasks /Query /TN PDPP local collector",
			"schtasks /End /TN PDPP local collector", "schtasks /Delete /TN PDPP local collector /F", `reg delete ` + runKey +
				` /v PDPP local collector /f`},
	} {
		t.Run(system, func(t *testing.T) {
			home := t.TempDir()
			for _, folder := range []string{".config", "state", "Library/LaunchAgents", "Library/Logs/pdpp"} {
				if err := os.MkdirAll(filepath.Join(home, folder), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, home)
			var asked []string
			m := &Manager{System: system, Unit: unit, Home: home, Config: filepath.Join(home, ".config"),
				State: filepath.Join(home, "state"), UID: 501,
				Command: func(_ context.Context, name string, args ...string) (string, error) {
					asked = append(asked, strings.ReplaceAll(name+" "+strings.Join(args, " "), home, "HOME"))
					return "", nil
				}}
			if _, err := m.Install(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(tree(t, home)) == len(before) {
				t.Error("nothing was written")
			}
			if installed, running := m.Status(t.Context()); !installed || !running {
				t.Errorf("installed %t, running %t", installed, running)
			}
			if err := m.Uninstall(t.Context()); err != nil {
				t.Fatal(err)
			}
			if after := tree(t, home); !slices.Equal(before, after) {
				t.Errorf("left %v", after)
			}
			if !slices.Equal(asked, want) {
				t.Errorf("asked the system\n%s", strings.Join(asked, "\n"))
			}
		})
	}
}

func TestInstallWithoutAManager(t *testing.T) {
	m := &Manager{System: "linux", Unit: Unit{Executable: `/home/ines/"x"/pdpp`}}
	if _, err := m.Install(t.Context()); err == nil {
		t.Error("systemd would not start this")
	}
	for system, message := range map[string]string{"linux": "", "windows": "Run key"} {
		home := t.TempDir()
		m := &Manager{System: system, Unit: unit, Home: home, Config: home, State: home,
			Command: func(_ context.Context, name string, _ ...string) (string, error) {
				if name == "reg" {
					return "", nil
				}
				return "no bus", errors.New("exit status 1")
			}}
		text, err := m.Install(t.Context())
		if (err == nil) != (message != "") || !strings.Contains(text, message) {
			t.Errorf("%s: %q, %v", system, text, err)
		}
	}
}
