package realserver

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// UnpackedFolder returns the folder of a server that scripts/lib/unpacked.sh unpacked, or that the variable names.
// Without the program in it the test fails: a server that was not met proves nothing.
func UnpackedFolder(t testing.TB, variable, name, program string) string {
	t.Helper()
	home, _ := os.UserCacheDir() // without one there is nothing in it
	places := []string{os.Getenv(variable), "/var/cache/pdpp/" + name, filepath.Join(home, "pdpp/servers", name)}
	for _, place := range places {
		if _, err := os.Stat(filepath.Join(place, program)); place != "" && err == nil {
			return place
		}
	}
	t.Fatalf("%s is not set; run `make test` or `make chaos`, which unpack %s", variable, name)
	return ""
}

// LibraryPath is the search path of libraries that were unpacked with a server.
func LibraryPath(root string) string {
	triple := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH] + "-linux-gnu"
	return filepath.Join(root, "usr/lib", triple) + ":" + filepath.Join(root, "lib", triple)
}
