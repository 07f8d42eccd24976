package browser

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// Channel makes the two ends of the channel on which a connector shows its page: one for
// whoever looks on, one that the connector inherits.
func Channel() (ours net.Conn, theirs *os.File, err error) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make the channel of the browser's page: %w", err)
	}
	own := os.NewFile(uintptr(ends[0]), "surface")
	theirs = os.NewFile(uintptr(ends[1]), "surface of the connector")
	ours, err = net.FileConn(own)
	_ = own.Close() // the connection has a file of its own
	if err != nil {
		_ = theirs.Close()
		return nil, nil, fmt.Errorf("make the channel of the browser's page: %w", err)
	}
	return ours, theirs, nil
}
