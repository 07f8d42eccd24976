package disk

import "golang.org/x/sys/windows"

// Space returns how much this user may still write below a folder, and the size of its file system.
func Space(path string) (free, total uint64, err error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	err = windows.GetDiskFreeSpaceEx(name, &free, &total, nil)
	return free, total, err
}
