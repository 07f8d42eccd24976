//go:build linux && !amd64

package confine

// byPath are the older calls that change a file which they name by its path; newer architectures have none.
var byPath []uintptr
