package folder

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pdpp-go/pdpp/manifest"
)

// SearchPath is the PATH of every connector, whatever the owner's PATH is. It is enough to start an interpreter
// from a script's first line.
const SearchPath = "/usr/local/bin:/usr/bin:/bin"

// Interpreter runs a connector's program. The zero value means that the program is not a script.
type Interpreter struct {
	// Names are suitable programs, the best first, by name or absolute path.
	Names []string
	// Install describes how to get one. It is empty for an interpreter named in the script's first line, which
	// the system starts.
	Install string
}

var interpreters = map[manifest.Runtime]Interpreter{
	manifest.RuntimePython: {[]string{"python3", "python"}, "Install Python (sudo apt install python3)"},
	manifest.RuntimeNode:   {[]string{"node", "nodejs"}, "Install Node.js (sudo apt install nodejs)"},
	manifest.RuntimeDeno:   {[]string{"deno"}, "Install Deno"},
}

// InterpreterOf returns the interpreter of a program: that of the declared runtime, or the one in its first line.
func InterpreterOf(program string, r manifest.Runtime) Interpreter {
	if i, ok := interpreters[r]; ok {
		return i
	}
	if name := shebangOf(program); name != "" && r == "" {
		return Interpreter{Names: []string{name}}
	}
	return Interpreter{}
}

// shebangOf returns the interpreter in a script's first line, or "" if the program is not a script.
func shebangOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 256).ReadSlice('\n') // the system reads no more either
	text, ok := strings.CutPrefix(string(line), "#!")
	words := strings.Fields(text)
	if !ok || len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0]
	}
	for _, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return word
		}
	}
	return ""
}

// Find returns the absolute path of an installed interpreter, or "".
func (i Interpreter) Find() string {
	for _, name := range i.Names {
		if filepath.IsAbs(name) && IsProgram(name) {
			return name
		}
		for _, dir := range filepath.SplitList(SearchPath) {
			if path := filepath.Join(dir, name); !filepath.IsAbs(name) && IsProgram(path) {
				return path
			}
		}
	}
	return ""
}

// IsProgram reports whether the path is an executable file.
func IsProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() &&
		(info.Mode().Perm()&0o111 != 0 || runtime.GOOS == "windows") // which has no such permission
}

// Reading returns the arguments that make an interpreter run a script.
func Reading(script, interpreter string) []string {
	if strings.HasPrefix(filepath.Base(interpreter), "deno") {
		return []string{"run", "--allow-all", script} // the system limits file access
	}
	return []string{script}
}

// Command returns the command that starts the folder's program. It relies on the script's first line if the
// declared interpreter is not installed.
func (f Folder) Command() []string {
	i := InterpreterOf(f.Executable, f.Manifest.Runtime)
	if program := i.Find(); program != "" && i.Install != "" {
		return append([]string{program}, Reading(f.Executable, program)...)
	}
	return []string{f.Executable}
}
