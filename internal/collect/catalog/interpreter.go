package catalog

import (
	"path/filepath"

	"github.com/pdpp-go/pdpp/manifest/folder"
)

// start returns the program and arguments that start the connector: its interpreter, or its own program. lack is set
// when it cannot be started.
func (c Connector) start() (program string, args []string, lack *NeedError) {
	i := c.interpreter()
	switch found := i.Find(); {
	case c.Builtin:
		return c.Path, c.Args, nil
	case c.Starts != "":
		if !c.Declared && !folder.IsProgram(c.Starts) {
			lack = &NeedError{NeedInterpreter, filepath.Base(c.Starts), "is not where the connector " + c.Name +
				" starts it from any more",
				"Install it there again, or wrap it anew: pdpp-connectors wrap."}
		}
		return c.Path, c.Args, lack
	case c.Chosen.Path != "" && !folder.IsProgram(c.Chosen.Path):
		return "", nil, &NeedError{NeedInterpreter, filepath.Base(c.Chosen.Path),
			"is not a program any more at the path that you set for the connector " + c.Name,
			"Set another: " + c.setPath() + "."}
	case c.Chosen.Path != "" && i.Names != nil:
		return c.Chosen.Path, folder.Reading(c.Path, c.Chosen.Path), nil
	case c.Chosen.Path != "":
		return c.Chosen.Path, nil, nil
	case i.Names == nil, found != "" && i.Install == "":
		return c.Path, c.Args, nil
	case found != "":
		return found, folder.Reading(c.Path, found), nil
	}
	if i.Install == "" {
		i.Install = "Install it"
	}
	return "", nil, &NeedError{NeedInterpreter, filepath.Base(i.Names[0]), "starts the connector " + c.Name +
		", and is not in " + folder.SearchPath,
		i.Install + ", or say where it is: " + c.setPath() + "."}
}

func (c Connector) interpreter() folder.Interpreter {
	return folder.InterpreterOf(c.Path, c.Manifest.Runtime)
}

func (c Connector) setPath() string { return "pdpp connectors set " + c.Name + " --path PATH" }

// ofSystem reports whether a program belongs to the system, which keeps it up to date.
func ofSystem(program string) bool {
	program = settled(program)
	for _, root := range []string{"/usr", "/bin", "/nix/store", "/gnu/store"} {
		if isBelow(program, root) {
			return true
		}
	}
	return false
}

// librariesOf are what an interpreter of the owner's own reads: what is installed beside it.
func librariesOf(program string) (all []string) {
	for _, path := range []string{program, settled(program)} {
		all = append(all, path)
		if bin := filepath.Dir(path); filepath.Base(bin) == "bin" {
			for _, part := range []string{"bin", "lib", "lib64", "pyvenv.cfg"} {
				all = append(all, filepath.Join(filepath.Dir(bin), part))
			}
		}
	}
	return all
}
