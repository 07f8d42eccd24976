package browser

import (
	"errors"
	"os"
	"syscall"

	"github.com/pdpp-go/pdpp/protocol"
)

// attributes are none: the debugging pipe needs inherited files, which a start on this
// system refuses.
func attributes(*protocol.BrowserUser) *syscall.SysProcAttr { return nil }

func endGroup(leader *os.Process) { _ = leader.Kill() }

func own(int) error { return errors.New("a page cannot be shown on this system") }
