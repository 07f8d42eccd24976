package collector

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Dirs are the folders of the device program.
type Dirs struct {
	Profiles string
	State    string
}

const envProfileDir = "PDPP_LOCAL_COLLECTOR_PROFILE_DIR"

// DirsFrom finds the folders by the environment.
func DirsFrom(lookup func(name string) (string, bool)) (Dirs, error) {
	get := func(name string) string { value, _ := lookup(name); return value }
	d, err := homeDirs(get)
	if err != nil {
		return Dirs{}, err
	}
	if profiles := get(envProfileDir); profiles != "" {
		if d.Profiles, err = filepath.Abs(profiles); err != nil {
			return Dirs{}, fmt.Errorf("locate the profiles: %w", err)
		}
	}
	return d, nil
}

// under is the program's folder below the one that a variable names, or else below
// another one of the home folder.
func under(get func(string) string, variable string, fallback ...string) (string, error) {
	if base := get(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "pdpp", "collectors"), nil
	}
	home := get("HOME")
	if !filepath.IsAbs(home) {
		return "", operatorFault("no_home", "Set HOME to your home folder.", "neither %s nor HOME names a folder", variable)
	}
	return filepath.Join(append(append([]string{home}, fallback...), "pdpp", "collectors")...), nil
}

// Find returns the profile of a source instance. It compares the ids in the files and ignores file
// names. If there is not exactly one match, the error is an *usererr.Error.
func Find(dirs Dirs, id string) (Profile, error) {
	if err := checkID(id); err != nil {
		return Profile{}, err
	}
	found, broken, err := Profiles(dirs)
	if err != nil {
		return Profile{}, err
	}
	var matches []Profile
	var where []string
	for _, p := range found {
		if p.SourceInstanceID == id {
			matches, where = append(matches, p), append(where, p.Path)
		}
	}
	switch {
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) > 1:
		return Profile{}, operatorFault("profile_ambiguous", "Remove all but one of them.",
			"several profiles are for source instance %s: %s", id, strings.Join(where, ", "))
	}
	for _, b := range broken { // the one that was meant may be among them
		return Profile{}, b
	}
	return Profile{}, errNoProfile(dirs, id)
}

func errNoProfile(dirs Dirs, id string) *usererr.Error {
	return operatorFault("profile_not_found",
		"Run this on the host that holds the data, as the user who set it up; or write the profile: pdpp-local-collector "+
			"setup",
		"no profile in %s is for source instance %s, and the environment does not describe its queue", dirs.Profiles, id)
}

// Profiles reads every profile, ordered by file name. It returns one error for each file that cannot
// be used.
func Profiles(dirs Dirs) (found []Profile, broken []*usererr.Error, err error) {
	info, err := os.Stat(dirs.Profiles)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err == nil && openToOthers(dirs.Profiles, info) {
		return nil, nil, operatorFault("profile_permissions", closeToOthers(dirs.Profiles, info),
			"others can write to the folder of the profiles, %s (mode %04o)", dirs.Profiles, info.Mode().Perm())
	}
	var entries []os.DirEntry
	if err == nil {
		entries, err = os.ReadDir(dirs.Profiles)
	}
	if err != nil {
		return nil, nil, operatorFault("profile_unreadable", "Check the folder.", "the profiles cannot be read: %v", err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != profileExt || e.IsDir() {
			continue
		}
		p, err := readProfile(filepath.Join(dirs.Profiles, e.Name()), dirs)
		var mistake *usererr.Error
		switch {
		case errors.As(err, &mistake):
			broken = append(broken, mistake)
		case err != nil:
			return nil, nil, err
		default:
			found = append(found, p)
		}
	}
	shareTokens(found)
	return found, broken, nil
}

// shareTokens sets every profile of a device to its newest token. A token change writes the files one
// by one, so some may still hold the old token.
func shareTokens(found []Profile) {
	for i := range found {
		for _, other := range found {
			if p := &found[i]; other.BaseURL == p.BaseURL && other.DeviceID == p.DeviceID &&
				other.TokenSince.After(p.TokenSince) {
				p.Token, p.TokenSince = other.Token, other.TokenSince
			}
		}
	}
}

// Resolve returns the profile of a source instance. Without a profile, it uses the environment if that
// describes the source completely, including its queue. Resolve never falls back to a default queue
// for the environment.
func Resolve(dirs Dirs, id string, lookup func(name string) (string, bool)) (Profile, error) {
	p, err := Find(dirs, id)
	var mistake *usererr.Error
	if !errors.As(err, &mistake) || mistake.Code != "profile_not_found" {
		return p, err
	}
	variables := map[string]string{}
	for _, name := range ownVariables {
		if value, ok := lookup(name); ok && value != "" {
			variables[name] = value
		}
	}
	if variables[envQueue] == "" {
		return Profile{}, err
	}
	p, invalid := profileOf(variables, dirs)
	if invalid != nil {
		return Profile{}, operatorFault("environment_invalid", "Set every variable of a profile, or none.",
			"there is no profile for source instance %s, and the environment does not describe it: %v", id, invalid)
	}
	if p.SourceInstanceID != id {
		return Profile{}, operatorFault("environment_mismatch", "Correct the id, or unset the variables.",
			"the environment describes source instance %s, not %s", p.SourceInstanceID, id)
	}
	return p, nil
}

// WriteProfile writes a new profile to a file that only its owner can read. It replaces an existing
// profile only if replace is set. A replaced profile keeps the connector's variables and, unless p
// names another, the queue.
func WriteProfile(dirs Dirs, p Profile, replace bool) (Profile, error) {
	if err := p.check(); err != nil {
		return Profile{}, err
	}
	found, _, err := Profiles(dirs)
	if err != nil {
		return Profile{}, err
	}
	path := filepath.Join(dirs.Profiles, p.SourceInstanceID+profileExt)
	if i := slices.IndexFunc(found, func(f Profile) bool { return f.SourceInstanceID == p.SourceInstanceID }); i >= 0 {
		path, p.Variables = found[i].Path, found[i].Variables
		if p.Queue == "" {
			p.Queue = found[i].Queue
		}
	}
	if p, err = profileOf(p.variables(), dirs); err != nil {
		return Profile{}, err
	}
	if _, err := os.Lstat(path); err == nil && !replace {
		return Profile{}, operatorFault("profile_exists", "Give --replace to write it again.",
			"there is a profile already: %s", path)
	}
	body, err := formatEnv(p.variables(), ownVariables...)
	if err != nil {
		return Profile{}, operatorFault("profile_invalid", "", "%v", err)
	}
	if err := os.MkdirAll(dirs.Profiles, 0o700); err != nil {
		return Profile{}, fmt.Errorf("make the folder of the profiles: %w", err)
	}
	if err := writeFile(path, body); err != nil {
		return Profile{}, fmt.Errorf("write the profile: %w", err)
	}
	p.Path = path
	return p, nil
}

// writeFile replaces a file as a whole: a reader sees the old one or the new one.
func writeFile(path string, body []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(body)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
