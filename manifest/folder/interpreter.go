package folder

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"pdpp/manifest"
)

// SearchPath is the one that every connector gets, whatever the owner's own is: enough to
// start an interpreter from a script's first line.
const SearchPath = "/usr/local/bin:/usr/bin:/bin"

// Interpreter is what reads a connector's program; the zero one is for what is no script.
type Interpreter struct {
	// Names are the programs that would do, the best first, by name or by whole path.
	Names []string
	// Install says how to get one; empty for what the first line of the program names, which
	// the system starts by itself.
	Install string
}

var interpreters = map[manifest.Runtime]Interpreter{
	manifest.RuntimePython: {[]string{"python3", "python"}, "Install Python (sudo apt install python3)"},
	manifest.RuntimeNode:   {[]string{"node", "nodejs"}, "Install Node.js (sudo apt install nodejs)"},
	manifest.RuntimeDeno:   {[]string{"deno"}, "Install Deno"},
}

// InterpreterOf gives what reads a program: that of the declared runtime, or else what its
// first line names.
func InterpreterOf(program string, r manifest.Runtime) Interpreter {
	if i, ok := interpreters[r]; ok {
		return i
	}
	if name := firstLine(program); name != "" && r == "" {
		return Interpreter{Names: []string{name}}
	}
	return Interpreter{}
}

// firstLine is the interpreter that a script names in its first line; empty for what is no
// script.
func firstLine(path string) string {
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

// Find gives the whole path of one that is on the search path; empty when none is.
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

// IsProgram reports whether there is an executable file at the path.
func IsProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (info.Mode().Perm()&0o111 != 0 || runtime.GOOS == "windows") // which has no such permission
}

// Reading is how an interpreter is told to read a script.
func Reading(script, interpreter string) []string {
	if strings.HasPrefix(filepath.Base(interpreter), "deno") {
		return []string{"run", "--allow-all", script} // which files it reaches is the system's to limit
	}
	return []string{script}
}

// Command is what starts the folder's program; by its first line, or not at all, where its
// interpreter is not there.
func (f Folder) Command() []string {
	i := InterpreterOf(f.Executable, f.Manifest.Runtime)
	if program := i.Find(); program != "" && i.Install != "" {
		return append([]string{program}, Reading(f.Executable, program)...)
	}
	return []string{f.Executable}
}
