package browser

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
)

// DefaultUser is whom browsers run as where the worker is root: Chromium keeps its sandbox for
// everybody else.
const DefaultUser = "nobody"

// UserFor gives whom connectors with a browser run as: nobody else unless this process is
// root, which alone can choose.
func UserFor(name string) (*runner.User, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	if name == "" {
		name = DefaultUser
	}
	found, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("there is no user %q on this machine", name)
	}
	uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		return nil, fmt.Errorf("the user %q has no number", name)
	}
	if uid == 0 {
		return nil, nil
	}
	return &runner.User{UID: uint32(uid), GID: uint32(gid)}, nil
}

// own gives a file to the user; without one it stays this process's.
func own(u *runner.User, path string) error {
	if u == nil {
		return nil
	}
	return os.Lchown(path, int(u.UID), int(u.GID))
}
