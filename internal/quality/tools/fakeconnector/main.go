// Orchard is the connector of the command line's scripts, and the host of built-in ones,
// by the name that it is started by. It is small: scripts start it hundreds of times, and a
// foreign connector is read whole before each run.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := filepath.Dir(os.Args[0])
	if filepath.Base(os.Args[0]) == "pdpp-connectors" {
		playHost(dir)
		return
	}
	play(filepath.Join(dir, "script"))
}

// playHost is a host of built-in connectors: one per folder beside it in dir.
func playHost(dir string) {
	switch os.Args[1] {
	case "list":
		found, _ := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
		list := []map[string]string{}
		for _, path := range found {
			list = append(list, map[string]string{"name": filepath.Base(filepath.Dir(path))})
		}
		_ = json.NewEncoder(os.Stdout).Encode(list)
	case "manifest":
		for _, name := range os.Args[2:] {
			body, err := os.ReadFile(filepath.Join(dir, name, "manifest.json"))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			_, _ = os.Stdout.Write(body)
		}
	case "run":
		playLines(dir, "bookmarks\ndone") // a host brings its connectors along
	}
}
