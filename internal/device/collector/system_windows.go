package collector

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// lockedByte is far behind the content, so that others can still read who has the lock:
// a locked range cannot be read here.
const lockedByte = 1 << 30

// lockFile locks a file if no other process holds the lock, and reports whether it succeeded.
func lockFile(f *os.File) (taken bool, err error) {
	at := windows.Overlapped{Offset: lockedByte}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0,
		1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// unlockFile releases the lock.
func unlockFile(f *os.File) error {
	at := windows.Overlapped{Offset: lockedByte}
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}

// freeSpace is the room that this user has on the disk of a folder.
func freeSpace(folder string) (int64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(free), nil
}

// openToOthers reports whether the list of access rights lets others than the owner, the
// administrators and the system read a file. A list that cannot be read counts as open.
func openToOthers(path string, _ os.FileInfo) bool {
	security, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return true
	}
	rights, _, err := security.DACL()
	if err != nil || rights == nil {
		return true
	}
	owner, _, err := security.Owner()
	if err != nil {
		return true
	}
	for i := range uint32(rights.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(rights, i, &entry); err != nil {
			return true
		}
		who := (*windows.SID)(unsafe.Pointer(&entry.SidStart))
		trusted := who.Equals(owner) || who.IsWellKnown(windows.WinLocalSystemSid) ||
			who.IsWellKnown(windows.WinBuiltinAdministratorsSid) || who.IsWellKnown(windows.WinCreatorOwnerSid)
		if entry.Header.AceType == windows.ACCESS_ALLOWED_ACE_TYPE && !trusted {
			return true
		}
	}
	return false
}

// closeToOthers is the command that ends that.
func closeToOthers(path string, _ os.FileInfo) string {
	return `icacls "` + path + `" /inheritance:r /grant:r "%USERNAME%:F"`
}
