package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/ops/disk"
)

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30

	littleSpace  = gibibyte
	fixSpace     = "Free some disk space, or move the folder to a larger disk."
	measureSpace = "Look at the free space of the disk yourself."
)

// checkDisk looks at the space that is left for the data.
func (x *checkup) checkDisk() {
	free, err := x.FreeSpace(nearestFolder(x.Home))
	switch left := formatSize(free); {
	case err != nil:
		x.reportWarning(CheckDisk, "the free space of the disk is not known: "+errorLine(err), measureSpace)
	case free < disk.Full:
		x.reportFailure(CheckDisk, "only "+left+" are free on the disk of "+x.Home, fixSpace)
	case free < littleSpace:
		x.reportWarning(CheckDisk, "only "+left+" are free on the disk of "+x.Home, fixSpace)
	default:
		x.reportGood(CheckDisk, left+" are free")
	}
}

// formatSize rounds down, so that a limit is never shown as reached when it is not.
func formatSize(bytes uint64) string {
	if bytes < gibibyte {
		return fmt.Sprintf("%d MiB", bytes/mebibyte)
	}
	return fmt.Sprintf("%d GiB", bytes/gibibyte)
}

// nearestFolder is the path, or what there is of it.
func nearestFolder(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

// checkFolder looks at who else can reach the data.
func (x *checkup) checkFolder() {
	info, err := os.Stat(x.Home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.reportWarning(CheckFolder, x.Home+" does not exist yet",
			"Collect something (pdpp run CONNECTOR), or name another folder with PDPP_HOME.")
	case err != nil:
		x.reportFailure(CheckFolder, "the folder of the data cannot be looked at: "+errorLine(err),
			"Make it accessible for the user that runs PDPP.")
	case !info.IsDir():
		x.reportFailure(CheckFolder, x.Home+" is not a folder", "Point PDPP_HOME at a folder.")
	case info.Mode().Perm()&0o077 != 0:
		x.reportWarning(CheckFolder, fmt.Sprintf("other users of this machine can reach %s (mode %04o)", x.Home,
			info.Mode().Perm()),
			"chmod 700 "+quoteArgument(x.Home))
	default:
		x.databaseModes()
	}
}

// databaseModes looks at who else could read the files of the database, were the folder opened to them.
func (x *checkup) databaseModes() {
	files, err := filepath.Glob(filepath.Join(x.Home, "pdpp.db*"))
	if err != nil {
		files = nil // the pattern is a good one
	}
	for _, path := range files {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
			x.reportWarning(CheckFolder, fmt.Sprintf("other users of this machine may read %s (mode %04o)", path,
				info.Mode().Perm()),
				"chmod 600 "+quoteArgument(path))
			return
		}
	}
	x.reportGood(CheckFolder, "only its owner can reach "+x.Home)
}
