package systemservice

import (
	"encoding/xml"
	"fmt"
	"strings"
	"text/template"

	_ "embed"
)

// Unit describes the service that the operating system starts.
type Unit struct {
	Program     Program
	Executable  string
	Environment []string // NAME=VALUE, for what cannot be found otherwise
	Log         string   // the file that gets the output; systemd keeps it itself
	User        string   // the user who is logged on; only used on Windows
	Home        string   // the folder of the data; only used on Windows, where a task has no variables
	System      bool     // one of the whole machine, and not of a user
}

//go:embed systemd.service.tmpl
var systemdText string

//go:embed launchd.plist.tmpl
var launchdText string

//go:embed task.xml.tmpl
var taskText string

var funcs = template.FuncMap{"systemd": systemdQuote, "xml": xmlText,
	"name": func(pair string) string { return half(pair, 0) }, "value": func(pair string) string { return half(pair, 1) }}

// HomeFlag is the argument that names the folder of the data, after a space; empty when Home is.
func (u Unit) HomeFlag() string {
	if u.Home == "" {
		return ""
	}
	return ` --home "` + u.Home + `"`
}

// Systemd is the unit of a systemd manager.
func (u Unit) Systemd() (string, error) { return u.render(systemdText) }

// Launchd is the property list of a launch agent.
func (u Unit) Launchd() (string, error) { return u.render(launchdText) }

// Task is the scheduled task of Windows.
func (u Unit) Task() (string, error) { return u.render(taskText) }

func (u Unit) render(text string) (string, error) {
	t, err := template.New("unit").Funcs(funcs).Parse(text)
	if err != nil {
		return "", fmt.Errorf("read the template: %w", err)
	}
	var out strings.Builder
	if err := t.Execute(&out, u); err != nil {
		return "", fmt.Errorf("fill the template: %w", err)
	}
	return out.String(), nil
}

// systemdQuote writes a word so that systemd reads exactly it.
func systemdQuote(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, "\n", `\n`).Replace(word) + `"`
}

func xmlText(text string) (string, error) {
	var out strings.Builder
	err := xml.EscapeText(&out, []byte(text))
	return out.String(), err
}

func half(pair string, n int) string {
	name, value, _ := strings.Cut(pair, "=")
	return []string{name, value}[n]
}
