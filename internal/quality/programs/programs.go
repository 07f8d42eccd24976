// Package programs provides tests with the programs of this module as they are shipped.
package programs

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// Built returns a folder of programs that scripts/build made from the current sources, or "".
// Linking a program takes longer than most tests, so large test runs share them.
func Built() string { return os.Getenv("PDPP_TEST_PROGRAMS") }

// modulePath is the prefix of the packages of this module.
const modulePath = "github.com/pdpp-go/pdpp"

// Build writes programs into a folder. A program is named by its package, as in "cmd/pdpp".
func Build(folder string, packages ...string) error {
	built := Built()
	var missing []string
	for _, p := range packages {
		if built == "" || take(filepath.Join(built, path.Base(p)), filepath.Join(folder, path.Base(p))) != nil {
			missing = append(missing, modulePath+"/"+p)
		}
	}
	if missing == nil {
		return nil
	}
	build := exec.Command("go", append([]string{"build", "-trimpath", "-o", folder + string(filepath.Separator)},
		missing...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as they are shipped
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", missing, err, out)
	}
	return nil
}

// take makes a file appear in another place too.
func take(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
