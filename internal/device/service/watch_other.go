//go:build !unix

package service

import (
	"os"
	"path/filepath"
)

// looksIn looks at what a folder holds under a name.
func looksIn(dir *os.File, name string) (looks, error) {
	return looksOf(filepath.Join(dir.Name(), name))
}
