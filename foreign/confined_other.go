//go:build !linux

package foreign

import "errors"

// enforceable reports whether this kernel can keep a program from connecting elsewhere.
func enforceable() bool { return false }

// Confined makes this process one that can connect to a single TCP port, and then the program.
// It returns only when that fails.
func Confined(uint16, []string) error {
	return errors.New("only Linux can keep a program from connecting elsewhere")
}
