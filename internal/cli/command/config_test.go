package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

func TestNoProgress(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
		bad  bool
	}{
		{"", 0, false},
		{"  ", 0, false},
		{"0", -1, false},
		{"Infinity", -1, false},
		{"infinity", -1, false},
		{"250", 250 * time.Millisecond, false},
		{"9007199254740992", 1 << 62 / time.Millisecond * time.Millisecond, false},
		{"-1", 0, true},
		{"1.5", 0, true},
		{"soon", 0, true},
		{"99999999999999999999", 0, true},
	}
	for _, tt := range tests {
		env := testEnvironment(t, map[string]string{envNoProgress: tt.text})
		got, err := (&Invocation{Env: env}).NoProgressLimit()
		if got != tt.want || (err != nil) != tt.bad {
			t.Errorf("%q: %v, %v", tt.text, got, err)
		}
	}
}

func TestVariable(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain, windows, spaces := write("plain", "pear\n"), write("windows", "pear\r\n"), write("spaces", " pear \n\n")
	large := write("large", strings.Repeat("x", LargestValue+1))
	tests := []struct {
		name string
		vars map[string]string
		want string
		ok   bool
		bad  bool
	}{
		{"absent", nil, "", false, false},
		{"empty", map[string]string{"X": ""}, "", true, false},
		{"set", map[string]string{"X": "plum"}, "plum", true, false},
		{"file", map[string]string{"X_FILE": plain}, "pear", true, false},
		{"file with CRLF", map[string]string{"X_FILE": windows}, "pear", true, false},
		{"only the last line break goes", map[string]string{"X_FILE": spaces}, " pear \n", true, false},
		{"empty and file", map[string]string{"X": "", "X_FILE": plain}, "pear", true, false},
		{"both", map[string]string{"X": "plum", "X_FILE": plain}, "", false, true},
		{"no such file", map[string]string{"X_FILE": filepath.Join(dir, "none")}, "", false, true},
		{"a folder", map[string]string{"X_FILE": dir}, "", false, true},
		{"too large", map[string]string{"X_FILE": large}, "", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := testEnvironment(t, tt.vars)
			value, ok, err := (&Invocation{Env: env}).Variable("X")
			if value != tt.want || ok != tt.ok || (err != nil) != tt.bad {
				t.Errorf("%q, %t, %v", value, ok, err)
			}
			var e *failure.Error
			if tt.bad && (!errors.As(err, &e) || e.Exit != failure.ExitUsage) {
				t.Errorf("error %v is not one of configuration", err)
			}
		})
	}
}

func TestConnectorHost(t *testing.T) {
	dir := t.TempDir()
	host := filepath.Join(dir, HostProgram)
	env := testEnvironment(t, nil)
	env.Executable = filepath.Join(dir, "pdpp")
	inv := &Invocation{Env: env}
	if got, err := inv.connectorHost(); got != "" || err != nil {
		t.Errorf("none installed: %q, %v", got, err)
	}
	inv.Env.LookPath = func(string) (string, error) { return "/opt/pear/" + HostProgram, nil }
	if got, err := inv.connectorHost(); got != "/opt/pear/"+HostProgram || err != nil {
		t.Errorf("on the path: %q, %v", got, err)
	}
	if err := os.WriteFile(host, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := inv.connectorHost(); got != host || err != nil {
		t.Errorf("beside the program: %q, %v", got, err)
	}
	inv.Env.Lookup = func(name string) (string, bool) { return dir, name == EnvConnectors }
	if _, err := inv.connectorHost(); err == nil {
		t.Error("a folder passes for the host program")
	}
}
