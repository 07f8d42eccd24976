//go:build linux && !amd64

package confine

// callsByPath are the older calls that change a file by its path. Newer architectures have none.
var callsByPath []uintptr
