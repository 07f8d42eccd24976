//go:build unix

package collector

import "os"

// openToOthers reports whether others can read a file or, for a folder, change it.
func openToOthers(_ string, info os.FileInfo) bool {
	if info.IsDir() {
		return info.Mode().Perm()&0o022 != 0
	}
	return info.Mode().Perm()&0o077 != 0
}

// closeToOthers is the command that ends that.
func closeToOthers(path string, info os.FileInfo) string {
	if info.IsDir() {
		return "chmod 700 '" + path + "'"
	}
	return "chmod 600 '" + path + "'"
}
