package browser

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// Channel returns an error: on Windows a connector's browser has its own window, and no page is shown elsewhere.
func Channel() (ours net.Conn, theirs *os.File, err error) {
	return nil, nil, fmt.Errorf("make the channel of the browser's page: %w", errors.ErrUnsupported)
}

// openSafely adds no flag: os.Root already refuses links that leave the folder, and Windows has no files that block.
const openSafely = 0
