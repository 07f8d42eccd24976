package releasefile

import (
	"errors"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

var archiveName = regexp.MustCompile(`^pdpp_([0-9A-Za-z.-]+)_[a-z]+_[a-z0-9]+\.(?:tar\.gz|zip)$`)

// Version returns the version of the release that a list belongs to, with a leading v.
func Version(list []byte) (string, error) {
	version := ""
	for line := range strings.Lines(string(list)) {
		_, name, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "  ")
		found := archiveName.FindStringSubmatch(name)
		if found == nil {
			continue
		}
		if version != "" && version != "v"+found[1] {
			return "", errors.New("it lists archives of several versions")
		}
		version = "v" + found[1]
	}
	if !semver.IsValid(version) {
		return "", errors.New("it lists no archive with a version")
	}
	return version, nil
}

// Newer reports whether a release is newer than the running version, which may have no version.
func Newer(release, running string) bool {
	return semver.IsValid(running) && semver.Compare(release, running) > 0
}
