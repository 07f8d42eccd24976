//go:build !windows

package outbox

import "os"

// syncFolder makes the file's name as durable as its content will be.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
