//go:build !linux

package main

import (
	"fmt"
	"os"
)

// playConfined needs Linux capabilities; the scripts that use it skip elsewhere.
func playConfined() {
	fmt.Fprintln(os.Stderr, "confined needs Linux")
	leave(1)
}
