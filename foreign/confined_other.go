//go:build !linux

package foreign

import (
	"errors"
	"net"
	"os/exec"
)

// errNoNamespace reports that this machine cannot create a network namespace.
var errNoNamespace = errors.New("only Linux has network namespaces")

// holdsPorts reports whether this kernel can prevent a program from connecting to other ports.
func holdsPorts() bool { return false }

func isContainerClient([]string) bool { return false }

func startInNamespace(*exec.Cmd) (net.Listener, error) { return nil, errNoNamespace }

// Confined is the launcher, which only Linux has. It prints what this machine can enforce.
func Confined(args []string) error {
	if len(args) > 0 && args[0] == reportArgument {
		return printEnforcement(args[1:])
	}
	return errors.New("only Linux can keep a program from connecting elsewhere")
}
