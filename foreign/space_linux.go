package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// handoverFD is the descriptor that the launcher uses to send the listener to the proxy.
	handoverFD = 3
	// handoverTimeout bounds how long the proxy waits for the listener.
	handoverTimeout = 30 * time.Second
)

// errNoNamespace reports that this machine cannot create a network namespace.
var errNoNamespace = errors.New("this machine makes no network namespace")

// startInNamespace starts the command, which is the launcher, in its own user and network namespace. It returns
// the listener that the launcher has opened inside. The user is not mapped: file access is unchanged, and the
// program has no capability after execution. The error is errNoNamespace if the machine does not support
// namespaces.
func startInNamespace(cmd *exec.Cmd) (net.Listener, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "handover"), os.NewFile(uintptr(pair[1]), "handover")
	defer ours.Close()
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN}, // only for the launcher, which brings up loopback
	}
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		if _, missing := os.Stat(cmd.Path); missing != nil {
			return nil, err
		}
		if path := new(fs.PathError); errors.As(err, &path) {
			err = path.Err
		}
		return nil, fmt.Errorf("%w: %w", errNoNamespace, err)
	}
	listener, err := receiveListener(ours)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("%w: %w", errNoNamespace, err)
	}
	return listener, nil
}

// receiveListener returns the listener that the launcher sends, or the reason that it sends instead.
func receiveListener(from *os.File) (net.Listener, error) {
	conn, err := net.FileConn(from)
	if err != nil {
		return nil, fmt.Errorf("open the handover: %w", err)
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(handoverTimeout)); err != nil {
		return nil, fmt.Errorf("wait for the listener: %w", err)
	}
	text, rights := make([]byte, 512), make([]byte, unix.CmsgSpace(4))
	n, used, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(text, rights)
	if err != nil {
		return nil, fmt.Errorf("wait for the listener: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:used])
	if err != nil || len(messages) != 1 {
		return nil, errors.New(string(text[:n]))
	}
	received, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(received) != 1 {
		return nil, errors.New("the launcher sent no listener")
	}
	file := os.NewFile(uintptr(received[0]), "listener")
	defer file.Close()
	return net.FileListener(file)
}

// serveNamespace opens the proxy's port inside the namespace of this process and sends the socket to the parent,
// which accepts connections on it. A socket belongs to the namespace that it was created in.
func serveNamespace() error {
	listener, err := listenInside()
	if err != nil {
		_ = unix.Sendmsg(handoverFD, []byte(err.Error()), nil, nil, 0) // the parent reads this reason, or none
		return err
	}
	if err := unix.Sendmsg(handoverFD, []byte("listener"), unix.UnixRights(listener), nil, 0); err != nil {
		return fmt.Errorf("send the listener: %w", err)
	}
	for _, fd := range []int{listener, handoverFD} {
		if err := unix.Close(fd); err != nil {
			return fmt.Errorf("close the listener: %w", err)
		}
	}
	return nil
}

func listenInside() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open a socket: %w", err)
	}
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return 0, err
	}
	loopback.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, loopback); err != nil {
		return 0, fmt.Errorf("bring up loopback: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: insidePort, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, fmt.Errorf("take the port: %w", err)
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return 0, fmt.Errorf("listen: %w", err)
	}
	return fd, nil
}

// dropCapabilities removes the capabilities that the calling thread needed to bring up loopback.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
