package browser

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
)

// DefaultUser is the user of browsers where the worker is root: Chromium disables its sandbox only for root.
const DefaultUser = "nobody"

// UserFor returns the user of connectors with a browser. It returns nil unless this process is root, because only root
// can choose.
func UserFor(name string) (*childprocess.User, error) {
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
	return &childprocess.User{UID: uint32(uid), GID: uint32(gid)}, nil
}

// changeOwner changes the owner of a file to the user; without a user it changes nothing.
func changeOwner(u *childprocess.User, path string) error {
	if u == nil {
		return nil
	}
	return os.Lchown(path, int(u.UID), int(u.GID))
}
