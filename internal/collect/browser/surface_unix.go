//go:build unix

package browser

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// Channel returns the two ends of the channel on which a connector shows its page: one for the viewer, one for the
// connector to inherit.
func Channel() (ours net.Conn, theirs *os.File, err error) {
	ends, err := pair()
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

// pair makes two sockets that no child inherits by accident. Not every system makes them so in one
// step; between two, no child is started.
func pair() (ends [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if ends, err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err == nil {
		syscall.CloseOnExec(ends[0])
		syscall.CloseOnExec(ends[1])
	}
	return ends, err
}

// openSafely are the flags with which a file of another program is opened: it follows no link and never blocks.
const openSafely = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
