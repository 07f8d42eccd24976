package systemservice

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

var unit = Unit{Program: Collector, Executable: `/home/ines/my apps/100% & more/pdpp-local-collector`,
	Environment: []string{"PDPP_LOCAL_COLLECTOR_PROFILE_DIR=/srv/<profiles>"}, Log: "/home/ines/Logs/collector.log",
	User: `STUDIO\ines`}

var serverUnit = Unit{Program: Server, Executable: "/home/ines/apps/pdpp", Log: "/home/ines/Logs/server.log",
	Environment: []string{"PDPP_HOME=/home/ines/100% mine"}, User: `STUDIO\ines`, Home: `C:\Users\ines\my data`}

// packaged is the service of the Debian package, which is the one that pdpp service install --system writes.
var packaged = Unit{Program: Server, System: true, Executable: "/usr/bin/pdpp",
	Environment: []string{"PDPP_HOME=" + SystemHome}}

func TestUnits(t *testing.T) {
	for golden, render := range map[string]func() (string, error){
		"testdata/pdpp-collector.service": unit.Systemd, "testdata/org.pdpp.collector.plist": unit.Launchd,
		"testdata/task.xml": unit.Task, "testdata/pdpp.service": serverUnit.Systemd,
		"testdata/org.pdpp.server.plist": serverUnit.Launchd, "testdata/server.xml": serverUnit.Task,
		"../../../packaging/pdpp.service": packaged.Systemd,
	} {
		got, err := render()
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || got != string(want) {
			t.Errorf("%s differs from its golden file: %v\n%s", golden, err, got)
		}
		if !strings.HasSuffix(golden, ".service") {
			wellFormed(t, golden, got)
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
	for name, u := range map[string]Unit{"--user": {Program: Collector}, "--user ": {Program: Server},
		"--system": {Program: Server, System: true}} {
		dir := t.TempDir()
		u.Executable, u.Environment = filepath.Join(dir, `a b 100% $HOME`), []string{`A=x "y" %h`}
		text, err := u.Systemd()
		text = strings.Replace(text, "User=pdpp\nGroup=pdpp\n", "User=root\n", 1)
		if err == nil {
			err = os.WriteFile(u.Executable, []byte("#!/bin/sh\n"), 0o700)
		}
		path := filepath.Join(dir, u.Program.Name+".service")
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(verify, strings.TrimSpace(name), "--man=no", "verify", path)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
		if content, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(content), ".service:") {
			t.Errorf("%s: %v\n%s", name, err, content)
		}
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

// TestInstallAndRemove leaves every system's tree as it was.
func TestInstallAndRemove(t *testing.T) {
	for system, want := range map[string][]string{
		"linux": {"systemctl --user daemon-reload", "systemctl --user enable --now pdpp-collector.service",
			"systemctl --user is-active --quiet pdpp-collector.service", "systemctl --user disable --now pdpp-collector.service",
			"systemctl --user daemon-reload"},
		"linux machine": {`systemd-sysusers --inline u pdpp - "PDPP" /var/lib/pdpp`, "systemctl daemon-reload",
			"systemctl enable --now pdpp.service", "systemctl is-active --quiet pdpp.service",
			"systemctl disable --now pdpp.service", "systemctl daemon-reload"},
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
			for _, folder := range []string{".config", "state", "Library/LaunchAgents", "Library/Logs/pdpp",
				"etc/systemd/system"} {
				if err := os.MkdirAll(filepath.Join(home, folder), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, home)
			var asked []string
			m := &Manager{OS: system, Unit: unit, Home: home, Config: filepath.Join(home, ".config"),
				State: filepath.Join(home, "state"), UID: 501,
				Command: func(_ context.Context, name string, args ...string) (string, error) {
					asked = append(asked, strings.ReplaceAll(name+" "+strings.Join(args, " "), home, "HOME"))
					return "", nil
				}}
			if os, _, machine := strings.Cut(system, " "); machine {
				m.OS, m.Unit, m.UID, m.Root = os, packaged, 0, home
			}
			if _, err := m.Install(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(tree(t, home)) == len(before) {
				t.Error("nothing was written")
			}
			if installed, running := m.Status(t.Context()); !installed || !running {
				t.Errorf("installed %t, running %t", installed, running)
			}
			if err := m.Remove(t.Context()); err != nil {
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
	inHome, forAll := packaged, unit
	inHome.Executable, forAll.System = "/home/ines/bin/pdpp", true
	for name, m := range map[string]*Manager{
		"quotes in the path":         {OS: "linux", Unit: Unit{Executable: `/home/ines/"x"/pdpp`}},
		"not root":                   {OS: "linux", Unit: packaged, UID: 501},
		"a program in a user's home": {OS: "linux", Unit: inHome},
		"a collector of the machine": {OS: "linux", Unit: forAll},
		"a machine of macOS":         {OS: "darwin", Unit: packaged},
	} {
		if _, err := m.Install(t.Context()); err == nil {
			t.Errorf("%s: it was installed", name)
		}
	}
	for system, message := range map[string]string{"linux": "", "windows": "Run key"} {
		home := t.TempDir()
		m := &Manager{OS: system, Unit: unit, Home: home, Config: home, State: home,
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
