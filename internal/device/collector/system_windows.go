package collector

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

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
