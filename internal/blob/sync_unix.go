//go:build !windows

package blob

import (
	"fmt"
	"os"
)

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("write a folder out: %w", err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("write a folder out: %w", err)
	}
	return nil
}
