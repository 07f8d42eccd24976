package browser

import (
	"errors"
	"os"
	"syscall"

	"github.com/pdpp-go/pdpp/protocol"
)

// attributes are none: the debugging pipe needs inherited files, which a start on this
// system refuses.
func processAttributes(*protocol.BrowserUser) *syscall.SysProcAttr { return nil }

func killProcessGroup(leader *os.Process) { _ = leader.Kill() }

func closeOnExec(int) error { return errors.New("a page cannot be shown on this system") }
